"""From an agent's files to an agent that runs, with the tasks that its steps name."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from ..engine.agents import Agent
from ..engine.tasks import Task
from ..grammar.program import READERS, agent_of_program, read_program
from ..rules.agents import AgentDefinition, Surroundings
from ..rules.authored import step_task
from ..rules.bundles import begins_as_zip, is_folder
from ..rules.errors import UsageError
from ..rules.folders import read_agent
from ..rules.spelling import nearest
from ..rules.zips import is_zip
from .files import read_file
from .task_files import is_task, words

ENTRY_POINTS = "turnout.tasks"
"""The group of entry points under which installed packages offer tasks, each named as its task."""


def open_agent(
    path: str | os.PathLike[str], tasks: Iterable[Task] = (), surroundings: Surroundings | None = None
) -> Agent:
    """Open the agent in the folder or the zip, or the one `.turnout` file, at `path`.

    `tasks` are those that its steps name and that are not built in; what is still missing is taken from
    installed packages. `surroundings` is what `deploymentContext` and `capabilityMatch` look into. Raises `LoadError`
    with all that is wrong in the files, and `UsageError` for a missing task.
    """
    if not isinstance(tasks, Iterable):
        raise UsageError("`tasks` is not a list of tasks", "write `tasks=[…]`, for a single one, too")
    definition = definition_at(Path(path))
    if surroundings is not None:
        definition = replace(definition, surroundings=surroundings)
    brought = list(tasks)
    known = {step_task(task.id) for task in brought}
    wanted = {step.task for step in definition.steps if step.settings is None}
    return Agent(definition, [*brought, *_installed(wanted - known)])


def definition_at(place: Path) -> AgentDefinition:
    """What the files of an agent say. Raises `LoadError`, and `UsageError` for what is no agent."""
    if place.suffix not in ("", ".turnout") and not (is_folder(place) or is_zip(place)):
        meant = nearest(place.suffix, [".turnout", ".zip"])
        hint = f"did you mean `{place.with_suffix(meant).name}`?" if meant else "name one of these"
        if begins_as_zip(place):
            raise UsageError(f"`{place.as_posix()}` is a zip without the name of one", "let its name end in `.zip`")
        raise UsageError(f"`{place.as_posix()}` is no folder, no zip and no `.turnout` file", hint)
    if place.suffix == ".turnout":
        return agent_of_program(read_program(read_file(place), place.as_posix()), place)
    return read_agent(place, READERS)


def has_steps(place: Path) -> bool:
    """Whether the files of an agent say which steps a turn has; a text may leave that out."""
    return place.suffix != ".turnout" or read_program(read_file(place), place.as_posix()).has("steps")


def _installed(wanted: set[str]) -> Iterator[Task]:
    """The wanted tasks that installed packages offer."""
    for point in entry_points(group=ENTRY_POINTS) if wanted else ():
        if step_task(point.name) in wanted:
            yield _loaded(point)


def _loaded(point: EntryPoint) -> Task:
    try:
        task: object = point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # somebody else's code, whatever it raises
        said = words(error)
        raise UsageError(f"the installed task `{point.name}` ({point.value}) cannot be loaded: {said}") from error
    if not is_task(task):
        hint = "let the entry point name an object with `id`, `type` and `execute`"
        raise UsageError(f"the installed `{point.name}` ({point.value}) is no task", hint)
    return task
