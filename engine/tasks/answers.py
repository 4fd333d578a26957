"""What comes back from a call: an answer and the data in it, or why there is none."""

import json
from contextlib import suppress
from dataclasses import dataclass

from ...rules.authored import ErrorType
from ...rules.calls import HttpCall
from ...rules.errors import TurnoutError
from ...rules.values import JSON, freeze


class CallError(TurnoutError):
    """A call that failed. The message names the call and holds nothing that was sent or answered."""

    def __init__(self, call: str, reason: str, error_type: ErrorType | None = None) -> None:
        super().__init__(f"API call to {call} failed: {reason}")
        self.error_type = error_type


class HttpStatusError(CallError):
    """A call that was answered with a status of 400 or more, after its retries."""

    def __init__(self, call: str, status: int) -> None:
        super().__init__(call, f"HTTP {status}")
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer with its content type and charset; the body is unpacked, and cut a little above what is taken."""

    status: int
    kind: str
    charset: str
    body: bytes


_LONGEST_CHAIN = 20
_TRANSPORT = ("TransportError", "ProtocolError", "NetworkError", "OSError")
# What is told of an exception, by the first of these classes in it and beneath it.
_REASONS = {
    "gaierror": "the host is not known",
    "SSLError": "no secure connection to the server",
    "ProxyError": "the proxy does not connect to the server",
    "ConnectError": "all connection attempts failed",
    "LocalProtocolError": "the request cannot be sent as HTTP",
    "RemoteProtocolError": "the answer is not HTTP, or not whole",
    "DecodingError": "the answer cannot be unpacked",
    "OSError": "the connection broke off",
    "NetworkError": "the connection broke off",
}


def reason_of(error: BaseException) -> tuple[str, ErrorType]:
    """What is told of an exception of the HTTP library, and its type, by classes alone."""
    classes: set[str] = set()
    link: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if link is None:
            break
        classes.update(base.__name__ for base in type(link).__mro__)
        link = link.__cause__ or link.__context__  # also those that the library suppresses: they say most
    words = next((words for name, words in _REASONS.items() if name in classes), "the request cannot be sent")
    return words, "unknown" if classes.isdisjoint(_TRANSPORT) else "transport"


def value_in(call: HttpCall, answer: Answer) -> JSON:
    """The answer as data: what its JSON says, None where that is empty, or else its text. Raises `CallError`."""
    if "json" not in answer.kind.lower():
        return decoded(answer)
    if not answer.body.strip():
        return None
    with suppress(ValueError, RecursionError):
        return freeze(json.loads(answer.body))  # Python alone takes NaN and infinity for JSON
    raise CallError(call.name, "the answer is not JSON")


def decoded(answer: Answer) -> str:
    """The body as text."""
    try:
        return answer.body.decode(answer.charset, "replace")
    except (LookupError, UnicodeError):
        return answer.body.decode("utf-8", "replace")
