"""What the checks say of rules is true in every turn: they are held against the engine."""

from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from properties.test_matcher_evaluator import leaves, properties, rule_sets, steps, surroundings

from building import rules, step
from turnout.engine.agents import Agent
from turnout.engine.evaluator import evaluate
from turnout.engine.facts import Facts
from turnout.engine.history import History
from turnout.engine.index import Index
from turnout.engine.steps import Step
from turnout.engine.tasks import FunctionTask
from turnout.rules.agents import AgentDefinition, Policy, Surroundings
from turnout.rules.compiling import compile_conditions
from turnout.rules.lints.comparing import condition_findings
from turnout.rules.lints.entailment import follows, holds, solve
from turnout.rules.lints.questions import Asking
from turnout.rules.lints.reach import reach_findings
from turnout.rules.lints.survey import Survey, surveyed
from turnout.rules.reading import read_rule_set
from turnout.rules.relations import Relations, entails, slots
from turnout.rules.rulesets import RuleSet

conversations = st.lists(steps(), min_size=1, max_size=4)


@st.composite
def alike(draw: st.DrawFn) -> RuleSet:
    """Rules of one group that are made of a handful of conditions, so that some are in the way of others."""
    few = draw(st.lists(leaves, min_size=2, max_size=4))
    one = st.sampled_from(few)
    several = st.lists(one, min_size=1, max_size=2)
    condition = st.one_of(
        one,
        st.builds(lambda parts: {"type": "negation", "conditions": parts}, several),
        st.builds(lambda parts: {"type": "connector", "configs": {"operator": "OR"}, "conditions": parts}, several),
    )
    made = draw(st.lists(st.lists(condition, min_size=1, max_size=3), min_size=2, max_size=5))
    group = [{"name": f"R{number}", "conditions": conditions} for number, conditions in enumerate(made)]
    return read_rule_set({"behaviorRules": group}).model


def every_turn(conversation: list[Step], values: dict[str, Any], around: Surroundings) -> list[Facts]:
    return [Facts(step, History(conversation[:n]), values, around) for n, step in enumerate(conversation)]


def held_against(rule_set: RuleSet, conversation: list[Step], values: dict[str, Any], around: Surroundings) -> None:
    asking = Asking(rule_set, surveyed(rule_set))
    found = [*condition_findings(asking), *reach_findings(asking)]
    unreached = {one.at for one in found if one.code == "L022"}
    never = {one.at[:4] for one in found if one.code == "L024" and len(one.at) == 6}
    for facts in every_turn(conversation, values, around):
        for one, seen in zip(asking.rules, evaluate(rule_set, facts), strict=True):
            assert not (one.at in unreached and seen.verdict == "fired")
            assert not (one.at in never and seen.true)
    for one in found:
        event(one.code)


@given(alike(), conversations, properties, surroundings)
@settings(max_examples=200)
def test_a_rule_that_is_said_never_to_fire_does_not(
    rule_set: RuleSet, conversation: list[Step], values: dict[str, Any], around: Surroundings
) -> None:
    held_against(rule_set, conversation, values, around)


@pytest.mark.soak
@given(st.one_of(alike(), rule_sets()), conversations, properties, surroundings)
@settings(max_examples=1_500, deadline=None)
def test_a_rule_that_is_said_never_to_fire_does_not_in_many_conversations(
    rule_set: RuleSet, conversation: list[Step], values: dict[str, Any], around: Surroundings
) -> None:
    held_against(rule_set, conversation, values, around)


def related(
    conditions: list[dict[str, Any]], conversation: list[Step], values: dict[str, Any], around: Surroundings
) -> None:
    rule_set = read_rule_set({"behaviorRules": [{"name": "A", "conditions": conditions}]}).model
    _, questions = compile_conditions(rule_set, rule_set.behavior_groups[0].rules[0].conditions)
    index = Index(questions)
    for facts in every_turn(conversation, values, around):
        true = index.true(facts)
        taken: dict[object, object] = {}
        for atom, question in enumerate(questions, 1):
            if atom not in true:
                continue
            for other, weaker in enumerate(questions, 1):
                assert other in true or not entails(question, weaker), (question, weaker)
            for slot, value in slots(question).items():
                assert taken.setdefault(slot, value) == value, question


@given(st.lists(leaves, min_size=5, max_size=25), conversations, properties, surroundings)
@settings(max_examples=200)
def test_what_an_answer_entails_holds_and_what_it_rules_out_does_not(
    conditions: list[dict[str, Any]], conversation: list[Step], values: dict[str, Any], around: Surroundings
) -> None:
    related(conditions, conversation, values, around)


@pytest.mark.soak
@given(st.lists(leaves, min_size=10, max_size=40), conversations, properties, surroundings)
@settings(max_examples=1_500, deadline=None)
def test_so_it_is_in_many_conversations(
    conditions: list[dict[str, Any]], conversation: list[Step], values: dict[str, Any], around: Surroundings
) -> None:
    related(conditions, conversation, values, around)


@given(st.lists(leaves, min_size=5, max_size=25))
def test_all_that_an_answer_entails_is_looked_up(conditions: list[dict[str, Any]]) -> None:
    """INVARIANT: the shelves of `Relations` leave out nothing that `entails` knows."""
    rule_set = read_rule_set({"behaviorRules": [{"name": "A", "conditions": conditions}]}).model
    _, questions = compile_conditions(rule_set, rule_set.behavior_groups[0].rules[0].conditions)
    relations = Relations(questions)
    for atom, question in enumerate(questions, 1):
        wanted = {other for other, weaker in enumerate(questions, 1) if other != atom and entails(question, weaker)}
        assert set(relations.weaker(atom)) == wanted
        assert all(set(relations.weaker(other)) <= {atom, *wanted} for other in wanted)


@given(alike())
def test_a_solution_makes_its_formula_hold(rule_set: RuleSet) -> None:
    asking = Asking(rule_set, surveyed(rule_set))
    for formula in asking.formulas:
        solution = solve(formula, asking.relations)
        assert solution.decided
        assert follows(formula, formula, asking.relations)
        if solution.true is not None:
            assert holds(formula, solution.true)
            assert all(solution.true.issuperset(asking.relations.weaker(atom)) for atom in solution.true)


def action(name: str) -> dict[str, Any]:
    return {"type": "actionmatcher", "configs": {"actions": name}}


def outcome(task: str, **configs: str) -> dict[str, Any]:
    return {"type": "outcomematcher", "configs": {"taskId": task, **configs}}


failures = st.sampled_from(
    [
        action("task_failed_x"),
        action("task_failed_y"),
        outcome("x"),
        outcome("y"),
        outcome("x", errorType="timeout"),
        outcome("x", status="succeeded"),
        {"type": "digestmatcher", "configs": {"taskId": "x", "contains": "late"}},
        {"type": "digestmatcher", "configs": {"taskId": "x"}},
        action("hi"),
        {"type": "contextmatcher", "configs": {"contextKey": "k", "contextType": "string", "string": "v"}},
        {"type": "sizematcher", "configs": {"valuePath": "memory.current.taskErrors", "min": "1"}},
    ]
)


@st.composite
def failing_agents(draw: st.DrawFn) -> tuple[AgentDefinition, dict[int, BaseException | None]]:
    """An agent of a rules step and tasks `x` and `y`, in any order and number, and how each of these ends."""
    several = st.lists(failures, min_size=1, max_size=2)
    condition = st.one_of(
        failures,
        st.builds(lambda parts: {"type": "negation", "conditions": parts}, several),
        st.builds(lambda parts: {"type": "connector", "configs": {"operator": "OR"}, "conditions": parts}, several),
    )
    made = draw(st.lists(st.lists(condition, max_size=3), min_size=2, max_size=5))
    group = [{"name": f"R{n}", "actions": ["hi"], "conditions": conditions} for n, conditions in enumerate(made)]
    tasks = draw(st.lists(st.sampled_from("xy"), min_size=1, max_size=3))
    steps = [step(task) for task in tasks]
    steps.insert(draw(st.integers(0, len(steps))), rules(group))
    policy = Policy(enabled=True, continue_on_failure=True, reroute_on_failure=draw(st.booleans()))
    return AgentDefinition(name="test", policy=policy, steps=tuple(steps)), dict(
        enumerate(draw(st.lists(st.sampled_from(ENDS), min_size=3, max_size=3)))
    )


ENDS = [None, TimeoutError("late"), RuntimeError("it broke")]


def run_and_compare(definition: AgentDefinition, ends: dict[int, BaseException | None], value: str) -> None:
    survey = Survey(definition)
    first = survey.sets[0]
    found = list(reach_findings(Asking(first.rule_set, first.rules), survey))
    unreached = {f"R{one.at[3]}" for one in found if one.code == "L022"}
    behind = [one for one in found if one.code == "L023"]
    waiting = dict(ends)

    async def end(turn: Any) -> None:
        error = waiting.pop(min(waiting))
        if error is not None:
            raise error

    agent = Agent(definition, [FunctionTask("x", end), FunctionTask("y", end)])
    turn = agent.conversation().say_sync("hello", context={"k": value})
    assert unreached.isdisjoint(turn.fired), (unreached, turn.fired)
    for one in behind:
        # Where all rules behind it are meant, none of them fires.
        all_of_them = {f"R{n}" for n in range(int(one.at[3]) + 1, len(survey.sets[0].rules))}
        if str(len(all_of_them)) in one.why or len(all_of_them) == 1:
            event("L023")
            assert all_of_them.isdisjoint(turn.fired), (one, turn.fired)
    for _ in unreached:
        event("L022")


@given(failing_agents(), st.sampled_from("vw"))
@settings(max_examples=150, deadline=None)
def test_a_failure_reaches_no_rule_that_is_said_to_be_out_of_reach(
    made: tuple[AgentDefinition, dict[int, BaseException | None]], value: str
) -> None:
    run_and_compare(*made, value)


@pytest.mark.soak
@given(failing_agents(), st.sampled_from("vw"))
@settings(max_examples=1_500, deadline=None)
def test_nor_does_it_in_many_turns(made: tuple[AgentDefinition, dict[int, BaseException | None]], value: str) -> None:
    run_and_compare(*made, value)
