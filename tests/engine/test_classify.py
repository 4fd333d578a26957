"""What kind of failure an exception is."""

import errno
import socket
from http import HTTPStatus

import httpx2
import pytest

from turnout.engine.classify import chain, classify, message
from turnout.rules.authored import ErrorType


class StatusError(Exception):
    """What a client raises for a response that it does not like."""

    def __init__(self, status: int, text: str = "") -> None:
        super().__init__(text)
        self.status_code = status


def test_a_status_on_the_exception_says_the_type() -> None:
    expected = {429: "rate_limit", 408: "timeout", 504: "timeout", 400: "http", 500: "http", 503: "http"}
    assert {status: classify(StatusError(status)) for status in expected} == expected
    assert classify(StatusError(HTTPStatus.TOO_MANY_REQUESTS)) == "rate_limit"


def test_a_status_below_400_says_nothing() -> None:
    assert classify(StatusError(302)) == "unknown"


def test_a_status_on_the_response_counts() -> None:
    request = httpx2.Request("GET", "https://api.example")
    error = httpx2.HTTPStatusError("no", request=request, response=httpx2.Response(503, request=request))
    assert classify(error) == "http"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (httpx2.ReadTimeout("late"), "timeout"),
        (httpx2.ConnectTimeout("late"), "timeout"),
        (httpx2.ConnectError("refused"), "transport"),
        (TimeoutError(), "timeout"),
        (ConnectionResetError(), "transport"),
        (socket.gaierror(), "transport"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "transport"),
        (FileNotFoundError(errno.ENOENT, "no file"), "unknown"),
        (type("CircuitBreakerError", (Exception,), {})(), "circuit_open"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_class_is_known_by_name_without_its_library(error: Exception, expected: ErrorType) -> None:
    assert classify(error) == expected


def test_an_exception_may_say_its_own_type() -> None:
    error = TimeoutError()
    error.error_type = "circuit_open"  # type: ignore[attr-defined]
    assert classify(error) == "circuit_open"
    error.error_type = "of my own"  # type: ignore[attr-defined]
    assert classify(error) == "timeout"


def test_what_is_typed_beneath_counts_before_what_is_written_above() -> None:
    error = RuntimeError("429")
    error.__cause__ = TimeoutError("Read timed out")
    assert classify(error) == "timeout"


def test_an_attribute_that_raises_says_nothing() -> None:
    class HostileError(Exception):
        @property
        def response(self) -> object:
            raise RuntimeError("not set")

    assert classify(HostileError("too many requests")) == "rate_limit"


def test_a_chain_goes_by_cause_then_by_context_unless_suppressed() -> None:
    inner, outer = ValueError("inner"), RuntimeError("outer")
    outer.__context__ = inner
    assert chain(outer) == [outer, inner]
    outer.__suppress_context__ = True
    assert chain(outer) == [outer]
    outer.__cause__ = inner
    assert chain(outer) == [outer, inner]


def test_a_chain_goes_into_the_first_leaf_of_a_group() -> None:
    leaf = ValueError("leaf")
    group = ExceptionGroup("outer", [ExceptionGroup("inner", [leaf]), KeyError("other")])
    assert chain(group)[-1] is leaf
    assert len(chain(group)) == 3


def test_a_chain_that_bites_its_tail_ends() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert chain(first) == [first, second]
    assert classify(first) == "unknown"


def test_a_chain_has_at_most_100_exceptions() -> None:
    error = Exception("deepest")
    for depth in range(300):
        wrapper = Exception(depth)
        wrapper.__cause__ = error
        error = wrapper
    assert len(chain(error)) == 100


def test_a_message_that_cannot_be_made_is_the_first_text_among_the_arguments() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RecursionError

    assert message(MuteError(3, "said")) == "said"
    assert message(MuteError()) == ""
