"""The store in a database: an SQLite file for the workers of one machine, PostgreSQL for those of many.

All that it does with the database runs in an event loop of its own, in a thread: so any loop and thread may use it,
whoever is cancelled cuts no transaction in two, a task that blocks its loop is not taken for dead, and rules, which
are synchronous, can wait for an old step inside a running loop.
"""

import asyncio
import json
import logging
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from ...rules.errors import LostHoldError, UnknownConversationError, UsageError
from ...rules.values import JSON, freeze
from ..memory import Memory
from ..records import AT_HAND, head_text, mark_kept, new_step_texts, restore
from . import Head, known_id, new_id, taken
from .tables import Database, answers, conversations, engine_of, migrate, refusal, steps
from .tickets import Ask, Tickets

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """A conversation as the database has it: the version and number of its steps, its head and last steps as texts."""

    about: Head
    version: int
    count: int
    head: str
    last: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What is to be stored: the steps from `first` on, of `count` in all."""

    first: int
    count: int
    steps: Sequence[str]
    head: str
    key: str
    answer: str


class SqlStore:
    """A `Store` in an SQLite file or at a `postgresql://…` address. Raises `UsageError` where it can't be opened.

    A worker that has conversations shows every `beat` seconds that it is alive; it is taken for dead, and its turns are
    lost, when it did not for `dead_after` seconds. The memories of the `most_cached` conversations that were saved last
    are kept in the process. A process that was forked opens a store of its own.
    """

    def __init__(
        self,
        where: str | Path,
        *,
        beat: float = 1.0,
        dead_after: float = 5.0,
        most_cached: int = 256,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        engine, self.name = engine_of(where)
        self._database = Database(engine)
        worker = uuid.uuid4().hex
        self._tickets = Tickets(self._database, worker, beat=beat, dead_after=dead_after, clock=clock)
        self._most_cached = most_cached
        self._cache: OrderedDict[str, tuple[int, Head, Memory]] = OrderedDict()
        self._loop = _Loop()
        try:
            self._loop.wait(self._open())
        except BaseException:
            self._loop.close()
            raise

    async def add(self, head: Head) -> None:
        """See `Store`."""
        new_id(head.id)
        await self._loop.run(self._add(head))

    @asynccontextmanager
    async def hold(self, id: str, cancelled: Callable[[], object] | None = None) -> AsyncIterator["_Held"]:
        """See `Store`; what another worker cancels is told within a beat."""
        ask = Ask(known_id(id), cancelled)
        held = None
        try:
            about, version, found = await self._loop.run(self._enter(ask))
            held = _Held(self, ask, about, version, found if isinstance(found, Memory) else self._restored(found))
            yield held
        finally:
            if held is not None:
                held.over = True
            # Whoever leaves need not wait for it, nor be there to its end.
            self._loop.start(self._tickets.leave(ask))

    async def cancel(self, id: str) -> None:
        """See `Store`."""
        await self._loop.run(self._tickets.cancel(known_id(id)))

    async def read(self, id: str) -> tuple[Head, Memory]:
        """See `Store`."""
        state = await self._loop.run(self._load(known_id(id)))
        return state.about, self._restored(state)

    async def heads(self) -> Sequence[Head]:
        """See `Store`."""
        return await self._loop.run(self._heads())

    async def close(self) -> None:
        """See `Store`."""
        await asyncio.to_thread(self._loop.close, self._tickets.close, self._shut)

    def _restored(self, state: _State) -> Memory:
        # INVARIANT: never called in the store's own loop, which could not wait for itself.
        return restore(
            state.head,
            state.count,
            state.last,
            lambda start, stop: self._loop.wait(self._texts(state.about.id, start, stop)),
        )

    # In the store's own loop

    async def _open(self) -> None:
        try:
            async with self._database.write() as connection:
                await connection.run_sync(migrate, self.name)
        except Exception as error:  # noqa: BLE001 - drivers raise what they like; all of it means that this is no store
            await self._database.engine.dispose()
            raise (error if isinstance(error, UsageError) else self._refusal(error)) from None

    def _refusal(self, error: Exception) -> UsageError:
        return refusal(self.name, self._database.engine, error)

    async def _shut(self) -> None:
        await self._tickets.give_all_back()
        await self._database.engine.dispose()

    async def _add(self, head: Head) -> None:
        about = {key: value for key, value in asdict(head).items() if key not in ("id", "created")}
        row = {"id": head.id, "created": head.created, "about": json.dumps(about)}
        try:
            async with self._database.write() as connection:
                await connection.execute(sa.insert(conversations).values(**row, ticket=0, version=0, steps=0, head=""))
        except sa.exc.IntegrityError:
            raise taken(head.id) from None

    async def _heads(self) -> Sequence[Head]:
        columns = (conversations.c.id, conversations.c.created, conversations.c.about)
        found = sa.select(*columns).order_by(conversations.c.created, conversations.c.id)
        async with self._database.read() as connection:
            return [_head(row) for row in await connection.execute(found)]

    async def _enter(self, ask: Ask) -> tuple[Head, int, Memory | _State]:
        await self._tickets.wait(ask)
        if ask.gone:
            raise UsageError("the store was closed", "open it again")
        version, about, memory = self._cache.pop(ask.id, (-1, None, None))
        # Later than what the ticket saw is fine: then it was an ask of this process that saved it.
        if about is not None and memory is not None and version >= ask.version:
            return about, version, memory
        state = await self._load(ask.id)
        return state.about, state.version, state

    async def _load(self, id: str) -> _State:
        async with self._database.read() as connection:
            row = (await connection.execute(sa.select(conversations).where(conversations.c.id == id))).one_or_none()
            if row is None:
                raise UnknownConversationError
            found = sa.select(steps.c.document).where(steps.c.conversation == id, steps.c.number >= row.steps - AT_HAND)
            last = (await connection.execute(found.order_by(steps.c.number))).scalars().all()
        return _State(about=_head(row), version=row.version, count=row.steps, head=row.head, last=last)

    async def _texts(self, id: str, start: int, stop: int) -> Sequence[str]:
        found = sa.select(steps.c.document).where(
            steps.c.conversation == id, steps.c.number >= start, steps.c.number < stop
        )
        async with self._database.read() as connection:
            return (await connection.execute(found.order_by(steps.c.number))).scalars().all()

    async def _answer(self, id: str, key: str) -> str | None:
        found = sa.select(answers.c.answer).where(answers.c.conversation == id, answers.c.key == key)
        async with self._database.read() as connection:
            return (await connection.execute(found)).scalar_one_or_none()

    async def _save(self, held: "_Held", change: _Change) -> None:
        async with held.ask.saving:
            await self._store_all(held, change)
        mark_kept(held.memory)
        self._cache[held.head.id] = (held.version + 1, held.head, held.memory)
        while len(self._cache) > self._most_cached:
            self._cache.popitem(last=False)

    async def _store_all(self, held: "_Held", change: _Change) -> None:
        name = held.head.id
        as_loaded = (conversations.c.id == name) & (conversations.c.version == held.version)
        async with self._database.write() as connection:
            await self._tickets.spend(connection, held.ask)
            stored = await connection.execute(
                sa.update(conversations)
                .where(as_loaded)
                .values(version=held.version + 1, steps=change.count, head=change.head)
            )
            if not stored.rowcount:
                raise LostHoldError("another worker changed the conversation")
            if change.first < held.count:
                taken_back = (steps.c.conversation == name) & (steps.c.number >= change.first)
                await connection.execute(sa.delete(steps).where(taken_back))
            if change.steps:
                rows = [
                    {"conversation": name, "number": number, "document": text}
                    for number, text in enumerate(change.steps, change.first)
                ]
                await connection.execute(sa.insert(steps), rows)
            if change.key:
                same = (answers.c.conversation == name) & (answers.c.key == change.key)
                await connection.execute(sa.delete(answers).where(same))
                await connection.execute(
                    sa.insert(answers).values(conversation=name, key=change.key, answer=change.answer)
                )
        held.ask.number = 0


class _Held:
    """See `Held`."""

    def __init__(self, store: SqlStore, ask: Ask, head: Head, version: int, memory: Memory) -> None:
        self.head = head
        self.memory = memory
        self.ask = ask
        self.version = version
        self.count = len(memory.history.steps)
        self.over = False
        self._store = store

    async def answer(self, key: str) -> JSON:
        """See `Held`."""
        text = await self._store._loop.run(self._store._answer(self.head.id, _digest(key)))  # noqa: SLF001 - one thing
        return None if text is None else freeze(json.loads(text))

    async def save(self, key: str = "", answer: JSON = None) -> None:
        """See `Held`."""
        if self.over:
            raise LostHoldError("the conversation is held no longer")
        history = self.memory.history
        change = _Change(
            first=history.kept,
            count=len(history.steps),
            steps=new_step_texts(self.memory),
            head=head_text(self.memory),
            key=_digest(key) if key else "",
            answer=json.dumps(freeze(answer)),
        )
        self.over = True
        await self._store._loop.run(self._store._save(self, change))  # noqa: SLF001 - one thing


def _head(row: Any) -> Head:
    return Head(id=row.id, created=row.created, **json.loads(row.about))


def _digest(key: str) -> str:
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


class _Loop:
    """An event loop in a thread of its own, in which everything that was started goes on to its end."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._closed = False
        # A daemon: a service that dies without closing its store must not live on for it.
        self._thread = threading.Thread(target=self._loop.run_forever, name="turnout-store", daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`; it goes on where who waits for it is cancelled."""
        return await asyncio.shield(asyncio.wrap_future(self._begin(work)))

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, for which this thread waits."""
        return self._begin(work).result()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin `work`, which nobody waits for."""
        if self._closed:
            work.close()
        else:
            self._begin(work).add_done_callback(_tell)

    def close(
        self, first: Callable[[], object] | None = None, last: Callable[[], Coroutine[Any, Any, None]] | None = None
    ) -> None:
        """Do `first`, wait for what was begun, do `last`, and end the thread."""
        if self._closed:
            return
        self._closed = True
        asyncio.run_coroutine_threadsafe(self._end(first, last), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _begin(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        if self._closed:
            work.close()
            raise UsageError("the store is closed", "open it again")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _end(
        self, first: Callable[[], object] | None, last: Callable[[], Coroutine[Any, Any, None]] | None
    ) -> None:
        if first is not None:
            first()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
        if last is not None:
            await last()


def _tell(work: "Future[None]") -> None:
    error = work.exception()
    if error is not None:
        _log.warning("a ticket could not be given back: %s", type(error).__name__)
