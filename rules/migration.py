"""Documents of every age to today's shape, with a note for each thing that was read differently.

One pass over the parsed JSON, guided by the shapes of the models. The caller's data stay as they are.
"""

import json
from dataclasses import dataclass
from typing import get_args

from .checking import nested_too_deep
from .conditions import MAX_NESTING, Occurrence
from .errors import Severity
from .findings import listed, shown
from .places import Node
from .reshaping import RESHAPES, Entries
from .shapes import CONDITION, CURRENT, DEAD, TYPES, Model, Shape, shape_of
from .spelling import nearest
from .trails import Trail
from .values import BLANKS, MAX_DEPTH, freeze, integer

OLD_OCCURRENCES = {"current": get_args(Occurrence)[0]}
"""Older values of `occurrence`, and today's."""

_BARE = "write it without quotes"
_OLD_TYPE = "ai.labs.behavior.conditions."
_HARMLESS: Entries = {"type": "deploymentContext"}


def migrated(data: object, model: Model) -> tuple[object, Trail]:
    """A document in today's shape, and the trail of what was found and moved on the way."""
    trail = Trail()
    shape = shape_of(model)
    made = _Walk(trail).walked(data, shape, None, 0)
    if isinstance(made, dict) and made and not made.keys() & (shape.known | shape.unused):
        expected = listed(sorted(shape.known), "or")
        message = f"this is something else than expected: none of its keys is {expected}"
        trail.findings.clear()  # of a document that is meant for something else, nothing else counts
        trail.find("K005", message, None, hint="check which file this is")
    return made, trail


@dataclass(frozen=True, slots=True)
class _Walk:
    trail: Trail

    def walked(self, value: object, shape: Shape, at: Node, depth: int) -> object:
        if not isinstance(value, dict):
            return value
        if shape is CONDITION and (depth := depth + 1) > MAX_NESTING:
            self.trail.findings.append(nested_too_deep(self.trail.written(at)))
            return _HARMLESS  # a stand-in, so that what else is wrong is found as well
        if shape.tag:
            value, variant = self._typed(value, shape, at)
            if variant is None:
                return value
            shape = variant
        entries = self._tidied(value, shape, at)
        if (reshaped := RESHAPES.get(shape.model)) is not None:
            entries = reshaped(self.trail, entries, at)
        for key, inner in shape.nested:
            child = entries.get(key)
            if isinstance(child, list):
                here: Node = (at, key)
                entries[key] = [self.walked(item, inner, (here, i), depth) for i, item in enumerate(child)]
            elif isinstance(child, dict):
                entries[key] = self.walked(child, inner, (at, key), depth)
        return entries

    def _typed(self, entries: Entries, shape: Shape, at: Node) -> tuple[Entries, Shape | None]:
        """An object of a tagged union with its type as it is spelled today, and the shape of that type."""
        if shape.tag not in entries:
            entries = self._tagged(entries, shape, at)
        written = entries.get(shape.tag)
        if not isinstance(written, str):
            return entries, None
        if written in shape.variants or shape.tag != "type":
            return entries, shape.variants.get(written)
        small = TYPES.get(written, written).removeprefix(_OLD_TYPE).casefold()
        for legal, variant in shape.variants.items():
            if legal.casefold() == small:
                message = f"the type {shown(written)} is read as `{legal}`"
                self.trail.find("M002", message, (at, "type"), hint=f"write `{legal}`", severity="note")
                return {**entries, "type": legal}, variant
        return entries, None

    def _tagged(self, entries: Entries, shape: Shape, at: Node) -> Entries:
        """An object whose type may stand under a misspelt key, with the key that was meant."""
        for written in entries:
            if nearest(written, [shape.tag]) and not any(written in each.known for each in shape.variants.values()):
                message = f"there is no key {shown(written)} here"
                self.trail.find("K001", message, (at, written), hint=f"did you mean `{shape.tag}`?", key=True)
                self.trail.move((at, shape.tag), (at, written))
                return {shape.tag if key == written else key: value for key, value in entries.items()}
        return entries

    def _tidied(self, entries: Entries, shape: Shape, at: Node) -> Entries:
        """A copy of the object with today's keys, without nulls that mean nothing."""
        tidy: Entries = {}
        for written, value in entries.items():
            key = written if written in shape.known else self._key(written, value, shape, at)
            if key is None or (value is None and key in shape.known and key not in shape.literal):
                continue
            if key in tidy and not value:
                continue
            if tidy.get(key):
                self.trail.clash(written if key != written else self._other(entries, key, shape), key, at)
                continue
            if shape.texts:
                value = self._text(key, value, (at, written))  # noqa: PLW2901 - as it is read
            elif (wanted := shape.scalars.get(key)) is not None:
                value = self._scalar(value, wanted, (at, written))  # noqa: PLW2901 - as it is read
            tidy[key] = value
            if key != written:
                self.trail.move((at, key), (at, written))
        return tidy

    @staticmethod
    def _other(entries: Entries, key: str, shape: Shape) -> str:
        """The older name that `key` was already read from."""
        return next((old for old, today in shape.aliases.items() if today == key and old in entries), key)

    def _text(self, key: str, value: object, at: Node) -> object:
        """A value of a condition's configs, where all scalars are texts."""
        if key == "occurrence" and isinstance(value, str):
            value = value.strip(BLANKS)
            if (today := OLD_OCCURRENCES.get(value)) is not None:
                message = f"{shown(value)} is read as `{today}`"
                self.trail.find("M003", message, at, hint=f"write `{today}`", severity="note")
                return today
        return json.dumps(value) if isinstance(value, bool | int | float) else value

    def _scalar(self, value: object, wanted: type, at: Node) -> object:
        """A number or a truth, which may be written as a text, and a whole number as 5.0."""
        if isinstance(value, float):
            return int(value) if wanted is int and value.is_integer() else value
        if not isinstance(value, str):
            return value
        try:
            read = integer(value) if wanted is int else {"true": True, "false": False}[value]
        except (KeyError, ValueError):
            return value
        self.trail.find("M003", f"{shown(json.dumps(value))} is read as {shown(read)}", at, hint=_BARE, severity="note")
        return read

    def _key(self, written: str, value: object, shape: Shape, at: Node) -> str | None:
        """Today's name of an unknown key; None to leave it out."""
        here: Node = (at, written)
        if (today := shape.aliases.get(written)) is not None:
            if written not in CURRENT:
                message = f"`{written}` is read as `{today}`"
                self.trail.find("M001", message, here, hint=f"write `{today}`", severity="note", key=True)
            return today
        if shape.texts and written in DEAD:
            message = f"`{written}` has no effect any more"
            self.trail.find("M005", message, here, hint=DEAD[written], severity="note", key=True)
            return None
        try:
            freeze(value)  # it is kept as it is, so that nobody else will look at it
        except ValueError as error:
            hint = f"nest it at most {MAX_DEPTH} deep" if "deep" in str(error) else "write another value"
            self.trail.find("J007", f"{shown(written)} cannot be kept: {error}", here, hint=hint)
            return None
        if written in shape.unused:
            message = f"`{written}` is kept and not used here"
            severity: Severity = "warning" if value and value != "false" else "note"
            self.trail.find("K003", message, here, severity=severity, key=True)
            return written
        return written if written.startswith("_") else self._unknown(written, shape, here)

    def _unknown(self, written: str, shape: Shape, at: Node) -> str:
        """The key that was probably meant, so that its value is looked at as well, or the key itself."""
        if shape.loose:
            return written
        meant = nearest(written, [*sorted(shape.known), *shape.aliases, *sorted(shape.unused)])
        if meant is not None:
            message = f"there is no key {shown(written)} here"
            self.trail.find("K001", message, at, hint=f"did you mean `{meant}`?", key=True)
            return shape.aliases.get(meant, meant)
        message = f"the key {shown(written)} is unknown; it is kept and not used"
        legal = listed(sorted(shape.known), "or")
        hint = f"use one of {legal}, or a key that begins with `_`" if legal else "leave it out"
        self.trail.find("K002", message, at, hint=hint, severity="warning", key=True)
        return written
