"""What `run` and `chat` are told: the agent, what fails in it, what it knows in every turn, and its chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ..engine.agents import Agent
from ..rules.authored import step_task
from ..rules.errors import LoadError, UsageError
from ..rules.outputs import OutputSet
from ..rules.parsing import parse_json
from .agents import open_agent
from .printing import print_problems
from .task_files import tasks_from_files

_LONGEST_NAME = 16
"""Of an agent, to stand before what it says: an id of 24 digits says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """An agent to talk with. `faults` maps the plain ids of the tasks that are to fail to what they raise."""

    agent: Agent
    faults: Mapping[str, str]
    context: Mapping[str, object]
    chance: Random

    @property
    def name(self) -> str:
        """What stands before what the agent says."""
        name = self.agent.definition.name
        return name if 0 < len(name) <= _LONGEST_NAME else "agent"

    @property
    def spoken(self) -> set[str]:
        """The actions that the agent has outputs for."""
        settings = (step.settings for step in self.agent.definition.steps)
        return {output.action for one in settings if isinstance(one, OutputSet) for output in one.output_set}


def prepared(
    agent: Path, *, context: Sequence[str], seed: int | None, fails: Sequence[str], tasks: Sequence[Path]
) -> Talk:
    """Open the agent in a folder and print its warnings. Raises `LoadError` and `UsageError`.

    `context` holds `KEY=VALUE`, `fails` `TASK` or `TASK=MESSAGE`.
    """
    told = dict(_context(pair) for pair in context)
    opened = open_agent(agent, tasks_from_files(tasks))
    faults = dict(fault(given) for given in fails)
    failing(opened, faults)
    print_problems(note for note in opened.definition.notes if note.severity == "warning")
    return Talk(agent=opened, faults=faults, context=told, chance=Random(seed))


def fault(given: str) -> tuple[str, str]:
    """The plain id and the message of `TASK` or `TASK=MESSAGE`."""
    task, _, message = given.partition("=")
    return step_task(task), message or "made to fail"


def failing(agent: Agent, faults: Mapping[str, str]) -> Agent:
    """The agent with these tasks failing. Raises `UsageError` where it has no such task."""
    for task, message in faults.items():
        agent = agent.failing(task, message)
    return agent


def _context(pair: str) -> tuple[str, object]:
    """Key and value of `KEY=VALUE`. Objects, lists, `true` and `false` are JSON, all else is a text."""
    key, found, text = pair.partition("=")
    if not found or not key:
        raise UsageError(f"`{pair}` is no context", "write `KEY=VALUE`")
    if text[:1] not in ("{", "[") and text not in ("true", "false"):
        return key, text
    try:
        return key, parse_json(text)
    except LoadError as error:
        problem = error.problems[0]
        message = f"context `{key}` begins as JSON and is none: {problem.message}"
        raise UsageError(message, problem.hint) from error
