"""The matcher on durable_rules: sizes, packing, budgets, memory, and the engine's traps (cases of area engine)."""

import gc
import threading
from itertools import combinations
from typing import Any

import pytest

import turnout.engine.ruleset as ruleset_module
from building import on_action
from turnout.engine.evaluator import evaluate
from turnout.engine.facts import Facts
from turnout.engine.matcher import Matcher
from turnout.engine.ruleset import Member, Ruleset, cost_of
from turnout.engine.steps import ContextEntry, Step
from turnout.rules.formulas import FALSE, TRUE, Formula, conjunction, disjunction, opposite
from turnout.rules.reading import read_rule_set


def matcher_of(*rules: dict[str, Any], strategy: str = "executeAll", **keys: Any) -> Matcher:
    group = {"executionStrategy": strategy, "rules": list(rules)}
    return Matcher(read_rule_set({"behaviorGroups": [group]}).model, **keys)


def fired(matcher: Matcher, *actions: str, **context: Any) -> list[str]:
    entries = {key: ContextEntry("string", value) for key, value in context.items()}
    return list(matcher.decide(Facts.of([Step(actions=actions, context=entries)])).names)


def says(key: str, text: str) -> dict[str, Any]:
    return {"type": "contextmatcher", "configs": {"contextKey": key, "contextType": "string", "string": text}}


def action(name: str) -> dict[str, Any]:
    return {"type": "actionmatcher", "configs": {"actions": name}}


def negation(*children: dict[str, Any]) -> dict[str, Any]:
    return {"type": "negation", "conditions": list(children)}


def connector(operator: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"type": "connector", "configs": {"operator": operator}, "conditions": list(children)}


def test_three_true_rules_all_fire_in_file_order() -> None:
    """Cases 49 and 70."""
    matcher = matcher_of(on_action("c", "x"), on_action("a", "x"), on_action("b", "x"))
    assert fired(matcher, "x") == ["c", "a", "b"]


def test_strategies_first_match_is_the_default() -> None:
    """Case 32."""
    rules = [on_action("c", "x"), on_action("a", "x"), on_action("b", "x")]
    assert fired(matcher_of(*rules, strategy=""), "x") == ["c"]
    assert fired(matcher_of(*rules, strategy="executeUntilFirstSuccess"), "x") == ["c"]


def test_the_same_facts_twice_fire_twice() -> None:
    """Case 51."""
    matcher = matcher_of(on_action("r", "x"), remember=0)
    assert fired(matcher, "x") == fired(matcher, "x") == ["r"]


def test_facts_that_no_rule_wants_fire_nothing() -> None:
    """Case 52."""
    assert fired(matcher_of(on_action("r", "x")), "y") == []


def test_both_conditions_of_a_rule_must_hold() -> None:
    """Case 61."""
    matcher = matcher_of({"name": "r", "conditions": [says("v", "x"), says("w", "y")]})
    assert fired(matcher, v="x", w="z") == []
    assert fired(matcher, v="x", w="y") == ["r"]


@pytest.mark.parametrize("number", [0.00001, 1e16, 1e20, 3.3, -5, 10**30])
def test_context_numbers_of_any_notation_are_accepted(number: float) -> None:
    """Case 63."""
    matcher = matcher_of({"name": "r", "conditions": [says("n", str(number))]})
    assert fired(matcher, n=number) == ["r"]
    assert matcher.refused == 0


def test_a_null_beside_what_is_matched_changes_nothing() -> None:
    """Case 65."""
    matcher = matcher_of({"name": "r", "conditions": [says("v", "x")]})
    assert fired(matcher, v="x", w=None) == ["r"]


def test_a_rule_on_something_missing_fires_once() -> None:
    """Case 66."""
    matcher = matcher_of({"name": "r", "conditions": [negation(action("x"))]}, on_action("other", "y"))
    assert fired(matcher) == ["r"]
    assert fired(matcher, "y") == ["r", "other"]
    assert fired(matcher, "x", "y") == ["other"]


def test_matchers_of_equal_rule_sets_do_not_see_each_other_and_edited_rules_apply() -> None:
    """Case 69."""
    first, second = matcher_of(on_action("old", "x")), matcher_of(on_action("new", "x"))
    assert (fired(first, "x"), fired(second, "x"), fired(first, "x")) == (["old"], ["new"], ["old"])


@pytest.mark.parametrize(
    "text", ["a\0b", '"quoted"', "back\\slash", "👩‍👩‍👧 🏴", "e\u0301", "x" * 70_000, "costarring", "liquid"]
)
def test_text_is_compared_exactly(text: str) -> None:
    """Case 72; `costarring` and `liquid` have equal hashes in the engine."""
    other = "liquid" if text == "costarring" else text + " "
    matcher = matcher_of(
        {"name": "r", "conditions": [says("v", text)]}, {"name": "o", "conditions": [says("v", other)]}
    )
    assert fired(matcher, v=text) == ["r"]
    assert fired(matcher, v=other) == ["o"]


@pytest.mark.parametrize("count", [1, 99, 100, 101, 511, 512, 513, 600, 2_000])
def test_any_number_of_rules_answers(count: int) -> None:
    rules = [on_action(f"r{number}", f"a{number}") for number in range(count)]
    rules += [{"name": "none", "conditions": [negation(action("a0"))]}]
    matcher = matcher_of(*rules)
    assert fired(matcher, f"a{count - 1}", "a0") == (["r0", f"r{count - 1}"] if count > 1 else ["r0"])
    assert fired(matcher, "zzz") == ["none"]


def test_rules_that_all_hang_on_one_action_are_packed_apart() -> None:
    matcher = matcher_of(*(on_action(f"r{number}", "x") for number in range(700)))
    assert len(fired(matcher, "x")) == 700
    assert matcher.refused == 0


def test_many_negations_and_alternatives_stay_within_the_engine() -> None:
    rules = [{"name": f"n{n}", "conditions": [action("x"), negation(action(f"a{n}"))]} for n in range(150)]
    rules += [
        {"name": f"o{n}", "conditions": [connector("OR", action(f"a{n}"), says("v", str(n)))]} for n in range(150)
    ]
    matcher = matcher_of(*rules)
    assert fired(matcher, "x", "a7") == [f"n{n}" for n in range(150) if n != 7] + ["o7"]
    assert matcher.refused == 0


def wide(count: int) -> dict[str, Any]:
    """An AND of ORs: 2 ** count ways to be true."""
    return {
        "name": "wide",
        "conditions": [connector("OR", action(f"a{n}"), says("v", str(n))) for n in range(count)],
    }


@pytest.mark.parametrize("count", [2, 4, 6, 30, 300])
def test_formulas_beyond_the_budget_are_decided_all_the_same(count: int) -> None:
    matcher = matcher_of(wide(count))
    assert fired(matcher, *(f"a{n}" for n in range(count))) == ["wide"]
    assert fired(matcher, *(f"a{n}" for n in range(1, count))) == []
    assert matcher.refused == 0


@pytest.mark.parametrize("backwards", [False, True])
def test_a_chain_of_a_thousand_dependencies_is_decided_without_recursion(backwards: bool) -> None:
    rules: list[dict[str, Any]] = [on_action("r0", "x")]
    for number in range(1, 1_000):
        before = {"type": "dependency", "configs": {"reference": f"r{number - 1}"}}
        rules.append({"name": f"r{number}", "conditions": [negation(before)] if number % 2 else [before, action("y")]})
    rules.append(
        {"name": "end", "conditions": [negation(action("z"), {"type": "dependency", "configs": {"reference": "r999"}})]}
    )
    matcher = matcher_of(*(reversed(rules) if backwards else rules))
    for actions in (("y",), ("x",), (), ("z", "y")):
        facts = Facts.of([Step(actions=actions)])
        expected = (
            {*by_hand(*actions), "end"}
            if "z" not in actions or "r999" not in by_hand(*actions)
            else set(by_hand(*actions))
        )
        assert set(fired(matcher, *actions)) == expected
        assert {f.rule.name for f in evaluate(matcher.rule_set, facts) if f.true} == expected


def test_a_long_chain_that_is_negated_only_at_its_end_is_decided() -> None:
    rules = [on_action("r0", "x")]
    rules += [
        {
            "name": f"r{n}",
            "conditions": [{"type": "dependency", "configs": {"reference": f"r{n - 1}"}}, action(f"a{n}")],
        }
        for n in range(1, 1_000)
    ]
    rules.append({"name": "end", "conditions": [negation({"type": "dependency", "configs": {"reference": "r999"}})]})
    matcher = matcher_of(*rules)
    assert fired(matcher) == ["end"]
    assert len(fired(matcher, "x", *(f"a{n}" for n in range(1, 1_000)))) == 1_000


def by_hand(*actions: str) -> list[str]:
    """What each rule is worth, worked out by hand for the chain above."""
    values = ["x" in actions]
    for number in range(1, 1_000):
        values.append(not values[-1] if number % 2 else values[-1] and "y" in actions)
    return [f"r{number}" for number, value in enumerate(values) if value]


def test_a_fact_that_the_engine_refuses_is_evaluated_and_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    matcher = matcher_of(on_action("r", "x"), {"name": "n", "conditions": [negation(action("y"))]}, remember=0)
    assert fired(matcher, "x") == ["r", "n"]
    # A fact without an end is one that the engine refuses.
    monkeypatch.setattr(ruleset_module, "_HEAD", '{"id":"1","sid":"1","x":[')
    for _ in range(3):
        assert fired(matcher, "x") == ["r", "n"]
    assert matcher.refused == 3
    assert caplog.text.count("refused a fact") == 1
    monkeypatch.undo()
    assert fired(matcher, "x") == ["r", "n"]
    assert fired(matcher, "x", "y") == ["r"]
    assert matcher.refused == 3


def test_an_interrupt_in_the_middle_of_a_cycle_leaves_no_wrong_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matcher = matcher_of(*(on_action(f"r{n}", "x") for n in range(5)), on_action("y", "y"), remember=0)
    assert len(fired(matcher, "x")) == 5

    class Interrupting:
        def __getattr__(self, name: str) -> Any:
            if name == "complete_and_start_action":
                raise KeyboardInterrupt
            return getattr(durable, name)

    durable = ruleset_module.durable
    monkeypatch.setattr(ruleset_module, "durable", Interrupting())
    with pytest.raises(KeyboardInterrupt):
        fired(matcher, "x")
    monkeypatch.undo()
    assert fired(matcher, "y") == ["y"]
    assert len(fired(matcher, "x")) == 5


def test_answers_are_remembered_and_the_memory_is_bounded() -> None:
    matcher = matcher_of(*(on_action(f"r{n}", f"a{n}") for n in range(20)), remember=10)
    first = matcher.decide(Facts.of([Step(actions=["a1"])]))
    assert matcher.decide(Facts.of([Step(actions=["a1", "unknown"])])) is first
    for pair in combinations(range(20), 2):
        assert fired(matcher, *(f"a{n}" for n in pair)) == [f"r{n}" for n in pair]
    assert len(matcher._answers) == 10


def test_long_answers_are_bounded_by_their_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnout.engine.matcher._REMEMBERED_RULES", 1_000)
    rules = [{"name": f"r{n}"} for n in range(300)] + [on_action(f"x{n}", f"a{n}") for n in range(9)]
    matcher = matcher_of(*rules)
    for number in range(9):
        assert len(fired(matcher, f"a{number}")) == 301
    assert len(matcher._answers) == 3


def test_a_closed_matcher_frees_the_engine_and_can_be_asked_again() -> None:
    matcher = matcher_of(on_action("r", "x"), remember=0)
    for _ in range(50):
        assert fired(matcher, "x") == ["r"]
        matcher.close()
    assert fired(matcher, "x") == ["r"]


def test_matchers_that_go_away_free_the_engine_without_a_crash() -> None:
    for _ in range(30):
        fired(matcher_of(on_action("r", "x")), "x")
    gc.collect()
    assert fired(matcher_of(on_action("r", "x")), "x") == ["r"]


def test_one_matcher_asked_from_eight_threads_answers_each_rightly() -> None:
    matcher = matcher_of(*(on_action(f"r{n}", f"a{n}") for n in range(300)), remember=0)
    wrong: list[object] = []

    def ask(offset: int) -> None:
        for number in range(300):
            one, two = sorted({(number * 7 + offset) % 300, (number + 13) % 300})[:1], (number + 13) % 300
            names = {f"a{n}" for n in (*one, two)}
            if set(fired(matcher, *names)) != {name.replace("a", "r") for name in names}:
                wrong.append(names)

    threads = [threading.Thread(target=ask, args=(n * 31,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_names_given_to_the_engine_have_different_hashes() -> None:
    """INVARIANT of `ruleset`: two names with one 32-bit FNV hash would be one property."""

    def fnv(text: str) -> int:
        value = 2166136261
        for byte in text.encode():
            value = (value ^ byte) * 16777619 & 0xFFFFFFFF
        return value

    names = ["id", "sid", "$s", "m", "x", "w", *(f"p{n}" for n in range(ruleset_module.MOST_TESTS + 1))]
    assert len({fnv(name) for name in names}) == len(names)


LITERALS: list[Formula] = [1, -1, 2, -2, 3]


def random_formulas(depth: int) -> list[Formula]:
    if depth == 0:
        return LITERALS
    below = random_formulas(depth - 1)[:7]
    made: list[Formula] = [*below, TRUE, FALSE]
    for left, right in combinations(below, 2):
        made += [
            conjunction([left, right]),
            disjunction([left, right]),
            opposite(conjunction([left, right, -3])),
        ]
    return made


def truth(formula: Formula, true: frozenset[int]) -> bool:
    if isinstance(formula, int):
        return (abs(formula) in true) == (formula > 0)
    values = [truth(part, true) for part in formula.parts]
    return all(values) if formula.every else any(values)


def test_the_engine_decides_every_small_formula_as_logic_does() -> None:
    formulas = [formula for formula in random_formulas(2) if cost_of(formula) is not None][:80]
    assert len(formulas) > 40
    for formula in formulas:
        refused: list[Exception] = []
        ruleset = Ruleset([Member(7, formula, truth(formula, frozenset()), None)], [], refused.append)
        for size in range(4):
            for atoms in combinations((1, 2, 3), size):
                expected = [7] if truth(formula, frozenset(atoms)) else []
                assert ruleset.ask(frozenset(atoms)) == expected, (formula, atoms)
        assert refused == []
        ruleset.close()


def test_the_evaluator_says_why_a_rule_did_not_fire() -> None:
    model = read_rule_set(
        {"behaviorGroups": [{"rules": [{"name": "r", "conditions": [action("x"), says("channel", "voice")]}]}]}
    ).model
    facts = Facts.of([Step(actions=["x"], context={"channel": ContextEntry("string", "chat")})])
    finding = evaluate(model, facts)[0]
    assert (finding.verdict, finding.held) == ("failed", 1)
    assert finding.first_miss is not None
    assert (finding.first_miss.seen, finding.first_miss.wanted) == ("chat", "voice")
    assert finding.first_miss.condition == model.behavior_groups[0].rules[0].conditions[1]


def test_rules_behind_the_first_success_of_a_group_are_not_reached() -> None:
    model = read_rule_set({"behaviorRules": [{"name": "a"}, {"name": "b"}]}).model
    facts = Facts.of([Step()])
    assert [finding.verdict for finding in evaluate(model, facts)] == ["fired", "not reached"]
    answer = Matcher(model).decide(facts)
    assert (answer.fired, answer.failed) == ((0,), ())
