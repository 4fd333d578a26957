"""HTTP calls in tests: a server on loopback that remembers what it was sent, and steps that call it."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from turnout.rules.agents import StepDefinition
from turnout.rules.calls import HttpCallsFile

Handler = BaseHTTPRequestHandler
Respond = Callable[[Handler], None]
"""Answers one request."""


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


@dataclass
class Server:
    """A server that answers its n-th request with the n-th of `answers`, the last of them for ever."""

    answers: list[Respond] = field(default_factory=list)
    requests: list[Seen] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def answer(self, *answers: Respond) -> None:
        """Set what is answered."""
        self.answers = list(answers)

    def handle(self, handler: Handler) -> None:
        """Remember a request, and answer it."""
        body = handler.rfile.read(int(handler.headers.get("content-length", 0))).decode()
        self.requests.append(Seen(handler.command, handler.path, handler.headers, body))
        self.arrived.set()
        self.answers[min(len(self.requests), len(self.answers)) - 1](handler)

    def hang(self, handler: Handler) -> None:
        """Answer nothing, until the client gives up."""
        handler.connection.recv(1)
        self.left.set()


def reply(status: int = 200, body: str | bytes = "{}", kind: str = "application/json", **headers: str) -> Respond:
    """Answer with a status and a body."""

    def respond(handler: Handler) -> None:
        content = body.encode() if isinstance(body, str) else body
        handler.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return respond


def raw(content: bytes) -> Respond:
    """Answer with these bytes and no more."""

    def respond(handler: Handler) -> None:
        handler.wfile.write(content)
        handler.close_connection = True

    return respond


@contextmanager
def serving() -> Iterator[Server]:
    """A server that listens until the end; it answers `{}` unless it is told something else."""
    served = Server([reply()])

    class Served(Handler):
        def log_message(self, text: str, *args: object) -> None:
            pass

        def do_any(self) -> None:
            served.handle(self)

    for method in ("GET", "POST", "PATCH"):
        setattr(Served, f"do_{method}", Served.do_any)
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Served)
    served.url = f"http://127.0.0.1:{listening.server_port}"
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
        return f"http://127.0.0.1:{bound.getsockname()[1]}"


def call(**keys: Any) -> dict[str, Any]:
    """A call at action `ask` whose answer is saved, as its author writes it."""
    return {
        "name": "weather",
        "actions": ["ask"],
        "saveResponse": True,
        "responseObjectName": "weather",
        **keys,
    }


def settings(url: str, *calls: dict[str, Any]) -> HttpCallsFile:
    """A file of calls."""
    file = {"targetServerUrl": url, "httpCalls": list(calls)}
    return HttpCallsFile.model_validate(file)


def calls_step(url: str, *calls: dict[str, Any], timeout_ms: int | None = None) -> StepDefinition:
    """A step that makes calls."""
    return StepDefinition(task="ai.labs.httpcalls", settings=settings(url, *calls), timeout_ms=timeout_ms)
