"""What was tried to break a turn with: each of these once did."""

import asyncio
import gc
from contextlib import suppress
from typing import Any

import pytest

from building import agent, failing, on_action, output, parser, rules, step
from turnout.engine.conversation import Conversation
from turnout.engine.events import TaskCompleted, TaskFailed, TaskStarted, TurnDone
from turnout.engine.facts import Facts
from turnout.engine.matcher import Matcher
from turnout.engine.records import dump, load
from turnout.engine.steps import Step
from turnout.engine.tasks import FunctionTask
from turnout.engine.turns import Turn
from turnout.rules.agents import Policy
from turnout.rules.errors import UsageError
from turnout.rules.reading import read_rule_set


def one(function: Any, *more: Any, **keys: Any) -> Conversation:
    """A conversation of a task `w` made of the function, with an apology for its failure."""
    made = agent(
        rules([on_action("down", "task_failed_w", "sorry")]),
        step("w", **keys),
        output(sorry="FALLBACK"),
        tasks=[FunctionTask("w", function)],
    )
    return made.conversation(*more)


def test_a_plain_function_that_raises_stop_iteration_has_failed() -> None:
    turn = one(lambda turn: next(iter([]))).say_sync("x")
    assert turn.texts == ["FALLBACK"]
    assert "StopIteration" in str(turn.errors)


async def converts(turn: Any) -> None:
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        raise RuntimeError("connection lost") from None


async def swallows(turn: Any) -> None:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(10)


@pytest.mark.parametrize("task", [converts, swallows])
def test_a_cancellation_that_a_task_makes_something_else_of_stays_one(task: Any) -> None:
    conversation = one(task)

    async def main() -> None:
        saying = asyncio.create_task(conversation.say("x"))
        await asyncio.sleep(0.01)
        saying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await saying
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(conversation.say("x"), 0.01)

    asyncio.run(main())
    assert conversation.state == "EXECUTION_INTERRUPTED"
    assert [list(each.actions) for each in conversation.memory.history.steps] == [[], []]


@pytest.mark.parametrize("task", [converts, swallows])
def test_a_steps_own_timeout_is_no_cancellation(task: Any) -> None:
    conversation = one(task, timeout_ms=10)
    assert conversation.say_sync("x").state == "READY"


def test_what_the_caller_was_handling_is_no_cause_of_a_failure() -> None:
    async def break_down(turn: Any) -> None:
        raise RuntimeError("it broke")

    conversation = one(break_down)
    try:
        raise ConnectionError("db is down, row CANARY")
    except ConnectionError:
        turn = conversation.say_sync("x")
    assert [error["text"] for error in turn.errors] == ["Task 'w' failed: it broke"]
    assert turn.outcomes[1].error_type == "unknown"


def test_what_a_task_was_handling_itself_is_a_cause_of_its_failure() -> None:
    async def break_down(turn: Any) -> None:
        try:
            raise ConnectionError("no route")
        except ConnectionError:
            raise RuntimeError("it broke")  # noqa: B904 - the context is what is tested

    turn = one(break_down).say_sync("x")
    assert [error["text"] for error in turn.errors] == ["Task 'w' failed: it broke: no route"]
    assert turn.outcomes[1].error_type == "transport"


def test_many_words_are_understood_in_time_that_grows_with_them() -> None:
    """Counted in comparisons: each of the words is compared once with each pattern that can begin there."""
    condition = {"type": "inputmatcher", "configs": {"expressions": "unknown(w), nope"}}
    conversation = agent(parser(), rules([{"name": "r", "conditions": [condition]}])).conversation()
    assert conversation.say_sync("w " * 100_000).state == "READY"


def test_a_thread_that_goes_on_storing_after_its_timeout_spoils_nothing() -> None:
    stop: list[bool] = []

    def store(turn: Any) -> None:
        number = 0
        while not stop:
            turn.store(f"k{number}", number)
            number += 1

    for _ in range(5):
        assert one(store, timeout_ms=20).say_sync("x").texts == ["FALLBACK"]
    stop.append(True)


def test_undo_while_a_turn_runs_is_refused_and_breaks_nothing() -> None:
    refused: list[str] = []

    def listen(event: object) -> None:
        try:
            conversation.undo()
        except UsageError as error:
            refused.append(error.message)

    made = agent(step("w"), tasks=[FunctionTask("w", lambda turn: turn.say("x"))])
    conversation = made.conversation(listeners=[listen])
    assert conversation.say_sync("x").texts == ["x"]
    assert refused == ["a turn of this conversation is running"] * 3
    assert conversation.undo()


class ToldError(Exception):
    """An interrupt while the failure is put into words."""

    def __str__(self) -> str:
        raise KeyboardInterrupt


def test_an_interrupt_while_a_failure_is_recorded_leaves_the_turn_interrupted() -> None:
    conversation = agent(step("w"), tasks=[failing("w", ToldError())]).conversation()
    with pytest.raises(KeyboardInterrupt):
        conversation.say_sync("x")
    assert conversation.state == "EXECUTION_INTERRUPTED"


@pytest.mark.parametrize("kind", [TaskStarted, TaskCompleted, TaskFailed])
def test_an_interrupt_in_a_listener_leaves_the_turn_interrupted(kind: type) -> None:
    def listen(event: object) -> None:
        if isinstance(event, kind):
            raise KeyboardInterrupt

    made = agent(step("a"), step("b"), tasks=[FunctionTask("a", lambda turn: None), failing("b")])
    conversation = made.conversation(listeners=[listen])
    with pytest.raises(KeyboardInterrupt):
        conversation.say_sync("x")
    assert conversation.state == "EXECUTION_INTERRUPTED"


class HostileError(Exception):
    """Nothing can be asked of it."""

    __cause__ = property(lambda self: 1 / 0)  # type: ignore[assignment]
    args = property(lambda self: 1 / 0)  # type: ignore[assignment]
    __traceback__ = property(lambda self: 1 / 0)  # type: ignore[assignment]

    def __str__(self) -> str:
        raise ValueError


def test_an_exception_that_answers_nothing_is_a_failure_all_the_same() -> None:
    turn = agent(step("w"), tasks=[failing("w", HostileError())]).conversation().say_sync("x")
    assert turn.actions == ["task_failed_w"]
    assert str(turn.errors[0]["text"]).startswith("Task 'w' failed: ")


def test_a_turn_that_its_event_loop_left_behind_is_a_step_like_any_other() -> None:
    async def count(turn: Any) -> None:
        turn.set_property("n", int(turn.properties.get("n") or 0) + 1)
        if turn.input == "hang":
            await asyncio.sleep(9)

    conversation = one(count)
    conversation.say_sync("1")
    loop = asyncio.new_event_loop()
    saying = loop.create_task(conversation.say("hang"))
    loop.run_until_complete(asyncio.sleep(0.01))
    saying.cancel()
    loop.run_until_complete(asyncio.gather(saying, return_exceptions=True))
    loop.close()
    gc.collect()
    assert conversation.state == "EXECUTION_INTERRUPTED"
    conversation.say_sync("2")
    assert conversation.memory.properties == {"n": 2}
    while conversation.undo():
        pass
    assert conversation.memory.properties == {}


def test_remembered_answers_do_not_hold_the_rules_that_failed() -> None:
    model = read_rule_set(
        {
            "behaviorGroups": [
                {"executionStrategy": "executeAll", "rules": [on_action(f"r{n}", f"a{n}") for n in range(300)]}
            ]
        }
    ).model
    answer = Matcher(model).decide(Facts.of([Step(actions=["a7"])]))
    assert len(answer.failed_names) == 299
    assert answer.failed_names[0] == "r0"
    assert not any(isinstance(getattr(answer, slot), list) for slot in answer.__slots__)


def test_what_a_turn_keeps_for_undo_is_what_it_changed() -> None:
    async def count(turn: Any) -> None:
        turn.set_property(turn.input, 1)

    conversation = one(count)
    for number in range(50):
        conversation.say_sync(f"p{number}")
    assert [len(changes) for changes in conversation.memory.changes] == [2] * 50


def test_what_a_turn_hands_out_can_be_changed_without_changing_what_is_stored() -> None:
    outcome = {"type": "outcomematcher", "configs": {"taskId": "w", "occurrence": "lastStep"}}
    made = agent(rules([{"name": "still down", "conditions": [outcome]}]), step("w"), tasks=[failing("w")])
    conversation = made.conversation()
    for each in conversation.say_sync("x").outcomes:
        each.status = "succeeded"
    assert conversation.say_sync("y").fired == ["still down"]


def test_a_task_does_not_come_upon_commit_or_the_stored_step() -> None:
    offered: list[str] = []

    async def look(turn: Any) -> None:
        offered.extend(name for name in dir(turn) if not name.startswith("_"))

    one(look).say_sync("x")
    assert not {"commit", "roll_back", "step", "facts", "memory"} & set(offered)


def test_two_conversations_that_wait_for_each_other_are_told_so() -> None:
    async def ask_b(turn: Any) -> None:
        await b.say("x")

    async def ask_a(turn: Any) -> None:
        await a.say("x")

    a, b = one(ask_b), one(ask_a)

    async def main() -> Turn:
        return await asyncio.wait_for(a.say("x"), 10)

    assert asyncio.run(main()).state == "READY"
    assert "speaks to the conversation whose turn it is in" in str(b.memory.history.steps[0].output["taskErrors"])


def test_a_timeout_inside_a_task_is_told_as_one() -> None:
    async def wait(turn: Any) -> None:
        await asyncio.wait_for(asyncio.sleep(5), 0.01)

    turn = one(wait).say_sync("x")
    assert [error["text"] for error in turn.errors] == ["Task 'w' failed: TimeoutError"]


def test_explanations_of_a_turn_stay_when_it_is_undone_and_others_follow() -> None:
    rule = on_action("after go", "go", occurrence="lastStep")

    async def act(turn: Any) -> None:
        turn.add_actions(turn.input)

    conversation = agent(step("act"), rules([rule]), tasks=[FunctionTask("act", act)]).conversation()
    conversation.say_sync("go")
    turn = conversation.say_sync("z")
    assert turn.explain("after go").verdict == "fired"
    conversation.undo()
    conversation.undo()
    conversation.say_sync("nogo")
    assert turn.explain("after go").verdict == "fired"


def test_a_loaded_memory_cannot_be_undone() -> None:
    conversation = one(lambda turn: turn.set_property("p", 1))
    conversation.say_sync("x")
    memory = load(dump(conversation.memory))
    assert not memory.undo()
    assert memory.properties == {"p": 1}


def test_a_generator_is_no_task() -> None:
    def generate(turn: Any) -> Any:
        yield 1

    with pytest.raises(UsageError, match="is a generator"):
        FunctionTask("g", generate)


class Falsy(FunctionTask):
    """A task of which `bool` says no."""

    def __len__(self) -> int:
        return 0


def test_a_task_is_taken_whatever_its_truth_value() -> None:
    made = agent(step("f"), tasks=[Falsy("f", lambda turn: turn.say("ran"))])
    assert made.conversation().say_sync("x").texts == ["ran"]


def test_two_tasks_of_one_id_are_refused() -> None:
    with pytest.raises(UsageError, match="two tasks have the id `w`"):
        agent(step("w"), tasks=[failing("w"), failing("eddi://w")])


@pytest.mark.parametrize(
    "write",
    [
        lambda turn: turn.set_actions("greet"),
        lambda turn: turn.add_actions(5),
        lambda turn: turn.store(5, 1),
        lambda turn: turn.show(7, 1),
        lambda turn: turn.set_property(9, 1),
        lambda turn: turn.set_property("p", 1, scope="nonsense"),
        lambda turn: turn.understand(3),
    ],
)
def test_names_of_the_wrong_kind_are_refused_where_they_are_written(write: Any) -> None:
    turn = agent(step("w"), tasks=[FunctionTask("w", write)]).conversation().say_sync("x")
    assert turn.outcomes[0].status == "failed"


def test_a_refused_item_leaves_no_empty_reply_behind() -> None:
    def odd(turn: Any) -> None:
        with pytest.raises(ValueError, match="cannot be stored"):
            turn.say(object())

    conversation = agent(step("w"), tasks=[FunctionTask("w", odd)]).conversation()
    conversation.say_sync("x")
    assert "output" not in conversation.memory.history.steps[0].output


@pytest.mark.parametrize("attachments", [None, 5, "image/png", (x for x in ["image/png"])])
def test_attachments_of_the_wrong_kind_are_refused(attachments: Any) -> None:
    with pytest.raises(UsageError, match="attachments must be a list"):
        agent().conversation().say_sync("x", attachments=attachments)


def test_an_async_listener_is_refused() -> None:
    async def listen(event: object) -> None:
        return

    with pytest.raises(UsageError, match="a listener is `async`"):
        agent().conversation(listeners=[listen])


def test_events_are_the_same_for_every_listener() -> None:
    seen: list[object] = []

    def spoil(event: Any) -> None:
        with pytest.raises(AttributeError):
            event.task = "spoilt"

    made = agent(step("w"), tasks=[FunctionTask("w", lambda turn: None)], policy=Policy())
    made.conversation(listeners=[spoil, seen.append]).say_sync("x")
    assert [type(event) for event in seen] == [TaskStarted, TaskCompleted, TurnDone]


def test_more_rules_true_at_once_than_the_engine_takes_in_one_ruleset_are_answered_by_it() -> None:
    model = read_rule_set(
        {
            "behaviorGroups": [
                {"executionStrategy": "executeAll", "rules": [on_action(f"r{n}", "x") for n in range(200)]}
            ]
        }
    ).model
    matcher = Matcher(model)
    assert len(matcher.decide(Facts.of([Step(actions=["x"])])).fired) == 200
    assert matcher.refused == 0
