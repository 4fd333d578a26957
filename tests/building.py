"""Agents made in the test, rules and outputs as the JSON that an author writes, and what is heard when they talk."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any, get_args

from turnout.engine.agents import Agent
from turnout.engine.conversation import Conversation
from turnout.engine.events import Event, TaskFailed, Token, TurnDone
from turnout.engine.tasks import FunctionTask, Task
from turnout.engine.turns import Turn
from turnout.rules.agents import (
    AgentDefinition,
    ParserSettings,
    Policy,
    RulesSettings,
    StepDefinition,
    TemplatingSettings,
)
from turnout.rules.authored import Authored
from turnout.rules.conditions import AnyCondition
from turnout.rules.errors import LoadError, Problem
from turnout.rules.findings import CODES
from turnout.rules.reading import read, read_output_set, read_rule_set

Conditions = dict[str, Any]
"""A condition, with those in it, as JSON."""

CONDITION_TYPES = tuple(get_args(model.model_fields["type"].annotation)[0] for model in get_args(AnyCondition))
"""The legal values of a condition's `type`."""

CONTINUE = Policy(enabled=True, continue_on_failure=True)
LENIENT = Policy()


def condition(kind: str, *conditions: Conditions, **configs: str) -> Conditions:
    """A condition of a type, with conditions in it and configs."""
    made: Conditions = {"type": kind, "configs": configs}
    return made | {"conditions": list(conditions)} if conditions else made


def action(name: str, **configs: str) -> Conditions:
    """A condition on one action."""
    return condition("actionmatcher", actions=name, **configs)


def on_action(name: str, action: str, *emits: str, **configs: str) -> dict[str, Any]:
    """A rule on one action."""
    asked = condition("actionmatcher", actions=action, **configs)
    return {"name": name, "actions": list(emits), "conditions": [asked]}


def rules(*groups: list[dict[str, Any]] | dict[str, Any], **keys: Any) -> StepDefinition:
    """A rules step; a group given as a list is a first-match group."""
    made = [group if isinstance(group, dict) else {"rules": group} for group in groups]
    rule_set = read_rule_set({"behaviorGroups": made, **keys}).model
    return StepDefinition(task="ai.labs.behavior", settings=RulesSettings(rule_set=rule_set))


def output(**texts: str | list[str]) -> StepDefinition:
    """An output step that says one text for each action; `__` in a keyword stands for a dot."""
    entries = []
    for action, said in texts.items():
        for times, text in enumerate([said] if isinstance(said, str) else said):
            item = {"valueAlternatives": [{"type": "text", "text": text}]}
            entries.append({"action": action.replace("__", "."), "timesOccurred": times, "outputs": [item]})
    output_set = read_output_set({"outputSet": entries}).model
    return StepDefinition(task="ai.labs.output", settings=output_set)


def parser() -> StepDefinition:
    """A parser step without a dictionary."""
    return StepDefinition(task="ai.labs.parser", settings=ParserSettings())


def step(task: str, timeout_ms: int | None = None) -> StepDefinition:
    """A step of a task that the test brings."""
    return StepDefinition(task=task, timeout_ms=timeout_ms)


def failing(task: str, error: BaseException | None = None) -> FunctionTask:
    """A task that writes everywhere it can, and raises."""

    async def fail(turn: Any) -> None:
        turn.say("partial")
        turn.offer("partial?")
        turn.add_actions("charge_card")
        turn.store("partial", {"text": "partial"})
        turn.show("httpCalls", {"weather": "partial"})
        turn.set_property("partial", "partial")
        turn.understand("partial")
        raise error if error is not None else RuntimeError("it broke")

    return FunctionTask(task, fail)


def agent(*steps: StepDefinition, tasks: Iterable[Task] = (), policy: Policy = CONTINUE) -> Agent:
    """An agent of steps, tasks and a policy."""
    return Agent(AgentDefinition(name="test", policy=policy, steps=steps), tasks)


ASK = rules([{"name": "ask", "actions": ["ask"]}])
SORRY = output(task_failed_ai__labs__httpcalls="Sorry.", task_failed_ai__labs__llm="Sorry.")
TEMPLATING = StepDefinition(task="ai.labs.templating", settings=TemplatingSettings())


class Pauses:
    """Takes the place of the clock: remembers the pauses, in seconds, and does not make them."""

    def __init__(self) -> None:
        self.made: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.made.append(seconds)


def streamed(made: Conversation, text: str | None = "hi") -> tuple[list[Event], Turn]:
    """What happens while a turn is streamed, the opening one without a text, and the turn."""

    async def listen() -> list[Event]:
        return [event async for event in made.stream(text)]

    events = asyncio.run(listen())
    assert isinstance(events[-1], TurnDone)
    return events, events[-1].turn


def tokens(events: list[Event]) -> list[str]:
    """The pieces that were told."""
    return [event.text for event in events if isinstance(event, Token)]


def failure(events: list[Event]) -> TaskFailed:
    """What was told of the only failure."""
    (failed,) = (event for event in events if isinstance(event, TaskFailed))
    return failed


def error_of(turn: Turn) -> tuple[str, str | None]:
    """The public text of the only failure, and its type."""
    (entry,) = turn.errors
    assert isinstance(entry, dict)
    (failed,) = (outcome for outcome in turn.outcomes if outcome.status == "failed")
    return str(entry["text"]), failed.error_type


def problems_of(model: type[Authored], file: str | dict[str, Any]) -> tuple[Problem, ...]:
    """All that is said of a file, each at its place and with a hint; of data, each key and value has a line."""
    try:
        problems = read(model, json.dumps(file, indent=1) if isinstance(file, dict) else file, "a.json").notes
    except LoadError as error:
        problems = error.problems
    for problem in problems:
        assert problem.code in CODES
        assert problem.file == "a.json"
        assert problem.line
        assert problem.column
        assert problem.hint
    return problems
