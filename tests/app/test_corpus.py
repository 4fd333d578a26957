"""Agents that nobody here wrote: they load, their generations say the same, and their failures are answered."""

import random
from dataclasses import replace
from typing import Any

import pytest

import corpus
from servers import Respond, Server, closed_port, hang, reply
from turnout.engine.agents import Agent
from turnout.engine.turns import Turn
from turnout.rules.agents import AgentDefinition, Policy, RulesSettings
from turnout.rules.calls import AfterCall, HttpCall, HttpCallsFile
from turnout.rules.folders import read_agent

CALLING = ["weather-2018", "weather-2022", "weather-2026", "tv-buddy-2019", "tv-buddy-2020", "tv-buddy-2022"]
WITHOUT_PAUSE = AfterCall.model_validate({"retryApiCallInstruction": {"exponentialBackoffDelayInMillis": 0}})

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


FAULTS: dict[str, Respond | None] = {
    "refused": None,
    "no answer in time": hang,
    "status 503": reply(503, {"error": {"message": "overloaded"}}),
    "broken JSON": reply(body='{"results": ['),
    "cut off": reply(body='{"results"', Content_Length="1000"),
}


def talked(agent: AgentDefinition, said: list[str], url: str, *, timeout_ms: int = 5000) -> list[Turn]:
    """The turns, opening ones included; where a conversation ends, another one begins."""
    made = Agent(reaching(agent, url, timeout_ms))
    chance = random.Random(7)
    turns: list[Turn] = []
    for text in said:
        if not turns or turns[-1].state == "ENDED":
            conversation = made.conversation(chance=chance)
            turns.append(conversation.start_sync())
        turns.append(conversation.say_sync(text))
    return turns


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


@pytest.mark.parametrize("name", corpus.NAMES)
def test_every_file_is_loaded(name: str) -> None:
    folder = corpus.folder(name)
    agent = read_agent(folder)
    assert {source.file for source in agent.sources} == {file.as_posix() for file in folder.rglob("*.json")}
    assert all(note.line and note.column for note in agent.notes)
    assert all(step.settings is not None for step in agent.steps)
    assert any(isinstance(step.settings, RulesSettings) for step in agent.steps)


def test_a_file_that_is_no_json_gives_one_error_with_its_place() -> None:
    from turnout.app.check import checked

    (problem,) = checked(corpus.folder("broken") / "httpcalls-control-character.json").problems
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
def test_the_generations_of_an_agent_have_equal_turns(server: Server, older: str, newer: str) -> None:
    said = inputs(older)
    assert len(said) == 20
    server.answer(reply(body=SHOWS))
    agents = [read_agent(corpus.folder(name)) for name in (older, newer)]
    turns = [[told(turn) for turn in talked(agent, said, server.url)] for agent in agents]
    assert turns[0] == turns[1]
    assert sum(bool(turn["output"]) for turn in turns[0]) > 5


def test_what_a_server_answers_is_said_and_is_no_template(server: Server) -> None:
    server.answer(reply(body=SHOWS))
    turns = talked(read_agent(corpus.folder("weather-2026")), ["weather", "Vienna"], server.url)
    assert turns[-1].texts == ["The current weather situation of Vienna is clear sky at 12.5 °C"]
    turns = talked(read_agent(corpus.folder("tv-buddy-2019")), ["Search by show title!", "Dark"], server.url)
    assert "{properties.x}" in " ".join(turns[-1].texts)


@pytest.mark.parametrize("mode", ["digest", "keep_all", "exclude_all"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", CALLING)
def test_with_every_call_failing_each_turn_ends_and_tells_what_it_may(
    server: Server, name: str, fault: str, mode: Any
) -> None:
    policy = Policy(enabled=True, continue_on_failure=True, on_failure=mode)
    agent = replace(read_agent(corpus.folder(name)), policy=policy)
    answer = FAULTS[fault]
    server.answer(answer or reply())
    url = server.url if answer else closed_port()
    turns = talked(agent, inputs(name), url, timeout_ms=100 if answer is hang else 5000)
    failed = [turn for turn in turns if any(outcome.status == "failed" for outcome in turn.outcomes)]
    assert failed
    assert {turn.state for turn in turns} <= {"READY", "ENDED"}
    for turn in failed:
        assert "task_failed_ai.labs.httpcalls" in turn.actions
        assert bool(turn.errors) == (mode != "exclude_all")
        assert "127.0.0.1" not in str(told(turn))
