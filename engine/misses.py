"""Near misses: the smallest change of facts that would have made a rule fire.

A rule fires if its formula holds and, in a first-match group, none of the rules before it does. The change is the
smallest set of answers, to the questions that rules ask, that would have to be other ones. It is searched for by
uniform cost over the choices that the ORs leave; what an answer entails or rules out is kept in mind.
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush, merge
from typing import NamedTuple

from ..rules import conditions as c
from ..rules.compiling import CompiledRuleSet, compile_rule_set
from ..rules.formulas import Circuit, Formula, Junction, Triggers, opposite, parts_first
from ..rules.questions import Attached, HasSkill, Question, RuleFired, SizeAtLeast, SizeBelow
from ..rules.relations import Relations, slots
from ..rules.rulesets import RuleSet
from .evaluator import Finding, RuleFinding
from .facts import Facts
from .index import Index

MOST_ANSWERS = 12
"""Answers in a change; what is further off is no near miss."""
MOST_CHOICES = 2000
"""Choices that are looked at before the cheapest ones are taken as they come."""
MOST_PARTS = 2000
"""Parts of a formula on one way to its truth."""
MOST_ROUNDS = 8
"""Earlier rules of a group that a change may turn out to make true, one after the other."""

_NEVER = 1_000_000_000
_COUNTED = (RuleFired, SizeAtLeast, SizeBelow, Attached, HasSkill)


class Answer(NamedTuple):
    """A question, and whether it has to be answered with yes."""

    question: Question
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The answers that have to be other ones for a rule to fire; None where no change was found.

    `exact`: nothing smaller would do; without answers, nothing would. Else there was too much to look through.
    """

    answers: tuple[Answer, ...] | None
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A rule that did not fire, and what would have made it."""

    finding: RuleFinding
    change: Change


def misses(rule_set: RuleSet, facts: Facts, findings: Iterable[RuleFinding]) -> list[Miss]:
    """The rules that did not fire; `findings` are those of all rules of `rule_set`, evaluated on `facts`."""
    missed = [(number, finding) for number, finding in enumerate(findings) if finding.verdict != "fired"]
    if not missed:
        return []
    compiled = compile_rule_set(rule_set)
    changes = Changes(compiled, Index(compiled.questions).true(facts))
    return [Miss(finding=finding, change=changes.of(number)) for number, finding in missed]


def nearest_first(missed: Iterable[Miss]) -> list[Miss]:
    """Misses by the size of the change, then by the share of conditions that held; rules not reached come last."""
    return sorted(missed, key=_distance)


def _distance(miss: Miss) -> tuple[bool, bool, int, float]:
    finding, answers = miss.finding, miss.change.answers
    of = len(finding.rule.conditions)
    unreached = finding.verdict == "not reached"
    size = _NEVER if answers is None else len(answers)
    return unreached, unreached and not finding.true, size, -finding.held / of if of else -1.0


def deciding(finding: Finding) -> Iterator[Finding]:
    """The conditions without children that made a condition's result what it is, in the order of the rule."""
    if not isinstance(finding.condition, c.Connector | c.Negation):
        yield finding
        return
    result = finding.result
    if isinstance(finding.condition, c.Negation) and result != "not executed":
        result = "failed" if result == "held" else "held"
    for part in finding.parts:
        # The other parts say nothing: those of an AND that held when one failed, of an OR that failed when one held.
        if (part.result == "held") is (result == "held"):
            yield from deciding(part)


class Changes:
    """The smallest changes for the rules of a rule set, where exactly the atoms in `true` hold."""

    def __init__(self, compiled: CompiledRuleSet, true: frozenset[int]) -> None:
        self._compiled = compiled
        self._true = true
        self._relations = Relations(compiled.questions)
        self._prices: dict[int, int] = {}
        for junction in parts_first(compiled.formulas, lambda each: id(each) in self._prices):
            self._set_price(junction)
        self._watching: dict[int, list[int]] = {}
        self._always: list[int] = []
        triggers = Triggers(compiled.formulas, ())
        for number, formula in enumerate(compiled.formulas):
            found = triggers.of(formula)
            if found is None or triggers.default(formula):
                self._always.append(number)
            for atom in found or ():
                self._watching.setdefault(atom, []).append(number)

    def of(self, number: int) -> Change:
        """The smallest change that makes the rule at this position fire."""
        wanted: list[Formula] = [self._compiled.formulas[number]]
        if self._price(wanted[0]) >= _NEVER:
            return Change(answers=None, exact=True)
        for _ in range(MOST_ROUNDS):
            flips, exact = self._cheapest(wanted)
            if flips is None:
                return Change(answers=None, exact=exact)
            first = next((one for true in self._after(flips) if (one := self._first(number, true)) is not None), None)
            if first is None:
                return Change(answers=tuple(map(self._answer, sorted(flips, key=abs))), exact=exact)
            wanted.append(opposite(self._compiled.formulas[first]))
            for junction in parts_first(wanted[-1:], lambda each: id(each) in self._prices):
                self._set_price(junction)
        return Change(answers=None, exact=False)

    def _answer(self, literal: int) -> Answer:
        return Answer(self._relations.question(abs(literal)), literal > 0)

    def _holds(self, literal: int) -> bool:
        return (abs(literal) in self._true) is (literal > 0)

    def _price(self, formula: Formula) -> int:
        """How many literals have to change at most; those that stand in several parts count in each."""
        return int(not self._holds(formula)) if isinstance(formula, int) else self._prices[id(formula)]

    def _set_price(self, junction: Junction) -> None:
        prices = map(self._price, junction.parts)
        price = sum(prices) if junction.every else min(prices, default=_NEVER)
        self._prices[id(junction)] = min(price, _NEVER)

    def _cheapest(self, wanted: Sequence[Formula]) -> tuple[tuple[int, ...] | None, bool]:
        """The fewest literals to change so that all of `wanted` holds, and whether that is certain."""
        flips, certain = self._search(wanted, MOST_CHOICES)
        return (flips, True) if certain else (self._search(wanted, 0)[0], False)

    def _search(self, wanted: Sequence[Formula], choices: int) -> tuple[tuple[int, ...] | None, bool]:
        """As `_cheapest`, with this many choices; without any, of each OR the cheapest part is taken."""
        greedy = not choices
        order = 0
        waiting = [(0, 0, _Way(todo=list(wanted)))]
        while waiting:
            cost, number, way = heappop(waiting)
            if cost > MOST_ANSWERS or len(way.passed) > MOST_PARTS:
                return None, False
            options = self._advance(way, cost)
            if options is None:
                continue
            if len(way.flips) > cost:
                heappush(waiting, (len(way.flips), number, way))
                continue
            if not options:
                # Only here is it known what the change takes away that has to stay: it counts like the rest.
                told = (*way.flips, *self._bereft(way))
                if len(told) == cost:
                    return told, not greedy
                heappush(waiting, (len(told), number, way))
                continue
            # The cheapest comes last and so, with the least number, first: a way that costs nothing is gone to its end.
            for option in options[:1] if greedy else reversed(options):
                order -= 1
                heappush(waiting, (cost, order, way.branch(option)))
            if not greedy and -order > choices:
                return None, False
        return None, not greedy

    def _advance(self, way: "_Way", cost: int) -> Sequence[Formula] | None:
        """Go on until a way costs more, forks or ends; the parts to choose from, None if it leads nowhere."""
        while way.todo and len(way.flips) <= cost:
            part = way.todo.pop()
            if isinstance(part, int):
                if not self._assume(way, part):
                    return None
            elif id(part) not in way.passed:
                way.passed.add(id(part))
                if part.every:
                    # Literals first: they tell soonest that a way costs too much.
                    inner = [one for one in part.parts if not isinstance(one, int)]
                    way.todo += [*reversed(inner), *(one for one in part.parts if isinstance(one, int))]
                elif not any(isinstance(one, int) and way.known.get(abs(one)) is (one > 0) for one in part.parts):
                    return sorted((one for one in part.parts if self._price(one) < _NEVER), key=self._price) or None
        return ()

    def _assume(self, way: "_Way", literal: int) -> bool:
        """Take a literal to hold, and what it entails; False if that cannot be."""
        if not self._holds(literal):
            way.flips = self._with(way.flips, literal)
        if literal < 0:
            return not way.known.setdefault(-literal, False)
        # INVARIANT: what is known to hold is closed under what it entails.
        for atom in (literal, *self._relations.weaker(literal)):
            if not way.known.setdefault(atom, True):
                return False
            for slot, value in slots(self._relations.question(atom)).items():
                if way.taken.setdefault(slot, value) != value:
                    return False
        return True

    def _with(self, flips: tuple[int, ...], literal: int) -> tuple[int, ...]:
        """The literals and one more, without those that another of them entails."""
        if any(one == literal or self._entails(one, literal) for one in flips):
            return flips
        return (*(one for one in flips if not self._entails(literal, one)), literal)

    def _entails(self, one: int, other: int) -> bool:
        if one < 0 < -other:
            one, other = -other, -one
        return one > 0 < other and other in self._relations.weaker(one)

    def _bereft(self, way: "_Way") -> list[int]:
        """The atoms that hold now and must go on, though what they may hold by has to go: they are told as well."""
        known = [atom for atom, holds in way.known.items() if holds]
        stay = self._doubtful(way.flips).intersection(known)
        return sorted(atom for atom in stay if not any(atom in self._relations.weaker(other) for other in known))

    def _gone(self, flips: Iterable[int]) -> set[int]:
        """The atoms that hold now and do not after a change that denies them, or something that they entail."""
        denied = {-flip for flip in flips if flip < 0}
        return {atom for atom in self._true if not denied.isdisjoint((atom, *self._relations.weaker(atom)))}

    def _doubtful(self, flips: Iterable[int]) -> set[int]:
        """The atoms that hold now, maybe only by one that is gone: "any turn" by "this turn".

        What is counted is not in doubt: fewer than five may be three.
        """
        entailed = {atom for gone in self._gone(flips) for atom in self._relations.weaker(gone)}
        return {atom for atom in entailed & self._true if not isinstance(self._relations.question(atom), _COUNTED)}

    def _after(self, flips: Sequence[int]) -> tuple[set[int], set[int]]:
        """The atoms that hold after a change, as far as relations tell: with those in doubt, and without."""
        taken: dict[Hashable, Hashable] = {}
        made: set[int] = set()
        for flip in flips:
            if flip > 0:
                made.update((flip, *self._relations.weaker(flip)))
                taken.update(slots(self._relations.question(flip)))
        kept = {
            atom
            for atom in self._true - self._gone(flips)
            if all(taken.get(slot, value) == value for slot, value in slots(self._relations.question(atom)).items())
        }
        return made | kept, made | (kept - self._doubtful(flips))

    def _first(self, number: int, true: set[int]) -> int | None:
        """The rule that would fire in place of this one: an earlier one of its group, if that ends with it."""
        compiled = self._compiled
        group = compiled.groups[number]
        if not compiled.first_match[group]:
            return None
        # A rule that none of its triggers' atoms touches has the value that it has where nothing holds at all.
        start = bisect_left(compiled.groups, group)
        asked = [self._always, *(self._watching[atom] for atom in true & self._watching.keys())]
        for each in merge(*(rules[bisect_left(rules, start) : bisect_left(rules, number)] for rules in asked)):
            if Circuit([compiled.formulas[each]]).values(true)[0]:
                return each
        return None


@dataclass(slots=True, kw_only=True)
class _Way:
    """A way to make formulas hold: what is still to do, what it takes for known, and the literals it changes."""

    todo: list[Formula]
    known: dict[int, bool] = field(default_factory=dict)
    taken: dict[Hashable, Hashable] = field(default_factory=dict)
    passed: set[int] = field(default_factory=set)
    flips: tuple[int, ...] = ()

    def branch(self, option: Formula) -> "_Way":
        """This way, going on with `option`."""
        return _Way(
            todo=[*self.todo, option],
            known=dict(self.known),
            taken=dict(self.taken),
            passed=set(self.passed),
            flips=self.flips,
        )
