"""The places that the tests of stores run on: memory, an SQLite file, a database on a PostgreSQL server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import postgres
from places import Place, new_database


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    if reason := postgres.reason_to_skip():
        pytest.skip(reason)
    with postgres.server() as address:
        yield address


def _place(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    place = Place(where="")
    if kind == "sqlite":
        place.where = str(tmp_path / "conversations.db")
    elif kind == "postgresql":
        place.where = new_database(request.getfixturevalue("server"))
    yield place
    for store in place.opened:
        asyncio.run(store.close())


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Each kind of store."""
    yield from _place(request.param, request, tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Each kind of store that several workers share."""
    yield from _place(request.param, request, tmp_path)
