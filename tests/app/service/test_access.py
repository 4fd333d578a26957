"""Who may do what: tokens, conversations of others, browsers on other sites, and bodies that are too large."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from serving import answering, serving, started
from turnout.app.service.access import Caller, Settings, is_loopback, read_tokens
from turnout.rules.errors import LoadError

TEXT = {"content-type": "text/plain"}


def digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


TOKENS = {digest("ann's"): Caller("ann"), digest("bob's"): Caller("bob"), digest("ops"): Caller("ops", operator=True)}
ANN, BOB, OPS = ({"Authorization": f"Bearer {token}"} for token in ("ann's", "bob's", "ops"))


def guarded() -> Any:
    return serving(answering(), Settings(tokens=TOKENS))


@pytest.mark.parametrize("given", [None, "Bearer nobody's", "Basic YW5u", "Bearer", "Bearer " + digest("ann's").hex()])
def test_without_a_known_token_nothing_is_told(given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given}
    with guarded() as client:
        talk = started(client, headers=ANN)
        for method, address in [
            ("POST", "/agents/a/start"),
            ("POST", f"/agents/{talk}"),
            ("POST", f"/agents/{talk}/stream"),
            ("GET", f"/agents/{talk}"),
            ("POST", f"/agents/{talk}/cancel"),
            ("GET", "/api/agents"),
            ("GET", "/metrics"),
        ]:
            answer = client.request(method, address, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "token_needed")
            assert answer.headers["www-authenticate"] == "Bearer"


def test_a_conversation_of_somebody_else_looks_like_none() -> None:
    with guarded() as client:
        talk = started(client, headers=ANN)
        nobody = client.get(f"/agents/{'0' * 32}", headers=BOB)
        for method, door in [
            ("GET", ""),
            ("POST", ""),
            ("POST", "/stream"),
            ("GET", "/log"),
            ("GET", "/status"),
            *(("POST", f"/{call}") for call in ("undo", "redo", "rerun", "cancel", "endConversation")),
        ]:
            body = {"content": "hi"} if method == "POST" else {}
            answer = client.request(method, f"/agents/{talk}{door}", headers=BOB | TEXT, **body)
            assert (answer.status_code, answer.text) == (404, nobody.text)
        assert client.get(f"/api/conversations/{talk}/turns", headers=BOB).text == nobody.text
        assert client.get(f"/agents/{talk}", headers=ANN).json()["userId"] == "ann"


def test_one_users_key_never_leads_to_the_conversation_of_another() -> None:
    with guarded() as client:
        assert started(client, headers=ANN | {"Idempotency-Key": "k"}) != started(
            client, headers=BOB | {"Idempotency-Key": "k"}
        )


def test_a_conversation_is_started_for_the_user_of_the_token() -> None:
    with guarded() as client:
        assert client.post("/agents/a/start?userId=ann", headers=ANN).status_code == 201
        refused = client.post("/agents/a/start?userId=ann", headers=BOB)
    assert (refused.status_code, refused.json()["code"]) == (403, "other_user")


def test_reasons_and_rules_are_for_operators() -> None:
    with guarded() as client:
        talk = started(client, headers=ANN)
        asked: list[dict[str, Any]] = [
            {"method": "GET", "url": f"/api/conversations/{talk}/turns/0/trace"},
            {"method": "GET", "url": f"/agents/{talk}?returnDetailed=true"},
            {"method": "GET", "url": "/api/agents/a/rules"},
            {"method": "GET", "url": "/metrics"},
            {"method": "POST", "url": "/api/check", "json": {"text": ""}},
            {"method": "POST", "url": f"/api/conversations/{talk}/try", "json": {"text": ""}},
            {"method": "POST", "url": f"/agents/{talk}", "json": {"input": "hi"}},
        ]
        for one in asked:
            fails = {"X-Turnout-Fail": "weather"}
            refused = client.request(**one, headers=ANN | fails)
            assert (refused.status_code, refused.json()["code"]) == (403, "operators_only")
            assert client.request(**one, headers=OPS | fails).status_code == 200
        turns = client.get(f"/api/conversations/{talk}/turns", headers=ANN).text
    assert "internal.example" not in turns
    assert "reason" not in turns


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "10.0.0.1", "", "[::1"])
def test_an_open_service_answers_under_the_names_of_this_machine_only(host: str) -> None:
    with serving(answering()) as client:
        answer = client.post("/agents/a/start", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (403, "other_host")


@pytest.mark.parametrize(
    ("origin", "status"), [("https://evil.example", 403), ("null", 403), ("http://localhost", 201)]
)
def test_pages_of_other_sites_may_not_use_an_open_service(origin: str, status: int) -> None:
    with serving(answering()) as client:
        answer = client.post("/agents/a/start", headers={"Origin": origin})
    assert answer.status_code == status
    assert "access-control-allow-origin" not in answer.headers


def test_this_machine_is_known_by_its_names() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.8.8.8", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "example.com", "")))


def test_a_body_that_is_too_large_is_refused_announced_or_not() -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(11):
            yield b"x" * 10

    with serving(answering(), Settings(most_bytes=100)) as client:
        address = f"/agents/{started(client)}"
        announced = client.post(address, content=b"x" * 101, headers=TEXT)
        streamed = client.post(f"{address}/stream", content=pieces(), headers=TEXT)
        fits = client.post(address, content=b"x" * 100, headers=TEXT)
    for answer in (announced, streamed):
        assert answer.status_code == 413
        assert answer.json() == {"message": "the body is too large; send at most 100 bytes", "code": "too_large"}
    assert fits.status_code == 200


def test_every_answer_bounds_what_a_browser_does_with_it() -> None:
    with serving(answering()) as client:
        for answer in (client.get("/healthz"), client.get("/nothing"), client.get("/api/agents")):
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "unsafe" not in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"


def hashed(token: str) -> str:
    return f"sha256:{digest(token).hex()}"


def test_a_file_of_tokens_holds_hashes_and_users(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps({"tokens": {hashed("ann's"): "ann"}, "operators": {hashed("ops"): "ops"}}), "utf-8")
    assert read_tokens(file) == {digest("ann's"): Caller("ann"), digest("ops"): Caller("ops", operator=True)}


PLAIN = "tok-5d41402abc4b2a76b9719d911017c592"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "is no object"),
        ({}, "holds no token"),
        ({PLAIN: "ann"}, "neither `tokens` nor `operators`"),
        ({"token": {hashed("a"): "ann"}}, "did you mean `tokens`?"),
        ({"tokens": [PLAIN]}, "`tokens` is no object"),
        ({"tokens": {PLAIN: "ann"}}, "key 1 of `tokens` is no hash of a token"),
        ({"tokens": {digest("a").hex(): "ann"}}, "sha256sum"),
        ({"tokens": {hashed("a"): " "}}, "key 1 of `tokens` has no user"),
        ({"tokens": {hashed("a"): 5}}, "key 1 of `tokens` has no user"),
        (
            {"tokens": {hashed("a"): "ann"}, "operators": {hashed("a"): "ann"}},
            "key 1 of `operators` stands there twice",
        ),
    ],
)
def test_what_is_wrong_with_a_file_of_tokens_is_told_without_a_token(
    content: object, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps(content), "utf-8")
    with pytest.raises(LoadError) as caught:
        read_tokens(file)
    assert said in str(caught.value)
    assert PLAIN not in str(caught.value)
