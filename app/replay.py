"""`turnout replay`: recorded conversations against changed rules, and the turns that would have gone another way."""

import asyncio
import multiprocessing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Self

from rich.progress import track
from rich.text import Text

from ..engine.stores import open_store
from ..rules.bundles import is_plain
from ..rules.errors import UsageError
from ..rules.findings import listed, shown
from .agents import definition_at, has_steps
from .printing import plain, print_json, print_refusal, printer
from .replaying import Changed, Told, changed, items_of, told_data

_FEW = 50
"""So many conversations are not worth another process."""

Found = tuple[str, list[Changed] | None]
"""A conversation, and its turns that would have gone another way; None where it cannot be read."""


def replay(store: str, rules: Path, *, agent: str | None, as_json: bool) -> int:
    """Print the turns in a store that the rules in a folder, zip or text would change, by the rule responsible.

    0, or 1 where a conversation cannot be read.

    `agent` says whose conversations are looked at. Raises `LoadError`, and `UsageError` for what cannot be.
    """
    if "://" not in store and not is_plain(Path(store)):
        raise UsageError(f"there is no store `{store}`", "name the file that `turnout serve` keeps conversations in")
    definition_at(rules)  # what is wrong with it is told before anything is opened
    ids = asyncio.run(_ids(store, agent))
    found = list(_looked_through(store, rules, ids))
    touched = [(each, turns) for each, turns in found if turns]
    unread = [each for each, turns in found if turns is None]
    if as_json:
        data = [_data(each, turn) for each, turns in touched for turn in turns]
        print_json({"conversations": len(ids), "changed": data, "unread": unread})
    else:
        _print(len(ids), touched)
    for each in unread:
        print_refusal(f"conversation `{each}` cannot be read: its record is damaged")
    return int(bool(unread))


async def _ids(where: str, agent: str | None) -> list[str]:
    """The conversations of one agent, oldest first."""
    store = open_store(where)
    try:
        heads = await store.heads()
    finally:
        await store.close()
    names = sorted({head.agent for head in heads})
    if agent is None and len(names) > 1:
        raise UsageError(f"the store has conversations of {listed(names)}", "say whose with `--agent`")
    if agent is not None and agent not in names:
        known = f"name one of {listed(names, 'or')}" if names else "it is empty"
        raise UsageError(f"the store has no conversation of agent {shown(agent)}", known)
    return [head.id for head in heads if agent in (None, head.agent)]


def _looked_through(store: str, rules: Path, ids: Sequence[str]) -> Iterator[Found]:
    """What is found in each conversation, in order, with a bar that shows how far it is."""
    console = printer(talk=True)

    def shown(found: Iterable[Found]) -> Iterable[Found]:
        return track(found, "replaying", len(ids), console=console, transient=True, disable=not console.is_terminal)

    if len(ids) <= _FEW:
        with _Reader(store, rules) as reader:
            yield from shown(map(reader.found, ids))
        return
    # Not forked: a store has threads of its own, and the rule engine memory.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=context, initializer=_begin, initargs=(store, rules)) as pool:
        yield from shown(pool.map(_found, ids, chunksize=10))


class _Reader:
    """Reads conversations of a store, and replays them with the rules at a path."""

    def __init__(self, store: str, rules: Path) -> None:
        self._store = open_store(store)
        self._definition = definition_at(rules)
        self._as_recorded = not has_steps(rules)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run(self._store.close())

    def found(self, id: str) -> Found:
        """What is found in one conversation."""
        try:
            head, memory = asyncio.run(self._store.read(id))
            memory.surroundings = replace(self._definition.surroundings, environment=head.environment)
            return id, list(changed(self._definition, memory, as_recorded=self._as_recorded))
        except Exception:  # noqa: BLE001 - whatever is wrong with one record, the others are looked at
            return id, None


_readers: list[_Reader] = []
"""The reader of a process that does nothing else."""


def _begin(store: str, rules: Path) -> None:
    _readers.append(_Reader(store, rules))


def _found(id: str) -> Found:
    return _readers[0].found(id)


def _data(id: str, turn: Changed) -> Mapping[str, object]:
    return {
        "conversation": id,
        "turn": turn.number,
        "input": turn.input,
        "rules": list(turn.rules),
        "before": told_data(turn.before),
        "after": told_data(turn.after),
    }


def _print(conversations: int, found: Sequence[tuple[str, list[Changed]]]) -> None:
    console = printer()
    groups: dict[tuple[str, ...], list[tuple[str, Changed]]] = {}
    for conversation, turns in found:
        for turn in turns:
            groups.setdefault(turn.rules, []).append((conversation, turn))
    for rules, members in sorted(groups.items(), key=lambda group: -len(group[1])):
        words = f"rule {listed(rules)}" if rules else "no rule, but outputs"
        console.print(Text(f"{words}: {_times(len(members), 'turn')}", "bold"), soft_wrap=True)
        for conversation, turn in members:
            said = plain(turn.input) or "(the opening turn)"
            console.print(Text(f"  {conversation} turn {turn.number + 1}: {said}"), soft_wrap=True)
            for label, told in (("was", turn.before), ("now", turn.after)):
                console.print(Text(f"    {label}  {_in_words(told)}"), soft_wrap=True)
    total = sum(len(turns) for _, turns in found)
    summary = f"{_times(total, 'turn')} of {_times(conversations, 'conversation')} would change"
    printer(talk=True).print(summary, soft_wrap=True)


def _in_words(told: Told) -> str:
    said = [str(item.get("text") or item.get("value") or item) for item in items_of(told) if isinstance(item, Mapping)]
    return plain(f"{told.state} [{', '.join(told.actions)}] {' | '.join(said) or '(nothing)'}")


def _times(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
