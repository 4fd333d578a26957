"""The checks of a text, as data with places."""

from collections.abc import Sequence

from ..rules.check_blocks import CheckBlock, Expectation, Fault, Given, Turn
from .documents import plain, token
from .parser import Source
from .pieces import Entries, Item


def check_block(item: Item, source: Source) -> CheckBlock:
    """The check that an item of this kind says."""
    entries = item.entries
    line, column = source.place(item.at)
    return CheckBlock(
        name=_text(entries["name"]),
        file=source.file,
        givens=tuple(_given(one, source) for one in _objects(entries, "givens")),
        turns=tuple(_turn(one, source) for one in _objects(entries, "turns")),
        line=line,
        column=column,
    )


def _turn(entries: Entries, source: Source) -> Turn:
    line, column = _place(entries["word"], source)
    return Turn(
        typed=_text(entries["typed"]) if "typed" in entries else None,
        meant=_text(entries["meant"]) if "meant" in entries else None,
        givens=tuple(_given(one, source) for one in _objects(entries, "givens")),
        faults=tuple(_fault(one, source) for one in _objects(entries, "faults")),
        expectations=tuple(_expectation(one, source) for one in _objects(entries, "expects")),
        line=line,
        column=column,
    )


def _given(entries: Entries, source: Source) -> Given:
    line, column = _place(entries["name"], source)
    rest = {key: item for key, item in plain(entries).items() if key != "given"}
    return Given.model_validate({"kind": entries["given"], **rest, "line": line, "column": column})


def _fault(entries: Entries, source: Source) -> Fault:
    line, column = _place(entries["task"], source)
    rest = {key: item for key, item in plain(entries).items() if key != "fault"}
    return Fault.model_validate({"kind": entries["fault"], **rest, "line": line, "column": column})


def _expectation(entries: Entries, source: Source) -> Expectation:
    line, column = _place(entries["word"], source)
    rest = {key: item for key, item in plain(entries).items() if key in ("wanted", "watcher")}
    return Expectation.model_validate({"kind": entries["expect"], **rest, "line": line, "column": column})


def _objects(entries: Entries, key: str) -> Sequence[Entries]:
    return entries.get(key) or ()  # type: ignore[return-value]


def _place(word: object, source: Source) -> tuple[int, int]:
    return source.place(token(word).start_pos or 0)


def _text(word: object) -> str:
    return str.__str__(token(word))
