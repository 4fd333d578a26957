"""The property task, and the instructions by which calls set properties: what the conversation keeps, by name."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress

from ...rules.errors import TurnoutError
from ...rules.expressions import Expression, parse
from ...rules.properties import PropertyInstruction, PropertySetter
from ...rules.templates import LookUp, filled, filled_within
from ...rules.values import JSON, freeze
from ..journal import Journal, facts_of, has_property

_PROPERTY = "property"


class PropertyError(TurnoutError):
    """A property that cannot be set as its instruction says."""


class PropertyTask:
    """A step of the turn that sets properties: those that the input speaks of, then those of the turn's actions.

    An expression `property(size(large))`, of the input or of a context whose key begins with `properties`, sets `size`
    to `large`. An instruction runs once for each action that it waits for.
    """

    id = "ai.labs.property"
    type = "properties"

    def __init__(self, setter: PropertySetter) -> None:
        self._setters = setter.set_on_actions

    async def execute(self, turn: Journal) -> None:
        """Set the properties."""
        spoken = list(_spoken(turn))
        for name, value in spoken:
            turn.set_property(name, value)
        ran = False
        for action in turn.actions:
            for setter in self._setters:
                if action in setter.actions or "*" in setter.actions:
                    set_properties(turn, setter.set_properties, turn.read)
                    ran = True
        if not (spoken or ran):
            turn.skip()


def set_properties(turn: Journal, instructions: Iterable[PropertyInstruction], look_up: LookUp) -> None:
    """Set the properties that `instructions` say, with values that `look_up` finds. Raises `PropertyError`."""
    for instruction in instructions:
        if instruction.override or not has_property(turn, instruction.name):
            turn.set_property(instruction.name, _value(instruction, look_up), instruction.scope)


def _value(instruction: PropertyInstruction, look_up: LookUp) -> JSON:
    if instruction.from_object_path:
        return look_up(instruction.from_object_path)
    written = (
        instruction.value_string,
        instruction.value_object,
        instruction.value_list,
        instruction.value_int,
        instruction.value_float,
        instruction.value_boolean,
    )
    value = next((each for each in written if each is not None), None)
    if not isinstance(value, str):
        return filled_within(freeze(value), look_up)
    text = filled(value, look_up)
    if not instruction.convert_to_object:
        return text
    with suppress(ValueError, RecursionError):
        return freeze(json.loads(text))
    raise PropertyError(f"the text for property {instruction.name} is not JSON")


def _spoken(turn: Journal) -> Iterator[tuple[str, str]]:
    """The names and values in `property(name(value))`, and in `property(name(part(value)))` of `name.part`."""
    texts = [turn.expressions]
    for key, entry in facts_of(turn).step.context.items():
        if key.startswith("properties") and entry.type == "expressions":
            texts.append(str(entry.value))
    for text in texts:
        for expression in parse(text) if _PROPERTY in text else ():
            if expression.name == _PROPERTY and len(expression.args) == 1:
                *names, value = _chain(expression.args[0])
                if names:
                    yield ".".join(names), value


def _chain(expression: Expression) -> list[str]:
    names = [expression.name]
    while len(expression.args) == 1:
        (expression,) = expression.args
        names.append(expression.name)
    return names
