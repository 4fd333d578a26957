"""Checks of what an agent does when one of its tasks fails."""

from collections.abc import Iterator, Sequence

from ..agents import AgentFile, RulesSettings
from ..authored import SAME_TASK, task_name
from ..conditions import OutcomeMatcher
from ..findings import Written, listed, shown
from ..places import Pointer
from ..rulesets import RuleSet
from ..spelling import nearest
from ..step_types import SHORT_TASKS
from .found import Found, Telling, Words, named
from .survey import FAILED, SPECIAL, FailureAsked, Survey, SurveyedRule, SurveyedSet

OUTPUT = "ai.labs.output"


def failure_findings(survey: Survey, sources: Sequence[Written]) -> Iterator[Found]:
    """What an agent asks about failures in vain, and what it leaves unanswered."""
    yield from _questions(survey)
    yield from _outputs(survey)
    if survey.policy.enabled:
        if not survey.unused:  # whatever is missing may stand there
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
    for surveyed in survey.sets:
        for rule in surveyed.rules:
            for failure in rule.failures():
                if failure.task not in survey.task_ids:
                    yield _no_task(survey, failure.task, failure.kind, surveyed.rule_set, failure.at)
                elif failure.occurrence != "never" and (vain := _vain(survey, failure, surveyed.places)) is not None:
                    why, hint = vain
                    message = f"rule {named(rule.rule.name)}: task `{failure.task}` is never seen to fail here"
                    at = failure.at
                    yield Found(code="L001", message=message, why=why, hint=hint, model=surveyed.rule_set, at=at)
            yield from _successes(survey, surveyed, rule)


def _successes(survey: Survey, surveyed: SurveyedSet, rule: SurveyedRule) -> Iterator[Found]:
    for condition, at, _ in rule.asked:
        if isinstance(condition, OutcomeMatcher) and condition.configs.status == "succeeded":
            task = task_name(condition.configs.task_id)
            if task not in survey.task_ids:
                yield _no_task(survey, task, "outcome", surveyed.rule_set, (*at, "configs", "taskId"))


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
    same = SHORT_TASKS.get(plain) or SAME_TASK.get(plain, plain)
    meant = same if same in known else nearest(plain, known)
    tasks = f"(tasks: {', '.join(named_first)})"
    hint = f"did you mean `{meant}`? {tasks}" if meant else f"name one of the agent's tasks {tasks}"
    if kind == "action" and meant == plain != task:
        hint = f"write `{FAILED}{plain}`, without `eddi://`"
    return Found(code="L021", message=f"no task is called {shown(task)}", hint=hint, model=model, at=at)


def _switch_on(told: Telling) -> str:
    return told.key(
        "set `enabled` and `continueOnFailure` to true in `memoryPolicy.strictWriteDiscipline`",
        "write `policy` with `continue after failure`",
    )


_DISABLED: tuple[Words, Words] = ("the failure policy is not enabled, so a failure adds no action", _switch_on)


def _vain(survey: Survey, failure: FailureAsked, places: Sequence[int]) -> tuple[Words, Words] | None:
    """Why a question about a failure can never be answered with yes, and what helps; None if it can."""
    policy = survey.policy
    if failure.kind == "action" and not policy.enabled:
        return _DISABLED
    if failure.kind == "digest" and not (policy.enabled and policy.on_failure == "digest"):
        hint = "ask for the outcome instead"
        if not policy.enabled:
            return "there are no digests, for the failure policy is not enabled", hint
        mode = policy.on_failure
        return lambda told: f"there are no digests, for {told.key('`onFailure`', '`on failure`')} is `{mode}`", hint
    if failure.occurrence != "currentStep" or failure.row or survey.sees_failure(failure.task, places):
        return None
    return _too_late(survey, failure.task)


def _too_late(survey: Survey, task: str) -> tuple[Words, Words]:
    def later(told: Telling) -> str:
        return f"say {told.key('`lastStep`', '`previous turn`')}"

    if not survey.continues:
        switch = ("`continueOnFailure` to true", "`continue after failure`")
        return "the turn ends when a task fails", lambda told: f"{later(told)}, or set {told.key(*switch)}"
    if not survey.reroutes:
        why = f"no such step comes after task `{task}`"
        return (
            lambda told: f"{why}, and {told.key('`rerouteOnFailure`', '`reroute`')} is off",
            lambda told: f"move the step behind the task, or {later(told)}",
        )
    return "it is that very step which fails", later


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
        for surveyed in survey.sets
        for rule in surveyed.rules
        for failure in rule.failures()
    )


def _without_policy(survey: Survey, model: object, at: Pointer) -> Iterator[Found]:
    if survey.policy.continue_on_failure:
        yield Found(
            code="L005",
            message=lambda told: f"{told.key('`continueOnFailure`', '`continue after failure`')} has no effect",
            why="the failure policy is not enabled",
            hint=lambda told: told.key("set `enabled` to true", "take `disabled` out"),
            model=model,
            at=(*at, "continueOnFailure"),
        )
    tasks = [task for task in survey.fallible() if not _is_asked(survey, task)]
    if tasks and not survey.unused:
        yield Found(
            code="L002",
            message=f"nothing answers when task {listed(tasks, 'or')} fails",
            why="the failure policy is not enabled, so the turn ends there without a reply",
            hint=_switch_on,
            model=model,
            at=at,
        )


def _circular(survey: Survey) -> Iterator[Found]:
    """The fallbacks of which every action leads to nothing but the very task that failed."""
    for surveyed in survey.sets:
        for rule in surveyed.rules:
            wanted = [action for action in rule.rule.actions if action not in SPECIAL]
            for task in _answered(rule) & survey.task_ids.keys():
                if wanted and all(_needs(survey, action, task) for action in wanted):
                    yield Found(
                        code="L003",
                        message=f"rule {named(rule.rule.name)} answers the failure of task `{task}` with that task",
                        why=f"nothing else answers {listed(wanted)}",
                        hint="leave it to `taskErrors`: what failed can say nothing"
                        if task == OUTPUT
                        else f"add an output for {listed(wanted[:1])}, or emit another action",
                        model=surveyed.rule_set,
                        at=(*rule.at, "actions"),
                    )


def _answered(rule: SurveyedRule) -> set[str]:
    """The tasks whose failure in this turn is what the rule asks for, among its own conditions."""
    depth = len(rule.at) + len(("conditions", 0, "configs", "taskId"))
    return {
        failure.task
        for failure in rule.failures()
        if failure.helps and failure.occurrence == "currentStep" and not failure.row and len(failure.at) == depth
    }


def _needs(survey: Survey, action: str, task: str) -> bool:
    """Whether only the one step of `task` can do something about `action`."""
    if action in survey.matched or len(survey.task_ids[task]) > 1:
        return False
    callers = survey.called.get(action, set()) | survey.called.get("*", set())
    doers = {survey.steps[place].task for place in [*callers, *survey.brought]}
    if action in survey.said:
        doers.add(OUTPUT)
    return doers == {task}


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
                yield _drops(
                    f"{FAILED}{task}",
                    rule_set if own is None else source.model,
                    ("appendActions",) if own is None else (*at, "config", "appendActions"),
                )
                break


def _drops(action: str, model: object, at: Pointer) -> Found:
    return Found(
        code="L004",
        message=lambda told: (
            f"{told.key('`appendActions` is false', '`append_actions` is off')}, "
            f"so these rules drop `{action}` when they fire"
        ),
        hint=lambda told: f"{told.key('set it to true', 'take it out')}, or move the step before the task",
        model=model,
        at=at,
    )


def _is_waited_for(survey: Survey, action: str, place: int, rule_set: RuleSet) -> bool:
    """Whether something that comes after the rules step at `place` works on a failure's action."""
    if any(waits == action and step > place for step, waits, _, _ in survey.waiting):
        return True
    return any(
        failure.kind == "action"
        and f"{FAILED}{failure.task}" == action
        and (failure.occurrence != "currentStep" or (each.rule_set is not rule_set and max(each.places) > place))
        for each in survey.sets
        for rule in each.rules
        for failure in rule.failures()
    )
