"""Checks of the steps of a text against what stands in it."""

from collections.abc import Iterator

from ..agents import ParserSettings
from ..conditions import InputMatcher
from ..findings import listed
from .found import Found
from .survey import Survey


def step_findings(survey: Survey) -> Iterator[Found]:
    """The steps that are left out though the text has something for them; told at once, at the first step."""
    if not survey.steps or (place := survey.steps[0].place) is None or not place[0].file.endswith(".turnout"):
        return
    source, at = place
    missing = sorted(survey.unused, reverse=True)
    reasons = ["what the file holds for them is never used"] if missing else []
    if _lacks_parser(survey):
        missing.insert(0, "parser")
        reasons.insert(0, "what is typed is never understood as what the rules ask with `user says`")
    if missing:
        yield Found(
            code="L027",
            message=f"the steps leave out {listed(missing)}",
            why=", and ".join(reasons),
            hint=f"add {listed(missing)} to `steps`",
            model=source.model,
            at=(*at, "type"),
        )


def _lacks_parser(survey: Survey) -> bool:
    """Whether rules ask for what was meant, and neither a parser nor a task from outside can tell."""
    if survey.brought or any(isinstance(step.settings, ParserSettings) for step in survey.steps):
        return False
    return any(
        isinstance(condition, InputMatcher)
        for each in survey.sets
        for one in each.rules
        for condition, _, _ in one.asked
    )
