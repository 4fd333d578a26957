"""The journal: what a task reads is its own, what it writes waits, and nothing is stored by halves (decision 14)."""

import random
from typing import Any

import pytest

from building import agent, failing, output, rules, step
from turnout.engine.conversation import Conversation
from turnout.engine.journal import Journal, commit, roll_back, step_of
from turnout.engine.memory import Memory
from turnout.engine.records import dump, load
from turnout.engine.steps import ContextEntry, Step
from turnout.engine.tasks import FunctionTask, task
from turnout.rules.errors import ClosedError, UsageError


def journal(step: Step | None = None, memory: Memory | None = None) -> Journal:
    memory = memory or Memory()
    step = step or Step(input="hello", context={"user": ContextEntry("object", {"name": "Ada"})})
    memory.begin_step(step)
    return Journal(memory, step, "t", random.Random(1))


def test_what_is_read_can_be_changed_without_changing_what_is_stored() -> None:
    made = journal()
    made.store("list", [1, {"a": 2}])
    made.set_property("p", {"x": [1]})
    commit(made)
    later = Journal(made._memory, step_of(made), "t", random.Random(1))
    read = later.data("list")
    read[1]["a"] = 3  # type: ignore[index]
    later.context["user"]["name"] = "Eve"  # type: ignore[index]
    later.properties["p"]["x"].append(2)  # type: ignore[index]
    later.actions.append("sneaked")
    assert later.data("list") == [1, {"a": 2}]
    assert later.context == {"user": {"name": "Ada"}}
    assert later.properties == {"p": {"x": [1]}}
    assert later.actions == []


def test_what_was_written_does_not_change_with_the_object_it_was_written_from() -> None:
    made = journal()
    value = {"a": [1]}
    made.store("x", value)
    made.say(value)
    value["a"].append(2)
    commit(made)
    assert step_of(made).data["x"].value == {"a": [1]}
    assert step_of(made).output["output"] == [{"a": [1]}]


def test_a_task_sees_its_own_writes_and_nobody_else_does_before_the_commit() -> None:
    made = journal()
    made.store("x", 1)
    made.add_actions("a", "b", "a")
    made.set_property("p", 2)
    made.understand("hi(you)")
    assert (made.data("x"), made.actions, made.properties, made.expressions) == (
        1,
        ["a", "b"],
        {"p": 2},
        "hi(you)",
    )
    stored = step_of(made)
    assert (stored.data, list(stored.actions), stored.expressions, made._memory.properties) == (
        {},
        [],
        "",
        {},
    )


def test_uncommitted_data_is_kept_for_the_record_and_read_by_nobody() -> None:
    made = journal()
    made.store("x", 1)
    roll_back(made)
    assert not step_of(made).data["x"].committed
    assert Journal(made._memory, step_of(made), "t", random.Random(1)).data("x") is None


def test_a_rolled_back_write_hides_no_committed_value() -> None:
    first = journal()
    first.store("x", 1)
    commit(first)
    second = Journal(first._memory, step_of(first), "t", random.Random(1))
    second.store("x", 2)
    roll_back(second)
    assert (step_of(first).data["x"].value, step_of(first).data["x"].committed) == (1, True)


@pytest.mark.parametrize("end", ["commit", "roll_back"])
def test_a_late_write_raises(end: str) -> None:
    made = journal()
    (commit if end == "commit" else roll_back)(made)
    for write in (
        lambda: made.say("x"),
        lambda: made.store("x", 1),
        lambda: made.add_actions("x"),
        lambda: made.set_property("x", 1),
        lambda: made.show("x", 1),
        lambda: made.understand("x"),
        lambda: made.offer("x"),
    ):
        with pytest.raises(ClosedError, match="after its step has ended"):
            write()


@pytest.mark.parametrize("value", [object(), {1: 2}, float("nan"), {"a": {3}}, b"x", [lambda: 1]])
def test_a_value_that_is_no_json_is_refused_where_it_is_written(value: object) -> None:
    made = journal()
    for write in (
        made.say,
        lambda v: made.store("x", v),
        lambda v: made.set_property("x", v),
        lambda v: made.show("x", v),
    ):
        with pytest.raises(ValueError, match="cannot be stored"):
            write(value)
    commit(made)
    assert step_of(made).data == {}


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda made: made.offer({"value": "x"}), "the value of a quick reply is a text, not dict"),
        (lambda made: made.offer(None, 5), "the value of a quick reply is a text, not NoneType"),
        (lambda made: made.offer("x", 5), "what a quick reply means is a text, not int"),
        (lambda made: made.offer(" \n"), "the value of a quick reply is blank"),
        (lambda made: made.stream(None), "a piece of an answer is a text, not NoneType"),
        (lambda made: made.stream({"text": "x"}), "a piece of an answer is a text, not dict"),
        (lambda made: made.add_actions(None), "a name or an expression is a text, not NoneType"),
    ],
)
def test_what_is_no_text_is_refused_by_what_it_was_to_be(write: Any, words: str) -> None:
    made = journal()
    with pytest.raises(ValueError, match=words):
        write(made)
    commit(made)
    assert step_of(made).output == {}


def test_conversation_output_with_a_way_of_its_own_is_not_written_past_it() -> None:
    for key in ("actions", "output", "quickReplies", "taskErrors", "input", "expressions", "context"):
        with pytest.raises(ValueError, match="a way of its own"):
            journal().show(key, [])


def test_a_property_of_scope_step_is_gone_after_the_turn() -> None:
    @task("t")
    def set_both(turn: Any) -> None:
        turn.set_property("short", 1, scope="step")
        turn.set_property("long", 2)

    conversation = agent(step("t"), tasks=[set_both]).conversation()
    conversation.say_sync("hello")
    assert conversation.memory.properties == {"long": 2}


def test_messages_are_the_conversation_as_a_model_sees_it_this_turn_last() -> None:
    views: list[Any] = []

    async def llm(turn: Any) -> None:
        views.append((turn.messages(), turn.messages(1), turn.messages(0), turn.messages(-1)))
        turn.say("Answer.")

    conversation = agent(step("llm"), tasks=[FunctionTask("llm", llm)]).conversation()
    for text in ("one", "two", "three"):
        conversation.say_sync(text)
    whole, one, none, everything = views[-1]
    assert [m.text for m in whole] == ["one", "Answer.", "two", "Answer.", "three"]
    assert [m.text for m in one] == ["three"]
    assert none == []
    assert everything == whole


def test_a_later_task_of_the_same_turn_sees_the_digest_and_not_the_raw_error() -> None:
    """Case G."""
    seen: list[Any] = []

    async def llm(turn: Any) -> None:
        seen.extend(turn.messages())
        seen.append(turn.read("memory.current.httpCalls"))

    made = agent(step("ai.labs.httpcalls"), step("llm"), tasks=[failing("ai.labs.httpcalls"), FunctionTask("llm", llm)])
    made.conversation().say_sync("What's the weather?")
    digest = "[errorDigest ai.labs.httpcalls] Task 'eddi://ai.labs.httpcalls' failed: it broke"
    assert seen[0].text == f"What's the weather?\n{digest}"
    assert seen[1] is None


def test_undo_takes_properties_totals_and_used_alternatives_back_and_redo_brings_them_again() -> None:
    @task("count")
    def count(turn: Any) -> None:
        turn.set_property("n", int(turn.properties.get("n") or 0) + 1)

    conversation = agent(step("count"), rules([{"name": "r", "actions": ["a"]}]), tasks=[count]).conversation()
    for _ in range(3):
        conversation.say_sync("hello")
    assert conversation.undo()
    assert (conversation.memory.properties, conversation.memory.history.rules) == ({"n": 2}, {"r": 2})
    assert conversation.redo()
    assert (conversation.memory.properties, conversation.memory.history.actions) == ({"n": 3}, {"a": 3})
    assert not conversation.redo()
    for _ in range(3):
        assert conversation.undo()
    assert not conversation.undo()


def test_uncommitted_survives_record_and_undo_and_a_missing_mark_means_committed() -> None:
    """Case J."""
    made = agent(step("t"), output(task_failed_t="Sorry."), tasks=[failing("t")])
    conversation = made.conversation()
    conversation.say_sync("hello")
    record: Any = dump(conversation.memory)
    conversation.undo()
    conversation.redo()
    assert dump(conversation.memory) == record
    loaded = load(record)
    assert dump(loaded) == record
    assert not loaded.history.steps[0].data["partial"].committed
    del record["steps"][0]["data"]["partial"]["committed"]
    assert load(record).history.steps[0].data["partial"].committed


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"k": object()}, "context `k` cannot be stored"),
        ({"k": {"type": "text", "value": 1}}, "context `k` has an unknown type"),
        ({1: "x"}, "a context key must be a text"),
        ("text", "the context must be a map"),
    ],
)
def test_a_malformed_context_is_refused_before_the_turn_starts(context: Any, message: str) -> None:
    conversation = agent().conversation()
    with pytest.raises(UsageError, match=message):
        conversation.say_sync("hello", context)
    assert conversation.memory.history.steps == []
    assert conversation.say_sync("hello").state == "READY"


def test_context_beyond_the_depth_limit_is_refused_by_name_and_300_keys_are_fine() -> None:
    """Case 64."""
    deep: Any = "x"
    for _ in range(300):
        deep = {"a": deep}
    conversation: Conversation = agent(rules([{"name": "r", "actions": ["a"]}])).conversation()
    with pytest.raises(UsageError, match="nests deeper than 200 levels"):
        conversation.say_sync("hello", {"k": deep})
    assert conversation.say_sync("hello", {"k": {str(n): n for n in range(300)}}).state == "READY"
    assert conversation.say_sync("x" * 10_000_000).state == "READY"


def test_task_errors_are_not_found_by_what_a_task_reads_though_rules_see_them() -> None:
    """Decision 9: what a task reads may go to a model, and an entry for the caller must not."""
    seen: list[Any] = []

    async def llm(turn: Any) -> None:
        seen.append([turn.read(f"memory.{where}.taskErrors") for where in ("current", "last", "past[0]")])
        seen.append("taskErrors" in str(turn.read("memory")))

    sized = {"type": "sizematcher", "configs": {"valuePath": "memory.current.taskErrors", "equal": "1"}}
    made = agent(
        step("t"),
        step("llm"),
        rules([{"name": "told", "actions": ["told"], "conditions": [sized]}]),
        tasks=[failing("t"), FunctionTask("llm", llm)],
    )
    conversation = made.conversation()
    turns = [conversation.say_sync("hello") for _ in range(3)]
    assert seen == [[None, None, None], False] * 3
    assert turns[-1].fired == ["told"]
