"""Near misses: the smallest change of facts that would have made a rule fire."""

from collections.abc import Sequence
from copy import deepcopy
from itertools import combinations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from building import Conditions, action, condition
from turnout.engine.evaluator import evaluate
from turnout.engine.facts import Facts
from turnout.engine.misses import MOST_ANSWERS, Answer, Change, Changes, Miss, deciding, misses, nearest_first
from turnout.engine.steps import ContextEntry, Step
from turnout.rules import questions as q
from turnout.rules.compiling import compile_rule_set
from turnout.rules.expressions import parse
from turnout.rules.formulas import Circuit
from turnout.rules.reading import read_rule_set
from turnout.rules.rulesets import RuleSet


def fired(rule: str, **bounds: str) -> Conditions:
    return condition("occurrence", behaviorRuleName=rule, **bounds)


def context(key: str, text: str) -> Conditions:
    return condition("contextmatcher", contextKey=key, contextType="string", string=text)


def either(*conditions: Conditions) -> Conditions:
    return condition("connector", *conditions, operator="OR")


def both(*conditions: Conditions) -> Conditions:
    return condition("connector", *conditions, operator="AND")


def no(*conditions: Conditions) -> Conditions:
    return condition("negation", *conditions)


def rule_set(*rules: Sequence[Conditions], first_match: bool = True) -> RuleSet:
    """A group of rules named r0, r1, …"""
    made = [{"name": f"r{number}", "conditions": list(conditions)} for number, conditions in enumerate(rules)]
    strategy = "executeUntilFirstSuccess" if first_match else "executeAll"
    return read_rule_set({"behaviorGroups": [{"executionStrategy": strategy, "rules": made}]}).model


def missed(model: RuleSet, *steps: Step) -> dict[str, Miss]:
    facts = Facts.of(steps or (Step(),))
    return {miss.finding.rule.name: miss for miss in misses(model, facts, evaluate(model, facts))}


def change(model: RuleSet, *steps: Step, rule: str = "r0") -> Change:
    return missed(model, *steps)[rule].change


def now(action: str, holds: bool = True) -> Answer:
    return Answer(q.HasActions("current", (action,)), holds)


def test_what_holds_already_needs_no_change() -> None:
    model = rule_set([action("a"), action("b"), no(action("c"))])
    assert change(model, Step(actions=["a", "c"])).answers == (now("b"), now("c", False))


def test_of_the_ways_that_are_open_the_shortest_is_taken() -> None:
    model = rule_set([either(both(action("a"), action("b")), action("c"), both(action("d"), action("e")))])
    assert change(model).answers == (now("c"),)
    assert change(model, Step(actions=["d"])).answers in ((now("c"),), (now("e"),))


def test_an_answer_that_several_conditions_need_counts_once() -> None:
    """One at a time, `c` and `d` look as cheap as `a`; over both choices `a` is cheaper."""
    model = rule_set([either(action("c"), action("a")), either(action("d"), action("a"))])
    assert change(model) == Change(answers=(now("a"),), exact=True)


def test_an_answer_that_another_one_entails_is_not_told() -> None:
    model = rule_set([fired("x", minTimesOccurred="2"), fired("x", minTimesOccurred="3", maxTimesOccurred="4")])
    assert change(model).answers == (Answer(q.RuleFired("x", 3), True),)
    too_often = Step(succeeded=["x"])
    assert change(model, *[too_often] * 6).answers == (Answer(q.RuleFired("x", 5), False),)


@pytest.mark.parametrize(
    "conditions",
    [
        [condition("dependency", reference="gone")],
        [action("a"), no(action("a"))],
        [context("channel", "voice"), context("channel", "chat")],
        [fired("x", minTimesOccurred="3", maxTimesOccurred="2")],
        [action("a"), action("a", occurrence="never")],
        [condition("sizematcher", valuePath="x")],
    ],
)
def test_where_nothing_would_make_a_rule_fire_that_is_certain(conditions: list[Conditions]) -> None:
    assert change(rule_set(conditions)) == Change(answers=None, exact=True)


def test_a_dependency_is_looked_into() -> None:
    model = rule_set([condition("dependency", reference="r1"), action("a")], [action("b")], first_match=False)
    assert change(model).answers in ((now("b"), now("a")), (now("a"), now("b")))


def test_a_change_does_not_make_an_earlier_rule_of_a_first_match_group_fire() -> None:
    model = rule_set([action("a"), no(action("b"))], [action("a")])
    assert change(model, rule="r1").answers == (now("a"), now("b"))
    alone = rule_set([action("a"), no(action("b"))], [action("a")], first_match=False)
    assert change(alone, rule="r1").answers == (now("a"),)


def test_a_change_keeps_earlier_rules_from_firing_that_ask_for_what_it_takes_away() -> None:
    """Without the action this turn there may be none at all, and then the rule before would fire."""
    model = rule_set([action("a")], [action("a", occurrence="never")], [])
    expected = (now("a", holds=False), Answer(q.HasActions("any", ("a",)), True))
    assert change(model, Step(actions=["a"]), rule="r2").answers == expected


def test_a_rule_behind_one_that_fired_names_it_and_needs_it_not_to_fire() -> None:
    model = rule_set([action("a")], [action("a")], [])
    found = missed(model, Step(actions=["a"]))
    assert {rule: (miss.finding.true, miss.finding.behind) for rule, miss in found.items()} == {
        "r1": (True, model.behavior_groups[0].rules[0]),
        "r2": (True, model.behavior_groups[0].rules[0]),
    }
    assert found["r1"].change == Change(answers=None, exact=True)
    assert found["r2"].change.answers == (now("a", False),)


def test_what_held_by_an_answer_that_has_to_change_is_told_as_well() -> None:
    model = rule_set([no(action("a")), action("a", occurrence="anyStep")])
    expected = (now("a", holds=False), Answer(q.HasActions("any", ("a",)), True))
    assert change(model, Step(actions=["a"])).answers == expected


def test_what_a_change_takes_away_and_has_to_stay_counts() -> None:
    """Without "hi" now, "hi" in any turn would have to come from elsewhere: that is two answers."""
    hi = {"expressions": "hi"}
    model = rule_set(
        [condition("inputmatcher", **hi), context("b", "1")], [condition("inputmatcher", **hi, occurrence="anyStep")]
    )
    step = Step(expressions="hi", context={"b": ContextEntry("string", "1")})
    assert change(model, step, rule="r1") == Change(answers=(Answer(q.ContextText("b", "1"), False),), exact=True)


def test_a_formula_with_too_many_ways_is_answered_without_a_promise() -> None:
    ways = [either(*(action(f"a{row}x{place}") for place in range(10))) for row in range(8)]
    found = change(rule_set(ways))
    assert not found.exact
    assert len(found.answers or ()) == 8


def test_what_is_too_far_off_is_not_told() -> None:
    far = rule_set([action(f"a{number}") for number in range(MOST_ANSWERS + 1)])
    assert change(far) == Change(answers=None, exact=False)


def test_the_nearest_miss_is_the_one_with_the_smallest_change() -> None:
    model = rule_set([action("a"), action("b")], [action("x"), action("c")], [action("d"), action("x")], [], [])
    found = nearest_first(missed(model, Step(actions=["x"])).values())
    assert [miss.finding.rule.name for miss in found] == ["r1", "r2", "r0", "r4"]


def test_a_rule_that_would_never_be_reached_cannot_fire() -> None:
    model = rule_set([action("a")], [action("a"), action("b")])
    assert change(model, rule="r1") == Change(answers=None, exact=True)


def test_what_decided_a_condition_is_found_at_any_depth() -> None:
    a, b, c, d = map(action, "abcd")
    for asked, decided in [
        (both(a, b), ["b"]),
        (either(b, both(a, c)), ["b", "c"]),
        (no(both(a, d)), ["a", "d"]),
        (no(either(b, a)), ["a"]),
        (no(no(both(a, b))), ["b"]),
    ]:
        first = evaluate(rule_set([asked]), Facts.of([Step(actions=["a", "d"])]))[0].first_miss
        assert first is not None
        assert [one.condition.model_dump()["configs"]["actions"] for one in deciding(first)] == decided


NAMES = "abcde"


def trees(leaves: st.SearchStrategy[Conditions]) -> st.SearchStrategy[Conditions]:
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(either, inner, inner)
            | st.builds(both, inner, inner)
            | st.builds(no, inner)
            | st.builds(no, inner, inner)
        ),
        max_leaves=6,
    )


def check_smallest(conditions: list[Conditions], true: set[str]) -> None:
    model = rule_set(conditions)
    compiled = compile_rule_set(model)
    atoms = {question.run[0]: atom for atom, question in enumerate(compiled.questions, 1)}  # type: ignore[union-attr]
    before = frozenset(atom for name, atom in atoms.items() if name in true)
    found = Changes(compiled, before).of(0)
    holds = Circuit(compiled.formulas)
    sizes = [
        size
        for size in range(len(atoms) + 1)
        for flipped in combinations(atoms.values(), size)
        if holds.values(before.symmetric_difference(flipped))[0]
    ]
    event(f"smallest of {sizes[0] if sizes else 'none'}")
    assert found.exact
    assert (None if found.answers is None else len(found.answers)) == (sizes[0] if sizes else None)


ACTIONS_NOW = st.lists(trees(st.sampled_from(NAMES).map(action)), min_size=1, max_size=4)


@settings(max_examples=100, deadline=None)
@given(conditions=ACTIONS_NOW, true=st.sets(st.sampled_from(NAMES)))
def test_no_smaller_change_would_do(conditions: list[Conditions], true: set[str]) -> None:
    check_smallest(conditions, true)


@pytest.mark.soak
@settings(max_examples=5000, deadline=None)
@given(conditions=ACTIONS_NOW, true=st.sets(st.sampled_from(NAMES)))
def test_no_smaller_change_would_do_at_length(conditions: list[Conditions], true: set[str]) -> None:
    check_smallest(conditions, true)


OCCURRENCES = st.sampled_from(["currentStep", "lastStep", "anyStep", "never"])
LEAVES = st.one_of(
    st.builds(lambda name, when: action(name, occurrence=when), st.sampled_from("abc"), OCCURRENCES),
    st.builds(
        lambda said, when: condition("inputmatcher", expressions=said, occurrence=when),
        st.sampled_from(["hi", "bye(now)"]),
        OCCURRENCES,
    ),
    st.builds(context, st.sampled_from("kl"), st.sampled_from("vw")),
    st.builds(
        lambda said: condition("contextmatcher", contextKey="k", contextType="expressions", expressions=said),
        st.sampled_from(["hi", "bye(now)"]),
    ),
    st.builds(
        lambda rule, low, high: fired(rule, minTimesOccurred=str(low), maxTimesOccurred=str(low + high)),
        st.sampled_from(["r0", "x"]),
        st.integers(0, 4),
        st.integers(0, 2),
    ),
)
STEPS = st.lists(
    st.builds(
        lambda actions, said, succeeded, entries: Step(
            actions=sorted(actions),
            expressions=", ".join(sorted(said)),
            succeeded=sorted(succeeded),
            context={key: ContextEntry("string", text) for key, text in entries.items()},
        ),
        st.sets(st.sampled_from("abc")),
        st.sets(st.sampled_from(["hi", "bye(now)"])),
        st.sets(st.sampled_from(["r0", "x"])),
        st.dictionaries(st.sampled_from("kl"), st.sampled_from("vw")),
    ),
    min_size=2,
    max_size=4,
)
RULES = st.lists(st.lists(trees(LEAVES), max_size=3), min_size=1, max_size=4)


def applied(steps: Sequence[Step], answers: Sequence[Answer]) -> list[Step]:
    """The conversation with these answers; what happened "ever" happens in a step before all others."""
    changed = deepcopy(list(steps))
    earlier: list[Step] = []
    for answer in sorted(answers, key=lambda one: one.holds):
        match answer.question:
            case q.HasActions(when=when, run=(name,)):
                for step in _meant(changed, earlier, when, holds=answer.holds):
                    step.actions = _with(step.actions, name, holds=answer.holds)
            case q.HasSaid(when=when, run=(said,)):
                for step in _meant(changed, earlier, when, holds=answer.holds):
                    texts = [str(one) for one in parse(step.expressions)]
                    step.expressions = ", ".join(_with(texts, str(said), holds=answer.holds))
            case q.ContextText(key=key, text=text):
                entries = {name: entry for name, entry in changed[-1].context.items() if name != key}
                changed[-1].context = entries | ({key: ContextEntry("string", text)} if answer.holds else {})
            case q.ContextSays(key=key, run=(said,)):
                entry = changed[-1].context.get(key)
                texts = [str(one) for one in parse(str(entry.value))] if entry and entry.type == "expressions" else []
                text = ", ".join(_with(texts, str(said), holds=answer.holds))
                changed[-1].context = {**changed[-1].context, key: ContextEntry("expressions", text)}
            case q.RuleFired(rule=rule, times=times):
                counted = [step for step in (*earlier, *changed) if rule in step.succeeded]
                for step in counted[: 0 if answer.holds else len(counted) - times + 1]:
                    step.succeeded = _with(step.succeeded, rule, holds=False)
                earlier += [Step(succeeded=[rule]) for _ in range(times - len(counted) if answer.holds else 0)]
    return [*earlier, *changed]


def _meant(changed: list[Step], earlier: list[Step], when: q.When, *, holds: bool) -> list[Step]:
    if when == "any" and holds:
        earlier.append(Step())
        return earlier[-1:]
    return {"current": changed[-1:], "last": changed[-2:-1], "any": [*earlier, *changed]}[when]


def _with(names: Sequence[str], name: str, *, holds: bool) -> list[str]:
    rest = [one for one in names if one != name]
    return [*rest, name] if holds else rest


def check_applied(rules: list[list[Conditions]], first_match: bool, steps: list[Step]) -> None:
    model = rule_set(*rules, first_match=first_match)
    for name, miss in missed(model, *steps).items():
        answers = miss.change.answers
        event(f"{'none' if answers is None else len(answers)} of a {miss.finding.verdict} rule")
        if answers is not None:
            after = evaluate(model, Facts.of(applied(steps, answers)))
            assert {one.rule.name: one.verdict for one in after}[name] == "fired", answers


@pytest.mark.parametrize("examples", [150, pytest.param(5000, marks=pytest.mark.soak)])
def test_a_change_that_is_made_makes_the_rule_fire(examples: int) -> None:
    asked = given(rules=RULES, first_match=st.booleans(), steps=STEPS)(check_applied)
    settings(max_examples=examples, deadline=None)(asked)()
