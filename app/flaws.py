"""What is wrong with a check before it is run: it names what does not exist, and so could never fail or never hold."""

from collections.abc import Iterator
from typing import get_args

from ..engine.steps import State
from ..engine.tasks.httpcalls import HttpCallsTask
from ..rules.agents import AgentDefinition
from ..rules.authored import step_task
from ..rules.check_blocks import CheckBlock, Expectation, Fault, Placed
from ..rules.errors import Problem
from ..rules.findings import listed, shown
from ..rules.spelling import suggestion

_STATES = get_args(State)


def flaws(check: CheckBlock, definition: AgentDefinition) -> Iterator[Problem]:
    """All that is wrong with a check of an agent."""
    tasks = list(dict.fromkeys(step.task for step in definition.steps))
    rules = [rule.name for rule in definition.rules]
    for turn in check.turns:
        told: set[str] = set()
        for fault in turn.faults:
            yield from _fault_flaws(fault, tasks, told)
            told.add(step_task(fault.task))
        for expected in turn.expectations:
            yield from _expectation_flaws(expected, rules)


def _fault_flaws(fault: Fault, tasks: list[str], told: set[str]) -> Iterator[Problem]:
    task = step_task(fault.task)
    if task not in tasks:
        yield _problem(fault, "C001", f"no step of the agent runs task {shown(task)}", _meant(task, tasks))
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


def _meant(word: str, known: list[str]) -> str:
    legal = f"use one of {listed(known, 'or')}" if known else "correct the name, or leave it out"
    return suggestion(word, known, legal)


def _problem(at: Placed, code: str, message: str, hint: str) -> Problem:
    return Problem(code=code, message=message, line=at.line, column=at.column, hint=hint)
