"""What the steps of an agent ask, emit and answer, laid out for the checks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, Protocol

from ..agents import AgentDefinition, Policy, RulesSettings, StepDefinition, WorkflowFile
from ..authored import Authored, action_run, task_name
from ..calls import HttpCallsFile
from ..conditions import (
    ActionMatcher,
    Condition,
    DigestMatcher,
    DynamicValueMatcher,
    Negation,
    Occurrence,
    OutcomeMatcher,
)
from ..llm import LlmFile
from ..outputs import OutputSet
from ..places import Pointer
from ..properties import PropertySetter
from ..rulesets import Rule, RuleSet

SPECIAL = frozenset({"CONVERSATION_START", "CONVERSATION_END", "STOP_CONVERSATION", "PAUSE_CONVERSATION"})
"""Actions that a conversation itself knows."""

FAILED = "task_failed_"
"""What the action begins with that a failing task adds."""


class Asked(NamedTuple):
    """A condition, where it stands, and whether it helps its rule to fire (False: inside a negation)."""

    condition: Condition
    at: Pointer
    helps: bool


class FailureAsked(NamedTuple):
    """A question about the failure of `task`, as it is written: whether its action, outcome or digest is there.

    That of a `row` is answered with yes in later turns, too, until the task runs again.
    """

    task: str
    kind: Literal["action", "outcome", "digest"]
    occurrence: Occurrence
    at: Pointer
    helps: bool
    row: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedRule:
    """A rule, where it stands, and its conditions at every depth."""

    rule: Rule
    at: Pointer
    asked: Sequence[Asked]

    def failures(self) -> Iterator[FailureAsked]:
        """What the rule asks about failures."""
        for condition, at, helps in self.asked:
            match condition:
                case ActionMatcher(configs=configs):
                    for action in action_run(configs.actions):
                        if action.startswith(FAILED):
                            task, place = action.removeprefix(FAILED), (*at, "configs", "actions")
                            yield FailureAsked(task, "action", configs.occurrence, place, helps)
                case OutcomeMatcher(configs=configs) if configs.status == "failed":
                    task, place = task_name(configs.task_id), (*at, "configs", "taskId")
                    row = int(configs.min_consecutive) > 1
                    yield FailureAsked(task, "outcome", configs.occurrence, place, helps, row)
                case DigestMatcher(configs=configs):
                    task, place = task_name(configs.task_id), (*at, "configs", "taskId")
                    yield FailureAsked(task, "digest", configs.occurrence, place, helps)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedSet:
    """A rule set and the positions of the steps that ask it."""

    rule_set: RuleSet
    places: Sequence[int]
    rules: Sequence[SurveyedRule]


class Waiting(NamedTuple):
    """What waits for an action (an output, a call, a model, a property): its step's position, and where it stands."""

    place: int
    action: str
    model: Authored
    at: Pointer


class Survey:
    """An agent seen from what passes between its steps, which are known by their positions."""

    def __init__(self, agent: AgentDefinition) -> None:
        self.policy: Policy = agent.policy
        self.steps: Sequence[StepDefinition] = agent.steps
        self.sets: list[SurveyedSet] = []
        self.outputs: dict[int, OutputSet] = {}
        self.callers: list[int] = []
        """The positions of the tasks that ask servers."""
        self.brought: list[int] = []
        """The positions of tasks that are brought from outside: they may do anything."""
        self.emits_expressions = False
        asked: dict[int, tuple[RuleSet, list[int]]] = {}
        for place, step in enumerate(agent.steps):
            match step.settings:
                case RulesSettings(rule_set=rule_set):
                    asked.setdefault(id(rule_set), (rule_set, []))[1].append(place)
                    self.emits_expressions |= bool(_flag(step.settings.expressions_as_actions, rule_set))
                case OutputSet() as outputs:
                    self.outputs[place] = outputs
                case HttpCallsFile() | LlmFile():
                    self.callers.append(place)
                case None:
                    self.brought.append(place)
        for rule_set, places in asked.values():
            self.sets.append(SurveyedSet(rule_set=rule_set, places=places, rules=surveyed(rule_set)))
        self.task_ids: dict[str, list[int]] = {}
        """The tasks by id, with the positions of their steps."""
        for place, step in enumerate(agent.steps):
            self.task_ids.setdefault(step.task, []).append(place)
        self.unused = {
            name
            for source in agent.sources
            for name, model, parts in [_parts(source.model)]
            if parts and not any(_runs(step, model) for step in agent.steps)
        }
        """`rules` and `output`, where a file holds them and no step runs them."""
        self.waiting = list(self._waiting())
        self.emitted: dict[str, set[int]] = {}
        """The actions of all rules, each with the positions of the steps that can emit it."""
        self.matched: set[str] = set()
        """The actions that some rule asks for."""
        for each in self.sets:
            for one in each.rules:
                for action in one.rule.actions:
                    self.emitted.setdefault(action, set()).update(each.places)
                for condition, _, _ in one.asked:
                    if isinstance(condition, ActionMatcher):
                        self.matched.update(action_run(condition.configs.actions))
                    elif isinstance(condition, DynamicValueMatcher):
                        # It may look into a list of actions.
                        self.matched.update(filter(None, (condition.configs.equals, condition.configs.contains)))
        self.neighbours = {
            pair for each in self.sets for one in each.rules for pair in pairwise(dict.fromkeys(one.rule.actions))
        }
        """Pairs of actions that a rule emits side by side."""
        self.rule_names = {one.rule.name for each in self.sets for one in each.rules}
        self.said = {waits.action for waits in self.waiting if isinstance(waits.model, OutputSet)}
        """The actions that there are outputs for."""
        self.called: dict[str, set[int]] = {}
        """The actions that servers are asked and properties are set for, with the positions of the steps; `*`: any."""
        for waits in self.waiting:
            if not isinstance(waits.model, OutputSet):
                self.called.setdefault(waits.action, set()).add(waits.place)

    def _waiting(self) -> "Iterator[Waiting]":
        for place, outputs in self.outputs.items():
            for number, output in enumerate(outputs.output_set):
                yield Waiting(place, output.action, outputs, ("outputSet", number, "action"))
        for place, step in enumerate(self.steps):
            match step.settings:
                case HttpCallsFile(http_calls=parts) as calls:
                    yield from _waits(place, calls, ("httpCalls",), parts)
                case LlmFile(tasks=parts) as models:
                    yield from _waits(place, models, ("tasks",), parts)
                case PropertySetter(set_on_actions=parts) as setter:
                    model, at = _written(step, setter)
                    # A property that any action sets answers none of them.
                    waits = _waits(place, model, (*at, "setOnActions"), parts)
                    yield from (each for each in waits if each.action != "*")

    @property
    def continues(self) -> bool:
        """Whether the turn goes on after a failure."""
        return self.policy.enabled and self.policy.continue_on_failure

    @property
    def reroutes(self) -> bool:
        """Whether rules are asked again after a failure."""
        return self.continues and self.policy.reroute_on_failure

    @property
    def emits_unknown(self) -> bool:
        """Whether there may be actions that no rule emits."""
        return bool(self.brought) or self.emits_expressions

    def fallible(self) -> dict[str, list[int]]:
        """The tasks that work with the world outside, by id, with their positions."""
        found: dict[str, list[int]] = {}
        for place in sorted([*self.callers, *self.brought]):
            found.setdefault(self.steps[place].task, []).append(place)
        return found

    def sees_failure(self, task: str, places: Sequence[int]) -> bool:
        """Whether a step at one of `places` can work on the action of a failure in the turn of the failure."""
        return self.continues and any(
            place > failed or (self.reroutes and place != failed) for failed in self.task_ids[task] for place in places
        )


class _Waiter(Protocol):
    @property
    def actions(self) -> Sequence[str]: ...


def _waits(place: int, model: Authored, at: Pointer, parts: Sequence[_Waiter]) -> Iterator[Waiting]:
    for number, part in enumerate(parts):
        for nth, action in enumerate(part.actions):
            yield Waiting(place, action, model, (*at, number, "actions", nth))


def _written(step: StepDefinition, setter: PropertySetter) -> tuple[Authored, Pointer]:
    """The document that a setter stands in, its own or that of its step, and where."""
    if step.place is not None and isinstance(step.place[0].model, WorkflowFile):
        number = step.place[1][-1]
        if isinstance(number, int) and step.place[0].model.workflow_steps[number].config.uri is None:
            return step.place[0].model, (*step.place[1], "config")
    return setter, ()


def surveyed(rule_set: RuleSet) -> list[SurveyedRule]:
    """The rules of a set, in order."""
    return [
        SurveyedRule(rule=rule, at=at, asked=list(_asked(rule, at)))
        for g, group in enumerate(rule_set.behavior_groups)
        for r, rule in enumerate(group.rules)
        for at in [("behaviorGroups", g, "rules", r)]
    ]


def _asked(rule: Rule, at: Pointer) -> Iterator[Asked]:
    waiting = [(rule.conditions, at, True)]
    while waiting:
        conditions, above, helps = waiting.pop()
        for number, condition in enumerate(conditions):
            here = (*above, "conditions", number)
            yield Asked(condition, here, helps)
            if condition.conditions:
                waiting.append((condition.conditions, here, helps is not isinstance(condition, Negation)))


def _parts(model: object) -> tuple[str, object, Sequence[object]]:
    """The rules or outputs that a document holds, and the step that runs them."""
    match model:
        case RuleSet():
            return "rules", model, model.rules
        case OutputSet():
            return "output", model, model.output_set
    return "", model, ()


def _runs(step: StepDefinition, model: object) -> bool:
    return (step.settings.rule_set if isinstance(step.settings, RulesSettings) else step.settings) is model


def _flag(own: bool | None, rule_set: RuleSet) -> bool | None:
    return own if own is not None else rule_set.expressions_as_actions
