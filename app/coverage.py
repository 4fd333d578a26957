"""Coverage of rules by checks: which fired, which conditions were seen true and seen false, which outputs were said.

It listens to the turns of checks, and counts what the evaluator found of them. As there, a condition behind one that
has decided was not looked at, and a rule behind the one of its group that fired was not reached.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from ..engine.evaluator import Finding
from ..engine.selection import Selected, Selection
from ..engine.turns import Turn
from ..grammar.explain import asked
from ..grammar.names import name, ordinal, value
from ..rules.agents import AgentDefinition, RulesSettings
from ..rules.conditions import AnyCondition, Dependency
from ..rules.findings import Written
from ..rules.outputs import OutputSet
from ..rules.places import Pointer, Spot
from ..rules.rulesets import RuleSet
from ..rules.templates import fits
from ..rules.values import JSON
from .testing import TurnListener


@dataclass(slots=True, kw_only=True)
class Point:
    """Something that checks can cover: a rule (`fired`), an output (`said`), or a condition (`true` and `false`)."""

    file: str
    line: int
    column: int
    what: str
    wanted: tuple[str, ...]
    seen: set[str] = field(default_factory=set)

    @property
    def gaps(self) -> Iterator[str]:
        """What was not seen of it, in words."""
        words = {"fired": "never fired", "said": "never said", "true": "never true", "false": "never false"}
        return (words[one] for one in self.wanted if one not in self.seen)


class Coverage:
    """What the checks of some agents have covered; what two agents share counts once."""

    def __init__(self) -> None:
        self._points: dict[tuple[str, Pointer], Point] = {}

    @property
    def points(self) -> list[Point]:
        """All that can be covered, by its place."""
        return sorted(self._points.values(), key=lambda point: (point.file, point.line, point.column))

    def counts(self, *kinds: str) -> tuple[int, int]:
        """How much was seen, and how much there is to see, of these kinds; of all without any."""
        pairs = [(point, one) for point in self.points for one in point.wanted if not kinds or one in kinds]
        return sum(one in point.seen for point, one in pairs), len(pairs)

    @property
    def percent(self) -> float:
        """How much was seen, in percent, never rounded up; 100 where there is nothing to see."""
        seen, there = self.counts()
        return floor(1000 * seen / there) / 10 if there else 100.0

    def reaches(self, percent: float) -> bool:
        """Whether at least so much was seen, without rounding."""
        seen, there = self.counts()
        return 100 * seen >= Fraction(str(percent)) * there

    def of(self, agent: AgentDefinition) -> TurnListener:
        """What listens to the turns of an agent."""
        # By identity: what findings are about are the very models of the agent.
        points: dict[int, Point] = {}
        selections: list[Selection] = []
        for step in agent.steps:
            model = step.settings.rule_set if isinstance(step.settings, RulesSettings) else step.settings
            if not isinstance(model, RuleSet | OutputSet):
                continue
            source = next((source for source in agent.sources if source.model is model), None)
            targets = list(_rules(model) if isinstance(model, RuleSet) else _outputs(model))
            placed = self._placed(targets, source)
            points |= {id(target.model): point for target, point in zip(targets, placed, strict=True)}
            if isinstance(model, OutputSet):
                selections.append(Selection(model))

        def listen(turn: Turn, counts: Mapping[str, int]) -> None:
            for finding in turn.explanations:
                fired = finding.rule.name in turn.fired and finding.true
                if finding.verdict == "not reached" and not fired:
                    continue
                if fired:
                    points[id(finding.rule)].seen.add("fired")
                for part in _all(finding.parts):
                    points[id(part.condition)].seen.add({"held": "true", "failed": "false"}.get(part.result, ""))
            for selection in selections:
                for entry in selection.select(turn.actions, counts):
                    if _was_said(entry, turn):
                        points[id(entry.output)].seen.add("said")

        return listen

    def _placed(self, targets: Sequence["_Target"], source: Written | None) -> Iterator[Point]:
        """The points of what can be covered in a document, made at most once."""
        file = source.file if source is not None else ""
        places = source.locate([Spot(one.at) for one in targets]) if source is not None else [(0, 0)] * len(targets)
        for target, (line, column) in zip(targets, places, strict=True):
            made = Point(file=file, line=line, column=column, what=target.what, wanted=target.wanted)
            yield self._points.setdefault((file, target.at), made)


@dataclass(frozen=True, slots=True)
class _Target:
    """Something that can be covered, and where it stands in its document."""

    model: object
    at: Pointer
    what: str
    wanted: tuple[str, ...]


def _rules(rule_set: RuleSet) -> Iterator[_Target]:
    for number, group in enumerate(rule_set.behavior_groups):
        for place, rule in enumerate(group.rules):
            at: Pointer = ("behaviorGroups", number, "rules", place)
            yield _Target(rule, at, f"rule {value(rule.name)}", ("fired",))
            yield from _conditions(rule.conditions, at)


def _conditions(conditions: Iterable[AnyCondition], at: Pointer) -> Iterator[_Target]:
    for place, condition in enumerate(conditions):
        here: Pointer = (*at, "conditions", place)
        yield _Target(condition, here, asked(condition), ("true", "false"))
        yield from _conditions(condition.conditions, here)


def _outputs(output_set: OutputSet) -> Iterator[_Target]:
    for place, output in enumerate(output_set.output_set):
        times = f" from the {ordinal(output.times_occurred + 1)} time" if output.times_occurred else ""
        yield _Target(output, ("outputSet", place), f"output {name(output.action)}{times}", ("said",))


def _all(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings and those of their children; what a dependency looked at belongs to another rule."""
    for finding in findings:
        yield finding
        if not isinstance(finding.condition, Dependency):
            yield from _all(finding.parts)


def _was_said(entry: Selected, turn: Turn) -> bool:
    """Whether a selected output stands in the reply, filled in: each of its places, and all that it offers."""
    there = [*turn.output, *turn.quick_replies]
    places = (alternatives for alternatives in entry.elements if alternatives)
    said = all(any(_stands(item, there) for item in alternatives) for alternatives in places)
    return said and all(_stands(reply, there) for reply in entry.quick_replies)


def _stands(item: Mapping[str, JSON], there: Sequence[JSON]) -> bool:
    return item in there or any(_fits(item, other) for other in there)


def _fits(written: JSON, said: JSON) -> bool:
    """Whether a value can have become another one by being filled in."""
    if isinstance(written, str):
        return isinstance(said, str) and fits(written, said)
    if isinstance(written, Mapping):
        return (
            isinstance(said, Mapping)
            and written.keys() == said.keys()
            and all(_fits(value, said[key]) for key, value in written.items())
        )
    return written == said
