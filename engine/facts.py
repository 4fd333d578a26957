"""Facts: all that rules can ask of a conversation, and what its earlier steps amount to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from ..rules.agents import Surroundings
from ..rules.questions import TaskEnded
from ..rules.values import JSON
from .steps import Step

if TYPE_CHECKING:
    from .index import Index


@dataclass(slots=True)
class Facts:
    """What rules can ask in a turn: the step of this turn, what came before, properties, and the surroundings."""

    step: Step
    history: "History"
    properties: Mapping[str, JSON] = field(default_factory=dict)
    surroundings: Surroundings = field(default_factory=Surroundings)

    @classmethod
    def of(cls, steps: Sequence[Step], properties: Mapping[str, JSON] | None = None) -> "Facts":
        """The facts of a conversation given as its steps, oldest first; the last one is this turn."""
        return cls(steps[-1], History(steps[:-1]), properties or {})

    def snapshot(self) -> "Facts":
        """These facts, as they stay while the turn goes on; the history changes between turns only and is shared."""
        properties = dict(self.properties) if self.properties else self.properties
        return Facts(self.step.snapshot(), self.history, properties, self.surroundings)

    def model(self, *, task_errors: bool = True) -> dict[str, JSON]:
        """What value paths read: the context, its keys at top level too, properties, and the memory.

        Without `task_errors`, the outputs in it lack what was told to the caller only: so it is for tasks, whose text
        may go to a model.
        """
        shown = _whole if task_errors else _without_task_errors
        context = {key: entry.value for key, entry in self.step.context.items()}
        model: dict[str, JSON] = dict(context)
        if context:
            model["context"] = context
        if self.properties:
            model["properties"] = self.properties
        last = self.history.last
        model["memory"] = {
            "current": shown(self.step),
            "last": shown(last) if last is not None else {},
            "past": _Past(self.history.steps, self.step, shown),
        }
        return model


class _Past(Sequence[JSON]):
    """The outputs of all steps but the very first, without a list being made of them in every turn."""

    def __init__(self, earlier: Sequence[Step], step: Step, shown: Callable[[Step], Mapping[str, JSON]]) -> None:
        self._earlier = earlier
        self._step = step
        self._shown = shown

    def __len__(self) -> int:
        return len(self._earlier)

    def __getitem__(self, index: int) -> JSON:  # type: ignore[override]  # paths read one element at a time
        if not 0 <= index < len(self._earlier):
            raise IndexError(index)
        return self._shown(self._earlier[index + 1] if index + 1 < len(self._earlier) else self._step)


def _whole(step: Step) -> Mapping[str, JSON]:
    return step.output


def _without_task_errors(step: Step) -> Mapping[str, JSON]:
    return {key: value for key, value in step.output.items() if key != "taskErrors"}


MOST_RULE_SETS = 64
"""Rule sets whose questions a history keeps answered; one that is asked again after many others is answered anew."""


class History:
    """What the earlier steps of a conversation amount to, kept up to date step by step.

    `actions` and `rules` count the steps that had an action or in which a rule succeeded. What else a rule set asks
    about earlier steps is counted by its atoms when it first asks, and carried on from there.
    """

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self.steps: list[Step] = []
        self.actions: dict[str, int] = {}
        self.rules: dict[str, int] = {}
        # By task the steps in which it did something, for the first `_looked_at` steps: few rules ask for it.
        self._ran: dict[str, list[int]] = {}
        self._looked_at = 0
        self._totals: dict[Index, _Totals] = {}
        for step in steps:
            self.add(step)

    @property
    def last(self) -> Step | None:
        """The step before this turn's."""
        return self.steps[-1] if self.steps else None

    def add(self, step: Step) -> None:
        """Take in a step that has ended."""
        self.steps.append(step)
        self._count(step, 1)

    def drop(self) -> Step:
        """Take the last step out again, as undo does."""
        step = self.steps[-1]
        for index in self._totals:
            self.true(index)
        self._count(step, -1)
        for index, totals in self._totals.items():
            totals.count(index, self, len(self.steps) - 1, -1)
            totals.answered = -1
        if self._looked_at == len(self.steps):
            self._looked_at -= 1
            for task in _ran(step):
                self._ran[task].pop()
        # A new list: turns that were had before keep theirs, with what they were about.
        self.steps = self.steps[:-1]
        return step

    def _count(self, step: Step, by: int) -> None:
        for names, counts in ((step.actions, self.actions), (step.succeeded, self.rules)):
            for name in set(names):
                counts[name] = counts.get(name, 0) + by

    def true(self, index: "Index") -> frozenset[int]:
        """The atoms of `index` that the earlier steps alone make true."""
        totals = self._totals.get(index)
        if totals is None:
            if len(self._totals) >= MOST_RULE_SETS:
                del self._totals[next(iter(self._totals))]
            totals = self._totals[index] = _Totals()
        if totals.answered != len(self.steps):
            for number in range(totals.upto, len(self.steps)):
                totals.count(index, self, number, 1)
            last = len(self.steps) - 1
            totals.true = frozenset(totals.ever).union(
                index.last.of(self.steps[last], self, last) if self.steps else ()
            )
            totals.answered = len(self.steps)
        return totals.true

    def in_a_row(self, question: TaskEnded, step: Step, before: int) -> bool:
        """Whether the task ended so the asked number of times in a row, up to `step`, the one after `before` others.

        Steps in which the task did not run are skipped; one in which it ended otherwise ends the row.
        """
        row = list(islice(self._runs(question.task, step, before), question.consecutive))
        return len(row) == question.consecutive and all(ended(run, question) for run in row)

    def _runs(self, task: str, step: Step, before: int) -> Iterator[Step]:
        """The steps in which the task ran, latest first."""
        for number in range(self._looked_at, len(self.steps)):
            for ran in _ran(self.steps[number]):
                self._ran.setdefault(ran, []).append(number)
        self._looked_at = len(self.steps)
        if task in _ran(step):
            yield step
        for number in reversed(self._ran.get(task, ())):
            if number < before:
                yield self.steps[number]


class _Totals:
    """What one rule set asks about earlier steps, counted for the first `upto` of them.

    `ever` holds the atoms that some step made true or that rules have fired often enough for; `true`, worked out when
    the history had `answered` steps, holds those and what its last step alone made true.
    """

    __slots__ = ("_counts", "answered", "ever", "true", "upto")

    def __init__(self) -> None:
        self.upto = self.answered = 0
        self.ever: set[int] = set()
        self.true: frozenset[int] = frozenset()
        self._counts: dict[int, int] = {}

    def count(self, index: "Index", history: History, number: int, by: int) -> None:
        """Count step `number` in (`by` 1) or out (-1); the history's own counts are those after that."""
        step = history.steps[number]
        for atom in index.any.of(step, history, number):
            self._counts[atom] = count = self._counts.get(atom, 0) + by
            self._keep(atom, count > 0)
        for rule in step.succeeded:
            for times, atom in index.fired.get(rule, ()):
                self._keep(atom, history.rules[rule] >= times)
        self.upto += by

    def _keep(self, atom: int, holds: bool) -> None:
        if holds:
            self.ever.add(atom)
        else:
            self.ever.discard(atom)


def _ran(step: Step) -> set[str]:
    """The tasks that did something in `step`."""
    return {outcome.task for outcome in step.outcomes if outcome.status != "skipped"}


def ended(step: Step, question: TaskEnded) -> bool:
    """Whether the task ended as asked in `step`; of several steps of one id, one failure makes it failed."""
    failures = [o.error_type for o in step.outcomes if o.task == question.task and o.status == "failed"]
    if question.status == "succeeded":
        return not failures and question.task in _ran(step)
    return bool(failures) and (question.error_type is None or question.error_type in failures)
