"""Dictionaries of the parser, and its corrections, as the author wrote them."""

from typing import Annotated, Literal, get_args

import regex
from pydantic import Field

from .authored import Authored, Whole

Kind = Literal["integer", "decimal", "ordinalNumber", "email", "time", "punctuation"]
"""The built-in dictionaries, which need no file."""

REGULAR = "ai.labs.parser.dictionaries.regular"
"""The type of a dictionary that an author wrote."""

KINDS: dict[str, Kind] = {f"ai.labs.parser.dictionaries.{kind}": kind for kind in get_args(Kind)}
"""The built-in dictionaries, by their types."""

CORRECTIONS = ("ai.labs.parser.corrections.levenshtein", "ai.labs.parser.corrections.damerauLevenshtein")
"""The types of the correction by edit distance."""


class Word(Authored):
    """A word and what it means, as expressions."""

    word: str
    expressions: str | None = None


class Phrase(Authored):
    """Several words and what they mean together, as expressions."""

    phrase: str
    expressions: str | None = None


class RegEx(Authored):
    """A regular expression, and what all that is typed between two blanks means if it matches, as expressions."""

    reg_ex: str
    expressions: str | None = None


class Dictionary(Authored):
    """`<id>.regulardictionary.json`: words, phrases and regular expressions."""

    words: tuple[Word, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    reg_exs: tuple[RegEx, ...] = ()


class CorrectionConfig(Authored):
    """How many letters may be wrong in a word; one that a dictionary knows stays as it is."""

    distance: Annotated[Whole, Field(ge=1, le=4)] = 2


class Correction(Authored):
    """A way of the parser to take a word for one that a dictionary knows."""

    type: str
    config: CorrectionConfig = CorrectionConfig()


_LONGEST = 100_000
_OPEN = r"\((?:\?(?:[a-zA-Z-]*:|[=!>|]|<[=!]|P?<\w++>))?"
_PARTS = regex.compile(rf"\\.|{_OPEN}|\[(?:\\.|[^\]\\])++\]|\{{([0-9]{{1,9}})(?:,[0-9]*)?\}}|.", regex.DOTALL)


def compiled(reg_ex: str) -> "regex.Pattern[str]":
    """The pattern that `reg_ex` writes; raises `ValueError` that says what is wrong with it.

    Of the two readings of the library this is the one in which sets nest and intersect (`[a-z&&[^b]]`), as in Java.
    """
    # The library writes repetitions out: it would take all memory for `(?:a{9999}){9999}`.
    if _written_out(reg_ex) > _LONGEST:
        raise ValueError(f"it asks for more than {_LONGEST:,} characters")
    try:
        return regex.compile(reg_ex, regex.VERSION1)
    except regex.error as error:
        raise ValueError(f"{error.msg}, near character {(error.pos or 0) + 1} of it") from error
    except (RecursionError, OverflowError, MemoryError) as error:
        raise ValueError("it is nested too deep") from error


def _written_out(reg_ex: str) -> int:
    """How many characters a pattern asks for at most, what it may leave out aside."""
    sizes, last = [0], 0
    for part in _PARTS.finditer(reg_ex):
        if part[0].startswith("("):
            sizes.append(0)
        elif part[1]:
            sizes[-1] += last * (int(part[1]) - 1)
            last *= int(part[1])
        else:
            last = sizes.pop() if part[0] == ")" and len(sizes) > 1 else 1
            sizes[-1] += last
    return sum(sizes)
