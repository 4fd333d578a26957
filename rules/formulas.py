"""Formulas: what must hold for a rule, as ANDs and ORs over numbered atoms.

An atom is a question's number, from 1; `-n` says that atom `n` does not hold. Formulas are in negation normal form and
may share parts, so that a rule that many others depend on is held once.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence


class Junction:
    """The AND (`every`) or the OR of its parts; the empty AND is always true, the empty OR never."""

    __slots__ = ("cached_opposite", "every", "parts")

    def __init__(self, every: bool, parts: "tuple[Formula, ...]") -> None:
        self.every = every
        self.parts = parts
        self.cached_opposite: Junction | None = None

    def __repr__(self) -> str:
        return f"{'AND' if self.every else 'OR'}{self.parts!r}"


Formula = int | Junction

TRUE = Junction(True, ())
FALSE = Junction(False, ())
TRUE.cached_opposite, FALSE.cached_opposite = FALSE, TRUE


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


def parts_first(formulas: Iterable[Formula], known: Callable[[Junction], bool]) -> Iterator[Junction]:
    """The junctions in `formulas`, each behind its parts, without those that are `known` and what is below them.

    Whoever goes through them makes each known before the next. No recursion: chains of dependencies can be long.
    """
    waiting: list[Formula] = list(formulas)
    waiting.reverse()
    while waiting:
        formula = waiting[-1]
        if isinstance(formula, int) or known(formula):
            waiting.pop()
        elif missing := [part for part in formula.parts if not isinstance(part, int) and not known(part)]:
            waiting.extend(missing)
        else:
            yield formula


def opposite(formula: Formula) -> Formula:
    """What holds exactly when `formula` does not; made once for each junction, so sharing is kept."""
    if isinstance(formula, int):
        return -formula
    for junction in parts_first((formula,), lambda each: each.cached_opposite is not None):
        parts = [-part if isinstance(part, int) else part.cached_opposite for part in junction.parts]
        junction.cached_opposite = made = Junction(
            not junction.every, tuple(part for part in parts if part is not None)
        )
        made.cached_opposite = junction
    assert formula.cached_opposite is not None  # noqa: S101 - `parts_first` has come to it
    return formula.cached_opposite


class Circuit:
    """Several formulas laid out so that each junction stands behind its parts: no recursion, shared parts once."""

    __slots__ = ("_gates", "_outputs")

    def __init__(self, formulas: Sequence[Formula]) -> None:
        numbers: dict[int, int] = {}  # id of a junction → its gate; the junctions live as long as `formulas` does
        gates: list[tuple[bool, tuple[int, ...], tuple[int, ...]]] = []
        for junction in parts_first(formulas, lambda each: id(each) in numbers):
            literals = tuple(part for part in junction.parts if isinstance(part, int))
            inner = tuple(numbers[id(part)] for part in junction.parts if not isinstance(part, int))
            numbers[id(junction)] = len(gates)
            gates.append((junction.every, literals, inner))
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


MOST_TRIGGERS = 64


class Triggers:
    """For each formula, atoms such that, while none of them holds, it keeps the value it has where none holds at all.

    A literal's atom is its trigger. An AND that is false by default stays so while one false part does: the smallest
    trigger set of those parts is enough; likewise an OR that is true. Any other junction needs the union of its parts'.
    Atoms in `lasting` are chosen last: they tend to stay true, and would ask the engine in every turn.
    """

    def __init__(self, formulas: Sequence[Formula], lasting: Container[int]) -> None:
        self._lasting = lasting
        self._defaults: dict[int, bool] = {}
        self._found: dict[int, frozenset[int] | None] = {}
        for junction in parts_first(formulas, lambda each: id(each) in self._found):
            values = [self.default(part) for part in junction.parts]
            self._defaults[id(junction)] = all(values) if junction.every else any(values)
            self._found[id(junction)] = self._of_junction(junction)

    def default(self, formula: Formula) -> bool:
        """The value of `formula`, one of those given, where no atom holds."""
        return formula < 0 if isinstance(formula, int) else self._defaults[id(formula)]

    def of(self, formula: Formula) -> frozenset[int] | None:
        """The triggers of `formula`, one of those given; None where they are too many, and any atom may matter."""
        return frozenset((abs(formula),)) if isinstance(formula, int) else self._found[id(formula)]

    def _of_junction(self, junction: Junction) -> frozenset[int] | None:
        deciding = [part for part in junction.parts if self.default(part) is not junction.every]
        if deciding:
            return min((self.of(part) for part in deciding), key=self._weight)
        union: set[int] = set()
        for part in junction.parts:
            triggers = self.of(part)
            if triggers is None:
                return None
            union |= triggers
            if len(union) > MOST_TRIGGERS:
                return None
        return frozenset(union)

    def _weight(self, triggers: frozenset[int] | None) -> int:
        if triggers is None:
            return 1_000_000
        return sum(1000 if atom in self._lasting else 1 for atom in triggers)
