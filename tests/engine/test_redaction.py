"""What is a secret in a text, and what is not."""

import base64
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from turnout.engine import redaction
from turnout.engine.redaction import MARK, redact

# Keys are put together here, so that no scanner takes this file for a leak.
GOOGLE = "AI" + "za" + "FAKE" * 9
AWS, AWS_TEMPORARY = "AK" + "IA" + "FAKE" * 4, "AS" + "IA" + "FAKE" * 4
GITHUB = "gh" + "p_" + "FAKE" * 9
SLACK = "xo" + "xb-" + "1234567890-FAKE"
JWT = ".".join(("ey" + "JhbGciOiJub25lIn0", "ey" + "JzdWIiOiIxIn0", "FAKE_-x"))
BASIC = base64.b64encode(b"user:pw").decode()
PEM = "-----BEGIN {0}PRIVATE KEY-----\nMIIFAKE+/=\nFAKE\n-----END {0}PRIVATE KEY-----"


def case(number: int, text: str, expected: str) -> object:
    """A row of the table of cases, under its number there."""
    return pytest.param(text, expected, id=f"case {number}: {text[:30]}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        case(123, f"url https://a.example/v1?key={GOOGLE}&b=c", "url https://a.example/v1?key=<REDACTED>&b=c"),
        case(123, "url https://a.example/?b=c&key=FAKE", "url https://a.example/?b=c&key=<REDACTED>"),
        case(123, f"the key {GOOGLE} is not valid", "the key <REDACTED> is not valid"),
        case(124, f"Authorization: Basic {BASIC}", "Authorization: Basic <REDACTED>"),
        case(124, f"sent Basic {BASIC}", "sent Basic <REDACTED>"),
        case(124, "authorization: bearer FAKE.FAKE", "authorization: bearer <REDACTED>"),
        case(124, "BEARER " + "abc" * 10, "BEARER <REDACTED>"),
        case(124, f'["Bearer {"x" * 30}"]', '["Bearer <REDACTED>"]'),
        case(124, f"key id {AWS_TEMPORARY}, {AWS}", "key id <REDACTED>, <REDACTED>"),
        case(131, "postgres://u:pw@db/x", "postgres://u:<REDACTED>@db/x"),
        case(131, "redis://:pw@h", "redis://:<REDACTED>@h"),
        case(131, "amqp://u:pw@h:5672/v", "amqp://u:<REDACTED>@h:5672/v"),
        case(131, "mongodb+srv://u:p@s/s@h/db?w=1", "mongodb+srv://u:<REDACTED>@h/db?w=1"),
        case(131, "AccountName=a;AccountKey=RkFLRQ==;B=c", "AccountName=a;AccountKey=<REDACTED>;B=c"),
        case(131, PEM.format(""), "<REDACTED>"),
        case(131, f"key:\n{PEM.format('RSA ')}\nafter", "key:\n<REDACTED>\nafter"),
        case(131, PEM.format("")[:40], "<REDACTED>"),
        case(131, "mysql --password pw -h db", "mysql --password <REDACTED> -h db"),
        case(131, "mysql --password 'p w' -h db", "mysql --password '<REDACTED>' -h db"),
        case(131, '"password": "p w"', '"password": "<REDACTED>"'),
        case(131, "cannot reach user:pw@host", "cannot reach user:<REDACTED>@host"),
    ],
)
def test_a_secret_is_taken_out_and_what_names_it_stays(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ai.labs.httpcalls failed at memory.current.httpCalls.weather", id="case 130: names"),
        pytest.param('{"authorType": "system-wide"}', id="case 130: a field"),
        pytest.param("fromObjectPath memory.current.httpCalls.currentWeatherDescription", id="case 133"),
        "tokens used: 12345678",
        "the bearer token has expired",
        "Basic authentication is required",
        "authorization: Bearer token required",
        "one of 'password:', 'b' is missing",
        "write to bob@example.com, mailto:bob@example.com, or at 10:30@noon",
        "cannot clone git@example.com:org/repo",
        "https://example.com:8080/search?mail=a@example.com",
        "PWD=/home/me",
        "cookies: enabled=true",
    ],
)
def test_prose_and_names_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cookie: sid=FAKE; theme=dark\r\nHost: x", "Cookie: <REDACTED>\r\nHost: x"),
        ('Cookie: sid="F A"; a=b', "Cookie: <REDACTED>"),
        ('{"Set-Cookie": "sid=FAKE; Path=/"}', '{"Set-Cookie": "<REDACTED>"}'),
    ],
)
def test_a_cookie_is_taken_out_to_the_end_of_its_line_or_string(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize("key", [GITHUB, SLACK, JWT, "github" + "_pat_" + "FAKE" * 6])
def test_a_key_is_known_by_how_it_begins(key: str) -> None:
    assert redact(f"with {key}, also\\n{key}") == "with <REDACTED>, also\\n<REDACTED>"


def test_the_secret_key_of_aws_is_known_by_its_name() -> None:
    assert redact('aws_secret_access_key=FAKE/FAKE+1, "SecretAccessKey": "FAKE/FAKE+1"') == (
        'aws_secret_access_key=<REDACTED>, "SecretAccessKey": "<REDACTED>"'
    )


def test_an_apostrophe_inside_a_value_in_apostrophes_does_not_end_it() -> None:
    assert redact("{'password': 'it's-mine', 'a': 'b'}") == "{'password': '<REDACTED>', 'a': 'b'}"


@pytest.mark.parametrize("text", ["password=pw", "dbname=x password=pw", "Server=x;Pwd=pw;Timeout=3"])
def test_a_password_in_a_connection_string_may_be_short(text: str) -> None:
    assert redact(text) == text.replace("pw", MARK)


def test_a_quote_that_ends_a_json_string_does_not_open_a_value() -> None:
    text = '{"say": "password:", "next, with": "token=\'", "a": [{"b": "it\'s"}]}'
    assert redact(text) == text


def test_a_text_that_only_begins_like_json_is_redacted_by_its_quotes() -> None:
    assert redact('[ERROR] sent "{"password":"hunter2"}"') == '[ERROR] sent "{"password":"<REDACTED>"}"'


def test_a_number_in_escaped_json_becomes_an_escaped_string() -> None:
    text = json.dumps({"body": json.dumps({"token": 12345678})})
    assert json.loads(json.loads(redact(text))["body"]) == {"token": MARK}


NAMES = (
    "token",
    "password",
    "apiKey",
    "Secret",
    "authorization",
    "Set-Cookie",
    "--password ",
    "PWD=",
    "&key=",
)
VALUES = (
    "a" * 20,
    "hunter2hunter2",
    "12345678",
    "it's",
    "u:p",
    "host",
    "${vault:k}",
    "${vault:",
    "é",
    "\u212a",
)
SCHEMES = ("bearer ", "Basic ", "sk-", "sk-ant-", "://", "mailto:", f" {AWS}", f"\\n{JWT}", MARK)
MARKS = (
    *"=: \n\"'\\{}[],;@<>-",
    '\\"',
    '\\\\"',
    "\\n",
    "b'",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
)
PIECES = st.sampled_from((*NAMES, *VALUES, *SCHEMES, *MARKS))
TEXTS = st.text() | st.lists(PIECES, max_size=20).map("".join)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner | TEXTS, max_size=4),
)


@given(TEXTS)
@example("mailto:token=abcdefgh;a:b@c")
def test_redacting_a_redacted_text_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(DOCUMENTS, st.booleans(), st.sampled_from((None, 1)), st.booleans())
def test_a_redacted_json_document_stays_json(
    document: object, ascii_only: bool, indent: int | None, nest: bool
) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    json.loads(redact(json.dumps({"body": text}) if nest else text))


@given(TEXTS)
def test_what_no_needle_announces_no_rule_changes(text: str) -> None:
    for rule in redaction._RULES:
        if not any(needle in text.lower() for needle in rule.needles):
            assert rule.apply(text) == text
