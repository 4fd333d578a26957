"""Whether formulas can hold, and which follow from which: exact where they are small, undecided beyond.

Source: the DPLL procedure, with the relations between questions as its theory.
"""

from collections.abc import Container, Hashable
from typing import NamedTuple

from ..formulas import Formula, Junction, conjunction, opposite
from ..relations import Relations, slots

MOST_PARTS = 200
"""Literals and junctions of a formula that is looked into."""
MOST_STEPS = 500
"""Guesses and retreats before a formula counts as undecided."""


class Solution(NamedTuple):
    """A way for a formula to hold: the atoms that do, all others do not. None where there is no way, if `decided`."""

    decided: bool
    true: frozenset[int] | None

    @property
    def impossible(self) -> bool:
        """Whether the formula certainly never holds."""
        return self.decided and self.true is None


def solve(formula: Formula, relations: Relations) -> Solution:
    """Find a way for `formula` to hold, with as few atoms as come easily."""
    if not is_small(formula):
        return Solution(False, None)
    search = _Search(relations)
    found = search.run(formula, {}, {})
    return Solution(search.steps <= MOST_STEPS, found)


def follows(wide: Formula, narrow: Formula, relations: Relations) -> bool:
    """Whether `wide` certainly holds whenever `narrow` does."""
    return solve(conjunction([narrow, opposite(wide)]), relations).impossible


def holds(formula: Formula, true: Container[int]) -> bool:
    """Whether a formula that was solved holds where exactly the atoms in `true` do."""
    if isinstance(formula, int):
        return formula in true if formula > 0 else -formula not in true
    return (all if formula.every else any)(holds(part, true) for part in formula.parts)


def literals(formula: Formula) -> set[int]:
    """The literals that stand anywhere in a formula, each part looked at once."""
    found: set[int] = set()
    seen: set[int] = set()
    waiting = [formula]
    while waiting:
        part = waiting.pop()
        if isinstance(part, int):
            found.add(part)
        elif id(part) not in seen:
            seen.add(id(part))
            waiting.extend(part.parts)
    return found


def needed(formula: Formula) -> set[int]:
    """Literals without which a formula does not hold, as far as they are plain to see."""
    found: set[int] = set()
    waiting = [formula]
    while waiting:
        part = waiting.pop()
        if isinstance(part, int):
            found.add(part)
        elif part.every:
            waiting.extend(part.parts)
    return found


def is_small(formula: Formula) -> bool:
    """Whether a formula is looked into."""
    count = 0
    waiting = [formula]
    while waiting and count <= MOST_PARTS:
        part = waiting.pop()
        count += 1
        if isinstance(part, Junction):
            waiting.extend(part.parts[: MOST_PARTS + 1])
    return count <= MOST_PARTS


class _Search:
    def __init__(self, relations: Relations) -> None:
        self.steps = 0
        self._relations = relations

    def run(self, formula: Formula, known: dict[int, bool], taken: dict[Hashable, Hashable]) -> frozenset[int] | None:
        """The atoms of a way for `formula` to hold that agrees with what is `known`; `taken` are the slots in use."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            return None
        value, literal = _state(formula, known)
        if value is not None:
            return frozenset(atom for atom, true in known.items() if true) if value else None
        for choice in (literal, -literal):
            then, used = dict(known), dict(taken)
            if self._assume(choice, then, used) and (found := self.run(formula, then, used)) is not None:
                return found
        return None

    def _assume(self, literal: int, known: dict[int, bool], taken: dict[Hashable, Hashable]) -> bool:
        """Add a literal, and what it entails, to what is known; False if that cannot be."""
        if literal < 0:
            known[-literal] = False
            return True
        # INVARIANT: what is known to hold is closed under what it entails, so a "no" needs no look at stronger atoms.
        for atom in (literal, *self._relations.weaker(literal)):
            if known.get(atom) is False:
                return False
            known[atom] = True
            for slot, value in slots(self._relations.question(atom)).items():
                if taken.setdefault(slot, value) != value:
                    return False
        return True


def _state(formula: Formula, known: dict[int, bool]) -> tuple[bool | None, int]:
    """The value of a formula, or None and a literal that would help it to hold."""
    if isinstance(formula, int):
        value = known.get(abs(formula))
        return (None, formula) if value is None else (value is (formula > 0), 0)
    wanted = 0
    for part in formula.parts:
        value, literal = _state(part, known)
        if value is not None and value is not formula.every:
            return value, 0
        if value is None and not wanted:
            wanted = literal
    return (None, wanted) if wanted else (formula.every, 0)
