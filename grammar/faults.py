"""Where reading stopped: the unexpected word, the words before it, and what could have stood there, in words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import regex

from .parser import ITEM_WORDS, Source
from .render import shown

_TEXT = regex.compile(r'"(?:[^"\\\n\r]|\\[^\n\r])*"')
_WORD = regex.compile(
    r"""(?P<comment>\#[^\n\r]*) | "(?:[^"\\\n\r]|\\[^\n\r])*"? | [^\W\d]\w*(?:[.\-:]\w+)* | -?[0-9][\w.]* | \S""",
    regex.X,
)


class Word(NamedTuple):
    """A word, text, number or sign of a source; an unclosed text ends with its line."""

    text: str
    start: int
    end: int
    first: bool = False
    """Whether it is the first on its line."""

    @property
    def is_name(self) -> bool:
        """Whether it has the form of a name or keyword."""
        return self.text[:1].isalpha() or self.text.startswith("_")

    @property
    def is_text(self) -> bool:
        """Whether it begins with a quote."""
        return self.text.startswith('"')

    @property
    def is_open(self) -> bool:
        """Whether it is a text that ends with its line, without a closing quote."""
        return self.is_text and _TEXT.fullmatch(self.text) is None

    @property
    def is_number(self) -> bool:
        """Whether it is a number in digits."""
        return self.text[:1].isdigit() or (self.text.startswith("-") and len(self.text) > 1)


def words(text: str, start: int = 0, end: int | None = None) -> Iterator[Word]:
    """The words from `start`, which is taken for the begin of a line, to before `end`; comments are left out."""
    before, first = start, True
    for found in _WORD.finditer(text, start, len(text) if end is None else end):
        at = found.start()
        gap = text[before:at]
        first = first or "\n" in gap or "\r" in gap
        before = found.end()
        if found["comment"] is None:
            yield Word(found[0], at, before, first)
            first = False


def word_at(text: str, offset: int) -> Word:
    """The word, or the single character of no word, that begins at `offset`."""
    found = _WORD.match(text, offset)
    line = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    end = found.end() if found else offset + 1
    return Word(text[offset:end], offset, end, not text[line:offset].strip())


_KINDS = {
    "NAME": "a name",
    "STRING": "a text in quotes",
    "INT": "a number",
    "SIGNED_NUMBER": "a number",
    "ORDINAL": "a count such as `2nd`",
    "$END": "the end of the file",
}
CONDITIONS = frozenset({"user", "action", "task", "context", "value", "size", "condition", "rule", "any", "all", "not"})
"""The words that begin a condition."""
# What stands for many words that are accepted together; the first that fits takes its words away.
_TOGETHER = (
    ("a value", frozenset({"STRING", "SIGNED_NUMBER", "true", "false", "null", "[", "{"})),
    ("a condition", CONDITIONS),
    ("a condition", CONDITIONS - {"all"}),
    ("`this turn`", frozenset({"this", "previous", "any", "no"})),
    ("a new item such as `rule` or `output`", ITEM_WORDS | {"$END"}),
    ("a new item such as `rule` or `output`", ITEM_WORDS),
)
_SUFFIXES = frozenset({"with", "keeping", "directly"})
_MOST = 6


@dataclass(frozen=True, kw_only=True)
class Fault:
    """The place at which a text stops being one of the language."""

    source: Source
    item: int
    """Where the item begins that cannot be read."""
    word: Word
    """What stands there; empty at the end of the file, and then behind the last word."""
    accepted: frozenset[str]
    """What could stand there: keywords and signs as written, and names of terminals in capitals."""

    @cached_property
    def before(self) -> tuple[Word, ...]:
        """The words of the item before this place."""
        return tuple(words(self.source.text, self.item, self.word.start))

    @property
    def previous(self) -> Word:
        """The word before this place; empty if there is none in the item."""
        return self.before[-1] if self.before else Word("", self.item, self.item)

    @property
    def ends(self) -> bool:
        """Whether the item ends here: the file does, or another item begins."""
        return not self.word.text or (self.word.first and self.word.text in ITEM_WORDS)

    @cached_property
    def rest(self) -> tuple[Word, ...]:
        """The words from this place to the end of the item, as far as can be told."""
        after = []
        for one in words(self.source.text, self.word.start):
            if one.first and one.text in ITEM_WORDS and one.start > self.word.start:
                break
            after.append(one)
        return tuple(after)

    @property
    def keywords(self) -> list[str]:
        """The accepted keywords, sorted."""
        return sorted(one for one in self.accepted if one.isalpha() and one.islower())

    @property
    def expected(self) -> str:
        """What could stand here, in words."""
        left = set(self.accepted)
        options: list[str] = []
        for name, group in _TOGETHER:
            if group <= left:
                left -= group
                options.append(name)
        if options or left - _SUFFIXES:
            left -= _SUFFIXES
        single = {_KINDS.get(one, f"`{one}`") for one in left}
        options = [*sorted(single, key=lambda one: (one.startswith("`"), one)), *options]
        return f"expected {alternatives(options[:_MOST])}" if options else ""


def alternatives(options: Iterable[str]) -> str:
    """A list in words: `a, b or c`."""
    *most, last = options
    return f"{', '.join(most)} or {last}" if most else last


class Slip(NamedTuple):
    """One way to go wrong, as it is told: at the unexpected word unless `start` and `end` say otherwise."""

    code: str
    message: str
    note: str = ""
    hint: str = ""
    start: int | None = None
    end: int | None = None
    also: tuple[tuple[int, int, str], ...] = ()


def unexpected(word: Word) -> str:
    """That a word is out of place, in words."""
    if not word.text:
        return "the file ends too early"
    if word.is_text:
        return f"unexpected text {shown(word.text)}"
    kind = "word " if word.is_name else "number " if word.is_number else ""
    return f"unexpected {kind}`{shown(word.text)}`"
