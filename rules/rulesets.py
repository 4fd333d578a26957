"""Rule sets, groups and rules, as the author wrote them."""

from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from .authored import Authored, Flag
from .conditions import Condition

Strategy = Literal["executeUntilFirstSuccess", "executeAll", ""]


class Rule(Authored):
    """A named list of actions that is emitted when every condition holds; without conditions always."""

    name: str = ""
    actions: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()


class Group(Authored):
    """Rules tried in order, up to the first that succeeds unless the strategy is `executeAll`.

    `behaviorRules` is as good a key as `rules`, which is written.
    """

    name: str | None = None
    execution_strategy: Strategy | None = None
    rules: Annotated[tuple[Rule, ...], Field(validation_alias=AliasChoices("rules", "behaviorRules"))] = ()

    @property
    def first_match(self) -> bool:
        """Whether the group ends at its first success."""
        return self.execution_strategy != "executeAll"


class RuleSet(Authored):
    """Groups that are all evaluated, in order, on the same facts."""

    behavior_groups: tuple[Group, ...] = ()
    append_actions: Flag | None = None
    expressions_as_actions: Flag | None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of all groups, in order."""
        return tuple([rule for group in self.behavior_groups for rule in group.rules])
