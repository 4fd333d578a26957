"""The samples: their checks pass and cover everything, and the text of an agent behaves as its JSON does."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from building import CONDITION_TYPES
from turnout.app import open_agent
from turnout.app.command import main
from turnout.app.testing import read_suite, run_check, suite_of
from turnout.engine.turns import Turn
from turnout.grammar.explain import asked
from turnout.rules.agents import AgentDefinition, RulesSettings
from turnout.rules.conditions import AnyCondition, Negation
from turnout.rules.rulesets import RuleSet

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
DESK = SAMPLES / "support-desk" / "support-desk.turnout"

Conditions = tuple[AnyCondition, ...]


def test_the_checks_of_the_samples_pass_and_cover_everything() -> None:
    assert main(["test", str(SAMPLES), "--coverage", "--fail-under", "100"]) == 0


def test_nothing_is_to_be_said_against_the_texts() -> None:
    assert main(["check", *map(str, sorted(SAMPLES.rglob("*.turnout"))), "--strict"]) == 0


def test_the_texts_are_laid_out() -> None:
    assert main(["fmt", "--check", str(SAMPLES)]) == 0


def seen(turn: Turn) -> tuple[object, ...]:
    """All of a turn but how long it took."""
    outcomes = [(one.task, one.status, one.error_type, one.reason) for one in turn.outcomes]
    rules = (turn.fired, turn.failed, turn.rerouted)
    reply = (turn.output, turn.quick_replies, turn.errors)
    return (turn.input, turn.state, turn.actions, reply, outcomes, rules, turn.model_view)


@pytest.mark.parametrize("task", [None, "ai.labs.parser", "ai.labs.behavior", "ai.labs.output"])
def test_the_weather_as_text_behaves_as_the_weather_as_json(task: str | None) -> None:
    """Nothing listens at the address of its service; and each of its tasks is made to fail."""
    says = ["hello", "What's the weather in Vienna?", "Vienna", "The weather in Vienna", "is it raining", "?!", "Bye"]
    turns = []
    for name in ("weather", "weather.turnout"):
        agent = open_agent(SAMPLES / name)
        agent = agent if task is None else agent.failing(task)
        for start in (True, False):
            conversation = agent.conversation(chance=random.Random(7))
            turns.append([conversation.start_sync()] if start else [])
            turns[-1] += [conversation.say_sync(text) for text in says]
    json, text = turns[:2], turns[2:]
    assert [[seen(turn) for turn in talk] for talk in json] == [[seen(turn) for turn in talk] for talk in text]


def test_the_support_desk_has_every_type_of_condition_that_a_check_can_set_up() -> None:
    """What agents there are with a skill is nothing that a check can say."""
    settings = (step.settings for step in read_suite(DESK).agent.definition.steps)
    (rule_set,) = (one.rule_set for one in settings if isinstance(one, RulesSettings))
    rules = [rule for group in rule_set.behavior_groups for rule in group.rules]
    assert {one.type for rule in rules for one in every(rule.conditions)} == {*CONDITION_TYPES} - {"capabilityMatch"}


def every(conditions: Conditions) -> Iterator[AnyCondition]:
    """The conditions and all in them."""
    for condition in conditions:
        yield condition
        yield from every(condition.conditions)


def test_without_any_one_of_its_conditions_or_with_its_opposite_a_check_of_the_support_desk_fails() -> None:
    suite = read_suite(DESK)
    tried, survivors = 0, []
    for what, definition in mutants(suite.agent.definition):
        changed = suite_of(definition, suite.checks)
        tried += 1
        if not any(run_check(changed, check).failures for check in changed.checks):
            survivors.append(what)
    assert tried > 50
    assert survivors == []


def mutants(agent: AgentDefinition) -> Iterator[tuple[str, AgentDefinition]]:
    """Each condition at every depth deleted, and negated: what was done, and the agent that it was done to."""
    for number, step in enumerate(agent.steps):
        if isinstance(step.settings, RulesSettings):
            for what, rule_set in rule_sets(step.settings.rule_set):
                changed = replace(step, settings=replace(step.settings, rule_set=rule_set))
                yield what, replace(agent, steps=(*agent.steps[:number], changed, *agent.steps[number + 1 :]))


def rule_sets(rule_set: RuleSet) -> Iterator[tuple[str, RuleSet]]:
    groups = rule_set.behavior_groups
    for at, group in enumerate(groups):
        for place, rule in enumerate(group.rules):
            for what, conditions in changes(rule.conditions):
                changed = rule.model_copy(update={"conditions": conditions})
                rules = (*group.rules[:place], changed, *group.rules[place + 1 :])
                other = group.model_copy(update={"rules": rules})
                made = rule_set.model_copy(update={"behavior_groups": (*groups[:at], other, *groups[at + 1 :])})
                yield f"in rule `{rule.name}`: {what}", made


def changes(conditions: Conditions, *, needed: bool = False) -> Iterator[tuple[str, Conditions]]:
    """The conditions with one of them deleted or negated; where one is `needed`, the last stays."""
    for place, condition in enumerate(conditions):
        before, after = conditions[:place], conditions[place + 1 :]
        if before or after or not needed:
            yield f"delete {asked(condition)}", (*before, *after)
        negated = Negation(type="negation", conditions=(condition,))
        yield f"negate {asked(condition)}", (*before, negated, *after)
        for what, inner in changes(condition.conditions, needed=True):
            yield what, (*before, condition.model_copy(update={"conditions": inner}), *after)
