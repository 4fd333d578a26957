"""A recorded conversation against changed rules: which of its turns would have gone another way.

Each turn is run anew on what was recorded before it. Nothing is called: tasks that ask somebody do again what was
recorded of them, and alternatives are drawn as they were.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import cast

from ..engine.agents import Agent
from ..engine.journal import Journal
from ..engine.memory import ABSENT, Changes, Memory
from ..engine.steps import Step
from ..engine.tasks import FunctionTask
from ..engine.tasks.parser import ParserTask
from ..rules.agents import AgentDefinition, StepDefinition
from ..rules.authored import ErrorType
from ..rules.outputs import TAKEN
from ..rules.values import JSON
from .testing import REAL

_DRAWN = tuple(range(1000))
"""More alternatives than one place of an output set has."""


class RecordedError(Exception):
    """What a task raises that failed in the record."""

    def __init__(self, message: str, error_type: ErrorType) -> None:
        super().__init__(message)
        self.error_type = error_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is compared of a turn: its state, its actions, and what output sets said and offered."""

    state: str
    actions: tuple[str, ...]
    replies: tuple[JSON, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A turn that would have gone another way; `number` counts from 0, `rules` are the names of those responsible."""

    number: int
    input: str
    before: Told
    after: Told
    rules: tuple[str, ...]


def changed(definition: AgentDefinition, memory: Memory, *, as_recorded: bool = False) -> Iterator[Changed]:
    """The turns of `memory` that the agent would have had otherwise; in the end `memory` is as before.

    With `as_recorded` the steps of each turn are those that ran in it, with the agent's rules and outputs.
    """
    while memory.undo():
        pass
    number = len(memory.history.steps)
    while memory.undone:
        step, after = memory.undone[-1]
        if not step.outcomes or step.state == "EXECUTION_INTERRUPTED":  # no turn, or one of which the rest is unknown
            memory.redo()
            number += 1
            continue
        steps = tuple(_as_ran(definition, step)) if as_recorded else definition.steps
        trial = _trial(memory, after)
        asyncio.run(_again(replace(definition, steps=steps), step, _set(after), trial))
        anew = trial.history.steps[-1]
        trial.undo()
        before, now = _told(step), _told(anew)
        if before != now:
            rules = tuple(_responsible(definition, step, anew))
            yield Changed(number=number, input=step.input, before=before, after=now, rules=rules)
        memory.redo()
        number += 1


def _responsible(definition: AgentDefinition, step: Step, anew: Step) -> list[str]:
    """The rules that fired in one of two turns only, or else those that emit in the second what the first had not."""
    names = dict.fromkeys([*step.succeeded, *anew.succeeded])
    apart = [name for name in names if (name in step.succeeded) != (name in anew.succeeded)]
    new = set(anew.actions).difference(step.actions)
    return apart or [rule.name for rule in definition.rules if rule.name in names and new.intersection(rule.actions)]


def _trial(memory: Memory, after: Changes) -> Memory:
    """A memory that one more turn can be had in, which changes nothing of `memory` once it is undone."""
    trial = Memory(memory.surroundings)
    trial.history = memory.history
    trial.properties, trial.scopes = dict(memory.properties), dict(memory.scopes)
    trial.drawn = dict(memory.drawn)
    for part, place, used in after:
        if part == "drawn" and isinstance(used, tuple):
            # All but the one that was drawn count as used: so it is drawn again.
            trial.drawn[place] = tuple(other for other in _DRAWN if other != used[-1])
    return trial


def _set(after: Changes) -> dict[str, JSON]:
    """The properties that were set in a turn, those that it ended with included."""
    return {
        name: cast("JSON", value)
        for part, name, value in reversed(after)
        if part == "properties" and value is not ABSENT
    }


async def _again(definition: AgentDefinition, step: Step, properties: Mapping[str, JSON], trial: Memory) -> None:
    """The turn of a recorded step as the agent has it now."""
    others = dict.fromkeys(each.task for each in definition.steps if each.task not in REAL or each.settings is None)
    tasks = [FunctionTask(task, _doing(task, step, properties)) for task in others]
    agent = Agent(definition, tasks)
    # What is real failed as well where the record says so.
    broken = {one.task for one in step.outcomes if one.status == "failed"}.intersection(agent.tasks)
    agent = agent.running({task: _doing(task, step, properties) for task in broken})
    conversation = agent.conversation(memory=trial, chance=Random(0))
    if "CONVERSATION_START" in step.actions and not step.input:
        await conversation.start(step.context, step.attachments)
    else:
        await conversation.say(step.input, step.context, step.attachments)


def _doing(task: str, step: Step, properties: Mapping[str, JSON]) -> Callable[[Journal], Awaitable[None]]:
    """What a task does again in a recorded turn: it fails, or leaves what was there."""
    outcomes = [one for one in step.outcomes if one.task == task]
    failed = next((one for one in outcomes if one.status == "failed"), None)

    async def do(turn: Journal) -> None:
        if failed is not None:
            raise RecordedError(str(failed.reason or "failed"), failed.error_type or "unknown")
        if all(one.status == "skipped" for one in outcomes):
            turn.skip()
            return
        if task == ParserTask.id:
            turn.understand(step.expressions)
            return
        for key, value in step.output.items():
            if key not in TAKEN:
                turn.show(key, value)
        for name, value in properties.items():
            turn.set_property(name, value)
        turn.add_actions(*(action for one in outcomes for action in one.added))

    return do


def items_of(told: Told) -> Iterator[JSON]:
    """The items that were said, and the quick replies that were offered, one by one."""
    for reply in told.replies:
        if isinstance(reply, list):
            yield from reply
        else:
            yield reply


def told_data(told: Told) -> Mapping[str, JSON]:
    """What is compared of a turn, as JSON."""
    return {"state": told.state, "actions": list(told.actions), "replies": list(items_of(told))}


def _told(step: Step) -> Told:
    said = [
        entry.value
        for key, entry in step.data.items()
        if entry.committed and key.startswith(("output:", "quickReplies:"))
    ]
    return Told(state=step.state, actions=tuple(step.actions), replies=tuple(said))


def _as_ran(definition: AgentDefinition, step: Step) -> Iterator[StepDefinition]:
    """The steps that ran in a recorded turn, those of rules and outputs as the agent has them."""
    own: dict[str, list[StepDefinition]] = {}
    for each in definition.steps:
        own.setdefault(each.task, []).append(each)
    for outcome in step.outcomes:
        mine = own.get(outcome.task)
        if mine is None:
            yield StepDefinition(task=outcome.task)
        else:
            yield mine.pop(0) if len(mine) > 1 else mine[0]
