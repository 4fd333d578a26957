"""Explanations in words: what a condition asks, what was seen, and the answers that would have to be other ones."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from ..rules import conditions as c
from ..rules import questions as q
from ..rules.authored import task_name
from .names import name, value
from .phrases import TASK_FAILED, phrase

LONGEST = 100
"""Signs of a value that are shown."""

_OCCURRENCES = {"current": "currentStep", "last": "lastStep", "any": "anyStep"}
"""How the step that a question is about is written."""


class Seen(Protocol):
    """What became of a condition, as far as words need it: see the evaluator's findings."""

    @property
    def condition(self) -> c.AnyCondition:
        """What was asked."""

    @property
    def result(self) -> Literal["held", "failed", "not executed"]:
        """What came of it."""

    @property
    def seen(self) -> str:
        """What was seen, as text; of several things, with commas."""

    @property
    def found(self) -> bool:
        """Whether there was anything to see."""

    @property
    def ago(self) -> int | None:
        """How many turns before this one it was seen; None where there is no such turn."""

    @property
    def count(self) -> int | None:
        """The number that was compared."""

    @property
    def kind(self) -> str:
        """The type of the context entry that is there."""

    @property
    def parts(self) -> Sequence["Seen"]:
        """What became of its children; of a dependency, of the rule's conditions."""


def asked(condition: c.AnyCondition) -> str:
    """What a condition asks, as the language says it."""
    return str(phrase(_entries(condition)))


def _entries(condition: c.AnyCondition) -> Mapping[str, object]:
    """A condition as JSON, in the form that there is a phrase for where another one means the same."""
    configs = condition.configs.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
    if isinstance(condition, c.Connector):
        configs["operator"] = condition.configs.operator.upper()
    for bound in ("minTimesOccurred", "maxTimesOccurred", "min", "max", "equal"):
        if configs.get(bound) == c.UNSET:
            del configs[bound]
    if isinstance(condition, c.DigestMatcher):
        configs.setdefault("contains", "")
    if isinstance(condition, c.OutcomeMatcher):
        return _outcome_entries(configs)
    children = [_entries(child) for child in condition.conditions]
    return {"type": condition.type, "configs": configs} | ({"conditions": children} if children else {})


def _outcome_entries(configs: dict[str, str]) -> Mapping[str, object]:
    """A question for an outcome; for a failure of any kind there is the phrase of the action that stands for it."""
    if configs.get("status") == "failed":
        del configs["status"]
    if configs.get("minConsecutive") == "1":
        del configs["minConsecutive"]
    if configs.keys() <= {"taskId", "occurrence"}:
        action = {"actions": f"{TASK_FAILED}{task_name(configs.pop('taskId'))}"}
        return {"type": "actionmatcher", "configs": action | configs}
    return {"type": "outcomematcher", "configs": configs}


def seen(found: Seen) -> str:
    """What was seen where a condition without children was decided, as a sentence that tells what it is about."""
    match found.condition:
        case c.InputMatcher():
            return _in_turn(found, f"expressions {_ago(found.ago)}: {_shown(found.seen)}", "no expressions")
        case c.ActionMatcher():
            return _in_turn(found, f"actions {_ago(found.ago)}: {_shown(found.seen)}", "no actions")
        case c.OutcomeMatcher(configs=configs):
            return _outcome(found, configs)
        case c.DigestMatcher(configs=configs):
            task = name(task_name(configs.task_id))
            digest = f"digest of task {task} {_ago(found.ago)}: {_shown(found.seen)}"
            return _in_turn(found, digest, f"no digest of task {task}")
        case c.ContextMatcher(configs=configs):
            return _context(found, configs)
        case c.OccurrenceCondition(configs=configs):
            rule = f"rule {value(configs.behavior_rule_name)}"
            return f"{rule} fired {_counted(found.count or 0, 'time')}" if found.count else f"{rule} never fired"
        case c.Dependency(configs=configs):
            return _dependency(found, configs.reference)
        case c.DynamicValueMatcher(configs=configs):
            path = name(configs.value_path)
            return f"value {path} is {_quoted(found.seen)}" if found.found else f"there is no value {path}"
        case c.SizeMatcher(configs=configs):
            if found.result == "not executed":
                return "it has no bounds, so it neither holds nor fails"
            return f"size of {name(configs.value_path)} is {found.count}"
        case c.ContentTypeMatcher():
            return f"attachments this turn: {_shown(found.seen)}" if found.seen else "no attachments this turn"
        case c.CapabilityMatch(configs=configs):
            told = f"{_counted(found.count, 'agent')} ({_shown(found.seen)})" if found.count else "no agent"
            return f"{told} with skill {value(configs.skill)}"
        case c.DeploymentContext():
            return f"environment and tags: {_shown(found.seen)}"
    return ""


def _in_turn(found: Seen, there: str, nothing: str) -> str:
    if found.ago is None:
        return "there is no previous turn"
    told = there if found.found else f"{nothing} {_ago(found.ago)}"
    is_sought = found.result == "failed" and getattr(found.condition.configs, "occurrence", "") == "anyStep"
    return f"in no turn; {told}" if is_sought else told


def _ago(turns: int | None) -> str:
    return {0: "this turn", 1: "in the previous turn", None: ""}.get(turns, f"{turns} turns ago")


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _outcome(found: Seen, configs: c.OutcomeConfigs) -> str:
    task = f"task {name(task_name(configs.task_id))}"
    told = _in_turn(found, f"{task} {_shown(found.seen)} {_ago(found.ago)}", f"{task} did not run")
    if found.count is None or found.ago is None:
        return told
    how = f" due to {configs.error_type}" if configs.error_type else ""
    return f"{told}; {configs.status}{how} {_counted(found.count, 'time')} in a row"


def _context(found: Seen, configs: c.StringContext | c.ExpressionsContext | c.ObjectContext) -> str:
    about = f"context {name(configs.context_key)}"
    if not found.kind:
        return f"there is no {about}"
    if found.kind != configs.context_type:
        return f"{about} is of type {found.kind}, not {configs.context_type}"
    match configs:
        case c.ObjectContext(object_key_path=path):
            at = f"{about} at {name(path)}"
            return f"{at} is {_quoted(found.seen)}" if found.found else f"{about} has nothing at {name(path)}"
        case c.ExpressionsContext():
            return f"{about} says {_shown(found.seen)}" if found.seen else f"{about} says nothing"
    return f"{about} is {_quoted(found.seen)}"


def _dependency(found: Seen, rule: str) -> str:
    if found.result == "held":
        return f"rule {value(rule)} would fire"
    missed = next((part for part in found.parts if part.result != "held"), None)
    if missed is None:
        return f"there is no rule {value(rule)}"
    return f"rule {value(rule)} would not fire, for lack of: {asked(missed.condition)}"


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[: LONGEST - 1]}…" if len(line) > LONGEST else line


def _quoted(text: str) -> str:
    return value(_shown(text))


def answer(question: q.Question, holds: bool) -> str:
    """What a conversation must have, or must not have, for a question to be answered with yes, or with no."""
    match question:
        case q.RuleFired(rule=rule, times=times):
            bound = {"minTimesOccurred": str(times)} if holds else {"maxTimesOccurred": str(times - 1)}
            return _phrase("occurrence", behaviorRuleName=rule, **bound)
        case q.SizeAtLeast(path=path, size=size):
            return f"size of {name(path)} is {f'at least {size}' if holds else f'at most {size - 1}'}"
        case q.SizeBelow(path=path, size=size):
            return f"size of {name(path)} is {f'at most {size - 1}' if holds else f'at least {size}'}"
        case q.Attached(mime_type=mime_type, least=least):
            return f"{_number(least, holds)} of type {value(mime_type)} attached"
        case q.HasSkill(skill=skill, least=least):
            return f"{_number(least, holds)} with skill {value(skill)} among the agents"
        case q.SomeActions():
            return "some action this turn" if holds else "no action this turn"
        case q.SomethingSaid():
            return "the user says something this turn" if holds else "the user says nothing this turn"
        case q.NoActions(when=when):
            return f"{'no action' if holds else 'some action'} in {_past(when, holds)}"
        case q.NothingSaid(when=when):
            return f"the user says {'nothing' if holds else 'something'} in {_past(when, holds)}"
    if not holds and getattr(question, "when", "") == "any":
        return _plain(question, "never")
    told = _plain(question, _OCCURRENCES.get(getattr(question, "when", ""), ""))
    return told if holds else f"not {told}"


def _number(least: int, holds: bool) -> str:
    if holds:
        return f"at least {least}"
    return f"at most {least - 1}" if least > 1 else "none"


def _past(when: Literal["last", "past"], holds: bool) -> str:
    if when == "last":
        return "the previous turn"
    return "an earlier turn" if holds else "every earlier turn"


def _plain(question: q.Question, occurrence: str) -> str:
    """A question in words that `not` can stand before; `occurrence` is the step that it is about, if any."""
    match question:
        case q.HasActions(run=run):
            return _phrase("actionmatcher", actions=", ".join(run), occurrence=occurrence)
        case q.HasSaid(run=run):
            said = ", ".join(map(str, run))
            return _phrase("inputmatcher", expressions=said, occurrence=occurrence)
        case q.ContextText(key=key, text=text):
            return _phrase("contextmatcher", contextKey=key, contextType="string", string=text)
        case q.ContextSays(key=key, run=run):
            said = ", ".join(map(str, run))
            return _phrase("contextmatcher", contextKey=key, contextType="expressions", expressions=said)
        case q.ContextHas(key=key, path=path, text=text):
            wanted = {} if text is None else {"objectValue": text}
            return _phrase("contextmatcher", contextKey=key, contextType="object", objectKeyPath=path, **wanted)
        case q.ValueExists(path=path):
            return _phrase("dynamicvaluematcher", valuePath=path)
        case q.ValueEquals(path=path, text=text):
            return _phrase("dynamicvaluematcher", valuePath=path, equals=text)
        case q.ValueContains(path=path, text=text):
            return _phrase("dynamicvaluematcher", valuePath=path, contains=text)
        case q.InEnvironment(name=environment):
            return f"environment {value(environment)}"
        case q.HasTag(name=tag):
            return f"tag {value(tag)}"
        case q.TaskEnded(task=task, status=status, error_type=error_type, consecutive=times):
            configs = {"taskId": task, "status": status, "minConsecutive": str(times)}
            configs |= {"errorType": error_type} if error_type else {}
            return str(phrase(_outcome_entries(configs | {"occurrence": occurrence})))
        case q.DigestMentions(task=task, text=text):
            return _phrase("digestmatcher", taskId=task, contains=text, occurrence=occurrence)
    raise AssertionError(f"no words for {question!r}")


def _phrase(kind: str, **configs: str) -> str:
    return str(phrase({"type": kind, "configs": configs}))
