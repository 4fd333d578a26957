"""The record of a conversation's memory, as JSON: what a store keeps, and what comes back from it."""

from collections.abc import Mapping
from typing import Any, cast

from ..rules.values import JSON, freeze
from .facts import Surroundings
from .memory import Memory, Scope
from .steps import ContextEntry, Digest, Entry, Outcome, Step


def dump(memory: Memory) -> dict[str, JSON]:
    """The steps that ended, with uncommitted data and its mark, and what lives beside them."""
    return {
        "steps": [_step(step) for step in memory.history.steps],
        "properties": {
            name: {"value": value, "scope": memory.scopes.get(name, "conversation")}
            for name, value in memory.properties.items()
        },
        "drawn": {place: list(used) for place, used in memory.drawn.items()},
    }


def load(record: Mapping[str, JSON], surroundings: Surroundings | None = None) -> Memory:
    """The memory that `record` was made of; it can't undo what was recorded.

    An entry without the mark `committed` is committed, as in documents older than the mark. Raises `ValueError`,
    `TypeError` or `KeyError` for what is no such record.
    """
    made = cast("dict[str, Any]", freeze(record))
    memory = Memory(surroundings)
    for step in made["steps"]:
        memory.begin_step(_loaded(step))
        memory.end_step()
    properties = made.get("properties", {})
    memory.properties = {name: each["value"] for name, each in properties.items()}
    memory.scopes = {name: cast("Scope", each["scope"]) for name, each in properties.items()}
    memory.drawn = {place: tuple(used) for place, used in made.get("drawn", {}).items()}
    return memory


def _step(step: Step) -> dict[str, JSON]:
    return {
        "input": step.input,
        "state": step.state,
        "actions": list(step.actions),
        "expressions": step.expressions,
        "context": {key: entry._asdict() for key, entry in step.context.items()},
        "succeeded": list(step.succeeded),
        "failed": list(step.failed),
        "rerouted": list(step.rerouted),
        "output": dict(step.output),
        "data": {
            key: {"value": entry.value, "committed": entry.committed, "public": entry.public}
            for key, entry in step.data.items()
        },
        "attachments": list(step.attachments),
        "outcomes": [
            {
                "task": outcome.task,
                "status": outcome.status,
                "errorType": outcome.error_type,
                "reason": outcome.reason,
                "durationMs": outcome.duration_ms,
            }
            for outcome in step.outcomes
        ],
        "digests": [digest._asdict() for digest in step.digests],
    }


def _loaded(record: dict[str, Any]) -> Step:
    return Step(
        input=record["input"],
        state=record["state"],
        actions=record["actions"],
        expressions=record["expressions"],
        context={key: ContextEntry(**entry) for key, entry in record["context"].items()},
        succeeded=record["succeeded"],
        failed=record["failed"],
        rerouted=record["rerouted"],
        output=record["output"],
        data={
            key: Entry(value=entry["value"], committed=entry.get("committed", True), public=entry.get("public", True))
            for key, entry in record["data"].items()
        },
        attachments=record["attachments"],
        outcomes=[
            Outcome(
                task=outcome["task"],
                status=outcome["status"],
                error_type=outcome["errorType"],
                reason=outcome["reason"],
                duration_ms=outcome["durationMs"],
            )
            for outcome in record["outcomes"]
        ],
        digests=[Digest(**digest) for digest in record["digests"]],
    )
