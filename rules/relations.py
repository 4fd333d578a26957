"""What an answer to one question says about others: what it entails, and what it rules out."""

from collections.abc import Hashable, Iterator, Mapping, Sequence

from . import questions as q
from .expressions import WILDCARD, Expression, equal, key
from .questions import Question

MOST_IN_A_SHELF = 64
"""Questions of one kind that are compared with each other; of more, nothing is concluded."""


class Relations:
    """The relations among the questions of a rule set; `questions[a - 1]` is the question of atom `a`."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._questions = questions
        self._shelves: dict[Hashable, list[int]] = {}
        self._weaker: dict[int, tuple[int, ...]] = {}
        for atom, question in enumerate(questions, 1):
            if (shelf := _shelf(question)) is not None:
                self._shelves.setdefault(shelf, []).append(atom)

    def question(self, atom: int) -> Question:
        """The question of an atom."""
        return self._questions[atom - 1]

    def weaker(self, atom: int) -> tuple[int, ...]:
        """The other atoms that hold whenever this one does."""
        if (known := self._weaker.get(atom)) is None:
            known = self._weaker[atom] = tuple(self._found(atom))
        return known

    def _found(self, atom: int) -> Iterator[int]:
        question = self.question(atom)
        for shelf in dict.fromkeys(_near(question)):
            for other in self._shelves.get(shelf, ())[:MOST_IN_A_SHELF]:
                if other != atom and entails(question, self.question(other)):
                    yield other


def entails(one: Question, other: Question) -> bool:
    """Whether the answer to `other` is certainly yes wherever that to `one` is."""
    match one, other:
        case q.HasActions(), q.HasActions():
            return other.when in (one.when, "any") and _stands_in(other.run, one.run)
        case q.HasActions(when="current"), q.SomeActions():
            return True
        case q.HasSaid(), q.HasSaid():
            return other.when in (one.when, "any") and _covers(other.run, one.run)
        case q.HasSaid(when="current"), q.SomethingSaid():
            return True
        case (q.NoActions(when="last"), q.NoActions(when="past")) | (
            q.NothingSaid(when="last"),
            q.NothingSaid(when="past"),
        ):
            return True
        case q.ContextSays(), q.ContextSays():
            return one.key == other.key and _covers(other.run, one.run)
        case q.ContextHas(), q.ContextHas():
            return (one.key, one.path) == (other.key, other.path) and other.text in (None, one.text)
        case q.RuleFired(), q.RuleFired():
            return one.rule == other.rule and one.times >= other.times
        case q.ValueEquals(), q.ValueExists():
            return one.path == other.path and one.text != "false"  # false is not there, the text "false" is
        case q.ValueContains(), q.ValueExists():
            return one.path == other.path
        case q.SizeAtLeast(), q.SizeAtLeast():
            return one.path == other.path and one.size >= other.size
        case q.SizeBelow(), q.SizeBelow():
            return one.path == other.path and one.size <= other.size
        case q.Attached(), q.Attached():
            return one.least >= other.least and other.mime_type in _mime_types(one.mime_type)
        case q.HasSkill(), q.HasSkill():
            return one.skill == other.skill and one.least >= other.least
        case q.TaskEnded(), q.TaskEnded():
            return _ended(one, other)
        case q.DigestMentions(), q.DigestMentions():
            return one.task == other.task and other.when in (one.when, "any") and other.text in one.text
    return False


def slots(question: Question) -> Mapping[Hashable, Hashable]:
    """What can have one value only, by name, and the value that it has where the answer is yes."""
    match question:
        case q.ContextText(key=name, text=text):
            return {("context", name): ("string", text)}
        case q.ContextSays(key=name):
            return {("context", name): "expressions"}
        case q.ContextHas(key=name, path=path, text=text):
            return {("context", name): "object"} | ({("context", name, path): text} if text is not None else {})
        case q.ValueEquals(path=path, text=text):
            return {("value", path): text}
        case q.SizeAtLeast(path=path) | q.SizeBelow(path=path):
            return {("size", path): isinstance(question, q.SizeBelow)}
        case q.InEnvironment(name=name):
            return {"environment": name}
        case q.TaskEnded(when="current" | "last" as when, task=task, consecutive=1):
            return {("ended", when, task): question.status}
        case q.HasActions(when="last") | q.NoActions(when="last"):
            return {"actions before": isinstance(question, q.NoActions)}
        case q.HasSaid(when="last") | q.NothingSaid(when="last"):
            return {"said before": isinstance(question, q.NothingSaid)}
    return {}


def _stands_in(run: Sequence[str], whole: Sequence[str]) -> bool:
    return any(tuple(whole[at : at + len(run)]) == tuple(run) for at in range(len(whole) - len(run) + 1))


def _covers(run: Sequence[Expression], whole: Sequence[Expression]) -> bool:
    """Whether what holds the patterns of `whole`, side by side, holds those of `run`."""
    return any(
        all(_is_wider(wide, narrow) for wide, narrow in zip(run, whole[at:], strict=False))
        for at in range(len(whole) - len(run) + 1)
    )


def _is_wider(wide: Expression, narrow: Expression) -> bool:
    """Whether all that equals `narrow` equals `wide`."""
    if wide.name == WILDCARD:
        return True
    if narrow.name == WILDCARD or len(wide.args) != len(narrow.args):
        return False
    same_name = equal(Expression(wide.name), Expression(narrow.name)) if not wide.args else wide.name == narrow.name
    return same_name and all(map(_is_wider, wide.args, narrow.args))


def _mime_types(mime_type: str) -> tuple[str, ...]:
    """The type and the wider ones that count it, too."""
    prefix = mime_type.partition("/")[0]
    return (mime_type, f"{prefix}/*", "*/*")


def _ended(one: q.TaskEnded, other: q.TaskEnded) -> bool:
    if (one.task, one.status) != (other.task, other.status) or other.error_type not in (None, one.error_type):
        return False
    # A row may have begun before the step that is asked about, so it says nothing of that step alone.
    as_long = one.consecutive == other.consecutive or one.consecutive > other.consecutive > 1
    shorter = other.when == "any" and one.consecutive > other.consecutive
    return (as_long and other.when in (one.when, "any")) or shorter


def _shelf(question: Question) -> Hashable:
    """Where a question is looked for that others may entail; None for one that none does."""
    match question:
        case q.HasActions(run=run):
            return ("action", run[0])
        case q.HasSaid(run=run):
            return ("said", *_first(run[0]))
        case q.ContextSays(key=name, run=run):
            return ("says", name, *_first(run[0]))
        case q.ContextHas(key=name, path=path, text=None):
            return ("has", name, path)
        case q.RuleFired(rule=rule):
            return ("fired", rule)
        case q.ValueExists(path=path):
            return ("value", path)
        case q.SizeAtLeast(path=path) | q.SizeBelow(path=path):
            return ("size", path)
        case q.Attached(mime_type=mime_type):
            return ("attached", mime_type)
        case q.HasSkill(skill=skill):
            return ("skill", skill)
        case q.TaskEnded(task=task) | q.DigestMentions(task=task):
            return ("task", task)
        case q.SomeActions() | q.SomethingSaid() | q.NoActions(when="past") | q.NothingSaid(when="past"):
            return type(question).__name__
    return None


def _near(question: Question) -> Iterator[Hashable]:
    """Where the questions stand that this one may entail."""
    match question:
        case q.HasActions(run=run):
            yield from (("action", action) for action in run)
            yield q.SomeActions.__name__
        case q.HasSaid(run=run):
            yield from (("said", *first) for said in run for first in _firsts(said))
            yield q.SomethingSaid.__name__
        case q.ContextSays(key=name, run=run):
            yield from (("says", name, *first) for said in run for first in _firsts(said))
        case q.ContextHas(key=name, path=path):
            yield ("has", name, path)
        case q.ValueEquals(path=path) | q.ValueContains(path=path):
            yield ("value", path)
        case q.Attached(mime_type=mime_type):
            yield from (("attached", wider) for wider in _mime_types(mime_type))
        case q.NoActions() | q.NothingSaid():
            yield type(question).__name__
        case _ if (shelf := _shelf(question)) is not None:
            yield shelf


def _first(pattern: Expression) -> tuple[Hashable, ...]:
    name = key(pattern)
    if name is not None:
        return (name,)
    return (WILDCARD,) if pattern.name == WILDCARD else (pattern.name, len(pattern.args))


def _firsts(pattern: Expression) -> Iterator[tuple[Hashable, ...]]:
    name = key(pattern)
    if name is not None:
        yield (name,)
    yield (pattern.name, len(pattern.args))
    yield (WILDCARD,)
