"""The executor: runs the tasks of a turn, one after another, and records how each ended.

Cancellation and interrupts are no failures: the running task is rolled back, and they go on to whoever sent them.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TypeVar

from ..rules.agents import Policy
from ..rules.rulesets import RuleSet
from . import recovery
from .events import Event, Listener, OperatorListener, OperatorNote, TaskCompleted, TaskStarted, Token
from .facts import Facts
from .journal import Journal, added, answered, commit, is_skipped, roll_back
from .matcher import Matcher
from .memory import Memory
from .steps import Outcome, Status, Step
from .tasks import Task
from .tasks.output import OutputTask
from .tasks.templating import TemplatingTask, withhold

_log = logging.getLogger(__name__)
Heard = TypeVar("Heard", Event, OperatorNote)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A step of each turn. `reference` is the task's id as shown, `timeout` its limit in seconds."""

    task: Task
    id: str
    reference: str
    timeout: float | None = None


@dataclass(slots=True)
class Rendered:
    """An output step that ran in this turn, and the actions it has rendered."""

    task: OutputTask
    id: str
    actions: Sequence[str]


@dataclass(slots=True)
class TurnRun:
    """One turn while it runs.

    `asked` maps each matcher that a rules step of this turn has asked to the rules that fired; `questions` records
    what was asked with which facts, for explanations.
    """

    memory: Memory
    step: Step
    policy: Policy
    random: Random
    clock: Callable[[], float]
    listeners: Sequence[Listener]
    operators: Sequence[OperatorListener]
    outer: "TurnRun | None" = None
    """The turn of another conversation in which a task speaks to this one."""
    handled: BaseException | None = None
    """What the caller was handling already when the turn began."""
    asked: dict[Matcher, set[int]] = field(default_factory=dict)
    questions: list[tuple[RuleSet, Facts]] = field(default_factory=list)
    rendered: list[Rendered] = field(default_factory=list)
    output_failed: bool = False
    templating: TemplatingTask | None = None
    """The templating step that ran in this turn: it comes again for what is rendered once more."""

    async def run(self, plan: Sequence[Planned]) -> None:
        """Run the tasks; the step says how the turn ended. Only cancellation and interrupts are raised."""
        step, runner = self.step, asyncio.current_task()
        try:
            for index, planned in enumerate(plan):
                await self._run_task(planned, index, runner)
                if step.state != "IN_PROGRESS":
                    break
        except BaseException:
            step.state = "EXECUTION_INTERRUPTED"
            raise
        finally:
            withhold(step)
        if "CONVERSATION_END" in step.actions:
            step.state = "ENDED"
        elif step.state == "IN_PROGRESS":
            step.state = "READY"

    async def _run_task(self, planned: Planned, index: int, runner: "asyncio.Task[object] | None") -> None:
        step = self.step
        tell = partial(self._told, planned.reference) if self.listeners else None
        journal = Journal(self.memory, step, planned.id, self.random, tell)
        if self.listeners:
            self.tell(TaskStarted(planned.reference, planned.task.type, index))
        actions = step.actions
        cancelled = runner.cancelling() if runner is not None else 0
        failure: Exception | None = None
        began = self.clock()
        try:
            if planned.timeout is None:
                await planned.task.execute(journal)
            else:
                await _within(planned.timeout, planned.task, journal)
        except Exception as error:  # noqa: BLE001 - the boundary of a task: whatever it raises is its failure
            failure = error
        except BaseException:
            roll_back(journal)
            raise
        if runner is not None and runner.cancelling() > cancelled:
            # A task may catch a cancellation, and even make another error of it: the turn is cancelled all the same.
            roll_back(journal)
            raise asyncio.CancelledError
        duration = (self.clock() - began) * 1000
        # Outside of the `except`, so that the task's error is not the context of what may be raised from here on.
        if failure is None:
            self._succeeded(planned, journal, duration)
            recovery.pause(step, actions)
        else:
            try:
                recovery.recover(self, planned, journal, failure, duration)
            finally:
                failure = None  # its traceback holds this frame: a circle that only the collector would find
        if "STOP_CONVERSATION" in step.actions and step.state != "ERROR":
            step.state = "ENDED"

    def _succeeded(self, planned: Planned, journal: Journal, duration: float) -> None:
        step = self.step
        brought = added(journal)
        commit(journal)
        status: Status = "skipped" if is_skipped(journal) else "succeeded"
        outcome = Outcome(task=planned.id, status=status, duration_ms=duration, added=brought)
        step.outcomes = (*step.outcomes, outcome)
        asked = answered(journal)
        if asked is not None:
            matcher, answer, facts = asked
            self.asked.setdefault(matcher, set()).update(answer.fired)
            self.questions.append((matcher.rule_set, facts))
        if isinstance(planned.task, OutputTask):
            self.rendered.append(Rendered(planned.task, planned.id, step.actions))
        elif isinstance(planned.task, TemplatingTask):
            self.templating = planned.task
        if self.listeners:
            self.tell(TaskCompleted(planned.reference, planned.task.type, duration, tuple(step.actions)))

    def _told(self, reference: str, piece: str) -> None:
        self.tell(Token(reference, piece))

    def tell(self, event: Event) -> None:
        """Tell the listeners; what they raise is theirs and changes nothing here."""
        _tell(self.listeners, event)

    def tell_operator(self, note: OperatorNote) -> None:
        """Tell the operator, and the log: loudly where nothing in the turn can answer the failure."""
        level = logging.INFO if self.policy.continue_on_failure and self.policy.enabled else logging.WARNING
        if _log.isEnabledFor(level):
            _log.log(level, "task %s: %s", note.task, note.text)
        _tell(self.operators, note)


def _tell(listeners: Iterable[Callable[[Heard], object]], heard: Heard) -> None:
    for listener in listeners:
        try:
            listener(heard)
        except Exception as error:  # noqa: BLE001 - the boundary of a listener, which must not change a turn
            # Its words may hold anything, and its class says where to look.
            _log.warning("a listener raised %s at %s", type(error).__name__, type(heard).__name__)


async def _within(seconds: float, task: Task, journal: Journal) -> None:
    try:
        async with asyncio.timeout(seconds) as limit:
            await task.execute(journal)
    except TimeoutError:
        if not limit.expired():
            raise
        raise TimeoutError(f"no answer within {seconds * 1000:g} ms") from None
