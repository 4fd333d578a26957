"""Tickets: who asks for a conversation takes one, and the lowest whose worker is alive holds it, over all workers.

Workers agree on no clock. A worker that has tickets counts their `beat` on; who waits behind one whose beat has stood
still for a while by its own clock takes it for dead, and takes it away. INVARIANT: what the dead one does after all is
not stored, since a change is stored only together with the end of its ticket.
"""

import asyncio
import logging
from collections.abc import Callable, Container, Iterable

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ...rules.errors import LostHoldError, UnknownConversationError
from .tables import Database, conversations, tickets

_log = logging.getLogger(__name__)

_SHORTEST, _LONGEST = 0.005, 0.1
"""How many seconds pass between two looks at the tickets of other workers."""

_Row = tuple[int, int]
"""A ticket: its number, its beat."""


class Ask:
    """One ask for a conversation: its ticket's `number` (0: none, or given back) and the `version` when it held it.

    `cancelled` is called when somebody cancels what it is for.
    """

    def __init__(self, id: str, cancelled: Callable[[], object] | None = None) -> None:
        self.id = id
        self.cancelled = cancelled
        self.number = 0
        self.version = 0
        self.gone = False
        self.saving = asyncio.Lock()
        self.woken = asyncio.Event()
        self.settled = asyncio.Event()
        self.beats: dict[int, tuple[int, float]] = {}


class _Line:
    """The asks of this worker for one conversation, in the order of asking; one at a time takes its ticket."""

    def __init__(self) -> None:
        self.asks: list[Ask] = []
        self.taking = asyncio.Lock()


class Tickets:
    """The tickets of one worker; all of this runs in one event loop, where nothing is ever cancelled."""

    def __init__(
        self, database: Database, worker: str, *, beat: float, dead_after: float, clock: Callable[[], float]
    ) -> None:
        self._database = database
        self._worker = worker
        self._beat = beat
        self._dead_after = dead_after
        self._clock = clock
        self._lines: dict[str, _Line] = {}
        self._beating: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()

    async def wait(self, ask: Ask) -> None:
        """Come back when the ask holds its conversation, or when it is `gone`; call `leave` in any case.

        Raises `UnknownConversationError`, and `LostHoldError` where the ticket was taken away meanwhile.
        """
        line = self._lines.setdefault(ask.id, _Line())
        line.asks.append(ask)
        try:
            async with line.taking:
                first = ask.gone or await self._take(ask, line)
            if self._beating is None:
                self._beating = asyncio.create_task(self._keep_beating())
            while line.asks[0] is not ask and not ask.gone:
                await ask.woken.wait()
                ask.woken.clear()
            pause = _SHORTEST
            while not first and not ask.gone:
                first = await self._is_first(ask)
                if not first:
                    await _wait_for(ask.woken, pause)
                    ask.woken.clear()
                    pause = min(2 * pause, _LONGEST)
        finally:
            ask.settled.set()

    async def leave(self, ask: Ask) -> None:
        """Give the ticket back, if it is not spent, and let the next one in."""
        ask.gone = True
        ask.woken.set()
        await ask.settled.wait()
        try:
            # INVARIANT: a ticket is not given back while a change is stored with it, whoever is cancelled meanwhile.
            async with ask.saving:
                if ask.number:
                    async with self._database.write() as connection:
                        await connection.execute(sa.delete(tickets).where(_is(ask)))
        finally:
            line = self._lines[ask.id]
            line.asks.remove(ask)
            if line.asks:
                line.asks[0].woken.set()
            else:
                del self._lines[ask.id]

    async def cancel(self, id: str) -> None:
        """Tell the worker that holds the conversation, if any, that this is cancelled; the others see it at a beat."""
        mine = tickets.c.conversation == id
        holds = sa.select(sa.func.min(tickets.c.number)).where(mine).scalar_subquery()
        async with self._database.write() as connection:
            await connection.execute(sa.update(tickets).where(mine, tickets.c.number == holds).values(cancelled=True))
            number = (await connection.execute(sa.select(tickets.c.number).where(mine, tickets.c.cancelled))).scalar()
        self._tell({(id, number)})

    async def spend(self, connection: AsyncConnection, ask: Ask) -> None:
        """End the ticket in the transaction that stores what it was taken for. Raises `LostHoldError`."""
        ended = await connection.execute(sa.delete(tickets).where(_is(ask)))
        if not ended.rowcount:
            raise LostHoldError("another worker took the conversation over")

    def close(self) -> None:
        """Let those go who wait."""
        self._closed.set()
        for line in self._lines.values():
            for ask in line.asks:
                ask.gone = True
                ask.woken.set()

    async def give_all_back(self) -> None:
        """Give back the tickets of conversations that are still held."""
        async with self._database.write() as connection:
            await connection.execute(sa.delete(tickets).where(tickets.c.worker == self._worker))

    async def _take(self, ask: Ask, line: _Line) -> bool:
        """Take a ticket; whether no other worker has a lower one."""
        mine = conversations.c.id == ask.id
        async with self._database.write() as connection:
            # INVARIANT: this locks the row until the ticket is there, so that numbers come into being in order.
            found = await connection.execute(
                sa.update(conversations).where(mine).values(ticket=conversations.c.ticket + 1)
            )
            if not found.rowcount:
                raise UnknownConversationError
            there = sa.outerjoin(conversations, tickets, conversations.c.id == tickets.c.conversation)
            seen = sa.select(conversations.c.ticket, conversations.c.version, tickets.c.number).select_from(there)
            rows = (await connection.execute(seen.where(mine))).all()
            ask.number, ask.version = rows[0].ticket, rows[0].version
            await connection.execute(
                sa.insert(tickets).values(
                    conversation=ask.id, number=ask.number, worker=self._worker, beat=0, cancelled=False
                )
            )
        before = {row.number for row in rows if row.number is not None}
        return before <= {each.number for each in line.asks}

    async def _is_first(self, ask: Ask) -> bool:
        """Whether no lower ticket is left; those of the dead are taken away."""
        async with self._database.read() as connection:
            rows = await self._rows(connection, ask.id, ask.number)
            version = sa.select(conversations.c.version).where(conversations.c.id == ask.id)
            ask.version = (await connection.execute(version)).scalar_one()
        if not any(number == ask.number for number, _ in rows):
            raise LostHoldError("another worker took the place of a waiting turn")
        others = [row for row in rows if row[0] < ask.number]
        for number, beat in others:
            known = ask.beats.get(number)
            if known is None or known[0] != beat:
                ask.beats[number] = known = (beat, self._clock())
            if self._clock() - known[1] >= self._dead_after:
                await self._take_away(ask.id, number, beat)
        return not others

    async def _take_away(self, id: str, number: int, beat: int) -> None:
        ticket = (tickets.c.conversation == id) & (tickets.c.number == number) & (tickets.c.beat == beat)
        async with self._database.write() as connection:
            gone = await connection.execute(sa.delete(tickets).where(ticket))
        if gone.rowcount:
            _log.warning("conversation %s: a worker that held it, or waited for it, has vanished", id)

    async def _rows(self, connection: AsyncConnection, id: str, upto: int) -> Iterable[_Row]:
        """The tickets of a conversation, up to a number."""
        found = sa.select(tickets.c.number, tickets.c.beat).where(
            tickets.c.conversation == id, tickets.c.number <= upto
        )
        return [(number, beat) for number, beat in await connection.execute(found)]

    async def _keep_beating(self) -> None:
        """Show that this worker is alive, as long as it has tickets."""
        mine = tickets.c.worker == self._worker
        while self._lines and not await _wait_for(self._closed, self._beat):
            try:
                async with self._database.write() as connection:
                    seen = sa.select(tickets.c.conversation, tickets.c.number, tickets.c.cancelled)
                    rows = (await connection.execute(seen.where(mine))).all()
                    there = {(row.conversation, row.number) for row in rows}
                    # INVARIANT: looked at after the tickets, so that each that is new is known.
                    known = {(ask.id, ask.number) for line in self._lines.values() for ask in line.asks}
                    # Those that could not be given back must not look alive for ever.
                    for name, number in there - known:
                        lost = (tickets.c.conversation == name) & (tickets.c.number == number)
                        await connection.execute(sa.delete(tickets).where(lost))
                    await connection.execute(sa.update(tickets).where(mine).values(beat=tickets.c.beat + 1))
                self._tell({(row.conversation, row.number) for row in rows if row.cancelled})
            except (sa.exc.SQLAlchemyError, OSError) as error:
                _log.warning("the store did not take a sign of life: %s", type(error).__name__)
        self._beating = None

    def _tell(self, cancelled: Container[tuple[str, int | None]]) -> None:
        """Call those whose tickets are cancelled, each once."""
        for line in self._lines.values():
            for ask in line.asks:
                if (ask.id, ask.number) in cancelled and ask.cancelled is not None:
                    told, ask.cancelled = ask.cancelled, None
                    told()


def _is(ask: Ask) -> sa.ColumnElement[bool]:
    return (tickets.c.conversation == ask.id) & (tickets.c.number == ask.number)


async def _wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Whether the event was set in so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
