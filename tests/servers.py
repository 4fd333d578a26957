"""A server on loopback that speaks the protocol of OpenAI as far as tests ask it to, and remembers what it was sent."""

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

Handler = BaseHTTPRequestHandler


@dataclass
class Asked:
    """A request as it reached the server."""

    path: str
    headers: Message
    body: dict[str, Any]

    @property
    def messages(self) -> list[tuple[str, str]]:
        """The roles and the texts of the conversation."""
        return [(message["role"], message["content"]) for message in self.body["messages"]]


Respond = Callable[[Handler, Asked], None]
"""Answers one request."""


@dataclass
class ModelServer:
    """Answers its n-th request with the n-th of `answers`, the last of them for ever."""

    url: str = ""
    answers: list[Respond] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    waiting: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)

    def answer(self, *answers: Respond) -> None:
        """Set what is answered from the next request on."""
        self.asked.clear()
        self.answers = list(answers)

    def hang(self, handler: Handler, asked: Asked) -> None:
        """Answer nothing, until the client gives up."""
        self.waiting.set()
        with suppress(OSError):
            handler.connection.recv(1)
        self.left.set()
        handler.close_connection = True

    def handle(self, handler: Handler) -> None:
        """Remember a request, and answer it."""
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        asked = Asked(handler.path, handler.headers, json.loads(body))
        self.asked.append(asked)
        self.answers[min(len(self.asked), len(self.answers)) - 1](handler, asked)


class _Listening(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # else the client is gone
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[ModelServer]:
    """A server that listens until the end; it answers `Hello.` unless it is told something else."""
    served = ModelServer(answers=[says("Hello.")])

    class Served(Handler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:  # noqa: N802 - the name is given
            served.handle(self)

    listening = _Listening(("127.0.0.1", 0), Served)
    served.url = f"http://127.0.0.1:{listening.server_port}/v1"
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


def closed_port() -> str:
    """The address of a server that is not there."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


def reply(status: int, body: object, kind: str = "application/json", **headers: str) -> Respond:
    """Answer with a status and a body: a text as it stands, else as JSON."""

    def respond(handler: Handler, asked: Asked) -> None:
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    return respond


def refuses(status: int, message: str = "", **more: object) -> Respond:
    """Answer with an error as the protocol has it."""
    return reply(status, {"error": {"message": message, "type": "some_error", **more}})


def says(text: object, finish_reason: str = "stop", **message: object) -> Respond:
    """Answer with a text: whole or in pieces of a word, as was asked; in pieces, with what else they may come with."""

    def respond(handler: Handler, asked: Asked) -> None:
        if asked.body.get("stream"):
            pieces = _words(str(text))
            last = {"index": 0, "delta": message, "finish_reason": finish_reason}
            counts = {"choices": [], "usage": {"total_tokens": 3}}
            stream(handler, [*map(piece, pieces), {"choices": [last]}, counts, "[DONE]"])
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}}
            reply(200, {"id": "1", "choices": [{**choice, "finish_reason": finish_reason}]})(handler, asked)

    return respond


def cuts(*pieces: str, cleanly: bool = False) -> Respond:
    """Send pieces, then break off: in the middle of the answer, or as if it were whole."""

    def respond(handler: Handler, asked: Asked) -> None:
        stream(handler, [*map(piece, pieces)], ends=cleanly)

    return respond


def sends(*events: object) -> Respond:
    """Send events: those that are no text as JSON."""
    return lambda handler, asked: stream(handler, [*events])


def piece(text: str) -> dict[str, object]:
    """A piece of an answer."""
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def stream(handler: Handler, events: list[Any], *, ends: bool = True) -> None:
    """Send events as a stream does."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for event in events:
        data = f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        handler.wfile.flush()
    if ends:
        handler.wfile.write(b"0\r\n\r\n")
    handler.close_connection = True


def _words(text: str) -> Iterator[str]:
    first, *rest = text.split(" ")
    yield first
    yield from (f" {word}" for word in rest)
