"""The parser of the rule language: Lark set up for `turnout.lark`, and the text that it reads."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lark import Lark, Token, Transformer

from ..rules.parsing import decoded

RESERVED = frozenset(
    {"rule", "group", "output", "check", "policy", "steps", "set", "language", "when", "then"}
    | {"and", "or", "not", "say", "show", "quick", "with", "keeping", "expect", "given"}
)
"""The words that are never a bare name, so that a missing name is reported where it is missing."""

ITEM_WORDS = frozenset({"set", "language", "policy", "steps", "group", "rule", "output", "check"})
"""The words that begin an item."""


class WholeWords:
    """Makes a keyword a whole word and a reserved word no name, by having both read in every state."""

    # INVARIANT: NAME is read in every state; else `whenaction` would be two right words, not a wrong one.
    always_accept = ("NAME", *map(str.upper, RESERVED))

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The tokens as they are."""
        return stream


def parser(transformer: Transformer[Token, object] | None = None, *, strict: bool = False) -> Lark:
    """A parser that hands what it reads to `transformer`; without one it makes trees.

    It costs some 100 ms to make: keep it, and the transformer with it. `strict` refuses ambiguities in the
    grammar itself and needs `interegular`.
    """
    return Lark(
        (Path(__file__).parent / "turnout.lark").read_text("utf-8"),
        parser="lalr",
        lexer="contextual",
        regex=True,  # the letters of Hindi, Tamil and Thai names need more than Python's own `\w`
        strict=strict,
        postlex=WholeWords(),
        maybe_placeholders=True,
        transformer=transformer,
    )


class RejectedError(Exception):
    """Raised by a transformer's callback for what the grammar takes and the language does not.

    The reader reports it at `token` and goes on at the next item. `hint` starts with a verb.
    """

    def __init__(self, token: Token, code: str, message: str, hint: str = "") -> None:
        self.token = token
        self.code = code
        self.message = message
        self.hint = hint
        super().__init__(message)


_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, kw_only=True)
class Source:
    """The text of a file, without a byte order mark; offsets count its characters from 0."""

    text: str
    file: str = ""

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1; lines end at LF, CR LF or CR."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The character at a line and column of this text, both from 1."""
        return self._starts[line - 1] + column - 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        start, *after = self._starts[number - 1 : number + 1]
        return self.text[start : after[0] if after else None].rstrip("\r\n")


def source(text: str | bytes, file: str = "") -> Source:
    """A text, or its bytes in UTF-8, as what is parsed. Raises `LoadError` for bytes of another encoding."""
    return Source(text=decoded(text, file) if isinstance(text, bytes) else text.removeprefix("\ufeff"), file=file)
