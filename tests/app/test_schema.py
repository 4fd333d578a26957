"""`turnout schema`: JSON Schemas for editors."""

import pytest

from doors import refused, turnout


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("agent", "memoryPolicy"),
        ("workflow", "workflowSteps"),
        ("rules", "behaviorGroups"),
        ("outputs", "outputSet"),
        ("httpcalls", "targetServerUrl"),
        ("dictionary", "words"),
        ("facts", "steps"),
    ],
)
def test_each_kind_has_a_schema_in_the_keys_that_are_written(kind: str, key: str) -> None:
    ended = turnout("schema", kind)
    assert (ended.code, ended.err) == (0, "")
    assert key in ended.data["properties"]
    assert ended.data["$schema"].startswith("https://json-schema.org/")


def test_json_puts_it_on_one_line() -> None:
    one, many = turnout("schema", "facts", "--json"), turnout("schema", "facts")
    assert one.out.count("\n") == 1
    assert one.data == many.data


def test_facts_need_at_least_one_step() -> None:
    schema = turnout("schema", "facts").data
    assert schema["required"] == ["steps"]
    assert schema["properties"]["steps"]["minItems"] == 1


def test_an_unknown_kind_is_refused_with_the_nearest() -> None:
    ended = turnout("schema", "output")
    assert refused(ended)
    assert "did you mean `outputs`?" in ended.err
