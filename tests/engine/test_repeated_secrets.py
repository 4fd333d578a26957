"""Secrets that come back: whatever a server or a model repeats, however it writes it, is said and kept nowhere."""

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest

from asking import KEY, model, talk, task
from building import ASK, SORRY, agent, step, streamed, tokens
from calling import call, calls_step, settings
from servers import Handler, Seen, Server, piece, reply, says, serving, stream
from turnout.engine.conversation import Conversation
from turnout.engine.journal import Journal
from turnout.engine.records import dump
from turnout.engine.tasks import FunctionTask

SECRET = 'canary/4711"bird'


def conversation(url: str, *calls: dict[str, Any], secret: Any = SECRET) -> Conversation:
    """A conversation with a secret, which makes calls."""

    async def prepare(turn: Journal) -> None:
        turn.set_property("secret", secret, "secret")

    steps = (step("prepare"), ASK, calls_step(url, *calls), SORRY)
    return agent(*steps, tasks=[FunctionTask("prepare", prepare)]).conversation()


def kept(made: Conversation) -> str:
    """All that is kept of the last turn, as text."""
    last = made.memory.history.steps[-1]
    return json.dumps([last.output, {key: entry.value for key, entry in last.data.items()}], ensure_ascii=False)


def escapes(text: str) -> str:
    return "".join(f"\\u{ord(character):04X}" for character in text)


WAYS = [
    SECRET,
    json.dumps(SECRET)[1:-1],
    json.dumps(SECRET)[1:-1].replace("/", "\\/"),
    json.dumps(json.dumps(SECRET))[3:-3],
    quote(SECRET, safe=""),
    quote(SECRET, safe="").lower(),
    escapes(SECRET),
    escapes(SECRET).replace("\\", "\\\\"),
    escapes(SECRET[0]) + SECRET[1:],
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("status", [200, 400])
def test_a_secret_that_comes_back_is_kept_in_no_way_to_write_it(server: Server, way: str, status: int) -> None:
    """Whether this call has sent it or not."""
    server.answer(reply(status, f"so: {way}.", "text/plain"))
    made = conversation(server.url, call(failOnStatus=False))
    made.say_sync("hi")
    name = "weather" if status == 200 else "weatherError"
    stored: Any = made.memory.history.steps[-1].output["httpCalls"]
    assert stored[name] == "so: <REDACTED>."
    assert "4711" not in kept(made)


def test_a_text_that_is_made_an_object_gives_no_secret_away(server: Server) -> None:
    server.answer(reply(body=f'{{"a": "{escapes(SECRET)}"}}', kind="text/plain"))
    instructions = [{"name": "all", "valueString": "{weather}", "convertToObject": True}]
    made = conversation(server.url, call(postResponse={"propertyInstructions": instructions}))
    made.say_sync("hi")
    assert made.memory.properties["all"] == {"a": "<REDACTED>"}


def test_the_password_of_an_address_comes_back_in_no_header(server: Server) -> None:
    credentials = base64.b64encode(b"user:hunter-2/x").decode()
    server.answer(reply(body={"headers": {"authorization": f"Basic {credentials}"}, "password": "hunter-2/x"}))
    made = conversation(server.url.replace("//", "//user:hunter-2%2Fx@"), call())
    made.say_sync("hi")
    assert server.requests[0].headers["authorization"] == f"Basic {credentials}"
    assert credentials not in kept(made)
    assert "hunter" not in kept(made)


def test_a_name_without_a_password_is_a_secret_itself(server: Server) -> None:
    server.answer(reply(body=["token-canary", base64.b64encode(b"token-canary:").decode()]))
    made = conversation(server.url.replace("//", "//token-canary@"), call())
    made.say_sync("hi")
    stored: Any = made.memory.history.steps[-1].output["httpCalls"]
    assert stored["weather"] == ["<REDACTED>", "<REDACTED>"]


@pytest.mark.parametrize("scheme", ["Basic", "basic"])
def test_what_a_header_of_credentials_says_is_a_secret_in_clear_too(server: Server, scheme: str) -> None:
    header = f"{scheme} {base64.b64encode(b'user:hunter-two').decode()}"
    server.answer(reply(body=["hunter-two", "user:hunter-two"]))
    made = conversation(server.url, call(request={"headers": {"Authorization": header}}))
    made.say_sync("hi")
    assert "hunter" not in kept(made)


def test_secrets_within_a_map_of_properties_do_not_come_back(server: Server) -> None:
    def echo(handler: Handler, seen: Seen) -> None:
        reply(body=json.dumps({"got": seen.headers["x-all"]}), kind="text/plain")(handler, seen)

    server.answer(echo)
    made = conversation(server.url, call(request={"headers": {"X-All": "{properties}"}}))
    made.say_sync("hi")
    assert '4711\\"bird' in server.requests[0].headers["x-all"]
    assert "4711" not in kept(made)


def test_short_secrets_and_those_of_another_conversation_stay(server: Server) -> None:
    """What is shorter than 6 characters stands in too many words."""
    server.answer(reply(body=["cat", "category"]))
    made = conversation(server.url, call(), secret="cat")
    made.say_sync("hi")
    stored: Any = made.memory.history.steps[-1].output["httpCalls"]
    assert stored["weather"] == ["cat", "category"]


def test_a_definition_shows_nothing_of_what_it_sends() -> None:
    request = {
        "path": "/bot-canary",
        "headers": {"X-Api-Key": "key-canary"},
        "queryParams": {"key": "query-canary"},
        "body": "body-canary",
    }
    assert "canary" not in repr(settings("https://user:pw-canary@api.example.com", call(request=request)))


# Models


@pytest.mark.parametrize("streaming", [False, True])
def test_a_secret_in_the_address_of_a_model_is_neither_said_nor_told(streaming: bool) -> None:
    with serving() as server:
        secret = "canary-of-the-path"
        words = f"You asked {secret}, that is {quote(secret[:3])}{escapes(secret[3:])}, or canary-of"

        def spelled(handler: Handler, seen: Seen) -> None:
            if not seen.data.get("stream"):
                return says(words)(handler, seen)
            return stream(handler, [*map(piece, words), {"choices": [{"finish_reason": "stop"}]}])

        server.answer(spelled)
        made = talk(task(model(f"{server.url}/{{properties.secret}}")), properties={"secret": secret})
        events, turn = streamed(made) if streaming else ([], made.say_sync("hi"))
        assert secret in server.requests[0].path
        assert turn.texts == ["You asked <REDACTED>, that is <REDACTED>, or canary-of"]
        assert not streaming or "".join(tokens(events)) == turn.texts[0]
        assert secret not in str(dump(made.memory)["steps"])


@pytest.mark.parametrize("written", [escapes(KEY), KEY.replace("K", "\\u004b"), "x\\/" + KEY])
def test_a_key_within_data_is_taken_out_however_it_is_written(server: Server, written: str) -> None:
    server.answer(says(f'{{"key": "{written}"}}'))
    made = talk(task(model(server.url, apiKey=KEY, convertToObject="true", responseObjectName="reply")))
    turn = made.say_sync("hi")
    assert KEY not in f"{turn.texts}{dump(made.memory)}"
    assert "<REDACTED>" in str(made.memory.history.steps[-1].output["reply"])


def test_a_secret_that_a_model_was_never_sent_is_not_said(server: Server) -> None:
    server.answer(says("It is canary-secret."))
    made = talk(task(model(server.url)), properties={"secret": "canary-secret"})
    assert made.say_sync("hi").texts == ["It is <REDACTED>."]


def test_a_short_key_is_a_word_like_any_other(server: Server) -> None:
    server.answer(says("I run on ollama."))
    assert talk(task(model(server.url, apiKey="ollama"))).say_sync("hi").texts == ["I run on ollama."]
