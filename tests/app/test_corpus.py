"""Agents that nobody here wrote: they load, their generations say the same, and their failures are answered."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turnout.engine.agents import Agent
from turnout.engine.turns import Turn
from turnout.rules.agent_files import suffix
from turnout.rules.agents import AgentDefinition, Policy
from turnout.rules.calls import AfterCall, HttpCall, HttpCallsFile
from turnout.rules.folders import read_agent

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
FOLDERS = sorted(folder for folder in CORPUS.glob("*-20*") if folder.is_dir())
NAMES = [folder.name for folder in FOLDERS] or ["none"]
CALLING = ["weather-2018", "weather-2022", "weather-2026", "tv-buddy-2019", "tv-buddy-2020", "tv-buddy-2022"]
WITHOUT_PAUSE = AfterCall.model_validate({"retryApiCallInstruction": {"exponentialBackoffDelayInMillis": 0}})

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

SAID = {
    "weather": """hello|weather|Vienna|what is the weather|Vienna|Vienna|whats the weather?|Vienna|WEATHER|Vienna|
        weather weather|Vienna||?|weather!|Vienna|bye|weather|Vienna|x""",
    "tv-buddy": """hello|Talk TV!|What shows are popular?|tv shows|Search by show title!|Dark|movies|
        What movies are popular?|Chat about Movies!|Search by movie title!|Alien|popular|See ya|show|good morning|
        what are popular shows|nonsense||movie|bye""",
    "multi-purpose": """hello|start onboarding|Sure, tell me more|Yeah, I got it|tell me a joke|Sure, buddy|joke|
        start onboarding|Sure, tell me more|Show me your skillz|Tell a joke!|Ok|Good morning|start onboarding|no|skills|
        Tell me a joke||?|exit""",
}
"""Twenty inputs for the agents of each family. In the newest weather agent the author knows one city only."""
SHOWS = {
    "weather": [{"description": "clear sky"}],
    "main": {"temp": 12.5},
    "results": [{"title": f"T{n}", "name": f"N{n}", "vote_average": n, "overview": "{properties.x}"} for n in range(3)],
}


def inputs(name: str) -> list[str]:
    return [text.strip() for text in SAID[name.rpartition("-")[0]].split("|")]


def definition(name: str) -> AgentDefinition:
    if not (CORPUS / name).is_dir():
        pytest.skip("the corpus is not beside the project")
    return read_agent(CORPUS / name)


def reaching(agent: AgentDefinition, url: str, timeout_ms: int = 5000) -> AgentDefinition:
    """The agent with all its calls going to one server, without pauses before a retry."""

    def moved(call: HttpCall) -> HttpCall:
        retries = call.post_response.retry_api_call_instruction is not None
        return call.model_copy(update={"post_response": WITHOUT_PAUSE}) if retries else call

    steps = []
    for step in agent.steps:
        if isinstance(step.settings, HttpCallsFile):
            calls = tuple(moved(call) for call in step.settings.http_calls)
            settings = step.settings.model_copy(update={"target_server_url": url, "http_calls": calls})
            steps.append(replace(step, settings=settings, timeout_ms=timeout_ms))
        else:
            steps.append(step)
    return replace(agent, steps=tuple(steps))


@asynccontextmanager
async def serving(answer: Answer | None) -> AsyncIterator[str]:
    """A server on loopback that reads a request and leaves the answer to `answer`; without one, nothing listens."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert answer is not None
        try:
            await reader.readuntil(b"\r\n\r\n")
            await answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has left
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    if answer is None:
        server.close()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.close()


def sending(status: str, body: bytes, length: int | None = None) -> Answer:
    async def send(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length or len(body)}\r\n"
        writer.write(f"{head}connection: close\r\n\r\n".encode() + body)
        await writer.drain()

    return send


async def silence(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


FAULTS: dict[str, Answer | None] = {
    "refused": None,
    "no answer in time": silence,
    "status 503": sending("503 Service Unavailable", b'{"error": {"message": "overloaded"}}'),
    "broken JSON": sending("200 OK", b'{"results": ['),
    "cut off": sending("200 OK", b'{"results"', length=1000),
}


def talked(agent: AgentDefinition, said: list[str], answer: Answer | None, *, timeout_ms: int = 5000) -> list[Turn]:
    """The turns, opening ones included; where a conversation ends, another one begins."""

    async def talk() -> list[Turn]:
        async with serving(answer) as url:
            made = Agent(reaching(agent, url, timeout_ms))
            chance = random.Random(7)
            turns: list[Turn] = []
            for text in said:
                if not turns or turns[-1].state == "ENDED":
                    conversation = made.conversation(chance=chance)
                    turns.append(await conversation.start())
                turns.append(await conversation.say(text))
            return turns

    return asyncio.run(talk())


def told(turn: Turn) -> dict[str, Any]:
    return {
        "actions": turn.actions,
        "output": turn.output,
        "quickReplies": turn.quick_replies,
        "fired": turn.fired,
        "errors": turn.errors,
        "state": turn.state,
        "view": turn.model_view,
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_loaded_or_told(name: str) -> None:
    agent = definition(name)
    files = {file.as_posix() for file in (CORPUS / name).rglob("*.json")}
    read = {source.file for source in agent.sources}
    assert files - read == {note.file for note in agent.notes if note.code == "A007"}
    assert all(note.line and note.column for note in agent.notes if note.code != "A007")
    assert all(step.settings is not None for step in agent.steps)
    assert not {suffix(Path(file)) for file in files - read} - {"descriptor"}  # type: ignore[arg-type]  # a pure path


def test_a_file_that_is_no_json_gives_one_error_with_its_place() -> None:
    if not CORPUS.is_dir():
        pytest.skip("the corpus is not beside the project")
    from turnout.app.check import checked

    (problem,) = checked(CORPUS / "broken" / "httpcalls-control-character.json").problems
    assert (problem.severity, problem.line > 1, problem.column > 0) == ("error", True, True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("weather-2018", "weather-2022"),
        ("weather-2018", "weather-2026"),
        ("tv-buddy-2019", "tv-buddy-2020"),
        ("tv-buddy-2019", "tv-buddy-2022"),
        ("multi-purpose-2017", "multi-purpose-2022"),
    ],
)
def test_the_generations_of_an_agent_have_equal_turns(older: str, newer: str) -> None:
    said = inputs(older)
    assert len(said) == 20
    answer = sending("200 OK", json.dumps(SHOWS).encode())
    turns = [[told(turn) for turn in talked(definition(name), said, answer)] for name in (older, newer)]
    assert turns[0] == turns[1]
    assert sum(bool(turn["output"]) for turn in turns[0]) > 5


def test_what_a_server_answers_is_said_and_is_no_template() -> None:
    answer = sending("200 OK", json.dumps(SHOWS).encode())
    turns = talked(definition("weather-2026"), ["weather", "Vienna"], answer)
    assert turns[-1].texts == ["The current weather situation of Vienna is clear sky at 12.5 °C"]
    turns = talked(definition("tv-buddy-2019"), ["Search by show title!", "Dark"], answer)
    assert "{properties.x}" in " ".join(turns[-1].texts)


def faulty(name: str, fault: str, mode: Any) -> list[Turn]:
    policy = Policy(enabled=True, continue_on_failure=True, on_failure=mode)
    agent = replace(definition(name), policy=policy)
    return talked(agent, inputs(name), FAULTS[fault], timeout_ms=100)


@pytest.mark.parametrize("mode", ["digest", "keep_all", "exclude_all"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", CALLING)
def test_with_every_call_failing_each_turn_ends_and_tells_what_it_may(name: str, fault: str, mode: Any) -> None:
    turns = faulty(name, fault, mode)
    failed = [turn for turn in turns if any(outcome.status == "failed" for outcome in turn.outcomes)]
    assert failed
    assert {turn.state for turn in turns} <= {"READY", "ENDED"}
    for turn in failed:
        assert "task_failed_ai.labs.httpcalls" in turn.actions
        assert bool(turn.errors) == (mode != "exclude_all")
        assert "127.0.0.1" not in str(told(turn))
