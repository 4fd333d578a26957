"""What is said of the templates in output sets and property setters, and of paths, when they are read."""

import json
from typing import Any

import pytest

from building import problems_of
from turnout.rules.errors import Problem
from turnout.rules.outputs import OutputSet
from turnout.rules.properties import PropertySetter


def said_of(**keys: Any) -> list[tuple[str, int, int, str]]:
    """What is said of the output of action `a`, each key of which is one line, with its place."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in keys.items())
    notes = problems_of(OutputSet, '{"outputSet": [{"action": "a",\n' + lines + "}]}")
    assert all(note.severity == "warning" for note in notes)
    return [(note.code, note.line, note.column, note.message) for note in notes]


def test_the_texts_and_quick_replies_of_an_output_set_are_looked_at() -> None:
    told = said_of(
        outputs=[{"valueAlternatives": [{"type": "text", "text": "{#if x}{propertys.name}"}]}],
        quickReplies=[{"value": "{memory.current.input", "expressions": "a([[${#x}]])"}],
    )
    assert told == [
        ("H004", 2, 61, "output of `a`: `{#if x}` is no placeholder, and is left out"),
        ("H003", 2, 61, "output of `a`: `{propertys.name}` is empty unless the context has a key `propertys`"),
        ("H002", 3, 28, "output of `a`: `{memory.current.input` is not closed, and stays as it is"),
        ("H004", 3, 68, "output of `a`: `[[${#x}]]` is no placeholder, and is left out"),
    ]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "text", "text": "{/if}"},
        {"type": "image", "uri": "https://a.b/{/if}", "alt": "x"},
        {"type": "image", "uri": "x", "alt": "{/if}"},
        {"type": "agentFace", "alt": "{/if}"},
        {"type": "quickReply", "value": "x", "expressions": "{/if}"},
        {"type": "inputField", "placeholder": "{/if}"},
        {"type": "inputField", "validation": {"validationErrorMessage": "{/if}"}},
        {"type": "applicationLink", "path": "{/if}"},
        {"type": "button", "label": "x", "onPress": {"deep": [{"er": "{/if}"}]}},
        {"type": "other", "anything": "{/if}"},
    ],
)
def test_every_text_of_an_item_is_looked_at(item: dict[str, Any]) -> None:
    ((code, line, column, _),) = said_of(outputs=[{"valueAlternatives": [item]}])
    assert (code, line) == ("H004", 2)
    assert column > 35


def test_ordinary_outputs_are_left_alone() -> None:
    texts = [
        "Hi {properties.name}!",
        "{ }",
        '{"a": 1}',
        "{x",
        "use {curly} braces",
        "[[${memory.current.input}]]",
        "100 %",
    ]
    items = [{"valueAlternatives": [{"type": "text", "text": text}]} for text in texts]
    assert said_of(outputs=items, quickReplies=[{"value": "Yes", "expressions": "yes"}]) == []


def test_a_finding_in_an_output_set_can_be_silenced() -> None:
    items = [{"valueAlternatives": [{"type": "text", "text": "{#if x}"}]}]
    assert said_of(_silence=["H004"], outputs=items) == []


def setter(**keys: Any) -> tuple[Problem, ...]:
    """What is said of a setter with one instruction."""
    instruction = {"name": "p", **keys}
    return problems_of(PropertySetter, {"setOnActions": [{"actions": ["a"], "setProperties": [instruction]}]})


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"valueString": "[[${#strings.substring(a, 1)}]]"}, "H004"),
        ({"valueString": "{memory.current.input"}, "H002"),
        ({"valueString": "{memory.curent.input}"}, "H003"),
        ({"valueObject": {"a": {"b": ["{#each x}"]}}}, "H004"),
        ({"valueList": ["{#each x}"]}, "H004"),
        ({"name": "p{#if x}"}, "H004"),
        ({"fromObjectPath": "memory.curent.input"}, "H003"),
    ],
)
def test_the_texts_and_paths_of_a_property_setter_are_looked_at(keys: dict[str, Any], code: str) -> None:
    (problem,) = setter(**keys)
    assert (problem.code, problem.severity) == (code, "warning")
    assert problem.line >= 8
    assert problem.column > 1


@pytest.mark.parametrize(
    "path",
    [
        "memory.current.input != memory.last.input",
        "a.b()",
        "memory.current.input == 'x'",
        "a ? b : c",
        "a && b",
        "{memory.current.input}",
        "[[${a}]]",
        "$.a.b",
        'a["b"]',
        "a[b]",
        "a[1][2]",
        "a..b",
        ".a",
        "a. b",
        ".",
        "a.b() + 1",
    ],
)
def test_a_path_that_no_path_can_be_never_finds_anything(path: str) -> None:
    (problem,) = setter(fromObjectPath=path)
    assert (problem.code, problem.severity) == ("H005", "warning")
    assert problem.message.endswith("is no path, and never finds anything")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a",
        "properties.",
        "memory.current.httpCalls.x.list[0].name",
        "properties.count+1",
        "properties.count - 1",
        "properties.name+' (old)'",
        "properties.a-b",
        "properties.first name",
        "head.Content-Type",
        "xml.dc:title",
        "x.@id",
    ],
)
def test_a_path_that_may_find_something_is_left_alone(path: str) -> None:
    assert setter(fromObjectPath=path) == ()
