"""The record of a conversation's memory, as JSON: what a store keeps, and what comes back from it.

A memory is recorded as a whole (`dump`), or in parts: one text for each step, which stays as it is, and one for the
head, which does not grow with the steps. Secrets are in no record.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any, cast

from ..rules.agents import Surroundings
from ..rules.errors import LostHoldError
from ..rules.values import JSON, freeze
from .failure import OperatorText, PublicText
from .history import Counted, History, Runs, Stored
from .memory import ABSENT, Changes, Memory
from .steps import ContextEntry, Digest, Entry, Outcome, Step

AT_HAND = 10
"""How many of the last steps come with the head: those that a model's view and the questions of most rules look at."""

MOST_AT_HAND = 50
"""How many steps a memory that goes on and on has at hand at most."""


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


def new_step_texts(memory: Memory) -> list[str]:
    """The steps from `memory.history.kept` on, each as one text, with what it changed."""
    history = memory.history
    numbers = range(history.kept, len(history.steps))
    return [_text({"step": history.steps[each], "changes": _stored(memory.changes[each])}) for each in numbers]


def head_text(memory: Memory) -> str:
    """All of a memory but its steps, as one text."""
    history = memory.history
    return _text(
        {
            "properties": memory.properties,
            "scopes": memory.scopes,
            "drawn": memory.drawn,
            "undone": [{"step": step, "changes": _stored(changes)} for step, changes in memory.undone],
            "actions": {name: count for name, count in history.actions.items() if count},
            "rules": {name: count for name, count in history.rules.items() if count},
            "counted": history.all_counted(),
            "looked_at": history.looked_at,
            "runs": history.runs,
        }
    )


def restore(head: str, count: int, last: Sequence[str], read: Callable[[int, int], Sequence[str]]) -> Memory:
    """The memory of a head, of how many steps there are, and of the texts of the last ones.

    `read` gives the texts of others, from a number on and up to another, when something asks for them; what asks raises
    `LostHoldError` where they are gone. The head of a conversation in which nothing was said is empty.
    """
    memory = Memory()
    made = [json.loads(text) for text in last]
    older = count - len(made)

    def parts(start: int, stop: int) -> list[Any]:
        texts = read(start, stop)
        if len(texts) != stop - start:
            raise LostHoldError("turns were taken back while they were read")
        return [json.loads(text) for text in texts]

    def steps(start: int, stop: int) -> list[Step]:
        return [_step(each["step"]) for each in parts(start, stop)]

    def changes(start: int, stop: int) -> list[Changes]:
        return [_changes(each["changes"]) for each in parts(start, stop)]

    memory.history.steps = Stored(steps, older, [_step(each["step"]) for each in made])
    memory.history.kept = count
    memory.changes = Stored(changes, older, [_changes(each["changes"]) for each in made])
    if head:
        record = json.loads(head)
        memory.properties, memory.scopes = record["properties"], record["scopes"]
        memory.drawn = {place: tuple(used) for place, used in record["drawn"].items()}
        memory.undone = [(_step(each["step"]), _changes(each["changes"])) for each in record["undone"]]
        _fill(memory.history, record)
    return memory


def mark_kept(memory: Memory) -> None:
    """Note that a store has all steps of `memory`, which then need not be at hand."""
    history, changes = memory.history, memory.changes
    history.kept = len(history.steps)
    if isinstance(history.steps, Stored) and isinstance(changes, Stored) and history.steps.at_hand > MOST_AT_HAND:
        history.steps, memory.changes = history.steps.trimmed(AT_HAND), changes.trimmed(AT_HAND)


def _fill(history: History, record: dict[str, Any]) -> None:
    history.actions, history.rules = record["actions"], record["rules"]
    history.counted = [Counted(**each) for each in record["counted"]]
    history.looked_at = record["looked_at"]
    for task, runs in record["runs"].items():
        ends = [(number, tuple(failures)) for number, failures in runs["ends"]]
        history.runs[task] = Runs(since=runs["since"], ends=ends)


def _text(value: object) -> str:
    return json.dumps(value, default=_plain, separators=(",", ":"), allow_nan=False)


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"`{type(value).__qualname__}` cannot be recorded")


def _stored(changes: Changes) -> list[list[object]]:
    """Changes as JSON: an absent value is left out."""
    # INVARIANT: nothing of a secret is recorded.
    return [[*change] if change[2] is not ABSENT else [*change[:2]] for change in changes if change[0] != "secrets"]


def _changes(record: list[list[Any]]) -> Changes:
    return [(part, key, _before(part, *value)) for part, key, *value in record]


def _before(part: str, value: object = ABSENT) -> object:
    return tuple(value) if part == "drawn" and isinstance(value, list) else value


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
