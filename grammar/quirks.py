"""What is odd about a document: what its reader takes for the same, and where rules of the reference surprise."""

import json
from collections.abc import Callable, Iterator, Mapping

from ..rules.authored import action_run
from ..rules.conditions import (
    ActionMatcher,
    AnyCondition,
    Connector,
    ContextMatcher,
    Dependency,
    ExpressionsContext,
    InputMatcher,
    Negation,
    OccurrenceCondition,
    SizeMatcher,
)
from ..rules.expressions import is_empty_word, parse
from ..rules.findings import shown
from ..rules.outputs import OutputSet
from ..rules.rulesets import RuleSet
from .documents import dumped, normal


def quirks(model: RuleSet | OutputSet) -> list[str]:
    """A sentence for each quirk that the document of a model has, once, in the order in which they are met."""
    surprises = _of_rules(model) if isinstance(model, RuleSet) else _of_outputs(model)
    return list(dict.fromkeys([*_differences("", dumped(model), normal(model)), *surprises]))


def _differences(key: str, written: object, kept: object) -> Iterator[str]:
    """What `normal` leaves out or writes otherwise."""
    if isinstance(written, dict) and isinstance(kept, dict):
        for name, item in written.items():
            if name in kept:
                yield from _differences(name, item, kept[name])
            else:
                yield f"`{name}` with the value {shown(json.dumps(item))} is the same as none"
    elif isinstance(written, list) and isinstance(kept, list):
        for one, other in zip(written, kept, strict=True):
            yield from _differences(key, one, other)
    elif written != kept:
        yield f"`{key}` with the value {shown(json.dumps(written))} is the same as {shown(json.dumps(kept))}"


def _of_outputs(outputs: OutputSet) -> Iterator[str]:
    if any("times_occurred" in output.model_fields_set for output in outputs.output_set):
        yield "`timesOccurred` counts earlier turns only, and the highest count that was reached is said"


def _of_rules(rules: RuleSet) -> Iterator[str]:
    groups = rules.behavior_groups
    if len(groups) > 1:
        yield "all groups see the same facts, and a first match ends only its own group"
    for group in groups:
        for rule in group.rules:
            if not rule.conditions:
                yield "a rule without conditions always fires"
            if len(set(rule.actions)) < len(rule.actions):
                yield "an action that a rule has twice is emitted once"
            for condition in _all(rule.conditions):
                yield from (words for words, is_met in _SURPRISES.items() if is_met(condition))
    names = [rule.name for group in groups for rule in group.rules]
    if len(set(names)) < len(names):
        yield "rules of one name are counted together, whatever their groups"


def _all(conditions: tuple[AnyCondition, ...]) -> Iterator[AnyCondition]:
    for condition in conditions:
        yield condition
        yield from _all(condition.conditions)


def _run(condition: AnyCondition) -> bool:
    if isinstance(condition, ActionMatcher):
        return len(action_run(condition.configs.actions)) > 1
    return len(parse(_expressions(condition))) > 1


def _expressions(condition: AnyCondition) -> str:
    if isinstance(condition, InputMatcher):
        return condition.configs.expressions
    if isinstance(condition, ContextMatcher) and isinstance(condition.configs, ExpressionsContext):
        return condition.configs.expressions
    return ""


def _idle(condition: AnyCondition) -> bool:
    """Whether one of its children is a size without bounds, which is not executed."""
    inner = condition.conditions if isinstance(condition, Connector | Negation) else ()
    return any(isinstance(child, SizeMatcher) and not child.configs.bounded for child in inner)


_SURPRISES: Mapping[str, Callable[[AnyCondition], bool]] = {
    "several actions or expressions match side by side and in order, not as a set": _run,
    "the expression `empty` matches where nothing was understood": lambda one: is_empty_word(parse(_expressions(one))),
    "a size without bounds is not executed: an OR of such fails, an AND fails, a negation passes it on": _idle,
    "`occurrence` counts the turns in which any rule of that name fired": lambda one: isinstance(
        one, OccurrenceCondition
    ),
    "`dependency` asks the rule anew, in whichever group it is": lambda one: isinstance(one, Dependency),
    "`sizematcher`: nothing has the size 0, a number is its own size": lambda one: isinstance(one, SizeMatcher),
    "`contextmatcher`: the entry must have the very type, and a list never matches": lambda one: isinstance(
        one, ContextMatcher
    ),
}
