"""Agents that ask models, made in the test, and what is looked at when they talk."""

import asyncio
from typing import Any

from building import CONTINUE, agent, output, rules, step
from turnout.engine.conversation import Conversation
from turnout.engine.events import Event, TaskFailed, Token, TurnDone
from turnout.engine.journal import Journal
from turnout.engine.tasks import FunctionTask
from turnout.engine.tasks.llm import LlmTask
from turnout.engine.turns import Turn
from turnout.rules.agents import Policy
from turnout.rules.llm import LlmFile
from turnout.rules.values import JSON

KEY = "qK7-Zebra.Canary_0123456789"
FAILED = "Task 'eddi://ai.labs.llm' failed: "
ASK = rules([{"name": "ask", "actions": ["ask"]}])
SORRY = output(task_failed_ai__labs__llm="Sorry.")
LLM = step("ai.labs.llm")


def model(url: str = "", *, retry: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    """A model that is asked at action `ask` and whose answer is said; keys that no parameter has go beside them."""
    beside = {key: parameters.pop(key) for key in _BESIDE if key in parameters}
    given = {"modelName": "small", "baseUrl": url, "addToOutput": "true", **parameters}
    return {"id": "m", "actions": ["ask"], "retry": retry or {}, "parameters": given, **beside}


_BESIDE = ("id", "type", "actions", "conversationHistoryLimit", "responseObjectName", "preRequest", "postResponse")


class Pauses:
    """Takes the place of the clock: remembers the pauses, in seconds, and does not make them."""

    def __init__(self) -> None:
        self.made: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.made.append(seconds)


def task(*models: dict[str, Any], pauses: Pauses | None = None, **environment: str) -> LlmTask:
    """The task that asks these models."""
    file = LlmFile.model_validate({"tasks": list(models)})
    return LlmTask(file, sleep=pauses or Pauses(), environment=environment)


def talk(
    made: LlmTask, *before: Any, policy: Policy = CONTINUE, properties: dict[str, JSON] | None = None
) -> Conversation:
    """A conversation that has the action `ask` in each turn; the tasks `before` run before the models.

    The properties are set in each turn, the one named `secret` as a secret.
    """

    async def prepare(turn: Journal) -> None:
        for name, value in (properties or {}).items():
            turn.set_property(name, value, "secret" if name == "secret" else "conversation")

    tasks = [FunctionTask("prepare", prepare), *before, made]
    steps = (step("prepare"), ASK, *(step(each.id) for each in before), LLM, SORRY)
    return agent(*steps, tasks=tasks, policy=policy).conversation()


def error_of(turn: Turn) -> tuple[str, str | None]:
    """The public text of the only failure, and its type."""
    (entry,) = turn.errors
    assert isinstance(entry, dict)
    failed = next(outcome for outcome in turn.outcomes if outcome.status == "failed")
    return str(entry["text"]), failed.error_type


def streamed(made: Conversation, text: str = "hi") -> tuple[list[Event], Turn]:
    """What happens while a turn is streamed, and the turn."""

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
