"""The formatter: a text laid out in the one way there is, its items in the author's order, its comments kept."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from ..rules.errors import LoadError, has_errors
from .comments import found, moved, tokens
from .documents import plain
from .names import TERMINALS, value
from .parser import source
from .pieces import Item
from .recover import read_items
from .writer import block, write


def format_text(text: str | bytes, file: str = "", *, fix: bool = False) -> str:
    """The text as it should be laid out; formatted again, it stays as it is.

    Nothing is asked but that it can be parsed: rules that do not load can be formatted. With `fix`, curly quotes and
    blanks that only look like some are made plain before. Raises `LoadError` with every syntax error, and
    `AssertionError` where the layout does not read back to the same, which is a fault of ours.
    """
    read = source(text, file)
    if fix:
        read = replace(read, text=straightened(read.text))
    items, problems = read_items(read)
    if has_errors(problems):
        raise LoadError(problems)
    alone = attach_comments(items, read.text)
    made = "".join(f"#{words}\n" for words in alone) or write(items)
    # INVARIANT: what is laid out reads as the same items; a layout that does not is never handed out.
    if not read_alike(items, made):
        raise AssertionError(f"the layout of `{file}` does not read as the text does; it is left as it is")
    return made


def read_alike(items: Sequence[Item], text: str) -> bool:
    """Whether a text reads, without an error, as the very same items."""
    again, problems = read_items(source(text))
    return not has_errors(problems) and _said(again) == _said(items)


def _said(items: Sequence[Item]) -> list[tuple[str, object]]:
    return [(item.kind, plain(item.entries)) for item in items]


_ODD = re.compile(
    f"{TERMINALS['COMMENT']}|{TERMINALS['STRING']}"
    r"|[“„‟”«](?P<double>[^“”„‟«»\n\r]*)[“”„‟«»]|[‘‚‛](?P<single>[^‘’‚‛\n\r]*)[‘’‚‛]|(?P<sign>[^\x20-\x7e\t\r\n\f])"
)
_LINE_ENDS = "\u2028\u2029\x85"


def straightened(text: str) -> str:
    """The text with plain quotes and blanks, wherever it is neither in quotes nor a comment."""
    return _ODD.sub(_straight, text)


def _straight(found: re.Match[str]) -> str:
    sign = found["sign"]
    for text in (found["double"], found["single"]):
        if text is not None:
            return value(text)
    if sign is None or sign.isprintable():
        return found[0]
    if unicodedata.category(sign) == "Cf":
        return ""
    return "\n" if sign in _LINE_ENDS else " "


def attach_comments(items: Sequence[Item], text: str) -> list[str]:
    """Give each item the comments that the text has for it, in the gaps of its text as it is written anew.

    Returns the comments of a text without items.
    """
    starts = [item.at for item in items]
    by_item, alone = found(text, starts)
    for item, comments, start, end in zip(items, by_item, starts, [*starts, len(text)][1:], strict=True):
        if comments:
            item.comments = moved(comments, tokens(text[start:end]), tokens(block(item)))
    return alone
