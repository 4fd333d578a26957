"""The memory policy: what becomes of a failing task's writes in each mode (decisions 1 to 6, 8, 10, 11)."""

from typing import Any

import pytest

from building import CONTINUE, agent, failing, on_action, output, rules, step
from turnout.engine.steps import Step
from turnout.engine.tasks import FunctionTask
from turnout.engine.turns import Turn
from turnout.rules.agents import Policy
from turnout.rules.errors import UsageError


def turn_with(policy: Policy, *, error: BaseException | None = None) -> tuple[Turn, Step, dict[str, Any]]:
    """A turn of rules, a failing task `weather` and output; the turn, its step, and the properties afterwards."""
    made = agent(
        rules([{"name": "always", "actions": ["greet"]}]),
        step("weather"),
        output(greet="Hello.", task_failed_weather="Sorry.", charge_card="Charged!"),
        tasks=[failing("weather", error)],
        policy=policy,
    )
    conversation = made.conversation()
    turn = conversation.say_sync("What's the weather?")
    return turn, conversation.memory.history.steps[-1], dict(conversation.memory.properties)


def test_digest_undoes_all_that_the_task_wrote() -> None:
    turn, stored, properties = turn_with(CONTINUE)
    assert turn.state == "READY"
    assert turn.texts == ["Hello.", "Sorry."]
    assert turn.quick_replies == []
    assert properties == {}
    assert stored.expressions == ""
    assert set(stored.output) == {"input", "actions", "output", "taskErrors"}
    assert not stored.data["partial"].committed


def test_digest_leaves_an_entry_data_and_an_action() -> None:
    turn, stored, _ = turn_with(CONTINUE)
    text = "Task 'weather' failed: it broke"
    assert turn.errors == [{"type": "errorDigest", "taskId": "weather", "taskType": "task", "text": text}]
    assert stored.data["taskError:weather"].value == text
    assert stored.data["taskError:weather"].committed
    assert turn.actions == ["greet", "task_failed_weather"]


def test_exclude_all_tells_nobody_but_the_rules() -> None:
    turn, stored, properties = turn_with(Policy(enabled=True, continue_on_failure=True, on_failure="exclude_all"))
    assert turn.texts == ["Hello.", "Sorry."]
    assert turn.errors == []
    assert turn.actions == ["greet", "task_failed_weather"]
    assert "taskError:weather" not in stored.data
    assert properties == {}
    assert "errorDigest" not in str(turn.model_view)


def test_keep_all_undoes_nothing_and_adds_the_action() -> None:
    turn, stored, properties = turn_with(Policy(enabled=True, continue_on_failure=True, on_failure="keep_all"))
    assert turn.texts == ["partial", "Hello.", "Charged!", "Sorry."]
    assert turn.actions == ["greet", "charge_card", "task_failed_weather"]
    assert properties == {"partial": "partial"}
    assert stored.data["partial"].committed
    assert "taskError:weather" not in stored.data


def test_keep_all_tells_the_caller_and_shows_the_model_the_leftovers_only() -> None:
    turn, _, _ = turn_with(Policy(enabled=True, continue_on_failure=True, on_failure="keep_all"))
    assert [error["text"] for error in turn.errors] == ["Task 'weather' failed: it broke"]
    assert "errorDigest" not in str(turn.model_view)
    assert "partial" in turn.model_view[-1].text


def test_a_disabled_policy_ends_the_turn_with_a_reason_for_the_caller_only() -> None:
    turn, stored, properties = turn_with(Policy(enabled=False, on_failure="exclude_all", continue_on_failure=True))
    assert turn.state == "ERROR"
    assert turn.texts == ["partial"]
    assert [error["text"] for error in turn.errors] == ["Task 'weather' failed: it broke"]
    assert turn.actions == ["greet", "charge_card"]
    assert "taskError:weather" not in stored.data
    assert properties == {"partial": "partial"}
    assert "errorDigest" not in str(turn.model_view)


@pytest.mark.parametrize("mode", ["digest", "exclude_all", "keep_all"])
def test_without_continue_on_failure_the_turn_ends_in_error(mode: Any) -> None:
    turn, _, _ = turn_with(Policy(enabled=True, on_failure=mode))
    assert turn.state == "ERROR"
    assert [outcome.task for outcome in turn.outcomes] == ["ai.labs.behavior", "weather"]
    assert "task_failed_weather" in turn.actions
    assert "Sorry." not in turn.texts


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        CONTINUE,
        Policy(enabled=True, on_failure="exclude_all"),
        Policy(enabled=True, on_failure="keep_all"),
    ],
)
def test_the_outcome_is_recorded_in_every_mode(policy: Policy) -> None:
    turn, stored, _ = turn_with(policy, error=TimeoutError("too slow"))
    outcome = turn.outcomes[1]
    assert (outcome.task, outcome.status, outcome.error_type) == ("weather", "failed", "timeout")
    assert outcome.reason == "too slow"
    digests = [digest.task for digest in stored.digests]
    assert digests == (["weather"] if policy.enabled and policy.on_failure == "digest" else [])


def test_the_outcome_says_where_the_task_raised() -> None:
    turn, _, _ = turn_with(CONTINUE)
    assert turn.outcomes[1].where.startswith("building.py:")
    assert "building.py" not in str((turn.errors, turn.model_view, turn.output))


def test_only_on_failure_enabled_means_digest() -> None:
    turn, _, _ = turn_with(Policy(enabled=True))
    assert [error["type"] for error in turn.errors] == ["errorDigest"]
    assert turn.actions == ["greet", "task_failed_weather"]


def test_actions_of_the_output_and_of_the_rules_are_equal_in_every_mode() -> None:
    for policy in (Policy(), CONTINUE, Policy(enabled=True, on_failure="keep_all", continue_on_failure=True)):
        turn, stored, _ = turn_with(policy)
        assert list(stored.output["actions"]) == turn.actions  # type: ignore[arg-type]


@pytest.mark.parametrize("reroutes", [True, False])
def test_two_steps_of_one_id_that_both_fail_leave_two_entries_and_one_action(reroutes: bool) -> None:
    """Case K."""
    policy = Policy(enabled=True, continue_on_failure=True, reroute_on_failure=reroutes)
    made = agent(step("weather"), step("weather"), tasks=[failing("weather")], policy=policy)
    turn = made.conversation().say_sync("hello")
    assert len(turn.errors) == 2
    assert turn.actions == ["task_failed_weather"]
    assert [outcome.status for outcome in turn.outcomes] == ["failed", "failed"]


def test_a_task_of_the_reference_is_shown_with_eddi_and_a_plain_one_without() -> None:
    made = agent(step("ai.labs.llm"), step("weather"), tasks=[failing("ai.labs.llm"), failing("eddi://weather")])
    conversation = made.conversation()
    turn = conversation.say_sync("hello")
    assert [error["taskId"] for error in turn.errors] == ["ai.labs.llm", "weather"]
    texts = [error["text"] for error in turn.errors]
    assert texts == ["Task 'eddi://ai.labs.llm' failed: it broke", "Task 'weather' failed: it broke"]
    assert turn.actions == ["task_failed_ai.labs.llm", "task_failed_weather"]
    stored = conversation.memory.history.steps[-1]
    assert {"taskError:eddi://ai.labs.llm", "taskError:weather"} <= stored.data.keys()


def test_the_next_turn_starts_normally_and_sees_the_failure_as_the_last_step() -> None:
    """Cases 12, 86 and A: a turn that ended in ERROR is a step like any other."""
    fails = [True]

    async def llm(turn: Any) -> None:
        if fails.pop():
            raise RuntimeError("no answer")
        turn.say("Better now.")
        fails.append(False)

    made = agent(
        rules(
            [on_action("one turn late", "task_failed_llm", "sorry_for_before", occurrence="lastStep")],
            [on_action("never here", "task_failed_llm", "too_early")],
        ),
        step("llm"),
        output(sorry_for_before="I am back."),
        tasks=[FunctionTask("llm", llm)],
        policy=Policy(enabled=True),
    )
    conversation = made.conversation()
    first = conversation.say_sync("hello")
    assert (first.state, first.actions, first.output) == ("ERROR", ["task_failed_llm"], [])
    fails.append(False)
    second = conversation.say_sync("again")
    assert second.state == "READY"
    assert second.actions == ["sorry_for_before"]
    assert second.texts == ["Better now.", "I am back."]


def test_a_fallback_is_said_exactly_once() -> None:
    """Case 80."""
    turn, _, _ = turn_with(CONTINUE)
    assert turn.texts.count("Sorry.") == 1


def test_the_user_sees_the_apology_and_the_caller_the_reason() -> None:
    """Case 74."""
    turn, _, _ = turn_with(CONTINUE, error=ValueError("no key is configured"))
    assert turn.texts == ["Hello.", "Sorry."]
    assert [error["text"] for error in turn.errors] == ["Task 'weather' failed: no key is configured"]


def test_outputs_by_count_follow_failing_turns() -> None:
    """Cases 38 and C."""
    made = agent(
        step("ai.labs.llm"),
        output(task_failed_ai__labs__llm=["Sorry", "Still down"]),
        tasks=[failing("ai.labs.llm")],
    )
    conversation = made.conversation()
    texts = [conversation.say_sync("hello").texts for _ in range(3)]
    assert texts == [["Sorry"], ["Still down"], ["Still down"]]


def test_a_model_that_fails_twenty_times_ends_every_turn() -> None:
    """Case 83."""
    made = agent(step("llm"), output(task_failed_llm="Sorry"), tasks=[failing("llm")])
    conversation = made.conversation()
    for number in range(20):
        turn = conversation.say_sync("hello")
        assert (turn.state, turn.texts, len(turn.outcomes)) == ("READY", ["Sorry"], 2)
        assert len(conversation.memory.history.steps) == number + 1


def test_a_malformed_message_of_a_failed_task_reaches_no_later_view() -> None:
    """Case 85."""
    made = agent(step("llm"), tasks=[failing("llm")])
    conversation = made.conversation()
    turn = conversation.say_sync("hello")
    for _ in range(5):
        turn = conversation.say_sync("again")
        assert "partial" not in str(turn.model_view)


def test_a_failure_after_the_call_in_the_tasks_own_parsing_is_its_failure() -> None:
    """Case 88."""

    async def parse(turn: Any) -> None:
        turn.store("answer", "{")
        raise ValueError("the answer can't be read")

    turn = agent(step("t"), tasks=[FunctionTask("t", parse)]).conversation().say_sync("hello")
    assert turn.actions == ["task_failed_t"]


def test_a_task_that_is_made_to_fail_raises_instead_of_running_and_its_type_is_unknown() -> None:
    """The command line's `--fail`, for every step of the id and in both spellings of it."""
    ran: list[str] = []
    made = agent(step("t"), step("t"), tasks=[FunctionTask("t", lambda turn: ran.append("ran"))])
    for name in ("t", "eddi://t"):
        turn = made.failing(name, "HTTP 429: too many").conversation().say_sync("hello")
        assert [outcome.error_type for outcome in turn.outcomes] == ["unknown", "unknown"]
        assert [error["text"] for error in turn.errors] == ["Task 't' failed: HTTP 429: too many"] * 2
    assert ran == []


@pytest.mark.parametrize("wrong", [print, pytest, "weather", object()])
def test_what_is_no_task_is_refused_with_what_to_do(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"is no task\n  help: make one of a function"):
        agent(tasks=[wrong])


def test_a_step_without_a_task_says_what_is_missing() -> None:
    with pytest.raises(UsageError, match="did you mean `weather`"):
        agent(step("wether"), tasks=[failing("weather")])
    with pytest.raises(UsageError, match=r"--tasks FILE\.py"):
        agent(step("weather"))


def test_a_task_that_had_nothing_to_do_is_no_success_and_ends_no_row() -> None:
    """Decision 17: turns in which the task did not run are skipped."""
    idle = [False, True, False]
    left = list(idle)

    async def call(turn: Any) -> None:
        if left.pop(0):
            turn.skip()
            return
        raise RuntimeError("no")

    twice = {"type": "outcomematcher", "configs": {"taskId": "call", "minConsecutive": "2"}}
    well = {"type": "outcomematcher", "configs": {"taskId": "call", "status": "succeeded"}}
    made = agent(
        step("call"),
        rules([{"name": "twice", "conditions": [twice]}], [{"name": "well", "conditions": [well]}]),
        tasks=[FunctionTask("call", call)],
    )
    conversation = made.conversation()
    turns = [conversation.say_sync("hello") for _ in idle]
    assert [turn.fired for turn in turns] == [[], [], ["twice"]]
    assert turns[1].outcomes[0].status == "skipped"


def test_conversation_end_wins_over_an_error() -> None:
    made = agent(
        rules([{"name": "bye", "actions": ["CONVERSATION_END"]}]),
        step("t"),
        tasks=[failing("t")],
        policy=Policy(enabled=True),
    )
    assert made.conversation().say_sync("bye").state == "ENDED"


@pytest.mark.parametrize("action", ["STOP_CONVERSATION", "PAUSE_CONVERSATION"])
def test_a_task_that_stops_or_pauses_has_not_failed(action: str) -> None:
    """Case 17."""

    async def end(turn: Any) -> None:
        turn.say("That is all.")
        turn.add_actions(action)

    made = agent(step("end"), step("late"), tasks=[FunctionTask("end", end), failing("late")])
    turn = made.conversation().say_sync("hello")
    assert turn.state == {"STOP_CONVERSATION": "ENDED", "PAUSE_CONVERSATION": "AWAITING_HUMAN"}[action]
    assert turn.actions == [action]
    assert turn.texts == ["That is all."]
    assert [outcome.status for outcome in turn.outcomes] == ["succeeded"]


def test_a_conversation_that_waits_for_a_human_goes_on_with_the_next_turn() -> None:
    made = agent(rules([on_action("pause", "CONVERSATION_START", "PAUSE_CONVERSATION")]))
    conversation = made.conversation()
    assert conversation.start_sync().state == "AWAITING_HUMAN"
    assert conversation.say_sync("hello").state == "READY"


@pytest.mark.parametrize("mode", ["digest", "exclude_all"])
def test_a_pause_that_a_failing_task_added_is_dropped_with_its_actions(mode: Any) -> None:
    async def pause(turn: Any) -> None:
        turn.add_actions("PAUSE_CONVERSATION", "STOP_CONVERSATION")
        raise RuntimeError("no")

    made = agent(
        step("p"),
        tasks=[FunctionTask("p", pause)],
        policy=Policy(enabled=True, continue_on_failure=True, on_failure=mode),
    )
    turn = made.conversation().say_sync("hello")
    assert (turn.state, turn.actions) == ("READY", ["task_failed_p"])


def test_a_value_that_is_no_json_fails_the_task_and_stores_nothing() -> None:
    async def odd(turn: Any) -> None:
        turn.say("fine so far")
        turn.store("odd", object())

    turn = agent(step("odd"), tasks=[FunctionTask("odd", odd)]).conversation().say_sync("hello")
    assert turn.output == []
    assert "cannot be stored" in str(turn.errors)
