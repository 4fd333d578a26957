"""What pydantic found wrong with a document, in plain words and at the author's places."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from .conditions import AND_OR, SOME_ACTION, TASK_ID
from .findings import Finding, kind, listed, shown
from .places import Pointer, Spot
from .shapes import CONDITION, Model, Shape, shape_of
from .spelling import suggestion
from .values import BLANKS

_NAMED = {
    "behaviorGroups": ("group", "name"),
    "ruleGroups": ("group", "name"),
    "rules": ("rule", "name"),
    "behaviorRules": ("rule", "name"),
    "outputSet": ("output", "action"),
    "workflowSteps": ("step", "type"),
    "httpCalls": ("call", "name"),
    "tasks": ("model", "id"),
    "setProperties": ("property", "name"),
    "propertyInstructions": ("property", "name"),
    "regExs": ("regular expression", "regEx"),
    "corrections": ("correction", "type"),
    "dictionaries": ("dictionary", "type"),
    "words": ("word", "word"),
    "phrases": ("phrase", "phrase"),
    "capabilities": ("capability", "skill"),
    "steps": ("step", ""),
    "outcomes": ("outcome", "task"),
    "digests": ("digest", "taskId"),
}
"""Lists whose elements a message names, with the word for an element and the key of its name."""


_TYPED = {"conditions": "a condition", "children": "a condition", "valueAlternatives": "an alternative"}
"""Lists whose elements are named by their type, and what one without a type is called."""


def explained(error: ValidationError, data: object, model: Model) -> Iterator[Finding]:
    """One finding per error; its pointer leads into `data`, the document that was validated."""
    for details in error.errors(include_url=False):
        if details["type"] == "too_short" and details["input"]:
            continue  # the list is not short, only what stands in it is wrong, and that is told at its place
        pointer, shape = _resolved(details["loc"], shape_of(model))
        code, message, hint = _words(details, pointer, shape)
        listed_in = pointer[:-1] if pointer and isinstance(pointer[-1], int) else pointer
        spot = Spot(_blamed(details, pointer))
        yield Finding(code=code, message=_told(message, data, listed_in), hint=hint, spot=spot)


def attributed(finding: Finding, data: object) -> Finding:
    """The finding with the words for what it is in."""
    return replace(finding, message=_told(finding.message, data, finding.spot.pointer))


def _told(message: str, data: object, pointer: Pointer) -> str:
    about = _subject(data, pointer)
    if not about:
        return f"the document {message}" if message.startswith(("requires ", "needs ")) else message
    return f"{about}: {message}"


def _blamed(details: ErrorDetails, pointer: Pointer) -> Pointer:
    """The place of an error: what is missing is missing in its parent, and a wrong type stands at its key."""
    if details["type"] == "missing":
        return pointer[:-1]
    if details["type"] == "union_tag_invalid":
        return (*pointer, "contextType" if "contextType" in details["ctx"]["discriminator"] else "type")
    return pointer


def _subject(data: object, pointer: Pointer) -> str:
    """What a pointer leads into, as an author calls it: "`negation` in rule `Greet`"; empty at the top."""
    about, condition, key = "", "", ""
    for step in pointer:
        try:
            data = data[step]  # type: ignore[index]  # a wrong step raises, and is caught
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(step, str):
            key = step
            continue
        if key in _NAMED:
            word, name = _NAMED[key]
            text = data.get(name) if isinstance(data, dict) else None
            about = f"{word} {shown(text)}" if isinstance(text, str) and text else f"{word} {step + 1}"
        elif key in _TYPED and isinstance(data, dict):
            condition = shown(data["type"]) if isinstance(data.get("type"), str) else _TYPED[key]
    return f"{condition} in {about}" if condition else about


def _resolved(location: tuple[int | str, ...], shape: Shape | None) -> tuple[Pointer, Shape | None]:
    """A pydantic location without the tags of unions, and the shape of the object that it is about."""
    pointer: list[int | str] = []
    tag_next, holder = bool(shape and shape.variants), shape
    for step in location:
        if isinstance(step, str) and tag_next and shape is not None:
            shape, tag_next = shape.variants.get(step), False
            holder = shape
            continue
        pointer.append(step)
        if isinstance(step, str):
            holder, shape = shape, shape.inner(step) if shape is not None else None
            tag_next = bool(shape and shape.variants)
        else:
            holder = shape
    return tuple(pointer), shape if tag_next else holder


_Words: TypeAlias = tuple[str, str, str]


class _Case(NamedTuple):
    """An error, what it is about in backticks, and the shape of the object that it is in."""

    details: ErrorDetails
    what: str
    holder: Shape | None


_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of a usual size",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


_DIGITS = "write plain digits, without quotes and blanks"
_HINTS = {
    "a text": 'write it in `"`',
    "true or false": "write `true` or `false`, without quotes",
    "a list": "write it in `[` and `]`",
    "an object": "write it in `{` and `}`",
}


def _words(details: ErrorDetails, pointer: Pointer, holder: Shape | None) -> _Words:
    """Code, message and hint of an error."""
    name, given = details["type"], details["input"]
    key = next((step for step in reversed(pointer) if isinstance(step, str)), "")
    what = f"`{key}`" if key else "the document"
    if pointer and isinstance(pointer[-1], int):
        what = f"entry {pointer[-1] + 1} of {what}"
    if (expected := _EXPECTED.get(name)) is not None:
        return "V002", f"{what} must be {expected}, not {_given(given)}", _HINTS.get(expected, _DIGITS)
    if (word := _BY_TYPE.get(name)) is not None:
        return word(_Case(details, what, holder))
    return "V007", f"{what}: {details['msg'][:1].lower()}{details['msg'][1:]}", "write another value"


def _given(value: object) -> str:
    """A value that is wrong, in words."""
    if isinstance(value, str):
        return f"the text {shown(value)}"
    return f"the number {shown(value)}" if kind(value) == "a number" else kind(value)


def _missing(case: _Case) -> _Words:
    if case.what == "`configs`" and case.holder is not None:
        configs = case.holder.inner("configs")
        keys = configs.required if configs is not None else ("contextKey", case.holder.tag)
        return "V001", f"requires {listed(keys)}", "write it in `configs`"
    if case.what == "`conditions`":
        return _childless(case)
    return "V001", f"requires {case.what}", f"add {case.what}"


def _literal(case: _Case) -> _Words:
    legal = [word for word in re.findall(r"'([^']*)'", case.details["ctx"]["expected"]) if word]
    given = case.details["input"]
    words = shown(given) if isinstance(given, str) else _given(given)
    hint = suggestion(given, legal, "write one of these")
    return "V003", f"{case.what} must be {listed(legal, 'or')}, not {words}", hint


def _pattern(case: _Case) -> _Words:
    pattern, given = case.details["ctx"]["pattern"], case.details["input"]
    if pattern == AND_OR:
        return "V003", f"{case.what} must be `AND` or `OR`, not {shown(given)}", "write one of these"
    if pattern == SOME_ACTION:
        hint = "name the actions, with commas between them"
        return "V005", f"{case.what} must name at least one action", hint
    if pattern == TASK_ID and given.strip(BLANKS):
        return "V007", f"{case.what} must be a task id, not {shown(given)}", "write it without commas and blanks"
    return "V005", f"{case.what} must not be blank", "write what is meant"


def _childless(_: _Case) -> _Words:
    return "V001", "needs at least one condition of its own", "add it to `conditions`"


def _least(case: _Case) -> _Words:
    bound, given = case.details["ctx"]["ge"], case.details["input"]
    return "V006", f"{case.what} must be at least {bound}, not {given}", f"write {bound} or more"


def _most(case: _Case) -> _Words:
    bound, given = case.details["ctx"]["le"], case.details["input"]
    return "V006", f"{case.what} must be at most {bound}, not {given}", f"write {bound} or less"


def _invalid(case: _Case) -> _Words:
    reason = str(case.details["ctx"]["error"])
    if reason.startswith("requires "):
        return "V001", reason, "add one of them"
    if reason.startswith("is "):
        return ("V007", f"{case.what} {reason}: {shown(case.details['input'])}", _DIGITS)
    if reason.startswith("must "):
        return "V006", f"{case.what} {reason}, not {shown(case.details['input'])}", "write a higher number"
    return "V007", f"{case.what} cannot be kept: {reason}", "write another value"


def _half(case: _Case) -> _Words:
    return "V007", f"{case.what} holds half a character (a lone surrogate)", "write the whole character, or none"


def _unknown_type(case: _Case) -> _Words:
    legal = re.findall(r"'([^']*)'", case.details["ctx"]["expected_tags"])
    given = case.details["ctx"]["tag"]
    if "contextType" in case.details["ctx"]["discriminator"]:
        message = f"`contextType` must be {listed(legal, 'or')}, not {shown(given)}"
        return "V003", message, suggestion(given, legal, "write one of these")
    word = "condition" if case.holder is CONDITION else "output"
    message = f"there is no {word} of type {shown(given)}; the types are {listed(legal)}"
    return "V004", message, suggestion(given, legal, "write one of these types")


def _typeless(case: _Case) -> _Words:
    key = "contextType" if "contextType" in case.details["ctx"]["discriminator"] else "type"
    legal = list(case.holder.variants) if case.holder is not None else []
    return "V001", f"requires `{key}`", f"set it to one of {listed(legal, 'or')}" if legal else f"add `{key}`"


_BY_TYPE: Mapping[str, Callable[[_Case], _Words]] = {
    "string_unicode": _half,
    "missing": _missing,
    "literal_error": _literal,
    "string_pattern_mismatch": _pattern,
    "too_short": _childless,
    "greater_than_equal": _least,
    "less_than_equal": _most,
    "value_error": _invalid,
    "union_tag_invalid": _unknown_type,
    "union_tag_not_found": _typeless,
}
