"""Models that fail, whole and in pieces: what is tried again, what is told, what is taken back, what is nowhere."""

import asyncio
import html
import json
import logging
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest

from asking import FAILED, KEY, LLM, model, talk, task
from building import ASK, SORRY, Pauses, agent, error_of, failure, step, streamed, tokens
from servers import Handler, Respond, Seen, Server, closed_port, cuts, hang, piece, refuses, reply, says, sends, stream
from turnout.engine.journal import Journal
from turnout.engine.records import dump
from turnout.engine.tasks import FunctionTask
from turnout.engine.tasks.asking import LlmError
from turnout.rules.agents import Policy
from turnout.rules.llm import LlmFile

# Failures


@pytest.mark.parametrize(
    ("answer", "reason", "kind"),
    [
        (refuses(404, "model 'x' not found"), "model 'x' not found", "http"),
        (reply(404, {"error": "model 'x' not found"}), "model 'x' not found", "http"),
        (reply(400, [{"error": {"message": "bad request"}}]), "bad request", "http"),
        (reply(422, {"detail": [{"loc": ["body"], "msg": "field required"}]}), "field required", "http"),
        (refuses(401, "Incorrect API key provided"), "Incorrect API key provided", "http"),
        (refuses(400, "too rude", code="content_filter"), "too rude", "content_filter"),
        (reply(404, "404 page not found", "text/plain"), "HTTP 404", "http"),
        (reply(403, "<html><h1>Forbidden</h1></html>", "text/html"), "HTTP 403", "http"),
        (reply(200, {"error": {"message": "no credits", "code": 402}}), "no credits", "http"),
        (reply(200, "<html><h1>Hello</h1></html>", "text/html"), "the answer does not follow the protocol", "unknown"),
        (reply(200, '{"choices": '), "the answer is not JSON", "unknown"),
        (reply(200, ""), "the answer is not JSON", "unknown"),
        (reply(200, "[" * 100_000), "the answer is nested too deep", "unknown"),
        *(
            (reply(200, body), "the answer does not follow the protocol", "unknown")
            for body in ({}, [], 7, {"choices": []}, {"choices": [None]}, {"choices": [{}]}, {"choices": 1})
        ),
        (says(None), "the answer does not follow the protocol", "unknown"),
        (says([{"type": "text"}]), "the answer does not follow the protocol", "unknown"),
        (says("Well", "content_filter"), "the provider's content filter stopped the answer", "content_filter"),
        (says(None, refusal="I will not."), "the model refused to answer", "content_filter"),
        (reply(200, "{}", Content_Encoding="gzip"), "the answer is compressed, which was not asked for", "unknown"),
    ],
)  # fmt: skip
def test_what_will_not_pass_is_told_at_once(server: Server, answer: Respond, reason: str, kind: str) -> None:
    server.answer(answer)
    turn = talk(task(model(server.url))).say_sync("hi")
    assert error_of(turn) == (f"{FAILED}Chat model execution failed: {reason}", kind)
    assert turn.texts == ["Sorry."]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "reason", "kind"),
    [
        (refuses(503, "overloaded"), "overloaded", "http"),
        (refuses(429, "slow down"), "slow down", "rate_limit"),
        (refuses(408), "HTTP 408", "timeout"),
        (refuses(504), "HTTP 504", "timeout"),
        (reply(502, "<html><h1>Bad gateway</h1></html>", "text/html"), "HTTP 502", "http"),
        (reply(200, {"error": {"message": "busy", "code": 503}}), "busy", "http"),
        (cuts("Hel"), "the answer is not HTTP, or not whole", "transport"),
    ],
)
def test_what_may_pass_is_tried_again_with_pauses_that_grow(
    server: Server, answer: Respond, reason: str, kind: str
) -> None:
    server.answer(answer)
    pauses = Pauses()
    retry = {"maxAttempts": 4, "backoffDelayMs": 100, "backoffMultiplier": 3, "maxBackoffDelayMs": 500}
    turn = talk(task(model(server.url, retry=retry), pauses=pauses)).say_sync("hi")
    assert error_of(turn) == (f"{FAILED}Chat model execution failed after 4 attempts: {reason}", kind)
    assert (len(server.requests), pauses.made) == (4, [0.1, 0.3, 0.5])


def test_a_retry_can_succeed(server: Server) -> None:
    server.answer(refuses(503, "busy"), says("Hello again."))
    assert talk(task(model(server.url))).say_sync("hi").texts == ["Hello again."]


def test_a_server_that_is_not_there_ends_a_turn_without_a_policy_in_an_error() -> None:
    url = closed_port()
    turn = talk(task(model(url, retry={"maxAttempts": 1})), policy=Policy()).say_sync("hi")
    text, kind = error_of(turn)
    assert (turn.state, turn.texts, kind) == ("ERROR", [], "transport")
    assert text == f"{FAILED}Chat model execution failed after 1 attempt: all connection attempts failed"


def test_the_answer_to_a_failed_model_comes_in_the_same_turn(server: Server) -> None:
    server.answer(refuses(404, "model 'x' not found"))
    made = talk(task(model(server.url)))
    assert made.say_sync("hi").texts == ["Sorry."]
    events, turn = streamed(made)
    assert (turn.state, turn.texts, tokens(events)) == ("READY", ["Sorry."], [])
    assert failure(events).reason == "Streaming chat failed: model 'x' not found"


def test_a_time_out_is_for_each_attempt(server: Server) -> None:
    server.answer(hang)
    turn = talk(task(model(server.url, timeout="500", retry={"maxAttempts": 2}))).say_sync("hi")
    reason = "Chat model execution failed after 2 attempts: no answer within 0.5 s"
    assert error_of(turn) == (FAILED + reason, "timeout")
    assert len(server.requests) == 2


def test_a_cancelled_turn_ends_the_request(server: Server) -> None:
    server.answer(hang)
    made = talk(task(model(server.url)))

    async def main() -> None:
        saying = asyncio.create_task(made.say("hi"))
        await asyncio.to_thread(server.arrived.wait, 30)
        saying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await saying
        assert await asyncio.to_thread(server.left.wait, 30)

    asyncio.run(main())
    assert made.state == "EXECUTION_INTERRUPTED"
    assert len(server.requests) == 1


def test_an_answer_without_an_end_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnout.engine.tasks.openai_chat.LARGEST_ANSWER", 10_000)
    server.answer(says("x" * 20_000))
    text, _ = error_of(talk(task(model(server.url))).say_sync("hi"))
    assert text == f"{FAILED}Chat model execution failed: answer of more than 10,000 bytes"
    events, _ = streamed(talk(task(model(server.url))))
    assert failure(events).reason == "Streaming chat failed: answer of more than 10,000 bytes"


def test_twenty_failing_turns_in_a_row_cost_no_more_each(server: Server) -> None:
    server.answer(refuses(503, "overloaded"))
    made = talk(task(model(server.url, logSizeLimit="3")))
    sizes, asked = [], []
    for number in range(20):
        assert made.say_sync(f"turn {number:02}").texts == ["Sorry."]
        sizes.append(len(json.dumps(dump(made.memory))))
        asked.append(len(server.requests))
    assert asked == [3 * (number + 1) for number in range(20)]
    grown = [later - earlier for earlier, later in pairwise(sizes[1:])]
    assert max(grown) - min(grown) < 100  # times in milliseconds have more digits or fewer
    assert len(server.requests[-1].messages) == 5


# Streaming


def test_the_pieces_are_told_and_the_whole_is_said(server: Server) -> None:
    server.answer(says("Hello, how are you?"))
    events, turn = streamed(talk(task(model(server.url))))
    assert tokens(events) == ["Hello,", " how", " are", " you?"]
    assert turn.texts == ["Hello, how are you?"]
    assert server.requests[0].data["stream"] is True


@pytest.mark.parametrize(
    "answer",
    [
        refuses(404, "no"),
        sends({"error": {"message": "no"}}),
        sends("{broken"),
        reply(200, "<html>", "text/html"),
        reply(200, {}),
        says("", "content_filter"),
    ],
)
def test_a_failure_on_the_first_piece_is_a_plain_failure(server: Server, answer: Respond) -> None:
    server.answer(answer)
    events, turn = streamed(talk(task(model(server.url))))
    failed = failure(events)
    assert (failed.withdraw, tokens(events), turn.texts) == (False, [], ["Sorry."])
    assert str(failed.reason).startswith("Streaming chat failed: ")
    assert len(server.requests) == 1


def test_before_the_first_piece_a_stream_is_tried_again(server: Server) -> None:
    server.answer(refuses(503), cuts(), cuts(cleanly=True), says("There you are."))
    events, turn = streamed(talk(task(model(server.url, retry={"maxAttempts": 4}))))
    assert ("".join(tokens(events)), turn.texts) == ("There you are.", ["There you are."])
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("answer", "reason", "kind"),
    [
        (cuts("Half an", " answer"), "the answer is not HTTP, or not whole", "transport"),
        (cuts("Half an", " answer", cleanly=True), "the connection broke off", "transport"),
        (sends(piece("Half an answer"), {"error": {"message": "overloaded", "code": 503}}), "overloaded", "http"),
        (sends(piece("Half an answer"), "{broken"), "the answer is not JSON", "unknown"),
        (
            says("Half an answer", "content_filter"),
            "the provider's content filter stopped the answer",
            "content_filter",
        ),
    ],
)
def test_a_stream_that_fails_later_is_withdrawn_and_its_text_is_nowhere(
    server: Server, answer: Respond, reason: str, kind: str
) -> None:
    server.answer(answer, says("Hello."))
    made = talk(task(model(server.url, responseObjectName="reply")))
    events, turn = streamed(made)
    failed = failure(events)
    assert "".join(tokens(events)) == "Half an answer"
    assert (failed.withdraw, failed.error_type, failed.reason) == (True, kind, f"Streaming chat failed: {reason}")
    assert turn.texts == ["Sorry."]
    assert len(server.requests) == 1  # what was told in part is not asked again
    made.say_sync("again")
    assert "Half" not in json.dumps([dump(made.memory), server.requests[1].data])
    roles = [role for role, _ in server.requests[1].messages]
    assert roles == ["user", "assistant", "user"]


def test_a_stream_that_hangs_after_a_piece_is_withdrawn(server: Server) -> None:
    def stall(handler: Handler, seen: Seen) -> None:
        stream(handler, [piece("Half")], ends=False)
        hang(handler, seen)

    server.answer(stall)
    events, turn = streamed(talk(task(model(server.url, timeout="1000"))))
    assert (failure(events).withdraw, failure(events).error_type, turn.texts) == (True, "timeout", ["Sorry."])
    assert len(server.requests) == 1


# Secrets


SIGNS = "ab\"cd'ef<gh&ij+kl/mn"


@pytest.mark.parametrize("key", [KEY, "hunter2", SIGNS, "sk-proj-abcdefghijklmnopqrstuv"])
@pytest.mark.parametrize("way", ["plain", "streamed", "later"])
def test_a_key_that_a_server_repeats_is_nowhere(
    server: Server, caplog: pytest.LogCaptureFixture, key: str, way: str
) -> None:
    caplog.set_level(logging.DEBUG)
    beginning = key[: len(key) // 2 + 4]
    forms = [key, key.upper(), json.dumps(key)[1:-1], quote(key, safe=""), html.escape(key)]
    message = f"{' '.join(forms)} refused; {beginning}…"
    refused = refuses(401, message, param=key, code=key)
    server.answer(sends(piece("Half"), {"error": {"message": message}}) if way == "later" else refused)
    asked = task(model(server.url, apiKey="{properties.secret}"))
    heard: list[Any] = []
    notes: list[Any] = []
    made = agent(
        step("prepare"), ASK, LLM, SORRY,
        tasks=[FunctionTask("prepare", partial(_set_secret, key)), asked],
    ).conversation(listeners=[heard.append] if way != "plain" else [], operators=[notes.append])  # fmt: skip
    turn = made.say_sync("hi")
    assert server.requests[0].headers["authorization"] == f"Bearer {key}"
    assert turn.texts == ["Sorry."]
    everything = [turn.errors, turn.output, turn.outcomes, heard, notes, dump(made.memory), caplog.text, repr(asked)]
    everything += [vars(record) for record in caplog.records]
    server.answer(says("Hello."))
    made.say_sync("again")
    everything.append(server.requests[-1].data)
    told = str(everything)
    assert not [form for form in (*forms, repr(key)[1:-1]) if form in told]
    assert beginning not in told or len(key) < 8
    assert "refused" in told


def _set_secret(key: str, turn: Journal) -> None:
    turn.set_property("secret", key, "secret")


def test_an_answer_that_repeats_the_key_is_said_without_it(server: Server) -> None:
    server.answer(says(f"Your key is {KEY}, is it?"))
    made = talk(task(model(server.url, apiKey=KEY)))
    assert made.say_sync("hi").texts == ["Your key is <REDACTED>, is it?"]

    def spelled(handler: Handler, seen: Seen) -> None:
        stream(handler, [*map(piece, f"key {KEY} or {KEY[:5]}"), {"choices": [{"finish_reason": "stop"}]}])

    server.answer(spelled)
    events, turn = streamed(made)
    assert "".join(tokens(events)) == turn.texts[0] == f"key <REDACTED> or {KEY[:5]}"


@pytest.mark.parametrize("url", [None, "http://user:{properties.secret}@127.0.0.1:1"])
def test_what_is_raised_holds_no_key_in_its_text_and_nothing_of_the_client_in_its_chain(
    server: Server, url: str | None
) -> None:
    server.answer(refuses(503, f"{KEY} is busy"))
    asked = task(model(url or server.url, apiKey=KEY))
    raised: list[BaseException] = []

    class Looking:
        id, type = "ai.labs.llm", "langchain"

        async def execute(self, turn: Journal) -> None:
            try:
                await asked.execute(turn)
            except LlmError as error:
                raised.append(error)
                raise

    made = agent(step("prepare"), ASK, LLM, tasks=[FunctionTask("prepare", partial(_set_secret, KEY)), Looking()])
    made.conversation().say_sync("hi")
    (error,) = raised
    chain = [error, error.__cause__]
    assert [type(each) for each in chain] == [LlmError, LlmError]
    assert [each.__context__ for each in chain if each is not None] == [None, None]
    assert KEY not in repr(chain)


def test_the_libraries_beneath_log_nothing_of_a_question(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    streamed(talk(task(model(server.url, apiKey=KEY))))
    for answer in (cuts("Half"), says("Half", "content_filter"), sends(piece("Half"), "{broken")):
        server.answer(answer)
        streamed(talk(task(model(server.url, apiKey=KEY))))
    talk(task(model(server.url, apiKey=KEY))).say_sync("hi")
    assert {record.name.partition(".")[0] for record in caplog.records} <= {"turnout", "asyncio"}


def test_a_key_in_a_file_is_not_in_the_text_of_its_model() -> None:
    file = LlmFile.model_validate({"tasks": [model("http://user:pw-canary@host", apiKey=KEY)]})
    assert KEY not in repr(file)
    assert "pw-canary" not in repr(file)
