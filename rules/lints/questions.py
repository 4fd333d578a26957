"""The rules of a set as formulas over what they ask, for the checks that compare them."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ..compiling import compile_conditions
from ..conditions import Condition, Connector, Negation
from ..formulas import Formula, conjunction
from ..places import Pointer
from ..relations import Relations, slots
from ..rulesets import RuleSet
from .entailment import is_small, literals
from .survey import SurveyedRule


class Siblings(NamedTuple):
    """Conditions beside one another, joined by AND (`every`) or OR, where they stand, and their formulas."""

    every: bool
    at: Pointer
    conditions: Sequence[Condition]
    formulas: Sequence[Formula]

    def place(self, number: int) -> Pointer:
        """Where one of them stands."""
        return (*self.at, "conditions", number)


class Asking:
    """A rule set with the formulas of its surveyed rules and conditions, and the relations of their questions.

    `rules`, `siblings` and `formulas` run in parallel, in file order. The siblings of a rule are its own conditions
    first, then those of each connector and negation in it.
    """

    def __init__(self, rule_set: RuleSet, rules: Sequence[SurveyedRule]) -> None:
        self.rule_set = rule_set
        self._about: dict[int, set[Hashable]] = {}
        self.rules = rules
        lists = [_lists(one) for one in self.rules]
        all_of_them = [condition for each in lists for _, _, conditions in each for condition in conditions]
        compiled, questions = compile_conditions(rule_set, all_of_them)
        self.relations = Relations(questions)
        formulas = iter(compiled)
        self.siblings = [
            [Siblings(every, at, conditions, [next(formulas) for _ in conditions]) for every, at, conditions in each]
            for each in lists
        ]
        self.formulas: Sequence[Formula] = [conjunction(each[0].formulas) for each in self.siblings]

    def about(self, formula: Formula) -> set[Hashable]:
        """What a small formula is about: one that has nothing of it tells nothing about it."""
        found: set[Hashable] = set()
        for literal in literals(formula):
            found.update(self.about_atom(abs(literal)))
        return found

    def about_atom(self, atom: int) -> set[Hashable]:
        """As `about`, for one atom."""
        if (known := self._about.get(atom)) is None:
            known = {atom, *self.relations.weaker(atom), *slots(self.relations.question(atom))}
            self._about[atom] = known
        return known

    def are_related(self, formulas: Sequence[Formula]) -> bool:
        """Whether any two of the formulas have to do with each other; False where one is too large to say."""
        if not all(map(is_small, formulas)):
            return False
        seen: set[Hashable] = set()
        for formula in formulas:
            about = self.about(formula)
            if not about.isdisjoint(seen):
                return True
            seen |= about
        return False


def _lists(one: SurveyedRule) -> list[tuple[bool, Pointer, Sequence[Condition]]]:
    inner = [
        (not _is_or(condition), at, condition.conditions)
        for condition, at, _ in one.asked
        if isinstance(condition, Connector | Negation)
    ]
    return [(True, one.at, one.rule.conditions), *inner]


def _is_or(condition: Condition) -> bool:
    return isinstance(condition, Connector) and condition.configs.operator.upper() == "OR"
