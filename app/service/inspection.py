"""What the page asks beside conversations: agents, turns and why they went so, rules and how others would do."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from ...rules.errors import Severity
from ..check import checked_text
from ..printing import problem_data
from . import bodies, shapes
from .faults import Refusal
from .shapes import Shape, Text, json_response
from .trace import trace
from .trying import text_of, tried
from .turns import surroundings
from .wiring import Here, Id, Known, Operator, refusals

router = APIRouter(prefix="/api", tags=["page"])


class AgentShape(Shape):
    """An agent that can be talked with."""

    id: str
    name: str
    tasks: list[str]


class OutcomeShape(Shape):
    """How a task ended."""

    task: str
    status: Literal["succeeded", "failed", "skipped"]
    error_type: str | None
    duration_ms: float


class TurnShape(Shape):
    """A turn as its caller sees it."""

    turn: int
    input: str
    state: str
    actions: list[str]
    output: list[Any]
    quick_replies: list[Any]
    task_errors: list[Any]
    outcomes: list[OutcomeShape]


class TracedTask(OutcomeShape):
    """How a task ended, as its operator sees it."""

    type: str
    reason: str | None
    where: str


class MissShape(Shape):
    """A rule that did not fire, and what kept it."""

    rule: str
    why: list[str]


class MessageShape(Shape):
    """What a model would be sent."""

    role: Literal["user", "assistant"]
    text: str


class Trace(Shape):
    """A turn as its operator sees it."""

    tasks: list[TracedTask]
    facts: dict[str, Any]
    fired: list[str]
    rerouted: list[str]
    misses: list[MissShape]
    model_view: list[MessageShape]


class RulesText(Shape):
    """Rules and outputs as text."""

    text: str


class ProblemShape(Shape):
    """Something that is wrong, or worth knowing; lines and columns count from 1."""

    code: str
    severity: Severity
    file: str
    line: int
    column: int
    message: str
    hint: str


class Problems(Shape):
    """All that is to be said of a text."""

    problems: list[ProblemShape]


class Tried(Shape):
    """A turn that would change; `rules` are those that would fire and did not, or the other way round."""

    turn: int
    before: dict[str, Any]
    after: dict[str, Any]
    rules: list[str]


class Trial(Shape):
    """The turns that would change."""

    turns: list[Tried]


@router.get("/agents", response_model=list[AgentShape], responses=refusals(401, 403, 500))
async def agents(here: Here, _: Known) -> Response:
    """The agents that can be talked with."""
    shown = [
        {"id": name, "name": agent.definition.name or name, "tasks": list(dict.fromkeys(agent.tasks))}
        for name, agent in here.agents.items()
    ]
    return json_response(shown)


@router.get("/conversations/{id}/turns", response_model=list[TurnShape], responses=refusals(401, 403, 404, 422, 500))
async def turns(id: Annotated[str, Id("id")], here: Here, known: Known) -> Response:
    """The turns of a conversation, as its caller sees them."""
    _, memory, _ = await here.turns.read(id, known)
    return json_response(await asyncio.to_thread(shapes.turns, memory.history.steps))


@router.get("/conversations/{id}/turns/{n}/trace", response_model=Trace, responses=refusals(401, 403, 404, 422, 500))
async def read_trace(
    id: Annotated[str, Id("id")], n: Annotated[int, Path(ge=0, le=2**31 - 1)], here: Here, known: Operator
) -> Response:
    """What happened in a turn, the first being 0; for operators."""
    head, memory, _ = await here.turns.read(id, known)
    count = len(memory.history.steps)
    if n >= count:
        raise Refusal(404, "unknown_turn", f"there is no turn {n}; the conversation has {count}, the first being 0")
    agent = here.agents[head.agent]
    memory.surroundings = surroundings(agent.definition, head)
    return json_response(await asyncio.to_thread(trace, agent, memory, n))


@router.get("/agents/{id}/rules", response_model=RulesText, responses=refusals(401, 403, 404, 422, 500))
async def rules(id: Annotated[str, Id("id")], here: Here, _: Operator) -> Response:
    """An agent's rules and outputs as text; for operators."""
    agent = here.agents.get(id)
    if agent is None:
        raise Refusal(404, "unknown_agent", f"there is no agent `{id}` here; see `/api/agents`")
    return json_response({"text": await asyncio.to_thread(text_of, agent.definition)})


@router.post(
    "/check",
    response_model=Problems,
    responses=refusals(401, 403, 413, 415, 422, 500),
    openapi_extra=bodies.documented(Text),
)
async def check(request: Request, _: Operator) -> Response:
    """What is wrong with a text of rules and outputs; for operators."""
    sent = await bodies.sent(request, Text)
    problems = await asyncio.to_thread(checked_text, sent.text)
    return json_response({"problems": [problem_data(problem) for problem in problems]})


@router.post(
    "/conversations/{id}/try",
    response_model=Trial,
    responses=refusals(401, 403, 404, 413, 415, 422, 500),
    openapi_extra=bodies.documented(Text),
)
async def try_rules(id: Annotated[str, Id("id")], request: Request, here: Here, known: Operator) -> Response:
    """Which turns of a conversation other rules and outputs would change; for operators."""
    sent = await bodies.sent(request, Text)
    head, memory, _ = await here.turns.read(id, known)
    definition = here.agents[head.agent].definition
    memory.surroundings = surroundings(definition, head)
    return json_response({"turns": await asyncio.to_thread(tried, definition, memory, sent.text)})
