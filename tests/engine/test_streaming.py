"""Streaming: what happens in a turn is told while it happens, and a partial answer is kept nowhere."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import pytest

from building import CONTINUE, agent, failing, failure, output, step, streamed, tokens
from turnout.engine.conversation import Conversation
from turnout.engine.events import Event, TaskCompleted, TaskStarted, Token, TurnDone
from turnout.engine.records import dump
from turnout.engine.tasks import FunctionTask
from turnout.rules.agents import Policy
from turnout.rules.errors import ClosedError, UsageError


def talking(*pieces: str, error: Exception | None = None) -> FunctionTask:
    """A task that streams pieces, and then says them, or fails."""

    async def talk(turn: Any) -> None:
        for piece in pieces:
            turn.stream(piece)
        if error is not None:
            raise error
        turn.say("".join(pieces))

    return FunctionTask("talk", talk)


def test_the_events_come_in_order_and_the_last_one_has_the_turn() -> None:
    events, turn = streamed(agent(step("talk"), tasks=[talking("Hel", "lo")]).conversation())
    assert [type(event) for event in events] == [TaskStarted, Token, Token, TaskCompleted, TurnDone]
    assert tokens(events) == ["Hel", "lo"]
    assert (turn.state, turn.texts) == ("READY", ["Hello"])


def test_a_token_is_there_before_the_task_has_ended() -> None:
    async def first() -> tuple[type, bool]:
        going_on = asyncio.Event()

        async def talk(turn: Any) -> None:
            turn.stream("Hel")
            await going_on.wait()

        conversation = agent(step("talk"), tasks=[FunctionTask("talk", talk)]).conversation()
        events = conversation.stream("hi")
        await anext(events)
        token = await anext(events)
        running = conversation.state == "IN_PROGRESS"
        going_on.set()
        assert [type(event) async for event in events] == [TaskCompleted, TurnDone]
        return type(token), running

    assert asyncio.run(first()) == (Token, True)


def test_a_failure_before_the_first_token_withdraws_nothing() -> None:
    sorry = output(task_failed_talk="Sorry")
    events, turn = streamed(agent(step("talk"), sorry, tasks=[talking(error=OSError("no line"))]).conversation())
    failed = failure(events)
    assert (failed.withdraw, failed.reason) == (False, "no line")
    assert turn.texts == ["Sorry"]


@pytest.mark.parametrize("mode", ["digest", "exclude_all", "keep_all"])
def test_a_partial_answer_is_withdrawn_and_kept_in_no_mode(mode: Any) -> None:
    policy = Policy(enabled=True, continue_on_failure=True, on_failure=mode)
    task = talking("half an ", "answer", error=OSError("no line"))
    conversation = agent(step("talk"), output(task_failed_talk="Sorry"), tasks=[task], policy=policy).conversation()
    events, turn = streamed(conversation)
    failed = failure(events)
    assert failed.withdraw
    assert (failed.reason is None) == (mode == "exclude_all")
    assert turn.texts == ["Sorry"]
    assert "half an" not in repr((dump(conversation.memory), turn.model_view))


def test_a_task_in_a_thread_streams_in_order() -> None:
    def talk(turn: Any) -> None:
        for number in range(200):
            turn.stream(f"{number} ")

    events, _ = streamed(agent(step("talk"), tasks=[FunctionTask("talk", talk)]).conversation())
    assert tokens(events) == [f"{number} " for number in range(200)]


def test_nobody_listens_to_a_turn_that_is_only_said() -> None:
    listens: list[bool] = []

    async def talk(turn: Any) -> None:
        listens.append(turn.streaming)
        turn.stream("unheard")

    conversation = agent(step("talk"), tasks=[FunctionTask("talk", talk)]).conversation()
    conversation.say_sync("hi")
    streamed(conversation)
    assert listens == [False, True]


def test_a_piece_is_a_text_and_comes_before_the_end_of_its_task() -> None:
    late: list[Callable[[str], None]] = []

    async def talk(turn: Any) -> None:
        late.append(turn.stream)
        with pytest.raises(ValueError, match="a text"):
            turn.stream(7)

    streamed(agent(step("talk"), tasks=[FunctionTask("talk", talk)]).conversation())
    with pytest.raises(ClosedError):
        late[0]("too late")


def test_whoever_stops_listening_cancels_the_turn_and_the_next_one_starts_normally() -> None:
    async def leave(conversation: Conversation) -> None:
        events: AsyncIterator[Event]
        async with aclosing(conversation.stream("hi")) as events:  # type: ignore[type-var]  # a generator
            async for event in events:
                if isinstance(event, Token):
                    return

    async def talk(turn: Any) -> None:
        if turn.input == "hi":
            turn.stream("half")
            await asyncio.Event().wait()
        turn.say("whole")

    async def both() -> tuple[str, list[str]]:
        conversation = agent(step("talk"), tasks=[FunctionTask("talk", talk)]).conversation()
        await leave(conversation)
        state = conversation.state
        return state, (await conversation.say("again")).texts

    assert asyncio.run(both()) == ("EXECUTION_INTERRUPTED", ["whole"])


def test_the_opening_turn_streams() -> None:
    _, turn = streamed(agent(output(CONVERSATION_START="Hello")).conversation(), None)
    assert (turn.texts, turn.input) == (["Hello"], "")


def test_what_cannot_be_said_is_raised_and_changes_nothing() -> None:
    conversation = agent(failing_step := step("talk"), tasks=[failing("talk")], policy=CONTINUE).conversation()
    assert failing_step.task == "talk"
    with pytest.raises(UsageError):
        streamed(conversation, 7)  # type: ignore[arg-type]  # what is wrong
    assert conversation.memory.history.steps == []
