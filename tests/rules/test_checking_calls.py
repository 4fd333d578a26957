"""What is said of a file of HTTP calls when it is read."""

import json
from typing import Any

import pytest

import corpus
from building import problems_of
from turnout.rules.calls import HttpCallsFile
from turnout.rules.checking_calls import HIDDEN
from turnout.rules.errors import Problem
from turnout.rules.reading import read


def said(url: str = "https://api.example.com/v1", **request: Any) -> tuple[Problem, ...]:
    """All that is said of a file with one call, of which the text is one line a key."""
    file = {"targetServerUrl": url, "httpCalls": [{"name": "weather", "request": request}]}
    return problems_of(HttpCallsFile, file)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:7070",
        "https://user:pw@api.example.com/a/b/",
        "HTTPS://[::1]:8443",
        "http://münchen.example",
    ],
)
def test_an_address_of_a_server_is_http_or_https(url: str) -> None:
    assert said(url) == ()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "is no http or https address"),
        ("api.example.com", "is no http or https address"),
        ("ftp://a.b", "is no http or https address"),
        ("javascript:1", "is no http or https address"),
        ("https://", "names no server"),
        ("https://user:pw@/a", "names no server"),
        ("http://[::1", "names no server"),
        ("http://a:x", "has a port that is none"),
        ("http://a:0", "has a port that is none"),
        ("http://a:65536", "has a port that is none"),
        ("https://a/?q=1", "has a query or a fragment"),
        ("https://a/?", "has a query or a fragment"),
        ("https://a/#top", "has a query or a fragment"),
        ("https://a b", "has a blank or an invisible character in it"),
        ("https://a\n/b", "has a blank or an invisible character in it"),
        (" https://a", "has a blank or an invisible character in it"),
        ("https://{properties.host}/v1", "cannot have placeholders"),
        ("[[${properties.host}]]", "cannot have placeholders"),
    ],
)
def test_an_address_that_cannot_be_called_is_an_error_at_its_place(url: str, message: str) -> None:
    (problem,) = said(url)
    assert problem.message == f"`targetServerUrl` {message}"
    assert (problem.code, problem.severity, problem.line, problem.column) == ("H001", "error", 2, 21)


def test_an_address_under_its_older_key_is_found_there() -> None:
    problems = problems_of(HttpCallsFile, '{"httpCalls": [],\n "targetServer": "a.b"}')
    problem = next(problem for problem in problems if problem.severity == "error")
    assert (problem.code, problem.line, problem.column) == ("H001", 2, 18)


def test_what_is_said_of_an_address_does_not_repeat_it() -> None:
    assert "pw" not in str(said("https://user:pw@host:x"))


@pytest.mark.parametrize("method", ["", "get", "Post", "DELETE", " patch "])
def test_a_method_is_one_of_http_in_any_case(method: str) -> None:
    assert said(method=method) == ()


@pytest.mark.parametrize(
    ("method", "hint"),
    [
        ("gte", "did you mean `GET`?"),
        ("é", "write one of these"),
        ("get /", "did you mean `GET`?"),
        ("CONNECT", "write one of these"),
    ],
)
def test_another_method_is_an_error_at_its_place(method: str, hint: str) -> None:
    (problem,) = said(method=method)
    assert problem.message.startswith("call `weather`: `method` must be `GET`, ")
    assert (problem.code, problem.hint, problem.line, problem.severity) == ("V003", hint, 7, "error")


PARTS: list[dict[str, Any]] = [
    {"path": "/a/PLACE"},
    {"queryParams": {"q": "PLACE"}},
    {"headers": {"X-Q": "PLACE"}},
    {"contentType": "PLACE"},
    {"contentType": "application/json", "body": '{"a": {"b": "PLACE"}}'},
]


def put(part: dict[str, Any], place: str) -> dict[str, Any]:
    put_in: dict[str, Any] = json.loads(json.dumps(part).replace("PLACE", place))
    return put_in


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("place", ["{memory.current.input", "{properties.a[0]", "[[${anything", "[(${memory.last.x})"])
def test_a_placeholder_that_is_not_closed_is_a_warning(part: dict[str, Any], place: str) -> None:
    (problem,) = said(**put(part, place))
    assert (problem.code, problem.severity) == ("H002", "warning")
    assert problem.message.startswith(f"call `weather`: `{place.removesuffix('})')}` ")
    assert problem.line == (7 if "path" in part or ("contentType" in part and "body" not in part) else 8)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("place", "meant"),
    [
        ("{memory.curent.input}", "memory.current.input"),
        ("{memroy.current.input}", "memory.current.input"),
        ("[[${memory.lst.input}]]", "memory.last.input"),
        ("[(${propertys.name})]", "properties.name"),
        ("{Properties.name[0]}", "properties.name[0]"),
        ("{contxt.channel}", "context.channel"),
    ],
)
def test_a_placeholder_that_nearly_names_something_is_a_warning(part: dict[str, Any], place: str, meant: str) -> None:
    (problem,) = said(**put(part, place))
    assert (problem.code, problem.severity) == ("H003", "warning")
    assert problem.hint == f"did you mean `{meant}`?"


@pytest.mark.parametrize(
    "text",
    [
        "{memory.current.input} {memory.last.output[0].text} {memory.past} [[${properties.name}]] {context.channel}",
        "{userInfo.userId} {conversationInfo.agentId} {snippets.a} {vars.b} {channel} {content} {order.id} {memory}",
        "{ {a} {} {{ } { memory.current.input query{properties{name}} {a",
    ],
)
def test_other_braces_are_left_alone(text: str) -> None:
    assert said(body=text) == ()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "place",
    [
        "{#if x}",
        "{/if}",
        "{! a comment}",
        "{|as it is|}",
        "{properties.a[0] }",
        "{memory.current.input.length()}",
        "[[${#strings.substring(a, 1)}]]",
        "[(${a + b})]",
    ],
)
def test_a_piece_that_no_placeholder_can_be_is_a_warning(part: dict[str, Any], place: str) -> None:
    (problem,) = said(**put(part, place))
    assert (problem.code, problem.severity) == ("H004", "warning")
    assert problem.message == f"call `weather`: `{place}` is no placeholder, and is left out"


def test_a_piece_in_a_json_body_outside_of_its_texts_is_a_warning_too() -> None:
    body = '{"a": [{#each memory.list}1{/each}], "b": {"memory": {"c": "{/b}"}}}'
    problems = said(contentType="application/json", body=body)
    assert [problem.message.split("`")[3] for problem in problems] == ["{/b}", "{#each memory.list}", "{/each}"]


def test_a_json_body_keeps_its_braces() -> None:
    body = '{"memory":{"current":{}},"a":[{"b":{properties.b}}],"text":"{x","properties":{properties}}'
    assert said(contentType="application/json", body=body) == ()


def test_a_real_file_of_calls_loads_without_a_word_of_these() -> None:
    files = sorted(corpus.folder().rglob("*.httpcalls.json"))
    assert files
    notes = [note for file in files for note in read(HttpCallsFile, file.read_bytes(), file.name).notes]
    assert [str(note) for note in notes if note.code[0] == "H" or note.code == "V003"] == []


def said_of(**keys: Any) -> list[tuple[str, int, str]]:
    """The code, the line and the message of each thing that is said of a call, each key of which is one line."""
    written = {"name": "w", "responseObjectName": "weather", **keys}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in written.items())
    text = '{"targetServerUrl": "https://a.b", "httpCalls": [{\n' + lines + "}]}"
    notes = problems_of(HttpCallsFile, text)
    assert all(note.severity == "warning" for note in notes)
    return [(note.code, note.line, note.message) for note in notes]


def test_instructions_are_looked_at_like_requests() -> None:
    """Their texts are templates, and what they are given by name is known to them."""
    told = said_of(
        responseHeaderObjectName="contxt",
        preRequest={"propertyInstructions": [{"name": "p", "valueString": "{propertys.x}"}]},
        postResponse={
            "propertyInstructions": [
                {"name": "a", "fromObjectPath": "contxt.Location"},
                {"name": "b", "valueString": "{#if weather}", "valueObject": {"k": ["{memory.lst.x}"]}},
            ],
            "outputBuildInstructions": [
                {"pathToTargetArray": "weather.list", "iterationObjectName": "contex", "outputValue": "{contex.a}"},
                {"outputValue": "{memory.current.x"},
            ],
            "qrBuildInstructions": [
                {"quickReplyValue": "{/a}", "quickReplyExpressions": "x({contxt.a}{context.b}{/b})"}
            ],
        },
    )
    assert told == [
        ("H003", 5, "property `p`: `{propertys.x}` is empty unless the context has a key `propertys`"),
        ("H004", 6, "property `b`: `{#if weather}` is no placeholder, and is left out"),
        ("H003", 6, "property `b`: `{memory.lst.x}` is always empty"),
        ("H002", 6, "call `w`: `{memory.current.x` is not closed, and stays as it is"),
        ("H004", 6, "call `w`: `{/a}` is no placeholder, and is left out"),
        ("H004", 6, "call `w`: `{/b}` is no placeholder, and is left out"),
    ]


def test_a_path_that_never_finds_anything_is_a_warning() -> None:
    told = said_of(
        postResponse={
            "propertyInstructions": [{"name": "a", "fromObjectPath": "weather.list.size()"}],
            "qrBuildInstructions": [{"pathToTargetArray": "{weather.list}", "quickReplyValue": "x"}],
        }
    )
    assert told == [
        ("H005", 4, "property `a`: `weather.list.size()` is no path, and never finds anything"),
        ("H005", 4, "call `w`: `{weather.list}` is no path, and never finds anything"),
    ]


@pytest.mark.parametrize(
    "instructions",
    [
        {"propertyInstructions": [{"name": "a", "fromObjectPath": "weather"}]},
        {"outputBuildInstructions": [{"outputValue": "x"}]},
        {"qrBuildInstructions": [{"quickReplyValue": "x"}]},
        {"retryApiCallInstruction": {}},
    ],
)
def test_what_is_wanted_after_an_answer_that_nobody_waits_for_is_a_warning(instructions: dict[str, Any]) -> None:
    told = said_of(fireAndForget=True, postResponse=instructions)
    assert told == [("H006", 5, "call `w`: nothing of `postResponse` happens, for nobody waits for an answer")]
    assert said_of(fireAndForget=True) == said_of(postResponse=instructions) == []


@pytest.mark.parametrize("key", ["responseObjectName", "responseHeaderObjectName"])
@pytest.mark.parametrize("name", sorted(HIDDEN))
def test_an_answer_cannot_hide_what_paths_find_in_every_turn(key: str, name: str) -> None:
    file = {"targetServerUrl": "https://a.b", "httpCalls": [{"name": "weather", key: name}]}
    (problem,) = problems_of(HttpCallsFile, file)
    assert problem.message == f"call `weather`: `{key}` cannot be `{name}`, which every turn has already"
    assert (problem.code, problem.severity, problem.line) == ("V007", "error", 6)


@pytest.mark.parametrize("kind", ["", "text/plain"])
def test_what_looks_like_json_is_looked_at_as_such(kind: str) -> None:
    """Braces around a member are none of a placeholder there."""
    (problem,) = said(contentType=kind, body='{"a": {"b": "{memroy.current.input}"}}')
    assert (problem.code, problem.hint) == ("H003", "did you mean `memory.current.input`?")
