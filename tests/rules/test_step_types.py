"""What is said of a workflow by itself: the types of its steps and the keys of their config."""

import pytest

from turnout.rules.agents import WorkflowFile
from turnout.rules.errors import Problem
from turnout.rules.reading import read_document


def told(*steps: dict[str, object]) -> tuple[Problem, ...]:
    """The problems of a workflow of these steps."""
    return read_document(WorkflowFile, {"workflowSteps": list(steps)}).problems


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("eddi://ai.labs.outputs", "ai.labs.output"),
        ("ai.labs.outputs", "ai.labs.output"),
        ("eddi://ai.labs.output/", "ai.labs.output"),
        ("eddi://ai.labs.behaviour", "ai.labs.behavior"),
    ],
)
def test_an_unknown_type_of_the_reference_is_a_warning_with_the_nearest(written: str, meant: str) -> None:
    (problem,) = told({"type": written})
    assert (problem.code, problem.severity, problem.hint) == ("A011", "warning", f"did you mean `{meant}`?")


@pytest.mark.parametrize("name", ["mcpcalls", "rag"])
def test_a_task_that_is_not_built_in_yet_is_a_note(name: str) -> None:
    (problem,) = told({"type": f"eddi://ai.labs.{name}"})
    assert (problem.code, problem.severity) == ("A013", "note")
    assert problem.hint == "bring a task with that id"


@pytest.mark.parametrize("name", ["ai.labs.parser", "eddi://ai.labs.behavior", "weather", "eddi://weather?version=1"])
def test_of_built_in_and_foreign_tasks_nothing_is_said(name: str) -> None:
    assert told({"type": name}) == ()


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("EDDI://ai.labs.output", "did you mean `eddi://ai.labs.output`?"),
        ("http://example.test/", "leave it out, or begin the type with `eddi://`"),
    ],
)
def test_another_scheme_is_a_warning_that_the_step_is_skipped(written: str, hint: str) -> None:
    (problem,) = told({"type": written})
    assert (problem.code, problem.severity, problem.hint) == ("A012", "warning", hint)
    assert "is skipped" in problem.message


@pytest.mark.parametrize(("newer", "task"), [("rules", "behavior"), ("apicalls", "httpcalls")])
def test_a_newer_name_of_a_task_is_noted(newer: str, task: str) -> None:
    (problem,) = told({"type": f"eddi://ai.labs.{newer}"})
    assert (problem.code, problem.severity, problem.hint) == ("M002", "note", f"write `eddi://ai.labs.{task}`")


def test_dictionaries_and_corrections_of_a_parser_step_are_looked_at() -> None:
    parts = {
        "dictionaries": [{"type": "eddi://ai.labs.parser.dictionaries.regular"}, {"type": "french"}],
        "corrections": [{"type": "phonetic"}],
    }
    problems = told({"type": "eddi://ai.labs.parser", "extensions": parts})
    assert [(problem.code, problem.severity, problem.message) for problem in problems] == [
        ("A008", "error", "a dictionary of this type needs a file"),
        ("A010", "warning", "the dictionary `french` is not used here"),
        ("A010", "warning", "the correction `phonetic` is not used here"),
    ]
    assert told({"type": "eddi://weather", "extensions": parts}) == ()


def test_a_typo_in_the_config_of_a_built_in_step_or_a_dictionary_is_an_error() -> None:
    problems = told(
        {"type": "eddi://ai.labs.parser", "config": {"uris": "x"}},
        {"type": "eddi://ai.labs.behavior", "config": {"appendActoins": True}},
        {"type": "ai.labs.parser", "extensions": {"dictionaries": [{"type": "regular", "config": {"urii": "x"}}]}},
    )
    assert [problem.code for problem in problems] == ["K001"] * 3
    assert [problem.hint for problem in problems] == [
        "did you mean `uri`?",
        "did you mean `appendActions`?",
        "did you mean `uri`?",
    ]


def test_what_a_foreign_task_is_given_is_its_own_affair() -> None:
    assert told({"type": "weather", "config": {"uris": 1, "appendActoins": 2}}) == ()
