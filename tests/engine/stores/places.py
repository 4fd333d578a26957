"""A place that conversations are kept in, opened by as many workers as a test needs."""

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from turnout.engine.stores import Store
from turnout.engine.stores.memory import MemoryStore
from turnout.engine.stores.sql import SqlStore

_numbers = itertools.count()


@dataclass(slots=True, kw_only=True)
class Place:
    """Where conversations are kept; `where` is a file or an address, empty for memory."""

    where: str
    opened: list[Store] = field(default_factory=list)

    def open(self, **settings: Any) -> Store:
        """One more store on the place, as of another worker; in memory there is one."""
        if not self.where and self.opened:
            return self.opened[0]
        self.opened.append(SqlStore(self.where, **settings) if self.where else MemoryStore())
        return self.opened[-1]


def new_database(server: str) -> str:
    """A new database on the server."""
    name = f"test{next(_numbers)}"

    async def create() -> None:
        engine = create_async_engine(
            server.replace("postgresql", "postgresql+asyncpg") + "/postgres", isolation_level="AUTOCOMMIT"
        )
        async with engine.connect() as connection:
            await connection.execute(sa.text(f"CREATE DATABASE {name}"))
        await engine.dispose()

    asyncio.run(create())
    return f"{server}/{name}"
