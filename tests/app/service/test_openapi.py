"""The description of the service: what it says is what is answered, whatever is asked."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from serving import HERE, answering, started
from turnout.app.service.service import service
from turnout.engine.stores.memory import MemoryStore

made = service({"a": answering()}, MemoryStore())


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The service, which here starts and ends many times."""
    if scope["type"] == "http":
        await made(scope, receive, send)
        return
    for asked in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{asked}.complete"})


schema = schemathesis.openapi.from_asgi("/openapi.json", app)
CHECKS: Any = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@schema.parametrize()
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("known", [True, False])
def test_no_request_is_answered_otherwise_than_described(case: schemathesis.Case, known: bool) -> None:
    if known and case.path_parameters:
        new = started(TestClient(app, base_url=HERE))
        there = {"conversationId": new, "agentId": "a", "id": "a" if "agents" in case.path else new, "n": 0}
        case.path_parameters |= {name: there[name] for name in case.path_parameters}
    case.call_and_validate(checks=CHECKS, base_url=HERE)
