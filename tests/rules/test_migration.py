"""Documents of every age load as today's, and say what was read differently."""

import json

import pytest

import corpus
from turnout.rules.agents import AgentFile, WorkflowFile
from turnout.rules.authored import Authored
from turnout.rules.calls import HttpCallsFile
from turnout.rules.dictionaries import Dictionary
from turnout.rules.errors import LoadError, Problem
from turnout.rules.folders import read_agent
from turnout.rules.outputs import OutputSet
from turnout.rules.reading import read, read_output_set, read_rule_set

MATCHER = {"type": "inputmatcher", "configs": {"expressions": "greeting(*)"}}
TODAY = {"behaviorGroups": [{"rules": [{"name": "Greet", "conditions": [MATCHER]}]}]}


def rule(condition: object) -> dict[str, object]:
    return {"behaviorGroups": [{"rules": [{"name": "Greet", "conditions": [condition]}]}]}


def output(**entries: object) -> dict[str, object]:
    return {"outputSet": [{"action": "greet", **entries}]}


def codes(notes: tuple[Problem, ...]) -> list[str]:
    assert all(note.severity == "note" for note in notes)
    return [note.code for note in notes]


OLD_RULES: dict[str, tuple[dict[str, object], list[str]]] = {
    "today": (TODAY, []),
    "behaviorRules": ({"behaviorGroups": [{"behaviorRules": TODAY["behaviorGroups"][0]["rules"]}]}, []),  # type: ignore[index]
    "ruleGroups": ({"ruleGroups": TODAY["behaviorGroups"]}, ["M001"]),
    "children": ({"behaviorGroups": [{"rules": [{"name": "Greet", "children": [MATCHER]}]}]}, ["M001"]),
    "values": (rule({"type": "inputmatcher", "values": {"expressions": "greeting(*)"}}), ["M001"]),
    "config": (rule({"type": "inputmatcher", "config": {"expressions": "greeting(*)"}}), ["M001"]),
    "camel case type": (rule({**MATCHER, "type": "inputMatcher"}), ["M002"]),
    "class name type": (rule({**MATCHER, "type": "ai.labs.behavior.conditions.inputmatcher"}), ["M002"]),
    "occurrence current": (
        rule({"type": "inputmatcher", "configs": {"expressions": "greeting(*)", "occurrence": "current"}}),
        ["M003"],
    ),
    "occurrence with blanks": (
        rule(
            {
                "type": "inputmatcher",
                "configs": {"expressions": "greeting(*)", "occurrence": " currentStep\t"},
            }
        ),
        [],
    ),
    "maxOccurrence": (
        rule({"type": "inputmatcher", "configs": {"expressions": "greeting(*)", "maxOccurrence": "ever"}}),
        ["M005"],
    ),
    "no group": ({"behaviorRules": [{"name": "Greet", "conditions": [MATCHER]}]}, ["M004"]),
    "nulls": (
        {
            "appendActions": None,
            "behaviorGroups": [
                {
                    "name": None,
                    "rules": [{"name": "Greet", "actions": None, "conditions": [{**MATCHER, "conditions": None}]}],
                }
            ],
        },
        [],
    ),
}


@pytest.mark.parametrize("age", OLD_RULES)
def test_a_rule_set_of_any_age_is_the_one_of_today(age: str) -> None:
    document, notes = OLD_RULES[age]
    reading = read_rule_set(document)
    assert reading.model == read_rule_set(TODAY).model
    assert codes(reading.notes) == notes


@pytest.mark.parametrize(
    "negation",
    [
        {"type": "negation", "configs": MATCHER},
        {"type": "negation", "configs": {"conditions": [MATCHER]}},
        {"type": "negation", "configs": {"children": [MATCHER]}},
        {"type": "negation", "values": {"condition": MATCHER}},
    ],
)
def test_the_child_of_a_negation_may_stand_in_its_configs(negation: dict[str, object]) -> None:
    today = rule({"type": "negation", "conditions": [MATCHER]})
    reading = read_rule_set(rule(negation))
    assert reading.model == read_rule_set(today).model
    assert "M004" in codes(reading.notes)


def test_scalars_in_configs_are_their_json_texts() -> None:
    written = rule({"type": "sizematcher", "configs": {"valuePath": "a", "min": 1, "max": "2"}})
    meant = rule({"type": "sizematcher", "configs": {"valuePath": "a", "min": "1", "max": "2"}})
    assert read_rule_set(written).model == read_rule_set(meant).model
    booleans = {"contextKey": "a", "contextType": "object", "objectKeyPath": "b", "objectValue": True}
    reading = read_rule_set(rule({"type": "contextmatcher", "configs": booleans}))
    (condition,) = reading.model.behavior_groups[0].rules[0].conditions
    assert condition.type == "contextmatcher"
    assert condition.configs.model_dump()["object_value"] == "true"
    assert reading.notes == ()


HELLO = {"type": "text", "text": "Hello"}
OLD_OUTPUTS: dict[str, tuple[dict[str, object], list[str]]] = {
    "today": (output(outputs=[{"valueAlternatives": [HELLO]}]), []),
    "plain string": (output(outputs=[{"valueAlternatives": ["Hello"]}]), ["M004"]),
    "outer type": (output(outputs=[{"type": "text", "valueAlternatives": [HELLO]}]), ["M004"]),
    "outer type, plain string": (
        output(outputs=[{"type": "text", "valueAlternatives": ["Hello"]}]),
        ["M004", "M004"],
    ),
    "untyped": (output(outputs=[{"valueAlternatives": [{"text": "Hello"}]}]), ["M004"]),
    "occurred": (output(occurred=0, outputs=[{"valueAlternatives": [HELLO]}]), ["M001"]),
    "key, occurrence, outputValues": (
        {"outputs": [{"key": "greet", "occurrence": 0, "outputValues": ["Hello"]}]},
        ["M001", "M001", "M001", "M004", "M004"],
    ),
}


@pytest.mark.parametrize("age", OLD_OUTPUTS)
def test_an_output_set_of_any_age_is_the_one_of_today(age: str) -> None:
    document, notes = OLD_OUTPUTS[age]
    reading = read_output_set(document)
    assert reading.model == read_output_set(OLD_OUTPUTS["today"][0]).model
    assert sorted(codes(reading.notes)) == notes


def test_an_alternative_with_a_uri_and_no_type_is_an_image() -> None:
    document = output(outputs=[{"valueAlternatives": [{"uri": "https://example.org/a.png"}]}])
    (item,) = read_output_set(document).model.output_set[0].outputs[0].value_alternatives
    assert item.type == "image"


def test_a_quick_reply_may_say_default() -> None:
    reading = read_output_set(output(quickReplies=[{"value": "Yes", "default": True}]))
    assert reading.model.output_set[0].quick_replies[0].is_default
    assert codes(reading.notes) == ["M001"]


@pytest.mark.parametrize(
    ("model", "old", "today"),
    [
        (WorkflowFile, {"packageExtensions": [{"type": "a"}]}, {"workflowSteps": [{"type": "a"}]}),
        (WorkflowFile, {"workflowExtensions": [{"type": "a"}]}, {"workflowSteps": [{"type": "a"}]}),
        (Dictionary, {"words": [{"word": "a", "exp": "b"}]}, {"words": [{"word": "a", "expressions": "b"}]}),
        (
            HttpCallsFile,
            {
                "targetServer": "https://a",
                "apiCalls": [{"name": "b", "postResponse": {"retryHttpCallInstruction": {}}}],
            },
            {
                "targetServerUrl": "https://a",
                "httpCalls": [{"name": "b", "postResponse": {"retryApiCallInstruction": {}}}],
            },
        ),
    ],
)
def test_older_keys_of_other_files_are_read(
    model: type[Authored], old: dict[str, object], today: dict[str, object]
) -> None:
    assert read(model, old).model == read(model, today).model


def test_an_old_agent_names_packages() -> None:
    assert read(AgentFile, {"packages": ["a"]}).model.workflows == ("a",)


def test_each_note_stands_where_its_key_stands() -> None:
    text = """{"ruleGroups": [{"rules": [
  {"name": "A", "children": [
    {"type": "actionMatcher",
     "values": {"actions": "x", "occurrence": "current"}}]}]}]}"""
    notes = read_rule_set(text, "old.json").notes
    assert [(note.code, note.line, note.column) for note in notes] == [
        ("M001", 1, 2),
        ("M001", 2, 17),
        ("M002", 3, 14),
        ("M001", 4, 6),
        ("M003", 4, 47),
    ]
    assert {note.file for note in notes} == {"old.json"}


def test_a_problem_inside_an_older_shape_stands_where_it_was_written() -> None:
    text = """{"behaviorRules": [
{"name": "A", "children": [
{"type": "negation", "values":
 {"type": "actionmatcher", "values": {"actions": ","}}}]}]}"""
    with pytest.raises(LoadError) as raised:
        read_rule_set(text)
    assert [(problem.code, problem.line, problem.column) for problem in raised.value.problems] == [("V005", 4, 50)]


@pytest.mark.parametrize(
    "document",
    [
        rule({**MATCHER, "values": {"expressions": "other"}}),
        {"behaviorGroups": [{"rules": [{"name": "A"}], "behaviorRules": [{"name": "B"}]}]},
        {"behaviorGroups": [{"rules": [{"name": "A"}]}], "behaviorRules": [{"name": "B"}]},
    ],
)
def test_two_names_of_one_key_together_are_an_error(document: dict[str, object]) -> None:
    with pytest.raises(LoadError) as raised:
        read_rule_set(document)
    assert [problem.code for problem in raised.value.problems] == ["K004"]


def test_an_empty_list_beside_the_older_key_loses_nothing() -> None:
    document = {"behaviorGroups": [{"rules": [{"name": "Greet", "children": [MATCHER], "conditions": []}]}]}
    assert read_rule_set(document).model == read_rule_set(TODAY).model


def test_the_data_of_the_caller_stay_as_they_are() -> None:
    document = OLD_OUTPUTS["key, occurrence, outputValues"][0]
    before = json.dumps(document)
    read_output_set(document)
    assert json.dumps(document) == before


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("weather-2018", "weather-2022"),
        ("tv-buddy-2019", "tv-buddy-2020"),
        ("tv-buddy-2019", "tv-buddy-2022"),
        ("multi-purpose-2017", "multi-purpose-2022"),
    ],
)
def test_generations_of_an_agent_have_equal_rules_and_outputs(older: str, newer: str) -> None:
    agents = [read_agent(corpus.folder(name)) for name in (older, newer)]
    steps = [[step for step in agent.steps if step.task != "ai.labs.parser"] for agent in agents]
    assert steps[0] == steps[1]


def test_every_output_set_of_the_corpus_says_something() -> None:
    for file in corpus.folder("registration-2019").rglob("*.output.json"):
        reading = read(OutputSet, file.read_bytes())
        assert all(item.value_alternatives for entry in reading.model.output_set for item in entry.outputs)
