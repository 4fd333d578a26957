"""Checks of what an agent does when one of its tasks fails."""

from collections.abc import Iterator, Sequence

from ..agents import AgentFile, RulesSettings
from ..conditions import SAME_TASK, OutcomeMatcher, task_name
from ..findings import Written, listed, shown
from ..places import Pointer
from ..rulesets import RuleSet
from ..spelling import nearest
from .found import Found, named
from .survey import FAILED, SPECIAL, FailureAsked, Survey, SurveyedRule, SurveyedSet


def failure_findings(survey: Survey, sources: Sequence[Written]) -> Iterator[Found]:
    """What an agent asks about failures in vain, and what it leaves unanswered."""
    yield from _questions(survey)
    yield from _outputs(survey)
    if survey.policy.enabled:
        yield from _unanswered(survey)
        yield from _circular(survey)
        yield from _dropped(survey)
    elif (place := _place_of_policy(survey, sources)) is not None:
        yield from _without_policy(survey, *place)


def _place_of_policy(survey: Survey, sources: Sequence[Written]) -> tuple[object, Pointer] | None:
    """Where the policy stands, or where the steps begin in a document that says it elsewhere."""
    for source in sources:
        if isinstance(source.model, AgentFile):
            return source.model, ("memoryPolicy", "strictWriteDiscipline")
    first = survey.steps[0].place if survey.steps else None
    return (first[0].model, first[1]) if first is not None else None


def _questions(survey: Survey) -> Iterator[Found]:
    for asking in survey.sets:
        for rule in asking.rules:
            for failure in rule.failures():
                if failure.task not in survey.task_ids:
                    yield _no_task(survey, failure.task, failure.kind, asking.rule_set, failure.at)
                elif failure.occurrence != "never" and (vain := _vain(survey, failure, asking.places)) is not None:
                    why, hint = vain
                    message = f"rule {named(rule.rule.name)}: task `{failure.task}` is never seen to fail here"
                    at = failure.at
                    yield Found(code="L001", message=message, why=why, hint=hint, model=asking.rule_set, at=at)
            yield from _successes(survey, asking, rule)


def _successes(survey: Survey, asking: SurveyedSet, rule: SurveyedRule) -> Iterator[Found]:
    for condition, at, _ in rule.asked:
        if isinstance(condition, OutcomeMatcher) and condition.configs.status == "succeeded":
            task = task_name(condition.configs.task_id)
            if task not in survey.task_ids:
                yield _no_task(survey, task, "outcome", asking.rule_set, (*at, "configs", "taskId"))


def _outputs(survey: Survey) -> Iterator[Found]:
    """The outputs and calls on failure actions that no turn can make use of."""
    for place, action, model, at in survey.waiting:
        if not action.startswith(FAILED):
            continue
        task = action.removeprefix(FAILED)
        if task not in survey.task_ids:
            yield _no_task(survey, task, "action", model, at)
        elif not survey.sees_failure(task, [place]):
            why, hint = _too_late(survey, task) if survey.policy.enabled else _DISABLED
            message = f"what waits for {shown(action)} never comes to its turn"
            yield Found(code="L001", message=message, why=why, hint=hint, model=model, at=at)


def _no_task(survey: Survey, task: str, kind: str, model: object, at: Pointer) -> Found:
    known = list(survey.task_ids)
    named_first = list(survey.fallible()) or known
    plain = task_name(task)
    same = SAME_TASK.get(plain, plain)
    meant = same if same in known else nearest(plain, known)
    tasks = f"(tasks: {', '.join(named_first)})"
    hint = f"did you mean `{meant}`? {tasks}" if meant else f"name one of the agent's tasks {tasks}"
    if kind == "action" and meant == plain != task:
        hint = f"write `{FAILED}{plain}`, without `eddi://`"
    return Found(code="L021", message=f"no task is called {shown(task)}", hint=hint, model=model, at=at)


_DISABLED = (
    "the failure policy is not enabled, so a failure adds no action",
    "set `enabled` and `continueOnFailure` to true in `strictWriteDiscipline`",
)


def _vain(survey: Survey, failure: FailureAsked, places: Sequence[int]) -> tuple[str, str] | None:
    """Why a question about a failure can never be answered with yes, and what helps; None if it can."""
    policy = survey.policy
    if failure.kind == "action" and not policy.enabled:
        return _DISABLED
    if failure.kind == "digest" and not (policy.enabled and policy.on_failure == "digest"):
        mode = f"`onFailure` is `{policy.on_failure}`" if policy.enabled else "the failure policy is not enabled"
        return f"there are no digests, for {mode}", "ask for the outcome instead"
    if failure.occurrence != "currentStep" or survey.sees_failure(failure.task, places):
        return None
    return _too_late(survey, failure.task)


def _too_late(survey: Survey, task: str) -> tuple[str, str]:
    if not survey.continues:
        return "the turn ends when a task fails", "say `lastStep`, or set `continueOnFailure` to true"
    if not survey.reroutes:
        why = f"no such step comes after task `{task}`, and `rerouteOnFailure` is off"
        return why, "move the step behind the task, or say `lastStep`"
    return "it is that very step which fails", "say `lastStep`"


def _unanswered(survey: Survey) -> Iterator[Found]:
    for task, places in survey.fallible().items():
        step = survey.steps[places[0]]
        if step.place is None or _is_answered(survey, task, places[0]):
            continue
        source, at = step.place
        silent = survey.continues and survey.policy.on_failure == "exclude_all"
        yield Found(
            code="L002",
            message=f"nothing answers when task `{task}` fails",
            why=f"no rule and no output waits for `{FAILED}{task}`"
            + (", and with `exclude_all` the reply is empty, without a reason" if silent else ""),
            hint=f"add a rule or an output for `{FAILED}{task}`",
            model=source.model,
            at=(*at, "type"),
        )


def _is_answered(survey: Survey, task: str, place: int) -> bool:
    """Whether something waits for the failure, or a task from outside may deal with it."""
    # A task from outside may read what failed: in this turn if it runs later, in the next one from the digest.
    for other in survey.brought:
        later = other > place if survey.continues else survey.policy.on_failure == "digest"
        if later and survey.steps[other].task != task:
            return True
    return _is_asked(survey, task)


def _is_asked(survey: Survey, task: str) -> bool:
    """Whether a rule, an output or a call waits for the failure; one that waits in vain is told as such."""
    if any(waits.action == f"{FAILED}{task}" for waits in survey.waiting):
        return True
    return any(
        failure.task == task and failure.helps is (failure.occurrence != "never") and rule.rule.actions
        for asking in survey.sets
        for rule in asking.rules
        for failure in rule.failures()
    )


def _without_policy(survey: Survey, model: object, at: Pointer) -> Iterator[Found]:
    if survey.policy.continue_on_failure:
        yield Found(
            code="L005",
            message="`continueOnFailure` has no effect",
            why="the failure policy is not enabled",
            hint="set `enabled` to true",
            model=model,
            at=(*at, "continueOnFailure"),
        )
    tasks = [task for task in survey.fallible() if not _is_asked(survey, task)]
    if tasks:
        yield Found(
            code="L002",
            message=f"nothing answers when task {listed(tasks, 'or')} fails",
            why="the failure policy is not enabled, so the turn ends there without a reply",
            hint="set `enabled` and `continueOnFailure` to true in `memoryPolicy.strictWriteDiscipline`",
            model=model,
            at=at,
        )


def _circular(survey: Survey) -> Iterator[Found]:
    """The fallbacks of which every action leads to nothing but the very task that failed."""
    for asking in survey.sets:
        for rule in asking.rules:
            wanted = [action for action in rule.rule.actions if action not in SPECIAL]
            for task in _answered(rule) & survey.task_ids.keys():
                if wanted and all(_needs(survey, action, task) for action in wanted):
                    yield Found(
                        code="L003",
                        message=f"rule {named(rule.rule.name)} answers the failure of task `{task}` with that task",
                        why=f"nothing else answers {listed(wanted)}",
                        hint=f"add an output for {listed(wanted[:1])}, or emit another action",
                        model=asking.rule_set,
                        at=(*rule.at, "actions"),
                    )


def _answered(rule: SurveyedRule) -> set[str]:
    """The tasks whose failure in this turn is what the rule asks for, among its own conditions."""
    depth = len(rule.at) + len(("conditions", 0, "configs", "taskId"))
    return {
        failure.task
        for failure in rule.failures()
        if failure.helps and failure.occurrence == "currentStep" and len(failure.at) == depth
    }


def _needs(survey: Survey, action: str, task: str) -> bool:
    """Whether only the one step of `task` can do something about `action`."""
    if action in survey.said or action in survey.matched or len(survey.task_ids[task]) > 1:
        return False
    callers = survey.called.get(action, set()) | survey.called.get("*", set())
    return {survey.steps[place].task for place in [*callers, *survey.brought]} == {task}


def _dropped(survey: Survey) -> Iterator[Found]:
    """The rules steps that replace the actions there are, a failure's among them that somebody waits for."""
    if not survey.continues:
        return
    for place, step in enumerate(survey.steps):
        if not isinstance(step.settings, RulesSettings) or step.place is None:
            continue
        rule_set = step.settings.rule_set
        own = step.settings.append_actions
        if (rule_set.append_actions if own is None else own) is not False:
            continue
        for task, failing in survey.fallible().items():
            if failing[0] < place and _is_waited_for(survey, f"{FAILED}{task}", place, rule_set):
                source, at = step.place
                yield Found(
                    code="L004",
                    message=f"`appendActions` is false, so these rules drop `{FAILED}{task}` when they fire",
                    hint="set it to true, or move the step before the task",
                    model=rule_set if own is None else source.model,
                    at=("appendActions",) if own is None else (*at, "config", "appendActions"),
                )
                break


def _is_waited_for(survey: Survey, action: str, place: int, rule_set: RuleSet) -> bool:
    """Whether something that comes after the rules step at `place` works on a failure's action."""
    if any(waits == action and step > place for step, waits, _, _ in survey.waiting):
        return True
    return any(
        failure.kind == "action"
        and f"{FAILED}{failure.task}" == action
        and (failure.occurrence != "currentStep" or (asking.rule_set is not rule_set and max(asking.places) > place))
        for asking in survey.sets
        for rule in asking.rules
        for failure in rule.failures()
    )
