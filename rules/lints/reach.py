"""Checks of rules in first-match groups that never have their turn, decided over the questions they ask."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from .. import questions as q
from ..conditions import Dependency
from ..formulas import Formula
from .entailment import follows, holds, is_small, literals, needed, solve
from .found import Found, Telling, named
from .questions import Asking
from .survey import FAILED, Survey

MOST_CANDIDATES = 30
"""Earlier rules that are compared with a rule; of more, nothing is concluded."""


def reach_findings(asking: Asking, survey: Survey | None = None) -> Iterator[Found]:
    """The rules that are never reached; without the survey of an agent, a failure may have rules asked again."""
    reach = _Reach(asking, survey)
    first = 0
    for group in asking.rule_set.behavior_groups:
        if group.first_match:
            yield from reach.covered(range(first, first + len(group.rules)))
        first += len(group.rules)


class _Reach:
    def __init__(self, asking: Asking, survey: Survey | None) -> None:
        self._asking = asking
        self._survey = survey
        # Such a rule may be there for others to depend on.
        self._depended_on = {
            condition.configs.reference
            for one in asking.rules
            for condition, _, _ in one.asked
            if isinstance(condition, Dependency)
        }

    def covered(self, numbers: range) -> Iterator[Found]:
        """The rules of a first-match group that never have their turn.

        Each rule is made true in the way that comes easily; only earlier rules which are true then can be in its way.
        """
        asking = self._asking
        earlier = _Earlier(asking.formulas, numbers)
        catch_all, behind = -1, 0
        for number in numbers:
            rule, formula = asking.rules[number].rule, asking.formulas[number]
            if catch_all >= 0 and not self._may_reroute(number, catch_all):
                behind += 1
            elif not rule.conditions:
                catch_all = number if catch_all < 0 else catch_all
            elif (true := solve(formula, asking.relations).true) is not None:
                first = self._first(earlier.true(true), number)
                if first is None:
                    earlier.add(number)
                elif rule.name not in self._depended_on:
                    yield self._unreached(number, first)
        if behind:
            yield self._catch_all(catch_all, behind)

    def _unreached(self, number: int, first: int) -> Found:
        one, other = self._asking.rules[number], self._asking.rules[first]
        return Found(
            code="L022",
            message=f"rule {named(one.rule.name)} can never be reached",
            why=lambda told: (
                f"{named(other.rule.name)} (line {told.line}) is earlier in this first-match group "
                "and matches whenever this one does"
            ),
            hint=lambda told: f"move it above line {told.line}, or make the group {_all_matches(told)}",
            model=self._asking.rule_set,
            at=one.at,
            other=other.at,
        )

    def _catch_all(self, number: int, behind: int) -> Found:
        one = self._asking.rules[number]
        rules = "the rule behind it is" if behind == 1 else f"the {behind} rules behind it are"
        return Found(
            code="L023",
            message=f"rule {named(one.rule.name)} has no conditions",
            why=f"{rules} never reached in this first-match group",
            hint=lambda told: f"move it to the end of the group, or make the group {_all_matches(told)}",
            model=self._asking.rule_set,
            at=one.at,
        )

    def _first(self, candidates: Iterator[int], number: int) -> int | None:
        """The first of the earlier rules that holds whenever rule `number` does, and has its turn instead."""
        about: set[Hashable] = set()
        for other in candidates:
            about = about or self._asking.about(self._asking.formulas[number])
            if self._may_follow(other, about) and self._follows(other, number) and not self._may_reroute(number, other):
                return other
        return None

    def _may_follow(self, other: int, about: set[Hashable]) -> bool:
        """Whether all that rule `other` needs has to do with what is told of: a quick look before the exact one."""
        about_atom = self._asking.about_atom
        return all(not about.isdisjoint(about_atom(abs(lit))) for lit in needed(self._asking.formulas[other]))

    def _follows(self, other: int, number: int) -> bool:
        formulas = self._asking.formulas
        return follows(formulas[other], formulas[number], self._asking.relations)

    def _may_reroute(self, number: int, other: int) -> bool:
        """Whether a failure may make rule `number` true where the earlier rule `other`, entailed by it, already was."""
        if self._survey is not None and not self._survey.reroutes:
            return False
        asking = self._asking
        asked = [asking.relations.question(abs(literal)) for literal in literals(asking.formulas[number])]
        moved = [question for question in asked if _moved_by(question)]
        tasks = {task for question in moved for task in _moved_by(question)}
        if not tasks:
            return False
        if len(tasks) > 1 or _ANY in tasks:
            return True
        (task,) = tasks
        # One failure makes both true if the earlier rule cannot be so before it, and if it is the task's only one in
        # a turn, or a second one would change nothing of what is asked.
        conditions = [asking.relations.question(literal) for literal in needed(asking.formulas[other]) if literal > 0]
        together = any(_is_now(question) and _moved_by(question) == {task} for question in conditions)
        once = self._survey is not None and len(self._survey.task_ids.get(task, ())) == 1
        return not (together and (once or all(isinstance(question, q.HasActions) for question in moved)))


def _all_matches(told: Telling) -> str:
    return told.key("`executeAll`", "`all matches`")


_ANY = ""


def _moved_by(question: q.Question) -> frozenset[str]:
    """The tasks whose failure may change the answer in the turn where they fail; `_ANY` for any task."""
    match question:
        case q.HasActions(when="current" | "any", run=run):
            return frozenset(action.removeprefix(FAILED) for action in run if action.startswith(FAILED))
        case q.TaskEnded(when="current" | "any", task=task) | q.DigestMentions(when="current" | "any", task=task):
            return frozenset({task})
        case q.SomeActions():
            return frozenset({_ANY})
        case q.ValueExists() | q.ValueEquals() | q.ValueContains() | q.SizeAtLeast() | q.SizeBelow():
            # Of what values show, a failure changes the turn's actions and errors.
            path = question.path
            if path.startswith("memory") and not path.startswith("memory.last"):
                return frozenset({_ANY})
    return frozenset()


def _is_now(question: q.Question) -> bool:
    match question:
        case q.HasActions(when="current") | q.DigestMentions(when="current"):
            return True
        case q.TaskEnded(when="current", status="failed", consecutive=1):
            return True
    return False


class _Earlier:
    """The rules of a group so far, found by the atoms that hold."""

    def __init__(self, formulas: Sequence[Formula], numbers: range) -> None:
        self._formulas = formulas
        self._needed = {n: _helpful(formulas[n]) for n in numbers if is_small(formulas[n])}
        self._counts = Counter(atom for atoms in self._needed.values() for atom in atoms)
        self._by_atom: dict[int, list[int]] = {}
        self._unprompted: list[int] = []

    def add(self, number: int) -> None:
        """Add a rule whose formula is small."""
        formula = self._formulas[number]
        if holds(formula, ()):
            self._unprompted.append(number)
        elif atoms := self._needed[number]:
            self._by_atom.setdefault(min(atoms, key=self._counts.__getitem__), []).append(number)
        else:
            for atom in {abs(literal) for literal in literals(formula)}:
                self._by_atom.setdefault(atom, []).append(number)

    def true(self, atoms: frozenset[int]) -> Iterator[int]:
        """The rules that hold where exactly these atoms do, in order; of many, some are left out."""
        found = set(self._unprompted[:MOST_CANDIDATES])
        for atom in atoms:
            found.update(self._by_atom.get(atom, ())[:MOST_CANDIDATES])
        return (n for n in sorted(found)[:MOST_CANDIDATES] if holds(self._formulas[n], atoms))


def _helpful(formula: Formula) -> list[int]:
    return [literal for literal in needed(formula) if literal > 0]
