"""What comes back from a call: an answer and what may be kept of it, or why there is none."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from ...rules.authored import ErrorType
from ...rules.calls import HttpCall
from ...rules.errors import TurnoutError
from ...rules.paths import is_container
from ...rules.templates import as_text
from ...rules.values import JSON, freeze
from ..redaction import MARK, redact

CREDENTIAL = re.compile(
    r"auth(?!or(?!iz))|cookie|secret|passw|credential|session|signature|csrf|xsrf|appid|(?:token|key)$",
    re.ASCII | re.IGNORECASE,
)
"""Found in the name of a header or a parameter that is there to prove who somebody is."""


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
    """An answer with its headers as sent, and its content type and charset.

    The body is unpacked, and cut a little above what is taken.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
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


def headers_in(answer: Answer) -> dict[str, str]:
    """The headers of an answer that may be kept: those that prove who somebody is are left out, others are redacted."""
    # INVARIANT: `Set-Cookie`, `WWW-Authenticate`, `X-Auth-Token` and their like are kept nowhere.
    return {name: redact(value) for name, value in all_headers(answer).items() if not CREDENTIAL.search(name)}


def all_headers(answer: Answer) -> dict[str, str]:
    """The headers of an answer, each under its name as it was sent, `in-lower-case` and `Capitalised-Like-This`.

    So a path finds it in any usual spelling, whatever the server's is. Values of one name are joined by commas.
    """
    headers: dict[str, str] = {}
    for name, value in answer.headers:
        there = headers.get(name.lower())
        joined = value if there is None else f"{there}, {value}"
        headers |= dict.fromkeys((name, name.lower(), name.title()), joined)
    return headers


SHORTEST_SECRET = 6
"""Characters of a secret that is taken out of other texts; shorter ones stand in too many."""


def secrets_in(value: JSON) -> Iterator[str]:
    """The texts in a value that is a secret, or goes into one, as far as they can be told from others."""
    if is_container(value):
        for part in value.values() if isinstance(value, Mapping) else cast("Sequence[JSON]", value):
            yield from secrets_in(part)
    elif len(as_text(value)) >= SHORTEST_SECRET:
        yield as_text(value)


def without(secrets: Iterable[str], value: JSON) -> JSON:
    """A copy of a JSON value with each of `secrets` in it, in keys too, replaced by `<REDACTED>`."""
    longest_first = sorted(secrets, key=len, reverse=True)
    if not longest_first:
        return value
    pattern = re.compile("|".join(map(re.escape, longest_first)))

    def cleaned(part: JSON) -> JSON:
        if isinstance(part, Mapping):
            return {pattern.sub(MARK, key): cleaned(each) for key, each in part.items()}
        if is_container(part):
            return [cleaned(each) for each in cast("Sequence[JSON]", part)]
        return MARK if pattern.fullmatch(as_text(part)) else pattern.sub(MARK, part) if isinstance(part, str) else part

    return cleaned(value)
