"""The HTTP calls task: asks servers that the author named, when the turn has an action for it."""

import asyncio
import html
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from ...rules.authored import ErrorType
from ...rules.calls import HttpCall, HttpCallsFile
from ...rules.checking import checked_calls
from ...rules.errors import UsageError
from ...rules.paths import read
from ...rules.templates import PLACEHOLDER, LookUp, filled
from ...rules.values import JSON
from ..journal import Journal
from ..redaction import redact
from .answers import Answer, CallError, HttpStatusError, decoded, reason_of, value_in

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import AsyncClient

TIMEOUT = 30.0
"""Seconds that one attempt of a call may take, from connecting to the last byte."""
LARGEST_ANSWER = 2_000_000
"""Bytes of an answer at most, after decompression."""
LONGEST_ERROR = 2_000
"""Characters that are kept of the answer to a call that went wrong."""

Sleep = Callable[[float], Awaitable[object]]

_JSON_PIECES = re.compile(rf"""{PLACEHOLDER}|(?P<string>"(?:[^"\\]|\\.)*+")""", re.ASCII | re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
# The loggers of the HTTP library: it writes whole addresses, and headers of answers.
_LOGGERS = ("httpx2", *(f"httpcore2.{name}" for name in ("connection", "http11", "http2", "proxy", "socks")))


class HttpCallsTask:
    """A step of the turn that makes the calls of one file.

    Each call that shares an action with the turn (`*`: any) is made once, in order; the first that fails ends
    the task. With `strict` a status of 400 or more is a failure unless the call says `failOnStatus: false`,
    without it only if the call says `failOnStatus: true`. `sleep` pauses before a retry, `timeout` is in
    seconds. Raises `UsageError` for calls that could never be made.
    """

    id = "ai.labs.httpcalls"
    type = "httpCalls"

    def __init__(
        self,
        calls: HttpCallsFile,
        *,
        strict: bool,
        sleep: Sleep = asyncio.sleep,
        timeout: float = TIMEOUT,
    ) -> None:
        for finding in checked_calls(calls):
            if finding.severity == "error":
                raise UsageError(finding.message, finding.hint)
        self._server = calls.target_server_url.rstrip("/")
        self._calls = calls.http_calls
        self._strict = strict
        self._sleep = sleep
        self._timeout = timeout

    async def execute(self, turn: Journal) -> None:
        """Make the calls that the turn's actions ask for.

        What they give stands in `memory.current.httpCalls`, where the placeholders of later calls find it.
        """
        actions = turn.actions
        calls = [call for call in self._calls if actions and {"*", *actions}.intersection(call.actions)]
        if not calls:
            turn.skip()
            return
        stored = turn.read("memory.current.httpCalls")
        results: dict[str, JSON] = {**stored} if isinstance(stored, Mapping) else {}

        def look_up(path: str) -> JSON:
            own = read({"memory": {"current": {"httpCalls": results}}}, path)
            return turn.read(path) if own is None else own

        with _unlogged():
            # A client belongs to its event loop, and an agent may be used from several.
            async with self._client(calls[0]) as client:
                for call in calls:
                    gained = await self._make(client, call, look_up)
                    results.update(gained)
                    turn.show("httpCalls", results)
                    for key, value in gained.items():
                        turn.store(f"httpCalls:{key}", value)

    def _client(self, first: HttpCall) -> "AsyncClient":
        # Imported here: it costs more than the rest of the engine, and most agents make no calls.
        from httpx2 import AsyncClient  # noqa: PLC0415 - late: only an agent with calls needs it

        trust = self._trust
        with suppress(Exception):  # what is wrong with the environment's proxies may hold their passwords
            return AsyncClient(verify=trust, timeout=None)
        raise CallError(first.name, "the HTTP client cannot be set up")

    @cached_property
    def _trust(self) -> "SSLContext":
        """The certificates to trust; to read them takes longer than many a call."""
        from httpx2 import create_ssl_context  # noqa: PLC0415 - late: only an agent with calls needs it

        return create_ssl_context()

    async def _make(self, client: "AsyncClient", call: HttpCall, look_up: LookUp) -> dict[str, JSON]:
        """Make one call; returns what is to be stored, by key. Raises `CallError`."""
        request = _request(self._server, call, look_up)
        answer = await self._answer(client, call, request)
        fails = self._strict if call.fail_on_status is None else call.fail_on_status
        if fails and answer.status >= 400:
            raise HttpStatusError(call.name, answer.status)
        if answer.status < 400 and len(answer.body) > LARGEST_ANSWER:
            raise CallError(call.name, f"answer of more than {LARGEST_ANSWER:,} bytes")
        # INVARIANT: of a request only these two are kept: path, query, headers and body may hold secrets.
        gained: dict[str, JSON] = {f"{call.name}Request": {"method": request.method, "url": _origin(self._server)}}
        name = call.response_object_name
        if not (call.save_response and name):
            return gained
        if 200 <= answer.status < 300:
            gained[name] = value_in(call, answer)
        else:
            # A server may answer with the very key that it refuses.
            told = redact(decoded(answer))[:LONGEST_ERROR]
            if told.strip():
                gained[f"{name}Error"] = told
            gained[f"{name}HttpCode"] = answer.status
        return gained

    async def _answer(self, client: "AsyncClient", call: HttpCall, request: "_Request") -> Answer:
        """The answer to a request, after retries for the statuses that the author names."""
        retry = call.post_response.retry_api_call_instruction
        for attempt in range(retry.max_retries if retry else 0):
            answer = await self._attempt(client, call, request)
            if not retry or answer.status not in retry.retry_on_http_codes:
                return answer
            await self._sleep(retry.exponential_backoff_delay_in_millis * 2**attempt / 1000)
        return await self._attempt(client, call, request)

    async def _attempt(self, client: "AsyncClient", call: HttpCall, request: "_Request") -> Answer:
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
                    kind=response.headers.get("content-type", ""),
                    charset=response.charset_encoding or "utf-8",
                    body=bytes(body),
                )
        except TimeoutError:
            reason, kind = f"no answer within {self._timeout:g} s", "timeout"
        except Exception as error:  # noqa: BLE001 - the HTTP library lets some of what lies beneath it through
            reason, kind = reason_of(error)
        # INVARIANT: the exception beneath is neither quoted nor kept: its text may hold what was sent or answered.
        raise CallError(call.name, reason, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    method: str
    url: str
    headers: list[tuple[bytes, bytes]]
    body: bytes | None


def _request(server: str, call: HttpCall, look_up: LookUp) -> _Request:
    """What is sent for `call`.

    `Accept-Encoding` is `identity` unless the author wants another: a compressed answer may be a thousand
    times the size that arrives.
    """
    # INVARIANT: a value that is filled in is never read as a template, and stays within the part that it was
    # written into: it adds no path segment, parameter, header or JSON member.
    asked = call.request
    url = server + _path(call, look_up)
    for name, value in asked.query_params.items():
        url += f"{'&' if '?' in url else '?'}{_percent(name)}={_percent(filled(value, look_up))}"
    headers = {"accept-encoding": "identity"}
    if asked.content_type:
        headers["content-type"] = asked.content_type
    headers |= {name.strip().lower(): value for name, value in asked.headers.items()}
    kind = headers.get("content-type", "").lower()
    return _Request(
        method=asked.method.strip().upper() or "GET",
        url=url,
        headers=[
            (_encoded(name), _encoded(_CONTROLS.sub("", filled(value, look_up, str)).strip()))
            for name, value in headers.items()
        ],
        body=_encoded(_body(asked.body, kind, look_up)) if asked.body else None,
    )


def _path(call: HttpCall, look_up: LookUp) -> str:
    path = call.request.path.strip()
    segments = []
    for segment in path.split("/"):
        made = filled(segment, look_up, _percent)
        if made != segment and made.partition("?")[0] in (".", ".."):
            raise CallError(call.name, "a value would lead to another path")
        segments.append(made)
    return ("" if path[:1] in ("", "/", "?") else "/") + "/".join(segments)


def _body(template: str, kind: str, look_up: LookUp) -> str:
    """The body, with values written as its content type `kind` writes texts."""
    if "json" in kind:
        return _JSON_PIECES.sub(lambda found: _json_piece(found, look_up), template)
    if "urlencoded" in kind:
        return filled(template, look_up, _percent)
    if "xml" in kind or "html" in kind:
        return filled(template, look_up, html.escape)
    return filled(template, look_up, str)


def _json_piece(found: re.Match[str], look_up: LookUp) -> str:
    """A string with its placeholders filled; a placeholder outside of strings as the JSON of its value."""
    if found["string"]:
        return filled(found["string"], look_up, lambda value: json.dumps(value)[1:-1])
    return json.dumps(look_up(found[found.lastindex or 0]))


def _percent(value: str) -> str:
    return quote(value, safe="", errors="replace")


def _encoded(value: str) -> bytes:
    return value.encode("utf-8", "replace")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


_calling: ContextVar[bool] = ContextVar("turnout_calling", default=False)


def _not_calling(record: logging.LogRecord) -> bool:  # noqa: ARG001 - the signature of a filter
    return not _calling.get()


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep what is done inside out of the logs of the HTTP library; others' use of it is logged as ever."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_not_calling)  # once: the same filter is not added again
    token = _calling.set(True)
    try:
        yield
    finally:
        _calling.reset(token)
