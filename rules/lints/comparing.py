"""Checks of conditions that contradict or repeat each other, decided over the questions they ask."""

from collections.abc import Iterator, Sequence
from functools import partial

from ..conditions import Connector, Dependency, Negation
from ..formulas import TRUE, Formula, Junction, conjunction, disjunction
from ..places import Pointer
from ..relations import Relations
from ..rulesets import Rule
from .entailment import follows, solve
from .found import Found, Telling, Words, named
from .questions import Asking, Siblings

MOST_CONDITIONS = 12
"""Conditions beside one another that are compared; of more, nothing is concluded."""


def condition_findings(asking: Asking) -> Iterator[Found]:
    """The conditions that contradict or repeat each other, or that have one answer whatever happens."""
    for one, lists in zip(asking.rules, asking.siblings, strict=True):
        for siblings in reversed(lists):  # what stands inside comes first, and what is wrong there is told only there
            found = list(_compared(asking, one.rule, siblings))
            yield from found
            if any(each.code == "L024" for each in found):
                break


def _compared(asking: Asking, rule: Rule, siblings: Siblings) -> Iterator[Found]:
    formulas, relations = siblings.formulas, asking.relations
    constant = [
        number for number, formula in enumerate(formulas) if isinstance(formula, Junction) and not formula.parts
    ]
    for number in constant:
        yield from _constant(asking, rule, siblings, number, formulas[number] is TRUE)
    if constant or not 1 < len(formulas) <= MOST_CONDITIONS or not asking.are_related(formulas):
        return
    if any(solve(formula, relations).impossible for formula in formulas):
        return  # bounds that can never hold are told while reading
    if siblings.every and (pair := _contradiction(formulas, relations)) is not None:
        earlier, later = pair
        yield _found(
            asking,
            "L024",
            f"conditions of rule {named(rule.name)} contradict each other",
            siblings.place(later),
            why=lambda told: (
                "this one never holds together with "
                + (f"that of line {told.line}" if earlier >= 0 else "those before it")
            ),
            hint="take one of them out",
            other=siblings.place(max(earlier, 0)),
        )
    else:
        yield from _repeated(asking, rule, siblings)


def _constant(asking: Asking, rule: Rule, siblings: Siblings, number: int, always: bool) -> Iterator[Found]:
    condition = siblings.conditions[number]
    # What stands inside is told where it stands, and a dependency on nothing while reading.
    if not isinstance(condition, Connector | Negation | Dependency):
        yield _found(
            asking,
            "L025" if always else "L024",
            f"`{condition.type}` in rule {named(rule.name)} {'always' if always else 'never'} holds",
            siblings.place(number),
            why="whatever happens",
            hint="correct its `configs`, or take it out",
        )


def _found(
    asking: Asking, code: str, message: str, at: Pointer, *, why: Words, hint: str, other: Pointer | None = None
) -> Found:
    return Found(code=code, message=message, model=asking.rule_set, at=at, why=why, hint=hint, other=other)


def _contradiction(formulas: Sequence[Formula], relations: Relations) -> tuple[int, int] | None:
    """The first formula that cannot hold with those before it, and the one of these that is enough, or -1."""
    for later in range(1, len(formulas)):
        if solve(conjunction(formulas[: later + 1]), relations).impossible:
            pairs = (conjunction([formulas[earlier], formulas[later]]) for earlier in range(later))
            return next((n for n, pair in enumerate(pairs) if solve(pair, relations).impossible), -1), later
    return None


def _repeated(asking: Asking, rule: Rule, siblings: Siblings) -> Iterator[Found]:
    """The conditions that follow from the others (AND), or that the others follow from (OR), last ones first."""
    join = conjunction if siblings.every else disjunction

    def adds_nothing(formula: Formula, others: Formula) -> bool:
        wide, narrow = (formula, others) if siblings.every else (others, formula)
        return follows(wide, narrow, asking.relations)

    kept = dict(enumerate(siblings.formulas))
    for number in reversed(range(len(siblings.formulas))):
        formula = kept.pop(number)
        if not kept or not adds_nothing(formula, join(kept.values())):
            kept[number] = formula
            continue
        alike = next((n for n, other in kept.items() if adds_nothing(formula, other)), -1)
        yield _found(
            asking,
            "L025",
            f"a condition of rule {named(rule.name)} adds nothing",
            siblings.place(number),
            why=partial(_both, every=siblings.every, alike=alike >= 0),
            hint="take it out",
            other=siblings.place(max(alike, 0)),
        )


def _both(told: Telling, *, every: bool, alike: bool) -> str:
    others = f"that of line {told.line} does" if alike else "the others do"
    return f"it holds whenever {others}" if every else f"whenever it holds, {others} as well"
