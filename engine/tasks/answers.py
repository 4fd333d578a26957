"""What comes back from a call: an answer and what may be kept of it, or why there is none."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ...rules.authored import ErrorType
from ...rules.calls import HttpCall
from ...rules.errors import TurnoutError
from ...rules.paths import is_container
from ...rules.values import JSON, freeze
from ..redaction import redact
from .secrets import CREDENTIAL


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
_TOO_DEEP = "the answer is nested too deep"
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
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


# Charsets that texts come in. Others that Python knows are no charsets, or take it minutes for what is not long.
_CHARSETS = re.compile(
    r"(?:iso-?8859-?\d{1,2}|latin-?\d|windows-\d{3,4}|cp\d{3,4}|utf-(?:16|32)(?:le|be)?|shift[_-]?jis|euc-(?:jp|kr)"
    r"|iso-2022-(?:jp|kr)|gb2312|gbk|gb18030|big5(?:-hkscs)?|koi8-[rut]|macintosh|tis-620)",
    re.IGNORECASE,
)


def value_in(call: HttpCall, answer: Answer) -> JSON:
    """The answer as data: what its JSON says, None where that is empty, or else its text. Raises `CallError`."""
    if "json" not in answer.kind.lower():
        return decoded(answer)
    if not answer.body.strip():
        return None
    value, wrong = data_in(decoded(answer) if _CHARSETS.fullmatch(answer.charset) else answer.body)
    if wrong:
        raise CallError(call.name, wrong)
    return value


def data_in(text: str | bytes) -> tuple[JSON, str]:
    """What the JSON of an answer says, and what is wrong with it: nothing, if it is good. Half characters are `�`."""
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        value = freeze(json.loads(text))  # Python alone takes NaN and infinity for JSON
    except RecursionError:
        return None, _TOO_DEEP
    except ValueError as error:
        return None, _TOO_DEEP if "nests deeper" in str(error) else "the answer is not JSON"
    return (_whole(value) if _HALF.search(text) else value), ""


def _whole(value: JSON) -> JSON:
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, Mapping):
        return {whole_characters(key): _whole(each) for key, each in value.items()}
    return [_whole(each) for each in cast("Sequence[JSON]", value)] if is_container(value) else value


def whole_characters(text: str) -> str:
    """A text with `�` for each half of a character, which no text can be sent or kept with everywhere."""
    return text if text.isascii() else _HALF_CHARACTER.sub("\ufffd", text)


def decoded(answer: Answer) -> str:
    """The body as text, in UTF-8 unless the server names another charset."""
    charset = answer.charset if _CHARSETS.fullmatch(answer.charset) else "utf-8"
    try:
        return whole_characters(answer.body.decode(charset, "replace"))
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
