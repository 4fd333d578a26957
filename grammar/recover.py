"""Reading all items of a text in spite of errors: each error is told, and reading goes on at the next item."""

from functools import cache
from typing import cast

import regex
from lark import Lark, Token, UnexpectedInput, UnexpectedToken
from lark.lexer import PatternStr
from lark.parsers.lalr_interactive_parser import InteractiveParser
from lark.utils import TextSlice

from ..rules.errors import Problem
from .build import Builder, Item
from .faults import Fault, Word, word_at, words
from .parser import ITEM_WORDS, RESERVED, RejectedError, Source, parser
from .render import rejected
from .slips import explained

MOST_ERRORS = 100
"""Reading one text stops after so many errors."""


def read_items(read: Source) -> tuple[list[Item], list[Problem]]:
    """The items of a text, and a problem for each item that cannot be read, in reading order."""
    lark = _lark()
    items: list[Item] = []
    problems: list[Problem] = []
    at: int | None = 0
    while at is not None:
        if len(problems) == MOST_ERRORS:
            problems.append(_too_many(read, at))
            break
        reading = lark.parse_interactive(TextSlice(read.text, at, len(read.text)))
        try:
            items += reading.resume_parse()  # type: ignore[no-untyped-call]  # Lark has no types here
            break
        except UnexpectedInput as error:
            fault = _fault(lark, reading, read, error)
            problems.append(explained(fault))
            between = fault.word.first
            item, place = fault.item, fault.word.start
        except RejectedError as error:
            place = error.token.start_pos or 0
            item = _begin(reading, place)
            problems.append(rejected(error, read))
            between = False
        items += _finished(reading, between=between)
        at = next_item(read.text, item, place)
    return items, problems


@cache
def _lark() -> Lark:
    return parser(Builder())


def _finished(reading: InteractiveParser, *, between: bool) -> list[Item]:
    """The items that were complete when reading stopped, the last one only if it stopped `between` items."""
    stopped = reading.parser_state
    for depth in (len(stopped.value_stack), 1) if between else (1,):
        # INVARIANT: the items read so far are one value, at the bottom of the stack.
        tried = reading.copy(deepcopy_values=False)  # type: ignore[no-untyped-call]  # Lark has no types here
        del tried.parser_state.value_stack[depth:], tried.parser_state.state_stack[depth + 1 :]
        try:
            return cast("list[Item]", tried.feed_eof())
        except (UnexpectedToken, RejectedError):
            continue
    return []


def _fault(lark: Lark, reading: InteractiveParser, read: Source, error: UnexpectedInput) -> Fault:
    spelling = {one.name: one.pattern.value for one in lark.terminals if isinstance(one.pattern, PatternStr)}
    # For a bad character Lark's own set would be that of all states: the parser's state is asked instead.
    terminals = reading.accepts()  # type: ignore[no-untyped-call]  # Lark has no types here
    accepted = frozenset(spelling.get(name, name) for name in terminals)
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        # Lark gives the place of the last token; the fault lies behind it.
        item = _begin(reading, 0)
        end = max((one.end for one in words(read.text, item)), default=item)
        word = Word("", end, end)
    else:
        word = word_at(read.text, error.pos_in_stream or 0)
        item = _begin(reading, word.start)
    return Fault(source=read, item=item, word=word, accepted=accepted)


def _begin(reading: InteractiveParser, otherwise: int) -> int:
    """Where the item begins in which reading stopped, if it has read the item's word."""
    for value in reading.parser_state.value_stack[:2]:
        if isinstance(value, Token) and value.type.lower() in ITEM_WORDS and value.start_pos is not None:
            return value.start_pos
    return otherwise


def _too_many(read: Source, at: int) -> Problem:
    line, column = read.place(at)
    message = f"reading stopped after {MOST_ERRORS} errors"
    return Problem(code="R013", message=message, file=read.file, line=line, column=column, severity="note")


# Words after which an item word on a new line may go on with the item: `when` + `rule "A" never fired`.
_JOINING = frozenset({"when", "and", "or", "not", "then", "action", "steps", "expect", "(", ","})
# An item word with this behind it begins an item even so: a rule may lack the action behind its `then`.
_HEAD = regex.compile(
    rf"""(?V1)(?:
        rule GAP "(?:[^"\\\n\r]|\\[^\n\r])*" GAP (?:when|with)\b
      | (?:group|check) GAP "
      | (?:output|set) GAP (?!(?:within|{"|".join(sorted(RESERVED))})\b)[^\W\d]
    )""".replace("GAP", r"(?:\s|\#[^\n\r]*)*"),
    regex.VERBOSE,
)


def next_item(text: str, item: int, place: int) -> int | None:
    """Where the next item begins, at or behind `place` and behind the begin of this `item`; None at the end.

    It is an item word, the first on its line, that does not go on with what stands before it.
    """
    before = ""
    for word in words(text, item):
        head = word.first and word.text in ITEM_WORDS and word.start >= place and word.start > item
        goes_on = before in _JOINING or (word.text == "output" and text.startswith("steps", item))
        if head and (not goes_on or _HEAD.match(text, word.start)):
            return word.start
        before = word.text
    return None
