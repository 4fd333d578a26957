"""What is special about stores in a database: how they are opened, how little they read, and that they survive."""

import asyncio
import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import turnout.engine.stores.tables as tables_module
from places import Place
from talking import note, said, talk, talker
from turnout.engine.stores import Head, open_store
from turnout.rules.errors import UsageError

HERE = Path(__file__).parent


def test_a_file_is_made_where_there_is_none_and_kept(tmp_path: Path) -> None:
    async def main(first: bool) -> None:
        store = open_store(tmp_path / "c.db")
        if first:
            await store.add(Head(id="c", agent="x"))
        assert [head.id for head in await store.heads()] == ["c"]
        await store.close()
        await store.close()

    asyncio.run(main(True))
    asyncio.run(main(False))
    assert {each.stat().st_mode & 0o077 for each in tmp_path.iterdir()} == {0}


def no_database(folder: Path) -> tuple[Path, str]:
    path = folder / "c.db"
    path.write_text("this is no database, but a text that is long enough to be looked at\n" * 50)
    return path, "is no SQLite database"


def of_another_program(folder: Path) -> tuple[Path, str]:
    path = folder / "c.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE addresses (name TEXT)")
    return path, "is the database of another program"


def folder(folder: Path) -> tuple[Path, str]:
    return folder, "is a folder"


def folder_missing(folder: Path) -> tuple[Path, str]:
    return folder / "missing" / "c.db", "there is no folder"


def read_only_folder(folder: Path) -> tuple[Path, str]:
    folder.chmod(0o500)
    return folder / "c.db", "cannot be written"


def read_only_file(folder: Path) -> tuple[Path, str]:
    path = folder / "c.db"
    path.touch(0o400)
    return path, "cannot be written"


def store_threads() -> int:
    return sum(thread.name == "turnout-store" for thread in threading.enumerate())


@pytest.mark.parametrize(
    "make", [no_database, of_another_program, folder, folder_missing, read_only_folder, read_only_file]
)
def test_a_file_that_cannot_be_a_store_is_refused_in_plain_words(tmp_path: Path, make: Any) -> None:
    if make in (read_only_folder, read_only_file) and os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    path, words = make(tmp_path)
    before = store_threads()
    with pytest.raises(UsageError, match=words) as refused:
        open_store(path)
    assert str(path) in refused.value.message
    assert refused.value.hint
    assert store_threads() == before


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://u:s3cret@127.0.0.1:1/x", "postgresql://u:***@127.0.0.1:1/x` cannot be opened: "),
        ("postgresql://u:s3cret@no-such-host.invalid/x", "cannot be opened: "),
        ("postgresql://u:s3cret@127.0.0.1:1/x?passfile=s3cret", "cannot be opened: "),
        ("postgresql://u:s3cret@host:port/x", "the address of the store cannot be read"),
        ("mysql://u:s3cret@host/x", "there is no store for `mysql` addresses"),
        ("://s3cret", "the address of the store cannot be read"),
    ],
)
def test_an_address_that_cannot_be_opened_is_refused_without_its_password(address: str, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        open_store(address)
    assert words in str(refused.value)
    assert "s3cret" not in str(refused.value)
    assert refused.value.hint


def test_a_server_that_refuses_is_quoted(server: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be opened: .*database \"nothing\" does not exist"):
        open_store(f"{server}/nothing")


def test_tables_of_a_newer_version_are_refused(database: Place) -> None:
    store: Any = database.open()

    async def age() -> None:
        async with store._database.write() as connection:
            await connection.execute(sa.update(tables_module.schema).values(version=2))

    asyncio.run(store._loop.run(age()))
    with pytest.raises(UsageError, match=r"written by a newer Turnout \(version 2"):
        database.open()


def test_older_tables_are_brought_up_to_date_once(database: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(database.open().add(Head(id="c", agent="x")))
    ran: list[int] = []
    monkeypatch.setattr(tables_module, "MIGRATIONS", [*tables_module.MIGRATIONS, lambda connection: ran.append(2)])
    for _ in range(2):
        assert [head.id for head in asyncio.run(database.open().heads())] == ["c"]
    assert ran == [2]


def test_many_workers_may_open_a_new_place_at_once(database: Place) -> None:
    opened: list[Any] = []
    threads = [threading.Thread(target=lambda: opened.append(database.open())) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(opened) == 8


def test_without_sqlalchemy_everything_but_a_store_in_a_database_works(tmp_path: Path) -> None:
    script = """
import sys
sys.modules["sqlalchemy"] = None
from turnout.engine.stores import open_store
from turnout.engine.stores.memory import MemoryStore
from turnout.rules.errors import UsageError
MemoryStore()
try:
    open_store("c.db")
except UsageError as error:
    print(error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path, timeout=60
    )
    assert 'pip install "turnout[store]"' in ran.stdout


@contextmanager
def statements(store: Any) -> Iterator[list[str]]:
    """The statements that the store runs."""
    found: list[str] = []
    engine = store._database.engine.sync_engine

    def note_it(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note_it)
    try:
        yield found
    finally:
        sa.event.remove(engine, "before_cursor_execute", note_it)


async def long_one(store: Any, id: str, turns: int) -> None:
    """A conversation of so many turns; the last few ask all rules, so that their counts are known."""
    made = talker()
    await store.add(Head(id=id, agent="talker"))
    async with store.hold(id) as held:
        for number in range(turns):
            note(held.memory, f"turn {number}")
        await talk(made, held, "a")
        await held.save()


def test_what_a_turn_reads_and_writes_does_not_grow_with_history(database: Place) -> None:
    maker: Any = database.open()
    store: Any = database.open()
    made = talker()

    async def turn(id: str, turns: int) -> tuple[list[str], list[int]]:
        await long_one(maker, id, turns)
        with statements(store) as ran:
            async with store.hold(id) as held:
                at_hand = [held.memory.history.steps.at_hand, held.memory.changes.at_hand]
                await talk(made, held, "fail")
                await held.save("key", 1)
            async with store.hold(id) as held:  # which this worker has at hand
                conversation = made.conversation(memory=held.memory)
                assert conversation.undo()
                await held.save()
        async with maker.hold(id) as held:  # in another worker
            assert said(held.memory)[-1] == "a"
        return ran, at_hand

    async def size(id: str) -> int:
        table = tables_module.conversations
        async with store._database.read() as connection:
            head = sa.select(table.c.head).where(table.c.id == id)
            return len((await connection.execute(head)).scalar_one())

    async def main() -> None:
        short, at_hand_of_short = await turn("short", 20)
        long, at_hand = await turn("long", 10_000)
        assert long == short
        assert len(long) < 40
        assert at_hand == at_hand_of_short == [10, 10]
        sizes = [await store._loop.run(size(each)) for each in ("short", "long")]
        assert sizes[1] < sizes[0] + 100

    asyncio.run(main())


def test_a_worker_that_served_the_last_turn_loads_nothing(database: Place) -> None:
    store: Any = database.open()

    async def main() -> None:
        await long_one(store, "c", 5)
        with statements(store) as ran:
            for text in ("x", "y"):
                async with store.hold("c") as held:
                    note(held.memory, text)
                    await held.save()
        assert not any("turnout_steps" in each and each.startswith("SELECT") for each in ran)
        assert not any(".head" in each and each.startswith("SELECT") for each in ran)

    asyncio.run(main())


def test_what_a_worker_has_at_hand_is_bounded(database: Place) -> None:
    store: Any = database.open(most_cached=3)

    async def main() -> None:
        for number in range(5):
            await store.add(Head(id=f"c{number}", agent="x"))
        for turn in range(120):
            async with store.hold(f"c{turn % 2}") as held:
                note(held.memory, "x")
                await held.save()
        for number in range(5):
            async with store.hold(f"c{number}") as held:
                await held.save()
                assert held.memory.history.steps.at_hand <= 51
        assert list(store._cache) == ["c2", "c3", "c4"]

    asyncio.run(main())


def test_old_steps_are_read_inside_a_running_loop_when_something_asks(database: Place) -> None:
    maker, store = database.open(), database.open()

    async def main() -> None:
        await long_one(maker, "c", 350)
        _, memory = await store.read("c")
        assert [memory.history.steps[number].input for number in (0, 349, 120)] == ["turn 0", "turn 349", "turn 120"]
        assert said(memory) == [f"turn {number}" for number in range(350)] + ["a"]
        for _ in range(300):
            assert memory.undo()
        assert said(memory)[-1] == "turn 50"

    asyncio.run(main())


def test_a_worker_that_is_killed_leaves_its_last_finished_turn(database: Place) -> None:
    """Killed at random moments, most of them in the middle of saving: nothing promised is lost, nothing is half."""
    store: Any = database.open(beat=0.05, dead_after=0.15)
    rolls = random.Random(5)
    path = os.pathsep.join([str(HERE), str(HERE.parents[1])])
    command = [sys.executable, str(HERE / "killed.py"), database.where, "c"]

    async def check(promised: int) -> int:
        async with store.hold("c") as held:
            memory = held.memory
            texts = [each.split()[0] for each in said(memory)]
            assert texts == [str(number) for number in range(len(texts))]
            assert memory.properties == ({"turns": len(texts)} if texts else {})
            assert len(texts) in (promised, promised + 1)
            for number in range(len(texts)):
                assert await held.answer(str(number)) == number
            assert await held.answer(str(len(texts))) is None
            return len(texts)

    asyncio.run(store.add(Head(id="c", agent="x")))
    done = 0
    for _ in range(12):
        with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE) as worker:
            assert worker.stdout is not None
            promised = done
            for _ in range(rolls.randrange(1, 6)):
                promised = int(worker.stdout.readline()) + 1
            threading.Event().wait(rolls.uniform(0, 0.01))
            worker.kill()
            promised += worker.stdout.read().count(b"\n")
        done = asyncio.run(asyncio.wait_for(check(promised), 30))
    assert done >= 12
