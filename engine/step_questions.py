"""Questions about one step, laid out by the data that answers them."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from ..rules import questions as q
from ..rules.expressions import WILDCARD, Expression, equal, key, parse
from .history import History, ended
from .steps import Step

_REMEMBERED_TEXTS = 4096
_LONGEST_REMEMBERED = 500

_Part = Callable[[Step, History, int], Iterable[int]]
"""Answers for a step, which has so many before it, one kind of questions: the atoms that hold."""


class StepQuestions:
    """Questions about one step: single actions, and `parts` for every other kind that is asked."""

    def __init__(self) -> None:
        self.actions: dict[str, int] = {}
        self.parts: list[_Part] = []
        self._runs: dict[str, list[tuple[tuple[str, ...], int]]] = {}
        self._said = Patterns()
        self._ended: list[tuple[q.TaskEnded, int]] = []
        self._digests: dict[str, list[tuple[str, int]]] = {}
        self._nothing: list[tuple[bool, int]] = []

    def place(self, question: q.Question, atom: int) -> None:
        """Lay out a question."""
        part: _Part
        match question:
            case q.HasActions(run=(action,)):
                self.actions[action] = atom
                return
            case q.HasActions(run=run):
                self._runs.setdefault(run[0], []).append((run, atom))
                part = self._of_runs
            case q.HasSaid(run=run):
                self._said.place(run, atom)
                part = self._of_said
            case q.TaskEnded():
                self._ended.append((question, atom))
                part = self._of_ended
            case q.DigestMentions(task=task, text=text):
                self._digests.setdefault(task, []).append((text, atom))
                part = self._of_digests
            case _:
                self._nothing.append((isinstance(question, q.NoActions), atom))
                return
        if part not in self.parts:
            self.parts.append(part)

    @property
    def asked(self) -> bool:
        """Whether anything is asked."""
        return bool(self.actions or self.parts or self._nothing)

    def of(self, step: Step, history: History, before: int) -> set[int]:
        """The atoms that hold of `step`, which has `before` steps before it and is over."""
        true = {self.actions[action] for action in step.actions if action in self.actions} if self.actions else set()
        for part in self.parts:
            true.update(part(step, history, before))
        for about_actions, atom in self._nothing:
            if not (step.actions if about_actions else parse(step.expressions)):
                true.add(atom)
        return true

    def _of_runs(self, step: Step, _history: History, _before: int) -> Iterable[int]:
        actions = step.actions
        return [
            atom
            for place, action in enumerate(actions)
            for run, atom in self._runs.get(action, ())
            if tuple(actions[place : place + len(run)]) == run
        ]

    def _of_said(self, step: Step, _history: History, _before: int) -> Iterable[int]:
        return self._said.of(step.expressions)

    def _of_ended(self, step: Step, history: History, before: int) -> Iterable[int]:
        return [
            atom
            for question, atom in self._ended
            if (history.in_a_row(question, step, before) if question.consecutive > 1 else ended(step, question))
        ]

    def _of_digests(self, step: Step, _history: History, _before: int) -> Iterable[int]:
        return [
            atom for digest in step.digests for text, atom in self._digests.get(digest.task, ()) if text in digest.text
        ]


class Patterns:
    """Runs of expression patterns, found by the first expression of each."""

    def __init__(self) -> None:
        self._exact: dict[str, list[tuple[tuple[Expression, ...], int]]] = {}
        self._shaped: dict[tuple[str, int], list[tuple[tuple[Expression, ...], int]]] = {}
        self._anything: list[tuple[tuple[Expression, ...], int]] = []
        self._all: list[tuple[tuple[Expression, ...], int]] = []
        self._known = lru_cache(maxsize=_REMEMBERED_TEXTS)(self._of)

    def place(self, run: tuple[Expression, ...], atom: int) -> None:
        """Lay out a run of patterns."""
        entry = (run, atom)
        self._all.append(entry)
        first = run[0]
        name = key(first)
        if name is not None:
            self._exact.setdefault(name, []).append(entry)
        elif first.name == WILDCARD:
            self._anything.append(entry)
        else:
            self._shaped.setdefault((first.name, len(first.args)), []).append(entry)

    def of(self, text: str) -> frozenset[int]:
        """The atoms of the runs that stand in the expressions of `text`; short texts are taken apart once."""
        return self._known(text) if len(text) <= _LONGEST_REMEMBERED else self._of(text)

    def _of(self, text: str) -> frozenset[int]:
        said = parse(text)
        return frozenset(
            atom
            for place, expression in enumerate(said)
            for run, atom in self._candidates(expression)
            if len(run) <= len(said) - place
            and all(equal(pattern, said[place + offset]) for offset, pattern in enumerate(run))
        )

    def _candidates(self, expression: Expression) -> Iterable[tuple[tuple[Expression, ...], int]]:
        name = key(expression)
        if name is None:
            return self._all
        shaped = self._shaped.get((expression.name, len(expression.args)), ())
        return [*self._exact.get(name, ()), *shaped, *self._anything]
