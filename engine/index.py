"""From what a turn holds to the atoms that are true: each datum is looked up, no question is gone through."""

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from ..rules import paths
from ..rules import questions as q
from ..rules.expressions import WILDCARD, Expression, equal, key, parse
from ..rules.jsonpaths import ObjectPath, compile_path
from ..rules.values import JSON
from .facts import Facts, History, ended
from .steps import Step

_REMEMBERED_TEXTS = 4096
_LONGEST_REMEMBERED = 500


class Index:
    """The questions of a rule set, laid out by the data that answers them.

    `any` and `last` hold the questions about earlier steps, `fired` the thresholds of rule counts: the history asks
    them when a step is over, so that a turn only looks at its own data.
    """

    def __init__(self, questions: Sequence[q.Question]) -> None:
        self.any = _StepQuestions()
        self.last = _StepQuestions()
        self.fired: dict[str, list[tuple[int, int]]] = {}
        self._current = _StepQuestions()
        self._singles = self._current.actions
        self._some_actions = self._something_said = 0
        self._texts: dict[str, dict[str, int]] = {}
        self._says: dict[str, _Patterns] = {}
        self._has: dict[str, list[tuple[ObjectPath, str | None, int]]] = {}
        self._values = _ValueQuestions()
        self._attached: dict[str, list[tuple[int, int]]] = {}
        self._skills: dict[str, list[tuple[int, int]]] = {}
        self._environments: dict[str, int] = {}
        self._tags: dict[str, int] = {}
        for atom, question in enumerate(questions, 1):
            self._place(question, atom)
        self._sections = self._needed()

    def _place(self, question: q.Question, atom: int) -> None:
        match question:
            case q.HasActions(when=when) | q.HasSaid(when=when) | q.TaskEnded(when=when) | q.DigestMentions(when=when):
                {"current": self._current, "last": self.last, "any": self.any}[when].place(question, atom)
            case q.NoActions(when=when) | q.NothingSaid(when=when):
                (self.last if when == "last" else self.any).place(question, atom)
            case q.SomeActions():
                self._some_actions = atom
            case q.SomethingSaid():
                self._something_said = atom
            case q.RuleFired(rule=rule, times=times):
                self.fired.setdefault(rule, []).append((times, atom))
            case q.ContextText(key=name, text=text):
                self._texts.setdefault(name, {})[text] = atom
            case q.ContextSays(key=name, run=run):
                self._says.setdefault(name, _Patterns()).place(run, atom)
            case q.ContextHas(key=name, path=path, text=wanted):
                self._has.setdefault(name, []).append((compile_path(path), wanted, atom))
            case q.Attached(mime_type=mime_type, least=least):
                self._attached.setdefault(mime_type, []).append((least, atom))
            case q.HasSkill(skill=skill, least=least):
                self._skills.setdefault(skill, []).append((least, atom))
            case q.InEnvironment(name=name):
                self._environments[name] = atom
            case q.HasTag(name=name):
                self._tags[name] = atom
            case _:
                self._values.place(question, atom)

    def _needed(self) -> list[Callable[[Facts, list[int]], None]]:
        """What a turn has to look at beside its actions: no section without a question in it."""
        sections: list[tuple[object, Callable[[Facts, list[int]], None]]] = [
            (self._texts, self._add_texts),
            (self._says or self._has, self._add_context),
            (self.fired, self._add_fired),
            (self._some_actions or self._something_said, self._add_something),
            (self._current.parts, self._add_current),
            (self.any.asked, self._add_any),
            (self._values.asked, self._add_values),
            (self._attached, self._add_attached),
            (self._skills or self._environments or self._tags, self._add_surroundings),
        ]
        return [section for questions, section in sections if questions]

    def true(self, facts: Facts) -> frozenset[int]:
        """The atoms that hold in `facts`."""
        singles = self._singles
        true: list[int] = []
        for action in facts.step.actions:
            if action in singles:
                true.append(singles[action])  # noqa: PERF401 - a comprehension is a call in Python 3.11
        for section in self._sections:
            section(facts, true)
        return facts.history.true(self).union(true)

    def _add_current(self, facts: Facts, true: list[int]) -> None:
        self._add_parts(self._current, facts, true)

    def _add_any(self, facts: Facts, true: list[int]) -> None:
        # "Nothing in some step" is about the steps before this one only: see `questions`.
        actions = self.any.actions
        true += [actions[action] for action in facts.step.actions if action in actions]
        self._add_parts(self.any, facts, true)

    def _add_parts(self, questions: "_StepQuestions", facts: Facts, true: list[int]) -> None:
        before = len(facts.history.steps)
        for part in questions.parts:
            true += part(facts.step, facts.history, before)

    def _add_something(self, facts: Facts, true: list[int]) -> None:
        if self._some_actions and facts.step.actions:
            true.append(self._some_actions)
        if self._something_said and parse(facts.step.expressions):
            true.append(self._something_said)

    def _add_fired(self, facts: Facts, true: list[int]) -> None:
        for rule in facts.step.succeeded:
            count = facts.history.rules.get(rule, 0) + 1
            for times, atom in self.fired.get(rule, ()):
                if times == count:
                    true.append(atom)

    def _add_texts(self, facts: Facts, true: list[int]) -> None:
        asked = self._texts
        for name, (kind, value) in facts.step.context.items():
            if name in asked and kind == "string" and value is not None:
                text = value if type(value) is str else paths.text(value)
                if text in asked[name]:
                    true.append(asked[name][text])

    def _add_context(self, facts: Facts, true: list[int]) -> None:
        for name, (kind, value) in facts.step.context.items():
            if value is None:
                continue
            if kind == "expressions" and name in self._says:
                true += self._says[name].of(paths.text(value))
            elif kind == "object":
                asked = ((path.read(value), wanted, atom) for path, wanted, atom in self._has.get(name, ()))
                true += [
                    atom
                    for found, wanted, atom in asked
                    if found is not None and (wanted is None or paths.text(found) == wanted)
                ]

    def _add_values(self, facts: Facts, true: list[int]) -> None:
        self._values.add(facts.model(), true)

    def _add_attached(self, facts: Facts, true: list[int]) -> None:
        for mime_type, thresholds in self._attached.items():
            _reached(thresholds, sum(mime_matches(mime_type, has) for has in facts.step.attachments), true)

    def _add_surroundings(self, facts: Facts, true: list[int]) -> None:
        surroundings = facts.surroundings
        if atom := self._environments.get(surroundings.environment.strip().lower()):
            true.append(atom)
        tags = {tag.strip().lower() for tag in surroundings.tags}
        true.extend(atom for tag, atom in self._tags.items() if tag in tags)
        for skill, thresholds in self._skills.items():
            agents = {c.agent_id for c in surroundings.capabilities if c.skill.strip().lower() == skill}
            _reached(thresholds, len(agents), true)


def mime_matches(pattern: str, mime_type: str) -> bool:
    """Whether an attachment's type is the pattern, begins as `<prefix>/*` says, or the pattern is `*/*`."""
    if pattern in ("*/*", mime_type):
        return True
    return pattern.endswith("/*") and mime_type.startswith(pattern[:-1])


def _reached(thresholds: Iterable[tuple[int, int]], count: int, true: list[int]) -> None:
    true.extend(atom for least, atom in thresholds if count >= least)


_Part = Callable[[Step, History, int], Iterable[int]]
"""Answers for a step, which has so many before it, one kind of questions: the atoms that hold."""


class _StepQuestions:
    """Questions about one step: single actions, and `parts` for every other kind that is asked."""

    def __init__(self) -> None:
        self.actions: dict[str, int] = {}
        self.parts: list[_Part] = []
        self._runs: dict[str, list[tuple[tuple[str, ...], int]]] = {}
        self._said = _Patterns()
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


class _Patterns:
    """Runs of expression patterns, found by the first expression of each."""

    def __init__(self) -> None:
        self._exact: dict[str, list[tuple[tuple[Expression, ...], int]]] = {}
        self._shaped: dict[tuple[str, int], list[tuple[tuple[Expression, ...], int]]] = {}
        self._anything: list[tuple[tuple[Expression, ...], int]] = []
        self._all: list[tuple[tuple[Expression, ...], int]] = []
        self._known = lru_cache(maxsize=_REMEMBERED_TEXTS)(self._of)

    def place(self, run: tuple[Expression, ...], atom: int) -> None:
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


class _Tests:
    """What is asked about the value at one path."""

    __slots__ = ("at_least", "below", "contains", "equals", "exists")

    def __init__(self) -> None:
        self.exists = 0
        self.equals: dict[str, int] = {}
        self.contains: list[tuple[str, int]] = []
        self.at_least: list[tuple[int, int]] = []
        self.below: list[tuple[int, int]] = []

    def add(self, value: JSON, true: list[int]) -> None:
        if value is None:
            return
        if self.exists and paths.matches(value, None, None):
            true.append(self.exists)
        if self.equals and not paths.is_container(value) and (atom := self.equals.get(paths.text(value))):
            true.append(atom)
        true.extend(atom for text, atom in self.contains if paths.contains(value, text))
        if self.at_least or self.below:
            size = paths.size(value)
            true.extend(atom for _, atom in self.at_least[: bisect_right(self.at_least, (size, 2**63))])
            true.extend(atom for bound, atom in self.below if size < bound)


class _Branch:
    """A place in the tree of all asked paths, with the tests of the path that ends there."""

    __slots__ = ("branches", "tests")

    def __init__(self) -> None:
        self.branches: dict[str, dict[int | None, _Branch]] = {}
        self.tests: _Tests | None = None


class _ValueQuestions:
    """Questions about values, as a tree of their paths: what is not there is not looked into further."""

    def __init__(self) -> None:
        self._root = _Branch()
        self._calculated: dict[str, _Tests] = {}
        self.asked = False

    def place(self, question: q.Question, atom: int) -> None:
        self.asked = True
        match question:
            case q.ValueExists(path=path):
                self._tests(path).exists = atom
            case q.ValueEquals(path=path, text=text):
                self._tests(path).equals[text] = atom
            case q.ValueContains(path=path, text=text):
                self._tests(path).contains.append((text, atom))
            case q.SizeAtLeast(path=path, size=size):
                insort(self._tests(path).at_least, (size, atom))
            case q.SizeBelow(path=path, size=size):
                self._tests(path).below.append((size, atom))
            case _:
                raise AssertionError(f"no place for {question!r}")

    def _tests(self, path: str) -> _Tests:
        segments = paths.split(path)
        if segments is None or paths.has_arithmetic(path):
            return self._calculated.setdefault(path, _Tests())
        branch = self._root
        for name, index in segments:
            branch = branch.branches.setdefault(name, {}).setdefault(index, _Branch())
        branch.tests = branch.tests or _Tests()
        return branch.tests

    def add(self, model: dict[str, JSON], true: list[int]) -> None:
        """Add the atoms that hold of `model`."""
        waiting: list[tuple[_Branch, JSON]] = [(self._root, model)]
        while waiting:
            branch, value = waiting.pop()
            if not isinstance(value, Mapping):
                continue
            fewer = value if len(value) < len(branch.branches) else branch.branches
            for name in fewer:
                for index, below in branch.branches.get(name, {}).items():
                    found = paths.enter(value, name, index)
                    if found is not None:
                        if below.tests is not None:
                            below.tests.add(found, true)
                        waiting.append((below, found))
        for path, tests in self._calculated.items():
            tests.add(paths.read(model, path), true)
