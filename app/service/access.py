"""Who calls, and what they may: bearer tokens by configuration, conversations by their user."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from ...rules.errors import LoadError, Problem
from ...rules.parsing import parse_json
from ...rules.spelling import suggestion
from ..files import read_file
from .faults import Refusal

_DIGEST = re.compile(r"sha256:([0-9a-fA-F]{64})")
_KINDS = ("tokens", "operators")
_HASHING = 'write `sha256:` and what `printf %s "$TOKEN" | sha256sum` prints'


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls; an operator may see all conversations, and why turns went as they did."""

    user: str
    operator: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a service is run with. `tokens` maps the SHA-256 of a token to its caller; None: open on this machine.

    `most_bytes` bounds a request's body. A plain request waits `patience` seconds for its turn, which goes on
    afterwards. At shutdown, running turns have `grace` seconds to end.
    """

    tokens: Mapping[bytes, Caller] | None = field(default=None, repr=False)
    most_bytes: int = 1_000_000
    patience: float = 60.0
    grace: float = 10.0


def read_tokens(path: Path) -> dict[bytes, Caller]:
    """The tokens in a file: `{"tokens": {"sha256:…": "user"}, "operators": {"sha256:…": "user"}}`.

    The file holds hashes only, so that whoever reads it can't call. Raises `LoadError`, which shows no key of it.
    """
    name = path.as_posix()
    data = parse_json(read_file(path), name)

    def wrong(message: str, hint: str) -> LoadError:
        return LoadError([Problem(code="S001", message=message, file=name, hint=hint)])

    if not isinstance(data, dict):
        raise wrong("the file of tokens is no object", 'write `{"tokens": {"sha256:…": "user"}, "operators": {}}`')
    callers: dict[bytes, Caller] = {}
    for kind, entries in data.items():
        if kind not in _KINDS:
            # A token may have been written where it does not belong: keys are not shown.
            raise wrong("a key is neither `tokens` nor `operators`", suggestion(kind, _KINDS, "use these two"))
        if not isinstance(entries, dict):
            raise wrong(f"`{kind}` is no object", "map the hash of each token to its user")
        for number, (key, user) in enumerate(entries.items(), start=1):
            found = _DIGEST.fullmatch(key)
            if found is None:
                raise wrong(f"key {number} of `{kind}` is no hash of a token", _HASHING)
            if not isinstance(user, str) or not user.strip():
                raise wrong(f"key {number} of `{kind}` has no user", "name the user as a text")
            digest = bytes.fromhex(found[1])
            if digest in callers:
                raise wrong(f"key {number} of `{kind}` stands there twice", "give each user a token of their own")
            callers[digest] = Caller(user, kind == "operators")
    if not callers:
        raise wrong("the file holds no token", _HASHING)
    return callers


_bearer = HTTPBearer(auto_error=False, description="A token of the file that the service was started with.")


async def caller(request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]) -> Caller:
    """Who makes this request. Refuses with 401, or 403 where an open service is asked from elsewhere."""
    settings: Settings = request.app.state.settings
    if settings.tokens is None:
        _from_this_machine(request)
        return Caller("", operator=True)
    if given is None:
        raise _unauthorized("a token is needed: send `Authorization: Bearer …`")
    digest = sha256(given.credentials.encode()).digest()
    found = None
    for known, one in settings.tokens.items():
        if hmac.compare_digest(known, digest):  # all are compared: how long it takes tells nothing
            found = one
    if found is None:
        raise _unauthorized("this token is not known here")
    return found


async def operator(known: Annotated[Caller, Security(caller)]) -> Caller:
    """The operator who makes this request. Refuses with 403 for others."""
    if not known.operator:
        raise Refusal(403, "operators_only", "this is for operators: send an operator's token")
    return known


def _unauthorized(message: str) -> Refusal:
    return Refusal(401, "token_needed", message, {"WWW-Authenticate": "Bearer"})


def _from_this_machine(request: Request) -> None:
    """Refuse what a web page of somebody else, or a name that leads here, lets a browser on this machine ask."""
    host = request.headers.get("host", "")
    if not is_loopback(_name(f"//{host}")):
        raise Refusal(403, "other_host", "without tokens the service answers on this machine only, as `localhost`")
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        raise Refusal(403, "other_origin", "other sites may not use this service")


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
