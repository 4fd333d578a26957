"""The queue of a conversation: one turn at a time, in the order of asking, whichever thread or event loop asks."""

import asyncio
import threading
from collections import deque
from types import TracebackType


class TurnQueue:
    """An asynchronous lock that is fair, and that event loops of several threads may share."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._busy = False
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def __aenter__(self) -> None:
        with self._guard:
            if not self._busy:
                self._busy = True
                return
            loop = asyncio.get_running_loop()
            turn = (loop, loop.create_future())
            self._waiting.append(turn)
        try:
            await turn[1]
        except BaseException:
            with self._guard:
                if turn in self._waiting:
                    self._waiting.remove(turn)
            # The turn may have been handed over just before this waiter was cancelled.
            if turn[1].done() and not turn[1].cancelled():
                self.leave()
            raise

    def enter_now(self) -> bool:
        """Enter if nobody is in and nobody waits; whoever did calls `leave`."""
        with self._guard:
            free = not self._busy
            self._busy = True
        return free

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Let the next one in."""
        with self._guard:
            while self._waiting:
                loop, turn = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(self._give, turn)
                except RuntimeError:
                    continue  # that loop is closed, and its waiter gone with it
                return
            self._busy = False

    def _give(self, turn: asyncio.Future[None]) -> None:
        if turn.done():
            self.leave()
        else:
            turn.set_result(None)
