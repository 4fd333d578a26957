"""How a failure is told: to everybody, and to the operator."""

import gc
import json
import tracemalloc
import weakref

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from turnout.engine import failure
from turnout.engine.classify import WINDOW
from turnout.engine.failure import OperatorText, PublicText, describe, where
from turnout.engine.redaction import redact

KEY = "s" + "k-ant-" + "FAKE" * 8
WITH_JOINERS = "👩\u200d👩\u200d👧\u200d👦"


def reason(told: object, *more: object) -> str:
    """The public reason of an exception, or of one that says so."""
    return describe(told if isinstance(told, BaseException) else Exception(told, *more), "weather").reason


def caused(message: str, cause: BaseException) -> Exception:
    error = RuntimeError(message)
    error.__cause__ = cause
    return error


def clusters(text: str) -> list[str]:
    """What a reader sees as characters."""
    return [found.group() for found in regex.finditer(r"\X", text)]


def test_a_failure_names_the_task_and_its_reason() -> None:
    failure = describe(TimeoutError("took too long"), "eddi://ai.labs.httpcalls")
    assert failure.public == "Task 'eddi://ai.labs.httpcalls' failed: took too long"
    assert {str(failure.reason), str(failure.operator)} == {"took too long"}
    assert failure.error_type == "timeout"


def test_the_two_texts_have_two_types() -> None:
    failure = describe(ValueError("no"), "weather")
    assert type(failure.public) is type(failure.reason) is PublicText
    assert type(failure.operator) is OperatorText


CASES = [
    (108, "Error code: 400 - {'error': {'message': \"This model's limit is 100 tokens.\", 'type': 'invalid_request_error', 'code': 'x'}}", "Error code: 400 - This model's limit is 100 tokens."),  # noqa: E501
    (109, '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}', "Overloaded"),  # noqa: E501
    (110, '{"error":{"message":"Filtered, see https://go.example/?a=1.","innererror":{"content_filter_result":{"hate":{"filtered":true}}}}}', "Filtered, see [url]."),  # noqa: E501
    (112, '[{"error":{"code":429,"message":"Try later."}}]', "Try later."),
    (113, "An error occurred (ValidationException) when calling the Converse operation: messages must alternate", "An error occurred (ValidationException) when calling the Converse operation: messages must alternate"),  # noqa: E501
    (114, '{"error":"model \'x\' not found, try pulling it first"}', "model 'x' not found, try pulling it first"),
    (117, "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr>nginx/1.0</body></html>", "502 Bad Gateway"),  # noqa: E501
    (120, "java.net.ConnectException: Connection refused\n\tat a.b.C$D.run(C.java:12) ~[x.jar!/:?]\n\t... 7 more\nCaused by: java.io.IOException: reset", "Connection refused: reset"),  # noqa: E501
    (123, "Client error 404 for url https://api.example/v1:gen?key=FAKE&alt=sse", "Client error 404 for url [url]"),
    (130, "ai.labs.httpcalls failed at memory.current.httpCalls.weather", "ai.labs.httpcalls failed at memory.current.httpCalls.weather"),  # noqa: E501
]  # fmt: skip


@pytest.mark.parametrize(("told", "expected"), [pytest.param(*row[1:], id=f"case {row[0]}") for row in CASES])
def test_a_reason_is_what_was_meant_to_be_said(told: str, expected: str) -> None:
    assert reason(told) == expected


def test_the_operator_sees_an_address_but_not_its_key() -> None:
    """Case 123."""
    told = "Client error 404 for url https://api.example/v1:gen?key=FAKE&alt=sse"
    assert describe(Exception(told), "weather").operator == told.replace("FAKE", "<REDACTED>")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("see https://u:pw@x/?key=SECRET", "see [url]"),
        ('see "https://u:pw@x/?key=SECRET", then', 'see "[url]", then'),
        ("<https://x/?key=SECRET>", "<[url]>"),
        ("<https://x/>.", "<[url]>."),
    ],
)
def test_an_address_ends_with_what_was_redacted_in_it(told: str, expected: str) -> None:
    assert reason(told) == expected


def test_a_key_error_names_its_class_to_the_operator_only() -> None:
    """Its text is the key alone, of which an operator learns nothing."""
    failure = describe(KeyError("amount"), "weather")
    assert (failure.operator, failure.reason) == ("KeyError: 'amount'", "'amount'")
    failure = describe(caused("no price", KeyError("amount")), "weather")
    assert (failure.operator, failure.reason) == ("no price: KeyError: 'amount'", "no price: 'amount'")


def test_a_key_error_without_a_key_is_told_by_its_class() -> None:
    failure = describe(KeyError(), "weather")
    assert (failure.operator, failure.reason) == ("KeyError", "KeyError")


def test_where_an_exception_was_raised_is_a_file_s_name_and_a_line() -> None:
    program = "\n\ndef work(order):\n    return order['amount']\n\nwork({'secret': 1})"
    with pytest.raises(KeyError) as raised:
        exec(compile(program, "/home/me/bad6.py", "exec"), {})
    assert where(raised.value) == "bad6.py:4"


def test_an_exception_that_was_not_raised_is_nowhere() -> None:
    assert where(KeyError("amount")) == ""


@pytest.mark.parametrize("arguments", [(), (None,), ("",), ("   ",), ({},), (b"",), ([],), ("null",)])  # fmt: skip
def test_an_exception_without_a_message_is_told_by_its_class(arguments: tuple[object, ...]) -> None:
    """Case 118: never `None`, `{}`, nothing, or a crash."""
    assert reason(RuntimeError(*arguments)) == "RuntimeError"


@pytest.mark.parametrize(
    ("argument", "expected"),
    [({"a": {"message": "odd"}}, "RuntimeError"), ({"error": {"message": "odd"}}, "odd"), (b"x", "x"), (404, "404")],
)
def test_an_argument_that_is_no_text_is_told_as_text(argument: object, expected: str) -> None:
    """Case 118."""
    assert reason(RuntimeError(argument)) == expected


def test_an_exception_that_cannot_tell_its_text_is_told_by_its_class() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError

        __repr__ = __str__

    assert reason(MuteError()) == "MuteError"
    assert reason(caused("wrapper", MuteError())) == "wrapper"


@pytest.mark.parametrize("length", [199, 200, 201])
def test_a_public_text_has_at_most_200_characters_in_all(length: int) -> None:
    """Case 134: the opening `Task '…' failed: ` and the ellipsis count."""
    opening = "Task 'weather' failed: "
    failure = describe(Exception("x" * (length - len(opening))), "weather")
    assert len(failure.public) == min(length, 200)
    assert failure.public.endswith("...") == (length > 200)
    assert failure.public == opening + failure.reason


@pytest.mark.parametrize("one", [WITH_JOINERS, "e\u0301\u0323", "🏳️\u200d🌈", "👍🏽", "각"])
def test_what_a_reader_sees_as_one_character_is_never_cut(one: str) -> None:
    """Case 134."""
    failure = describe(Exception(one * 200), "weather")
    for text in (failure.reason, failure.operator):
        assert set(clusters(text.removesuffix("..."))) == {one}
    assert len(failure.public) <= 200


def test_an_operator_s_text_has_at_most_500_characters() -> None:
    assert len(describe(Exception("x" * 501), "weather").operator) == 500


def test_a_long_task_name_leaves_room_for_a_reason() -> None:
    failure = describe(Exception("no route to the server"), "x" * 1000)
    assert len(failure.public) <= 200
    assert failure.public.endswith("no route to the server")


@pytest.mark.parametrize("told", ["word " * 1_000_000, "x" * 5_000_000, "[{" * 2_500_000, "<a" * 2_500_000])
def test_a_message_of_megabytes_is_told_from_its_beginning(told: str) -> None:
    """Case 91: little memory, and so little work, whatever the length."""
    error = Exception(told)
    tracemalloc.start()
    failure = describe(error, "weather")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(failure.public) <= 200
    assert peak < 1_000_000


@pytest.mark.parametrize("before", [f'"token": "{"a b " * 20}', "password='", "token=", "", "Bearer "])
@pytest.mark.parametrize("shown", [1, 7, 15, 30])
def test_a_secret_at_the_edge_of_what_is_looked_at_stays_hidden(before: str, shown: int) -> None:
    lines = "\n\tat a.B.c(C.java:1)" * 5000
    told = lines[: WINDOW - len(before) - shown - 1] + f" {before}{KEY}{KEY}" + "x" * 99
    public = describe(Exception(told), "weather").public
    assert "FAKE" not in public
    assert KEY[:5] not in public


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ('{"message": "no"}', "no"),
        ('{"detail": [{"loc": ["body"], "msg": "field required"}]}', "field required"),
        ('{"error": "Bad Request", "message": "no city"}', "no city"),
        ('Chat model execution failed: {"error":{"message":"model \'x\' not found"}}', "Chat model execution failed: model 'x' not found"),  # noqa: E501
        ('{"error": {"message": "cut of', "cut of"),
        ("b'{\"message\": \"as bytes\"}'", "as bytes"),
        (json.dumps({"message": json.dumps({"error": {"message": "nested"}})}), "nested"),
        ("{'error': {'message': 'it\\'s late'}}", "it's late"),
        ("429 - [{'error': {'code': 429, 'message': 'Try later.'}}]", "Try later."),
        ('no body: {"a": 1}', 'no body: {"a": 1}'),
        ("HTTP: <!DOCTYPE html><html><body><p>Gone &amp; lost</p></body></html>", "HTTP: Gone & lost"),
        ("<?xml version='1.0'?><Error><Message>Access Denied</Message></Error>", "Access Denied"),
    ],
)  # fmt: skip
def test_a_body_is_reduced_to_its_message(told: str, expected: str) -> None:
    assert reason(told) == expected


def test_an_argument_that_is_a_body_is_reduced_like_a_text() -> None:
    assert reason({"error": {"message": "no"}}) == reason(b'{"error": {"message": "no"}}') == "no"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in f\n    x = 1/0\n        ~^~\nrequests.exceptions.SSLError: bad", "bad"),  # noqa: E501
        ("no function\n    at f (file.js:1:2)\n    at Object.<anonymous> (/a/x.js:1:2)\n    at async /a/y.js:3:4", "no function"),  # noqa: E501
        ("failed with java.net.ConnectException", "failed with ConnectException"),
        ("cannot cast java.lang.String", "cannot cast String"),
        ("at 10:15:30 in file.Name", "at 10:15:30 in file.Name"),
        ("java.net.ConnectException: ", "Exception"),
    ],
)  # fmt: skip
def test_class_names_and_stack_frames_are_for_the_operator(told: str, expected: str) -> None:
    failure = describe(Exception(told), "weather")
    assert failure.reason == expected
    assert failure.operator == " ".join(told.split())


def test_blank_space_and_what_cannot_be_seen_become_one_blank() -> None:
    told = "\x1b[31mred\x1b[0m\r\n\u202eleft\u200b\u2066\x00\ud800end\U000e0041"
    failure = describe(Exception(told), "weather")
    assert {str(failure.reason), str(failure.operator)} == {"red left end"}


def test_a_secret_between_terminal_colours_is_found() -> None:
    assert "FAKE" not in reason("\x1b[1mtoken\x1b[0m=\x1b[32mFAKEFAKEFAKE\x1b[0m")


def test_a_reason_has_the_wrapper_and_the_most_specific_cause() -> None:
    assert reason(caused("Streaming chat failed", caused("middle", ValueError("no model")))) == (
        "Streaming chat failed: no model"
    )


def test_a_cause_that_the_wrapper_quotes_is_not_repeated() -> None:
    assert reason(caused("java.io.IOException: reset", OSError("reset"))) == "reset"


def test_a_wrapper_without_a_message_leaves_the_word_to_its_cause() -> None:
    assert reason(caused("", ValueError("no model"))) == "no model"


def test_no_message_anywhere_gives_the_class_of_the_most_specific_cause() -> None:
    assert reason(caused("", KeyError())) == "KeyError"


def test_a_group_is_told_by_its_first_leaf() -> None:
    assert reason(ExceptionGroup("two failed", [ValueError("first"), ValueError("second")])) == "two failed: first"


def test_a_failure_keeps_nothing_of_the_exception_alive() -> None:
    class OwnedError(Exception):
        pass

    error = OwnedError("no")
    owned = weakref.ref(error)
    failure = describe(error, "weather")
    del error
    gc.collect()
    assert owned() is None
    assert failure.reason == "no"


SECRETS = st.sampled_from(
    (
        KEY,
        f"token={'FAKE' * 3}",
        f"Bearer {'FAKE' * 6}",
        "postgres://u:FAKE@db/x",
        '{"password": "FAKE 1"}',
        f"https://a.example/?key={'FAKE' * 3}",
        f'{{"error": {{"message": "the key {KEY}"}}}}',
        "--password FAKE",
    )
)
WORDS = st.text(max_size=20) | st.sampled_from(("at a.B.c(D.java:1)\n", "http://a.example ", "{", '"', "\x1b[1m"))
MESSAGES = st.tuples(st.text("ab c\n", max_size=300), SECRETS, st.text("ab c\n", max_size=300)).map(" ".join)


@st.composite
def failures(draw: st.DrawFn) -> BaseException:
    """An exception with secrets in its message, arguments, notes, cause or context."""
    arguments = draw(st.lists(MESSAGES | MESSAGES.map(lambda text: {"message": text}), max_size=2))
    error = draw(st.sampled_from((ValueError, KeyError, OSError, RuntimeError)))(*arguments)
    error.add_note(draw(MESSAGES))
    if draw(st.booleans()):
        beneath = draw(failures())
        if draw(st.booleans()):
            error.__cause__ = beneath
        else:
            error.__context__ = beneath
    return ExceptionGroup(draw(MESSAGES), [error]) if draw(st.integers(0, 4)) == 0 else error


@given(failures())
def test_no_secret_gets_into_either_text(error: BaseException) -> None:
    failure = describe(error, "weather")
    assert "FAKE" not in failure.public + failure.operator + failure.reason


@given(st.lists(WORDS).map("".join), st.text(max_size=300))
def test_a_public_text_is_short_one_line_without_addresses_and_redacted(told: str, task: str) -> None:
    failure = describe(Exception(told), task)
    assert len(failure.public) <= 200
    assert len(failure.operator) <= 500
    assert failure.reason.strip() == failure.reason != ""
    assert "http://" not in failure.reason
    assert not any(character in failure.public for character in "\r\n\t\x1b\u200b\u202e")
    assert redact(failure.reason) == failure.reason


@given(st.text("aB.:( ,'/<>{}1\n\t") | st.lists(WORDS).map("".join))
def test_a_text_that_is_taken_as_plain_has_nothing_to_strip(text: str) -> None:
    if failure._PLAIN.fullmatch(text) and text.strip() == text:
        assert failure._line(text) == failure._without_internals(text) == text
