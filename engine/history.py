"""History: what the earlier steps of a conversation amount to, kept up to date step by step."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, overload

from ..rules.authored import ErrorType
from ..rules.questions import TaskEnded
from .steps import Step

if TYPE_CHECKING:
    from .index import Index

T = TypeVar("T")

MOST_RULE_SETS = 64
"""Rule sets whose questions a history keeps answered; one that is asked again after many others is answered anew."""

MOST_RUNS = 32
"""How many ends of a task are kept at least, once rows of them are asked for; longer rows look at the steps."""

UNASKED = 100
"""After how many turns without being asked the counts of a rule set are no longer kept in a store."""

CHUNK = 100
"""How many older elements are read from a store at once."""


class Stored(Sequence[T]):
    """A sequence whose older elements are in a store, and read when they are asked for; new ones are appended.

    `read` gives the elements from a number on, up to another. A slice from the first on reads nothing.
    """

    def __init__(self, read: Callable[[int, int], Sequence[T]], older: int, recent: Iterable[T] = ()) -> None:
        self._read = read
        self._older = older
        self._recent = list(recent)
        self._chunk: Sequence[T] = ()
        self._chunk_from = 0

    def __len__(self) -> int:
        return self._older + len(self._recent)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> "list[T] | Stored[T]": ...
    def __getitem__(self, index: int | slice) -> "T | list[T] | Stored[T]":
        if isinstance(index, slice):
            start, stop, stride = index.indices(len(self))
            if start == 0 and stride == 1:
                older = min(self._older, stop)
                made = Stored(self._read, older, self._recent[: stop - older])
                # What was read goes along: whoever takes back step after step slices each time.
                made._chunk, made._chunk_from = self._chunk, self._chunk_from
                return made
            return [self[number] for number in range(start, stop, stride)]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(index)
        if number >= self._older:
            return self._recent[number - self._older]
        if not self._chunk_from <= number < self._chunk_from + len(self._chunk):
            self._chunk_from = number - number % CHUNK
            self._chunk = self._read(self._chunk_from, min(self._chunk_from + CHUNK, self._older))
        return self._chunk[number - self._chunk_from]

    @property
    def at_hand(self) -> int:
        """How many elements need no reading."""
        return len(self._recent)

    def append(self, element: T) -> None:
        """Add an element at the end."""
        self._recent.append(element)

    def trimmed(self, most: int) -> "Stored[T]":
        """The same with at most so many elements at hand; the others must be in the store."""
        older = max(self._older, len(self) - most)
        return Stored(self._read, older, self._recent[older - self._older :])


Run = tuple[int, tuple[ErrorType | None, ...]]
"""The number of a step in which a task did something, and the error types of its failures there."""


@dataclass(slots=True)
class Runs:
    """When a task did something: all of it from step `since` on, oldest first."""

    since: int = 0
    ends: list[Run] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a rule set asks about earlier steps, in the first `upto` of them: how many make each question true.

    The counts are known by the text of the question, so that rules that were edited find theirs again.
    """

    upto: int
    counts: Mapping[str, int]


class History:
    """What the earlier steps of a conversation amount to, kept up to date step by step.

    `actions` and `rules` count the steps that had an action or in which a rule succeeded. What else a rule set asks
    about earlier steps is counted by its atoms when it first asks, and carried on from there. The first `kept` steps
    are in a store as they are here.
    """

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self.steps: list[Step] | Stored[Step] = []
        self.actions: dict[str, int] = {}
        self.rules: dict[str, int] = {}
        self.kept = 0
        # By task how it ended in the first `looked_at` steps: few rules ask for it.
        self.runs: dict[str, Runs] = {}
        self.looked_at = 0
        # What was counted elsewhere, for rule sets that have not asked here.
        self.counted: Sequence[Counted] = ()
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
        number = len(self.steps) - 1
        for index in self._totals:
            self.true(index)
        self._count(step, -1)
        for index, totals in self._totals.items():
            totals.count(index, self, number, -1)
            totals.answered = -1
        self.counted = [counted for counted in self.counted if counted.upto <= number]
        if self.looked_at > number:
            self.looked_at = number
            for task in endings(step):
                if self.runs[task].ends:
                    self.runs[task].ends.pop()
        for runs in self.runs.values():
            runs.since = min(runs.since, number)
        # A new list: turns that were had before keep theirs, with what they were about.
        self.steps = self.steps[:-1]
        self.kept = min(self.kept, number)
        return step

    def _count(self, step: Step, by: int) -> None:
        for names, counts in ((step.actions, self.actions), (step.succeeded, self.rules)):
            for name in set(names):
                counts[name] = counts.get(name, 0) + by

    def true(self, index: "Index") -> frozenset[int]:
        """The atoms of `index` that the earlier steps alone make true."""
        totals = self._totals.get(index)
        if totals is None:
            totals = self._begin(index, self._found(index) if self.steps else None)
        if totals.answered != len(self.steps):
            for number in range(totals.upto, len(self.steps)):
                totals.count(index, self, number, 1)
            last = len(self.steps) - 1
            totals.true = frozenset(totals.ever).union(
                index.last.of(self.steps[last], self, last) if self.steps else ()
            )
            totals.answered = len(self.steps)
        return totals.true

    def adopt(self, index: "Index") -> None:
        """Go on with what was counted elsewhere for the questions of `index`, so that undo can count it out."""
        if self.counted and index not in self._totals and (found := self._found(index)) is not None:
            self._begin(index, found)

    def all_counted(self) -> list[Counted]:
        """What a store keeps for rule sets that ask later: those that asked here, and others that did lately."""
        found: list[Counted] = []
        for index, totals in self._totals.items():
            if index.any.asked:
                self.true(index)
                counts = {text: totals.counts.get(atom, 0) for text, atom in index.counted.items()}
                found.append(Counted(upto=totals.upto, counts=counts))
        lately = [each for each in self.counted if each.upto >= len(self.steps) - UNASKED]
        told: list[Counted] = []
        for each in sorted([*found, *lately], key=lambda each: (-len(each.counts), -each.upto)):
            if not any(each.upto <= other.upto and each.counts.keys() <= other.counts.keys() for other in told):
                told.append(each)
        return told[:MOST_RULE_SETS]

    def _begin(self, index: "Index", found: Counted | None) -> "_Totals":
        if len(self._totals) >= MOST_RULE_SETS:
            del self._totals[next(iter(self._totals))]
        totals = self._totals[index] = _Totals()
        if found is not None:
            totals.go_on(index, self, found)
        return totals

    def _found(self, index: "Index") -> Counted | None:
        """What was counted for the questions of `index`; None if one of them never was."""
        if not index.any.asked:
            return Counted(upto=len(self.steps), counts={})
        if not self.counted:
            return None
        asked = index.counted.keys()
        known = (counted for counted in self.counted if asked <= counted.counts.keys())
        return max(known, key=lambda counted: counted.upto, default=None)

    def in_a_row(self, question: TaskEnded, step: Step, before: int) -> bool:
        """Whether the task ended so the asked number of times in a row, up to `step`, the one after `before` others.

        Steps in which the task did not run are skipped; one in which it ended otherwise ends the row.
        """
        wanted = question.consecutive
        for failures in self._runs(question.task, step, before):
            if not _as_asked(failures, question):
                return False
            wanted -= 1
            if not wanted:
                return True
        return False

    def _runs(self, task: str, step: Step, before: int) -> Iterator[Sequence[ErrorType | None]]:
        """The failures in each of the steps in which the task ran, latest first."""
        self.look()
        failures = endings(step).get(task)
        if failures is not None:
            yield failures
        runs = self.runs.get(task) or Runs()
        for number, failures in reversed(runs.ends):
            if number < before:
                yield failures
        for number in range(min(runs.since, before) - 1, -1, -1):
            failures = endings(self.steps[number]).get(task)
            if failures is not None:
                yield failures

    def look(self) -> None:
        """Note how tasks ended in the steps that were not looked at so far."""
        for number in range(self.looked_at, len(self.steps)):
            for task, failures in endings(self.steps[number]).items():
                runs = self.runs.setdefault(task, Runs())
                runs.ends.append((number, failures))
                if len(runs.ends) > 2 * MOST_RUNS:
                    del runs.ends[:MOST_RUNS]
                    runs.since = runs.ends[0][0]
        self.looked_at = len(self.steps)


class _Totals:
    """What one rule set asks about earlier steps, counted for the first `upto` of them.

    `ever` holds the atoms that some step made true or that rules have fired often enough for; `true`, worked out when
    the history had `answered` steps, holds those and what its last step alone made true.
    """

    __slots__ = ("answered", "counts", "ever", "true", "upto")

    def __init__(self) -> None:
        self.upto = self.answered = 0
        self.ever: set[int] = set()
        self.true: frozenset[int] = frozenset()
        self.counts: dict[int, int] = {}

    def go_on(self, index: "Index", history: History, counted: Counted) -> None:
        """Take over what was counted elsewhere."""
        self.upto, self.answered = counted.upto, -1
        if counted.counts:
            self.counts = {atom: counted.counts[text] for text, atom in index.counted.items()}
        self.ever = {atom for atom, count in self.counts.items() if count}
        for rule, fired in history.rules.items():
            self.ever.update(atom for times, atom in index.fired.get(rule, ()) if fired >= times)

    def count(self, index: "Index", history: History, number: int, by: int) -> None:
        """Count step `number` in (`by` 1) or out (-1); the history's own counts are those after that."""
        step = history.steps[number]
        for atom in index.any.of(step, history, number):
            self.counts[atom] = count = self.counts.get(atom, 0) + by
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


def endings(step: Step) -> dict[str, tuple[ErrorType | None, ...]]:
    """For each task that did something in `step`, the error types of its failures."""
    found: dict[str, tuple[ErrorType | None, ...]] = {}
    for outcome in step.outcomes:
        if outcome.status != "skipped":
            before = found.get(outcome.task, ())
            found[outcome.task] = (*before, outcome.error_type) if outcome.status == "failed" else before
    return found


def ended(step: Step, question: TaskEnded) -> bool:
    """Whether the task ended as asked in `step`; of several steps of one id, one failure makes it failed."""
    ran = [outcome for outcome in step.outcomes if outcome.task == question.task and outcome.status != "skipped"]
    return bool(ran) and _as_asked([outcome.error_type for outcome in ran if outcome.status == "failed"], question)


def _as_asked(failures: Sequence[ErrorType | None], question: TaskEnded) -> bool:
    if question.status == "succeeded":
        return not failures
    return bool(failures) and (question.error_type is None or question.error_type in failures)
