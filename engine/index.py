"""From what a turn holds to the atoms that are true: each datum is looked up, no question is gone through."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from ..rules import paths
from ..rules import questions as q
from ..rules.expressions import parse
from ..rules.jsonpaths import ObjectPath, compile_path
from .facts import Facts
from .step_questions import Patterns, StepQuestions
from .value_questions import ValueQuestions


class Index:
    """The questions of a rule set, laid out by the data that answers them.

    `any` and `last` hold the questions about earlier steps, `fired` the thresholds of rule counts: the history asks
    them when a step is over, so that a turn only looks at its own data.
    """

    def __init__(self, questions: Sequence[q.Question]) -> None:
        self.any = StepQuestions()
        self.last = StepQuestions()
        self.fired: dict[str, list[tuple[int, int]]] = {}
        self._current = StepQuestions()
        self._singles = self._current.actions
        self._some_actions = self._something_said = 0
        self._texts: dict[str, dict[str, int]] = {}
        self._says: dict[str, Patterns] = {}
        self._has: dict[str, list[tuple[ObjectPath, str | None, int]]] = {}
        self._values = ValueQuestions()
        self._attached: dict[str, list[tuple[int, int]]] = {}
        self._skills: dict[str, list[tuple[int, int]]] = {}
        self._environments: dict[str, int] = {}
        self._tags: dict[str, int] = {}
        for atom, question in enumerate(questions, 1):
            self._place(question, atom)
        self._sections = self._needed()
        self._questions = questions

    @cached_property
    def counted(self) -> Mapping[str, int]:
        """The atoms of the questions in `any`, by a text of the question that tells it from all others."""
        asked = enumerate(self._questions, 1)
        return {repr(each): atom for atom, each in asked if getattr(each, "when", None) in ("any", "past")}

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
                self._says.setdefault(name, Patterns()).place(run, atom)
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

    def _add_parts(self, questions: StepQuestions, facts: Facts, true: list[int]) -> None:
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
