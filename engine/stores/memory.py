"""The store that lives in memory: for tests, and for services that may forget."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from ...rules.errors import LostHoldError, UnknownConversationError
from ...rules.values import JSON, freeze
from ..memory import Memory
from ..queueing import TurnQueue
from ..records import AT_HAND, head_text, mark_kept, new_step_texts, restore
from . import Head, new_id, taken


@dataclass(slots=True, kw_only=True)
class _Kept:
    """A conversation as the last finished turn left it; `memory` is the same, ready for use, unless it is held."""

    head: Head
    text: str = ""
    steps: list[str] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    queue: TurnQueue = field(default_factory=TurnQueue)
    memory: Memory | None = None
    cancelled: Callable[[], object] | None = None

    def restored(self) -> Memory:
        last = self.steps[-AT_HAND:]
        return restore(self.text, len(self.steps), last, lambda start, stop: self.steps[start:stop])


class MemoryStore:
    """A `Store` whose conversations end with the process."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    async def add(self, head: Head) -> None:
        """See `Store`."""
        if new_id(head.id) in self._kept:
            raise taken(head.id)
        self._kept[head.id] = _Kept(head=head)

    @asynccontextmanager
    async def hold(self, id: str, cancelled: Callable[[], object] | None = None) -> AsyncIterator["_Held"]:
        """See `Store`."""
        kept = self._find(id)
        async with kept.queue:
            memory, kept.memory = kept.memory or kept.restored(), None
            kept.cancelled = cancelled
            held = _Held(kept, memory)
            try:
                yield held
            finally:
                held.over = True
                kept.cancelled = None

    async def cancel(self, id: str) -> None:
        """See `Store`."""
        cancelled = self._find(id).cancelled
        if cancelled is not None:
            cancelled()

    async def read(self, id: str) -> tuple[Head, Memory]:
        """See `Store`."""
        kept = self._find(id)
        return kept.head, kept.restored()

    async def heads(self) -> Sequence[Head]:
        """See `Store`."""
        return sorted((kept.head for kept in self._kept.values()), key=lambda head: (head.created, head.id))

    async def close(self) -> None:
        """See `Store`."""
        self._kept.clear()

    def _find(self, id: str) -> _Kept:
        try:
            return self._kept[id]
        except KeyError:
            raise UnknownConversationError from None


class _Held:
    """See `Held`."""

    def __init__(self, kept: _Kept, memory: Memory) -> None:
        self.head = kept.head
        self.memory = memory
        self.over = False
        self._kept = kept

    async def answer(self, key: str) -> JSON:
        """See `Held`."""
        text = self._kept.answers.get(key)
        return None if text is None else freeze(json.loads(text))

    async def save(self, key: str = "", answer: JSON = None) -> None:
        """See `Held`."""
        if self.over:
            raise LostHoldError("the conversation is held no longer")
        kept, memory = self._kept, self.memory
        first, steps, text = memory.history.kept, new_step_texts(memory), head_text(memory)
        told = json.dumps(freeze(answer)) if key else ""
        # INVARIANT: from here on nothing fails. A list of its own, for those who read the other one.
        kept.steps = [*kept.steps[:first], *steps]
        kept.text = text
        if key:
            kept.answers[key] = told
        self.over = True
        mark_kept(memory)
        kept.memory = memory
