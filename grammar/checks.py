"""The checks of a text, as data with places."""

from typing import TypeVar

from ..rules.check_blocks import CheckBlock, Expectation, Fault, Given, Placed, Turn
from .documents import plain, token
from .parser import Source
from .pieces import Entries, Item, objects

P = TypeVar("P", bound=Placed)


def check_block(item: Item, source: Source) -> CheckBlock:
    """The check that an item of this kind says."""
    entries = item.entries
    line, column = source.place(item.at)
    return CheckBlock(
        name=_text(entries["name"]),
        file=source.file,
        givens=tuple(_made(Given, one, "name", source) for one in objects(entries, "givens")),
        turns=tuple(_turn(one, source) for one in objects(entries, "turns")),
        line=line,
        column=column,
    )


def _turn(entries: Entries, source: Source) -> Turn:
    line, column = _place(entries["word"], source)
    return Turn(
        typed=_text(entries["typed"]) if "typed" in entries else None,
        meant=_text(entries["meant"]) if "meant" in entries else None,
        givens=tuple(_made(Given, one, "name", source) for one in objects(entries, "givens")),
        faults=tuple(_made(Fault, one, "task", source) for one in objects(entries, "faults")),
        expectations=tuple(_made(Expectation, one, "word", source) for one in objects(entries, "expects")),
        line=line,
        column=column,
    )


def _made(model: type[P], entries: Entries, at: str, source: Source) -> P:
    """The model of what was read; it stands where its word `at` does."""
    line, column = _place(entries[at], source)
    told = {key: item for key, item in plain(entries).items() if key in model.model_fields}
    return model.model_validate({**told, "line": line, "column": column})


def _place(word: object, source: Source) -> tuple[int, int]:
    return source.place(token(word).start_pos or 0)


def _text(word: object) -> str:
    return str.__str__(token(word))
