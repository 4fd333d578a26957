"""Finds what is a secret in what tasks send, and takes it out of what comes back."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import cast
from urllib.parse import unquote, urlsplit

import regex

from ...rules.paths import is_container
from ...rules.templates import LookUp, as_text
from ...rules.values import JSON
from ..classify import WINDOW
from ..failure import window
from ..journal import Journal, secrets_of
from ..redaction import MARK, redact
from .servers import percent

CREDENTIAL = re.compile(
    r"auth(?!or(?!iz))|cookie|secret|passw|credential|session|signature|csrf|xsrf|appid|(?:token|key)$",
    re.ASCII | re.IGNORECASE,
)
"""Found in the name of a header or a parameter that is there to prove who somebody is."""

SHORTEST = 6
"""Characters of a secret that is taken out of answers; shorter ones stand in too many."""
TELLING = 8
"""Characters of a secret in a row that no message shows."""

_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


def secrets_in(value: JSON) -> Iterator[str]:
    """The texts in a value that is a secret, or goes into one."""
    if is_container(value):
        for part in value.values() if isinstance(value, Mapping) else cast("Sequence[JSON]", value):
            yield from secrets_in(part)
    elif text := as_text(value):
        yield text


def noting(secrets: set[str], look_up: LookUp, public: LookUp | None = None) -> LookUp:
    """As `look_up`; what it finds, and `public` does not, goes into `secrets`."""

    def find(path: str) -> JSON:
        value = look_up(path)
        if public is None or value != public(path):
            secrets.update(secrets_in(value))
        return value

    return find


def kept_secrets(turn: Journal) -> set[str]:
    """The secrets of the conversation, which no answer may repeat, whether they were sent or not."""
    return {text for text in secrets_in(secrets_of(turn)) if len(text) >= SHORTEST}


def credentials_in(url: str) -> Iterator[str]:
    """The secrets of an address: its password, or the name that stands for one, and the header that is made of them."""
    parts = urlsplit(url)
    name, password = unquote(parts.username or ""), unquote(parts.password or "")
    if name or password:
        yield password or name
        yield base64.b64encode(f"{name}:{password}".encode("utf-8", "replace")).decode()


def credentials_of(word: str) -> Iterator[str]:
    """The secrets of a word in a header `Authorization: Basic …`, whole and decoded; none if it is no such word."""
    try:
        decoded = base64.b64decode(word, validate=True).decode()
    except ValueError:
        return
    name, colon, password = decoded.partition(":")
    if colon:
        yield decoded
        yield password or name


def searched(secrets: Iterable[str]) -> "regex.Pattern[str] | None":
    """Finds each of `secrets` of 6 characters or more, as it is and escaped as in JSON or in an address; None: none."""
    long = sorted({secret for secret in secrets if len(secret) >= SHORTEST}, key=len, reverse=True)
    return regex.compile("|".join(["".join(map(_written, secret)) for secret in long])) if long else None


def without(secrets: Iterable[str], value: JSON) -> JSON:
    """A JSON value with each of `secrets` in it, in keys too, replaced by `<REDACTED>`; a copy if there are any."""
    pattern = searched(secrets)
    if pattern is None:
        return value

    def cleaned(part: JSON) -> JSON:
        if isinstance(part, Mapping):
            return {str(pattern.sub(MARK, key)): cleaned(each) for key, each in part.items()}
        if is_container(part):
            return [cleaned(each) for each in cast("Sequence[JSON]", part)]
        if isinstance(part, str):
            return str(pattern.sub(MARK, part))
        return MARK if pattern.fullmatch(as_text(part)) else part

    return cleaned(value)


def tellable(secrets: Iterable[str], text: str, most: int) -> str:
    """What may be told of an answer that says what is wrong: at most so many characters, without secrets."""
    text = str(without(secrets, text))
    # What is cut first is not recognised any more: so more is looked at than is kept, but not megabytes.
    return redact(window(text) if len(text) > WINDOW else text)[:most]


def without_parts(secrets: Iterable[str], text: str) -> str:
    """`text` with a mark in place of all that is in one of `secrets`, 8 characters or more in a row, whatever case."""
    for secret in sorted(secrets):
        for form in _forms(secret):
            text = _without_parts_of(form.translate(_SMALL), text)
    return text


def _written(character: str) -> str:
    """The ways to write a character of a secret, as a pattern: as it is, escaped as in JSON, as in an address."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    escaped = r"\\+".join(["", *(f"u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))])
    ways = [rf"\\*{regex.escape(character)}", escaped, f"(?i:{percent(character)})"]
    if (short := json.dumps(character)[1:-1])[:1] == "\\" and short[1] != "u":
        ways.append(rf"\\+{regex.escape(short[1])}")
    if len(bytes_ := character.encode("utf-8", "replace")) == 1:
        ways.append(f"(?i:%{bytes_.hex()})")
    return f"(?:{'|'.join(dict.fromkeys(ways))})"


def _forms(secret: str) -> Iterable[str]:
    """A secret as it may be written: as it is, in an address, in JSON."""
    escaped = json.dumps(secret)[1:-1]
    return dict.fromkeys((secret, percent(secret), escaped, escaped.replace("/", r"\/")))


def _without_parts_of(secret: str, text: str) -> str:
    size = min(len(secret), TELLING)
    if not size:
        return text
    small = text.translate(_SMALL)
    parts = {secret[start : start + size] for start in range(len(secret) - size + 1)}
    kept: list[str] = []
    done = 0
    for start in range(len(text) - size + 1):
        if small[start : start + size] in parts:
            if start > done or not kept:
                kept += text[done:start], MARK
            done = start + size
    return "".join((*kept, text[done:]))
