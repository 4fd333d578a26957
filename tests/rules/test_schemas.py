"""JSON Schemas for editors."""

import json

from turnout.rules.schemas import schema


def test_a_schema_speaks_of_todays_keys() -> None:
    text = json.dumps(schema("rules"))
    assert all(f'"{key}"' in text for key in ("behaviorGroups", "behaviorRules", "rules", "executionStrategy"))
    assert "behavior_groups" not in text
