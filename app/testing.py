"""Runs the checks of a text against its agent: what was expected of each turn, and what came of it.

Nothing is called: of the tasks only those that ask nobody are real. Every other one stands in, and does what the check
says of it: it fails, or answers, or else has nothing to do.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ..engine.agents import Agent
from ..engine.journal import Journal
from ..engine.memory import Memory
from ..engine.tasks import FunctionTask
from ..engine.tasks.answers import HttpStatusError
from ..engine.tasks.httpcalls import HttpCallsTask
from ..engine.tasks.output import OutputTask
from ..engine.tasks.parser import ParserTask
from ..engine.tasks.properties import PropertyTask
from ..engine.tasks.rules import RulesTask
from ..engine.tasks.templating import TemplatingTask
from ..engine.turns import Turn
from ..grammar.program import Program, agent_of_program, read_program
from ..rules.agents import AgentDefinition, StepDefinition
from ..rules.authored import step_task
from ..rules.check_blocks import CheckBlock, Fault, Given
from ..rules.check_blocks import Turn as Asked
from ..rules.errors import ClosedError, LoadError, Problem, UsageError, has_errors
from ..rules.step_types import SHORT_TASKS
from ..rules.values import JSON, freeze
from .expectations import Sight, actual, holds, reasons, words
from .files import read_file
from .flaws import flaws

REAL = (ParserTask.id, RulesTask.id, PropertyTask.id, OutputTask.id, TemplatingTask.id)
"""The tasks that do their work in a check unless it says otherwise."""
LLM = SHORT_TASKS["llm"]

TurnListener = Callable[[Turn, Mapping[str, int]], object]
"""Told of each turn, with the number of earlier steps that had each action."""


class StandInError(Exception):
    """What a task raises that a check lets fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A text's agent, its tasks without I/O, and the checks that stand in the text."""

    file: str
    agent: Agent
    checks: tuple[CheckBlock, ...]
    warnings: tuple[Problem, ...] = ()
    """What makes some of the checks useless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What was not met in turn `turn`, counted from 1; `why` says what became of the rules concerned."""

    line: int
    column: int
    turn: int
    expected: str
    actual: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a check went: it passed if nothing failed. It took `seconds`."""

    check: CheckBlock
    failures: tuple[Failure, ...]
    seconds: float


def read_suite(path: Path) -> Suite:
    """Read the agent of a text, and its checks.

    Without `steps` the rules are asked, then come the tasks that its checks name, then the outputs. Raises `LoadError`
    with all that is wrong, checks that name what does not exist included.
    """
    program = read_program(read_file(path), path.as_posix())
    return suite_of(tested(program, agent_of_program(program, path)), program.checks, path.as_posix())


def tested(program: Program, definition: AgentDefinition) -> AgentDefinition:
    """The agent of a text as its checks see it; without `steps`, with the tasks that they name."""
    if program.has("steps"):
        return definition
    rules, *others = definition.steps
    faults = [fault for check in program.checks for turn in check.turns for fault in turn.faults]
    named = dict.fromkeys(step_task(fault.task) for fault in faults)
    between = [StepDefinition(task=task) for task in named if task not in REAL]
    return replace(definition, steps=(rules, *between, *others))


def suite_of(definition: AgentDefinition, checks: Sequence[CheckBlock], file: str = "") -> Suite:
    """The suite of an agent that was read already; raises `LoadError` for checks that cannot be run as they are."""
    problems = tuple(replace(flaw, file=file) for check in checks for flaw in flaws(check, definition))
    if has_errors(problems):
        raise LoadError(problems)
    # INVARIANT: what could do I/O never runs in a check.
    brought = dict.fromkeys(step.task for step in definition.steps if step.task not in REAL)
    types = {HttpCallsTask.id: HttpCallsTask.type, LLM: "langchain"}
    stand_ins = [FunctionTask(task, _idle, types.get(task, "task")) for task in brought]
    return Suite(file=file, agent=Agent(definition, stand_ins), checks=tuple(checks), warnings=problems)


def run_check(suite: Suite, check: CheckBlock, listeners: Iterable[TurnListener] = ()) -> Result:
    """Run a check in a conversation of its own; alternatives are drawn the same in each run."""
    began = time.perf_counter()
    failures = asyncio.run(_failures(suite, check, tuple(listeners)))
    return Result(check=check, failures=failures, seconds=time.perf_counter() - began)


async def _failures(suite: Suite, check: CheckBlock, listeners: Sequence[TurnListener]) -> tuple[Failure, ...]:
    memory = Memory(suite.agent.definition.surroundings)
    chance = random.Random(0)
    _take(memory, check.givens)
    found: list[Failure] = []
    for number, asked in enumerate(check.turns, start=1):
        _take(memory, asked.givens)
        counts = dict(memory.history.actions)
        try:
            sight = await _turn(suite.agent, asked, (*check.givens, *asked.givens), memory, chance)
        except (ClosedError, UsageError) as error:
            said = error.message if isinstance(error, UsageError) else str(error)
            found.append(Failure(line=asked.line, column=asked.column, turn=number, expected="a turn", actual=said))
            break
        for listener in listeners:
            listener(sight.turn, counts)
        found += [
            Failure(
                line=expected.line,
                column=expected.column,
                turn=number,
                expected=words(expected),
                actual=actual(expected, sight),
                why=tuple(reasons(expected, sight, suite.agent.definition)),
            )
            for expected in asked.expectations
            if not holds(expected, sight)
        ]
    return tuple(found)


def _take(memory: Memory, givens: Iterable[Given]) -> None:
    """Make the properties and the environment those that are given."""
    for given in givens:
        if given.kind == "property":
            memory.properties = {**memory.properties, given.name: freeze(given.value)}
            memory.scopes = {**memory.scopes, given.name: "conversation"}
        elif given.kind == "environment":
            memory.surroundings = replace(memory.surroundings, environment=given.name)


async def _turn(agent: Agent, asked: Asked, givens: Sequence[Given], memory: Memory, chance: random.Random) -> Sight:
    """One turn, as it is seen from everywhere. Raises `UsageError` and `ClosedError` where there can be none."""
    context = {given.name: given.value for given in givens if given.kind == "context"}
    attachments = [given.name for given in givens if given.kind == "attachment"]
    sight = Sight(memory=memory)
    conversation = agent.running({step_task(fault.task): _doing(fault) for fault in asked.faults}).conversation(
        chance=chance, listeners=[sight.events.append], operators=[sight.notes.append], memory=memory
    )
    with sight.logging():
        if asked.typed is None and asked.meant is None:
            sight.turn = await conversation.start(context, attachments)
        else:
            sight.turn = await conversation.say(asked.typed or "", context, attachments, expressions=asked.meant or "")
    return sight


async def _idle(turn: Journal) -> None:
    turn.skip()


def _doing(fault: Fault) -> Callable[[Journal], Awaitable[None]]:
    """What a task does that a check lets fail or answer."""
    task = step_task(fault.task)

    async def fail(_turn: Journal) -> None:
        raise _error(fault)

    async def answer(turn: Journal) -> None:
        if task == LLM and isinstance(fault.answer, str):
            turn.say(fault.answer)
            return
        # The calls of a file store what was answered under names of their own, another task under its id.
        gained = fault.answer if task == HttpCallsTask.id else {task: fault.answer}
        stored = turn.read("memory.current.httpCalls") or {}
        turn.show("httpCalls", cast("dict[str, JSON]", stored) | cast("dict[str, JSON]", gained))

    return answer if fault.kind == "answers" else fail


def _error(fault: Fault) -> Exception:
    """The failure that a check asks for.

    An error message beside a status lies beneath it, as where a client wraps what it was told. A body is kept as a
    note: it belongs to the exception and not to its message, and must come through nowhere.
    """
    error: Exception
    if fault.kind == "times_out":
        return TimeoutError("no answer in time")
    if fault.status is None:
        error = StandInError(fault.error or "made to fail")
    else:
        error = HttpStatusError(fault.task, fault.status)
        error.__cause__ = StandInError(fault.error) if fault.error else None
    if fault.body:
        error.add_note(fault.body)
    return error
