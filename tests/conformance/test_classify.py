"""The classify vectors: which error type a chain of exceptions has."""

import socket
from typing import Any

import pytest

from turnout.engine.classify import classify
from vectors import cases


class CheckedError(Exception):
    """An exception that means nothing to anyone."""


class TaskFailedError(RuntimeError):
    """What a task wraps its failure in."""


KINDS: dict[str, type[Exception]] = {
    "socket_timeout": socket.timeout,
    "timeout": TimeoutError,
    "connection_refused": ConnectionRefusedError,
    "unknown_host": socket.gaierror,
    "generic": Exception,
    "checked": CheckedError,
    "state": RuntimeError,
    "io": OSError,
    "task_failure": TaskFailedError,
}


CASES = cases("classify")


def raised(chain: list[dict[str, Any]]) -> BaseException:
    """The exceptions of a vector, each the cause of the one before."""
    error: BaseException | None = None
    for link in reversed(chain):
        arguments = [] if link["message"] is None else [link["message"]]
        wrapper = KINDS[link["kind"]](*arguments)
        wrapper.__cause__ = error
        error = wrapper
    assert error is not None
    return error


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_chain_has_the_same_error_type(case: dict[str, Any]) -> None:
    assert classify(raised(case["chain"])) == case["errorType"]
