"""No secret comes through: canaries all over an agent whose tasks fail, and a look into all that it leaves.

What must reach a server reaches it; apart from that a canary is nowhere.
"""

import json
import logging
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from building import streamed
from doors import turnout, write
from servers import Server, refuses, reply, sends, serving
from turnout.app import explain, open_agent
from turnout.engine.conversation import Conversation
from turnout.engine.records import dump
from turnout.engine.tasks import FunctionTask
from turnout.engine.turns import Turn

# Made of parts, so that none looks like a key in this file.
NOISE = "".join(f"{number:02x}Zq" for number in range(11, 22))
CANARIES = {
    place: f"{shape}{NOISE}{place}x7"
    for place, shape in {
        "query": "sk" + "-",
        "header": "xk",
        "body": "sk" + "-proj-",
        "address": "pw",
        "answer": "sk" + "-ant-",
        "cookie": "ck",
        "property": "zz",
        "exception": "sk" + "-",
        "cause": "AK" + "IA".ljust(2),
        "note": "sk" + "-",
        "key": "no_known_shape_",
    }.items()
}
CANARIES["cause"] = "password=" + CANARIES["cause"]

POLICY = {"memoryPolicy": {"strictWriteDiscipline": {"enabled": True, "onFailure": "", "continueOnFailure": True}}}
MODES = ["digest", "exclude_all", "keep_all"]


class Served(NamedTuple):
    """The two servers that an agent asks."""

    api: Server
    models: Server


@pytest.fixture
def served(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("CANARY_KEY", CANARIES["key"])
    with serving() as models:
        yield Served(server, models)


def agent(folder: Path, served: Served, mode: str) -> Path:
    """An agent that has a canary wherever an author may have a secret."""
    policy = json.loads(json.dumps(POLICY).replace('""', f'"{mode}"'))
    steps = [
        {"type": "eddi://ai.labs.behavior", "config": {"uri": "a.behavior.json"}},
        {"type": "eddi://ai.labs.property", "config": {"uri": "a.property.json"}},
        {"type": "eddi://ai.labs.httpcalls", "config": {"uri": "a.httpcalls.json"}},
        {"type": "leaky"},
        {"type": "eddi://ai.labs.llm", "config": {"uri": "a.langchain.json"}},
        {"type": "eddi://ai.labs.output", "config": {"uri": "a.output.json"}},
        {"type": "eddi://ai.labs.templating"},
    ]
    secret = {"name": "token", "valueString": CANARIES["property"], "scope": "secret"}
    call = {
        "name": "weather",
        "actions": ["ask"],
        "saveResponse": True,
        "responseObjectName": "weather",
        "responseHeaderObjectName": "headers",
        "request": {
            "path": "/v1",
            "method": "post",
            "queryParams": {"api_key": CANARIES["query"]},
            "headers": {"X-Api-Key": CANARIES["header"], "X-Token": "{properties.token}"},
            "contentType": "application/json",
            "body": json.dumps({"password": CANARIES["body"]}),
        },
    }
    server = served.api.url.replace("http://", f"http://user:{CANARIES['address']}@")
    address = f"{served.models.url}/v1"
    model = {"modelName": "small", "baseUrl": address, "apiKey": "${env:CANARY_KEY}", "addToOutput": "true"}
    texts = [
        ("sorry", "Sorry: {memory.current.httpCalls} {properties}"),
        ("task_failed_ai.labs.llm", "No model: {memory.last.taskErrors}{memory.current.taskErrors}"),
    ]
    outputs = [
        {"action": action, "outputs": [{"valueAlternatives": [{"type": "text", "text": text}]}]}
        for action, text in texts
    ]
    down = {"type": "actionmatcher", "configs": {"actions": "task_failed_leaky"}}
    group = {
        "executionStrategy": "executeAll",
        "rules": [{"name": "ask", "actions": ["ask"]}, {"name": "down", "conditions": [down], "actions": ["sorry"]}],
    }
    write(folder / "a.agent.json", {"workflows": ["a.workflow.json"], **policy})
    write(folder / "a.workflow.json", {"workflowSteps": steps})
    write(folder / "a.behavior.json", {"behaviorGroups": [group]})
    write(folder / "a.property.json", {"setOnActions": [{"actions": ["ask"], "setProperties": [secret]}]})
    write(folder / "a.httpcalls.json", {"targetServerUrl": server, "httpCalls": [call]})
    task = {"id": "m", "actions": ["ask"], "parameters": model, "retry": {"maxAttempts": 1}}
    write(folder / "a.langchain.json", {"tasks": [task]})
    write(folder / "a.output.json", {"outputSet": outputs})
    return folder


LEAKY = f"""
from turnout.engine.tasks import task

@task("leaky")
async def leaky(turn):
    try:
        raise OSError({CANARIES["cause"]!r})
    except OSError as cause:
        key = {CANARIES["exception"]!r}
        error = RuntimeError("it broke with key " + key, {{"password": key}})
        error.add_note({CANARIES["note"]!r})
        raise error from cause
"""


def leaks(served: Served, *, stream: bool) -> None:
    """Let both servers answer with all that they know."""
    served.api.answer(reply(500, CANARIES, Set_Cookie=f"session={CANARIES['cookie']}"))
    told = f"wrong key {CANARIES['key']} ({CANARIES['answer']})"
    served.models.answer(sends({"error": {"message": told}}) if stream else refuses(401, told))


def reaches(served: Served) -> None:
    """What was sent was sent whole: else there would be nothing to leak."""
    seen = served.api.requests[0]
    assert seen.query["api_key"] == [CANARIES["query"]]
    assert seen.headers["x-api-key"] == CANARIES["header"]
    assert b64decode(seen.headers["authorization"].split()[1]).decode() == f"user:{CANARIES['address']}"
    assert seen.headers["x-token"] == CANARIES["property"]
    assert CANARIES["body"] in seen.body
    assert served.models.requests[0].headers["authorization"] == f"Bearer {CANARIES['key']}"


def look(found: str) -> None:
    for place, canary in CANARIES.items():
        secret = canary.removeprefix("password=")
        assert secret not in found, place
        # Neither a good part of it, as a cut would leave.
        assert secret[3:23] not in found, place


def talked(conversation: Conversation, text: str, *, stream: bool) -> Turn:
    if not stream:
        return conversation.say_sync(text)
    events, turn = streamed(conversation, text)
    look(repr(events))
    return turn


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stream", [False, True])
def test_no_canary_is_anywhere_in_what_a_conversation_leaves(
    tmp_path: Path,
    served: Served,
    mode: str,
    stream: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    leaks(served, stream=stream)
    scope: dict[str, Any] = {}
    exec(LEAKY, scope)
    leaky: FunctionTask = scope["leaky"]
    opened = open_agent(agent(tmp_path, served, mode), [leaky])
    heard: list[object] = []
    with caplog.at_level(logging.DEBUG):
        conversation = opened.conversation(listeners=[heard.append], operators=[heard.append])
        turns = [talked(conversation, text, stream=stream) for text in ("hello", "again")]
    reaches(served)
    left = [
        repr(heard),
        repr(turns),
        repr([(turn.output, turn.quick_replies, turn.errors, turn.outcomes, turn.model_view) for turn in turns]),
        "\n".join(explain(turn, rule) for turn in turns for rule in ("ask", "down")),
        json.dumps(dump(conversation.memory)),
        repr((conversation.memory.history.steps, conversation.memory.properties)),
        caplog.text,
        repr([request.body for request in served.models.requests]),
    ]
    for place in left:
        look(place)
    assert turns[-1].texts
    for said in ("API call to weather failed: HTTP 500", "it broke with key", "wrong key"):
        assert said in left[0]  # there was something to look into
        assert said in caplog.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", [["--why"], ["--why", "--json"]])
def test_no_canary_is_in_what_the_command_line_prints(
    tmp_path: Path,
    served: Served,
    mode: str,
    options: list[str],
) -> None:
    leaks(served, stream=False)
    tasks = tmp_path / "leaky.py"
    tasks.write_text(LEAKY, encoding="utf-8")
    folder = agent(tmp_path, served, mode)
    ended = turnout("run", folder, "--tasks", tasks, "--say", "hello", "--say", "again", *options)
    assert ended.code == 0
    reaches(served)
    look(ended.out + ended.err)
    checked = turnout("check", folder)
    assert checked.code == 0
    look(checked.out + checked.err)
