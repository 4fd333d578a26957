"""The expression language: text such as `greeting(hello), question(how)` as data, and what equals what."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import pack, unpack

from .values import BLANKS

WILDCARD = "*"
"""The name that equals every expression, whatever the arguments, on either side."""

MAX_DEPTH = 32
"""How deep arguments nest; the text of deeper ones stays the name of the deepest expression."""

_MARK = re.compile(r"[(),]")
_NUMBER = re.compile(r"[0-9]*[.,]?[0-9]+")
_REMEMBERED_LENGTH = 500  # longer texts are rare, and would make the memory of parsed texts heavy


@dataclass(frozen=True, slots=True)
class Expression:
    """A name and its arguments, which are expressions too; `str()` is the canonical text.

    A name may be empty, and that of badly bracketed text may hold brackets and commas: then the canonical
    text reads as something else, and only the tree tells.
    """

    name: str
    args: "tuple[Expression, ...]" = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})" if self.args else self.name


def parse(text: str) -> tuple[Expression, ...]:
    """The expressions of a comma separated list; never raises, odd text makes odd names.

    Short texts are remembered. Time is linear in the text, times its depth (at most `MAX_DEPTH`).
    """
    return _remembered(text) if len(text) <= _REMEMBERED_LENGTH else _list(text, 0)


def equal(left: Expression, right: Expression) -> bool:
    """Whether two expressions are equal: names, number of arguments and arguments.

    `*` equals anything on either side. Numbers without arguments compare as 32-bit floats: `1`, `1.0` and
    `01` are equal, and so are 16777216 and 16777217.
    """
    pairs = [(left, right)]
    while pairs:  # not recursive: expressions made by hand may nest deeper than parsed ones
        a, b = pairs.pop()
        if WILDCARD in (a.name, b.name):
            continue
        if len(a.args) != len(b.args):
            return False
        if a.name != b.name and (a.args or not _same_number(a.name, b.name)):
            return False
        pairs.extend(zip(a.args, b.args, strict=True))
    return True


def has_run(pattern: Sequence[Expression], said: Sequence[Expression]) -> bool:
    """Whether `pattern` stands in `said` as a contiguous run, in order; an empty pattern always does."""
    return any(
        all(equal(wanted, said[start + offset]) for offset, wanted in enumerate(pattern))
        for start in range(len(said) - len(pattern) + 1)
    )


def is_empty_word(pattern: Sequence[Expression]) -> bool:
    """Whether `pattern` is the special word `empty`, with or without arguments."""
    return len(pattern) == 1 and pattern[0].name == "empty"


def key(expression: Expression) -> str | None:
    """A text to look the expression up by, or None if there is a `*` in it, at any depth.

    INVARIANT: for expressions with keys, `equal(a, b)` is `key(a) == key(b)`.
    """
    parts: list[str] = []
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        name, args = part.name, part.args
        if name == WILDCARD:
            return None
        number = None if args else _number(name)
        # Counts go before what they count, so that no name, however odd, reads like another expression.
        parts.append(f"{len(args)},{len(name)}:{name}" if number is None else f"={number};")
        waiting.extend(args)
    return "".join(parts)


def _list(text: str, depth: int) -> tuple[Expression, ...]:
    text = text.strip(BLANKS)
    if _MARK.search(text) is None:  # most arguments: a single name, or none
        return (Expression(text),) if text else ()
    return tuple([_expression(piece, depth) for piece in _pieces(text)])


@lru_cache(maxsize=4096)
def _remembered(text: str) -> tuple[Expression, ...]:
    return _list(text, 0)


def _pieces(text: str) -> Iterator[str]:
    """Split a list: after each closing bracket that returns to depth 0, and at commas outside of brackets.

    One character after such a bracket is swallowed: it is taken for the comma. A comma is part of the text at
    its very beginning, or right after a bracket that closed nothing.
    """
    depth = start = 0
    for mark in _MARK.finditer(text):
        at = mark.start()
        if at < start:
            continue
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if depth == 0:
                yield text[start : at + 1]
                start = at + 2
        elif depth <= 0 and at > 0 and text[at - 1] != ")":
            if at > start:
                yield text[start:at]
            start = at + 1
    if start < len(text):
        yield text[start:]


def _expression(piece: str, depth: int) -> Expression:
    opening, closing = piece.find("("), piece.rfind(")")
    if opening < 0 or closing < 0 or depth >= MAX_DEPTH:
        return Expression(piece.strip(BLANKS))
    name = piece[:opening].strip(BLANKS)
    args = _list(piece[opening + 1 : closing], depth + 1)
    return Expression(name, args[:1] if name == "negation" else args)


def _same_number(a: str, b: str) -> bool:
    number = _number(a)
    return number is not None and number == _number(b)


def _number(name: str) -> float | None:
    """The value of a numeric name, as a 32-bit float."""
    if name[-1:] not in "0123456789" or not _NUMBER.fullmatch(name):
        return None
    value = float(name.replace(",", "."))
    try:
        rounded: float = unpack("f", pack("f", value))[0]
    except OverflowError:
        return float("inf")
    return rounded
