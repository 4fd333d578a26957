"""A service in this process, and what its tests ask it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
from starlette.testclient import TestClient

from building import agent, failing, on_action, output, rules, step
from turnout.app.service.access import Settings
from turnout.app.service.service import service
from turnout.engine.agents import Agent
from turnout.engine.stores.memory import MemoryStore
from turnout.engine.tasks import FunctionTask

HERE = "http://localhost"
SECRET = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


def answering(**options: Any) -> Agent:
    """An agent that greets; its task `weather` fails, and a rule answers for it."""
    return agent(
        rules(
            [on_action("hello", "CONVERSATION_START", "greet")],
            [on_action("sorry", "task_failed_weather", "sorry")],
        ),
        step("weather"),
        output(greet="Hello!", sorry="The weather is out."),
        tasks=[failing("weather", RuntimeError(f"it broke at https://internal.example/?key={SECRET}"))],
        **options,
    )


def doing(work: Callable[[Any], Awaitable[None]]) -> Agent:
    """An agent with one task."""
    return agent(step("work"), tasks=[FunctionTask("work", work)])


class Gate:
    """A task that says `done` when it is let through, in all turns but the opening one."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()
        self.inputs: list[str] = []

    async def work(self, turn: Any) -> None:
        if turn.input:
            self.inputs.append(turn.input)
            self.entered.set()
            await self.opened.wait()
            turn.say("done")


@contextmanager
def serving(
    agents: Mapping[str, Agent] | Agent, settings: Settings | None = None, **options: Any
) -> Iterator[TestClient]:
    """A client of a service of these agents, or of one called `a`."""
    store = options.pop("store", None) or MemoryStore()
    with TestClient(service(_named(agents), store, settings), base_url=HERE, **options) as client:
        yield client


@asynccontextmanager
async def serving_here(agents: Mapping[str, Agent] | Agent, settings: Settings | None = None) -> AsyncIterator[Any]:
    """A client in this event loop, for requests at the same time; `client.app` is the service."""
    app = service(_named(agents), MemoryStore(), settings)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=HERE) as client:
        client.app = app  # type: ignore[attr-defined]  # for what only the inside can show
        yield client


def _named(agents: Mapping[str, Agent] | Agent) -> Mapping[str, Agent]:
    return {"a": agents} if isinstance(agents, Agent) else agents


def started(client: TestClient, agent: str = "a", **options: Any) -> str:
    """The id of a new conversation."""
    answer = client.post(f"/agents/{agent}/start", **options)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["conversationId"])


def texts(snapshot: Any) -> list[str]:
    """What the last turn said."""
    return [item["text"] for item in snapshot["conversationOutputs"][-1]["output"]]


def events(text: str) -> list[tuple[str, str]]:
    """The events of a stream, as a browser reads them."""
    found = []
    for block in text.split("\n\n"):
        lines = [line.partition(": ") for line in block.split("\n") if line]
        if lines:
            name = next(value for field, _, value in lines if field == "event")
            found.append((name, "\n".join(value for field, _, value in lines if field == "data")))
    return found
