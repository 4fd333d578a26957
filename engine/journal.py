"""The journal of one task: what it may read of the turn, and what it writes, kept back until it succeeds."""

import random
from collections.abc import Iterable, Mapping, Sequence

from ..rules.errors import ClosedError
from ..rules.paths import read
from ..rules.values import JSON, freeze
from .facts import Facts
from .matcher import Answer, Matcher
from .memory import Memory, Scope
from .steps import Entry, Step
from .view import HISTORY_LIMIT, Message, view


class Journal:
    """What a task is given as its turn.

    What is read is a private copy. What is written is copied when it is written, and waits for the task's end. Writing
    raises `ValueError` for a value that is not JSON, and `ClosedError` once the task's step has ended.
    """

    __slots__ = (
        "_actions", "_closed", "_data", "_drawn", "_expressions", "_items", "_memory", "_output", "_properties",
        "_rules", "_scopes", "_step", "answered", "random", "skipped", "task",
    )  # fmt: skip

    def __init__(self, memory: Memory, step: Step, task: str, chance: random.Random) -> None:
        self.task = task
        self.random = chance
        self.answered: tuple[Matcher, Answer, Facts] | None = None
        """What a rules task asked, what it was answered, and on which facts."""
        self.skipped = False
        """Whether the task had nothing to do."""
        self._memory = memory
        self._step = step
        self._closed = False
        self._actions: list[str] | None = None
        self._expressions: str | None = None
        self._rules: tuple[list[str], list[str]] | None = None
        self._data: dict[str, Entry] = {}
        self._output: dict[str, JSON] = {}
        self._items: dict[str, list[JSON]] = {}
        self._properties: dict[str, JSON] = {}
        self._scopes: dict[str, Scope] = {}
        self._drawn: dict[str, tuple[int, ...]] = {}

    # What a task reads

    @property
    def input(self) -> str:
        """What the user said; empty in the opening turn."""
        return self._step.input

    @property
    def actions(self) -> list[str]:
        """The actions of this turn so far, those that this task added included."""
        return list(self._step.actions if self._actions is None else self._actions)

    @property
    def expressions(self) -> str:
        """What the parser made of the input, as text in the expression language."""
        return self._step.expressions if self._expressions is None else self._expressions

    @property
    def context(self) -> dict[str, JSON]:
        """The values that the caller gave for this turn, by key."""
        return {key: freeze(entry.value) for key, entry in self._step.context.items()}

    @property
    def properties(self) -> dict[str, JSON]:
        """The properties of the conversation, with what this task has set."""
        return {name: freeze(value) for name, value in {**self._memory.properties, **self._properties}.items()}

    def data(self, key: str) -> JSON:
        """The committed value stored under `key` in this turn, or what this task stored; None if there is none."""
        entry = self._data.get(key) or self._step.data.get(key)
        return freeze(entry.value) if entry is not None and entry.committed else None

    def read(self, path: str) -> JSON:
        """The value at a path such as `memory.current.httpCalls.weather.temp`, as committed; None if there is none.

        `taskErrors` is for callers and not to be found: what a task reads may go to a model.
        """
        return freeze(read(self.facts.model(task_errors=False), path))

    def messages(self, limit: int = HISTORY_LIMIT) -> list[Message]:
        """The conversation as a model is to see it, this turn last, over at most `limit` turns (-1: all)."""
        earlier = self._memory.history.steps
        if limit >= 0:
            earlier = earlier[max(0, len(earlier) + 1 - limit) :]
        return view([*earlier, self._step] if limit else [])

    @property
    def facts(self) -> Facts:
        """What rules can ask, as committed so far. For tasks that decide rules; its values may not be changed."""
        return self._memory.facts()

    @property
    def step(self) -> Step:
        """The step as committed so far. Its values may not be changed."""
        return self._step

    @property
    def drawn(self) -> Mapping[str, tuple[int, ...]]:
        """The alternatives of output sets that were used already: see `Memory`."""
        return {**self._memory.drawn, **self._drawn} if self._drawn else self._memory.drawn

    # What a task writes

    def add_actions(self, *names: str) -> None:
        """Add actions behind those that are there; one that is there already keeps its place."""
        self.set_actions([*self.actions, *names])

    def set_actions(self, names: Iterable[str]) -> None:
        """Replace the actions of this turn; of equal names the first counts."""
        self._write()
        kept = list(dict.fromkeys(names))
        if not all(type(name) is str for name in kept):
            raise ValueError("an action is a text")
        self._actions = kept

    def understand(self, expressions: str) -> None:
        """Say what the input means, as text in the expression language."""
        self._write()
        self._expressions = str(expressions)

    def conclude(self, succeeded: Sequence[str], failed: Sequence[str]) -> None:
        """Replace the names of the rules that have succeeded and failed in this turn."""
        self._write()
        self._rules = (list(succeeded), list(failed))

    def skip(self) -> None:
        """Say that the task had nothing to do, so that its outcome counts neither as a success nor as a failure."""
        self._write()
        self.skipped = True

    def store(self, key: str, value: object) -> None:
        """Store a value under `key` for this turn."""
        self._write()
        self._data[key] = Entry(value=_json(value, key))

    def say(self, item: object) -> None:
        """Add an item to the reply: a text, or a map such as `{"type": "image", "uri": …}`."""
        self._append("output", {"type": "text", "text": item, "delay": 0} if isinstance(item, str) else item)

    def offer(self, value: str, expressions: str | None = None, *, default: bool = False) -> None:
        """Add a quick reply; `expressions` is what choosing it means."""
        self._append("quickReplies", {"value": value, "expressions": expressions, "isDefault": default})

    def show(self, key: str, value: object) -> None:
        """Set `key` of the conversation output, where paths find it as `memory.current.<key>`."""
        self._write()
        if key in _RESERVED:
            raise ValueError(f"`{key}` of the conversation output has a way of its own to be written")
        self._output[key] = _json(value, key)

    def set_property(self, name: str, value: object, scope: Scope = "conversation") -> None:
        """Set a property; of scope `step` it is gone when the turn ends."""
        self._write()
        self._properties[name] = _json(value, name)
        self._scopes[name] = scope

    def render(self, key: str, items: Sequence[Mapping[str, JSON]], *, offered: bool = False) -> None:
        """Say (or offer, as quick replies) items of an output set, and store them under `key`.

        They are JSON that nobody changes, and so are not copied.
        """
        self._write()
        self._items.setdefault("quickReplies" if offered else "output", []).extend(items)
        self._data[key] = Entry(value=items if offered else items[-1])

    def draw(self, place: str, used: tuple[int, ...]) -> None:
        """Remember which alternatives of an output set have been used at `place`."""
        self._write()
        self._drawn[place] = used

    def _append(self, key: str, item: object) -> None:
        self._write()
        self._items.setdefault(key, []).append(_json(item, key))

    def _write(self) -> None:
        if self._closed:
            raise ClosedError(f"task `{self.task}` writes after its step has ended")

    # What the executor does

    def commit(self) -> None:
        """Store what was written; nothing can be written any more."""
        # INVARIANT: what was written is JSON already, so that nothing here can fail half way.
        self._closed = True
        step, memory = self._step, self._memory
        step.data.update(self._data)
        step.output.update(self._output)
        for key, items in self._items.items():
            there = step.output.get(key)
            step.output[key] = [*there, *items] if isinstance(there, list) else items
        if self._actions is not None:
            step.set_actions(self._actions)
        if self._expressions is not None:
            step.expressions = step.output["expressions"] = self._expressions
        if self._rules is not None:
            step.succeeded, step.failed = self._rules
        if self._properties:
            memory.set_properties(self._properties, self._scopes)
        if self._drawn:
            memory.drawn = {**memory.drawn, **self._drawn}

    def roll_back(self) -> None:
        """Store nothing; data is kept for the record, uncommitted, where it hides no committed value."""
        self._closed = True
        for key, entry in self._data.items():
            entry.committed = False
            self._step.data.setdefault(key, entry)


_RESERVED = frozenset({"actions", "expressions", "input", "context", "taskErrors", "output", "quickReplies"})


def _json(value: object, name: str) -> JSON:
    try:
        return freeze(value)
    except ValueError as error:
        raise ValueError(f"`{name}` can't be stored: {error}") from None
