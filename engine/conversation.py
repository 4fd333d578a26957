"""A conversation: turns, one after another, that always end with a reply or a reason."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextvars import ContextVar
from random import Random

from ..rules.agents import Policy
from ..rules.errors import ClosedError, UsageError
from ..rules.facts import CONTEXT_TYPES
from ..rules.paths import is_container
from ..rules.values import JSON, freeze
from .events import Event, Listener, OperatorListener, TurnDone
from .executor import Planned, TurnRun
from .memory import Memory
from .queueing import TurnQueue
from .steps import ContextEntry, Entry, State, Step
from .turns import Turn

_running: ContextVar[TurnRun | None] = ContextVar("turnout_running_turn", default=None)


class Conversation:
    """Made by `Agent.conversation`. May be used from several tasks and threads: its turns queue, in order."""

    def __init__(
        self,
        plan: Sequence[Planned],
        policy: Policy,
        memory: Memory,
        *,
        chance: Random,
        clock: Callable[[], float],
        listeners: Sequence[Listener],
        operators: Sequence[OperatorListener],
    ) -> None:
        self.memory = memory
        self._plan = plan
        self._policy = policy
        self._chance = chance
        self._clock = clock
        self._listeners = listeners
        self._operators = operators
        self._queue = TurnQueue()

    @property
    def state(self) -> State:
        """The state after the last turn; `IN_PROGRESS` while one runs, `READY` before the first."""
        if self.memory.step is not None:
            return "IN_PROGRESS"
        last = self.memory.history.last
        return last.state if last is not None else "READY"

    async def start(self, context: Mapping[str, object] | None = None, attachments: Sequence[str] = ()) -> Turn:
        """Run the opening turn: action `CONVERSATION_START`, no input. See `say`."""
        return await self._turn(_opening(context, attachments))

    async def say(
        self,
        text: str,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[str] = (),
        *,
        expressions: str = "",
    ) -> Turn:
        """Say something and get the turn that it became.

        `context` maps keys to texts, to `{"type": …, "value": …}` with a type of `CONTEXT_TYPES`, or to other JSON
        values. `attachments` are the MIME types of what came with the text. `expressions` is what is meant, where that
        is known without a text; a parser leaves it as it is unless there is a text, too. A task's failure is told by
        the turn, never raised. Raises `UsageError` for a malformed context, `ClosedError` once the conversation has
        ended, and lets cancellation through.
        """
        return await self._turn(_said(text, context, attachments, expressions))

    async def stream(
        self,
        text: str | None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[str] = (),
    ) -> AsyncIterator[Event]:
        """Say something, or with None run the opening turn, and get what happens while it happens.

        The last event is `TurnDone`, which has the turn. Raises as `say`. Whoever stops listening before the end
        cancels the turn.
        """
        step = _opening(context, attachments) if text is None else _said(text, context, attachments, "")
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        def put(event: Event | None) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)  # a plain function may speak from its thread

        saying = asyncio.ensure_future(self._turn(step, put))
        saying.add_done_callback(lambda _: put(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await saying
        finally:
            if not saying.done():
                saying.cancel()
                await asyncio.wait([saying])

    def say_sync(self, text: str, context: Mapping[str, object] | None = None, attachments: Sequence[str] = ()) -> Turn:
        """Say something where no event loop runs. See `say`."""
        _no_loop("say")
        return asyncio.run(self.say(text, context, attachments))

    def start_sync(self, context: Mapping[str, object] | None = None) -> Turn:
        """Run the opening turn where no event loop runs. See `start`."""
        _no_loop("start")
        return asyncio.run(self.start(context))

    def undo(self) -> bool:
        """Take back the last turn with all that it changed; False where there is none that can be.

        Raises `UsageError` while a turn is running or waiting.
        """
        return self._between_turns(self.memory.undo)

    def redo(self) -> bool:
        """Bring back the turn that was undone last; False where there is none. Raises `UsageError` as `undo` does."""
        return self._between_turns(self.memory.redo)

    def _between_turns(self, work: Callable[[], bool]) -> bool:
        if not self._queue.enter_now():
            raise UsageError("a turn of this conversation is running", "wait for its end")
        try:
            return work()
        finally:
            self._queue.leave()

    async def _turn(self, step: Step, listener: Listener | None = None) -> Turn:
        outer = _running.get()
        inside = outer
        while inside is not None:
            if inside.memory is self.memory and inside.step is self.memory.step:
                raise UsageError(
                    "a task speaks to the conversation whose turn it is in", "use a conversation of its own"
                )
            inside = inside.outer
        async with self._queue:
            if self.state == "ENDED":
                raise ClosedError("the conversation has ended")
            memory = self.memory
            listeners = self._listeners if listener is None else (*self._listeners, listener)
            run = TurnRun(
                memory=memory,
                step=step,
                policy=self._policy,
                random=self._chance,
                clock=self._clock,
                listeners=listeners,
                operators=self._operators,
                outer=outer,
                handled=sys.exception(),
            )
            memory.begin_step(step)
            lang = step.context.get("lang")
            if lang is not None and lang.type == "string":
                memory.set_properties({"lang": (lang.value, "longTerm")})
            token = _running.set(run)
            try:
                await run.run(self._plan)
            finally:
                memory.end_step()
                try:  # noqa: SIM105 - `suppress` costs more than the rest of this
                    _running.reset(token)
                except ValueError:
                    pass  # a turn that its event loop left behind ends in another context
                run.handled = None
                turn = Turn(memory.history, run.questions)
                if listeners:
                    run.tell(TurnDone(turn))
            return turn


def _no_loop(method: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError(f"`{method}_sync` was called inside an event loop", f"use `await conversation.{method}(…)`")


def _opening(context: Mapping[str, object] | None, attachments: Sequence[str]) -> Step:
    return _first_step("", context, attachments, ["CONVERSATION_START"])


def _said(text: str, context: Mapping[str, object] | None, attachments: Sequence[str], expressions: str) -> Step:
    step = _first_step(text, context, attachments, ())
    if expressions:
        step.expressions = step.output["expressions"] = expressions
    return step


def _first_step(
    text: str, context: Mapping[str, object] | None, attachments: Sequence[str], actions: Sequence[str]
) -> Step:
    """The step of a turn before any task has run. Raises `UsageError`, with nothing changed, where it can't be made."""
    if not isinstance(text, str):
        raise UsageError("what is said must be a text", "pass a `str`")
    if attachments != () and not _are_texts(attachments):
        raise UsageError("attachments must be a list of MIME types", 'pass `["image/png"]`')
    step = Step(input=text, attachments=tuple(attachments))
    if text.strip():
        step.output["input"] = text
        step.data["input:initial"] = Entry(value=text)
    if actions:
        step.set_actions(actions)
    if context:
        if not isinstance(context, Mapping):
            raise UsageError("the context must be a map", "pass keys with their values")
        entries = {_key(key): _entry(key, value) for key, value in context.items()}
        step.context = entries
        step.output["context"] = {key: entry.value for key, entry in entries.items()}
        for key, entry in entries.items():
            step.data[f"context:{key}"] = Entry(value={"type": entry.type, "value": entry.value})
    return step


def _are_texts(given: object) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(each, str) for each in given)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise UsageError(f"a context key must be a text, not {type(key).__name__}", "use a `str`")
    return key


def _entry(key: str, value: object) -> ContextEntry:
    if isinstance(value, ContextEntry):
        return ContextEntry(value.type, freeze(value.value))
    try:
        plain = freeze(value)
        if is_container(plain):
            freeze([plain])  # it is stored within a map
    except ValueError as error:
        raise UsageError(f"context `{key}` cannot be stored: {error}", "use JSON values") from None
    if isinstance(plain, Mapping) and plain.keys() == {"type", "value"}:
        kind = plain["type"]
        if kind not in CONTEXT_TYPES:
            raise UsageError(f"context `{key}` has an unknown type", f"use one of {', '.join(CONTEXT_TYPES)}")
        return ContextEntry(str(kind), plain["value"])
    return ContextEntry(_kind(plain), plain)


def _kind(value: JSON) -> str:
    if isinstance(value, Mapping):
        return "object"
    return "array" if isinstance(value, list) else "string"
