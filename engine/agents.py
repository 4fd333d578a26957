"""An agent at run time: its definition joined with the tasks it needs."""

import inspect
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from ..rules.agents import AgentDefinition, ParserSettings, RulesSettings, StepDefinition, TemplatingSettings
from ..rules.authored import step_task
from ..rules.calls import HttpCallsFile
from ..rules.errors import UsageError
from ..rules.llm import LlmFile
from ..rules.outputs import OutputSet
from ..rules.places import Spot
from ..rules.properties import PropertySetter
from ..rules.spelling import nearest
from ..rules.step_types import BUILT_IN
from .conversation import Conversation
from .events import Listener, OperatorListener
from .executor import Planned
from .journal import Journal
from .matcher import Matcher
from .memory import Memory
from .tasks import FunctionTask, Task
from .tasks.httpcalls import HttpCallsTask
from .tasks.llm import LlmTask
from .tasks.output import OutputTask
from .tasks.parser import ParserTask
from .tasks.properties import PropertyTask
from .tasks.rules import RulesTask
from .tasks.templating import TemplatingTask


class InjectedError(Exception):
    """What a task raises that was made to fail: see `Agent.failing`."""

    error_type = "unknown"


class Agent:
    """An agent that can hold any number of conversations, in any threads.

    `tasks` are those that the definition's steps name and that are not built in; one with the id of a built-in task
    takes its place. Raises `UsageError` where a step has no task, or a task's id is malformed.
    """

    def __init__(self, definition: AgentDefinition, tasks: Iterable[Task] = ()) -> None:
        self.definition = definition
        brought: dict[str, Task] = {}
        for task in tasks:
            name = _valid_id(task)
            if brought.setdefault(name, task) is not task:
                raise UsageError(f"two tasks have the id `{name}`", "give each its own id")
        strict = definition.policy.enabled
        matchers: dict[int, Matcher] = {}
        self._plan: list[Planned] = []
        for place, step in enumerate(definition.steps):
            made = brought.get(step.task)
            if made is None:
                later = any(other.task == TemplatingTask.id for other in definition.steps[place + 1 :])
                made = _built_in(step, place, matchers, strict=strict, templates=later)
            if made is None:
                raise _missing(step, brought)
            self._plan.append(
                Planned(
                    task=made
                    if inspect.iscoroutinefunction(made.execute)
                    else FunctionTask(made.id, made.execute, made.type),
                    id=step.task,
                    reference=reference(step.task),
                    timeout=step.timeout_ms / 1000 if step.timeout_ms else None,
                )
            )
        self.matchers = tuple(matchers.values())
        """Those that decide the rule sets of the steps."""

    @property
    def tasks(self) -> list[str]:
        """The plain ids of the tasks of a turn, in order."""
        return [planned.id for planned in self._plan]

    @property
    def types(self) -> dict[str, str]:
        """The types of the tasks, by their plain ids."""
        return {planned.id: planned.task.type for planned in self._plan}

    def failing(self, task: str, message: str = "made to fail") -> "Agent":
        """This agent with every step of the id raising `message` instead of running.

        Takes the id with or without `eddi://`. Raises `UsageError` where no step has it.
        """
        name = step_task(task)
        if name not in self.tasks:
            near = nearest(name, self.tasks)
            known = ", ".join(dict.fromkeys(self.tasks))
            raise UsageError(
                f"no step of this agent is task `{name}`",
                f"did you mean `{near}`?" if near else f"use one of {known}",
            )

        async def fail(_turn: Journal) -> None:
            raise InjectedError(message)

        return self.running({name: fail})

    def running(self, functions: Mapping[str, Callable[[Journal], object]]) -> "Agent":
        """This agent with every step of these plain ids running a function instead of its task."""
        agent = copy(self)
        agent._plan = [  # noqa: SLF001 - of its own class
            replace(planned, task=FunctionTask(planned.id, functions[planned.id], planned.task.type))
            if planned.id in functions
            else planned
            for planned in self._plan
        ]
        return agent

    def conversation(
        self,
        *,
        chance: random.Random | None = None,
        clock: Callable[[], float] = time.perf_counter,
        listeners: Sequence[Listener] = (),
        operators: Sequence[OperatorListener] = (),
        memory: Memory | None = None,
    ) -> Conversation:
        """A new conversation, or one that goes on with the `memory` of another; nothing runs before something is said.

        `chance` draws among alternatives. `listeners` are told what happens in public terms, `operators` the reasons of
        failures; both are called in the turn and should be quick.
        """
        told: list[Callable[..., object]] = [*listeners, *operators]
        for each in told:
            if inspect.iscoroutinefunction(each):
                raise UsageError("a listener is `async`, and nobody would wait for it", "use a plain function")
        definition = self.definition
        if memory is not None:
            for matcher in self.matchers:
                memory.history.adopt(matcher.index)
        return Conversation(
            self._plan,
            definition.policy,
            memory or Memory(definition.surroundings),
            chance=chance or random.Random(),
            clock=clock,
            listeners=listeners,
            operators=operators,
        )


def reference(task: str) -> str:
    """The id as shown: the reference's own tasks with `eddi://`, others by their plain name."""
    return f"eddi://{task}" if task.startswith("ai.labs.") else task


def _built_in(
    step: StepDefinition, place: int, matchers: dict[int, Matcher], *, strict: bool, templates: bool
) -> Task | None:
    match step.settings:
        case RulesSettings() as settings:
            # A rule set that two steps use is one to re-routing.
            key = id(settings.rule_set)
            matcher = matchers[key] = matchers.get(key) or Matcher(settings.rule_set)
            return RulesTask(settings, matcher)
        case OutputSet() as settings:
            return OutputTask(settings, place, templates=templates)
        case ParserSettings() as settings:
            return ParserTask(settings)
        case HttpCallsFile() as settings:
            return HttpCallsTask(settings, strict=strict)
        case LlmFile() as settings:
            return LlmTask(settings)
        case PropertySetter() as settings:
            return PropertyTask(settings)
        case TemplatingSettings():
            return TemplatingTask()
    return None


def _valid_id(task: Task) -> str:
    if not all(hasattr(task, name) for name in ("id", "type", "execute")):
        raise UsageError(
            f"{type(task).__name__} `{getattr(task, '__name__', '')}` is no task".replace(" ``", ""),
            'make one of a function with `@task("its-id")`, or give an object with `id`, `type` and `execute`',
        )
    name = step_task(task.id)
    if not name or "," in name or any(character.isspace() for character in name):
        raise UsageError(f"`{task.id}` cannot be the id of a task", "use a name without commas and blanks")
    return name


def _missing(step: StepDefinition, brought: Iterable[str]) -> UsageError:
    name, place = step.task, "a step"
    near = nearest(name, [*brought, *BUILT_IN])
    if step.place is not None:
        written, pointer = step.place
        ((line, column),) = written.locate([Spot((*pointer, "type"))])
        place = f"the step at {written.file}:{line}:{column}"
    bring = "bring a task with that id: `--tasks FILE.py` on the command line, `tasks=[…]` from Python"
    return UsageError(
        f"{place} runs task `{name}`, which is not built in and was not brought",
        f"did you mean `{near}`?" if near else bring,
    )
