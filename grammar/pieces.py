"""What the callbacks that build items share: the item itself, and the values in it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isinf
from typing import Any, Literal, TypeAlias

from lark import Token

from ..rules.values import MAX_DEPTH, freeze
from .parser import RejectedError

Kind = Literal["set", "language", "policy", "steps", "group", "rule", "output", "check"]
Entries: TypeAlias = dict[str, object]
Parts: TypeAlias = list[Any]
"""What a callback is given: the grammar says what stands where."""

Comment: TypeAlias = tuple[int, bool, str]
"""The gap that it stands in, whether it trails the token before, and its text without the `#`."""


@dataclass(slots=True, kw_only=True)
class Item:
    """One thing that a file says, in the author's order.

    `entries` is the JSON of a group, rule or output, the policy's own JSON, `key`, `value` and `outputs` of a `set`,
    `lang` of a language, `steps` of steps, or a check as `checks` reads it. `at` is the offset where it begins.
    """

    kind: Kind
    entries: Entries
    at: int = 0
    comments: Sequence[Comment] = field(default=())


def objects(entries: Mapping[str, object], key: str) -> Sequence[Entries]:
    """The objects in the list under a key; none where there is no list."""
    return entries.get(key) or ()  # type: ignore[return-value]  # a list by the form of the document


def constant(value: object) -> Callable[[object, Parts], object]:
    """The callback for words that always mean the same."""
    return lambda _, __: value


def at(word: object) -> int:
    """Where a keyword stands."""
    return getattr(word, "start_pos", 0)


def numbered(token: Token) -> int | float:
    """The number that a token writes."""
    try:
        number: int | float = int(token) if token.lstrip("-").isdigit() else float(token)
    except ValueError:
        number = float("inf")
    if isinf(number):
        raise RejectedError(token, "J006", "the number must be finite and of a usual length", "write it as a text")
    return number


def counted(token: Token) -> int:
    """The whole number that a token writes in digits."""
    return int(numbered(token))


def merged(entries: Entries, pairs: object, taken: Iterable[str] = ()) -> Entries:
    """The entries with those of a suffix; no key twice, and none that has words of its own."""
    added: Any = pairs or {}
    for key, value in added.items():
        if key in entries or key in taken:
            message = f"`{key}` is said twice"
            raise RejectedError(key, "R009", message, "leave one of them out")
        entries[key] = value
    return entries


def plain(key: Token, value: object) -> object:
    """A value without tokens; what is kept as it is must not be nested too deep."""
    if isinstance(value, Token):
        return str.__str__(value)
    if not isinstance(value, list | dict):
        return value
    try:
        return freeze(value)
    except ValueError as error:
        message = f"the value of `{key}` nests deeper than {MAX_DEPTH} levels"
        raise RejectedError(key, "J007", message, "make it flatter") from error
