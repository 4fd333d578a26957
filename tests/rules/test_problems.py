"""What is told of documents: one problem for one mistake, in words, with a help and a place."""

import json

import pytest

from turnout.rules.agents import AgentFile, WorkflowFile
from turnout.rules.authored import Authored
from turnout.rules.facts import FactsFile
from turnout.rules.findings import shown
from turnout.rules.outputs import OutputSet
from turnout.rules.reading import read_document
from turnout.rules.rulesets import RuleSet


def told(source: object, model: type[Authored] = RuleSet) -> list[str]:
    """The problems of a document that are no notes, with their hints."""
    text = source if isinstance(source, str | bytes) else json.dumps(source)
    problems = read_document(model, text).problems
    return [f"{one.code} {one.message}; {one.hint}" for one in problems if one.severity != "note"]


def on(type: str, **configs: object) -> dict[str, object]:
    """A rule set with one condition."""
    return {"behaviorGroups": [{"rules": [{"name": "A", "conditions": [{"type": type, "configs": configs}]}]}]}


def saying(*items: object) -> dict[str, object]:
    """An output set with these alternatives."""
    return {"outputSet": [{"action": "greet", "outputs": [{"valueAlternatives": list(items)}]}]}


@pytest.mark.parametrize(
    ("model", "document"),
    [
        (WorkflowFile, {"workflowSteps": [{"type": "weather", "timeoutMs": True}]}),
        (OutputSet, {"outputSet": [{"action": "a", "timesOccurred": True}]}),
        (OutputSet, saying({"type": "text", "delay": True})),
        (AgentFile, {"memoryPolicy": {"strictWriteDiscipline": {"enabled": "yes"}}}),
        (AgentFile, {"memoryPolicy": {"strictWriteDiscipline": {"enabled": 1}}}),
        (RuleSet, {"appendActions": "no", "behaviorGroups": []}),
    ],
)
def test_a_truth_is_no_number_and_only_true_and_false_are_truths(model: type[Authored], document: object) -> None:
    (problem,) = told(document, model)
    assert problem.startswith("V002")


@pytest.mark.parametrize(
    ("model", "document"),
    [
        (WorkflowFile, {"workflowSteps": [{"type": "weather", "timeoutMs": "500"}]}),
        (OutputSet, {"outputSet": [{"action": "a", "timesOccurred": "1"}]}),
        (AgentFile, {"memoryPolicy": {"strictWriteDiscipline": {"enabled": "true"}}}),
        (RuleSet, {"appendActions": "false", "behaviorGroups": []}),
    ],
)
def test_the_texts_of_older_files_are_read_with_a_note(model: type[Authored], document: object) -> None:
    (problem,) = read_document(model, json.dumps(document)).problems
    assert (problem.code, problem.severity, problem.hint) == ("M003", "note", "write it without quotes")


def test_the_validation_of_an_input_field_is_checked() -> None:
    problems = told(saying({"type": "inputField", "validation": {"minLenght": 1, "maxLength": -1}}), OutputSet)
    assert [problem[:4] for problem in problems] == ["K001", "V006"]


@pytest.mark.parametrize("task", ["a b", "a,b", " weather"])
def test_the_task_of_a_condition_has_no_comma_and_no_blank(task: str) -> None:
    (problem,) = told(on("outcomematcher", taskId=task))
    assert problem.startswith("V007")


def test_a_row_of_failures_is_at_least_one() -> None:
    (problem,) = told(on("outcomematcher", taskId="weather", minConsecutive="0"))
    assert "`minConsecutive` must be at least 1, not `0`" in problem


@pytest.mark.parametrize(
    "condition",
    [
        on("occurrence", behaviorRuleName="A", minTimesOccurred="3", maxTimesOccurred="2"),
        on("occurrence", behaviorRuleName="A", maxTimesOccurred="-2"),
        on("sizematcher", valuePath="x", min="3", max="2"),
    ],
)
def test_bounds_that_can_never_hold_are_a_warning(condition: object) -> None:
    (problem,) = told(condition)
    assert problem.startswith("V008")


def test_bounds_that_can_hold_are_fine() -> None:
    assert told(on("occurrence", behaviorRuleName="A", minTimesOccurred="3", maxTimesOccurred="-1")) == []
    assert told(on("occurrence", behaviorRuleName="A", minTimesOccurred="2", maxTimesOccurred="2")) == []
    assert told(on("sizematcher", valuePath="x", min="-5", max="-2")) == []


@pytest.mark.parametrize(
    ("model", "document", "hint"),
    [
        (RuleSet, {"behaviorRules": [{"conditions": [{"typ": "sizematcher"}]}]}, "did you mean `type`?"),
        (RuleSet, on("contextmatcher", contextTyp="string", contextKey="k", string="x"), "did you mean `contextType`?"),
        (OutputSet, saying({"typ": "text", "text": "x"}), "did you mean `type`?"),
        (WorkflowFile, {"workflowSteps": [{"typ": "weather"}]}, "did you mean `type`?"),
        (FactsFile, on("dependency"), "check which file this is"),
    ],
)
def test_one_mistake_is_one_problem(model: type[Authored], document: object, hint: str) -> None:
    (problem,) = [one for one in told(document, model) if not one.startswith("S002")]
    assert problem.endswith(hint)


def test_a_key_that_comes_again_and_again_is_told_once() -> None:
    (problem,) = told('{"behaviorGroups": [], "_a": 1, "_a": 2, "_a": 3}')
    assert problem.startswith("J008 `_a` stands 3 times")


def test_of_one_code_at_most_a_hundred_problems_are_told() -> None:
    problems = told({"behaviorGroups": [{"rules": [{f"strange{number}": 1 for number in range(250)}]}]})
    assert len(problems) == 101
    assert problems[-1].startswith("K002 and 150 more of these")


def test_what_an_alternative_lacks_is_not_said_of_a_condition() -> None:
    (problem,) = told(saying({"typ": "text"}), OutputSet)
    assert problem.startswith("K001 an alternative in output `greet`: ")


@pytest.mark.parametrize("value", [None, True, [None], {"a": 1.5}])
def test_values_are_shown_as_json(value: object) -> None:
    assert shown(value) == f"`{json.dumps(value)}`"


def test_half_a_character_is_told_as_such() -> None:
    (problem,) = told(on("actionmatcher", actions="a\ud800"))
    assert "holds half a character" in problem


def test_a_document_that_lacks_something_is_named() -> None:
    assert told({"properties": {}}, FactsFile) == ["V001 the document requires `steps`; add `steps`"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{}".encode("utf-32"), "UTF-32"),
        ("{}".encode("utf-32-be"), "UTF-32"),
        ("{}".encode("utf-16"), "UTF-16"),
        ("\ufeff\ufeff{}".encode(), "second byte order mark"),
    ],
)
def test_other_encodings_are_named(source: bytes, said: str) -> None:
    (problem,) = told(source)
    assert said in problem


def test_too_deep_has_the_place_where_it_goes_too_deep() -> None:
    (problem,) = read_document(RuleSet, "[\n" * 100_000).problems
    assert (problem.code, problem.line, problem.hint) == ("J007", 201, "nest them at most 200 deep")
