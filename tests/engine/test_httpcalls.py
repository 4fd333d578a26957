"""The HTTP calls task and a real server on loopback: what is sent, what is kept, what makes a call fail."""

import asyncio
import json
import logging
import socket
from collections.abc import Mapping
from typing import Any

import pytest

from building import ASK, CONTINUE, LENIENT, SORRY, Pauses, agent, error_of, rules
from calling import call, calls_step, settings
from servers import Handler, Respond, Seen, Server, closed_port, hang, raw, reply
from turnout.engine.conversation import Conversation
from turnout.engine.journal import Journal
from turnout.engine.tasks import FunctionTask
from turnout.engine.tasks.answers import CallError
from turnout.engine.tasks.httpcalls import HttpCallsTask
from turnout.engine.tasks.sending import LARGEST_ANSWER
from turnout.engine.turns import Turn
from turnout.rules.agents import Policy, StepDefinition
from turnout.rules.errors import UsageError
from turnout.rules.values import JSON

FAILED = "Task 'eddi://ai.labs.httpcalls' failed: API call to weather failed"


def conversation(
    url: str,
    *calls: dict[str, Any],
    policy: Policy = CONTINUE,
    timeout_ms: int | None = None,
    **properties: JSON,
) -> Conversation:
    """A conversation that makes calls at action `ask`, which each turn has; the properties are set before."""

    async def prepare(turn: Journal) -> None:
        for name, value in properties.items():
            turn.set_property(name, value)

    steps = (StepDefinition(task="prepare"), ASK, calls_step(url, *calls, timeout_ms=timeout_ms), SORRY)
    return agent(*steps, tasks=[FunctionTask("prepare", prepare)], policy=policy).conversation()


def say(made: Conversation, text: str = "Vienna") -> tuple[Turn, JSON]:
    """The turn, and what stands in `memory.current.httpCalls` at its end."""
    turn = made.say_sync(text)
    return turn, made.memory.history.steps[-1].output.get("httpCalls")


# When calls are made, and what is kept of them


def test_an_answer_is_stored_under_the_name_that_the_author_gives(server: Server) -> None:
    server.answer(reply(body='{"temp": 21, "sky": ["blue"]}'))
    made = conversation(server.url, call())
    turn, stored = say(made)
    assert turn.state == "READY"
    assert stored == {
        "weather": {"temp": 21, "sky": ["blue"]},
        "weatherRequest": {"method": "GET", "url": server.url},
    }
    data = made.memory.history.steps[-1].data
    assert data["httpCalls:weather"].value == {"temp": 21, "sky": ["blue"]}
    assert data["httpCalls:weatherRequest"].value == {"method": "GET", "url": server.url}


def test_an_answer_that_is_not_to_be_saved_is_not_stored(server: Server) -> None:
    _, stored = say(conversation(server.url, call(saveResponse=False)))
    assert stored == {"weatherRequest": {"method": "GET", "url": server.url}}


@pytest.mark.parametrize(
    ("actions", "made"), [(["ask"], 1), (["other", "ask"], 1), (["other"], 0), (["*"], 1), ([], 0)]
)
def test_a_call_is_made_once_if_it_shares_an_action_with_the_turn(
    server: Server, actions: list[str], made: int
) -> None:
    both = rules({"executionStrategy": "executeAll", "rules": [{"name": "r", "actions": ["ask", "more"]}]})
    agent(both, calls_step(server.url, call(actions=actions))).conversation().say_sync("hi")
    assert len(server.requests) == made


def test_a_turn_without_actions_makes_no_call(server: Server) -> None:
    agent(calls_step(server.url, call(actions=["*"]))).conversation().say_sync("hi")
    assert server.requests == []


def test_a_call_finds_the_answers_of_the_calls_before_it(server: Server) -> None:
    """Both those of its own step and those of an earlier one, and all of them stay."""
    server.answer(reply(body='{"id": 7}'), reply(body='{"id": 8}'), reply(body='"last"'))
    named = [call(name=name, responseObjectName=name) for name in ("first", "second", "third")]
    named[1]["request"] = {"path": "/{memory.current.httpCalls.first.id}"}
    named[2]["request"] = {"path": "/{memory.current.httpCalls.first.id}/{memory.current.httpCalls.second.id}"}
    made = agent(ASK, calls_step(server.url, *named[:2]), calls_step(server.url, named[2])).conversation()
    _, stored = say(made)
    assert [request.path for request in server.requests] == ["/", "/7", "/7/8"]
    assert isinstance(stored, Mapping)
    assert (stored["first"], stored["second"], stored["third"]) == ({"id": 7}, {"id": 8}, "last")


@pytest.mark.parametrize(
    ("body", "kind", "value"),
    [
        ("[1, 2.5, null]", "application/json; charset=utf-8", [1, 2.5, None]),
        ('"ü"', "application/problem+json", "ü"),
        ("", "application/json", None),
        ("{not json", "text/plain", "{not json"),
        ("Grüße".encode("latin-1"), "text/plain; charset=latin-1", "Grüße"),
        (b"\xff ok", "text/plain", "\ufffd ok"),
        ("ok", "text/plain; charset=no-such", "ok"),
        ("ok", "text/plain; charset=hex", "ok"),
    ],
)
def test_an_answer_is_data_if_it_says_json_and_else_text(
    server: Server, body: str | bytes, kind: str, value: JSON
) -> None:
    server.answer(reply(body=body, kind=kind))
    _, stored = say(conversation(server.url, call()))
    assert isinstance(stored, Mapping)
    assert stored["weather"] == value


# What is sent


def test_placeholders_are_filled_in_everywhere(server: Server) -> None:
    request = {
        "method": "post",
        "path": "cities/{memory.current.input}",
        "queryParams": {
            "q": "[[${properties.name}]]",
            "n": "{properties.list[1]}",
            "none": "{properties.no}",
        },
        "headers": {"X-Name": "is {properties.name}"},
        "contentType": "text/plain",
        "body": "{properties.name} [(${properties.flag})] {properties.o}",
    }
    made = conversation(
        f"{server.url}/v1/", call(request=request), name="Ada & Bob", list=[1, 2.5], flag=True, o={"k": [1]}
    )
    say(made, "St. Pölten/Süd?")
    (seen,) = server.requests
    assert (seen.method, seen.path.partition("?")[0]) == (
        "POST",
        "/v1/cities/St.%20P%C3%B6lten%2FS%C3%BCd%3F",
    )
    assert seen.query == {"q": ["Ada & Bob"], "n": ["2.5"], "none": [""]}
    assert seen.headers["X-Name"] == "is Ada & Bob"
    assert seen.headers["Content-Type"] == "text/plain"
    assert seen.body == 'Ada & Bob true {"k": [1]}'


def test_a_json_body_keeps_its_braces_and_takes_values_as_json(server: Server) -> None:
    body = (
        '{"a":{"b":{}},"text":"say \\"{properties.text}\\"","n":{properties.n},'
        '"o":{properties.o},"none":{properties.none}}'
    )
    request = {"method": "PATCH", "contentType": "application/json", "body": body}
    say(conversation(server.url, call(request=request), text='"\\\n{', n=3, o={"k": "v"}))
    expected = {"a": {"b": {}}, "text": 'say ""\\\n{"', "n": 3, "o": {"k": "v"}, "none": None}
    assert json.loads(server.requests[0].body) == expected


HOSTILE = [
    '", "admin": true, "x": "',
    "x\r\nX-Forged: 1\r\n\r\nGET /forged",
    "{properties.secret} [[${properties.secret}]] {memory.current.input}",
    "&admin=1#?/../../x%2F..\\..",
    "</a><b x='1'/>",
    "\x00\x7f\u2028\ud800",
    "true,1]",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_stays_within_the_place_it_was_written_into(server: Server, value: str) -> None:
    """No value is rendered again, or adds a header, a parameter, a path segment or a member."""
    request = {
        "method": "post",
        "path": "/a/{properties.value}/b",
        "queryParams": {"q": "{properties.value}"},
        "headers": {"X-Value": "<{properties.value}>", "content-type": "application/json"},
        "body": '{"in": "{properties.value}", "bare": [{properties.value}]}',
    }
    turn, _ = say(conversation(server.url, call(request=request), value=value, secret="hidden-" + "value"))
    assert turn.errors == []
    (seen,) = server.requests
    path, _, query = seen.path.partition("?")
    assert path.startswith("/a/")
    assert path.endswith("/b")
    assert path.count("/") == 3
    assert query.count("=") == 1
    assert seen.query == {"q": [value.replace("\ud800", "?")]}
    assert "X-Forged" not in seen.headers
    assert json.loads(seen.body) == {"in": value, "bare": [value]}
    assert "hidden-" not in f"{seen.path}{seen.headers}{seen.body}"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", "a=1%26b%3D%3C%22%3E"),
        ("application/xml", "a=1&amp;b=&lt;&quot;&gt;"),
        ("text/plain", 'a=1&b=<">'),
    ],
)
def test_a_value_in_a_body_is_written_as_its_content_type_writes_texts(server: Server, kind: str, body: str) -> None:
    request = {"method": "post", "contentType": kind, "body": "a={properties.value}"}
    say(conversation(server.url, call(request=request), value='1&b=<">'))
    assert server.requests[0].body == body


@pytest.mark.parametrize("value", ["..", "."])
def test_a_value_that_leads_to_another_path_fails_the_call(server: Server, value: str) -> None:
    made = conversation(server.url, call(request={"path": "/users/{properties.value}/orders"}), value=value)
    assert error_of(say(made)[0]) == (f"{FAILED}: a value would lead to another path", "unknown")
    assert server.requests == []


# What makes a call fail


@pytest.mark.parametrize("status", [400, 404, 408, 429, 500, 503])
def test_a_status_of_400_or_more_fails_a_strict_task(server: Server, status: int) -> None:
    server.answer(reply(status, '{"message": "a body that nobody is shown"}'))
    turn, stored = say(conversation(server.url, call()))
    kinds = {408: "timeout", 429: "rate_limit"}
    assert error_of(turn) == (f"{FAILED}: HTTP {status}", kinds.get(status, "http"))
    assert turn.texts == ["Sorry."]
    assert stored is None


@pytest.mark.parametrize(("policy", "flag"), [(LENIENT, None), (LENIENT, False), (CONTINUE, False)])
def test_a_status_that_does_not_fail_is_stored(server: Server, policy: Policy, flag: bool | None) -> None:
    server.answer(reply(503, "try later", "text/plain"))
    turn, stored = say(conversation(server.url, call(failOnStatus=flag), policy=policy))
    assert turn.state == "READY"
    assert turn.errors == []
    request = {"method": "GET", "url": server.url}
    assert stored == {"weatherRequest": request, "weatherError": "try later", "weatherHttpCode": 503}


def test_fail_on_status_makes_a_lenient_task_fail(server: Server) -> None:
    server.answer(reply(500))
    turn, _ = say(conversation(server.url, call(failOnStatus=True), policy=LENIENT))
    assert turn.state == "ERROR"
    assert error_of(turn)[0] == f"{FAILED}: HTTP 500"


def test_a_redirect_is_not_followed(server: Server) -> None:
    server.answer(reply(302, "", Location="/elsewhere"))
    turn, stored = say(conversation(server.url, call()))
    assert turn.errors == []
    assert isinstance(stored, Mapping)
    assert stored["weatherHttpCode"] == 302
    assert len(server.requests) == 1


def test_one_failing_call_fails_the_task_and_undoes_the_calls_before_it(server: Server) -> None:
    server.answer(reply(), reply(500))
    turn, stored = say(conversation(server.url, call(name="fine"), call(), call(name="third")))
    assert error_of(turn)[0] == f"{FAILED}: HTTP 500"
    assert stored is None
    assert len(server.requests) == 2


def test_the_answers_before_a_failure_stay_without_strict_writes(server: Server) -> None:
    server.answer(reply(body="1"), reply(500))
    named = [call(name="fine", responseObjectName="fine"), call(failOnStatus=True)]
    turn, stored = say(conversation(server.url, *named, policy=LENIENT))
    assert turn.state == "ERROR"
    assert isinstance(stored, Mapping)
    assert stored["fine"] == 1


# Retries

RETRY = {"retryApiCallInstruction": {"maxRetries": 3, "exponentialBackoffDelayInMillis": 1000}}


def retried(server: Server, **keys: Any) -> tuple[Turn, list[float]]:
    """A turn with one call that pauses as it says, and the pauses that it wanted, in seconds."""
    pauses = Pauses()
    task = HttpCallsTask(settings(server.url, call(**keys)), strict=True, sleep=pauses)
    made = agent(ASK, StepDefinition(task=task.id), SORRY, tasks=[task])
    return made.conversation().say_sync("hi"), pauses.made


def test_a_status_named_for_retries_is_tried_again_after_growing_pauses(server: Server) -> None:
    server.answer(reply(503))
    turn, pauses = retried(server, postResponse=RETRY)
    assert error_of(turn)[0] == f"{FAILED}: HTTP 503"
    assert len(server.requests) == 4
    assert pauses == [1, 2, 4]


def test_retries_end_with_the_first_other_answer(server: Server) -> None:
    server.answer(reply(503), reply(502), reply(body="1"))
    turn, _ = retried(server, postResponse=RETRY)
    assert turn.errors == []
    assert len(server.requests) == 3


@pytest.mark.parametrize(("post", "status"), [({}, 503), (RETRY, 500)])
def test_other_statuses_and_calls_without_retries_are_not_tried_again(
    server: Server, post: dict[str, Any], status: int
) -> None:
    server.answer(reply(status))
    turn, pauses = retried(server, postResponse=post)
    assert error_of(turn)[0] == f"{FAILED}: HTTP {status}"
    assert len(server.requests) == 1
    assert pauses == []


def test_a_cut_connection_is_not_tried_again(server: Server) -> None:
    server.answer(raw(b""))
    retried(server, postResponse=RETRY)
    assert len(server.requests) == 1


# Servers that misbehave


def test_a_refused_connection_is_a_transport_failure_that_shows_no_address() -> None:
    turn, _ = say(conversation(closed_port(), call(request={"path": "/v1"})))
    assert error_of(turn) == (f"{FAILED}: all connection attempts failed", "transport")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="no answer at all"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", id="half an answer"),
        pytest.param(b"hello 429\r\n\r\n", id="no HTTP"),
        pytest.param(b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", id="no header"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="no chunk"),
    ],
)
def test_a_broken_answer_is_a_transport_failure(server: Server, answer: bytes) -> None:
    server.answer(raw(answer))
    failure = error_of(say(conversation(server.url, call()))[0])
    assert failure == (f"{FAILED}: the answer is not HTTP, or not whole", "transport")


def test_an_answer_that_cannot_be_unpacked_fails_the_call(server: Server) -> None:
    server.answer(reply(body="no gzip", **{"Content-Encoding": "gzip"}))
    failure = error_of(say(conversation(server.url, call()))[0])
    assert failure == (f"{FAILED}: the answer cannot be unpacked", "unknown")


@pytest.mark.parametrize("headers", [{"Content-Length": "100"}, {"Content-Length": "x"}, {"bad name": "x"}])
def test_a_request_that_the_author_s_headers_break_fails_the_call(server: Server, headers: dict[str, str]) -> None:
    request = {"method": "post", "body": "short", "headers": headers}
    failure = error_of(say(conversation(server.url, call(request=request)))[0])
    assert failure == (f"{FAILED}: the request cannot be sent as HTTP", "transport")


def test_a_host_that_is_not_known_is_a_transport_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*args: object, **keys: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    failure = error_of(say(conversation("http://no-such-host.invalid", call()))[0])
    assert failure == (f"{FAILED}: the host is not known", "transport")


def test_a_server_without_a_certificate_to_trust_is_a_transport_failure(server: Server) -> None:
    failure = error_of(say(conversation(server.url.replace("http:", "https:"), call()))[0])
    assert failure == (f"{FAILED}: no secure connection to the server", "transport")


def test_a_proxy_that_cannot_be_used_fails_the_first_call(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("ALL_PROXY", "gopher://user:canary@proxy")
    turn, _ = say(conversation(server.url, call()))
    assert error_of(turn)[0] == f"{FAILED}: the HTTP client cannot be set up"
    assert "canary" not in f"{turn.outcomes}"


@pytest.mark.parametrize(
    "body",
    ['{"temp": ', "<html>", "[NaN]", '{"a":1e999}', "\ud800".encode("utf-8", "surrogatepass")],
)
def test_an_answer_that_says_json_and_is_not_fails_the_call(server: Server, body: str | bytes) -> None:
    server.answer(reply(body=body))
    assert error_of(say(conversation(server.url, call()))[0]) == (
        f"{FAILED}: the answer is not JSON",
        "unknown",
    )


def test_an_answer_that_is_too_large_fails_the_call(server: Server) -> None:
    server.answer(reply(body="x" * (LARGEST_ANSWER + 1), kind="text/plain"))
    text, _ = error_of(say(conversation(server.url, call()))[0])
    assert text == f"{FAILED}: answer of more than 2,000,000 bytes"


def test_an_answer_without_end_fails_the_call(server: Server) -> None:
    def endless(handler: Handler, seen: Seen) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            handler.wfile.write(b"x" * 65_536)

    server.answer(endless)
    text, _ = error_of(say(conversation(server.url, call()))[0])
    assert text == f"{FAILED}: answer of more than 2,000,000 bytes"
    assert server.left.wait(10)


def test_the_largest_answer_is_taken(server: Server) -> None:
    server.answer(reply(body="x" * LARGEST_ANSWER, kind="text/plain"))
    turn, _ = say(conversation(server.url, call()))
    assert turn.errors == []


@pytest.mark.parametrize("policy", [CONTINUE, LENIENT])
def test_the_status_of_an_answer_counts_even_if_it_is_too_large(server: Server, policy: Policy) -> None:
    server.answer(reply(503, "x" * (LARGEST_ANSWER + 1)))
    turn, stored = say(conversation(server.url, call(), policy=policy))
    if policy is CONTINUE:
        assert error_of(turn)[0] == f"{FAILED}: HTTP 503"
    else:
        assert isinstance(stored, Mapping)
        assert (stored["weatherHttpCode"], stored["weatherError"]) == (503, "x" * 2_000)


def test_a_server_that_does_not_answer_is_a_timeout(server: Server) -> None:
    server.answer(hang)
    task = HttpCallsTask(settings(server.url, call()), strict=True, timeout=0.05)
    turn = agent(ASK, StepDefinition(task=task.id), SORRY, tasks=[task]).conversation().say_sync("hi")
    assert error_of(turn) == (f"{FAILED}: no answer within 0.05 s", "timeout")
    assert server.left.wait(10)


def test_the_step_s_own_time_out_ends_a_call(server: Server) -> None:
    server.answer(hang)
    turn, _ = say(conversation(server.url, call(), timeout_ms=50))
    assert error_of(turn)[1] == "timeout"


def test_cancellation_passes_through_and_closes_the_connection(server: Server) -> None:
    server.answer(hang)
    made = conversation(server.url, call())

    async def cancelled() -> None:
        turn = asyncio.create_task(made.say("hi"))
        await asyncio.to_thread(server.arrived.wait, 10)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    asyncio.run(cancelled())
    assert server.left.wait(10)
    assert made.state == "EXECUTION_INTERRUPTED"


def test_one_agent_makes_calls_in_several_event_loops(server: Server) -> None:
    made = conversation(server.url, call())
    assert [say(made)[0].errors for _ in range(3)] == [[], [], []]


@pytest.mark.parametrize(
    "url",
    ["", "api.example.com", "https://", "http://a:x", "https://a/?q=1", "https://a /b", "https://{properties.host}"],
)
def test_an_address_that_cannot_be_called_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="`targetServerUrl`"):
        HttpCallsTask(settings(url, call()), strict=True)


@pytest.mark.parametrize("method", ["é", "gte", "GET /x"])
def test_a_method_that_is_none_of_http_is_refused(method: str) -> None:
    with pytest.raises(UsageError, match="`method` must be"):
        HttpCallsTask(settings("https://a.b", call(request={"method": method})), strict=True)


# Secrets

SECRET = "canary" + "-4711"


def leaky(url: str, **keys: Any) -> dict[str, Any]:
    request = {
        "method": "post",
        "path": f"/bot{SECRET}/{{properties.secret}}",
        "queryParams": {"key": SECRET, "appid": "{properties.secret}"},
        "headers": {"X-Api-Key": SECRET, "Cookie": "session={properties.secret}"},
        "contentType": "application/json",
        "body": f'{{"key": "{SECRET}", "other": "{{properties.secret}}"}}',
    }
    return call(request=request, **keys)


@pytest.mark.parametrize("policy", [CONTINUE, LENIENT, Policy(enabled=True, on_failure="keep_all")])
@pytest.mark.parametrize("respond", [reply(), reply(401), raw(b""), raw(b"HTTP/1.1 200 OK\r\n\r\n{"), None])
def test_what_is_sent_is_told_to_nobody(
    server: Server, caplog: pytest.LogCaptureFixture, policy: Policy, respond: Respond | None
) -> None:
    """Not to callers, models, rules, listeners and operators, nor to any log."""
    caplog.set_level(logging.DEBUG)
    host = server.url if respond else closed_port()
    server.answer(respond or reply())
    told: list[object] = []

    async def prepare(turn: Journal) -> None:
        turn.set_property("secret", SECRET, "step")

    url = host.replace("//", f"//user:{SECRET}@")
    steps = (StepDefinition(task="prepare"), ASK, calls_step(url, leaky(host)), SORRY)
    made = agent(*steps, tasks=[FunctionTask("prepare", prepare)], policy=policy)
    heard = made.conversation(listeners=[told.append], operators=[told.append])
    turn = heard.say_sync("hi")
    stored = heard.memory.history.steps[-1]
    assert SECRET not in f"{stored}{turn.output}{turn.errors}{turn.outcomes}{turn.model_view}{told}{caplog.text}"
    assert len(server.requests) == (1 if respond else 0)


def echoed(before: bytes, after: bytes = b"\r\n\r\n") -> Respond:
    """Answer with what came in, in the midst of something broken."""

    def respond(handler: Handler, seen: Seen) -> None:
        sent = f"{handler.requestline} {seen.headers['x-api-key']}".encode()
        raw(before + sent + after)(handler, seen)

    return respond


@pytest.mark.parametrize(
    "respond",
    [
        pytest.param(echoed(b""), id="status line"),
        pytest.param(echoed(b"HTTP/1.1 200 OK\r\n"), id="header"),
        pytest.param(echoed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), id="chunk"),
        pytest.param(echoed(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), id="packed"),
        pytest.param(echoed(b"HTTP/1.1 200 OK\r\nContent-Length: "), id="length"),
        pytest.param(reply(body=f'{{"{SECRET}": 1e999}}'), id="number"),
    ],
)
def test_the_words_of_the_http_library_are_told_to_nobody(
    server: Server, caplog: pytest.LogCaptureFixture, respond: Respond
) -> None:
    """They hold bytes of what was sent or answered."""
    caplog.set_level(logging.DEBUG)
    server.answer(respond)
    told: list[object] = []
    made = agent(ASK, calls_step(server.url, leaky(server.url)), SORRY)
    turn = made.conversation(listeners=[told.append], operators=[told.append]).say_sync("hi")
    assert error_of(turn)[0].startswith(f"{FAILED}: the answer ")
    assert SECRET not in f"{turn.errors}{turn.outcomes}{turn.model_view}{told}{caplog.text}"


@pytest.mark.parametrize("answer", [b"hello\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n{"])
def test_a_call_that_failed_keeps_nothing_of_the_exception_beneath(server: Server, answer: bytes) -> None:
    server.answer(raw(answer + SECRET.encode()) if answer[:1] == b"h" else reply(body="{" + SECRET))
    task = HttpCallsTask(settings(server.url, call()), strict=True)
    raised: list[BaseException] = []

    async def keep(turn: Journal) -> None:
        try:
            await task.execute(turn)
        except CallError as error:
            raised.append(error)

    agent(ASK, StepDefinition(task="keep"), tasks=[FunctionTask("keep", keep)]).conversation().say_sync("hi")
    (error,) = raised
    assert (error.__cause__, error.__context__) == (None, None)


def test_a_secret_that_a_server_answers_with_is_redacted(server: Server) -> None:
    key = "sk-" + "abcdefghij" * 3
    server.answer(reply(401, f'{{"message": "no such key {key}"}}'))
    _, stored = say(conversation(server.url, call(failOnStatus=False)))
    assert isinstance(stored, Mapping)
    assert stored["weatherError"] == '{"message": "no such key sk-<REDACTED>"}'


def test_the_log_of_others_who_use_the_library_is_left_alone(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    from httpx2 import get

    caplog.set_level(logging.INFO)
    say(conversation(server.url, call()))
    assert "HTTP Request" not in caplog.text
    get(f"{server.url}/other")
    assert "HTTP Request" in caplog.text


def test_the_library_is_loaded_with_the_first_call_only() -> None:
    import subprocess
    import sys

    program = "import sys, turnout.engine.agents; sys.exit('httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
