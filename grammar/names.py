"""How names, texts, numbers and expressions are written, so that each is read as the very same value."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeGuard
from unicodedata import is_normalized

import regex

from .parser import RESERVED

QUOTED = RESERVED | {"nothing"}
"""The words that must be quoted to be names."""

_GRAMMAR = Path(__file__).with_name("turnout.lark").read_text("utf-8")
TERMINALS: Mapping[str, str] = dict(regex.findall(r"^([A-Z_]+): /(.+)/$", _GRAMMAR, regex.MULTILINE))
"""The patterns of the grammar's terminals, for whoever scans a text without parsing it."""

_BARE = regex.compile(TERMINALS["NAME"])
_PART = regex.compile(rf"(?P<name>{TERMINALS['NAME']})|(?P<number>{TERMINALS['INT']})|\*|\(|\)|, ")


def is_bare(text: str) -> bool:
    """Whether a name needs no quotes."""
    if text in QUOTED or _BARE.fullmatch(text) is None:
        return False
    return text.isascii() or (text.isprintable() and is_normalized("NFC", text))


def name(text: str) -> str:
    """A name, in quotes where it needs them."""
    return str(text) if is_bare(text) else value(text)


def value(data: object) -> str:
    """A JSON value on one line; what cannot be seen is written as an escape."""
    text = json.dumps(data, ensure_ascii=False)
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(sign: str) -> str:
    return sign if sign.isprintable() else json.dumps(sign)[1:-1] if ord(sign) != 0x7F else "\\u007f"


def is_count(data: object) -> TypeGuard[str]:
    """Whether a value is a text of plain digits."""
    return isinstance(data, str) and data.isascii() and data.isdigit()


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`."""
    teens = 11 <= number % 100 <= 13
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def expressions(text: str, joint: str) -> str:
    """Expressions, joined by `joint` where they can be written bare, else the text in quotes."""
    pieces = _pieces(text)
    return value(text) if pieces is None else joint.join(pieces)


def _pieces(text: str) -> list[str] | None:
    """The expressions of a text that is written as the language would read them, else None."""
    pieces: list[str] = []
    depth = start = at = 0
    before = ", "
    for found in _PART.finditer(text):
        kind, part = found.lastgroup, found[0]
        if found.start() != at or not _follows(kind, part, before, depth):
            return None
        at = found.end()
        if part == ", " and depth == 0:
            pieces.append(text[start : found.start()])
            start = at
        depth += (part == "(") - (part == ")")
        before = "name" if kind == "name" else "end" if kind == "number" or part in ("*", ")") else part
    if at != len(text) or depth or before not in ("name", "end"):
        return None
    return [*pieces, text[start:]]


def _follows(kind: str | None, part: str, before: str, depth: int) -> bool:
    """Whether a part of an expression can stand behind the one before it."""
    if kind == "name":
        return before in (", ", "(") and is_bare(part)
    if kind == "number":
        return before in (", ", "(") and depth > 0
    match part:
        case "*":
            return before in (", ", "(")
        case "(":
            return before == "name"
        case ")":
            return depth > 0 and before in ("name", "end", "(")
        case _:
            return before in ("name", "end")


def suffix(entries: Iterable[tuple[str, object]], word: str) -> str:
    """` with key value, key value`; empty without entries."""
    pairs = ", ".join(f"{name(key)} {value(item)}" for key, item in entries)
    return f" {word} {pairs}" if pairs else ""
