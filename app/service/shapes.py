"""The shapes of what is asked and answered: those of EDDI, without what is not for callers."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from ...engine.memory import Memory
from ...engine.steps import State, Step
from ...engine.stores import Head
from ...rules.values import JSON, freeze

Outputs = list[dict[str, Any]]
FIELDS = ("conversationSteps", "conversationOutputs", "conversationProperties")
_SHOWN = ("input:initial", "actions", "output", "quickReplies", "taskErrors")


class Shape(BaseModel):
    """A shape of an answer; its keys are in camel case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Error(Shape):
    """Why a request was refused; `code` is stable, `message` for people."""

    message: str
    code: str


class Said(Shape):
    """Something said; `context` maps keys to texts, `{"type", "value"}` or other JSON."""

    model_config = ConfigDict(extra="forbid", strict=True)

    input: str = ""
    context: dict[str, Any] = {}


class Text(Shape):
    """A text of rules and outputs."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str


class Started(Shape):
    """A conversation that was started; its address is in the header `Location`, too."""

    conversation_id: str


class Data(Shape):
    """Something that a turn has stored."""

    key: str
    value: Any


class StepShape(Shape):
    """What a turn has stored."""

    conversation_step: list[Data]


class Snapshot(Shape):
    """A conversation as its caller sees it."""

    conversation_id: str
    agent_id: str
    agent_version: int
    user_id: str = ""
    environment: str
    conversation_state: State
    undo_available: bool
    redo_available: bool
    conversation_outputs: Annotated[Outputs, Field(description="One map a turn.")] = []
    conversation_properties: dict[str, dict[str, Any]] = {}
    conversation_steps: list[StepShape] = []


class Part(Shape):
    """What somebody said in a turn."""

    role: Literal["user", "assistant"]
    content: list[dict[str, str]]


class View(BaseModel):
    """How much of a conversation is asked for."""

    detailed: bool = False
    current_only: bool = True
    fields: tuple[str, ...] = ()

    def has(self, field: str) -> bool:
        """Whether a field is asked for; they are chosen among only for the current step."""
        return not (self.current_only and self.fields) or field in self.fields


def json_response(data: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Data as a response in JSON; half a character, which UTF-8 does not know, is escaped."""
    return Response(json_bytes(data), status, headers, "application/json")


def json_bytes(data: object) -> bytes:
    """Data as JSON in UTF-8."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def snapshot(head: Head, memory: Memory, state: State, view: View) -> dict[str, Any]:
    """A conversation as its caller sees it; what is not known is left out."""
    steps = memory.history.steps[-1:] if view.current_only else memory.history.steps
    shown: dict[str, Any] = {
        "conversationId": head.id,
        "agentId": head.agent,
        "agentVersion": 1,
        "environment": head.environment,
        "conversationState": state,
        "undoAvailable": memory.undoable,
        "redoAvailable": memory.redoable,
    }
    if head.user:
        shown["userId"] = head.user
    if view.has("conversationOutputs"):
        shown["conversationOutputs"] = outputs(steps, detailed=view.detailed)
    if view.has("conversationProperties"):
        shown["conversationProperties"] = {
            name: _property(name, value, memory.scopes.get(name, "conversation"))
            for name, value in memory.properties.items()
        }
    if view.has("conversationSteps"):
        shown["conversationSteps"] = [{"conversationStep": list(_data(step, view))} for step in steps]
    return shown


def outputs(steps: Iterable[Step], *, detailed: bool = False) -> Outputs:
    """The output of each step, without `detailed` only what is for the one who said something."""
    return [
        {key: freeze(value) for key, value in step.output.items() if detailed or key.startswith(_SHOWN)}
        for step in steps
    ]


def done(state: State, memory: Memory) -> dict[str, Any]:
    """What the end of a stream says."""
    return {"conversationState": state, "conversationOutputs": outputs(memory.history.steps[-1:])}


def log(steps: Sequence[Step], size: int) -> list[dict[str, Any]]:
    """What was said in the last `size` steps, by whom; in all of them if it is negative."""
    parts = []
    for step in steps[max(0, len(steps) - size) :] if size >= 0 else steps:
        if step.input.strip():
            parts.append(_part("user", step.input))
        items = step.output.get("output")
        texts = [item.get("text") if isinstance(item, Mapping) else item for item in _list(items)]
        if spoken := " ".join(text for text in texts if isinstance(text, str)):
            parts.append(_part("assistant", spoken))
    return parts


def turns(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """The turns as their caller sees them."""
    return [_turn(number, step) for number, step in enumerate(steps)]


def _turn(number: int, step: Step) -> dict[str, Any]:
    """A turn as its caller sees it."""
    return {
        "turn": number,
        "input": step.input,
        "state": step.state,
        "actions": freeze(step.actions),
        **{key: freeze(_list(step.output.get(key))) for key in ("output", "quickReplies", "taskErrors")},
        "outcomes": [
            {
                "task": outcome.task,
                "status": outcome.status,
                "errorType": outcome.error_type,
                "durationMs": round(outcome.duration_ms, 3),
            }
            for outcome in step.outcomes
        ],
    }


def _part(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "value": text}]}


def _list(value: JSON) -> list[JSON]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _data(step: Step, view: View) -> Iterable[dict[str, Any]]:
    """What a step has stored; what was taken back after a failure is in the record only."""
    for key, entry in step.data.items():
        if entry.committed and (view.detailed or key == "input:initial" or key.startswith(_SHOWN[1:4])):
            yield {"key": key, "value": freeze(entry.value)}
    if step.actions and "actions" not in step.data:
        yield {"key": "actions", "value": freeze(step.actions)}


_TYPES = {str: "String", bool: "Boolean", int: "Int", float: "Float", dict: "Object", list: "List"}


def _property(name: str, value: JSON, scope: str) -> dict[str, Any]:
    plain = freeze(value)
    kind = _TYPES.get(type(plain))
    return {"name": name, **({} if kind is None else {f"value{kind}": plain}), "scope": scope}
