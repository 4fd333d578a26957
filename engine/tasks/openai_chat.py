"""Asks a server that speaks OpenAI's protocol once, with OpenAI's own client, which is an optional extra.

Imported when the first question is asked: it takes long.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from typing import Any, cast

from httpx2 import AsyncByteStream, AsyncClient, Request, Response
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, AsyncOpenAI, AsyncStream

from .answers import reason_of
from .asking import BROKEN_OFF, MALFORMED, Question, Tell, Trouble, choice_in, refused, text_in, whole
from .servers import NO_CLIENT, Clients

LARGEST_ANSWER = 20_000_000
"""Bytes of an answer at most, the wrapping of its pieces included."""

_NO_KEY = "no-key"
# What is sent to a server that an author has named: no more than the protocol needs.
_HEADERS = frozenset(
    {"host", "connection", "accept", "accept-encoding", "content-length", "content-type", "authorization", "user-agent"}
)


class Chat:
    """What asks servers."""

    def __init__(self) -> None:
        self._clients = Clients()

    async def attempt(self, question: Question, tell: Tell | None) -> str | Trouble:
        """Ask once: the text of the answer, which `tell` is told in pieces while it is made, or why there is none."""
        # INVARIANT: no redirection is followed: a conversation goes to the server that was named and to no other.
        http = self._clients.client(headers={"accept-encoding": "identity"}, event_hooks=_hooks(question))
        if http is None:
            return Trouble(NO_CLIENT)
        try:
            async with _client(question, http) as client:
                if tell is None:
                    return whole(await client.post("/chat/completions", cast_to=object, body=question.body))
                pieces = await client.post(
                    "/chat/completions", cast_to=object, body=question.body, stream=True, stream_cls=AsyncStream[object]
                )
                async with pieces:
                    return await _put_together(pieces, tell)
        except Exception as error:  # noqa: BLE001 - the client lets some of what lies beneath it through
            return _trouble(error)


async def _put_together(pieces: AsyncStream[object], tell: Tell) -> str | Trouble:
    kind = pieces.response.headers.get("content-type", "").lower()
    if "text/event-stream" not in kind:
        # Some servers know no streams: the whole answer is one piece.
        answer = whole(json.loads(await pieces.response.aread())) if "json" in kind else MALFORMED
        if isinstance(answer, str):
            tell(answer)
        return answer
    told: list[str] = []
    ended = False
    async for piece in pieces:
        choice = choice_in(piece)
        if choice is None:
            continue  # counts and the like come in pieces without a choice
        text = text_in(choice, "delta")
        if isinstance(text, Trouble):
            return text
        if text:
            told.append(text)
            tell(text)
        ended = ended or choice.get("finish_reason") is not None
    # A server that breaks off may end the stream as if all were well, save that no reason for the end was given.
    return "".join(told) if ended else BROKEN_OFF


def _trouble(error: Exception) -> Trouble:
    """What is told of an exception of the client."""
    if isinstance(error, _UnusableError):
        return Trouble(str(error))
    if isinstance(error, APIStatusError):
        body: object = None
        with suppress(Exception):  # the body may not have been read
            body = json.loads(error.response.content)
        return refused(error.status_code, body)
    if isinstance(error, APITimeoutError):
        return Trouble("the server takes too long", "timeout", passes=True)
    if isinstance(error, APIError) and not isinstance(error, APIConnectionError):
        return refused(0, error.body)
    if isinstance(error, RecursionError):
        return Trouble("the answer is nested too deep")
    if isinstance(error, ValueError):
        return Trouble("the answer is not JSON")
    reason, kind = reason_of(error)
    return Trouble(reason, kind, passes=kind == "transport")


def _client(question: Question, http: AsyncClient) -> AsyncOpenAI:
    """A client for one question: it belongs to its event loop, and an agent may be used from several."""
    key = question.key or _NO_KEY
    # Without the header the environment could have another key sent, wherever the author sends this one.
    headers = {"Authorization": f"Bearer {key}"}
    return AsyncOpenAI(
        api_key=key, base_url=question.server, default_headers=headers, max_retries=0, timeout=None, http_client=http
    )


def _hooks(question: Question) -> dict[str, list[Callable[..., Any]]]:
    """What looks at each request and at each answer."""
    return {"request": [] if question.trusted else [_only_what_is_needed], "response": [_bounded]}


async def _only_what_is_needed(request: Request) -> None:
    # INVARIANT: nothing that the environment has for OpenAI's own server goes to another.
    for name in [name for name in request.headers if name not in _HEADERS]:
        del request.headers[name]


async def _bounded(response: Response) -> None:
    """Let no answer take more memory than the largest: not in what is sent, nor in what that unpacks to."""
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise _UnusableError("the answer is compressed, which was not asked for")
    response.stream = _Bounded(cast("AsyncByteStream", response.stream))


class _Bounded(AsyncByteStream):
    def __init__(self, stream: AsyncByteStream) -> None:
        self._stream = stream
        self._chunks = _bounded_chunks(stream)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks

    async def aclose(self) -> None:
        # Else what is beneath is closed when the collector finds it, and logged then.
        await self._chunks.aclose()
        await self._stream.aclose()


async def _bounded_chunks(stream: AsyncByteStream) -> AsyncGenerator[bytes, None]:
    left = LARGEST_ANSWER
    async for chunk in stream:
        left -= len(chunk)
        if left < 0:
            raise _UnusableError(f"answer of more than {LARGEST_ANSWER:,} bytes")
        yield chunk


class _UnusableError(Exception):
    """An answer that is not taken; the message is for everybody."""
