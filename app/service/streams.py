"""A turn as a stream of events while it happens, as EDDI sends them; the end says what was kept."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi.sse import format_sse_event
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ...engine.events import Event, TaskCompleted, TaskFailed, TaskStarted, Token
from ...rules.errors import TurnoutError
from . import faults
from .turns import Change

EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": ["task_start", "token", "task_complete", "task_failed", "done", "error"]},
        "data": {"type": "string", "description": "A text for `token`, else JSON."},
    },
}
"""What each event looks like, for the description of the service."""


class Events(StreamingResponse):
    """The events of a change, `first` being the first of them. Whoever stops listening before the end cancels it."""

    media_type = "text/event-stream"

    def __init__(self, change: Change, heard: "asyncio.Queue[Event | None]", first: Event | None) -> None:
        super().__init__(_sent(change, heard, first), headers={"X-Accel-Buffering": "no"})
        self._change = change

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._change.cancel()


async def _sent(change: Change, heard: "asyncio.Queue[Event | None]", first: Event | None) -> AsyncIterator[bytes]:
    event = first
    while event is not None:
        if sent := encoded(event):
            yield sent
        event = await heard.get()
    try:
        yield _encoded("done", await change.answer())
    except (TurnoutError, faults.Refusal) as error:
        yield _encoded("error", faults.body(faults.refusal_of(error)))
    except Exception as error:  # noqa: BLE001 - the boundary of a stream, whose status has been sent
        yield _encoded("error", faults.body(faults.fault(error)))


def encoded(event: Event) -> bytes:
    """An event as it is sent; nothing for the end of the turn, which is told when it is kept."""
    match event:
        case TaskStarted():
            return _encoded("task_start", {"taskId": event.task, "taskType": event.type, "index": event.position})
        case Token():
            return format_sse_event(event="token", data_str=event.text.encode(errors="replace").decode())
        case TaskCompleted():
            told = {"taskId": event.task, "taskType": event.type, "durationMs": round(event.duration_ms, 3)}
            return _encoded("task_complete", told | ({"actions": list(event.actions)} if event.actions else {}))
        case TaskFailed():
            failed: dict[str, Any] = {
                "taskId": event.task,
                "taskType": event.type,
                "durationMs": round(event.duration_ms, 3),
                "errorType": event.error_type,
            }
            if event.reason is not None:
                failed["error"] = str(event.reason)
            return _encoded("task_failed", failed | ({"withdraw": True} if event.withdraw else {}))
    return b""


def _encoded(name: str, data: object) -> bytes:
    return format_sse_event(event=name, data_str=json.dumps(data, separators=(",", ":")))
