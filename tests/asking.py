"""Agents that ask models, made in the test."""

from typing import Any

from building import ASK, CONTINUE, SORRY, Pauses, agent, step
from turnout.engine.conversation import Conversation
from turnout.engine.journal import Journal
from turnout.engine.tasks import FunctionTask
from turnout.engine.tasks.llm import LlmTask
from turnout.rules.agents import Policy
from turnout.rules.llm import LlmFile
from turnout.rules.values import JSON

KEY = "qK7-Zebra.Canary_0123456789"
FAILED = "Task 'eddi://ai.labs.llm' failed: "
LLM = step("ai.labs.llm")


def model(url: str = "", *, retry: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    """A model of a server, asked at action `ask`, whose answer is said; keys that no parameter has go beside them."""
    beside = {key: parameters.pop(key) for key in _BESIDE if key in parameters}
    given = {"modelName": "small", "baseUrl": url and f"{url}/v1", "addToOutput": "true", **parameters}
    return {"id": "m", "actions": ["ask"], "retry": retry or {}, "parameters": given, **beside}


_BESIDE = ("id", "type", "actions", "conversationHistoryLimit", "responseObjectName", "preRequest", "postResponse")


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
