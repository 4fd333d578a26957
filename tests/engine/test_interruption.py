"""Cancellation and interrupts are no failures; time-outs are; nothing leaks and conversations can go on."""

import asyncio
import threading
import time
from typing import Any

import pytest

from building import agent, failing, on_action, output, rules, step
from turnout.engine.agents import Agent
from turnout.engine.events import Event, OperatorNote, TaskCompleted, TaskFailed, TaskStarted, TurnDone
from turnout.engine.tasks import FunctionTask
from turnout.rules.errors import ClosedError, UsageError


def hanging(started: asyncio.Event | None = None) -> FunctionTask:
    async def hang(turn: Any) -> None:
        turn.say("partial")
        turn.store("partial", 1)
        if started is not None:
            started.set()
        await asyncio.Event().wait()

    return FunctionTask("hang", hang)


async def cancelled_turn(made: Agent, started: asyncio.Event) -> Any:
    conversation = made.conversation()
    saying = asyncio.create_task(conversation.say("hello"))
    await started.wait()
    saying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await saying
    return conversation


def test_a_cancelled_say_rolls_the_running_task_back_and_keeps_what_was_committed() -> None:
    """Cases 18, 89 and I."""

    async def main() -> None:
        started = asyncio.Event()
        made = agent(
            rules([{"name": "always", "actions": ["greet"]}]),
            step("hang"),
            output(greet="Hello."),
            tasks=[hanging(started)],
        )
        conversation = await cancelled_turn(made, started)
        stored = conversation.memory.history.steps[-1]
        assert conversation.state == "EXECUTION_INTERRUPTED"
        assert list(stored.actions) == ["greet"]
        assert "output" not in stored.output
        assert not stored.data["partial"].committed
        assert [outcome.task for outcome in stored.outcomes] == ["ai.labs.behavior"]

    asyncio.run(main())


def test_a_conversation_goes_on_after_a_cancelled_turn() -> None:
    async def main() -> None:
        started = asyncio.Event()
        conversation = await cancelled_turn(agent(step("hang"), tasks=[hanging(started)]), started)
        conversation._plan = ()
        assert (await conversation.say("again")).state == "READY"

    asyncio.run(main())


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_interrupts_are_raised_on_and_no_later_step_runs(interrupt: type[BaseException]) -> None:
    """Case 18: no failure action, no fallback, though the policy continues after failures."""
    made = agent(step("t"), output(task_failed_t="Sorry."), tasks=[failing("t", interrupt())])
    conversation = made.conversation()
    with pytest.raises(interrupt):
        conversation.say_sync("hello")
    stored = conversation.memory.history.steps[-1]
    assert stored.state == "EXECUTION_INTERRUPTED"
    assert (list(stored.actions), list(stored.outcomes), stored.output) == ([], [], {"input": "hello"})


def test_an_interrupt_in_a_thread_reaches_the_caller() -> None:
    def interrupted(turn: Any) -> None:
        raise KeyboardInterrupt

    conversation = agent(step("t"), tasks=[FunctionTask("t", interrupted)]).conversation()
    with pytest.raises(KeyboardInterrupt):
        conversation.say_sync("hello")
    assert conversation.state == "EXECUTION_INTERRUPTED"


def test_a_task_that_hangs_until_its_timeout_has_failed() -> None:
    made = agent(step("hang", timeout_ms=20), output(task_failed_hang="Too slow."), tasks=[hanging()])
    turn = made.conversation().say_sync("hello")
    assert turn.texts == ["Too slow."]
    assert [error["text"] for error in turn.errors] == ["Task 'hang' failed: no answer within 20 ms"]
    assert turn.outcomes[0].error_type == "timeout"


def test_a_plain_function_that_hangs_does_not_keep_the_process_alive_nor_write_late() -> None:
    release, late = threading.Event(), []

    def hang(turn: Any) -> None:
        release.wait(10)
        try:
            turn.say("late")
        except ClosedError as error:
            late.append(error)
        finally:
            done.set()

    done = threading.Event()
    conversation = agent(step("hang", timeout_ms=20), tasks=[FunctionTask("hang", hang)]).conversation()
    turn = conversation.say_sync("hello")
    assert turn.actions == ["task_failed_hang"]
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "turnout-task")
    release.set()
    assert done.wait(10)
    assert len(late) == 1
    assert conversation.memory.history.steps[-1].output.get("output") is None


def test_the_tasks_own_timeout_error_is_kept() -> None:
    made = agent(step("t", timeout_ms=60_000), tasks=[failing("t", TimeoutError("the server did not answer"))])
    turn = made.conversation().say_sync("hello")
    assert [error["text"] for error in turn.errors] == ["Task 't' failed: the server did not answer"]


def test_two_says_of_one_conversation_queue_in_order() -> None:
    """Decision 14."""

    async def main() -> None:
        async def slow(turn: Any) -> None:
            await asyncio.sleep(0)
            turn.say(turn.input)

        conversation = agent(step("slow"), tasks=[FunctionTask("slow", slow)]).conversation()
        turns = await asyncio.gather(*(conversation.say(str(number)) for number in range(20)))
        assert [turn.texts for turn in turns] == [[str(number)] for number in range(20)]
        assert [each.input for each in conversation.memory.history.steps] == [str(number) for number in range(20)]

    asyncio.run(main())


def test_a_say_that_is_cancelled_while_it_waits_leaves_the_queue() -> None:
    async def main() -> None:
        gate = asyncio.Event()

        async def wait(turn: Any) -> None:
            await gate.wait()

        conversation = agent(step("wait"), tasks=[FunctionTask("wait", wait)]).conversation()
        first, second, third = (asyncio.create_task(conversation.say(text)) for text in "abc")
        await asyncio.sleep(0)
        second.cancel()
        gate.set()
        await asyncio.gather(first, third)
        assert [each.input for each in conversation.memory.history.steps] == ["a", "c"]
        assert second.cancelled()

    asyncio.run(main())


def test_one_conversation_may_be_spoken_to_from_several_threads() -> None:
    async def echo(turn: Any) -> None:
        await asyncio.sleep(0)
        turn.say(turn.input)

    conversation = agent(step("echo"), tasks=[FunctionTask("echo", echo)]).conversation()
    wrong: list[str] = []

    def talk(name: int) -> None:
        for number in range(40):
            text = f"{name}/{number}"
            if conversation.say_sync(text).texts != [text]:
                wrong.append(text)

    threads = [threading.Thread(target=talk, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    said = [each.input for each in conversation.memory.history.steps]
    assert len(said) == 160
    for name in range(4):
        assert [text for text in said if text.startswith(f"{name}/")] == [f"{name}/{number}" for number in range(40)]


def test_eight_threads_with_a_conversation_each_lose_and_mix_nothing() -> None:
    """Case 73, on one agent and so on one matcher."""
    made = agent(
        rules(
            [on_action("down", "task_failed_flaky", "sorry")],
            [
                {
                    "name": "every third time",
                    "actions": ["third"],
                    "conditions": [
                        {
                            "type": "occurrence",
                            "configs": {"behaviorRuleName": "down", "minTimesOccurred": "3"},
                        },
                    ],
                }
            ],
        ),
        step("flaky"),
        output(sorry="Sorry."),
        tasks=[failing("flaky")],
    )
    failures: list[object] = []

    async def talk(name: int) -> None:
        conversation = made.conversation()
        for number in range(200):
            turn = await conversation.say(f"{name}/{number}", context={"n": number % 7})
            expected = ["third", "task_failed_flaky", "sorry"] if number >= 3 else ["task_failed_flaky", "sorry"]
            if turn.actions != expected or turn.input != f"{name}/{number}" or turn.texts != ["Sorry."]:
                failures.append((name, number, turn.actions))

    threads = [threading.Thread(target=lambda name=name: asyncio.run(talk(name))) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_listener_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Case 20."""

    def broken(event: object) -> None:
        raise RuntimeError("listener")

    made = agent(
        rules([on_action("down", "task_failed_t", "sorry")]),
        step("t"),
        output(sorry="Sorry."),
        tasks=[failing("t")],
    )
    turn = made.conversation(listeners=[broken], operators=[broken]).say_sync("hello")
    assert (turn.state, turn.texts, turn.actions) == ("READY", ["Sorry."], ["task_failed_t", "sorry"])
    assert [error["text"] for error in turn.errors] == ["Task 't' failed: it broke"]
    assert "a listener raised" in caplog.text


def test_listeners_hear_public_terms_and_operators_the_reason() -> None:
    events: list[Event] = []
    notes: list[OperatorNote] = []
    made = agent(
        rules([{"name": "r", "actions": ["x"]}]),
        step("t"),
        tasks=[failing("t", OSError("at http://10.0.0.1/x"))],
    )
    made.conversation(listeners=[events.append], operators=[notes.append]).say_sync("hello")
    assert [type(event) for event in events] == [
        TaskStarted,
        TaskCompleted,
        TaskStarted,
        TaskFailed,
        TurnDone,
    ]
    assert [event.reason for event in events if isinstance(event, TaskFailed)] == ["at [url]"]
    assert [note.text for note in notes] == ["at http://10.0.0.1/x"]


def test_an_error_message_of_five_megabytes_makes_a_short_digest() -> None:
    turn = agent(step("t"), tasks=[failing("t", RuntimeError("x" * 5_000_000))]).conversation().say_sync("hello")
    assert len(str(turn.errors[0])) < 400
    assert len(turn.outcomes[0].reason or "") <= 500


def test_a_task_that_speaks_to_its_own_conversation_is_told_so_instead_of_waiting_for_ever() -> None:
    async def recursive(turn: Any) -> None:
        await conversation.say("again")

    conversation = agent(step("t"), tasks=[FunctionTask("t", recursive)]).conversation()
    turn = conversation.say_sync("hello")
    assert "speaks to the conversation whose turn it is in" in str(turn.errors)


def test_say_sync_inside_an_event_loop_says_what_to_do() -> None:
    async def main() -> None:
        with pytest.raises(UsageError, match=r"await conversation\.say"):
            agent().conversation().say_sync("hello")

    asyncio.run(main())


def test_a_turn_that_waits_leaves_other_conversations_alone() -> None:
    async def main() -> None:
        started = asyncio.Event()
        made = agent(step("hang", timeout_ms=60_000), tasks=[hanging(started)])
        waiting = asyncio.create_task(made.conversation().say("hello"))
        await started.wait()
        began = time.perf_counter()
        assert (await agent().conversation().say("hello")).state == "READY"
        assert time.perf_counter() - began < 30
        waiting.cancel()

    asyncio.run(main())
