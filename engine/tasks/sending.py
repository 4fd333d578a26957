"""Sends requests: in the turn, with retries, for their answers, or in a thread of their own, for nothing."""

import asyncio
import logging
import socket
import threading
from typing import TYPE_CHECKING, Any

from ...rules.authored import ErrorType
from ...rules.calls import HttpCall
from .answers import Answer, CallError, HttpStatusError, reason_of
from .quiet import unlogged
from .requests import Request
from .servers import NO_CLIENT, Clients, Sleep, pause

if TYPE_CHECKING:
    from httpx2 import AsyncClient

LARGEST_ANSWER = 2_000_000
"""Bytes of an answer at most, after decompression."""
LONGEST_PAUSE = 30.0
"""Seconds before a retry at most, however often a pause was doubled."""

_log = logging.getLogger(__name__)


class Sender:
    """Sends requests. `timeout` is in seconds, for one attempt, from connecting to the last byte; `sleep` pauses."""

    def __init__(self, sleep: Sleep, timeout: float) -> None:
        self._sleep = sleep
        self._timeout = timeout
        self._clients = Clients()

    def client(self, call: str) -> "AsyncClient":
        """A client for one event loop, to be closed. Raises `CallError` for `call`, which needs it first."""
        if (made := self._clients.client()) is None:
            raise CallError(call, NO_CLIENT)
        return made

    async def answer(self, client: "AsyncClient", call: HttpCall, request: Request) -> Answer:
        """The answer to a request, after the pause and the retries that the author wants. Raises `CallError`.

        A status that the author names is tried again; a connection that breaks is not, for what was asked may have
        been done.
        """
        await pause(call.pre_request, self._sleep)
        retry = call.post_response.retry_api_call_instruction
        for attempt in range(retry.max_retries if retry else 0):
            answer = await self._attempt(client, call.name, request)
            if not retry or answer.status not in retry.retry_on_http_codes:
                return answer
            await self._sleep(min(retry.exponential_backoff_delay_in_millis * 2**attempt / 1000, LONGEST_PAUSE))
        return await self._attempt(client, call.name, request)

    def send_off(self, call: HttpCall, request: Request) -> None:
        """Send a request once, and let nobody wait for it; what goes wrong is logged, in words that hold no secret.

        It goes on after the turn and its event loop, and keeps the program from ending, for as long as the pause and
        one attempt take.
        """

        async def attempt() -> None:
            await pause(call.pre_request, self._sleep)
            async with self.client(call.name) as client:
                answer = await self._attempt(client, call.name, request)
            if answer.status >= 400:
                raise HttpStatusError(call.name, answer.status)

        def run() -> None:
            try:
                with unlogged(), asyncio.Runner(loop_factory=_Loop) as runner:
                    runner.run(attempt())
            except CallError as error:
                _log.warning("%s", error)
            except Exception as error:  # noqa: BLE001 - the boundary of the thread, which would print its words
                _log.warning("API call to %s failed: %s", call.name, type(error).__name__)

        threading.Thread(target=run, name="turnout-call", daemon=False).start()

    async def _attempt(self, client: "AsyncClient", call: str, request: Request) -> Answer:
        body = bytearray()
        kind: ErrorType
        try:
            async with (
                asyncio.timeout(self._timeout),
                client.stream(request.method, request.url, headers=request.headers, content=request.body) as response,
            ):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > LARGEST_ANSWER:
                        break
                return Answer(
                    status=response.status_code,
                    headers=tuple(
                        (name.decode("latin-1"), value.decode("utf-8", "replace"))
                        for name, value in response.headers.raw
                    ),
                    kind=response.headers.get("content-type", ""),
                    charset=response.charset_encoding or "utf-8",
                    body=bytes(body),
                )
        except TimeoutError:
            reason, kind = f"no answer within {self._timeout:g} s", "timeout"
        except Exception as error:  # noqa: BLE001 - the HTTP library lets some of what lies beneath it through
            reason, kind = reason_of(error)
        # INVARIANT: the exception beneath is neither quoted nor kept: its text may hold what was sent or answered.
        raise CallError(call, reason, kind)


class _Loop(asyncio.SelectorEventLoop):
    """An event loop with one thing to do, which looks hosts up by itself.

    Others have a thread do that, and when the program is about to end there is no new thread to be had.
    """

    async def getaddrinfo(self, *where: Any, **keys: Any) -> Any:
        """The addresses of a host."""
        return socket.getaddrinfo(*where, **keys)
