"""A conversation that is stored and loaded again is as one that stayed in memory."""

import asyncio
import itertools
import random
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from places import Place
from talking import WORDS, said, talker
from turnout.engine import history, records
from turnout.engine.agents import Agent
from turnout.engine.memory import Memory
from turnout.engine.records import dump
from turnout.engine.stores import Head, Store
from turnout.engine.stores import memory as memory_store

ALL, FEW = talker(), talker(only=4)

changes = st.lists(st.sampled_from([*WORDS, *WORDS, "undo", "undo", "redo", "edit"]), max_size=25)
_ids = itertools.count()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little is at hand that everything older has to be read."""
    for name in ("turnout.engine.records", "turnout.engine.stores.memory", "turnout.engine.stores.sql"):
        if name in sys.modules:
            monkeypatch.setattr(sys.modules[name], "AT_HAND", 2)
    monkeypatch.setattr(records, "MOST_AT_HAND", 4)
    monkeypatch.setattr(history, "CHUNK", 3)
    monkeypatch.setattr(history, "MOST_RUNS", 2)


async def change(made: Agent, memory: Memory, wanted: str, number: int) -> Any:
    """Do something with a conversation; all that came of it."""
    conversation = made.conversation(memory=memory, chance=random.Random(number), clock=lambda: 0.0)
    if wanted in ("undo", "redo"):
        return getattr(conversation, wanted)()
    turn = await conversation.say(wanted)
    return [
        turn.actions, turn.output, turn.fired, list(turn.failed), turn.errors, turn.model_view,
        [(each.rule.name, each.verdict, repr(each.parts)) for each in turn.explanations], repr(turn.misses),
    ]  # fmt: skip


def known(memory: Memory, made: Agent) -> Any:
    """All that can be asked of a conversation."""
    counts = [{key: n for key, n in each.items() if n} for each in (memory.history.actions, memory.history.rules)]
    questions = [sorted(memory.history.true(matcher.index)) for matcher in made.matchers]
    return dump(memory), counts, questions


async def compare(stores: list[Store], wanted: list[str]) -> None:
    stayed = Memory()
    name = f"c{next(_ids)}"
    await stores[0].add(Head(id=name, agent="talker"))
    made = ALL
    for number, each in enumerate(wanted):
        if each == "edit":
            made = FEW if made is ALL else ALL
            continue
        store = stores[number % len(stores)]
        async with store.hold(name) as held:
            if isinstance(store, memory_store.MemoryStore):
                held.memory = store._kept[name].restored()
            assert await change(made, held.memory, each, number) == await change(made, stayed, each, number)
            await held.save()
        _, read = await store.read(name)
        assert dump(read) == dump(stayed)
    _, read = await stores[0].read(name)
    assert known(read, made) == known(stayed, made)


@given(changes)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_conversation_that_is_loaded_for_each_turn_is_as_one_that_stayed(
    place: Place, small: None, wanted: list[str]
) -> None:
    stores = place.opened or [place.open(), place.open()]
    asyncio.run(compare(stores, wanted))


def test_a_conversation_that_one_worker_has_at_hand_is_as_one_that_stayed(place: Place, small: None) -> None:
    rolls = random.Random(7)
    wanted = [rolls.choice([*WORDS, *WORDS, "undo", "redo"]) for _ in range(80)]
    store = place.open()

    async def main() -> None:
        stayed = Memory()
        await store.add(Head(id="c", agent="talker"))
        for number, each in enumerate(wanted):
            async with store.hold("c") as held:
                assert await change(ALL, held.memory, each, number) == await change(ALL, stayed, each, number)
                await held.save()
        assert known((await store.read("c"))[1], ALL) == known(stayed, ALL)

    asyncio.run(main())


def test_what_is_not_saved_is_as_if_it_had_not_been(place: Place) -> None:
    store = place.open()

    async def main() -> None:
        await store.add(Head(id="c", agent="talker"))
        for text, kept in (("a", True), ("b", False), ("rest", True), ("undo", False), ("a", True)):
            async with store.hold("c") as held:
                await change(ALL, held.memory, text, 0)
                if kept:
                    await held.save()
        head, memory = await store.read("c")
        assert said(memory) == ["a", "rest", "a"]
        assert head == Head(id="c", agent="talker")

    asyncio.run(main())


def test_a_head_comes_back_whatever_is_in_it_and_conversations_are_listed_by_age(place: Place) -> None:
    store = place.open()
    odd = Head(id="0-_Az", agent="a\x00 \ud800'ß", user='ü"\n', environment="production", created=2.5)

    async def main() -> None:
        await store.add(odd)
        await store.add(Head(id="older", agent="x", created=1.0))
        assert (await store.read(odd.id))[0] == odd
        async with store.hold(odd.id) as held:
            assert held.head == odd
            await change(ALL, held.memory, "a\x00\ud800", 0)
            await held.save("k\x00\ud800", {"text": "\x00\ud800", "n": [10**40, 1.5, None]})
        assert said((await store.read(odd.id))[1]) == ["a\x00\ud800"]
        assert [head.id for head in await store.heads()] == ["older", odd.id]
        async with store.hold(odd.id) as held:
            assert await held.answer("k\x00\ud800") == {"text": "\x00\ud800", "n": [10**40, 1.5, None]}

    asyncio.run(main())


def test_no_secret_is_stored(place: Place) -> None:
    store = place.open()

    async def main() -> None:
        await store.add(Head(id="c", agent="talker"))
        for text in ("b", "a", "undo"):
            async with store.hold("c") as held:
                await change(ALL, held.memory, text, 0)
                assert held.memory.secrets == {"hidden": "s3cret"}
                stored = [records.head_text(held.memory), *records.new_step_texts(held.memory)]
                assert not any("s3cret" in each for each in stored)
                await held.save()
        assert (await store.read("c"))[1].secrets == {}

    asyncio.run(main())
