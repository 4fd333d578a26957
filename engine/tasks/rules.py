"""The rules task: what happened in the turn goes to the matcher, and the actions of what fires come back."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...rules.agents import RulesSettings
from ...rules.expressions import parse
from ..journal import Journal, conclude, facts_of, step_of
from ..matcher import Answer, Matcher
from ..steps import Step


@dataclass(slots=True, kw_only=True)
class Conclusion:
    """What a step holds after a rule set was asked: names of rules, and actions, each once."""

    succeeded: Sequence[str]
    failed: Sequence[str]
    actions: Sequence[str]


class RulesTask:
    """A step of the turn that asks one rule set."""

    id = "ai.labs.behavior"
    type = "behavior_rules"

    def __init__(self, settings: RulesSettings, matcher: Matcher) -> None:
        rule_set = settings.rule_set
        own, set_wide = settings.append_actions, rule_set.append_actions
        self._append = next((flag for flag in (own, set_wide) if flag is not None), True)
        own, set_wide = settings.expressions_as_actions, rule_set.expressions_as_actions
        self._with_expressions = next((flag for flag in (own, set_wide) if flag is not None), False)
        self._matcher = matcher

    async def execute(self, turn: Journal) -> None:
        """Ask the rules and write what they say."""
        facts = facts_of(turn)
        answer = self._matcher.decide(facts)
        step = step_of(turn)
        after = self.concluded(step, answer)
        conclude(turn, (self._matcher, answer, facts.snapshot()), after.succeeded, after.failed)
        if after.actions is not step.actions:
            turn.set_actions(after.actions)

    def concluded(self, step: Step, answer: Answer) -> Conclusion:
        """What the step holds after `answer`; a sequence that stays as it is is the step's own."""
        actions: Sequence[str] = answer.actions
        if self._with_expressions:
            actions = [*actions, *(expression.name for expression in parse(step.expressions))]
        failed: Sequence[str] = answer.failed_names
        return Conclusion(
            succeeded=_merged(step.succeeded, answer.names, append=self._append),
            failed=_merged(step.failed, failed, append=self._append) if step.failed else failed,
            actions=_merged(step.actions, actions, append=self._append),
        )


def _merged(there: Sequence[str], new: Sequence[str], *, append: bool) -> Sequence[str]:
    """The names to keep: nothing new leaves what is there; else both, or the new ones alone, each once."""
    if not new:
        return there
    return list(dict.fromkeys([*there, *new] if append else new))
