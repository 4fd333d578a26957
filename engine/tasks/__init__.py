"""Tasks: what a step of a turn does, and the ways to bring one's own."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Protocol

from ...rules.errors import UsageError
from ..journal import Journal


class Task(Protocol):
    """What a step of a turn runs.

    `id` has no comma and no blank; `eddi://` in front of it says nothing. `type` groups tasks for those who show them.
    """

    @property
    def id(self) -> str:
        """What steps name it by."""
        ...

    @property
    def type(self) -> str:
        """What kind of task it is."""
        ...

    def execute(self, turn: Journal) -> Awaitable[object]:
        """Do the task's work. Whatever it raises is the task's failure, save cancellation and interrupts."""
        ...


class FunctionTask:
    """A task made of a function of one argument, the turn. A plain function runs in a thread of its own."""

    def __init__(self, id: str, function: Callable[[Journal], object], type: str = "task") -> None:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(f"task `{id}` is a generator, which nothing would run", "leave out `yield`")
        self.id = id
        self.type = type
        self._function = function

    async def execute(self, turn: Journal) -> None:
        """Run the function."""
        if inspect.iscoroutinefunction(self._function):
            await self._function(turn)
            return
        result = await in_thread(lambda: self._function(turn))
        if inspect.isawaitable(result):
            await result


def task(id: str, type: str = "task") -> Callable[[Callable[[Journal], object]], FunctionTask]:
    """Make a task of a function: `@task("weather")` over `def weather(turn): …`, plain or async.

    Raises `UsageError` for `@task` without an id.
    """
    if not isinstance(id, str):
        raise UsageError("`@task` needs the id of the task", 'write `@task("its-id")`')
    return lambda function: FunctionTask(id, function, type)


async def in_thread(work: Callable[[], object]) -> object:
    """The result of `work`, run in a thread of its own.

    A daemon thread, not one of a pool: a function that hangs until its time-out must not keep the process alive.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()
    context = copy_context()

    def settle(result: object, error: BaseException | None) -> None:
        if future.done():
            return
        if isinstance(error, StopIteration):  # which no future takes
            error = RuntimeError("the function raised StopIteration")
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def run() -> None:
        result: object = None
        error: BaseException | None = None
        try:
            result = context.run(work)
        except BaseException as raised:  # noqa: BLE001 - carried over to the turn, which tells failures from interrupts
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            return  # the loop is closed: nobody waits for this result any more

    threading.Thread(target=run, name="turnout-task", daemon=True).start()
    return await future
