"""From an agent's folder to an agent that runs, with the tasks that its steps name."""

import os
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from ..engine.agents import Agent
from ..engine.tasks import Task
from ..rules.conditions import task_name
from ..rules.errors import UsageError
from ..rules.folders import read_agent

ENTRY_POINTS = "turnout.tasks"
"""The group of entry points under which installed packages offer tasks, each named as its task."""


def open_agent(path: str | os.PathLike[str], tasks: Iterable[Task] = ()) -> Agent:
    """Open the agent in the folder `path`.

    `tasks` are those that its steps name and that are not built in; what is still missing is taken from
    installed packages. Raises `LoadError` with all that is wrong in the files, and `UsageError` for a missing
    task.
    """
    definition = read_agent(Path(path))
    brought = list(tasks)
    known = {task_name(task.id) for task in brought}
    wanted = {step.task for step in definition.steps if step.settings is None}
    return Agent(definition, [*brought, *_installed(wanted - known)])


def tasks_from_file(path: Path) -> list[Task]:
    """Run the Python file `path` and collect the tasks that its module holds by name.

    Raises `UsageError` where it cannot be read, does not run through, or holds no task, or two of one id.
    """
    name = path.as_posix()
    try:
        code = compile(path.read_bytes(), name, "exec", dont_inherit=True)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise UsageError(f"the tasks file `{name}` can't be read: {reason}", "name a Python file") from error
    except SyntaxError as error:
        said = error.msg.partition(" (")[0]
        raise UsageError(f"the tasks file `{name}` is no Python, line {error.lineno}: {said}") from error
    except ValueError as error:  # a NUL
        raise UsageError(f"the tasks file `{name}` is no Python: {error}") from error
    module = ModuleType(f"tasks of {name}")  # no name that an import could mean
    module.__file__ = name
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(code, module.__dict__)  # noqa: S102 - it is what the user asked for by naming the file
    except (Exception, SystemExit) as error:  # somebody else's code, whatever it raises
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        raise UsageError(f"the tasks file `{name}` stopped with {said}{_line_in(name, error)}") from error
    found = {id(value): value for value in vars(module).values() if _is_task(value)}
    if not found:
        hint = 'make one of a function with `@task("its-id")` from `turnout.engine.tasks`'
        raise UsageError(f"the tasks file `{name}` holds no task", hint)
    ids = [task_name(task.id) for task in found.values()]
    if double := next((each for each in ids if ids.count(each) > 1), None):
        raise UsageError(f"the tasks file `{name}` holds two tasks with the id `{double}`", "rename one of them")
    return list(found.values())


def _installed(wanted: set[str]) -> Iterator[Task]:
    """The wanted tasks that installed packages offer."""
    for point in entry_points(group=ENTRY_POINTS) if wanted else ():
        if task_name(point.name) in wanted:
            yield _loaded(point)


def _loaded(point: EntryPoint) -> Task:
    try:
        task: object = point.load()
    except Exception as error:  # somebody else's code, whatever it raises
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"the installed task `{point.name}` ({point.value}) can't be loaded: {said}") from error
    if not _is_task(task):
        hint = "let the entry point name an object with `id`, `type` and `execute`"
        raise UsageError(f"the installed `{point.name}` ({point.value}) is no task", hint)
    return task


def _is_task(value: object) -> TypeGuard[Task]:
    return (
        not isinstance(value, type)
        and isinstance(getattr(value, "id", None), str)
        and isinstance(getattr(value, "type", None), str)
        and callable(getattr(value, "execute", None))
    )


def _line_in(name: str, error: BaseException) -> str:
    """The line of the file that the error came out of."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == name:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f", line {line}" if line else ""
