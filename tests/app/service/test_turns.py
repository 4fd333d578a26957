"""Turns of held conversations: one after another, each kept or not, none repeated."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from serving import Gate, answering, doing, events, serving, serving_here, started, texts
from turnout.app.service.access import Settings
from turnout.engine.stores.memory import MemoryStore

TEXT = {"content-type": "text/plain"}


async def begun(client: httpx2.AsyncClient) -> str:
    return str((await client.post("/agents/a/start")).json()["conversationId"])


def say(client: httpx2.AsyncClient, talk: str, text: str, **headers: str) -> "asyncio.Task[httpx2.Response]":
    return asyncio.create_task(client.post(f"/agents/{talk}", content=text, headers=TEXT | headers))


async def settled(client: Any) -> None:
    """Wait for all that runs."""
    await client.app.state.service.turns.close(60)


def count(client: Any, talk: str) -> int:
    return len(client.get(f"/api/conversations/{talk}/turns").json())


@pytest.mark.parametrize("door", ["", "/undo", "/rerun", "/endConversation"])
def test_a_request_that_comes_again_with_its_key_gets_the_first_answer_and_runs_nothing(door: str) -> None:
    with serving(answering()) as client:
        talk = started(client)
        client.post(f"/agents/{talk}", content="first", headers=TEXT)
        asked: dict[str, Any] = {"content": "hi", "headers": TEXT | {"Idempotency-Key": "k"}}
        first = client.post(f"/agents/{talk}{door}", **asked)
        turns = count(client, talk)
        second = client.post(f"/agents/{talk}{door}", **asked)
        assert first.status_code == 200
        assert second.json() == first.json()
        assert count(client, talk) == turns


def test_a_stream_that_is_asked_for_again_with_its_key_is_the_end_of_the_first_alone() -> None:
    with serving(answering()) as client:
        address = f"/agents/{started(client)}/stream"
        first, second = (
            client.post(address, json={"input": "hi"}, headers={"Idempotency-Key": "k"}).text for _ in range(2)
        )
    assert events(second) == [events(first)[-1]]


def test_a_start_that_comes_again_with_its_key_is_the_same_conversation() -> None:
    with serving(answering()) as client:
        first, second = (started(client, headers={"Idempotency-Key": "k"}) for _ in range(2))
        other = started(client, headers={"Idempotency-Key": "l"})
        assert first == second != other
        assert count(client, first) == 1


def test_a_key_goes_with_one_request() -> None:
    with serving(answering()) as client:
        talk = started(client)
        client.post(f"/agents/{talk}", content="hi", headers=TEXT | {"Idempotency-Key": "k"})
        other = client.post(f"/agents/{talk}", content="hello", headers=TEXT | {"Idempotency-Key": "k"})
        assert (other.status_code, other.json()["code"]) == (409, "key_used")
        assert count(client, talk) == 2


def test_turns_of_one_conversation_wait_for_each_other_in_order() -> None:
    async def talking() -> tuple[list[str], list[int]]:
        gate = Gate()
        async with serving_here(doing(gate.work)) as client:
            talk = await begun(client)
            says = [say(client, talk, "0")]
            await gate.entered.wait()
            for number in range(1, 5):
                says.append(say(client, talk, str(number)))
                await asyncio.sleep(0)
            assert gate.inputs == ["0"]
            gate.opened.set()
            answers = await asyncio.gather(*says)
            return gate.inputs, [answer.status_code for answer in answers]

    assert asyncio.run(talking()) == (["0", "1", "2", "3", "4"], [200] * 5)


def test_a_running_turn_can_be_cancelled_and_is_kept_as_interrupted() -> None:
    async def talking() -> list[Any]:
        gate = Gate()
        async with serving_here(doing(gate.work)) as client:
            talk = await begun(client)
            saying = say(client, talk, "hi")
            await gate.entered.wait()
            running = (await client.get(f"/agents/{talk}/status")).json()
            cancelled = (await client.post(f"/agents/{talk}/cancel")).json()
            said = await saying
            gate.opened.set()
            after = (await client.post(f"/agents/{talk}", content="again", headers=TEXT)).json()
            states = (cancelled["conversationState"], said.json()["conversationState"], after["conversationState"])
            return [running, said.status_code, *states]

    interrupted = "EXECUTION_INTERRUPTED"
    assert asyncio.run(talking()) == ["IN_PROGRESS", 200, interrupted, interrupted, "READY"]


def test_where_no_turn_runs_there_is_nothing_to_cancel() -> None:
    with serving(answering()) as client:
        answer = client.post(f"/agents/{started(client)}/cancel")
    assert (answer.status_code, answer.json()["conversationState"]) == (200, "READY")


async def ask_and_leave(client: Any, address: str, entered: asyncio.Event) -> None:
    """Ask as somebody who goes away as soon as the turn has begun."""
    sent = False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": b"hi"}
        await entered.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        return

    scope = {
        "type": "http",
        "method": "POST",
        "path": address,
        "raw_path": address.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"text/plain")],
        "scheme": "http",
        "server": ("localhost", 80),
    }
    await client.app(scope, receive, send)


def test_whoever_leaves_a_stream_cancels_the_turn() -> None:
    async def talking() -> list[str]:
        gate = Gate()
        async with serving_here(doing(gate.work)) as client:
            talk = await begun(client)
            await ask_and_leave(client, f"/agents/{talk}/stream", gate.entered)
            await settled(client)
            return [turn["state"] for turn in (await client.get(f"/api/conversations/{talk}/turns")).json()]

    assert asyncio.run(talking()) == ["READY", "EXECUTION_INTERRUPTED"]


def test_whoever_leaves_a_plain_request_does_not() -> None:
    async def talking() -> list[str]:
        gate = Gate()
        async with serving_here(doing(gate.work)) as client:
            talk = await begun(client)
            leaving = asyncio.create_task(ask_and_leave(client, f"/agents/{talk}", gate.entered))
            await gate.entered.wait()
            leaving.cancel()
            gate.opened.set()
            await settled(client)
            return [turn["state"] for turn in (await client.get(f"/api/conversations/{talk}/turns")).json()]

    assert asyncio.run(talking()) == ["READY", "READY"]


def test_a_turn_that_takes_too_long_for_a_request_goes_on() -> None:
    async def talking() -> tuple[httpx2.Response, list[Any]]:
        gate = Gate()
        async with serving_here(doing(gate.work), Settings(patience=0.01)) as client:
            talk = await begun(client)
            late = await say(client, talk, "hi", **{"Idempotency-Key": "k"})
            gate.opened.set()
            again = await say(client, talk, "hi", **{"Idempotency-Key": "k"})
            while again.status_code == 408:
                again = await say(client, talk, "hi", **{"Idempotency-Key": "k"})
            return late, [texts(again.json()), gate.inputs]

    late, after = asyncio.run(talking())
    assert (late.status_code, late.json()["code"]) == (408, "timeout")
    assert after == [["done"], ["hi"]]


def test_at_a_shutdown_turns_that_do_not_end_are_kept_as_interrupted() -> None:
    async def talking() -> list[Any]:
        gate = Gate()
        async with serving_here(doing(gate.work)) as client:
            talk = await begun(client)
            saying, waiting = say(client, talk, "hi"), say(client, talk, "next")
            await gate.entered.wait()
            await client.app.state.service.turns.close(0)
            after = await client.post(f"/agents/{talk}", content="hi", headers=TEXT)
            turns = (await client.get(f"/api/conversations/{talk}/turns")).json()
            said = [(await each).json() for each in (saying, waiting)]
            return [said[0]["conversationState"], said[1]["code"], after.status_code, [turn["state"] for turn in turns]]

    interrupted = "EXECUTION_INTERRUPTED"
    assert asyncio.run(talking()) == [interrupted, "draining", 503, ["READY", interrupted]]


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError()])
def test_a_task_that_would_end_everything_ends_its_turn(error: BaseException) -> None:
    async def leave(turn: Any) -> None:
        if turn.input == "leave":
            raise error

    with serving(doing(leave)) as client:
        talk = started(client)
        left = client.post(f"/agents/{talk}", content="leave", headers=TEXT).json()
        stayed = client.post(f"/agents/{talk}", content="stay", headers=TEXT).json()
    assert (left["conversationState"], stayed["conversationState"]) == ("EXECUTION_INTERRUPTED", "READY")


class LosingStore(MemoryStore):
    """A store that lets somebody else in during each change."""

    @asynccontextmanager
    async def hold(self, id: str, cancelled: Any = None) -> AsyncIterator[Any]:
        async with super().hold(id) as held:
            held.over = True
            yield held


def test_a_turn_whose_conversation_was_taken_over_is_not_kept_and_says_so() -> None:
    with serving(answering(), store=LosingStore()) as client:
        answer = client.post("/agents/a/start", headers={"Idempotency-Key": "k"})
    assert (answer.status_code, answer.json()["code"]) == (409, "taken_over")


class BrokenStore:
    """A store whose database is gone."""

    def hold(self, _: object, cancelled: object = None) -> Any:
        raise ConnectionError("postgres://ann:hunter2secret@db.internal refused")

    async def read(self, id: str) -> Any:
        self.hold(id)

    async def add(self, head: object) -> None:
        self.hold(head)

    async def close(self) -> None:
        return


def test_a_fault_is_told_by_its_number_and_logged_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with serving(answering(), store=BrokenStore(), raise_server_exceptions=False) as client, caplog.at_level("INFO"):
        answers = [
            client.post("/agents/a/start"),
            client.post(f"/agents/{'0' * 32}", content="hi", headers=TEXT),
            client.get(f"/agents/{'0' * 32}"),
        ]
        health = client.get("/healthz")
    faults = [record.fields for record in caplog.records if record.name == "turnout.service"]  # type: ignore[attr-defined]
    for answer, fault in zip(answers, faults, strict=True):
        assert answer.status_code == 500
        assert fault["fault"] in answer.json()["message"]
        assert "db.internal" not in answer.text
        assert fault["error"] == "ConnectionError"
        assert "hunter2secret" not in json.dumps(fault)
    assert (health.status_code, health.json()["code"]) == (503, "store_unreachable")
