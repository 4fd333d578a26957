"""Requests that cannot be read: a status, and one message in plain words."""

from typing import Any

import pytest

from serving import answering, serving, started

JSON = {"content-type": "application/json"}
NESTED = '{"context": {"a": ' + "[" * 300 + "]" * 300 + "}}"


def asked(method: str, address: str, **options: Any) -> tuple[int, dict[str, str]]:
    with serving(answering()) as client:
        answer = client.request(method, address.format(talk=started(client)), **options)
    return answer.status_code, answer.json()


@pytest.mark.parametrize("door", ["", "/stream"])
@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ({}, 415, "the body has no content type; send `text/plain` or `application/json`"),
        ({"data": {"a": "b"}}, 415, "`application/x-www-form-urlencoded` is not understood here; send `text/plain` or"),
        ({"content": b"", "headers": JSON}, 422, "the body is empty; send JSON"),
        ({"content": b'{"input": "a"', "headers": JSON}, 422, "the document ends too early, line 1, column 14"),
        ({"content": b"\xe9", "headers": {"content-type": "text/plain"}}, 422, "the text is not UTF-8"),
        ({"json": [1]}, 422, "the body must be an object"),
        ({"json": {"input": 5}}, 422, "`input` must be a text"),
        ({"json": {"inputt": "hi"}}, 422, "there is no key `inputt` here; did you mean `input`?"),
        ({"json": {"context": []}}, 422, "`context` must be an object"),
        ({"json": {"context": {"a": {"type": "b", "value": 1}}}}, 422, "context `a` has an unknown type; use one of"),
        ({"content": NESTED, "headers": JSON}, 422, "nests deeper than 200 levels"),
        (
            {"content": b"hi", "headers": {"idempotency-key": "k" * 300}},
            422,
            "a text of at most 255 characters",
        ),
    ],
)
def test_what_is_said_is_read_or_refused_in_plain_words(
    door: str, options: dict[str, Any], status: int, message: str
) -> None:
    got, error = asked("POST", "/agents/{talk}" + door, **options)
    assert got == status
    assert message in error["message"]
    assert set(error) == {"message", "code"}


@pytest.mark.parametrize(
    ("method", "address", "status", "message"),
    [
        ("POST", "/agents/wether/start", 404, "there is no agent `wether` here; see `/api/agents`"),
        ("POST", "/agents/a/start?environment=a%20b", 422, "the parameter `environment` must be"),
        ("GET", "/agents/nope", 404, "there is no such conversation"),
        ("GET", "/agents/a%00b", 404, "there is no such conversation"),
        ("GET", "/agents/{talk}?returnDetailed=maybe", 422, "the parameter `returnDetailed` must be true or false"),
        ("GET", "/agents/{talk}?returningFields=steps", 422, "there is no field `steps`; use conversationSteps"),
        ("GET", "/agents/{talk}/log?logSize=ten", 422, "the parameter `logSize` must be a whole number"),
        ("GET", "/agents/{talk}/log?outputType=xml", 422, "must be one of 'json' or 'text'"),
        ("GET", "/api/conversations/{talk}/turns/9/trace", 404, "there is no turn 9; the conversation has 1"),
        ("GET", "/nothing", 404, "there is nothing at this address"),
        ("DELETE", "/agents/{talk}", 405, "this address knows no such method"),
    ],
)
def test_what_is_not_there_is_told_in_plain_words(method: str, address: str, status: int, message: str) -> None:
    got, error = asked(method, address)
    assert got == status
    assert message in error["message"]


def test_half_a_character_and_a_nul_are_said_and_kept() -> None:
    with serving(answering()) as client:
        talk = started(client)
        for text in ("\\ud800", "a\\u0000b"):
            answer = client.post(f"/agents/{talk}", content=f'{{"input": "{text}"}}', headers=JSON)
            assert answer.status_code == 200
            assert text in answer.text
            assert text in client.get(f"/agents/{talk}/log").text
        assert client.get(f"/agents/{talk}/log?outputType=text").status_code == 200
