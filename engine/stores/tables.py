"""The tables of a store in a database, how they are made, and how their database is opened."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ...rules.errors import UsageError, cause

BUSY = 30.0
"""How many seconds to wait for other writers of an SQLite file."""

CONNECT = 10.0
"""How many seconds to wait for a server."""

_NAME = 64
_LOCK = 7_817_114_655  # any number that others are unlikely to use

metadata = sa.MetaData()

conversations = sa.Table(
    "turnout_conversations",
    metadata,
    sa.Column("id", sa.String(_NAME), primary_key=True),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("about", sa.Text, nullable=False),  # the rest of `Head`, as JSON: its texts may hold any character
    sa.Column("ticket", sa.BigInteger, nullable=False),  # the number of the last ticket that was given out
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("steps", sa.BigInteger, nullable=False),  # how many there are
    sa.Column("head", sa.Text, nullable=False),
)
steps = sa.Table(
    "turnout_steps",
    metadata,
    sa.Column("conversation", sa.String(_NAME), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("document", sa.Text, nullable=False),
)
answers = sa.Table(
    "turnout_answers",
    metadata,
    sa.Column("conversation", sa.String(_NAME), primary_key=True),
    sa.Column("key", sa.String(_NAME), primary_key=True),  # its SHA-256: a key may be long, and hold any character
    sa.Column("answer", sa.Text, nullable=False),
)
tickets = sa.Table(
    "turnout_tickets",
    metadata,
    sa.Column("conversation", sa.String(_NAME), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("worker", sa.String(_NAME), nullable=False, index=True),
    sa.Column("beat", sa.BigInteger, nullable=False),  # counts on while the worker is alive
    sa.Column("cancelled", sa.Boolean, nullable=False),  # whether what it was taken for is to end
)
schema = sa.Table("turnout_schema", metadata, sa.Column("version", sa.Integer, primary_key=True, autoincrement=False))


def _version_1(connection: sa.Connection) -> None:
    metadata.create_all(connection)


MIGRATIONS = [_version_1]
"""What makes each version of the tables of the one before; a change of the tables needs one more, and the first its
own copy of what it makes."""


def migrate(connection: sa.Connection, name: str) -> None:
    """Bring the tables of the database to the version of this program, in a transaction that keeps others out.

    Raises `UsageError`, which calls the database `name`, where it is newer or another program's.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    there = sa.inspect(connection).get_table_names()
    version = 0
    if schema.name in there:
        version = connection.execute(sa.select(schema.c.version)).scalar() or 0
    elif there and connection.dialect.name == "sqlite":
        raise UsageError(f"`{name}` is the database of another program", "name another file")
    if version > len(MIGRATIONS):
        raise UsageError(
            f"`{name}` was written by a newer Turnout (version {version} of its tables, this one knows "
            f"{len(MIGRATIONS)})",
            "run the newer one",
        )
    if version == len(MIGRATIONS):
        return
    for step in MIGRATIONS[version:]:
        step(connection)
    connection.execute(sa.delete(schema))
    connection.execute(sa.insert(schema).values(version=len(MIGRATIONS)))


def engine_of(where: str | Path) -> tuple[AsyncEngine, str]:
    """The engine for a file or an address, not yet connected, and what to call the place: nothing of it is secret.

    Raises `UsageError` where it is neither.
    """
    text = str(where)
    if "://" in text:
        return _server(text)
    return _file(Path(where)), text


def _server(address: str) -> tuple[AsyncEngine, str]:
    try:
        url = sa.make_url(address)
    except (sa.exc.ArgumentError, ValueError):
        # Not a word of it: what can't be read may hold a password anywhere.
        raise UsageError("the address of the store cannot be read", _EXAMPLE) from None
    if url.drivername not in ("postgresql", "postgres"):
        raise UsageError(f"there is no store for `{url.drivername}` addresses", _EXAMPLE)
    shown = url.set(query={}).render_as_string()
    url = url.set(drivername="postgresql+asyncpg")
    try:
        engine = create_async_engine(url, **_COMMON, pool_pre_ping=True, connect_args={"timeout": CONNECT})
    except ImportError as error:
        hint = 'run `pip install "turnout[postgres]"`'
        raise UsageError(f"the store at `{shown}` needs `{error.name}`, which is not installed", hint) from None
    return engine, shown


# What people said is in no message, and a connection comes back from a transaction that has ended.
_COMMON = {"hide_parameters": True, "pool_reset_on_return": None}
_EXAMPLE = "use `postgresql://user:password@host/database`, or the name of a file"


def _file(path: Path) -> AsyncEngine:
    if path.is_dir():
        raise UsageError(f"`{path}` is a folder", "name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"`{path}` cannot be made: there is no folder `{path.parent}`", "make the folder first")
    with suppress(OSError):  # what can't be made is told when it is opened
        path.touch(0o600)  # what people said is nobody else's to read
    url = sa.URL.create("sqlite+aiosqlite", database=str(path.absolute()))
    # The driver begins no transaction of its own accord: see `_begin`.
    engine = create_async_engine(url, **_COMMON, connect_args={"timeout": BUSY, "isolation_level": None})
    sa.event.listen(engine.sync_engine, "connect", _prepare)
    sa.event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _prepare(connection: sa.engine.interfaces.DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    # Readers wait for no writer, and what is committed is on the disk.
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    # A transaction that is to write takes the lock at once: one that has read before may not get it any more.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def refusal(name: str, engine: AsyncEngine, error: Exception) -> UsageError:
    """What to say of a database that can't be opened."""
    first = getattr(error, "orig", None) or error
    said = cause(first) if isinstance(first, OSError) and first.strerror else str(first)
    said = " ".join(said.split()) or type(first).__name__
    if engine.url.password:
        said = said.replace(str(engine.url.password), "***")
    if engine.dialect.name == "postgresql":
        return UsageError(f"the store at `{name}` cannot be opened: {said}", "check the address and the server")
    if "not a database" in said:
        return UsageError(f"`{name}` is no SQLite database", "name another file")
    if "readonly" in said or "unable to open" in said:
        return UsageError(f"`{name}` cannot be written", "check the permissions of the file and its folder")
    return UsageError(f"`{name}` cannot be opened: {said}", "name another file")


class Database:
    """A database that is open: `write` and `read` are transactions, each of which ends at once."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        sqlite = engine.dialect.name == "sqlite"
        self._writing = engine.execution_options(writes=True)
        # Each reads from one state of the database, which SQLite does anyway.
        self._reading = engine if sqlite else engine.execution_options(isolation_level="REPEATABLE READ")
        # Who waits for SQLite's one writer asks again and again, in no order: here they queue.
        self._turn: AbstractAsyncContextManager[object] = asyncio.Lock() if sqlite else nullcontext()

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that may write; rolled back where what is done in it raises."""
        async with self._turn, self._writing.begin() as connection:
            yield connection

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that reads from one state of the database."""
        async with self._reading.begin() as connection:
            yield connection
