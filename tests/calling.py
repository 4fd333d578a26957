"""Steps that make HTTP calls, as their author writes them."""

from typing import Any

from turnout.rules.agents import StepDefinition
from turnout.rules.calls import HttpCallsFile


def call(**keys: Any) -> dict[str, Any]:
    """A call at action `ask` whose answer is saved."""
    return {
        "name": "weather",
        "actions": ["ask"],
        "saveResponse": True,
        "responseObjectName": "weather",
        **keys,
    }


def settings(url: str, *calls: dict[str, Any]) -> HttpCallsFile:
    """A file of calls."""
    return HttpCallsFile.model_validate({"targetServerUrl": url, "httpCalls": list(calls)})


def calls_step(url: str, *calls: dict[str, Any], timeout_ms: int | None = None) -> StepDefinition:
    """A step that makes calls."""
    return StepDefinition(task="ai.labs.httpcalls", settings=settings(url, *calls), timeout_ms=timeout_ms)
