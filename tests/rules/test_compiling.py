"""The compilation of conditions into formulas over questions."""

from typing import Any

import pytest

from turnout.rules import questions as q
from turnout.rules.compiling import CompiledRuleSet, compile_rule_set
from turnout.rules.errors import LoadError
from turnout.rules.formulas import (
    FALSE,
    TRUE,
    Circuit,
    Junction,
    Triggers,
    conjunction,
    disjunction,
    opposite,
)
from turnout.rules.rulesets import RuleSet


def compiled(*rules: dict[str, Any]) -> CompiledRuleSet:
    return compile_rule_set(RuleSet.model_validate({"behaviorGroups": [{"rules": list(rules)}]}))


def rule(*conditions: dict[str, Any], name: str = "r") -> dict[str, Any]:
    return {"name": name, "conditions": list(conditions)}


def matcher(kind: str, occurrence: str = "currentStep", **configs: str) -> dict[str, Any]:
    return {"type": kind, "configs": {"occurrence": occurrence, **configs}}


def test_a_rule_without_conditions_is_always_true() -> None:
    assert compiled(rule()).formulas == (TRUE,)


def test_questions_of_two_kinds_with_equal_fields_are_two_questions() -> None:
    """Nothing said is not nothing done."""
    result = compiled(
        rule(matcher("actionmatcher", actions="empty"), matcher("inputmatcher", expressions="empty")),
        rule(
            matcher("actionmatcher", "lastStep", actions="empty"),
            matcher("inputmatcher", "lastStep", expressions="empty"),
        ),
    )
    kinds = [type(question) for question in result.questions]
    assert {q.SomeActions, q.SomethingSaid, q.NoActions, q.NothingSaid} <= set(kinds)
    assert len(kinds) == 8


def test_equal_conditions_ask_one_question() -> None:
    result = compiled(rule(matcher("actionmatcher", actions="a")), rule(matcher("actionmatcher", actions=" a ,")))
    assert result.formulas == (1, 1)
    assert result.questions == (q.HasActions("current", ("a",)),)


def test_never_is_the_opposite_of_any_step() -> None:
    result = compiled(
        rule(matcher("actionmatcher", "anyStep", actions="a")),
        rule(matcher("actionmatcher", "never", actions="a")),
    )
    assert result.formulas == (1, -1)


@pytest.mark.parametrize(
    ("low", "high", "asked"),
    [
        ("1", "-1", [q.RuleFired("x", 1)]),
        ("-1", "2", [q.RuleFired("x", 3)]),
        ("2", "2", [q.RuleFired("x", 2), q.RuleFired("x", 3)]),
        ("0", "-1", []),
    ],
)
def test_counts_are_asked_so_that_no_data_means_no(low: str, high: str, asked: list[q.Question]) -> None:
    configs = {"behaviorRuleName": "x", "minTimesOccurred": low, "maxTimesOccurred": high}
    result = compiled(rule({"type": "occurrence", "configs": configs}))
    assert list(result.questions) == asked


def test_a_size_is_asked_from_both_sides_of_nothing() -> None:
    sizes = {"type": "sizematcher", "configs": {"valuePath": "p", "min": "-2", "max": "3"}}
    assert compiled(rule(sizes)).questions == (q.SizeBelow("p", -2), q.SizeAtLeast("p", 4))


UNBOUNDED = {"type": "sizematcher", "configs": {"valuePath": "p"}}
A = matcher("actionmatcher", actions="a")


@pytest.mark.parametrize(
    ("children", "formula"),
    [
        ([UNBOUNDED], FALSE),
        ([UNBOUNDED, A], FALSE),
        ([A, UNBOUNDED], -1),
    ],
)
def test_a_negation_passes_not_executed_on(children: list[dict[str, Any]], formula: object) -> None:
    assert compiled(rule({"type": "negation", "conditions": children})).formulas[0] == formula


def test_an_or_of_what_is_not_executed_fails() -> None:
    either = {"type": "connector", "configs": {"operator": "OR"}, "conditions": [UNBOUNDED]}
    assert compiled(rule(either)).formulas == (FALSE,)
    assert compiled(rule({"type": "negation", "conditions": [either]})).formulas == (TRUE,)


def dependency(name: str) -> dict[str, Any]:
    return {"type": "dependency", "configs": {"reference": name}}


def test_a_dependency_takes_over_the_formula_wherever_the_rule_stands() -> None:
    result = compiled(rule(dependency("b"), name="a"), rule(A, name="b"), rule(dependency("gone"), name="c"))
    assert result.formulas == (1, 1, FALSE)


@pytest.mark.parametrize("names", ["a", "ab", "abc"])
def test_a_circle_of_dependencies_is_refused_with_its_chain(names: str) -> None:
    rules = [rule(dependency(names[(n + 1) % len(names)]), name=name) for n, name in enumerate(names)]
    with pytest.raises(LoadError, match="a -> ") as caught:
        compiled(*rules)
    assert " -> ".join([*names, names[0]]) in str(caught.value)


def test_a_long_chain_of_dependencies_compiles() -> None:
    rules = [rule(A, name="r0")]
    rules += [
        rule({"type": "negation", "conditions": [dependency(f"r{n - 1}"), A]}, name=f"r{n}") for n in range(1, 3_000)
    ]
    assert len(compiled(*rules).formulas) == 3_000


def test_the_opposite_of_the_opposite_is_the_formula_itself() -> None:
    formula = conjunction([1, disjunction([2, -3])])
    assert opposite(opposite(formula)) is formula
    assert opposite(TRUE) is FALSE


def test_a_circuit_gives_the_value_of_each_formula_and_looks_at_shared_parts_once() -> None:
    shared = disjunction([1, 2])
    formulas = [conjunction([shared, -3]), opposite(shared), 3, -3, TRUE, FALSE, shared]
    circuit = Circuit(formulas)
    assert circuit.values({1}) == [True, False, False, True, True, False, True]
    assert circuit.values({1, 3}) == [False, False, True, False, True, False, True]
    assert circuit.values(set()) == [False, True, False, True, True, False, False]
    assert len(circuit._gates) == 5


@pytest.mark.parametrize(
    ("formula", "triggers"),
    [
        (1, {1}),
        (-1, {1}),
        (conjunction([1, -2]), {1}),
        (conjunction([disjunction([1, 2]), 3]), {3}),
        (conjunction([-1, -2]), {1, 2}),
        (disjunction([1, 2]), {1, 2}),
        (disjunction([1, -2]), {2}),
        (conjunction([9, 1]), {1}),
        (TRUE, set()),
    ],
)
def test_triggers_are_few_and_of_this_turn_where_possible(formula: int | Junction, triggers: set[int]) -> None:
    assert Triggers([formula], {9}).of(formula) == triggers


def test_a_formula_that_too_much_can_change_has_no_triggers() -> None:
    wide = disjunction(range(1, 100))
    assert Triggers([wide], ()).of(wide) is None
