"""Why a rule did not fire: the first condition that did not hold, what was seen, and what would have made it fire."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ..engine.misses import Miss, deciding
from ..engine.turns import Turn
from ..grammar.explain import answer, asked, seen
from ..grammar.names import value
from .printing import plain, print_columns

ORDER = "nearest misses first"


def explain(turn: Turn, rule: str) -> str:
    """What became of the rule of that name in a turn, in words; lines without a line end.

    Raises `UsageError` where the turn asked no such rule.
    """
    finding = turn.explain(rule)
    name = value(finding.rule.name)
    miss = next((miss for miss in turn.misses if miss.finding.rule is finding.rule), None)
    if miss is None:
        return f"rule {name} fired{' after a task had failed' if rule in turn.rerouted else ''}"
    rows = list(_rows(miss))
    if finding.behind is not None:
        rows.insert(0, ("behind", f"rule {value(finding.behind.name)} of its group, which fired first"))
    return "\n".join([f"rule {name} did not fire", *(f"  {label:6}  {text}" for label, text in rows)])


def missed_data(miss: Miss) -> Mapping[str, object]:
    """What kept a rule from firing, as JSON in the words of `print_missed`.

    `needed` lists what would have to be so, null where that is not known, or `impossible`; `behind` names the rule of
    the group that fired first.
    """
    finding, answers = miss.finding, miss.change.answers
    first = finding.first_miss
    return {
        "rule": finding.rule.name,
        "verdict": finding.verdict,
        "held": finding.held,
        "of": len(finding.rule.conditions),
        "condition": None if first is None else asked(first.condition),
        "seen": _seen(miss),
        "needed": None if answers is None else [answer(*one) for one in answers],
        "impossible": answers is None and miss.change.exact,
        "behind": None if finding.behind is None else finding.behind.name,
    }


def missed_words(miss: Miss) -> list[str]:
    """What kept a rule from firing, a line for each thing, in the words of `print_missed`."""
    behind = miss.finding.behind
    before = [] if behind is None else [f"behind rule {value(behind.name)} of its group, which fired first"]
    return [*before, *(f"{label} {text}".strip() for label, text in _rows(miss))]


def print_missed(console: Console, misses: Sequence[Miss]) -> None:
    """Print what kept rules from firing, in the order given, then those that were not reached."""
    unreached: dict[str, list[Miss]] = {}
    for miss in misses:
        if miss.finding.behind is not None:
            unreached.setdefault(miss.finding.behind.name, []).append(miss)
            continue
        console.print(Text(f"  {plain(miss.finding.rule.name)}"))
        print_columns(console, _rows(miss), left=4)
    for behind, missed in unreached.items():
        console.print(Text(f"  not reached, because {plain(value(behind))} of their group fired first"))
        print_columns(console, [(miss.finding.rule.name, _unreached(miss)) for miss in missed], left=4)


def _unreached(miss: Miss) -> str:
    hold = "conditions hold" if miss.finding.true else "conditions do not hold"
    needed = "" if miss.change.answers is None else "needed: "
    return f"{hold}; {needed}{' '.join(_change(miss, ''))}"


def _rows(miss: Miss) -> Iterator[tuple[str, str]]:
    """What is told of a miss: labels, and what stands behind them."""
    finding = miss.finding
    first = finding.first_miss
    of = len(finding.rule.conditions)
    wanted = "" if first is None else asked(first.condition)
    if of > 1:
        yield "held", f"{finding.held} of {of} conditions{'' if first is None else '; the first that did not:'}"
    if first is not None:
        yield "wanted", wanted
    yield from _labelled("seen", _seen(miss))
    yield from _labelled("needed", _change(miss, wanted))


def _seen(miss: Miss) -> list[str]:
    first = miss.finding.first_miss
    return [] if first is None else list(dict.fromkeys(map(seen, deciding(first))))


def _change(miss: Miss, wanted: str) -> Iterator[str]:
    """What would have to be so, a line for each answer."""
    change = miss.change
    if change.answers is None:
        yield "nothing would make it fire" if change.exact else "too much to be told"
        return
    told = [answer(*one) for one in change.answers]
    if len(told) == 1 and told[0].removesuffix(" this turn") == wanted.removesuffix(" this turn"):
        yield "only that"
        return
    for number, text in enumerate(told):
        yield f"and {text}" if number else text


def _labelled(label: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        yield ("" if number else label), line
