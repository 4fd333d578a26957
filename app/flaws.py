"""What is wrong with a check before it is run: it names what does not exist, or can never fail."""

from collections.abc import Iterator
from typing import get_args

from ..engine.steps import State
from ..engine.tasks.httpcalls import HttpCallsTask
from ..rules.agents import AgentDefinition
from ..rules.authored import step_task
from ..rules.check_blocks import CheckBlock, Expectation, Fault, Placed
from ..rules.errors import Problem, Severity
from ..rules.findings import listed, shown
from ..rules.lints.survey import FAILED, SPECIAL, Survey
from ..rules.spelling import suggestion
from ..rules.step_types import SHORT_TASKS

_STATES = get_args(State)


def flaws(check: CheckBlock, definition: AgentDefinition) -> Iterator[Problem]:
    """All that is wrong with a check of an agent; what only makes it useless is a warning."""
    tasks = list(dict.fromkeys(step.task for step in definition.steps))
    rules = [rule.name for rule in definition.rules]
    survey = Survey(definition)
    # A turn in between may only lead to the next one.
    if not check.turns[-1].expectations:
        empty = not any(turn.expectations for turn in check.turns)
        at, words = (check, "the check") if empty else (check.turns[-1], "the last turn of the check")
        hint = "add an `expect`, or take it out"
        yield _problem(at, "C006", f"{words} expects nothing, and so cannot fail", hint, "warning")
    for turn in check.turns:
        told: set[str] = set()
        for fault in turn.faults:
            yield from _fault_flaws(fault, tasks, told)
            told.add(step_task(fault.task))
        for expected in turn.expectations:
            yield from _expectation_flaws(expected, rules)
            yield from _empty(expected, survey)


def _fault_flaws(fault: Fault, tasks: list[str], told: set[str]) -> Iterator[Problem]:
    task = step_task(fault.task)
    if task not in tasks:
        yield _problem(fault, "C001", f"no step of the agent runs task {shown(task)}", _task(task, tasks))
    if task in told:
        yield _problem(fault, "C004", f"the turn says twice what task {shown(task)} does", "leave one of them out")
    if fault.kind == "answers" and task == HttpCallsTask.id and not isinstance(fault.answer, dict):
        message = "HTTP calls answer with an object, of what each call stores by its name"
        yield _problem(fault, "C005", message, 'write `{"NAME": …}` with the `responseObjectName` of a call')


def _expectation_flaws(expected: Expectation, rules: list[str]) -> Iterator[Problem]:
    if expected.kind in ("fires", "silent") and expected.wanted[0] not in rules:
        name = expected.wanted[0]
        yield _problem(expected, "C002", f"there is no rule {shown(name)}", _meant(name, rules))
    if expected.kind == "state" and expected.wanted[0] not in _STATES:
        state = expected.wanted[0]
        yield _problem(expected, "C003", f"there is no state {shown(state)}", _meant(state, list(_STATES)))


def _empty(expected: Expectation, survey: Survey) -> Iterator[Problem]:
    """What is wrong with an expectation that has one answer whatever happens."""
    if expected.kind == "sees" and expected.wanted[0] == "":
        yield _problem(expected, "C008", "every text holds the empty one", "name what is looked for", "warning")
    if expected.kind == "no_action" and not survey.emits_unknown:
        action = expected.wanted[0]
        known = {*survey.emitted, *survey.matched, *survey.said, *survey.called}
        if action not in known | SPECIAL and not action.startswith(FAILED):
            meant = suggestion(action, sorted(known), "name an action that a rule emits")
            yield _problem(
                expected, "C007", f"nothing emits the action {shown(action)}, so it never comes", meant, "warning"
            )


def _task(task: str, known: list[str]) -> str:
    plain = SHORT_TASKS.get(task)
    return f"did you mean `{plain}`?" if plain in known else _meant(task, known)


def _meant(word: str, known: list[str]) -> str:
    legal = f"use one of {listed(known, 'or')}" if known else "correct the name, or leave it out"
    return suggestion(word, known, legal)


def _problem(at: Placed, code: str, message: str, hint: str, severity: Severity = "error") -> Problem:
    return Problem(code=code, message=message, line=at.line, column=at.column, hint=hint, severity=severity)
