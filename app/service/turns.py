"""Changes of conversations: one at a time on a held conversation, kept by one save, repeated by none."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from time import perf_counter
from typing import Any, cast

from ...engine.agents import Agent
from ...engine.conversation import Conversation
from ...engine.events import Event
from ...engine.memory import Memory
from ...engine.steps import State
from ...engine.stores import Head, Held, Store
from ...engine.turns import Turn
from ...rules.agents import AgentDefinition, Surroundings
from ...rules.errors import TurnoutError
from ...rules.values import JSON
from .access import Caller
from .faults import Refusal, draining, fault, unknown_conversation
from .metrics import Metrics

_log = logging.getLogger("turnout.service")

Work = Callable[[Conversation], Awaitable[object]]
"""What is done with a held conversation."""
Shown = Callable[[Head, Memory, State], Mapping[str, Any]]
"""What is answered when it is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A change that somebody asks for. `mark` tells requests apart that come under one idempotency `key`."""

    conversation: str
    caller: Caller
    work: Work
    shown: Shown
    key: str = ""
    mark: str = ""
    fails: tuple[str, ...] = ()
    listener: Callable[[Event], object] | None = None


class Change:
    """A change while it is made. `turning` says that its turn is running."""

    def __init__(self) -> None:
        self.task: asyncio.Task[Mapping[str, Any]]
        self.turning = False
        self.saving = False
        self._loop = asyncio.get_running_loop()

    def cancel(self) -> None:
        """Give up waiting, or interrupt the turn; what is being kept already is kept."""
        if not self.saving:
            self.task.cancel()

    def interrupt(self) -> None:
        """Interrupt the turn, if it is running; may be called in any thread."""
        self._loop.call_soon_threadsafe(lambda: self.cancel() if self.turning else None)

    async def answer(self) -> Mapping[str, Any]:
        """The answer; whoever stops waiting for it changes nothing."""
        await asyncio.wait([self.task])
        if self.task.cancelled():  # before its turn came
            raise draining()
        return self.task.result()


class Turns:
    """What changes conversations in this process."""

    def __init__(self, agents: Mapping[str, Agent], store: Store, metrics: Metrics) -> None:
        self._agents = agents
        self._store = store
        self._metrics = metrics
        self._changes: dict[Change, str] = {}
        self._closing = False

    def begin(self, asked: Asked) -> Change:
        """Begin a change, which goes on whether or not somebody waits for it."""
        if self._closing:
            raise draining()
        change = Change()
        self._changes[change] = asked.conversation
        change.task = asyncio.create_task(self._guarded(change, asked))
        change.task.add_done_callback(lambda task: self._ended(change, task))
        return change

    def running(self, conversation: str) -> Change | None:
        """The change whose turn is running in a conversation."""
        return next((one for one, of in self._changes.items() if of == conversation and one.turning), None)

    async def read(self, id: str, caller: Caller) -> tuple[Head, Memory, State]:
        """A conversation as its last turn left it; refuses with 404 where it is not the caller's."""
        head, memory = await self._store.read(id)
        self._agent(head, caller)
        state: State = "IN_PROGRESS" if self.running(id) else _state(memory)
        return head, memory, state

    async def close(self, grace: float) -> None:
        """Begin no more changes; what still runs after `grace` seconds is interrupted, and kept as such."""
        self._closing = True
        tasks = [change.task for change in self._changes]
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        for change in list(self._changes):
            change.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, change: Change, asked: Asked) -> Mapping[str, Any]:
        try:
            return await self._made(change, asked)
        except (TurnoutError, Refusal):
            raise
        except Exception as error:
            raise fault(error) from error

    async def _made(self, change: Change, asked: Asked) -> Mapping[str, Any]:
        async with self._store.hold(asked.conversation, change.interrupt) as held:
            agent = self._agent(held.head, asked.caller)
            if asked.key and (first := await held.answer(asked.key)) is not None:
                return _first(first, asked.mark)
            memory = held.memory
            memory.surroundings = surroundings(agent.definition, held.head)
            for task in asked.fails:
                agent = agent.failing(task)
            conversation = agent.conversation(
                memory=memory,
                chance=Random(),
                listeners=[] if asked.listener is None else [asked.listener],
            )
            began = perf_counter()
            turned = True
            change.turning = True
            try:
                turned = isinstance(await asked.work(conversation), Turn)
            except Exception:
                raise
            except BaseException:  # noqa: BLE001 - cancelled, or a task that would end everything: an interrupted turn
                while change.task.cancelling():
                    change.task.uncancel()
            finally:
                change.turning = False
            change.saving = True
            shown = await asyncio.to_thread(asked.shown, held.head, memory, _state(memory))  # may read older steps
            await self._save(held, asked, shown)
            if turned:
                self._tell(held.head, agent, memory, perf_counter() - began)
            return shown

    async def _save(self, held: Held, asked: Asked, shown: Mapping[str, Any]) -> None:
        if asked.key:
            await held.save(asked.key, {"mark": asked.mark, "answer": cast("JSON", shown)})
        else:
            await held.save()

    def _agent(self, head: Head, caller: Caller) -> Agent:
        """The agent of a conversation that is the caller's."""
        if head.user != caller.user and not caller.operator:
            raise unknown_conversation()
        agent = self._agents.get(head.agent)
        if agent is None:
            raise Refusal(404, "unknown_agent", f"the agent `{head.agent}` of this conversation is not served here")
        return agent

    def _tell(self, head: Head, agent: Agent, memory: Memory, seconds: float) -> None:
        """Count a turn, and log it: no texts, since they may hold anything."""
        step = memory.history.last
        if step is None:
            return
        self._metrics.count(head.agent, agent, step)
        fields = {
            "conversation": head.id,
            "agent": head.agent,
            "turn": len(memory.history.steps) - 1,
            "state": step.state,
            "durationMs": round(seconds * 1000, 3),
            "failed": [outcome.task for outcome in step.outcomes if outcome.status == "failed"],
        }
        _log.info("turn", extra={"fields": fields})

    def _ended(self, change: Change, task: "asyncio.Task[Mapping[str, Any]]") -> None:
        del self._changes[change]
        if not task.cancelled():
            task.exception()  # looked at, since nobody may be waiting any more


def surroundings(definition: AgentDefinition, head: Head) -> Surroundings:
    """What rules can ask about an agent in a conversation."""
    return replace(definition.surroundings, environment=head.environment)


def _state(memory: Memory) -> State:
    last = memory.history.last
    return last.state if last is not None else "READY"


def _first(first: JSON, mark: str) -> Mapping[str, Any]:
    if not isinstance(first, Mapping) or first.get("mark") != mark:
        raise Refusal(409, "key_used", "this idempotency key came with another request; use a new one")
    return cast("Mapping[str, Any]", first["answer"])
