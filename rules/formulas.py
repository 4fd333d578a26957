"""Formulas: what must hold for a rule, as ANDs and ORs over numbered atoms.

An atom is a question's number, from 1; `-n` says that atom `n` does not hold. Formulas are in negation normal form and
may share parts, so that a rule that many others depend on is held once.
"""

from collections.abc import Container, Iterable, Sequence


class Junction:
    """The AND (`every`) or the OR of its parts; the empty AND is always true, the empty OR never."""

    __slots__ = ("every", "opposite_cache", "parts")

    def __init__(self, every: bool, parts: "tuple[Formula, ...]") -> None:
        self.every = every
        self.parts = parts
        self.opposite_cache: Junction | None = None

    def __repr__(self) -> str:
        return f"{'AND' if self.every else 'OR'}{self.parts!r}"


Formula = int | Junction

TRUE = Junction(True, ())
FALSE = Junction(False, ())


def conjunction(parts: Iterable[Formula]) -> Formula:
    """The AND of the parts, simplified where that is cheap."""
    return _junction(True, parts, FALSE)


def disjunction(parts: Iterable[Formula]) -> Formula:
    """The OR of the parts, simplified where that is cheap."""
    return _junction(False, parts, TRUE)


def _junction(every: bool, parts: Iterable[Formula], decided: Formula) -> Formula:
    kept: list[Formula] = []
    for part in parts:
        if isinstance(part, int):
            kept.append(part)
        elif part is decided:
            return decided
        elif part.parts:
            kept.append(part)
    if len(kept) == 1:
        return kept[0]
    if not kept:
        return TRUE if every else FALSE
    return Junction(every, tuple(kept))


def opposite(formula: Formula) -> Formula:
    """What holds exactly when `formula` does not; made once for each junction, so sharing is kept."""
    if isinstance(formula, int):
        return -formula
    if formula is TRUE:
        return FALSE
    if formula is FALSE:
        return TRUE
    if formula.opposite_cache is None:
        made = Junction(not formula.every, tuple(opposite(part) for part in formula.parts))
        made.opposite_cache = formula
        formula.opposite_cache = made
    return formula.opposite_cache


class Circuit:
    """Several formulas laid out so that each junction stands behind its parts: no recursion, shared parts once."""

    __slots__ = ("_gates", "_outputs")

    def __init__(self, formulas: Sequence[Formula]) -> None:
        numbers: dict[int, int] = {}  # id of a junction → its gate; the junctions live as long as `formulas` does
        gates: list[tuple[bool, tuple[int, ...], tuple[int, ...]]] = []
        waiting: list[Formula] = list(reversed(formulas))
        while waiting:
            formula = waiting[-1]
            if isinstance(formula, int) or id(formula) in numbers:
                waiting.pop()
                continue
            missing = [part for part in formula.parts if isinstance(part, Junction) and id(part) not in numbers]
            if missing:
                waiting.extend(missing)
                continue
            waiting.pop()
            literals = tuple(part for part in formula.parts if isinstance(part, int))
            inner = tuple(numbers[id(part)] for part in formula.parts if isinstance(part, Junction))
            numbers[id(formula)] = len(gates)
            gates.append((formula.every, literals, inner))
        self._gates = gates
        self._outputs = [formula if isinstance(formula, int) else (numbers[id(formula)],) for formula in formulas]

    def values(self, true: Container[int]) -> list[bool]:
        """The value of each formula, in order, where exactly the atoms in `true` hold."""
        found: list[bool] = []
        for every, literals, inner in self._gates:
            value = every
            for literal in literals:
                if _literal(literal, true) is not every:
                    value = not every
                    break
            else:
                for number in inner:
                    if found[number] is not every:
                        value = not every
                        break
            found.append(value)
        return [_literal(output, true) if isinstance(output, int) else found[output[0]] for output in self._outputs]


def _literal(literal: int, true: Container[int]) -> bool:
    return literal in true if literal > 0 else -literal not in true


def default(formula: Formula, known: dict[int, bool]) -> bool:
    """The value of `formula` where no atom holds; `known` remembers junctions by id."""
    if isinstance(formula, int):
        return formula < 0
    value = known.get(id(formula))
    if value is None:
        values = (default(part, known) for part in formula.parts)
        value = known[id(formula)] = all(values) if formula.every else any(values)
    return value


MOST_TRIGGERS = 64


class Triggers:
    """Finds atoms of a formula such that, while none of them holds, it keeps the value it has where none holds at all.

    A literal's atom is its trigger. An AND that is false by default stays so while one false part does: the smallest
    trigger set of those parts is enough; likewise an OR that is true. Any other junction needs the union of its parts'.
    """

    def __init__(self, lasting: Container[int]) -> None:
        self._lasting = lasting
        self._defaults: dict[int, bool] = {}
        self._found: dict[int, frozenset[int] | None] = {}

    def default(self, formula: Formula) -> bool:
        """The value of `formula` where no atom holds."""
        return default(formula, self._defaults)

    def of(self, formula: Formula) -> frozenset[int] | None:
        """The triggers of `formula`; None where they would be more than `MOST_TRIGGERS`: any atom may matter."""
        if isinstance(formula, int):
            return frozenset((abs(formula),))
        key = id(formula)
        if key in self._found:
            return self._found[key]
        deciding = [part for part in formula.parts if self.default(part) is not formula.every]
        found: frozenset[int] | None
        if deciding:
            found = min((self.of(part) for part in deciding), key=self._weight)
        else:
            sets = [self.of(part) for part in formula.parts]
            union: set[int] = set()
            for one in sets:
                if one is None or len(union) > MOST_TRIGGERS:
                    break
                union |= one
            found = None if None in sets or len(union) > MOST_TRIGGERS else frozenset(union)
        self._found[key] = found
        return found

    def _weight(self, triggers: frozenset[int] | None) -> int:
        # An atom about all turns so far tends to stay true, so it would ask the engine in every turn.
        if triggers is None:
            return 1_000_000
        return sum(1000 if atom in self._lasting else 1 for atom in triggers)
