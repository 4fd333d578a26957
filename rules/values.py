"""JSON values: their type, and private copies of what somebody else made."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, TypeAlias

from .places import Node, pointer

JSON: TypeAlias = bool | int | float | str | Mapping[str, "JSON"] | Sequence["JSON"] | None
"""Any JSON value; a map may be any `Mapping`, a list any `Sequence` but a `str`."""

MAX_DEPTH = 200
"""How deep a stored value nests: a scalar has depth 0, `[[]]` has depth 2."""

INT_LIMIT: int = 10**4300
"""Integers from here on have no decimal text in Python's default settings."""

BLANKS = "".join(map(chr, range(0x21)))
"""What is trimmed from names and texts: U+0000 to U+0020, no other Unicode blank."""

_AS_THEY_ARE = frozenset({str, bool, type(None)})

# What is still to be copied: the source, its empty copy, its place, its depth.
_Pending: TypeAlias = "list[tuple[Any, dict[str, JSON] | list[JSON], Node, int]]"


def freeze(value: object) -> JSON:
    """A private deep copy of `value` made of plain `dict`, `list` and scalars only.

    Tuples and other sequences become lists; subclasses of `str`, `int` and `float` (enums too) become plain.
    Lone surrogates are kept. Raises `ValueError`, which names the place (`a.b[3]`), for other types, keys
    that are not text, NaN and infinity, integers beyond 4,300 digits and nesting deeper than `MAX_DEPTH`.
    """
    if type(value) in _AS_THEY_ARE:
        return value  # type: ignore[return-value]  # a scalar of JSON
    if type(value) is int and -INT_LIMIT < value < INT_LIMIT:
        return value
    # INVARIANT: no recursion, so the caller's own depth does not matter. Last in, first out, so that a cycle
    # reaches `MAX_DEPTH` at once, however wide it is.
    pending: _Pending = []
    copy = _begin(value, None, 0, pending)
    while pending:
        source, target, place, depth = pending.pop()
        if isinstance(target, dict):
            for key, item in source.items():
                name = key if type(key) is str else _plain_key(key, place)
                target[name] = item if type(item) in _AS_THEY_ARE else _begin(item, (place, name), depth, pending)
        else:
            for index, item in enumerate(source):
                target.append(item if type(item) in _AS_THEY_ARE else _begin(item, (place, index), depth, pending))
    return copy


def _begin(value: object, place: Node, depth: int, pending: _Pending) -> JSON:
    """The copy of a scalar, or an empty container that `pending` promises to fill."""
    if isinstance(value, int):
        if not -INT_LIMIT < value < INT_LIMIT:
            raise ValueError(f"{_named(place)} is an integer of more than 4,300 digits")
        return int.__int__(value)  # an enum's own `__int__`, `__str__` may say something else
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError(f"{_named(place)} is `{float.__repr__(value)}`, which JSON does not know")
        return float.__float__(value)
    copy: dict[str, JSON] | list[JSON]
    if isinstance(value, dict | Mapping):  # the plain types first: to ask for `Mapping` is slow
        copy = {}
    elif isinstance(value, list | tuple | Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        copy = []
    else:
        # a `ValueError` for all that is refused: what is wrong is the value that somebody wants stored
        reason = f"is of type `{type(value).__qualname__}`, which JSON does not know"
        raise ValueError(f"{_named(place)} {reason}")  # noqa: TRY004 - see above
    if depth >= MAX_DEPTH:
        raise ValueError(f"{_named(place)} nests deeper than {MAX_DEPTH} levels")
    pending.append((value, copy, place, depth + 1))
    return copy


def _plain_key(key: object, place: Node) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    raise ValueError(f"a key of {_named(place)} is of type `{type(key).__qualname__}`, not text")


def _named(place: Node) -> str:
    """`a.b[3]` in backticks; only the first steps of a long way, which name a cycle well enough."""
    if place is None:
        return "the value"
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in pointer(place)).removeprefix(".")
    return f"`{text}`" if len(text) <= 100 else f"`{text[:100]}...`"


def integer(text: str) -> int:
    """The 32-bit integer that `text` writes in plain ASCII digits, without blanks; else `ValueError`."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10 and -(2**31) <= int(text) < 2**31):
        raise ValueError("is not a whole number")
    return int(text)
