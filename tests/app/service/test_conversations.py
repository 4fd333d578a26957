"""The addresses of EDDI, and the shapes of what they answer."""

import json
from typing import Any

import pytest

from building import agent, on_action, output, rules, step
from serving import SECRET, answering, doing, events, serving, started, texts
from turnout.engine.tasks import FunctionTask
from turnout.rules.agents import Policy

KEYS = {
    "conversationId",
    "agentId",
    "agentVersion",
    "environment",
    "conversationState",
    "undoAvailable",
    "redoAvailable",
    "conversationOutputs",
    "conversationProperties",
    "conversationSteps",
}
TEXT = {"content-type": "text/plain"}


def test_a_conversation_starts_with_its_opening_turn() -> None:
    with serving(answering()) as client:
        answer = client.post("/agents/a/start")
        talk = answer.json()["conversationId"]
        assert answer.status_code == 201
        assert answer.headers["location"] == f"eddi://ai.labs.conversation/conversationstore/conversations/{talk}"
        [first] = client.get(f"/agents/{talk}").json()["conversationOutputs"]
    assert first["actions"][:2] == ["CONVERSATION_START", "greet"]
    assert first["output"][0]["text"] == "Hello!"


def test_an_opening_turn_has_the_context_of_its_request() -> None:
    greeting = agent(output(CONVERSATION_START="Hello!"))
    with serving(greeting) as client:
        talk = started(client, json={"lang": "de", "user": {"type": "object", "value": {"name": "Ann"}}})
        data = client.get(f"/agents/{talk}", params={"returnDetailed": True}).json()
    assert data["conversationOutputs"][0]["context"] == {"lang": "de", "user": {"name": "Ann"}}
    assert data["conversationProperties"] == {"lang": {"name": "lang", "valueString": "de", "scope": "longTerm"}}


@pytest.mark.parametrize("body", [{"content": "hi", "headers": TEXT}, {"json": {"input": "hi", "context": {"a": "b"}}}])
def test_a_failed_task_that_was_answered_is_told_with_the_public_text_only(body: dict[str, Any]) -> None:
    with serving(answering()) as client:
        answer = client.post(f"/agents/{started(client)}", **body)
    data = answer.json()
    assert (answer.status_code, data["conversationState"], set(data)) == (200, "READY", KEYS)
    [said] = data["conversationOutputs"]
    assert set(said) == {"actions", "output", "taskErrors"}
    assert said["output"][0]["text"] == "The weather is out."
    assert said["taskErrors"][0]["text"] == "Task 'weather' failed: it broke at [url]"
    assert "internal.example" not in answer.text
    assert SECRET not in answer.text


def test_a_turn_that_ends_in_error_is_answered_with_200() -> None:
    with serving(answering(policy=Policy())) as client:
        answer = client.post(f"/agents/{started(client)}", content="hi", headers=TEXT)
    assert answer.status_code == 200
    assert answer.json()["conversationState"] == "ERROR"


def test_fields_are_chosen_for_the_current_step_only() -> None:
    with serving(answering()) as client:
        address = f"/agents/{started(client)}"
        fields = [("returningFields", " "), ("returningFields", "conversationOutputs")]
        few = client.post(address, params=dict(fields[1:]), content="hi", headers=TEXT).json()
        all_of_them = client.get(address, params={"returnCurrentStepOnly": False, **dict(fields)}).json()
        blank = client.get(address, params={"returningFields": " "}).json()
    assert KEYS - set(few) == {"conversationProperties", "conversationSteps"}
    assert set(all_of_them) == set(blank) == KEYS
    assert len(all_of_them["conversationOutputs"]) == 2
    assert len(blank["conversationOutputs"]) == 1


def test_what_was_taken_back_after_a_failure_is_never_shown() -> None:
    with serving(answering()) as client:
        address = f"/agents/{started(client)}"
        client.post(address, content="hi", headers=TEXT)
        text = client.get(address, params={"returnDetailed": True, "returnCurrentStepOnly": False}).text
    assert "input:initial" in text
    assert "partial" not in text


def test_the_log_tells_who_said_what() -> None:
    with serving(answering()) as client:
        address = f"/agents/{started(client)}"
        client.post(address, content="hi", headers=TEXT)
        last = client.get(f"{address}/log", params={"logSize": 1}).json()
        text = client.get(f"{address}/log", params={"outputType": "text"}).text
        nothing = client.get(f"{address}/log", params={"logSize": 0}).json()
    assert last == [
        {"role": "user", "content": [{"type": "text", "value": "hi"}]},
        {"role": "assistant", "content": [{"type": "text", "value": "The weather is out."}]},
    ]
    assert text == "assistant: Hello! The weather is out.\nuser: hi\nassistant: The weather is out.\n"
    assert nothing == []


def test_a_turn_can_be_undone_redone_and_run_again() -> None:
    counts = [on_action("one", "CONVERSATION_START", "start")]
    echo = agent(
        rules(counts), step("echo"), tasks=[FunctionTask("echo", lambda turn: turn.say(f"{turn.input} {turn.context}"))]
    )
    with serving(echo) as client:
        address = f"/agents/{started(client)}"
        client.post(address, json={"input": "hi", "context": {"a": "b"}})
        undone = client.post(f"{address}/undo").json()
        redone = client.post(f"{address}/redo").json()
        again = client.post(f"{address}/rerun", params={"language": "de"}).json()
        turns = client.get(f"/api/conversations/{undone['conversationId']}/turns").json()
    assert (undone["undoAvailable"], undone["redoAvailable"]) == (True, True)
    assert texts(redone) == ["hi {'a': 'b'}"]
    assert texts(again) == ["hi {'a': 'b', 'lang': 'de'}"]
    assert [turn["input"] for turn in turns] == ["", "hi"]


@pytest.mark.parametrize("call", ["undo", "redo", "rerun"])
def test_what_cannot_be_taken_back_or_brought_back_is_a_conflict(call: str) -> None:
    with serving(answering()) as client:
        address = f"/agents/{started(client)}"
        client.post(f"{address}/undo")
        client.post(f"{address}/redo" if call == "redo" else f"{address}/status")
        answer = client.post(f"{address}/{call}")
    assert answer.status_code == 409
    assert answer.json()["code"] == f"nothing_to_{call}"


def test_an_ended_conversation_is_gone_for_those_who_speak_and_can_be_read() -> None:
    with serving(answering()) as client:
        address = f"/agents/{started(client)}"
        assert client.post(f"{address}/endConversation").json()["conversationState"] == "ENDED"
        assert client.post(f"{address}/endConversation").status_code == 200
        assert client.post(f"{address}/rerun").status_code == 410
        said = client.post(address, content="hi", headers=TEXT)
        streamed = client.post(f"{address}/stream", content="hi", headers=TEXT)
        assert client.get(f"{address}/status").json() == "ENDED"
        assert len(client.get(address, params={"returnCurrentStepOnly": False}).json()["conversationOutputs"]) == 2
    for answer in (said, streamed):
        assert (answer.status_code, answer.json()["code"]) == (410, "conversation_ended")


def test_a_stream_tells_what_happens_and_ends_with_what_is_kept() -> None:
    with serving(answering()) as client:
        answer = client.post(f"/agents/{started(client)}/stream", json={"input": "hi"})
    told = [(name, json.loads(data)) for name, data in events(answer.text)]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [name for name, _ in told] == [
        *("task_start", "task_complete"),
        *("task_start", "task_failed"),
        *("task_start", "task_complete"),
        "done",
    ]
    assert told[0][1] == {"taskId": "eddi://ai.labs.behavior", "taskType": "behavior_rules", "index": 0}
    failed = told[3][1]
    assert failed.pop("durationMs") >= 0
    assert failed == {"taskId": "weather", "taskType": "task", "errorType": "unknown", "error": "it broke at [url]"}
    assert told[5][1]["actions"] == ["task_failed_weather", "sorry"]
    done = told[-1][1]
    assert set(done) == {"conversationState", "conversationOutputs"}
    assert done["conversationOutputs"][0]["taskErrors"][0]["taskId"] == "weather"
    assert SECRET not in answer.text


def test_each_data_line_of_a_stream_has_its_padding_blank_and_tokens_keep_their_lines() -> None:
    pieces = ["one\ntwo", " three", "\r\nfour\rfive", "\n", "\ud800", ""]

    async def speak(turn: Any) -> None:
        for piece in pieces if turn.input else ():
            turn.stream(piece)

    with serving(doing(speak)) as client:
        text = client.post(f"/agents/{started(client)}/stream", json={"input": "hi"}).text
    assert all(line.startswith("data: ") for line in text.split("\n") if line.startswith("data:"))
    tokens = [data for name, data in events(text) if name == "token"]
    assert "".join(tokens) == "one\ntwo three\nfour\nfive\n?"


def test_a_failed_answer_is_withdrawn() -> None:
    async def speak(turn: Any) -> None:
        if turn.input:
            turn.stream("I think")
            raise RuntimeError("it broke")

    with serving(doing(speak)) as client:
        told = events(client.post(f"/agents/{started(client)}/stream", json={"input": "hi"}).text)
    assert json.loads(dict(told)["task_failed"])["withdraw"] is True
    assert json.loads(dict(told)["done"])["conversationState"] == "READY"


def test_a_task_can_be_made_to_fail() -> None:
    async def fine(turn: Any) -> None:
        turn.say("fine")

    with serving(doing(fine)) as client:
        address = f"/agents/{started(client)}"
        failed = client.post(address, content="hi", headers=TEXT | {"X-Turnout-Fail": "work"}).json()
        works = client.post(address, content="hi", headers=TEXT).json()
        unknown = client.post(address, content="hi", headers=TEXT | {"X-Turnout-Fail": "wrok"})
    assert failed["conversationOutputs"][0]["taskErrors"][0]["text"] == "Task 'work' failed: made to fail"
    assert texts(works) == ["fine"]
    assert unknown.status_code == 422
    assert unknown.json()["message"] == "no step of this agent is task `wrok`; did you mean `work`?"
