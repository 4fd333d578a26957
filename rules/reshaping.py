"""Older shapes of rule sets, conditions and outputs that a new key alone does not bring up to date.

Each function takes an object whose keys are today's already, and returns it in today's shape.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from .conditions import Connector, Negation
from .outputs import Alternatives, Output
from .places import Node
from .properties import PropertyAfterCall, PropertyInstruction
from .rulesets import RuleSet
from .shapes import Model
from .spelling import nearest
from .trails import Trail

Entries: TypeAlias = dict[str, object]
Reshape: TypeAlias = Callable[[Trail, Entries, Node], Entries]


def _grouped(trail: Trail, entries: Entries, at: Node) -> Entries:
    """A rule set that is a list of rules: they become the rules of one group."""
    short = [key for key in ("behaviorRules", "rules") if key in entries]
    for key in short:
        if len(short) == 2 or entries.get("behaviorGroups"):
            trail.clash(key, "behaviorGroups", at)
            return entries
        trail.note(f"`{key}` without a group is read as one group", "put it into `behaviorGroups`", (at, key))
        groups = (at, "behaviorGroups")
        trail.move(groups, at)
        trail.move((groups, 0), at)
        trail.move(((groups, 0), "rules"), (at, key))
        rest = {name: value for name, value in entries.items() if name not in (key, "behaviorGroups")}
        return {**rest, "behaviorGroups": [{"rules": entries[key]}]}
    return entries


def _nested_child(trail: Trail, entries: Entries, at: Node) -> Entries:
    """A negation or connector whose children stand in its configs."""
    configs = entries.get("configs")
    if configs.__class__ is not dict or entries.get("conditions"):
        return entries
    rest: Entries = configs.copy()
    here: Node = (at, "configs")
    if "type" in rest:
        children: object = [rest]
        trail.move(((at, "conditions"), 0), here)
        rest = {}
    else:
        key = next((name for name in ("conditions", "children", "condition", "child") if name in rest), None)
        if key is None:
            return entries
        here = (here, key)
        children = rest.pop(key)
        if children.__class__ is not list:
            children = [children]
            trail.move(((at, "conditions"), 0), here)
        else:
            trail.move((at, "conditions"), here)
    trail.note("a condition inside `configs` is read as one of `conditions`", "move it to `conditions`", here)
    return {**entries, "configs": rest, "conditions": children}


def _listed_values(trail: Trail, entries: Entries, at: Node) -> Entries:
    """An output whose alternatives are a plain list."""
    if "outputValues" not in entries:
        return entries
    if entries.get("outputs"):
        trail.clash("outputValues", "outputs", at)
        return entries
    old: Node = (at, "outputValues")
    trail.note("`outputValues` is read as one of `outputs`", "write `outputs` with `valueAlternatives`", old)
    values = entries["outputValues"]
    new: Node = ((at, "outputs"), 0)
    trail.move((at, "outputs"), old)
    trail.move(new, old)
    trail.move((new, "valueAlternatives"), old)
    rest = {name: value for name, value in entries.items() if name != "outputValues"}
    return {**rest, "outputs": [{"valueAlternatives": values if isinstance(values, list) else [values]}]}


def _typed(trail: Trail, entries: Entries, at: Node) -> Entries:
    """Alternatives that are plain strings or lack a type, which may stand beside them instead."""
    outer = entries.get("type")
    values = entries.get("valueAlternatives")
    if outer is not None:
        hint = "write it in each of `valueAlternatives`"
        trail.note("`type` is read as the type of the alternatives", hint, (at, "type"))
        entries = {key: value for key, value in entries.items() if key != "type"}
    if not isinstance(values, list) or all(item.__class__ is dict and "type" in item for item in values):
        return entries
    typed = [_typed_item(trail, item, outer, ((at, "valueAlternatives"), index)) for index, item in enumerate(values)]
    return {**entries, "valueAlternatives": typed}


def _typed_item(trail: Trail, item: object, outer: object, at: Node) -> object:
    if isinstance(item, str):
        key = "uri" if outer in ("image", "agentFace") else "value" if outer == "quickReply" else "text"
        kind = outer if key != "text" else "text"
        message = f"a plain text is read as `{key}` of an alternative of type `{kind}`"
        trail.note(message, "write an object", at)
        trail.move((at, key), at)
        return {"type": kind, key: item}
    if item.__class__ is not dict or any(nearest(key, ["type"]) for key in item):
        return item
    entries: Entries = item
    kind = outer if isinstance(outer, str) else _guessed(entries)
    if kind is None:
        return entries
    if outer is None:
        trail.note(f"an alternative without `type` is read as `{kind}`", f'add `"type": "{kind}"`', at)
    return {"type": kind, **entries}


def _guessed(entries: Entries) -> str | None:
    """The type of an alternative by the key that only this type has."""
    return next((kind for key, kind in (("uri", "image"), ("text", "text")) if key in entries), None)


def _valued(trail: Trail, entries: Entries, at: Node) -> Entries:
    """A property instruction with its value under a key that does not say what the value is."""
    if "value" not in entries:
        return entries
    value = entries["value"]
    key = next((key for kind, key in _VALUES.items() if type(value) is kind), "valueString")
    if entries.get(key):
        trail.clash("value", key, at)
        return entries
    trail.note(f"`value` is read as `{key}`", f"write `{key}`", (at, "value"))
    trail.move((at, key), (at, "value"))
    return {key if name == "value" else name: each for name, each in entries.items()}


_VALUES: Mapping[type, str] = {
    bool: "valueBoolean",
    int: "valueInt",
    float: "valueFloat",
    dict: "valueObject",
    list: "valueList",
}
RESHAPES: Mapping[Model | None, Reshape] = {
    RuleSet: _grouped,
    Connector: _nested_child,
    Negation: _nested_child,
    Output: _listed_values,
    Alternatives: _typed,
    PropertyInstruction: _valued,
    PropertyAfterCall: _valued,
}
