"""What a request gets that cannot be answered: a status, and one clear message."""

import logging
from collections.abc import Mapping
from secrets import token_hex

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ...engine.redaction import redact
from ...rules.errors import (
    ClosedError,
    LoadError,
    LostHoldError,
    TurnoutError,
    UnknownConversationError,
    UsageError,
)
from .shapes import json_response

_log = logging.getLogger("turnout.service")

_WORDS = {
    404: ("not_found", "there is nothing at this address; see `/openapi.json` for what there is"),
    405: ("method_not_allowed", "this address knows no such method; see `/openapi.json` for those it knows"),
}


class Refusal(Exception):  # noqa: N818 - what the caller did is wrong, and nothing went wrong here
    """A request that is refused; `code` is stable, `message` for people."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers


def unknown_conversation() -> Refusal:
    """What is said of a conversation that is not there, and of one that belongs to somebody else."""
    return Refusal(404, "unknown_conversation", "there is no such conversation")


def draining() -> Refusal:
    """What is said while the service is shutting down."""
    return Refusal(503, "draining", "the service is shutting down; try again", {"Retry-After": "5"})


def refusal_of(error: TurnoutError | Refusal) -> Refusal:
    """What a caller is told of what was raised on purpose."""
    match error:
        case Refusal():
            return error
        case UnknownConversationError():
            return unknown_conversation()
        case LostHoldError():
            return Refusal(409, "taken_over", "the turn took too long, and another one was let in; it is not kept")
        case ClosedError():
            return Refusal(410, "conversation_ended", "the conversation has ended; start another one")
        case UsageError():
            return Refusal(422, "malformed", f"{error.message}; {error.hint}" if error.hint else error.message)
        case LoadError():
            problem = error.problems[0]
            place = f" (line {problem.line}, column {problem.column})" if problem.line else ""
            hint = f"; {problem.hint}" if problem.hint else ""
            return Refusal(422, "malformed", f"{problem.text}{place}{hint}")
    return fault(error)


def fault(error: BaseException) -> Refusal:
    """What a caller is told of a fault of ours; the log has its class and its place under the same number."""
    number = token_hex(4)
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    details = {"fault": number, "error": type(error).__name__, "message": redact(str(error))[:500], "at": frames[-4:]}
    _log.error("fault", extra={"fields": details})
    return Refusal(500, "internal", f"this is a fault in Turnout, number {number} in its log")


def respond(refusal: Refusal) -> Response:
    """A refusal as a response."""
    return json_response(body(refusal), refusal.status, refusal.headers)


def body(refusal: Refusal) -> dict[str, str]:
    """A refusal as data."""
    return {"message": refusal.message, "code": refusal.code}


def add_handlers(app: FastAPI) -> None:
    """Let an app answer whatever is raised in it in this shape."""

    async def raised(_: Request, error: Exception) -> Response:
        if isinstance(error, TurnoutError | Refusal):
            return respond(refusal_of(error))
        return respond(fault(error))

    async def by_library(_: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        code, message = _WORDS.get(error.status_code, ("refused", str(error.detail)))
        return respond(Refusal(error.status_code, code, message, error.headers))

    async def invalid(_: Request, error: Exception) -> Response:
        if not isinstance(error, RequestValidationError):
            raise error
        return respond(Refusal(422, "malformed", _told(error.errors()[0])))

    for kind in (Refusal, TurnoutError, Exception):
        app.add_exception_handler(kind, raised)
    app.add_exception_handler(HTTPException, by_library)
    app.add_exception_handler(RequestValidationError, invalid)


def _told(error: Mapping[str, object]) -> str:
    """The first thing that is wrong with parameters, in plain words."""
    place = error.get("loc")
    where, *names = place if isinstance(place, tuple) else ("",)
    kinds = {"query": "parameter", "header": "header", "path": "part of the address"}
    name = f"the {kinds.get(str(where), 'part')} `{'.'.join(str(one) for one in names)}`"
    kind = str(error.get("type"))
    if kind == "missing":
        return f"{name} is missing"
    given = error.get("ctx")
    limits = given if isinstance(given, Mapping) else {}
    wanted = {
        "int_parsing": "a whole number",
        "bool_parsing": "true or false",
        "literal_error": f"one of {limits.get('expected')}",
        "enum": f"one of {limits.get('expected')}",
        "greater_than_equal": f"at least {limits.get('ge')}",
        "less_than_equal": f"at most {limits.get('le')}",
        "string_too_long": f"a text of at most {limits.get('max_length')} characters",
        "string_too_short": f"a text of at least {limits.get('min_length')} characters",
        "string_pattern_mismatch": f"a text of the form {limits.get('pattern')}",
    }.get(kind)
    return f"{name} must be {wanted}" if wanted else f"{name} cannot be read"
