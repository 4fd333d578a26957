"""Regular expressions and built-in dictionaries: what one piece of the input means to them."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import regex

from ...rules.dictionaries import Dictionary, Kind, compiled
from ...rules.values import BLANKS

SECONDS = 0.2
"""How long all regular expressions together may take for one input."""

Recognized: TypeAlias = Callable[[str], str]
"""What a piece means, as expressions; empty where it means nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    pattern: "regex.Pattern[str]"
    meaning: str
    place: str


class Recognizer:
    """What pieces of an input, each typed between two blanks, mean to patterns and built-in dictionaries.

    The first of them that knows a piece counts, in the order of the dictionaries. A pattern is asked about all of a
    piece, as it was typed: `^[a-z]+$` does not know `no!`. A built-in dictionary looks past quotes and brackets around
    a piece, and past the marks that end a sentence: it knows `(42)` and `42!`, but not `-42` and `#42`.
    """

    def __init__(
        self, dictionaries: Iterable[Dictionary | Kind], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._lookups = tuple(_lookups(dictionaries))
        self._clock = clock

    def __bool__(self) -> bool:
        return bool(self._lookups)

    def one_input(self) -> Recognized:
        """What the pieces of one input mean.

        What is returned raises `TimeoutError` when the patterns take more than `SECONDS` in all its calls.
        """
        left = SECONDS

        def matches(lookup: _Pattern, piece: str) -> bool:
            nonlocal left
            if left <= 0:
                raise _out_of_time(lookup)
            began = self._clock()
            try:
                return lookup.pattern.fullmatch(piece, timeout=left) is not None
            except TimeoutError:
                raise _out_of_time(lookup) from None
            finally:
                left -= self._clock() - began

        @cache
        def meaning(piece: str) -> str:
            inner = _AROUND.sub("", piece)
            for lookup in self._lookups:
                if isinstance(lookup, _Pattern):
                    if matches(lookup, piece):
                        return lookup.meaning
                elif found := lookup(piece) or lookup(inner):
                    return found
            return ""

        return meaning


def _out_of_time(lookup: _Pattern) -> TimeoutError:
    # Said without the piece: what a user types is for no log.
    return TimeoutError(f"the regular expressions took longer than {SECONDS} s, at {lookup.place}")


def marks(text: str) -> str:
    """What the marks mean that `text` ends with, each once, in their order."""
    rest = text.rstrip("".join(_MARKS))
    return ", ".join([f"punctuation({_MARKS[mark]})" for mark in dict.fromkeys(text[len(rest) :])])


def _lookups(dictionaries: Iterable[Dictionary | Kind]) -> Iterator[_Pattern | Recognized]:
    for number, dictionary in enumerate(dictionaries, start=1):
        if not isinstance(dictionary, Dictionary):
            yield _KINDS[dictionary]
            continue
        for index, entry in enumerate(dictionary.reg_exs, start=1):
            if meaning := (entry.expressions or "").strip(BLANKS):
                place = f"number {index} of dictionary {number}"
                yield _Pattern(pattern=compiled(entry.reg_ex), meaning=meaning, place=place)


_AROUND = regex.compile(
    r"""^[\p{Ps}\p{Pi}"'¿¡]++|(?<![\p{Pe}\p{Pi}\p{Pf}\p{Term}"'])[\p{Pe}\p{Pi}\p{Pf}\p{Term}"']++$""",
)
_DECIMAL = regex.compile(r"\d*+[.,]\d++")
_ORDINAL = regex.compile(r"([0-9]{1,9})(?:st|nd|rd|th)", regex.IGNORECASE)
_EMAIL = regex.compile(r"\b[a-z0-9._%+-]++@[a-z0-9.-]+\.[a-z]{2,63}", regex.IGNORECASE | regex.ASCII)
_LONGEST_EMAIL = 254  # as mail itself has it
_TIME = regex.compile(
    r"(?P<h>[01]?[0-9]|2[0-3])(?:h|[h:](?P<m>[0-5][0-9]))"
    r"|(?P<h>[01][0-9]|2[0-3]):(?P<m>[0-5][0-9]):(?P<s>[0-5][0-9])"
    r"|(?P<h>24):00",
    regex.IGNORECASE,
)
_MARKS = {
    "!": "exclamation_mark",
    "?": "question_mark",
    ".": "dot",
    ",": "comma",
    ":": "colon",
    ";": "semicolon",
}


# INVARIANT: what these put into brackets has neither a bracket nor a comma nor a blank in it, and is never `*`.
def _integer(text: str) -> str:
    return f"integer({text})" if text.isdecimal() else ""


def _decimal(text: str) -> str:
    return f"decimal({text.replace(',', '.')})" if _DECIMAL.fullmatch(text) else ""


def _ordinal(text: str) -> str:
    found = _ORDINAL.fullmatch(text)
    return f"ordinal_number({int(found[1])})" if found else ""


def _email(text: str) -> str:
    return f"email({text})" if len(text) <= _LONGEST_EMAIL and _EMAIL.fullmatch(text) else ""


def _time(text: str) -> str:
    """A time of day, such as `19:50`, `7h` or `13:50:12`, as milliseconds since midnight."""
    found = _TIME.fullmatch(text)
    if not found:
        return ""
    hours, minutes, seconds = (int(found[part] or 0) for part in "hms")
    return f"time({((hours % 24 * 60 + minutes) * 60 + seconds) * 1000})"


def _punctuation(text: str) -> str:
    return marks(text) if not text.strip("".join(_MARKS)) else ""


_KINDS: dict[Kind, Recognized] = {
    "integer": _integer,
    "decimal": _decimal,
    "ordinalNumber": _ordinal,
    "email": _email,
    "time": _time,
    "punctuation": _punctuation,
}
