"""Checks of the actions that pass between rules, calls and outputs."""

from collections.abc import Iterator
from itertools import pairwise

from ..authored import action_run
from ..conditions import (
    ActionConfigs,
    ActionMatcher,
    Dependency,
    DigestMatcher,
    DynamicValueMatcher,
    OccurrenceCondition,
    OutcomeMatcher,
    SizeMatcher,
)
from ..findings import shown
from ..outputs import OutputSet
from ..places import Pointer
from ..spelling import nearest
from .found import Found, named
from .survey import FAILED, SPECIAL, Survey, SurveyedRule, SurveyedSet

PASSED_OVER = ("L030", "L031", "L032", "L033")
"""The findings that are not looked for where tasks from outside may emit and answer any action."""


def action_findings(survey: Survey) -> Iterator[Found]:
    """Actions that come from nowhere or go nowhere."""
    for outputs in {id(each): each for each in survey.outputs.values()}.values():
        yield from time_findings(outputs)
    for surveyed in survey.sets:
        for rule in surveyed.rules:
            yield from _counted(survey, surveyed, rule)
    if survey.emits_unknown or survey.unused:
        return
    for surveyed in survey.sets:
        for rule in surveyed.rules:
            for condition, at, _ in rule.asked:
                if isinstance(condition, ActionMatcher):
                    yield from _matched(survey, surveyed, rule, condition.configs, (*at, "configs", "actions"))
    yield from _unanswered(survey)
    yield from _unreached(survey)


def time_findings(outputs: OutputSet) -> Iterator[Found]:
    """The outputs of an action that leave out a count."""
    times: dict[str, dict[int, int]] = {}
    for number, output in enumerate(outputs.output_set):
        times.setdefault(output.action, {}).setdefault(output.times_occurred, number)
    for action, places in times.items():
        last = -1
        for count in sorted(places):
            if count != last + 1:
                then = "an earlier one" if last >= 0 else "this one"
                yield Found(
                    code="L034",
                    message=f"output {shown(action)} has no entry for `timesOccurred` {last + 1}",
                    why=f"{then} is said then",
                    hint=f"count on from {last + 1}, or add the entry",
                    model=outputs,
                    at=("outputSet", places[count], "timesOccurred"),
                )
                break
            last = count


def _counted(survey: Survey, surveyed: SurveyedSet, rule: SurveyedRule) -> Iterator[Found]:
    for condition, at, _ in rule.asked:
        if isinstance(condition, OccurrenceCondition):
            name = condition.configs.behavior_rule_name
            if name not in survey.rule_names:
                meant = nearest(name, survey.rule_names)
                yield Found(
                    code="L026",
                    message=f"rule {named(rule.rule.name)} counts rule {named(name)}, and there is none",
                    hint=f"did you mean {named(meant)}?" if meant else "name a rule of this agent",
                    model=surveyed.rule_set,
                    at=(*at, "configs", "behaviorRuleName"),
                )


def _matched(
    survey: Survey, surveyed: SurveyedSet, rule: SurveyedRule, configs: ActionConfigs, at: Pointer
) -> Iterator[Found]:
    run = action_run(configs.actions)
    ordinary = [action for action in run if not (action in SPECIAL or action.startswith(FAILED) or action == "empty")]
    for action in dict.fromkeys(ordinary):
        places = survey.emitted.get(action)
        message = f"rule {named(rule.rule.name)} asks for the action {shown(action)}"
        if places is None:
            meant = nearest(action, survey.emitted)
            hint = f"did you mean `{meant}`?" if meant else "emit it in a rule, or take the condition out"
            yield Found(code="L030", message=message, why="nothing emits it", hint=hint, model=surveyed.rule_set, at=at)
            return
        if (
            configs.occurrence == "currentStep"
            and min(places) >= max(surveyed.places)
            and not _may_reroute(survey, rule)
        ):
            yield Found(
                code="L030",
                message=message,
                why="it is not emitted before these rules are asked",
                hint=lambda told: (
                    f"say {told.key('`lastStep`', '`previous turn`')}, "
                    "or put the conditions of the rules that emit it here"
                ),
                model=surveyed.rule_set,
                at=at,
            )
            return
    if len(ordinary) == len(run) > 1 and not _is_emitted(survey, run):
        yield Found(
            code="L033",
            message=f"{shown(configs.actions)} asks for these actions side by side, in this order",
            why="no rule emits them so",
            hint="give each a condition of its own",
            model=surveyed.rule_set,
            at=at,
        )


def _may_reroute(survey: Survey, rule: SurveyedRule) -> bool:
    """Whether a failure can make the rule true, so that it is asked when its own set has emitted actions already."""
    moved = (OutcomeMatcher, DigestMatcher, DynamicValueMatcher, SizeMatcher, Dependency)
    return survey.reroutes and (
        any(isinstance(condition, moved) for condition, _, _ in rule.asked) or any(rule.failures())
    )


def _is_emitted(survey: Survey, run: tuple[str, ...]) -> bool:
    """Whether each two neighbours of the run are neighbours in the actions of some rule."""
    return all(pair in survey.neighbours for pair in pairwise(run))


def _unanswered(survey: Survey) -> Iterator[Found]:
    # Where there is no output step, whoever asks the agent works on its actions.
    if not survey.outputs or "*" in survey.called:
        return
    answered = {*SPECIAL, *survey.said, *survey.called, *survey.matched}
    for surveyed in survey.sets:
        for rule in surveyed.rules:
            for number, action in enumerate(rule.rule.actions):
                if action not in answered:
                    answered.add(action)
                    meant = nearest(action, survey.said | survey.called.keys())
                    yield Found(
                        code="L031",
                        message=f"rule {named(rule.rule.name)} emits {shown(action)}",
                        why="nothing answers it",
                        hint=f"did you mean `{meant}`?" if meant else "add an output for it",
                        model=surveyed.rule_set,
                        at=(*rule.at, "actions", number),
                    )


def _unreached(survey: Survey) -> Iterator[Found]:
    told: set[tuple[int, str]] = set()
    # What a failure lets rules emit is said by outputs that ran before, too.
    late = {
        action
        for surveyed in survey.sets
        for rule in surveyed.rules
        if _may_reroute(survey, rule)
        for action in rule.rule.actions
    }
    for place, action, model, at in survey.waiting:
        if not isinstance(model, OutputSet) or action == "CONVERSATION_START" or action.startswith(FAILED):
            continue
        places = survey.emitted.get(action)
        if (places is not None and (action in late or min(places) < place)) or (id(model), action) in told:
            continue
        told.add((id(model), action))
        meant = nearest(action, survey.emitted) if places is None else None
        yield Found(
            code="L032",
            message=f"output {shown(action)} is never said",
            why="no rule emits this action" + (" before this step" if places else ""),
            hint=f"did you mean `{meant}`?" if meant else "emit it in a rule, or take the output out",
            model=model,
            at=at,
        )
