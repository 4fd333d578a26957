"""What is said of a file of models when it is read."""

from typing import Any

import pytest

from building import problems_of
from turnout.rules.checking_calls import HIDDEN
from turnout.rules.errors import Problem
from turnout.rules.llm import LlmFile
from turnout.rules.outputs import TAKEN

NAMED = {"modelName": "small"}


def said(parameters: Any = NAMED, **keys: Any) -> tuple[Problem, ...]:
    """All that is said of a file with one model, of which the text is one line a key."""
    return problems_of(LlmFile, {"tasks": [{"id": "m", **keys, "parameters": parameters}]})


def only(parameters: Any = NAMED, **keys: Any) -> Problem:
    (problem,) = said(parameters, **keys)
    return problem


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"temperature": "0.7", "topP": "1", "maxTokens": 200, "timeout": "60000", "logSizeLimit": "-1"},
        {"temperature": "{properties.heat}", "maxTokens": "{context.most}", "addToOutput": "{properties.says}"},
        {"addToOutput": True, "convertToObject": "FALSE", "includeFirstAgentMessage": " false "},
        {"baseUrl": "http://localhost:1234/v1"},
        {"baseUrl": "{properties.server}"},
        {"systemMessage": 'Answer in JSON: {"mood": "…"}, {} or { }', "temperature": ""},
        {"apiKey": "${env:MODEL_KEY}"},
        {"apiKey": " ${file:/run/secrets/key} "},
        {"apiKey": "${vault:a/b-c}"},
        {"apiKey": "${eddivault:key}"},
        {"apiKey": "{properties.key}"},
        {"apiKey": "[[${properties.key}]]"},
    ],
)
def test_of_a_model_that_can_be_asked_nothing_is_said(parameters: dict[str, Any]) -> None:
    assert said(NAMED | parameters) == ()


@pytest.mark.parametrize("parameters", [{}, {"modelName": " "}, {"prompt": "x"}])
def test_a_model_without_a_name_is_an_error(parameters: dict[str, Any]) -> None:
    problem = only(parameters)
    assert (problem.code, problem.severity, problem.line) == ("V001", "error", 5)
    assert problem.message == "model `m`: `modelName` is missing"


def test_a_model_without_parameters_has_no_name() -> None:
    (problem,) = problems_of(LlmFile, '{"tasks": [\n {"type": "openai"}]}')
    assert (problem.message, problem.line) == ("model 1: `modelName` is missing", 2)


@pytest.mark.parametrize(
    ("kind", "hint"), [("opneai", "did you mean `openai`?"), ("anthropic", "add a `baseUrl` to the `parameters`: ")]
)
def test_a_type_whose_server_is_not_known_needs_an_address(kind: str, hint: str) -> None:
    problem = only(type=kind)
    assert (problem.code, problem.severity, problem.line, problem.column) == ("N001", "error", 5, 12)
    assert problem.message == f"model `m`: where models of type `{kind}` are asked is not known"
    assert problem.hint.startswith(hint)
    assert said(NAMED | {"baseUrl": "https://api.example.com/v1"}, type=kind) == ()


@pytest.mark.parametrize("kind", ["openai", "OpenAI", " ollama", "mistral"])
def test_types_whose_servers_are_known_need_no_address(kind: str) -> None:
    assert said(type=kind) == ()


@pytest.mark.parametrize(
    "url", ["localhost:1234", "ftp://a.b", "https://", "https://user:pw-canary@host:x", "http://a/?b"]
)
def test_an_address_that_cannot_be_called_is_an_error_and_not_shown(url: str) -> None:
    problem = only(NAMED | {"baseUrl": url})
    assert (problem.code, problem.line) == ("H001", 7)
    assert problem.hint == "write one such as `https://api.example.com/v1`"
    assert "canary" not in str(problem)


def test_a_key_in_the_file_is_a_warning_that_does_not_show_it() -> None:
    problem = only(NAMED | {"apiKey": "sk-CANARY"})
    assert (problem.code, problem.severity, problem.line) == ("N002", "warning", 7)
    assert "CANARY" not in str(problem)
    assert "`${env:NAME}`" in problem.hint


@pytest.mark.parametrize(
    "key",
    [
        "${enf:NAME}",
        "${env:CANARY",
        "${env:sk-CANARY}",
        "Bearer ${env:CANARY}",
        "${CANARY}",
        "${file:}",
        "${env: CANARY}",
    ],
)
def test_a_key_that_is_said_to_be_nowhere_is_an_error_that_does_not_show_it(key: str) -> None:
    problem = only(NAMED | {"apiKey": key})
    assert (problem.code, problem.severity, problem.line) == ("V007", "error", 7)
    assert problem.message == "model `m`: where `apiKey` says that the key is cannot be read"
    assert "CANARY" not in str(problem)


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("temperature", "hot", "must be a number, not `hot`"),
        ("temperature", "0,7", "must be a number, not `0,7`"),
        ("temperature", "nan", "must be a number, not `nan`"),
        ("temperature", "-1", "must be at least 0, not `-1`"),
        ("topP", "1_0", "must be a number, not `1_0`"),
        ("maxTokens", "1.5", "must be a whole number, not `1.5`"),
        ("maxTokens", "0", "must be at least 1, not `0`"),
        ("logSizeLimit", "-2", "must be at least -1, not `-2`"),
        ("timeout", "1m", "must be a whole number, not `1m`"),
        ("timeout", "99999999999", "must be a whole number, not `99999999999`"),
    ],
)
def test_a_text_that_should_be_a_number_and_is_not_is_an_error(key: str, text: str, words: str) -> None:
    problem = only(NAMED | {key: text})
    assert (problem.code, problem.message, problem.line) == ("V007", f"model `m`: `{key}` {words}", 7)


@pytest.mark.parametrize(("text", "hint"), [("ture", "did you mean `true`?"), ("yes", "write one of these")])
@pytest.mark.parametrize("key", ["addToOutput", "convertToObject", "includeFirstAgentMessage"])
def test_a_text_that_should_be_true_or_false_and_is_not_is_an_error(key: str, text: str, hint: str) -> None:
    problem = only(NAMED | {key: text})
    assert (problem.code, problem.hint, problem.line) == ("V003", hint, 7)
    assert problem.message == f"model `m`: `{key}` must be `true` or `false`, not `{text}`"


@pytest.mark.parametrize("name", sorted(TAKEN | HIDDEN))
def test_an_answer_cannot_take_the_name_of_what_a_turn_has_already(name: str) -> None:
    problem = only(responseObjectName=name)
    assert (problem.code, problem.severity, problem.line) == ("V007", "error", 5)


def test_placeholders_that_go_wrong_are_warnings_everywhere() -> None:
    wrong = "{memroy.current.input}"
    for key in ("systemMessage", "prompt", "modelName", "temperature"):
        assert only(NAMED | {key: wrong}).code == "H003"
    after = {"propertyInstructions": [{"name": "a", "fromObjectPath": "memroy.current.input"}]}
    built = {"outputBuildInstructions": [{"outputValue": f"{wrong} {{reply.text}}"}]}
    assert [problem.code for problem in said(preRequest=after)] == ["H003"]
    assert [problem.code for problem in said(postResponse=after | built, responseObjectName="reply")] == [
        "H003",
        "H003",
    ]
