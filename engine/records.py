"""The record of a conversation's memory, as JSON: what a store keeps, and what comes back from it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from ..rules.agents import Surroundings
from ..rules.values import JSON, freeze
from .failure import OperatorText, PublicText
from .memory import Memory
from .steps import ContextEntry, Digest, Entry, Outcome, Step


def dump(memory: Memory) -> dict[str, JSON]:
    """The steps that ended, uncommitted data with its mark included, and what lives beside them."""
    record = {
        "steps": [asdict(step) for step in memory.history.steps],
        "properties": memory.properties,
        "scopes": memory.scopes,
        "drawn": memory.drawn,
    }
    return cast("dict[str, JSON]", freeze(record))


def load(record: Mapping[str, JSON], surroundings: Surroundings | None = None) -> Memory:
    """The memory that `record` was made of; it can't undo what was recorded.

    An entry without the mark `committed` is committed, as in documents older than the mark. Raises `ValueError`,
    `TypeError` or `KeyError` for what is no such record.
    """
    made = cast("dict[str, Any]", freeze(record))
    memory = Memory(surroundings)
    for step in made["steps"]:
        memory.begin_step(_step(step))
        memory.end_step()
    memory.settle()
    memory.properties, memory.scopes = made["properties"], made["scopes"]
    memory.drawn = {place: tuple(used) for place, used in made["drawn"].items()}
    return memory


def _step(record: dict[str, Any]) -> Step:
    parts = {
        "context": {key: ContextEntry(*entry) for key, entry in record["context"].items()},
        "data": {key: Entry(**entry) for key, entry in record["data"].items()},
        "outcomes": [_outcome(outcome) for outcome in record["outcomes"]],
        "digests": [Digest(task, PublicText(text)) for task, text in record["digests"]],
    }
    return Step(**{**record, **parts})


def _outcome(record: dict[str, Any]) -> Outcome:
    reason = record["reason"]
    return Outcome(**{**record, "reason": None if reason is None else OperatorText(reason)})
