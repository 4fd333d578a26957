"""A service that is killed at any moment loses no turn that it answered, keeps none in part, and does none twice."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

import postgres
from places import new_database
from served import Clients, Talk, expected, services, write_agent
from turnout.app.serve import opened_agents
from turnout.engine.history import History
from turnout.engine.stores import open_store, tables

HERE = Path(__file__).parent
ENDED = ("READY", "ERROR", "ENDED", "AWAITING_HUMAN")
# Waiting behind a turn that died with its worker, and being asked to come back.
MAY_BE_REFUSED = {"409 taken_over", "503 draining"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if reason := postgres.reason_to_skip():
        pytest.skip(reason)
    with postgres.server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of a new store that several workers share."""
    return str(tmp_path / "c.db") if request.param == "sqlite" else new_database(request.getfixturevalue("address"))


@pytest.mark.soak
def test_what_is_answered_outlives_a_dozen_kills(store: str, tmp_path: Path) -> None:
    asyncio.run(killed(tmp_path, store, kills=12, groups=3, two_workers=12))


@pytest.mark.soak
def test_what_is_answered_outlives_two_hundred_kills(store: str, tmp_path: Path) -> None:
    asyncio.run(killed(tmp_path, store, kills=200, groups=3, two_workers=4))


def test_turns_of_a_conversation_do_not_overlap(store: str, tmp_path: Path) -> None:
    """Two workers of one service on SQLite, two services on PostgreSQL."""
    asyncio.run(crowded(tmp_path, store, services_=2 if "://" in store else 1, conversations=10))


@pytest.mark.soak
@pytest.mark.parametrize("count", [1, 2], ids=["two workers", "two services"])
def test_turns_of_five_hundred_conversations_do_not_overlap(store: str, count: int, tmp_path: Path) -> None:
    asyncio.run(crowded(tmp_path, store, services_=count, conversations=500))


async def killed(folder: Path, store: str, *, kills: int, groups: int, two_workers: int) -> None:
    """Kill a service again and again while clients talk with it; then look at all that it has kept.

    Every so many kills it gets `two_workers`, of which now and then one is killed alone, too.
    """
    chance = random.Random(kills)
    with services(folder, store, 1) as [service]:
        async with httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=None), trust_env=False) as http:
            clients = Clients([service], http)
            await service.start(1)
            talking = [asyncio.create_task(clients.talk_on(f"group{number}", 2)) for number in range(groups)]
            for kill in range(1, kills + 1):
                # New conversations have something to do at once; others may wait behind turns that died.
                talking += [asyncio.create_task(clients.talk(f"life{kill}.{number}", 2, 3)) for number in range(2)]
                await clients.answered(chance.randint(0, 40))
                await asyncio.sleep(chance.uniform(0, 0.1))
                service.kill()
                for each in talking:
                    if each.done():
                        each.result()
                if kill % two_workers:
                    await service.start(1)
                    continue
                await service.start(2)
                if kill % (2 * two_workers) == 0:
                    await clients.answered(5)
                    service.kill_worker()
            clients.stopping = True
            await asyncio.gather(*talking)
            seen = [await clients.turns(talk) for talk in clients.talks]
            for talk in clients.talks:
                for said in list(talk.answers)[-2:]:
                    assert await clients.say(talk, said) == talk.answers[said]
            assert [await clients.turns(talk) for talk in clients.talks] == seen
        assert service.end() == 0
    for talk, turns in zip(clients.talks, seen, strict=True):
        look_at_turns(talk, turns)
    assert set(clients.refused) <= MAY_BE_REFUSED, clients.refused
    await look_at_store(store, folder, clients.talks)
    turns_in_all = sum(map(len, seen))
    print(
        f"{kills} kills: {len(clients.talks)} conversations, {turns_in_all} turns, "
        f"{clients.cut} requests cut off, refused: {dict(clients.refused)}"
    )


def look_at_turns(talk: Talk, turns: list[dict[str, Any]]) -> None:
    """What was answered is there once, in the order of asking, with that answer; and nothing else is there."""
    inputs = [turn["input"] for turn in turns]
    assert sorted(inputs) == sorted(talk.answers)
    for client in {said.rpartition("-")[0] for said in inputs}:
        numbers = [int(said.rpartition("-")[2]) for said in inputs if said.rpartition("-")[0] == client]
        assert numbers == list(range(len(numbers)))
    for turn, texts in zip(turns, expected(inputs), strict=True):
        assert [item["text"] for item in turn["output"]] == texts
        assert turn["state"] == "READY"
        assert {outcome["status"] for outcome in turn["outcomes"]} == {"succeeded"}
        [shown] = talk.answers[turn["input"]]["conversationOutputs"]
        assert shown["output"] == turn["output"]


async def look_at_store(where: str, folder: Path, talks: list[Talk]) -> None:
    """Every conversation is whole: its steps are all there, have ended, and its totals are what a recount gives."""
    folder = folder / "looking"
    folder.mkdir()
    agent = opened_agents([write_agent(folder)], [HERE / "tasks.py"])["counter"]
    store: Any = open_store(where)

    async def rows() -> Any:
        async with store._database.read() as connection:
            heads = (await connection.execute(sa.select(tables.conversations.c.id, tables.conversations.c.steps))).all()
            counted = sa.select(
                tables.steps.c.conversation, sa.func.count(), sa.func.max(tables.steps.c.number)
            ).group_by(tables.steps.c.conversation)
            steps = {name: (number, last + 1) for name, number, last in await connection.execute(counted)}
            left = (await connection.execute(sa.select(sa.func.count()).select_from(tables.tickets))).scalar()
        return heads, steps, left

    try:
        heads, steps, left = await store._loop.run(rows())
        assert {name for name, _ in heads} == {talk.id for talk in talks}
        assert {name: (number, number) for name, number in heads if number} == steps
        assert left == 0
        for talk in talks:
            _, memory = await store.read(talk.id)
            kept, replayed = memory.history, History(memory.history.steps)
            assert all(step.state in ENDED for step in kept.steps)
            assert (kept.actions, kept.rules) == (replayed.actions, replayed.rules)
            for matcher in agent.matchers:
                assert sorted(kept.true(matcher.index)) == sorted(replayed.true(matcher.index))
            assert memory.properties.get("turns", 0) == len(talk.answers) == len(kept.steps) - 1
    finally:
        await store.close()


async def crowded(folder: Path, store: str, *, services_: int, conversations: int) -> None:
    """Two workers and several clients that ask in each conversation at once; then look at when turns began and ended.

    The tasks of all workers write that to the end of one file, so that it stands there in the order in which it was.
    """
    marks = folder / "marks"
    together = asyncio.Semaphore(25)
    with services(folder, store, services_, marks) as served:
        # A new connection for each request, so that any worker may get it.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        async with httpx2.AsyncClient(timeout=60, limits=limits, trust_env=False) as http:
            clients = Clients(served, http)
            for service in served:
                await service.start(2 // services_)
            first = 0
            while not marks.exists() or len(workers_of(marks)) < 2:
                await clients.talk(f"first{first}", clients=2, turns=1)
                first += 1

            async def talk(number: int) -> None:
                async with together:
                    await clients.talk(f"c{number}", clients=4, turns=3)

            await asyncio.gather(*(talk(number) for number in range(conversations)))
            for each in clients.talks:
                look_at_turns(each, await clients.turns(each))
        assert not clients.refused
        assert not clients.cut
    running: dict[str, str] = {}
    order: dict[str, list[str]] = {}
    for line in marks.read_text().splitlines():
        which, said, _ = line.split()
        name = said.partition("-")[0]
        if which == "begin":
            assert name not in running, f"{said} began while {running[name]} ran"
            running[name] = said
            order.setdefault(name, []).append(said)
        else:
            assert running.pop(name) == said
    assert not running
    for each in clients.talks:
        [name] = {said.partition("-")[0] for said in each.answers}
        assert sorted(order[name]) == sorted(each.answers), "a turn ran twice, or not"
    print(f"{len(clients.talks)} conversations, {sum(map(len, order.values()))} turns in {workers_of(marks)}")


def workers_of(marks: Path) -> Counter[str]:
    """How many turns each process had."""
    return Counter(line.split()[2] for line in marks.read_text().splitlines() if line.startswith("begin"))
