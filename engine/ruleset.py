"""One ruleset of durable_rules: a bundle of formulas that the engine decides together.

The atoms that hold are asserted as one wide fact; each rule is one pattern over it, and those that fire are true. The
engine fails in ways of its own (a search that never ends, answers left over from an error, a crash on release), so
the budgets below keep well inside what was measured, and formulas beyond them are decided by a `Circuit`.
"""

import json
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import durable_rules_engine as durable

from ..rules.formulas import Circuit, Formula

MOST_RULES = 100
MOST_TRUE = 60  # 65 rules of one ruleset that are true at once are refused
MOST_OPEN_TESTS = 40  # absent properties and branches of an OR wait while a fact is evaluated: past 64 it fails
MOST_OPEN_TESTS_OF_RULE = 20
MOST_OPERATORS = 12
MOST_WAYS = 16  # an OR fires once for each way to be true, an AND of them multiplies that
MOST_TESTS = 240  # a search for a free place among 512 never ends; a fact holds 253 properties

_HEAD = '{"id":"1","sid":"1","x":1'
_WARM_UP = '{"id":"1","sid":"1","w":1}'


class Member(NamedTuple):
    """A formula of a ruleset; `default` is its value where no atom holds, `triggers` see `Triggers`."""

    number: int
    formula: Formula
    default: bool
    triggers: frozenset[int] | None


class Ruleset:
    """Up to `MOST_RULES` formulas, numbered by the caller; the engine's part is built when it is first needed.

    `ask` is not safe to call from several threads at once: the caller holds a lock. `refused` is told what the engine
    says where it does not answer, and `ask` decides by evaluating the formulas.
    """

    def __init__(
        self,
        members: Sequence[Member],
        beyond: Sequence[tuple[int, Formula]],
        refused: Callable[[Exception], object],
    ) -> None:
        """`members` are the formulas within budget, `beyond` those outside, with their numbers."""
        self._members = members
        self._beyond_numbers = [number for number, _ in beyond]
        self._beyond = Circuit([formula for _, formula in beyond])
        self._engine: _Engine | None = None
        self._refused = refused

    def ask(self, true: frozenset[int]) -> list[int]:
        """The numbers of the formulas that are true where exactly the atoms in `true` hold, in no order."""
        found = self._fired(true) if self._members else []
        if self._beyond_numbers:
            values = self._beyond.values(true)
            found.extend(number for number, value in zip(self._beyond_numbers, values, strict=True) if value)
        return found

    def close(self) -> None:
        """Free the engine's memory; the next `ask` builds it anew."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.release()

    def _fired(self, true: frozenset[int]) -> list[int]:
        try:
            engine = self._engine
            if engine is None:
                engine = self._engine = _Engine(self._members)
            return engine.fired(true)
        except Exception as error:  # noqa: BLE001 - the engine raises nothing narrower; what it refuses is decided here
            self._refused(error)
            values = Circuit([member.formula for member in self._members]).values(true)
            return [member.number for member, value in zip(self._members, values, strict=True) if value]
        except BaseException:
            # Interrupted in the middle of a cycle: what is queued would come out of the next one.
            self.close()
            raise


class _Engine:
    """The engine's side of a ruleset: its handle, and the names that its properties go by."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._numbers = [member.number for member in members]
        names: dict[int, str] = {}
        # A formula none of whose triggers holds keeps its default whatever else does, so its atoms need no asserting.
        self._always: set[int] = set()
        self._woken: dict[int, set[int]] = {}
        rules: dict[str, object] = {"w": {"pri": 0, "all": [{"m": {"$ex": {"w": 1}}}]}}
        for place, member in enumerate(members):
            atoms = _atoms(member.formula)
            for atom in atoms:
                names.setdefault(atom, f"p{len(names)}")
            if member.triggers is None:
                self._always.update(atoms)
            for trigger in member.triggers or ():
                self._woken.setdefault(trigger, set()).update(atoms)
            pattern = _pattern(member.formula, names)
            if member.default:
                # The state's own record runs through the rules as well: what holds when nothing does needs an anchor.
                pattern = {"$and": [{"$ex": {"x": 1}}, pattern]}
            rules[f"r{place}"] = {"pri": place + 1, "all": [{"m": pattern}]}
        self._pieces = {atom: f',"{name}":1' for atom, name in names.items()}
        self._handle = durable.create_ruleset("turnout", json.dumps(rules))
        _cycle(self._handle, _WARM_UP)  # a state in which no action was started can't be deleted
        self.release = weakref.finalize(self, _delete, self._handle)

    def fired(self, true: frozenset[int]) -> list[int]:
        """The numbers of the formulas that the engine says are true."""
        pieces, woken = self._pieces, self._woken
        told = set(self._always)
        for atom in true & woken.keys():
            told |= woken[atom]
        fact = _HEAD + "".join([pieces[atom] for atom in told if atom in true]) + "}"
        return [self._numbers[place] for place in _cycle(self._handle, fact)]


def _cycle(handle: int, fact: str) -> list[int]:
    """Assert `fact` and return the places of the rules that fire, each once, `w` left out."""
    places: list[int] = []
    try:
        _, state = durable.assert_fact(handle, fact)
        started = durable.start_action_for_state(handle, state)
        message = started[1] if started else None
        while message:
            # {"r12":{"m":…}}: the rule's name is all that is read.
            if message[2] == "r":
                place = int(message[3 : message.index('"', 3)])
                if place not in places:
                    places.append(place)
            message = durable.complete_and_start_action(handle, state)
    finally:
        # INVARIANT: always, after an error above all: what that left queued would come out of the next evaluation.
        durable.retract_fact(handle, fact)
    return places


def _delete(handle: int) -> None:
    durable.delete_state(handle, "1")
    durable.delete_ruleset(handle)


def _pattern(formula: Formula, names: Mapping[int, str]) -> dict[str, object]:
    if isinstance(formula, int):
        return {"$ex": {names[formula]: 1}} if formula > 0 else {"$nex": {names[-formula]: 1}}
    return {"$and" if formula.every else "$or": [_pattern(part, names) for part in formula.parts]}


def _atoms(formula: Formula) -> Iterable[int]:
    """The atoms in a formula that is within budget, and so small."""
    if isinstance(formula, int):
        return (abs(formula),)
    return [atom for part in formula.parts for atom in _atoms(part)]


class Cost(NamedTuple):
    """What a formula costs the engine: tests in all, those that can wait, ANDs and ORs, and ways to be true."""

    tests: int
    open_tests: int
    operators: int
    ways: int


_HOLDS = Cost(1, 0, 0, 1)
_HOLDS_NOT = Cost(1, 1, 0, 1)


def cost_of(formula: Formula, depth: int = MOST_OPERATORS) -> Cost | None:
    """The cost of `formula`; None where it is beyond the engine's budget for one rule, or `depth` junctions deep."""
    if isinstance(formula, int):
        return _HOLDS if formula > 0 else _HOLDS_NOT
    if not depth or not 0 < len(formula.parts) <= MOST_OPEN_TESTS:
        return None
    tests, open_tests, operators, ways = 0, 0, 1, 1
    if not formula.every:
        open_tests, ways = len(formula.parts), 0
    for part in formula.parts:
        cost = cost_of(part, depth - 1)
        if cost is None:
            return None
        tests += cost.tests
        open_tests += cost.open_tests
        operators += cost.operators
        ways = ways * cost.ways if formula.every else ways + cost.ways
        if operators > MOST_OPERATORS or ways > MOST_WAYS or open_tests > MOST_OPEN_TESTS_OF_RULE:
            return None
    return Cost(tests, open_tests, operators, ways)
