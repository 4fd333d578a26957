"""What servers answer that would cost time or mislead: charsets, depth, halves of characters, size, cookies, names."""

import json
from typing import Any

import pytest

from asking import FAILED, model, talk, task
from building import ASK, SORRY, TEMPLATING, agent, error_of, failure, parser, rules, streamed, tokens
from calling import call, calls_step
from servers import Respond, Server, cuts, reply, says, sends
from turnout.engine.tasks import answers
from turnout.engine.tasks.answers import Answer, decoded
from turnout.engine.turns import Turn
from turnout.rules.agents import Policy
from turnout.rules.values import JSON


def asked(server: Server, *calls: dict[str, Any]) -> tuple[Turn, Any]:
    """A turn that makes calls, and what it stored of them."""
    made = agent(ASK, calls_step(server.url, *calls), SORRY).conversation()
    turn = made.say_sync("hi")
    return turn, made.memory.history.steps[-1].output.get("httpCalls")


# How an answer is read


@pytest.mark.parametrize("charset", ["punycode", "unicode_escape", "raw_unicode_escape", "idna", "utf-7", "hex"])
def test_a_codec_that_is_no_charset_is_read_as_utf_8(charset: str) -> None:
    """Some of them take minutes for what a server sends in no time."""
    body = "a-ü\\u0041+AGE-".encode()
    answer = Answer(status=200, headers=(), kind="text/plain", charset=charset, body=body)
    assert decoded(answer) == "a-ü\\u0041+AGE-"


@pytest.mark.parametrize("charset", ["ISO-8859-1", "windows-1252", "utf-16", "euc-kr", "shift_jis", "gb18030", "big5"])
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_a_charset_that_a_server_names_is_honoured_for_texts_and_data(server: Server, charset: str, kind: str) -> None:
    text = {"euc-kr": "안녕", "shift_jis": "日本", "gb18030": "中文", "big5": "中文"}.get(charset, "Grüße")
    server.answer(reply(body=f'"{text}"'.encode(charset), kind=f"{kind}; charset={charset}"))
    _, stored = asked(server, call())
    assert stored["weather"] == (text if kind == "application/json" else f'"{text}"')


@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_half_a_character_that_a_server_sends_is_replaced(server: Server, kind: str) -> None:
    server.answer(reply(body='{"a\\ud800": ["b\\udc00c", "\\ud83d\\ude00"]}', kind=kind))
    _, stored = asked(server, call())
    if kind == "application/json":
        assert stored["weather"] == {"a\ufffd": ["b\ufffdc", "\U0001f600"]}
    json.dumps(stored, ensure_ascii=False).encode()


def test_half_a_character_that_a_model_says_is_replaced(server: Server) -> None:
    server.answer(says("a\ud800b"))
    assert talk(task(model(server.url))).say_sync("hi").texts == ["a\ufffdb"]
    assert "".join(tokens(streamed(talk(task(model(server.url))))[0])) == "a\ufffdb"


@pytest.mark.parametrize("depth", [201, 900, 100_000])
def test_what_is_nested_too_deep_is_told_as_such(server: Server, depth: int) -> None:
    body = "[" * depth + "]" * depth
    server.answer(reply(body=body))
    assert error_of(asked(server, call())[0])[0].endswith("API call to weather failed: the answer is nested too deep")
    server.answer(says(body))
    told, _ = error_of(talk(task(model(server.url, convertToObject="true"))).say_sync("hi"))
    assert told == f"{FAILED}Chat model execution failed: the answer is nested too deep"


def test_a_large_answer_is_copied_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []
    freeze = answers.freeze

    def counting(value: object) -> JSON:
        if isinstance(value, dict) and "items" in value:
            copied.append(1)
        return freeze(value)

    for module in ("turnout.engine.tasks.answers", "turnout.engine.journal"):
        monkeypatch.setattr(f"{module}.freeze", counting)
    server.answer(reply(body={"items": [1, 2]}))
    after = {"propertyInstructions": [{"name": "first", "fromObjectPath": "weather.items[0]"}]}
    _, stored = asked(server, call(postResponse=after))
    assert (stored["weather"], copied) == ({"items": [1, 2]}, [1])


@pytest.mark.parametrize("build", ["outputBuildInstructions", "qrBuildInstructions"])
def test_what_is_built_of_an_answer_is_no_larger_than_the_largest_answer(server: Server, build: str) -> None:
    server.answer(reply(body={"items": list(range(100)), "text": "x" * 700_000}))
    over = {"pathToTargetArray": "weather.items", "iterationObjectName": "i"}
    texts = {"outputValue": "{i} {weather.text}", "quickReplyValue": "{i}", "quickReplyExpressions": "{weather.text}"}
    turn, _ = asked(server, call(postResponse={build: [over | texts]}))
    assert len(turn.output if build[0] == "o" else turn.quick_replies) == 2


def test_the_edge_of_what_is_looked_at_of_a_refusal_shows_no_half_of_a_secret(server: Server) -> None:
    key = "sk-" + "abcdefghij" * 80
    server.answer(reply(400, " ".join([key] * 100), "text/plain"))
    _, stored = asked(server, call(failOnStatus=False))
    assert "abcdefghij" not in stored["weatherError"]
    assert stored["weatherError"].startswith("sk-<REDACTED> ")


def test_a_cookie_that_one_answer_sets_goes_with_no_other_call(server: Server) -> None:
    server.answer(reply(Set_Cookie="session=canary-cookie; Path=/"), reply())
    asked(server, call(name="first"), call(name="second"))
    assert [seen.headers.get("cookie") for seen in server.requests] == [None, None]


# What is sent as JSON


FORGED = '", "admin": true, "x": "'


@pytest.mark.parametrize(
    ("kind", "sent"),
    [("", "application/json"), ("text/plain", "text/plain"), ("{properties.none}", "")],
)
@pytest.mark.parametrize("body", ['{"q": "{memory.current.input}"}', ' [{"q": "{memory.current.input}"}]'])
def test_a_value_adds_no_member_to_what_looks_like_json(server: Server, kind: str, sent: str, body: str) -> None:
    wanted = call(request={"method": "post", "contentType": kind, "body": body})
    agent(ASK, calls_step(server.url, wanted)).conversation().say_sync(FORGED)
    (seen,) = server.requests
    (data,) = seen.data if isinstance(seen.data, list) else [seen.data]
    assert (data, seen.headers.get("content-type")) == ({"q": FORGED}, sent)


def test_a_body_that_begins_with_a_placeholder_is_a_text(server: Server) -> None:
    wanted = call(request={"method": "post", "body": "{memory.current.input} it is"})
    agent(ASK, calls_step(server.url, wanted)).conversation().say_sync('"So"')
    assert (server.requests[0].body, server.requests[0].headers.get("content-type")) == ('"So" it is', None)


# What a server chooses


ACTIONS = ["CONVERSATION_END", "stop_conversation", "PAUSE_CONVERSATION", "task_failed_x", "Task_Failed_ai.labs.llm"]


@pytest.mark.parametrize("chosen", ACTIONS)
@pytest.mark.parametrize("template", ["{i.e}", "go, {i.e}", "{i.a}{i.b}"])
def test_a_server_offers_no_action_that_means_something_to_turnout(server: Server, chosen: str, template: str) -> None:
    server.answer(reply(body=[{"e": chosen, "a": chosen[:9], "b": chosen[9:]}]))
    build = {
        "pathToTargetArray": "weather",
        "iterationObjectName": "i",
        "quickReplyValue": "More",
        "quickReplyExpressions": template,
    }
    made = agent(ASK, calls_step(server.url, call(postResponse={"qrBuildInstructions": [build]})), TEMPLATING)
    (offered,) = made.conversation().say_sync("hi").quick_replies
    assert isinstance(offered, dict)
    assert offered["expressions"] == template.replace("{i.e}", f"_{chosen}").replace("{i.a}{i.b}", f"_{chosen}")


def test_an_author_may_write_such_an_action(server: Server) -> None:
    build = {"quickReplyValue": "Bye", "quickReplyExpressions": "CONVERSATION_END"}
    made = agent(ASK, calls_step(server.url, call(postResponse={"qrBuildInstructions": [build]})))
    (offered,) = made.conversation().say_sync("hi").quick_replies
    assert isinstance(offered, dict)
    assert offered["expressions"] == "CONVERSATION_END"


def test_a_quick_reply_without_expressions_means_no_failure_of_a_task(server: Server) -> None:
    server.answer(reply(body='"text"'))
    build = {"quickReplyValue": "task failed x"}
    steps = (parser(), rules({"expressionsAsActions": True, "rules": []}), ASK)
    made = agent(*steps, calls_step(server.url, call(postResponse={"qrBuildInstructions": [build]}))).conversation()
    made.say_sync("hi")
    made.say_sync("task failed x")
    assert made.memory.history.steps[-1].expressions == "_task_failed_x"


# Models


@pytest.mark.parametrize("answer", ["", " \n"])
@pytest.mark.parametrize("said", ["true", "false"])
@pytest.mark.parametrize("data", ["true", "false"])
def test_a_blank_answer_of_a_model_is_a_failure(server: Server, answer: str, said: str, data: str) -> None:
    server.answer(says(answer))
    made = talk(task(model(server.url, responseObjectName="reply", addToOutput=said, convertToObject=data)))
    turn = made.say_sync("hi")
    assert error_of(turn)[0] == f"{FAILED}Chat model execution failed: the model gave no answer"
    assert turn.texts == ["Sorry."]


def test_the_texts_among_the_parts_of_an_answer_are_the_answer(server: Server) -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]
    server.answer(says(parts))
    assert talk(task(model(server.url))).say_sync("hi").texts == ["Hello"]
    server.answer(sends({"choices": [{"delta": {"content": parts}, "finish_reason": "stop"}]}))
    events, turn = streamed(talk(task(model(server.url))))
    assert (tokens(events), turn.texts) == (["Hello"], ["Hello"])


def test_a_server_without_streams_tells_its_answer_in_one_piece(server: Server) -> None:
    server.answer(reply(200, {"choices": [{"message": {"content": "All at once"}, "finish_reason": "stop"}]}))
    events, turn = streamed(talk(task(model(server.url))))
    assert (tokens(events), turn.texts) == (["All at once"], ["All at once"])


def test_a_server_without_streams_may_fail_as_well(server: Server) -> None:
    for answer, reason in ((reply(200, "{"), "not JSON"), (reply(200, "[" * 10_000), "nested too deep")):
        server.answer(answer)
        events, _ = streamed(talk(task(model(server.url))))
        assert str(failure(events).reason).endswith(f"the answer is {reason}")


@pytest.mark.parametrize("policy", [Policy(), Policy(enabled=True, on_failure="keep_all")])
@pytest.mark.parametrize(
    ("second", "withdraw"), [(reply(404, {"error": "no"}), False), (cuts("Half", cleanly=True), True)]
)
def test_only_pieces_that_are_not_in_the_reply_are_withdrawn(
    server: Server, policy: Policy, second: Respond, withdraw: bool
) -> None:
    server.answer(says("Hello there."), second)
    one, other = model(server.url), model(server.url, id="n", retry={"maxAttempts": 1})
    events, turn = streamed(talk(task(one, other), policy=policy))
    assert turn.texts == ["Hello there."]
    assert failure(events).withdraw == withdraw
