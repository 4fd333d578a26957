"""What stands in a request's body, read with plain words for what is wrong with it."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from ...rules.errors import LoadError
from ...rules.findings import listed
from ...rules.parsing import decoded, parse_json
from ...rules.spelling import suggestion
from .faults import Refusal
from .shapes import Said

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

JSON_TYPE, TEXT_TYPE = "application/json", "text/plain"


def documented(*models: type[BaseModel], text: bool = False, required: bool = True) -> dict[str, Any]:
    """What the description of a route says of its body."""
    content: dict[str, Any] = {TEXT_TYPE: {"schema": {"type": "string"}}} if text else {}
    for model in models:
        content[JSON_TYPE] = {"schema": model.model_json_schema()}
    if not models:
        content[JSON_TYPE] = {"schema": {"type": "object"}}
    return {"requestBody": {"required": required, "content": content}}


async def said(request: Request) -> Said:
    """What is said: the text itself, or JSON with a context."""
    if _type(request) == TEXT_TYPE:
        body = await request.body()
        return Said(input=_readable(lambda: decoded(body, "")))
    return await sent(request, Said, f"send `{TEXT_TYPE}` or `{JSON_TYPE}`")


async def sent(request: Request, model: type[M], hint: str = f"send `{JSON_TYPE}`") -> M:
    """A body in JSON. Refuses with 415 or 422 what is none."""
    try:
        return model.model_validate(await _data(request, hint))
    except ValidationError as error:
        raise Refusal(422, "malformed", _told(error, model)) from None


async def context(request: Request) -> Mapping[str, Any]:
    """The context of an opening turn; none where there is no body."""
    if not await request.body():
        return {}
    data = await _data(request, f"send `{JSON_TYPE}`")
    if not isinstance(data, dict):
        raise Refusal(422, "malformed", "the body must be an object: the context of the opening turn")
    return data


async def mark(request: Request) -> str:
    """What tells this request from others."""
    address = f"{request.method} {request.url.path}?{request.url.query}\n"
    return sha256(address.encode() + await request.body()).hexdigest()


async def _data(request: Request, hint: str) -> object:
    kind = _type(request)
    if kind != JSON_TYPE:
        what = f"`{kind}` is not understood here" if kind else "the body has no content type"
        raise Refusal(415, "media_type", f"{what}; {hint}")
    body = await request.body()
    if not body:
        raise Refusal(422, "malformed", "the body is empty; send JSON")
    return _readable(lambda: parse_json(body))


def _readable(read: Callable[[], T]) -> T:
    """What was read of a body; what is wrong is told without advice that is for files."""
    try:
        return read()
    except LoadError as error:
        problem = error.problems[0]
        place = f", line {problem.line}, column {problem.column}" if problem.line else ""
        raise Refusal(422, "malformed", f"the body cannot be read: {problem.text}{place}") from None


def _type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


_KINDS = {"string_type": "a text", "dict_type": "an object", "model_type": "an object"}


def _told(error: ValidationError, model: type[BaseModel]) -> str:
    first = error.errors()[0]
    name = f"`{'.'.join(str(step) for step in first['loc'])}`" if first["loc"] else "the body"
    match first["type"]:
        case "missing":
            return f"{name} is missing"
        case "extra_forbidden":
            known = list(model.model_fields)
            hint = suggestion(str(first["loc"][-1]), known, f"use {listed(known)}")
            return f"there is no key {name} here; {hint}"
        case kind if kind in _KINDS:
            return f"{name} must be {_KINDS[kind]}"
    return f"{name} cannot be read"
