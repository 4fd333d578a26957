"""Long runs, kept for `make soak`: memory stays flat, threads mix nothing up, matchers come and go."""

import asyncio
import gc
import threading
import tracemalloc
from collections.abc import Iterator

import psutil
import pytest

from building import agent, failing, on_action, output, rules, step
from turnout.engine.agents import Agent
from turnout.engine.facts import Facts
from turnout.engine.matcher import Matcher
from turnout.engine.steps import Step
from turnout.rules.reading import read_rule_set

pytestmark = pytest.mark.soak


def weather() -> Agent:
    return agent(
        rules([on_action("down", "task_failed_weather", "sorry"), {"name": "else", "actions": ["listen"]}]),
        step("weather"),
        output(sorry=["Sorry.", "Still sorry."], listen="Yes?"),
        tasks=[failing("weather")],
    )


def megabytes() -> float:
    gc.collect()
    return float(psutil.Process().memory_info().rss) / 2**20


@pytest.fixture
def frozen_heap() -> Iterator[None]:
    """What other tests hold, out of the collector's count: it lets garbage grow to a quarter of what it counts."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def test_eight_threads_of_three_thousand_turns_lose_and_mix_nothing() -> None:
    """Case 73 at its full length."""
    made = weather()
    wrong: list[object] = []

    async def talk(name: int) -> None:
        conversation = made.conversation()
        for number in range(3_000):
            turn = await conversation.say(f"{name}/{number}")
            apology = "Sorry." if number == 0 else "Still sorry."
            if (turn.input, turn.texts) != (f"{name}/{number}", ["Yes?", apology]):
                wrong.append((name, number, turn.texts))

    threads = [threading.Thread(target=lambda name=name: asyncio.run(talk(name))) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.usefixtures("frozen_heap")
def test_fifty_thousand_turns_with_fresh_inputs_leave_memory_flat() -> None:
    made = weather()

    async def talk(turns: int) -> None:
        for number in range(turns):
            if number % 100 == 0:
                conversation = made.conversation()
            await conversation.say(f"input {number} of {turns}", {"n": str(number)})

    asyncio.run(talk(10_000))
    warm = megabytes()
    asyncio.run(talk(50_000))
    assert megabytes() - warm < 5


@pytest.mark.usefixtures("frozen_heap")
def test_a_thousand_matchers_that_come_and_go_leave_memory_flat() -> None:
    model = read_rule_set({"behaviorRules": [on_action(f"r{n}", f"a{n}") for n in range(100)]}).model
    facts = Facts.of([Step(actions=["a7"])])

    def use(count: int) -> None:
        for _ in range(count):
            assert Matcher(model).decide(facts).names == ("r7",)

    use(200)
    warm = megabytes()
    use(1_000)
    assert megabytes() - warm < 20


def test_a_conversation_grows_by_its_steps_only() -> None:
    """Twice the turns, twice the growth: counted in bytes allocated, which no reuse of freed memory blurs."""
    conversation = weather().conversation()

    async def talk(turns: int) -> int:
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(turns):
            await conversation.say(f"input {number}")
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    try:
        asyncio.run(talk(500))
        first, second = asyncio.run(talk(3_000)), asyncio.run(talk(6_000))
    finally:
        tracemalloc.stop()
    assert second < 2.05 * first
