"""Dictionaries of the parser, and its corrections, as the author wrote them."""

from typing import Annotated

from pydantic import Field

from .authored import Authored, Flag, Whole


class Word(Authored):
    """A word and what it means, as expressions."""

    word: str
    expressions: str | None = None


class Phrase(Authored):
    """Several words and what they mean together, as expressions."""

    phrase: str
    expressions: str | None = None


class RegEx(Authored):
    """A regular expression, and what an input that it matches means, as expressions."""

    reg_ex: str
    expressions: str | None = None


class Dictionary(Authored):
    """`<id>.regulardictionary.json`: words, phrases and regular expressions."""

    words: tuple[Word, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    reg_exs: tuple[RegEx, ...] = ()


class CorrectionConfig(Authored):
    """How many letters may be wrong, and whether words that are known are corrected as well."""

    distance: Annotated[Whole, Field(ge=1, le=4)] = 2
    lookup_if_known: Flag = False


class Correction(Authored):
    """A way of the parser to take a word for one that a dictionary knows."""

    type: str
    config: CorrectionConfig = CorrectionConfig()
