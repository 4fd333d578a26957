"""What the routes of a service have in common: what they work with, and what their descriptions share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Request, Security
from fastapi.params import Path as PathParameter

from ...engine.agents import Agent
from ...engine.stores import Store
from .access import Caller, Settings, caller, operator
from .faults import Refusal
from .metrics import Metrics
from .shapes import Error
from .turns import Turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a service works with; agents by their ids in addresses."""

    agents: Mapping[str, Agent]
    store: Store
    settings: Settings
    metrics: Metrics
    turns: Turns


async def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


def Id(alias: str) -> PathParameter:  # noqa: N802 - reads as the parameter that it makes
    """An id in an address."""
    made: PathParameter = Path(alias=alias, max_length=200)
    return made


Here = Annotated[Service, Depends(_service)]
Known = Annotated[Caller, Security(caller)]
Operator = Annotated[Caller, Security(operator)]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=255,
        description="A request that comes again with its key gets the first answer, and runs nothing.",
    ),
]
Fails = Annotated[
    str, Header(alias="X-Turnout-Fail", max_length=1000, description="Tasks to make fail, with commas; for operators.")
]

_DESCRIPTIONS = {
    401: "No token, or an unknown one.",
    403: "Not for this caller.",
    404: "No such agent, conversation or turn, or somebody else's.",
    408: "The turn takes longer than a request waits; it goes on.",
    409: "Nothing that could be changed so, or a key that came with another request.",
    410: "The conversation has ended.",
    413: "The body is too large.",
    415: "The body is of a type that is not understood.",
    422: "Something in the request cannot be read.",
    500: "A fault in Turnout.",
    503: "The service is shutting down, or its store cannot be reached.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route's description says of the requests that it refuses."""
    return {status: {"model": Error, "description": _DESCRIPTIONS[status]} for status in statuses}


def fails_of(header: str, known: Caller) -> tuple[str, ...]:
    """The tasks that are to fail; for operators only."""
    if header and not known.operator:
        raise Refusal(403, "operators_only", "`X-Turnout-Fail` is for operators: send an operator's token")
    return tuple(name for part in header.split(",") if (name := part.strip()))
