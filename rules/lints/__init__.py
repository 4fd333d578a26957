"""The checks beyond loading: what an agent, a rule set or an output set holds that cannot be meant.

Each finding is a warning with a stable code, and has a page in `docs/checks`. Only what is certain is told: what a task
from outside may do, or a formula too large to look into, is passed over.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..agents import AgentDefinition
from ..errors import Problem
from ..findings import Written
from ..outputs import OutputSet
from ..places import Spot
from ..reading import collector_paused
from ..rulesets import RuleSet
from .actions import action_findings, time_findings
from .comparing import condition_findings
from .failures import failure_findings
from .found import Found, Telling, Words
from .questions import Asking
from .reach import reach_findings
from .sifting import sifted
from .steps import step_findings
from .survey import Survey, surveyed
from .templates import template_findings

__all__ = ["Report", "lint_agent", "lint_document"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the checks found, and how many findings the author has silenced."""

    problems: tuple[Problem, ...] = ()
    silenced: int = 0


def lint_agent(agent: AgentDefinition) -> Report:
    """Check an agent that was read from files; what its `sources` do not hold has no place and is left out."""
    survey = Survey(agent)
    found = [*step_findings(survey), *failure_findings(survey, agent.sources), *action_findings(survey)]
    found += template_findings(survey)
    for each in survey.sets:
        found += _rule_findings(Asking(each.rule_set, each.rules), survey)
    workflows = [step.place[0] for step in agent.steps if step.place is not None]
    return _report(list({id(source): source for source in [*agent.sources, *workflows]}.values()), found)


def lint_document(source: Written) -> Report:
    """Check a rule set or an output set by itself; there is nothing to say of other documents."""
    match source.model:
        case RuleSet() as rule_set:
            return _report([source], _rule_findings(Asking(rule_set, surveyed(rule_set))))
        case OutputSet() as outputs:
            return _report([source], time_findings(outputs))
    return Report()


def _rule_findings(asking: Asking, survey: Survey | None = None) -> Iterator[Found]:
    yield from condition_findings(asking)
    yield from reach_findings(asking, survey)


def _report(sources: Sequence[Written], found: Iterable[Found]) -> Report:
    by_model: dict[int, list[Found]] = {}
    with collector_paused():
        for one in found:
            by_model.setdefault(id(one.model), []).append(one)
    problems: list[Problem] = []
    silenced = 0
    for source in sources:
        kept, quiet = sifted(source.model, by_model.get(id(source.model), []))
        problems += _placed(source, kept)
        silenced += quiet
    files = list(dict.fromkeys(problem.file for problem in problems))
    problems.sort(key=lambda problem: (files.index(problem.file), problem.line, problem.column))
    return Report(problems=tuple(problems), silenced=silenced)


def _placed(source: Written, found: Sequence[Found]) -> Iterator[Problem]:
    """The findings about one document as problems."""
    if not found:
        return
    others = [one.at if one.other is None else one.other for one in found]
    places = source.locate([Spot(at) for at in [*(one.at for one in found), *others]])
    for one, (line, column), (other, _) in zip(found, places[: len(found)], places[len(found) :], strict=True):
        telling = Telling(other, source.file.endswith(".turnout"))
        yield Problem(
            code=one.code,
            message=_told(one.message, telling),
            why=_told(one.why, telling),
            hint=_told(one.hint, telling),
            file=source.file,
            line=line,
            column=column,
            severity="warning",
        )


def _told(words: Words, telling: Telling) -> str:
    return words if isinstance(words, str) else words(telling)
