"""Re-routing (decision 15): the rules that a failure makes true fire in the same turn. One test a lettered clause."""

from dataclasses import replace
from typing import Any

import pytest

from building import agent, failing, on_action, output, rules, step
from turnout.engine.matcher import Matcher
from turnout.engine.tasks import FunctionTask
from turnout.engine.tasks.output import OutputTask
from turnout.rules.agents import Policy
from turnout.rules.errors import UsageError
from turnout.rules.outputs import OutputSet

DOWN = on_action("weather is down", "task_failed_weather", "sorry")
ALWAYS = {"name": "catch-all", "actions": ["listen"]}


def test_a_rule_that_the_failure_makes_true_fires_and_is_answered_in_the_same_turn() -> None:
    made = agent(rules([DOWN]), step("weather"), output(sorry="Sorry."), tasks=[failing("weather")])
    turn = made.conversation().say_sync("hello")
    assert turn.texts == ["Sorry."]
    assert turn.rerouted == ["weather is down"]


def test_a_what_counts_is_which_rules_are_true_not_which_were_reached() -> None:
    """A first-match group whose catch-all fired already still gives its fallback, and only the first one."""
    other = on_action("also down", "task_failed_weather", "too_much")
    made = agent(rules([ALWAYS, DOWN, other]), step("weather"), tasks=[failing("weather")])
    turn = made.conversation().say_sync("hello")
    assert turn.rerouted == ["weather is down"]
    assert turn.actions == ["listen", "task_failed_weather", "sorry"]


def test_a_execute_all_gives_all_newly_true_rules() -> None:
    group = {
        "executionStrategy": "executeAll",
        "rules": [DOWN, on_action("and", "task_failed_weather", "more")],
    }
    made = agent(rules(group), step("weather"), tasks=[failing("weather")])
    assert made.conversation().say_sync("hello").rerouted == ["weather is down", "and"]


def test_a_a_rule_that_was_true_before_does_not_fire() -> None:
    """It was shadowed in its group by an earlier rule, and the failure made no difference to it."""
    made = agent(rules([ALWAYS, {"name": "shadowed", "actions": ["shadow"]}]), step("w"), tasks=[failing("w")])
    turn = made.conversation().say_sync("hello")
    assert turn.rerouted == []
    assert turn.actions == ["listen", "task_failed_w"]


def test_b_a_rule_fires_by_rerouting_once_a_turn_though_two_tasks_fail() -> None:
    group = [on_action("down", "task_failed_a", "sorry"), on_action("down too", "task_failed_b", "sorry_too")]
    made = agent(rules(group), step("a"), step("b"), step("a"), tasks=[failing("a"), failing("b")])
    turn = made.conversation().say_sync("hello")
    assert turn.rerouted == ["down", "down too"]
    assert turn.actions == ["task_failed_a", "sorry", "task_failed_b", "sorry_too"]


def test_b_a_rule_that_fired_does_not_fire_again_though_it_became_false_in_between() -> None:
    forget = rules([{"name": "forget", "actions": ["forgotten"]}], appendActions=False)
    made = agent(rules([DOWN]), step("weather"), forget, step("weather"), tasks=[failing("weather")])
    turn = made.conversation().say_sync("hello")
    assert turn.rerouted == ["weather is down"]
    assert turn.actions == ["forgotten", "task_failed_weather"]


def test_b_rules_are_known_by_position_not_by_name() -> None:
    """Two rules of one name are two rules: that the first fired does not keep the second from firing."""
    group = {
        "executionStrategy": "executeAll",
        "rules": [{"name": "same", "actions": ["one"]}, on_action("same", "task_failed_w", "two")],
    }
    made = agent(rules(group), step("w"), tasks=[failing("w")])
    assert made.conversation().say_sync("hello").actions == ["one", "task_failed_w", "two"]


def test_b_a_rule_set_used_by_two_steps_is_asked_once() -> None:
    shared = rules([DOWN])
    made = agent(shared, shared, step("weather"), tasks=[failing("weather")])
    assert made.conversation().say_sync("hello").rerouted == ["weather is down"]


def test_c_actions_are_appended_even_where_append_actions_is_false() -> None:
    made = agent(rules([ALWAYS, DOWN], appendActions=False), step("weather"), tasks=[failing("weather")])
    assert made.conversation().say_sync("hello").actions == ["listen", "task_failed_weather", "sorry"]


def test_c_expressions_as_actions_are_not_applied_again() -> None:
    async def parse(turn: Any) -> None:
        turn.understand("weather(vienna)")

    async def fail(turn: Any) -> None:
        raise RuntimeError("no")

    made = agent(
        step("parse"),
        rules([DOWN], expressionsAsActions=True),
        step("weather"),
        tasks=[FunctionTask("parse", parse), FunctionTask("weather", fail)],
    )
    assert made.conversation().say_sync("hello").actions == ["weather", "task_failed_weather", "sorry"]


def test_d_the_rule_counts_as_a_success_of_this_turn() -> None:
    """It moves from the failed to the succeeded rules, and the next turn's `occurrence` sees it."""
    once = {"type": "occurrence", "configs": {"behaviorRuleName": "weather is down", "minTimesOccurred": "1"}}
    counted = {"name": "was down", "actions": ["was_down"], "conditions": [once]}
    made = agent(rules([DOWN], [counted]), step("weather"), tasks=[failing("weather")])
    conversation = made.conversation()
    first = conversation.say_sync("hello")
    assert (first.fired, first.failed) == (["weather is down"], ["was down"])
    second = conversation.say_sync("again")
    assert "was down" in second.fired


def test_e_one_pass_added_actions_start_no_further_one() -> None:
    chained = on_action("chained", "sorry", "chained")
    made = agent(rules([DOWN], [chained]), step("weather"), tasks=[failing("weather")])
    turn = made.conversation().say_sync("hello")
    assert turn.rerouted == ["weather is down"]
    assert turn.actions == ["task_failed_weather", "sorry"]


def test_e_nothing_that_fired_is_taken_back() -> None:
    """A rule that the failure makes false keeps what it gave."""
    absent = {"type": "negation", "conditions": [on_action("", "task_failed_weather")["conditions"][0]]}
    made = agent(
        rules([{"name": "all is well", "actions": ["cheer"], "conditions": [absent]}]),
        step("weather"),
        tasks=[failing("weather")],
    )
    turn = made.conversation().say_sync("hello")
    assert turn.actions == ["cheer", "task_failed_weather"]
    assert turn.fired == ["all is well"]


def test_f_a_rule_set_whose_own_step_failed_is_not_asked() -> None:
    made = agent(rules([DOWN]), step("weather"), output(sorry="Sorry."), tasks=[failing("weather")])
    turn = made.failing("ai.labs.behavior").conversation().say_sync("hello")
    assert turn.rerouted == []
    assert turn.actions == ["task_failed_ai.labs.behavior", "task_failed_weather"]


class Unaskable(Matcher):
    """A matcher that answers its own step and raises from then on."""

    asks = 0

    def decide(self, facts: Any) -> Any:
        self.asks += 1
        if self.asks > 1:
            raise RuntimeError("can't be asked")
        return super().decide(facts)


def test_f_a_rule_set_that_raises_when_asked_fires_nothing_and_is_no_second_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("turnout.engine.agents.Matcher", Unaskable)
    made = agent(rules([DOWN]), step("weather"), tasks=[failing("weather")])
    notes: list[str] = []
    turn = made.conversation(operators=[lambda note: notes.append(note.text)]).say_sync("hello")
    assert turn.actions == ["task_failed_weather"]
    assert [outcome.status for outcome in turn.outcomes] == ["succeeded", "failed"]
    assert any("can't be asked" in note for note in notes)


def test_g_stop_conversation_from_such_a_rule_ends_the_turn() -> None:
    stop = on_action("give up", "task_failed_weather", "STOP_CONVERSATION")
    made = agent(rules([stop]), step("weather"), output(STOP_CONVERSATION="Bye."), tasks=[failing("weather")])
    turn = made.conversation().say_sync("hello")
    assert (turn.state, turn.texts) == ("ENDED", [])


def test_h_output_steps_that_ran_render_once_more_for_the_new_actions_only() -> None:
    made = agent(
        rules([ALWAYS, DOWN]),
        output(listen="Yes?", sorry="Sorry.", task_failed_weather="Hm."),
        step("weather"),
        tasks=[failing("weather")],
    )
    turn = made.conversation().say_sync("hello")
    assert turn.texts == ["Yes?", "Hm.", "Sorry."]


def test_h_if_an_output_task_failed_itself_nothing_is_rendered() -> None:
    made = agent(
        rules([on_action("silent", "task_failed_ai.labs.output", "sorry")]),
        output(sorry="Sorry."),
        step("weather"),
        tasks=[failing("weather")],
    )
    turn = made.failing("ai.labs.output").conversation().say_sync("hello")
    assert turn.texts == []
    assert [error["taskId"] for error in turn.errors] == ["ai.labs.output", "weather"]


def test_h_if_one_of_two_output_tasks_failed_the_other_renders_nothing_more() -> None:
    broken = rules([on_action("down", "task_failed_weather", "sorry")])

    class BrokenOutput(OutputTask):
        async def execute(self, turn: Any) -> None:
            raise RuntimeError("the second output step broke")

    made = agent(broken, output(sorry="Sorry."), output(sorry="Sorry."), step("weather"), tasks=[failing("weather")])
    second = made._plan[2]
    made._plan[2] = replace(second, task=BrokenOutput(OutputSet(), 9))
    turn = made.conversation().say_sync("hello")
    assert turn.texts == []
    assert [error["taskId"] for error in turn.errors] == ["ai.labs.output", "weather"]


def test_h_other_earlier_tasks_do_not_run_again_and_later_ones_see_the_new_actions() -> None:
    seen: list[list[str]] = []

    async def look(turn: Any) -> None:
        seen.append(turn.actions)

    made = agent(
        step("look"),
        rules([DOWN]),
        step("weather"),
        step("look"),
        tasks=[FunctionTask("look", look), failing("weather")],
    )
    made.conversation().say_sync("hello")
    assert seen == [[], ["task_failed_weather", "sorry"]]


def test_i_a_rules_step_after_the_failure_is_evaluated_as_usual() -> None:
    made = agent(step("weather"), rules([DOWN]), output(sorry="Sorry."), tasks=[failing("weather")])
    turn = made.conversation().say_sync("hello")
    assert (turn.texts, turn.fired, turn.rerouted) == (["Sorry."], ["weather is down"], [])


def test_off_with_reroute_on_failure_false_a_later_rules_step_still_answers() -> None:
    """Case 14."""
    policy = Policy(enabled=True, continue_on_failure=True, reroute_on_failure=False)
    first, second = rules([DOWN]), rules([on_action("later", "task_failed_weather", "fallback_response")])
    made = agent(
        first,
        step("weather"),
        second,
        output(fallback_response="Later."),
        tasks=[failing("weather")],
        policy=policy,
    )
    turn = made.conversation().say_sync("hello")
    assert (turn.texts, turn.rerouted) == (["Later."], [])


def test_off_without_continue_on_failure() -> None:
    made = agent(rules([DOWN]), step("weather"), tasks=[failing("weather")], policy=Policy(enabled=True))
    turn = made.conversation().say_sync("hello")
    assert (turn.state, turn.rerouted, turn.actions) == ("ERROR", [], ["task_failed_weather"])


@pytest.mark.parametrize("mode", ["exclude_all", "keep_all"])
def test_other_modes_reroute_too(mode: Any) -> None:
    policy = Policy(enabled=True, continue_on_failure=True, on_failure=mode)
    made = agent(rules([DOWN]), step("weather"), output(sorry="Sorry."), tasks=[failing("weather")], policy=policy)
    assert "Sorry." in made.conversation().say_sync("hello").texts


def test_rules_on_outcomes_and_digests_are_rerouted_as_well() -> None:
    outcome = {"type": "outcomematcher", "configs": {"taskId": "eddi://weather", "errorType": "timeout"}}
    digest = {"type": "digestmatcher", "configs": {"taskId": "weather", "contains": "too slow"}}
    made = agent(
        rules(
            [{"name": "late", "actions": ["late"], "conditions": [outcome]}],
            [{"name": "told", "actions": ["told"], "conditions": [digest]}],
        ),
        step("weather"),
        tasks=[failing("weather", TimeoutError("too slow"))],
    )
    assert made.conversation().say_sync("hello").rerouted == ["late", "told"]


def test_explanations_show_a_rule_as_it_was_when_it_fired() -> None:
    absent = {"type": "negation", "conditions": [on_action("", "task_failed_weather")["conditions"][0]]}
    made = agent(
        rules([{"name": "all is well", "conditions": [absent]}], [DOWN], [on_action("other", "nothing")]),
        step("weather"),
        tasks=[failing("weather")],
    )
    turn = made.conversation().say_sync("hello")
    verdicts = {finding.rule.name: finding.verdict for finding in turn.explanations}
    assert verdicts == {"all is well": "fired", "weather is down": "fired", "other": "failed"}
    missed = turn.explain("other").first_miss
    assert missed is not None
    assert (missed.seen, missed.wanted) == ("task_failed_weather", "nothing")
    with pytest.raises(UsageError, match="did you mean `other`"):
        turn.explain("othr")


@pytest.mark.parametrize("text", ["Sorry, {name}.", "Sorry, [[${context.missing}]].", "Sorry, {{ missing.deeply }}."])
def test_a_fallback_that_looks_like_a_template_is_said_as_it_is_and_hides_no_failure(text: str) -> None:
    """Case 82: plain safe text, and the task's own failure stays the one that is told."""
    made = agent(
        rules([on_action("down", "task_failed_weather", "sorry")]),
        step("weather"),
        output(sorry=text),
        tasks=[failing("weather", ValueError("no such city"))],
    )
    turn = made.conversation().say_sync("hi", {"name": "canary"})
    assert turn.texts == [text]
    [told] = turn.errors
    assert "no such city" in str(told)
