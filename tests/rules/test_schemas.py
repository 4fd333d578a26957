"""JSON Schemas for editors."""

import json

import pytest

from turnout.rules.errors import UsageError
from turnout.rules.schemas import SCHEMAS, schema


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_kind_of_file_has_a_schema_that_is_json(kind: str) -> None:
    made = schema(kind)
    assert json.loads(json.dumps(made)) == made
    assert made["type"] == "object"


def test_a_schema_speaks_of_todays_keys() -> None:
    text = json.dumps(schema("rules"))
    assert all(f'"{key}"' in text for key in ("behaviorGroups", "behaviorRules", "rules", "executionStrategy"))
    assert "behavior_groups" not in text


def test_an_unknown_kind_is_told_what_there_is() -> None:
    with pytest.raises(UsageError, match="did you mean `rules`"):
        schema("rule")
