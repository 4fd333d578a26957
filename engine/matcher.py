"""The matcher: which rules of a rule set are true for given facts, decided by durable_rules.

The facts become the set of true atoms. Rules are packed into rulesets; a ruleset is asked only if one of its triggers
holds, else its rules have the values they have when nothing holds. Answers depend on the true atoms alone, and are
remembered by them.
"""

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence

from ..rules.compiling import CompiledRuleSet, compile_rule_set
from ..rules.formulas import Formula, Triggers
from ..rules.questions import is_lasting
from ..rules.reading import collector_paused
from ..rules.rulesets import RuleSet
from .facts import Facts
from .index import Index
from .ruleset import MOST_OPEN_TESTS, MOST_RULES, MOST_TESTS, MOST_TRUE, Cost, Member, Ruleset, cost_of

_log = logging.getLogger(__name__)

REMEMBERED_ANSWERS = 4096
_REMEMBERED_RULES = 500_000  # true rules in all remembered answers: an answer can be as long as the rule set


class Answer:
    """Which rules are true (`true`, by position in the rule set, ascending), and what that makes of each group.

    `fired` holds the positions of the rules that fire, by their groups' strategies, in file order; `names` their names.
    """

    __slots__ = ("_compiled", "fired", "names", "true")

    def __init__(self, compiled: CompiledRuleSet, true: tuple[int, ...]) -> None:
        self._compiled = compiled
        self.true = true
        self.fired = tuple(compiled.chosen(true))
        rules = compiled.rules
        self.names = tuple([rules[position].name for position in self.fired])

    @property
    def actions(self) -> list[str]:
        """What the rules that fire emit, in order."""
        return [action for position in self.fired for action in self._compiled.rules[position].actions]

    @property
    def failed(self) -> tuple[int, ...]:
        """The positions of the rules that were tried and did not fire, in file order; found anew at each call."""
        true = set(self.true)
        failed = []
        closed = -1
        for position, group in enumerate(self._compiled.groups):
            if group == closed:
                continue
            if position not in true:
                failed.append(position)
            elif self._compiled.first_match[group]:
                closed = group
        return tuple(failed)

    @property
    def failed_names(self) -> "FailedNames":
        """The names of the rules that were tried and did not fire, each once."""
        return FailedNames(self)

    def _names_of_failed(self) -> list[str]:
        return list(dict.fromkeys(self._compiled.rules[position].name for position in self.failed))


class FailedNames(Sequence[str]):
    """The names of the rules that an answer did not let fire, found when looked at: they can be thousands."""

    __slots__ = ("_answer",)

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[str]:
        return iter(self._answer._names_of_failed())  # noqa: SLF001 - the two are one

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, index: int) -> str:  # type: ignore[override]  # nobody slices it
        return list(iter(self))[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __deepcopy__(self, memo: object) -> list[str]:
        return list(self)


class Matcher:
    """Decides a rule set. Safe to share between conversations and threads.

    `remember` bounds the answers kept. `refused` counts the asks that the engine did not answer; they are answered all
    the same.
    """

    def __init__(self, rule_set: RuleSet, *, remember: int = REMEMBERED_ANSWERS) -> None:
        self.rule_set = rule_set
        self.refused = 0
        self._lock = threading.Lock()
        self._remember = remember
        self._answers: dict[frozenset[int], Answer] = {}
        self._remembered_rules = 0
        self._rulesets: list[Ruleset] = []
        self._default_true: list[frozenset[int]] = []  # by ruleset
        self._always: list[int] = []  # rulesets that any atom may matter to
        self._watching: dict[int, list[int]] = {}  # atom → rulesets it is a trigger of
        with collector_paused():
            self.compiled = compile_rule_set(rule_set)
            self.index = Index(self.compiled.questions)
            self._pack()
        self._nothing = frozenset[int]().union(*self._default_true)

    @property
    def remembered(self) -> int:
        """How many answers are remembered."""
        return len(self._answers)

    def decide(self, facts: Facts) -> Answer:
        """Which rules are true for `facts`, and which of them fire."""
        true = self.index.true(facts)
        answer = self._answers.get(true)
        return self._asked(true) if answer is None else answer

    def close(self) -> None:
        """Free the engine's memory now; the matcher can be used again."""
        with self._lock:
            for ruleset in self._rulesets:
                ruleset.close()

    def _asked(self, true: frozenset[int]) -> Answer:
        watching = self._watching
        asked = {number for atom in true & watching.keys() for number in watching[atom]}
        if self._always:
            asked.update(self._always)
        rules: Iterable[int] = self._nothing
        if asked:
            with self._lock:
                found = [rule for number in asked for rule in self._rulesets[number].ask(true)]
            if self._nothing:
                found.extend(self._nothing.difference(*(self._default_true[number] for number in asked)))
            rules = found
        answer = Answer(self.compiled, tuple(sorted(rules)))
        self._keep(true, answer)
        return answer

    def _note_refusal(self, error: Exception) -> None:
        if not self.refused:
            _log.warning("the rule engine refused a fact (%s): such facts are evaluated without it", error)
        self.refused += 1

    def _keep(self, true: frozenset[int], answer: Answer) -> None:
        if self._remember <= 0:
            return
        with self._lock:
            if true not in self._answers:
                self._answers[true] = answer
                self._remembered_rules += len(answer.true)
            while len(self._answers) > self._remember or self._remembered_rules > _REMEMBERED_RULES:
                oldest = self._answers.pop(next(iter(self._answers)))
                self._remembered_rules -= len(oldest.true)

    def _pack(self) -> None:
        """Pack the rules into rulesets: those with the same trigger side by side, each within the engine's budgets."""
        compiled = self.compiled
        lasting = {atom for atom, question in enumerate(compiled.questions, 1) if is_lasting(question)}
        find = Triggers(compiled.formulas, lasting)
        triggers = [find.of(formula) for formula in compiled.formulas]
        pack = _Pack()
        for rule in sorted(range(len(triggers)), key=lambda rule: min(triggers[rule] or (0,))):
            formula = compiled.formulas[rule]
            member, cost = Member(rule, formula, find.default(formula), triggers[rule]), cost_of(formula)
            if not pack.has_room(member, cost):
                self._add(pack)
                pack = _Pack()
            pack.add(member, cost)
        self._add(pack)

    def _add(self, pack: "_Pack") -> None:
        number = len(self._rulesets)
        self._rulesets.append(Ruleset(pack.within, pack.beyond, self._note_refusal))
        self._default_true.append(frozenset(pack.default_true))
        if pack.any_atom:
            self._always.append(number)
        for atom in pack.triggers:
            self._watching.setdefault(atom, []).append(number)


class _Pack:
    """The rules of one ruleset while they are collected. `triggers` counts the rules that each of them wakes."""

    __slots__ = ("any_atom", "beyond", "default_true", "open_tests", "tests", "together", "triggers", "within")

    def __init__(self) -> None:
        self.within: list[Member] = []
        self.beyond: list[tuple[int, Formula]] = []
        self.default_true: list[int] = []
        self.triggers: dict[int, int] = {}
        self.together = 0
        self.any_atom = 0
        self.tests = self.open_tests = 0

    def has_room(self, member: Member, cost: Cost | None) -> bool:
        if len(self.within) + len(self.beyond) >= MOST_RULES:
            return False
        if cost is None:
            return True
        # How many can be true at once is not known: those that are by default, and those that one trigger wakes.
        woken = max((self.triggers.get(trigger, 0) + 1 for trigger in member.triggers or ()), default=1)
        at_once = len(self.default_true) + self.any_atom + max(self.together, woken)
        return (
            at_once < MOST_TRUE
            and self.tests + cost.tests <= MOST_TESTS
            and self.open_tests + cost.open_tests <= MOST_OPEN_TESTS
        )

    def add(self, member: Member, cost: Cost | None) -> None:
        if cost is None:
            self.beyond.append((member.number, member.formula))
        else:
            self.within.append(member)
            self.tests += cost.tests
            self.open_tests += cost.open_tests
        if member.default:
            self.default_true.append(member.number)
        if member.triggers is None:
            self.any_atom += 1
        for trigger in member.triggers or ():
            self.triggers[trigger] = count = self.triggers.get(trigger, 0) + 1
            self.together = max(self.together, count)
