"""Makes requests of calls: what an author wrote, with the values of this turn, each within the place it stands in."""

import html
import json
import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...rules.calls import HttpCall, HttpRequest
from ...rules.templates import JSON_PIECES, LookUp, filled, path_in
from .answers import CallError
from .secrets import CREDENTIAL, credentials_in, credentials_of, noting
from .servers import percent

_SHORTEST_WORD = 8  # `Bearer` and the names of cookies are no secrets
_WORDS = re.compile(r"[^\s;,=]+")
_BASIC = re.compile(r"basic\s+(\S+)", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Request:
    """What is sent; it has no `repr`, for it holds secrets.

    `secrets` are those that are known as such: they are taken out of what the server answers.
    """

    method: str
    url: str
    headers: list[tuple[bytes, bytes]]
    body: bytes | None
    secrets: frozenset[str]


def request_of(server: str, call: HttpCall, look_up: LookUp, public: LookUp) -> Request:
    """The request of `call` to `server`. What `look_up` finds and `public` does not is a secret. Raises `CallError`.

    `Accept-Encoding` is `identity` unless the author wants another: a compressed answer may be a thousand
    times the size that arrives.
    """
    # INVARIANT: a value that is filled in is never read as a template, and stays within the part that it was
    # written into: it adds no path segment, parameter, header or JSON member.
    asked = call.request
    secrets = set(credentials_in(server))
    find = noting(secrets, look_up, public)
    url = server + _path(call, find)
    for name, template in asked.query_params.items():
        value = filled(template, find)
        url += f"{'&' if '?' in url else '?'}{percent(name)}={percent(value)}"
        if CREDENTIAL.search(name) and len(value) >= _SHORTEST_WORD:
            secrets.add(value)
    headers = {"accept-encoding": "identity"}
    if asked.content_type or asked.kind:
        headers["content-type"] = asked.content_type or asked.kind
    headers |= {name.strip().lower(): template for name, template in asked.headers.items()}
    for name, template in headers.items():
        headers[name] = _CONTROLS.sub("", filled(template, find)).strip()
        if CREDENTIAL.search(name):
            secrets.update(word for word in _WORDS.findall(headers[name]) if len(word) >= _SHORTEST_WORD)
            if (basic := _BASIC.match(headers[name])) is not None:
                secrets.update(credentials_of(basic[1]))
    body = _encoded(_body(asked, find)) if asked.body else None
    return Request(
        method=asked.method.strip().upper() or "GET",
        url=url,
        headers=[(_encoded(name), _encoded(value)) for name, value in headers.items()],
        body=body,
        secrets=frozenset(secrets),
    )


def origin(url: str) -> str:
    """The scheme and the server of an address, without credentials."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _path(call: HttpCall, look_up: LookUp) -> str:
    written = call.request.path.strip()
    path = filled(written, look_up, percent)
    if _steps(path) - _steps(written):
        raise CallError(call.name, "a value would lead to another path")
    return ("" if path[:1] in ("", "/", "?") else "/") + path


def _steps(path: str) -> Counter[str]:
    """How often a path stays where it is, and goes up."""
    return Counter(segment for segment in path.partition("?")[0].split("/") if segment in (".", ".."))


def _body(asked: HttpRequest, look_up: LookUp) -> str:
    """The body, with values written as its content type writes texts."""
    template, kind = asked.body, asked.kind
    if asked.is_json:
        return JSON_PIECES.sub(lambda found: _json_piece(found, look_up), template)
    if "urlencoded" in kind:
        return filled(template, look_up, percent)
    if "xml" in kind or "html" in kind:
        return filled(template, look_up, html.escape)
    return filled(template, look_up)


def _json_piece(found: re.Match[str], look_up: LookUp) -> str:
    """A string with its placeholders filled; a placeholder outside of strings as the JSON of its value."""
    if found["string"]:
        return filled(found["string"], look_up, lambda value: json.dumps(value)[1:-1])
    path = path_in(found)
    return json.dumps(look_up(path)) if path is not None else ""


def _encoded(value: str) -> bytes:
    return value.encode("utf-8", "replace")
