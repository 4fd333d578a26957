"""Stores: where conversations are kept, and what makes sure that each has one turn at a time.

A turn is one transaction: a conversation is always as its last finished turn left it.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...rules.errors import UnknownConversationError, UsageError
from ...rules.values import JSON
from ..memory import Memory

_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a conversation is: `user` is whose, empty if nobody's, `created` is in seconds since 1970."""

    id: str
    agent: str
    user: str = ""
    environment: str = "development"
    created: float = 0.0


class Held(Protocol):
    """A conversation that is held for one change; nobody else changes it meanwhile."""

    @property
    def head(self) -> Head:
        """What the conversation is."""
        ...

    @property
    def memory(self) -> Memory:
        """The memory after the last finished turn; what changes in it is kept only by `save`.

        Its `surroundings` are not stored: whoever runs a turn with it sets them.
        """
        ...

    async def answer(self, key: str) -> JSON:
        """What an earlier change under this idempotency key was answered; None if there was none."""
        ...

    async def save(self, key: str = "", answer: JSON = None) -> None:
        """Store all that changed in `memory`, and the answer under the key, in one transaction; once only.

        Once begun it goes on to its end, also where who waits for it is cancelled. Raises `LostHoldError`, with nothing
        stored, where the conversation is held no longer.
        """
        ...


class Store(Protocol):
    """Keeps conversations. Any event loop and thread may use it."""

    async def add(self, head: Head) -> None:
        """Take in a new conversation. Raises `UsageError` where the id is taken or no id."""
        ...

    def hold(self, id: str, cancelled: Callable[[], object] | None = None) -> AbstractAsyncContextManager[Held]:
        """Wait until all have ended that asked for the conversation before, in whichever worker, and hold it.

        `cancelled` is called, in any thread, when somebody cancels what is done meanwhile. Raises
        `UnknownConversationError`.
        """
        ...

    async def cancel(self, id: str) -> None:
        """Tell whoever holds the conversation, in whichever worker, to give up; who else waits for it goes on."""
        ...

    async def read(self, id: str) -> tuple[Head, Memory]:
        """A conversation after its last finished turn, without waiting. Raises `UnknownConversationError`."""
        ...

    async def heads(self) -> Sequence[Head]:
        """What all conversations are, oldest first."""
        ...

    async def close(self) -> None:
        """Let go of what the store holds; it can't be used any more."""
        ...


def open_store(where: str | Path) -> Store:
    """The store in an SQLite file, which is made if it is missing, or at a `postgresql://…` address.

    Raises `UsageError` where it can't be opened, and where SQLAlchemy is not installed.
    """
    try:
        from .sql import SqlStore  # noqa: PLC0415 - only who keeps conversations needs SQLAlchemy
    except ImportError as error:
        hint = 'run `pip install "turnout[store]"`'
        raise UsageError(f"a store needs `{error.name}`, which is not installed", hint) from None
    return SqlStore(where)


def known_id(id: str) -> str:
    """The id, if it can be one; else `UnknownConversationError`."""
    if not _ID.fullmatch(id):
        raise UnknownConversationError
    return id


def new_id(id: str) -> str:
    """The id, if a conversation may get it; else `UsageError`."""
    if not _ID.fullmatch(id):
        raise UsageError("this cannot be the id of a conversation", "use up to 64 letters, digits, `-` and `_`")
    return id


def taken(id: str) -> UsageError:
    """The error for a second conversation of one id."""
    return UsageError(f"there is a conversation `{id}` already", "give each an id of its own")
