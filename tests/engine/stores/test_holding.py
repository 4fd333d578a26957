"""One turn of a conversation at a time, in the order of asking, over all workers; and each is stored whole or not."""

import asyncio
import itertools
import time
from typing import Any

import pytest
import sqlalchemy as sa

from places import Place
from talking import note, said, talk, talker
from turnout.engine.stores import Head, Store, tables
from turnout.rules.errors import LostHoldError, UnknownConversationError, UsageError

QUICK = {"beat": 0.05, "dead_after": 0.4}
"""A worker that shows soon that it is alive, and soon takes others for dead."""


async def add(store: Store, id: str = "c") -> None:
    await store.add(Head(id=id, agent="talker"))


async def note_in(store: Store, text: str, id: str = "c") -> None:
    """A turn that takes a moment."""
    async with store.hold(id) as held:
        note(held.memory, text)
        await asyncio.sleep(0)
        await held.save()


def test_fifty_who_ask_at_once_are_served_in_the_order_of_asking(place: Place) -> None:
    store = place.open()
    wanted = [str(number) for number in range(50)]

    async def main() -> None:
        await add(store)
        await asyncio.gather(*(note_in(store, text) for text in wanted))
        assert said((await store.read("c"))[1]) == wanted

    asyncio.run(main())


def test_two_workers_serve_each_conversation_one_turn_at_a_time_and_lose_none(database: Place) -> None:
    stores = [database.open(), database.open()]
    busy: set[str] = set()

    async def turn(store: Store, id: str, text: str) -> None:
        async with store.hold(id) as held:
            assert id not in busy
            busy.add(id)
            before = len(held.memory.history.steps)
            await asyncio.sleep(0)
            note(held.memory, text)
            assert len(held.memory.history.steps) == before + 1
            busy.remove(id)
            await held.save()

    async def main() -> None:
        ids = [f"c{number}" for number in range(20)]
        for name in ids:
            await add(stores[0], name)
        asks = [(which, name, f"{which} {n}") for n in range(4) for name in ids for which in (0, 1)]
        await asyncio.gather(*(turn(stores[which], name, text) for which, name, text in asks))
        for name in ids:
            done = said((await stores[0].read(name))[1])
            for which in "01":  # each worker's turns are in the order of its asking
                assert [text for text in done if text[0] == which] == [f"{which} {n}" for n in range(4)]

    asyncio.run(main())


def test_the_order_of_asking_holds_over_workers(database: Place) -> None:
    stores = [database.open(), database.open(), database.open()]

    async def main() -> None:
        await add(stores[0])
        asks = []
        async with stores[0].hold("c"):
            for number in range(12):
                asks.append(asyncio.create_task(note_in(stores[number % 3], str(number))))
                await until_asked(stores[0], number + 2)
        await asyncio.gather(*asks)
        assert said((await stores[0].read("c"))[1]) == [str(number) for number in range(12)]

    asyncio.run(main())


async def until_asked(store: Any, count: int) -> None:
    """Wait until there are so many tickets."""
    while len(await store._loop.run(tickets(store))) < count:
        pass


async def tickets(store: Any, id: str = "c") -> Any:
    async with store._database.read() as connection:
        return await store._tickets._rows(connection, id, 10**9)


def test_who_gives_up_waiting_is_passed_over(place: Place) -> None:
    store, other = place.open(), place.open()

    async def main() -> None:
        await add(store)
        async with store.hold("c") as held:
            waiting = [asyncio.create_task(note_in(each, name)) for each, name in ((store, "a"), (other, "b"))]
            last = asyncio.create_task(note_in(other, "c"))
            await asyncio.sleep(0.05)
            for each in waiting:
                each.cancel()
            await asyncio.wait(waiting)
            note(held.memory, "first")
            await held.save()
        await asyncio.wait_for(last, 10)
        assert said((await store.read("c"))[1]) == ["first", "c"]

    asyncio.run(main())


def test_an_ask_that_is_cancelled_at_any_moment_leaves_no_ticket(database: Place) -> None:
    store: Any = database.open()

    async def main() -> None:
        await add(store)
        for moment in range(40):
            asked = asyncio.create_task(note_in(store, "cut"))
            for _ in range(moment):
                await asyncio.sleep(0)
            await asyncio.sleep(moment / 5000)
            asked.cancel()
            await asyncio.wait([asked])
        await asyncio.wait_for(note_in(store, "last"), 10)
        done = said((await store.read("c"))[1])
        assert done == ["cut"] * (len(done) - 1) + ["last"]
        assert not await asyncio.wait_for(none_left(store), 10)

    asyncio.run(main())


async def none_left(store: Any) -> Any:
    while left := await store._loop.run(tickets(store)):
        pass
    return left


def test_what_is_cancelled_while_it_saves_is_saved(place: Place) -> None:
    store = place.open()

    async def main() -> None:
        await add(store)

        async def turn() -> None:
            async with store.hold("c") as held:
                note(held.memory, "x")
                asyncio.get_running_loop().call_soon(asked.cancel)
                await held.save()

        asked = asyncio.create_task(turn())
        await asyncio.wait([asked])
        await note_in(store, "y")
        assert said((await store.read("c"))[1]) == ["x", "y"]

    asyncio.run(main())


def test_a_worker_that_vanished_is_taken_over_and_what_it_does_late_is_not_stored(database: Place) -> None:
    vanished: Any = database.open(beat=1000.0)
    store: Any = database.open(**QUICK)

    async def main() -> None:
        await add(store)
        async with vanished.hold("c") as held:
            behind = asyncio.create_task(note_in(vanished, "behind"))
            await until_asked(store, 2)
            note(held.memory, "late")
            began = time.monotonic()
            await asyncio.wait_for(note_in(store, "taken over"), 10)
            assert time.monotonic() - began > QUICK["dead_after"]
            with pytest.raises(LostHoldError):
                await held.save("key", {"n": 1})
        with pytest.raises(LostHoldError):
            await behind
        async with store.hold("c") as held:
            assert said(held.memory) == ["taken over"]
            assert await held.answer("key") is None
        await note_in(vanished, "back again")
        assert said((await store.read("c"))[1]) == ["taken over", "back again"]

    asyncio.run(main())


def test_a_worker_that_is_alive_may_take_its_time(database: Place) -> None:
    slow, store = database.open(**QUICK), database.open(**QUICK)

    async def main() -> None:
        await add(store)
        async with slow.hold("c") as held:
            after = asyncio.create_task(note_in(store, "after"))
            await asyncio.sleep(0)
            time.sleep(4 * QUICK["dead_after"])  # noqa: ASYNC251 - a task that blocks its loop is alive
            note(held.memory, "slow")
            await held.save()
        await after
        assert said((await store.read("c"))[1]) == ["slow", "after"]

    asyncio.run(main())


def test_a_ticket_that_could_not_be_given_back_keeps_nobody_waiting(database: Place) -> None:
    """Not even other workers, while this one is alive."""
    store: Any = database.open(beat=0.05)
    other = database.open(dead_after=1000.0)

    async def lose() -> None:
        async with store._database.write() as connection:
            row = {"conversation": "c", "number": 0, "worker": store._tickets._worker, "beat": 0, "cancelled": False}
            await connection.execute(sa.insert(tables.tickets).values(**row))

    async def main() -> None:
        await add(store)
        await add(store, "busy")
        await store._loop.run(lose())
        async with store.hold("busy"):
            await asyncio.wait_for(note_in(other, "x"), 10)

    asyncio.run(main())


def test_whoever_holds_is_told_of_a_cancellation_once_and_those_who_wait_are_not(place: Place) -> None:
    store = place.open(**QUICK)
    told: list[str] = []

    async def main() -> None:
        await add(store)
        async with store.hold("c", lambda: told.append("holds")):
            waiting = asyncio.ensure_future(_held(store, told))
            await asyncio.sleep(0.05)
            await store.cancel("c")
            await store.cancel("c")
        await waiting
        await store.cancel("c")  # nobody is there

    asyncio.run(main())
    assert set(told) == {"holds"}


async def _held(store: Store, told: list[str]) -> None:
    async with store.hold("c", lambda: told.append("waits")):
        pass


def test_another_worker_is_told_of_a_cancellation_within_a_beat(database: Place) -> None:
    holding, other = database.open(**QUICK), database.open(**QUICK)

    async def main() -> None:
        await add(holding)
        loop, told = asyncio.get_running_loop(), asyncio.Event()
        async with holding.hold("c", lambda: loop.call_soon_threadsafe(told.set)):
            await other.cancel("c")
            await asyncio.wait_for(told.wait(), 10)

    asyncio.run(main())


def test_a_repeated_key_gets_the_first_answer_from_any_worker(place: Place) -> None:
    stores = itertools.cycle([place.open(), place.open()])
    made = talker()
    turns: list[str] = []

    async def ask(key: str, text: str) -> Any:
        async with next(stores).hold("c") as held:
            told = await held.answer(key)
            if told is None:
                conversation = await talk(made, held, text)
                turns.append(text)
                told = {"said": conversation.memory.history.steps[-1].input}
                await held.save(key, told)
            return told

    async def main() -> None:
        await add(next(stores))
        assert await asyncio.gather(*(ask("k", "a") for _ in range(6))) == [{"said": "a"}] * 6
        assert await ask("other", "b") == {"said": "b"}
        assert turns == ["a", "b"]

    asyncio.run(main())


def test_a_hold_ends_with_its_save_or_its_block(place: Place) -> None:
    store = place.open()

    async def main() -> None:
        await add(store)
        async with store.hold("c") as held:
            await held.save()
            with pytest.raises(LostHoldError):
                await held.save()
        async with store.hold("c") as held:
            pass
        with pytest.raises(LostHoldError):
            await held.save()

    asyncio.run(main())


@pytest.mark.parametrize("id", ["missing", "", "a b", "\x00", "x" * 65, "ü", "\ud800"])
def test_what_is_no_conversation_is_told_so(place: Place, id: str) -> None:
    store = place.open()

    async def main() -> None:
        for _ in range(2):
            with pytest.raises(UnknownConversationError):
                await store.read(id)
            with pytest.raises(UnknownConversationError):
                await note_in(store, "x", id)
        if id != "missing":
            with pytest.raises(UsageError, match="cannot be the id"):
                await add(store, id)

    asyncio.run(main())


def test_an_id_is_given_once(place: Place) -> None:
    store = place.open()

    async def main() -> None:
        await add(store)
        with pytest.raises(UsageError, match="already"):
            await add(store)

    asyncio.run(main())


def test_a_store_may_be_used_from_one_event_loop_after_another(place: Place) -> None:
    store = place.open()
    asyncio.run(add(store))
    for text in "abc":
        asyncio.run(note_in(store, text))
    assert said(asyncio.run(store.read("c"))[1]) == ["a", "b", "c"]


def test_closing_lets_those_go_who_wait_and_gives_what_is_held_to_other_workers(database: Place) -> None:
    store, other = database.open(), database.open()

    async def main() -> None:
        await add(store)
        async with store.hold("c") as held:
            waiting = asyncio.create_task(note_in(store, "x"))
            await until_asked(store, 2)
            await store.close()
            with pytest.raises(UsageError, match="closed"):
                await waiting
            await asyncio.wait_for(note_in(other, "y"), 3)
            with pytest.raises(UsageError, match="closed"):
                await held.save()

    asyncio.run(main())
