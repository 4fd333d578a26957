"""The journal of one task: what it may read of the turn, and what it writes, kept back until it succeeds."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast, get_args

from ..rules.errors import ClosedError
from ..rules.outputs import TAKEN
from ..rules.paths import read
from ..rules.properties import Scope
from ..rules.values import JSON, freeze
from .facts import Facts
from .matcher import Answer, Matcher
from .memory import Memory
from .steps import Entry, Step
from .view import HISTORY_LIMIT, Message, view


class Journal:
    """What a task is given as its turn.

    What is read is a private copy. What is written is copied when it is written, and waits for the task's end. Writing
    raises `ValueError` for a value that is not JSON, and `ClosedError` once the task's step has ended.
    """

    __slots__ = (
        "_actions", "_answered", "_closed", "_data", "_drawn", "_expressions", "_items", "_memory", "_output",
        "_properties", "_rules", "_skipped", "_step", "_streamed", "_tell", "random", "task",
    )  # fmt: skip

    def __init__(
        self,
        memory: Memory,
        step: Step,
        task: str,
        chance: random.Random,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.task = task
        self.random = chance
        self._tell = tell
        self._streamed: list[str] = []
        self._memory = memory
        self._step = step
        self._closed = self._skipped = False
        self._answered: tuple[Matcher, Answer, Facts] | None = None
        self._actions: dict[str, None] | None = None
        self._expressions: str | None = None
        self._rules: tuple[Sequence[str], Sequence[str]] | None = None
        self._data: dict[str, Entry] = {}
        self._output: dict[str, JSON] = {}
        self._items: dict[str, list[JSON]] = {}
        self._properties: dict[str, tuple[JSON, Scope]] = {}
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
        """The properties of the conversation, with what this task has set, and without secrets."""
        return {name: freeze(value) for name, value in _properties(self).items()}

    def data(self, key: str) -> JSON:
        """The committed value stored under `key` in this turn, or what this task stored; None if there is none."""
        entry = self._data.get(key) or self._step.data.get(key)
        return freeze(entry.value) if entry is not None and entry.committed else None

    def read(self, path: str) -> JSON:
        """The value at a path such as `memory.current.httpCalls.weather.temp`, as committed; None if there is none.

        What this task has set as properties and shown is found, too. `taskErrors` is for callers and not to be found:
        what a task reads may go to a model.
        """
        return freeze(read(_model(self), path))

    def messages(self, limit: int = HISTORY_LIMIT, said: str | None = None) -> list[Message]:
        """The conversation as a model is to see it, over at most `limit` turns (-1: all).

        This turn is the last, without what was said in it so far: that is not what a model answers. `said`, if given,
        takes the place of the user's words in it.
        """
        earlier = self._memory.history.steps
        if limit >= 0:
            earlier = earlier[max(0, len(earlier) + 1 - limit) :]
        now = replace(self._step, output={}, input=self._step.input if said is None else said)
        return view([*earlier, now] if limit else [])

    @property
    def streaming(self) -> bool:
        """Whether somebody listens to the pieces of an answer while it is made."""
        return self._tell is not None

    # What a task writes

    def stream(self, piece: str) -> None:
        """Tell whoever listens a piece of an answer at once. It is kept nowhere: say the whole answer in the end."""
        _text(piece, "a piece of an answer")
        self._writing()
        if self._tell is not None and piece:
            self._streamed.append(piece)
            self._tell(piece)

    def add_actions(self, *names: str) -> None:
        """Add actions behind those that are there; one that is there already keeps its place."""
        self._writing(*names)
        if self._actions is None:
            self._actions = dict.fromkeys(self._step.actions)
        self._actions.update(dict.fromkeys(names))

    def set_actions(self, names: Sequence[str]) -> None:
        """Replace the actions of this turn; of equal names the first counts."""
        if isinstance(names, str):
            raise ValueError("the actions are a list of texts, not one text")  # noqa: TRY004 - as for all that is written
        self._writing(*names)
        self._actions = dict.fromkeys(names)

    def understand(self, expressions: str) -> None:
        """Say what the input means, as text in the expression language."""
        self._writing(expressions)
        self._expressions = expressions

    def skip(self) -> None:
        """Say that the task had nothing to do, so that its outcome counts neither as a success nor as a failure."""
        self._writing()
        self._skipped = True

    def store(self, key: str, value: object) -> None:
        """Store a value under `key` for this turn."""
        entry = Entry(value=_json(value, key))
        self._writing(key)
        self._data[key] = entry

    def say(self, item: object) -> None:
        """Add an item to the reply: a text, or a map such as `{"type": "image", "uri": …}`."""
        self._append("output", {"type": "text", "text": item, "delay": 0} if isinstance(item, str) else item)

    def offer(self, value: str, expressions: str | None = None, *, default: bool = False) -> None:
        """Add a quick reply, whose value is not blank; `expressions` is what choosing it means."""
        _text(value, "the value of a quick reply")
        if not value.strip():
            raise ValueError("the value of a quick reply is blank")
        if expressions is not None:
            _text(expressions, "what a quick reply means")
        self._append("quickReplies", {"value": value, "expressions": expressions, "isDefault": default})

    def show(self, key: str, value: object) -> None:
        """Set `key` of the conversation output, where paths find it as `memory.current.<key>`."""
        if key in TAKEN:
            raise ValueError(f"`{key}` of the conversation output has a way of its own to be written")
        shown = _json(value, key)
        self._writing(key)
        self._output[key] = shown

    def set_property(self, name: str, value: object, scope: Scope = "conversation") -> None:
        """Set a property; of scope `step` it is gone when the turn ends."""
        if scope not in get_args(Scope):
            raise ValueError(f"`{scope}` is no scope: use one of {', '.join(get_args(Scope))}")
        kept = _json(value, name)
        self._writing(name)
        self._properties[name] = (kept, scope)

    def _append(self, key: str, item: object) -> None:
        kept = _json(item, key)
        self._writing()
        self._items.setdefault(key, []).append(kept)

    def _writing(self, *names: str) -> None:
        # Asked last, so that what takes long to copy can't be written after the step has ended.
        if self._closed:
            raise ClosedError(f"task `{self.task}` writes after its step has ended")
        for name in names:
            _text(name, "a name or an expression")


# What the executor and the built-in tasks do with a journal. They are functions, so that a task that is brought from
# outside, and has the journal alone, does not come upon them.


def commit(journal: Journal) -> None:
    """Store what was written; nothing can be written any more."""
    # INVARIANT: what was written is JSON already, so that nothing here can fail half way.
    journal._closed = True
    step, memory = journal._step, journal._memory
    step.data.update(journal._data)
    step.output.update(journal._output)
    for key, items in journal._items.items():
        there = step.output.get(key)
        step.output[key] = [*there, *items] if isinstance(there, list) else [*items]
    if journal._actions is not None:
        step.set_actions(list(journal._actions))
    if journal._expressions is not None:
        step.expressions = step.output["expressions"] = journal._expressions
    if journal._rules is not None:
        step.succeeded, step.failed = journal._rules
    if journal._properties:
        memory.set_properties(journal._properties)
    if journal._drawn:
        memory.set_drawn(journal._drawn)


def roll_back(journal: Journal) -> None:
    """Store nothing; data is kept for the record, uncommitted, where it hides no committed value."""
    journal._closed = True
    # A copy: a thread that was given up may be writing still.
    for key, entry in dict(journal._data).items():
        journal._step.data.setdefault(key, Entry(value=entry.value, committed=False))


def facts_of(journal: Journal) -> Facts:
    """What rules can ask, as committed so far; its values may not be changed."""
    return journal._memory.facts()


def step_of(journal: Journal) -> Step:
    """The step as committed so far; its values may not be changed."""
    return journal._step


def read_with(journal: Journal, names: Mapping[str, JSON], path: str) -> JSON:
    """As `Journal.read`, with `names` at top level, too: what a server has just answered, say."""
    return freeze(read({**_model(journal), **names}, path))


def read_secret(journal: Journal, path: str) -> JSON:
    """As `Journal.read`, secrets included: for what is sent to a server that the author names, and for nothing else."""
    model = _model(journal)
    fresh = {name: value for name, (value, scope) in journal._properties.items() if scope == "secret"}
    model["properties"] = {**journal._memory.secrets, **_properties(journal), **fresh}
    return freeze(read(model, path))


def secrets_of(journal: Journal) -> list[JSON]:
    """The secrets of the conversation, those that this task has set included; they may not be changed."""
    fresh = [value for value, scope in journal._properties.values() if scope == "secret"]
    return [*journal._memory.secrets.values(), *fresh]


def has_property(journal: Journal, name: str) -> bool:
    """Whether there is a property or a secret of that name."""
    return any(name in names for names in (journal._properties, journal._memory.properties, journal._memory.secrets))


def has_unsaid(journal: Journal, *, kept: bool) -> bool:
    """Whether pieces of an answer were told that are not in what the task has said, if that is `kept`."""
    items = journal._items.get("output", ()) if kept else ()
    said, at = "".join([str(item.get("text", "")) for item in items if isinstance(item, Mapping)]), 0
    for piece in journal._streamed:
        at = said.find(piece, at) + len(piece)
        if at < len(piece):
            return True
    return False


def added(journal: Journal) -> Sequence[str]:
    """The actions that the task added; none for one that asked rules."""
    if journal._actions is None or journal._rules is not None:
        return ()
    return [action for action in journal._actions if action not in journal._step.actions]


def is_skipped(journal: Journal) -> bool:
    """Whether the task had nothing to do."""
    return journal._skipped


def answered(journal: Journal) -> tuple[Matcher, Answer, Facts] | None:
    """What a rules task asked, what it was answered, and on which facts."""
    return journal._answered


def conclude(
    journal: Journal, asked: tuple[Matcher, Answer, Facts], succeeded: Sequence[str], failed: Sequence[str]
) -> None:
    """Replace the names of the rules that have succeeded and failed in this turn, and say what was asked."""
    journal._writing()
    journal._answered = asked
    journal._rules = (succeeded, failed)


def render(journal: Journal, key: str, items: Sequence[Mapping[str, JSON]], *, offered: bool = False) -> None:
    """Say (or offer, as quick replies) items of an output set, and store them under `key`.

    They are JSON that nobody changes, and so are not copied.
    """
    journal._writing()
    journal._items.setdefault("quickReplies" if offered else "output", []).extend(items)
    journal._data[key] = Entry(value=items if offered else items[-1])


def rewrite(journal: Journal, key: str, items: JSON, data: Mapping[str, JSON]) -> None:
    """Replace what stands under `key` of the conversation output, and data by key, with JSON that nobody changes."""
    journal._writing()
    journal._output[key] = items
    journal._data.update({name: Entry(value=value) for name, value in data.items()})


def drawn(journal: Journal, place: str) -> tuple[int, ...]:
    """The alternatives of an output set that have been used at `place`: see `Memory`."""
    return journal._drawn.get(place, ()) or journal._memory.drawn.get(place, ())


def note_drawn(journal: Journal, place: str, used: tuple[int, ...]) -> None:
    """Remember which alternatives of an output set have been used at `place`."""
    journal._writing()
    journal._drawn[place] = used


def _properties(journal: Journal) -> dict[str, JSON]:
    """The properties without secrets, with what was set."""
    kept = dict(journal._memory.properties)
    for name, (value, scope) in journal._properties.items():
        if scope == "secret":
            kept.pop(name, None)
        else:
            kept[name] = value
    return kept


def _model(journal: Journal) -> dict[str, JSON]:
    """What paths read."""
    model = journal._memory.facts().model(task_errors=False)
    if journal._properties:
        model["properties"] = _properties(journal)
    if journal._output:
        memory = cast("Mapping[str, Mapping[str, JSON]]", model["memory"])
        model["memory"] = {**memory, "current": {**memory["current"], **journal._output}}
    return model


def _text(value: object, what: str) -> None:
    if type(value) is not str:
        raise ValueError(f"{what} is a text, not {type(value).__name__}")


def _json(value: object, name: str) -> JSON:
    try:
        return freeze(value)
    except ValueError as error:
        raise ValueError(f"`{name}` cannot be stored: {error}") from None
