"""The addresses of EDDI: start, say, stream, read, log, rerun, undo, redo, end and cancel."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Depends, Query, Request, Security
from starlette.responses import PlainTextResponse, Response

from ...engine.conversation import Conversation
from ...engine.events import Event
from ...engine.steps import State, Step
from ...engine.stores import Head
from ...engine.turns import Turn
from ...rules.errors import ClosedError, UsageError
from . import bodies
from .access import Caller, caller
from .faults import Refusal
from .shapes import FIELDS, Part, Said, Snapshot, Started, View, done, json_response, log, snapshot
from .streams import EVENT, Events
from .turns import Asked, Change, Shown, Work
from .wiring import Fails, Here, Id, Key, Known, Service, fails_of, refusals

router = APIRouter(tags=["conversations"])
LOCATION = "eddi://ai.labs.conversation/conversationstore/conversations/"


async def _view(
    known: Annotated[Caller, Security(caller)],
    detailed: Annotated[bool, Query(alias="returnDetailed", description="For operators.")] = False,
    current_only: Annotated[bool, Query(alias="returnCurrentStepOnly")] = True,
    fields: Annotated[list[str] | None, Query(alias="returningFields", description=", ".join(FIELDS))] = None,
) -> View:
    if detailed and not known.operator:
        raise Refusal(403, "operators_only", "`returnDetailed` is for operators: send an operator's token")
    wanted = [field.strip() for field in fields or () if field.strip()]
    if unknown := [field for field in wanted if field not in FIELDS]:
        raise Refusal(422, "malformed", f"there is no field `{unknown[0]}`; use {', '.join(FIELDS)}")
    return View(detailed=detailed, current_only=current_only, fields=tuple(wanted))


Wanted = Annotated[View, Depends(_view)]


ConversationId = Annotated[str, Id("conversationId")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What all changes of a conversation are told."""

    here: Service
    request: Request
    id: str
    caller: Caller
    key: str

    async def asked(
        self, work: Work, shown: Shown, fails: Sequence[str] = (), listener: Callable[[Event], object] | None = None
    ) -> Asked:
        """The change itself."""
        return Asked(
            conversation=self.id,
            caller=self.caller,
            work=work,
            shown=shown,
            key=self.key,
            mark=await bodies.mark(self.request) if self.key else "",
            fails=tuple(fails),
            listener=listener,
        )


async def _wish(id: ConversationId, request: Request, here: Here, known: Known, key: Key = "") -> Wish:
    return Wish(here=here, request=request, id=id, caller=known, key=key)


Wished = Annotated[Wish, Depends(_wish)]


@router.post(
    "/agents/{agentId}/start",
    status_code=201,
    response_model=Started,
    responses=refusals(401, 403, 404, 408, 409, 413, 415, 422, 500, 503),
    openapi_extra=bodies.documented(required=False),
)
async def start(
    agent: Annotated[str, Id("agentId")],
    *,
    request: Request,
    here: Here,
    known: Known,
    environment: Annotated[str, Query(pattern="^[A-Za-z]{1,32}$")] = "production",
    user: Annotated[str, Query(alias="userId", max_length=200)] = "",
    key: Key = "",
) -> Response:
    """Start a conversation; its opening turn may have a context."""
    if agent not in here.agents:
        raise Refusal(404, "unknown_agent", f"there is no agent `{agent}` here; see `/api/agents`")
    if user and here.settings.tokens is not None and user != known.user:
        raise Refusal(403, "other_user", "a conversation can be started for the user of the token only")
    context = await bodies.context(request)
    owner = known.user or user
    # Whoever asks again with the same key means the same conversation.
    new = sha256(f"{owner}\0{agent}\0{key}".encode()).hexdigest()[:32] if key else uuid4().hex
    await _add(
        here, Head(id=new, agent=agent, user=owner, environment=environment, created=time.time()), again=bool(key)
    )

    async def open_it(conversation: Conversation) -> Turn | None:
        return None if conversation.memory.history.steps else await conversation.start(context)

    asked = Asked(
        conversation=new,
        caller=known,
        work=open_it,
        shown=lambda head, _memory, _state: {"conversationId": head.id},
        key=key,
        mark=await bodies.mark(request) if key else "",
    )
    headers = {"Location": LOCATION + new}
    return json_response(await _answer(here, here.turns.begin(asked), headers), 201, headers)


@router.post(
    "/agents/{conversationId}",
    response_model=Snapshot,
    responses=refusals(401, 403, 404, 408, 409, 410, 413, 415, 422, 500, 503),
    openapi_extra=bodies.documented(Said, text=True),
)
async def say(wish: Wished, view: Wanted, fails: Fails = "") -> Response:
    """Say something, and get the turn that it becomes. A task that fails is told by the turn."""
    said = await bodies.said(wish.request)
    failing = fails_of(fails, wish.caller)
    return await _changed(wish, view, lambda one: one.say(said.input, said.context), failing)


@router.post(
    "/agents/{conversationId}/stream",
    status_code=200,
    response_class=Response,
    responses=refusals(401, 403, 404, 409, 410, 413, 415, 422, 500, 503)
    | {200: {"description": "What happens, as it happens.", "content": {"text/event-stream": {"schema": EVENT}}}},
    openapi_extra=bodies.documented(Said, text=True),
)
async def stream(wish: Wished, fails: Fails = "") -> Response:
    """Say something, and get what happens as it happens. Whoever stops listening cancels the turn."""
    said = await bodies.said(wish.request)
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[Event | None] = asyncio.Queue()
    asked = await wish.asked(
        lambda conversation: conversation.say(said.input, said.context),
        lambda _head, memory, state: done(state, memory),
        fails_of(fails, wish.caller),
        lambda event: loop.call_soon_threadsafe(heard.put_nowait, event),
    )
    change = wish.here.turns.begin(asked)
    change.task.add_done_callback(lambda _: heard.put_nowait(None))
    first = await heard.get()
    if first is None:
        await change.answer()  # what is refused before anything happened has its status
    return Events(change, heard, first)


@router.get("/agents/{conversationId}", response_model=Snapshot, responses=refusals(401, 403, 404, 422, 500))
async def read(id: ConversationId, here: Here, known: Known, view: Wanted) -> Response:
    """The conversation after its last finished turn."""
    head, memory, state = await here.turns.read(id, known)
    return json_response(await asyncio.to_thread(snapshot, head, memory, state, view))  # may read older steps


@router.get(
    "/agents/{conversationId}/log",
    response_model=list[Part],
    responses=refusals(401, 403, 404, 422, 500)
    | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "What was said, by whom."}},
)
async def read_log(
    id: ConversationId,
    here: Here,
    known: Known,
    kind: Annotated[Literal["json", "text"], Query(alias="outputType")] = "json",
    size: Annotated[int, Query(alias="logSize", ge=-1, le=2**31 - 1, description="Turns; -1 for all.")] = -1,
) -> Response:
    """What was said, by whom."""
    _, memory, _ = await here.turns.read(id, known)
    parts = await asyncio.to_thread(log, memory.history.steps, size)
    if kind == "json":
        return json_response(parts)
    lines = [f"{part['role']}: {content['value']}\n" for part in parts for content in part["content"]]
    return PlainTextResponse("".join(lines).encode(errors="replace"))


@router.get("/agents/{conversationId}/status", response_model=State, responses=refusals(401, 403, 404, 422, 500))
async def status(id: ConversationId, here: Here, known: Known) -> Response:
    """The state of the conversation."""
    _, _, state = await here.turns.read(id, known)
    return json_response(state)


_CHANGES = refusals(401, 403, 404, 408, 409, 410, 413, 422, 500, 503)


@router.post("/agents/{conversationId}/rerun", response_model=Snapshot, responses=_CHANGES)
async def rerun(
    wish: Wished, view: Wanted, language: Annotated[str, Query(max_length=35)] = "", fails: Fails = ""
) -> Response:
    """Take the last turn back, and say the same again."""

    async def again(conversation: Conversation) -> Turn:
        step = conversation.memory.history.last
        if step is not None and step.state == "ENDED" and not step.outcomes:  # it was no turn that ended it
            raise ClosedError("the conversation has ended")
        if step is None or not conversation.undo():
            raise Refusal(409, "nothing_to_rerun", "there is no turn that could be run again")
        context = {**step.context, **({"lang": language} if language else {})}
        if "CONVERSATION_START" in step.actions and not step.input:
            return await conversation.start(context, step.attachments)
        return await conversation.say(step.input, context, step.attachments)

    return await _changed(wish, view, again, fails_of(fails, wish.caller))


@router.post("/agents/{conversationId}/undo", response_model=Snapshot, responses=_CHANGES)
async def undo(wish: Wished, view: Wanted) -> Response:
    """Take the last turn back, with all that it changed."""

    async def work(conversation: Conversation) -> None:
        if not conversation.undo():
            raise Refusal(409, "nothing_to_undo", "there is no turn that could be taken back")

    return await _changed(wish, view, work)


@router.post("/agents/{conversationId}/redo", response_model=Snapshot, responses=_CHANGES)
async def redo(wish: Wished, view: Wanted) -> Response:
    """Bring back the turn that was taken back last."""

    async def work(conversation: Conversation) -> None:
        if not conversation.redo():
            raise Refusal(409, "nothing_to_redo", "there is no turn that could be brought back")

    return await _changed(wish, view, work)


@router.post("/agents/{conversationId}/endConversation", response_model=Snapshot, responses=_CHANGES)
async def end(wish: Wished, view: Wanted) -> Response:
    """End the conversation: nothing more can be said in it."""

    async def work(conversation: Conversation) -> None:
        if conversation.state == "ENDED":
            return
        # A step of its own: those before are kept as they were.
        step = Step(state="ENDED")
        step.set_actions(["CONVERSATION_END"])
        conversation.memory.begin_step(step)
        conversation.memory.end_step()

    return await _changed(wish, view, work)


@router.post("/agents/{conversationId}/cancel", response_model=Snapshot, responses=_CHANGES)
async def cancel(id: ConversationId, here: Here, known: Known, view: Wanted) -> Response:
    """Interrupt the turn that runs, in whichever worker; where none runs, nothing changes."""
    await here.turns.read(id, known)
    await here.store.cancel(id)
    with suppress(TimeoutError):
        async with asyncio.timeout(here.settings.patience), here.store.hold(id):
            pass  # the turn has ended, and those that waited for it before this request
    head, memory, state = await here.turns.read(id, known)
    return json_response(await asyncio.to_thread(snapshot, head, memory, state, view))


async def _changed(wish: Wish, view: View, work: Work, fails: Sequence[str] = ()) -> Response:
    """Make a change, and show the conversation as it left it."""
    asked = await wish.asked(work, lambda head, memory, state: snapshot(head, memory, state, view), fails)
    return json_response(await _answer(wish.here, wish.here.turns.begin(asked)))


async def _answer(here: Service, change: Change, headers: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    patience = here.settings.patience
    try:
        async with asyncio.timeout(patience):
            return await change.answer()
    except TimeoutError:
        message = f"the turn takes longer than {patience:g} seconds; it goes on, so read the conversation later"
        raise Refusal(408, "timeout", message, headers) from None


async def _add(here: Service, head: Head, *, again: bool) -> None:
    try:
        await here.store.add(head)
    except UsageError:
        if not again:
            raise
