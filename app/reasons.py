"""Why a rule did not fire: the first condition that did not hold, what was seen and what was wanted."""

from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console
from rich.text import Text

from ..engine.evaluator import Finding, RuleFinding
from ..rules.conditions import Connector, Dependency, Negation
from .printing import plain, print_columns


def missed(findings: Iterable[RuleFinding]) -> list[RuleFinding]:
    """The rules that did not fire, nearest misses first: those whose conditions held for the most part."""
    return sorted((one for one in findings if one.verdict != "fired"), key=_distance)


def _distance(finding: RuleFinding) -> tuple[bool, float]:
    of = len(finding.rule.conditions)
    return finding.verdict == "not reached", -finding.held / of if of else -1.0


def missed_data(finding: RuleFinding) -> Mapping[str, object]:
    """What kept a rule from firing, as JSON."""
    data: dict[str, object] = {
        "rule": finding.rule.name,
        "verdict": finding.verdict,
        "held": finding.held,
        "of": len(finding.rule.conditions),
    }
    if finding.first_miss is not None:
        deepest = _deepest(finding.first_miss)
        data |= {"condition": deepest.condition.type, "wanted": deepest.wanted, "seen": deepest.seen}
    return data


def print_missed(console: Console, findings: Iterable[RuleFinding]) -> None:
    """Print what kept rules from firing, nearest misses first, then the names of those not reached."""
    beyond: list[str] = []
    for finding in missed(findings):
        if finding.verdict == "not reached":
            beyond.append(finding.rule.name)
            continue
        console.print(Text(f"  {plain(finding.rule.name)}"))
        print_columns(console, [(line,) for line in _reasons(finding)], left=4)
    if beyond:
        console.print(Text("  not reached, because an earlier rule of the group fired"))
        print_columns(console, [(", ".join(beyond),)], left=4)


def _reasons(finding: RuleFinding) -> Iterator[str]:
    of = len(finding.rule.conditions)
    if of > 1:
        yield f"{finding.held} of {of} conditions held, then:"
    if finding.first_miss is not None:
        yield from _told(finding.first_miss)


def _told(finding: Finding) -> Iterator[str]:
    match finding.condition:
        case Negation():
            yield "`negation`: all of its conditions held, and one must not"
        case Connector(configs=configs) if configs.operator.upper() == "OR":
            yield "`connector`: none of its conditions held"
            for part in finding.parts:
                for line in _told(part):
                    yield f"  {line}"
        case Connector():
            yield from _told(finding.parts[-1])
        case Dependency(configs=configs):
            yield f"`dependency`: rule `{configs.reference}` would not fire"
        case condition:
            wanted = f"wanted {_quoted(finding.wanted)}, " if finding.wanted else ""
            yield f"`{condition.type}`: {wanted}saw {_quoted(finding.seen)}"


def _deepest(finding: Finding) -> Finding:
    """The condition that decided: of a junction the last one that was looked at."""
    while isinstance(finding.condition, Connector) and finding.parts:
        finding = finding.parts[-1]
    return finding


_LONGEST = 100


def _quoted(text: str) -> str:
    if not text:
        return "nothing"
    line = " ".join(text.split())
    return f"`{line[: _LONGEST - 1]}…`" if len(line) > _LONGEST else f"`{line}`"
