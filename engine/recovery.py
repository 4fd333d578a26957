"""What a task's failure does to the turn: the modes of the memory policy, and the record of the failure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import rerouting
from .events import OperatorNote, TaskFailed
from .failure import Failure, describe, where
from .journal import Journal, commit, has_unsaid, roll_back
from .steps import Digest, Entry, Outcome, Step
from .tasks.output import OutputTask

if TYPE_CHECKING:
    from .executor import Planned, TurnRun


def recover(run: "TurnRun", planned: "Planned", journal: Journal, error: Exception, duration: float) -> None:
    """Undo what the failed task wrote, as the policy says, record the failure, and re-route or end the turn."""
    policy, step = run.policy, run.step
    keeps = not policy.enabled or policy.on_failure == "keep_all"
    if keeps:
        commit(journal)
    else:
        roll_back(journal)
    reroutes = policy.enabled and policy.continue_on_failure and policy.reroute_on_failure
    before = rerouting.answers(run) if reroutes else {}
    failure = describe(error, planned.reference, run.handled)
    _record(run, planned, failure, where(error), duration, withdraw=has_unsaid(journal, kept=keeps))
    if not (policy.enabled and policy.continue_on_failure):
        step.state = "ERROR"
        return
    if isinstance(planned.task, OutputTask):
        run.output_failed = True
    if reroutes:
        actions = step.actions
        rerouting.reroute(run, before)
        pause(step, actions)


def _record(
    run: "TurnRun", planned: "Planned", failure: Failure, place: str, duration: float, *, withdraw: bool
) -> None:
    policy, step = run.policy, run.step
    outcome = Outcome(
        task=planned.id,
        status="failed",
        error_type=failure.error_type,
        reason=failure.operator,
        where=place,
        duration_ms=duration,
    )
    step.outcomes = (*step.outcomes, outcome)
    silent = policy.enabled and policy.on_failure == "exclude_all"
    if not silent:
        entry = {
            "type": "errorDigest",
            "taskId": planned.id,
            "taskType": planned.task.type,
            "text": failure.public,
        }
        told = step.output.get("taskErrors")
        step.output["taskErrors"] = [*told, entry] if isinstance(told, list) else [entry]
    if policy.enabled:
        if policy.on_failure == "digest":
            step.digests = (*step.digests, Digest(planned.id, failure.public))
            step.data[f"taskError:{planned.reference}"] = Entry(value=failure.public)
        action = f"task_failed_{planned.id}"
        if action not in step.actions:
            step.set_actions([*step.actions, action])
    run.tell_operator(OperatorNote(planned.reference, failure.operator))
    if run.listeners:
        reason = None if silent else failure.reason
        run.tell(TaskFailed(planned.reference, planned.task.type, duration, failure.error_type, reason, withdraw))


def pause(step: Step, before: Sequence[str]) -> None:
    """End the turn for a human where `PAUSE_CONVERSATION` was added since `before`."""
    if step.actions is not before and "PAUSE_CONVERSATION" in step.actions and "PAUSE_CONVERSATION" not in before:
        step.state = "AWAITING_HUMAN"
