"""Conditions in the language's own phrases: pretty where that is exact, raw otherwise."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .names import expressions, is_count, name, suffix, value

Entries: TypeAlias = Mapping[str, object]

TURNS = {
    "this_turn": ("currentStep", "this turn"),
    "last_turn": ("lastStep", "previous turn"),
    "any_turn": ("anyStep", "any turn"),
    "never": ("never", "no turn"),
}
"""By the grammar's name for it: a value of `occurrence`, and its words."""

_TURN_WORDS: Mapping[object, str] = dict(TURNS.values())
TASK_FAILED = "task_failed_"
FOLLOWED = " directly followed by "


@dataclass(frozen=True, slots=True)
class Phrase:
    """What is written for a condition: `head`, and the phrases of its children between brackets."""

    head: str
    joint: str = "and"
    children: tuple["Phrase", ...] = ()
    tail: str = ""

    def __str__(self) -> str:
        if not self.children:
            return f"{self.head}{self.tail}"
        inner = f" {self.joint} ".join(map(str, self.children))
        return f"{self.head}{inner}{self.tail}" if self.is_prefix else f"{self.head} ( {inner} ){self.tail}"

    @property
    def is_prefix(self) -> bool:
        """Whether the one child follows without brackets."""
        return self.head.endswith(" ")


def phrase(condition: Entries) -> Phrase:
    """The phrase of a condition, given as its JSON in today's keys."""
    kind = condition["type"]
    configs: Entries = condition.get("configs") or {}  # type: ignore[assignment]  # by its form
    children: Sequence[Entries] = condition.get("conditions") or ()  # type: ignore[assignment]  # by its form
    inner = tuple(map(phrase, children))
    keeping = suffix(((k, v) for k, v in condition.items() if k not in ("type", "configs", "conditions")), "keeping")
    if kind == "negation" and inner and not configs and not keeping:
        return _negated(inner)
    if kind == "connector" and inner and configs.get("operator") in ("AND", "OR"):
        every = configs["operator"] == "AND"
        head, joint = ("all of", "and") if every else ("any of", "or")
        return Phrase(head, joint, inner, _rest(configs, {"operator"}) + keeping)
    told = _PHRASES[str(kind)](configs) if kind in _PHRASES and not inner else None
    head, used = told if told is not None else (f"condition {value(kind)}", set[str]())
    turn = _TURN_WORDS.get(written) if isinstance(written := configs.get("occurrence"), str) else None
    if turn is not None:
        used = used | {"occurrence"}
    return Phrase(head, "and", inner, (f" {turn}" if turn else "") + _rest(configs, used) + keeping)


def _rest(configs: Entries, used: set[str]) -> str:
    return suffix(((key, item) for key, item in configs.items() if key not in used), "with")


def _negated(inner: tuple[Phrase, ...]) -> Phrase:
    if len(inner) > 1:
        return Phrase("not all of", "and", inner)
    return Phrase("not" if inner[0].head == "all of" else "not ", "and", inner)


_Told: TypeAlias = "tuple[str, set[str]] | None"
"""The words for a condition and the configs that they tell; None where there are none."""


def _texts(configs: Entries, *keys: str) -> list[str] | None:
    """The configs of these keys, if all are there."""
    found = [item for key in keys if isinstance(item := configs.get(key), str)]
    return found if len(found) == len(keys) else None


def _says(configs: Entries) -> _Told:
    if (found := _texts(configs, "expressions")) is None:
        return None
    return f"user says {expressions(found[0], FOLLOWED)}", {"expressions"}


def _action(configs: Entries) -> _Told:
    if (found := _texts(configs, "actions")) is None:
        return None
    actions = found[0]
    task = actions.removeprefix(TASK_FAILED)
    if task != actions and task and "," not in task:
        return f"task {name(task)} failed", {"actions"}
    names = actions.split(", ")
    if not all(part and "," not in part for part in names):
        names = [actions]  # in quotes, for a bare name has no comma
    return f"action {FOLLOWED.join(map(name, names))}", {"actions"}


def _context(configs: Entries) -> _Told:
    if (found := _texts(configs, "contextKey", "contextType")) is None:
        return None
    key, kind = found
    about, used = f"context {name(key)}", {"contextKey", "contextType"}
    if kind == "string" and (texts := _texts(configs, "string")):
        return f"{about} is {value(texts[0])}", used | {"string"}
    if kind == "expressions" and (texts := _texts(configs, "expressions")):
        return f"{about} says {expressions(texts[0], FOLLOWED)}", used | {"expressions"}
    if kind == "object" and (texts := _texts(configs, "objectKeyPath", "objectValue")):
        return f"{about} at {name(texts[0])} is {value(texts[1])}", used | {"objectKeyPath", "objectValue"}
    if kind == "object" and (texts := _texts(configs, "objectKeyPath")):
        return f"{about} has {name(texts[0])}", used | {"objectKeyPath"}
    return None


def _times(count: str) -> str:
    return f"{count} {'time' if count == '1' else 'times'}"


def _bounds(configs: Entries, least: str, most: str) -> _Told:
    """Bounds in words; the last word is a number."""
    low, high = configs.get(least), configs.get(most)
    if is_count(low) and is_count(high):
        return f"between {low} and {high}", {least, most}
    if is_count(low):
        return f"at least {low}", {least}
    return (f"at most {high}", {most}) if is_count(high) else None


def _occurrence(configs: Entries) -> _Told:
    found = _texts(configs, "behaviorRuleName")
    bounds = _bounds(configs, "minTimesOccurred", "maxTimesOccurred")
    if found is None or bounds is None:
        return None
    words, used = bounds[0], bounds[1] | {"behaviorRuleName"}
    rule = f"rule {value(found[0])}"
    if words == "at most 0":
        return f"{rule} never fired", used
    start, _, count = words.rpartition(" ")
    if start == f"between {count} and":
        start = "exactly"
    return f"{rule} fired {start} {_times(count)}", used


def _dependency(configs: Entries) -> _Told:
    found = _texts(configs, "reference")
    return (f"rule {value(found[0])} would fire", {"reference"}) if found else None


def _value(configs: Entries) -> _Told:
    if (found := _texts(configs, "valuePath")) is None:
        return None
    equals, contains = _texts(configs, "equals"), _texts(configs, "contains")
    about, used = f"value {name(found[0])}", {"valuePath"}
    if equals and contains:
        return f"{about} either is {value(equals[0])} or contains {value(contains[0])}", {*used, "equals", "contains"}
    if equals:
        return f"{about} is {value(equals[0])}", used | {"equals"}
    if contains:
        return f"{about} contains {value(contains[0])}", used | {"contains"}
    return f"{about} exists", used


def _size(configs: Entries) -> _Told:
    found, exact = _texts(configs, "valuePath"), configs.get("equal")
    bounds = (f"exactly {exact}", {"equal"}) if is_count(exact) else _bounds(configs, "min", "max")
    if found is None or bounds is None:
        return None
    return f"size of {name(found[0])} is {bounds[0]}", bounds[1] | {"valuePath"}


def _outcome(configs: Entries) -> _Told:
    if (found := _texts(configs, "taskId")) is None:
        return None
    about, used = f"task {name(found[0])}", {"taskId"}
    if configs.get("status") == "succeeded":
        return f"{about} succeeded", used | {"status"}
    if cause := _texts(configs, "errorType"):
        return f"{about} failed due to {name(cause[0])}", used | {"errorType"}
    if is_count(count := configs.get("minConsecutive")):
        return f"{about} failed {_times(count)} in a row", used | {"minConsecutive"}
    return None


def _digest(configs: Entries) -> _Told:
    found = _texts(configs, "taskId", "contains")
    return (f"task {name(found[0])} failed mentioning {value(found[1])}", {"taskId", "contains"}) if found else None


_PHRASES: Mapping[str, Callable[[Entries], _Told]] = {
    "inputmatcher": _says,
    "actionmatcher": _action,
    "contextmatcher": _context,
    "occurrence": _occurrence,
    "dependency": _dependency,
    "dynamicvaluematcher": _value,
    "sizematcher": _size,
    "outcomematcher": _outcome,
    "digestmatcher": _digest,
}
