"""Where in a JSON text something stands: line and column of a key or a value.

Only used when there is a problem to report, so that reading a good file pays nothing for it.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

Pointer: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value, from the top of a document."""

Node: TypeAlias = "tuple[Node, str | int] | None"
"""A pointer in the making: the last step that leads to a place, and the place before; None is the top."""


def pointer(node: Node) -> Pointer:
    """The pointer that leads to a place."""
    steps: list[str | int] = []
    while node is not None:
        node, step = node
        steps.append(step)
    return tuple(reversed(steps))


class Spot(NamedTuple):
    """What is pointed at: a value, or with `at_key` the key that it is written under."""

    pointer: Pointer
    at_key: bool = False


Places: TypeAlias = Callable[[Sequence[Spot]], list[tuple[int, int]]]
"""Tells line and column, from 1, of each spot of one document, whatever it was written in."""


class _Value(NamedTuple):
    """A value of a text."""

    path: list[str | int]
    """The pointer of the value; one list, changed from value to value."""
    key_at: int
    at: int
    written: str


_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_LINE_END = re.compile(r"\r\n|\r|\n")


def _values(text: str) -> Iterator[_Value]:
    """Every value of a JSON text in reading order, however deep; a broken text gives what can be made out."""
    path: list[str | int] = []
    key_at, key_next = 0, False
    for match in _TOKEN.finditer(text):
        part = match[0]
        if part == ",":
            if path and isinstance(index := path[-1], int):
                path[-1] = index + 1
            else:
                key_next = True
        elif part in ("]", "}"):
            del path[-1:]
            key_next = False
        elif part == ":":
            continue
        elif key_next and path:
            path[-1], key_at, key_next = _key(part), match.start(), False
        else:
            yield _Value(path, key_at, match.start(), part)
            if part in ("[", "{"):
                key_next = part == "{"
                path.append("" if key_next else 0)


def _key(written: str) -> str:
    if "\\" not in written:
        return written[1:-1]
    try:
        return str(json.loads(written, strict=False))
    except ValueError:
        return written.strip('"')


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column of a character, both from 1; lines end at LF, CR LF or CR."""
    return _numbered(text, [offset])[0]


def _numbered(text: str, offsets: Sequence[int]) -> list[tuple[int, int]]:
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    lines = [bisect_right(starts, offset) for offset in offsets]
    return [(line, offset - starts[line - 1] + 1) for line, offset in zip(lines, offsets, strict=True)]


def locate_all(text: str, spots: Sequence[Spot]) -> list[tuple[int, int]]:
    """Line and column, from 1, of each spot in a JSON text, in one pass over it.

    Where the document has no such value, the nearest parent that exists is meant.
    """
    wanted = {spot.pointer[:length] for spot in spots for length in range(len(spot.pointer) + 1)}
    deepest = max(map(len, wanted), default=0)
    found: dict[Pointer, tuple[int, int]] = {}
    for value in _values(text):
        if len(value.path) <= deepest and (pointer := tuple(value.path)) in wanted:
            found[pointer] = (value.key_at, value.at)  # of keys written twice, the last one counts
    return _numbered(text, [_offset(spot, found) for spot in spots])


def _offset(spot: Spot, found: dict[Pointer, tuple[int, int]]) -> int:
    pointer = spot.pointer
    while pointer not in found:
        if not pointer:
            return 0
        pointer = pointer[:-1]
    key_at, at = found[pointer]
    named = spot.at_key and pointer == spot.pointer and pointer and isinstance(pointer[-1], str)
    return key_at if named else at


def repeated_keys(text: str) -> Iterator[Pointer]:
    """The pointers of keys that an object has more than once, each as often as it comes again."""
    seen: set[Pointer] = set()
    repeated: Pointer = ()
    for value in _values(text):
        if not value.path or isinstance(value.path[-1], int):
            continue
        pointer = tuple(value.path)
        if repeated and pointer[: len(repeated)] == repeated and pointer != repeated:
            continue  # what stands inside a repeated key was seen already, once
        if pointer in seen:
            repeated = pointer
            yield pointer
        seen.add(pointer)


def first_scalar(text: str, wanted: Callable[[str], bool]) -> int | None:
    """The offset of the first number or word of a JSON text that is `wanted`."""
    for value in _values(text):
        if value.written[0] not in '"[{' and wanted(value.written):
            return value.at
    return None
