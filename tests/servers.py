"""A server on loopback: it answers what a test tells it to, models' questions too, and remembers what it was sent."""

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Handler = BaseHTTPRequestHandler


@dataclass
class Seen:
    """A request as it reached the server."""

    method: str
    path: str
    headers: Message
    body: str

    @property
    def query(self) -> dict[str, list[str]]:
        """The parameters."""
        return parse_qs(urlsplit(self.path).query, keep_blank_values=True, strict_parsing=True)

    @property
    def data(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)

    @property
    def messages(self) -> list[tuple[str, str]]:
        """The roles and the texts of the conversation that a model was sent."""
        return [(message["role"], message["content"]) for message in self.data["messages"]]


Respond = Callable[[Handler, Seen], None]
"""Answers one request."""


@dataclass
class Server:
    """Answers its n-th request with the n-th of `answers`, the last of them for ever."""

    answers: list[Respond]
    url: str = ""
    requests: list[Seen] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    """Set when a request has come."""
    left: threading.Event = field(default_factory=threading.Event)
    """Set when an answer is through, or the client no longer wants it."""

    def answer(self, *answers: Respond) -> None:
        """Set what is answered from the next request on, and forget those before it."""
        self.requests.clear()
        self.answers = list(answers)

    def handle(self, handler: Handler) -> None:
        """Remember a request, and answer it."""
        handler.close_connection = True
        body = handler.rfile.read(int(handler.headers.get("content-length", 0))).decode()
        seen = Seen(handler.command, handler.path, handler.headers, body)
        self.requests.append(seen)
        self.arrived.set()
        try:
            self.answers[min(len(self.requests), len(self.answers)) - 1](handler, seen)
        finally:
            self.left.set()


class _Listening(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # else the client is gone
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[Server]:
    """A server that listens until the end; it answers `{}`, and models' questions `Hello.`, until it is told else."""
    served = Server([_hello])

    class Served(Handler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_any(self) -> None:
            served.handle(self)

        do_GET = do_POST = do_PATCH = do_any  # noqa: N815 - the names are given

    listening = _Listening(("127.0.0.1", 0), Served)
    served.url = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


def _hello(handler: Handler, seen: Seen) -> None:
    answer = says("Hello.") if seen.path.endswith("/chat/completions") else reply()
    answer(handler, seen)


def closed_port() -> str:
    """The address of a server that is not there."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{bound.getsockname()[1]}"


# Answers


def hang(handler: Handler, seen: Seen) -> None:
    """Answer nothing, until the client gives up."""
    with suppress(OSError):
        handler.connection.recv(1)


def raw(content: bytes) -> Respond:
    """Answer with these bytes and no more."""

    def respond(handler: Handler, seen: Seen) -> None:
        handler.wfile.write(content)

    return respond


def reply(status: int = 200, body: object = "{}", kind: str = "application/json", **headers: str) -> Respond:
    """Answer with a status and a body: texts and bytes as they stand, all else as JSON."""

    def respond(handler: Handler, seen: Seen) -> None:
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        content = text.encode() if isinstance(text, str) else text
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        _begin(handler, status, {"Content-Type": kind, "Content-Length": str(len(content)), **named})
        handler.wfile.write(content)

    return respond


def _begin(handler: Handler, status: int, headers: dict[str, str]) -> None:
    handler.send_response(status)
    for name, value in {"Connection": "close", **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()


# Answers as the protocol of OpenAI has them


def refuses(status: int, message: str = "", **more: object) -> Respond:
    """Answer with an error."""
    return reply(status, {"error": {"message": message, "type": "some_error", **more}})


def says(text: object, finish_reason: str = "stop", **message: object) -> Respond:
    """Answer with a text: whole or in pieces of a word, as was asked; in pieces, with what else they may come with."""

    def respond(handler: Handler, seen: Seen) -> None:
        if seen.data.get("stream"):
            first, *rest = str(text).split(" ")
            last = {"index": 0, "delta": message, "finish_reason": finish_reason}
            counts = {"choices": [], "usage": {"total_tokens": 3}}
            words = [first, *(f" {word}" for word in rest)]
            stream(handler, [*map(piece, words), {"choices": [last]}, counts, "[DONE]"])
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}}
            reply(200, {"id": "1", "choices": [{**choice, "finish_reason": finish_reason}]})(handler, seen)

    return respond


def cuts(*pieces: str, cleanly: bool = False) -> Respond:
    """Send pieces, then break off: in the middle of the answer, or as if it were whole."""
    return lambda handler, seen: stream(handler, [*map(piece, pieces)], ends=cleanly)


def sends(*events: object) -> Respond:
    """Send events: those that are no text as JSON."""
    return lambda handler, seen: stream(handler, [*events])


def piece(text: str) -> dict[str, object]:
    """A piece of an answer."""
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def stream(handler: Handler, events: list[Any], *, ends: bool = True) -> None:
    """Send events as a stream does."""
    _begin(handler, 200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
    for event in events:
        data = f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        handler.wfile.flush()
    if ends:
        handler.wfile.write(b"0\r\n\r\n")
