"""The property task, and the instructions by which calls set properties: what the conversation keeps, by name."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from ...rules.expressions import Expression, parse
from ...rules.properties import PropertyInstruction, PropertySetter
from ...rules.templates import LookUp, filled, filled_within
from ...rules.values import BLANKS, JSON, freeze
from ..journal import Journal, facts_of, has_property

_PROPERTY = "property"
_CATCH = "CATCH_ANY_INPUT_AS_PROPERTY"
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")


class PropertyTask:
    """A step of the turn that sets properties: those of the turn's actions, then those that the input speaks of.

    For each action, every instruction that waits for it runs once. An expression `property(size(large))`, of the
    input or of a context whose key begins with `properties`, sets `size` to `large`; a number becomes one. After
    action `CATCH_ANY_INPUT_AS_PROPERTY`, what is said next is property `user_input`.
    """

    id = "ai.labs.property"
    type = "properties"

    def __init__(self, setter: PropertySetter) -> None:
        self._setters = setter.set_on_actions

    async def execute(self, turn: Journal) -> None:
        """Set the properties."""
        spoken = list(_spoken(turn))
        idle = not spoken
        for action in turn.actions:
            instructions: list[PropertyInstruction] = []
            for setter in self._setters:
                if action in setter.actions or "*" in setter.actions:
                    instructions += [each for each in setter.set_properties if each not in instructions]
            set_properties(turn, instructions, turn.read)
            idle = idle and not instructions
        for name, value in spoken:
            turn.set_property(name, value)
        if idle:
            turn.skip()


def set_properties(
    turn: Journal, instructions: Iterable[PropertyInstruction], look_up: LookUp, secret: LookUp | None = None
) -> None:
    """Set the properties that `instructions` say, with values that `look_up` finds.

    What is not found changes nothing. For properties of scope `secret`, `secret` finds what may be kept as such only.
    """
    for instruction in instructions:
        find = secret if secret is not None and instruction.scope == "secret" else look_up
        name = filled(instruction.name, look_up)
        if name and (instruction.override or not has_property(turn, name)):
            value = value_of(instruction, find)
            if value is not None:
                turn.set_property(name, value, instruction.scope)


def value_of(instruction: PropertyInstruction, look_up: LookUp) -> JSON:
    """What an instruction sets, None for nothing."""
    if instruction.from_object_path:
        # INVARIANT: what is found is set as it is, never read as a template.
        value = look_up(instruction.from_object_path)
    else:
        value = filled_within(_written(instruction), look_up)
    if instruction.convert_to_object and isinstance(value, str) and value.lstrip(BLANKS)[:1] == "{":
        with suppress(ValueError, RecursionError):  # a text that only looks like an object stays a text
            return freeze(json.loads(value))
    return value


def _written(instruction: PropertyInstruction) -> JSON:
    """The value that the author wrote: where there are several, the last of these counts, as in the reference."""
    values = (
        instruction.value_string,
        instruction.value_object,
        instruction.value_list,
        instruction.value_int,
        instruction.value_float,
        instruction.value_boolean,
    )
    return freeze(next((value for value in reversed(values) if value is not None), None))


def _spoken(turn: Journal) -> Iterator[tuple[str, JSON]]:
    """The names and values in `property(name(value))`, and in `property(name(part(value)))` of `name.part`."""
    facts = facts_of(turn)
    texts = [
        str(entry.value)
        for key, entry in facts.step.context.items()
        if key.startswith("properties") and entry.type == "expressions"
    ]
    for text in (*texts, turn.expressions):
        for expression in parse(text) if _PROPERTY in text else ():
            if expression.name == _PROPERTY and expression.args:
                *names, value = _chain(expression.args[0])
                if names:
                    yield ".".join(names), _number(value)
    last = facts.history.last
    if turn.input and last is not None and _CATCH in last.actions:
        yield "user_input", turn.input


def _chain(expression: Expression) -> list[str]:
    names = [expression.name]
    while expression.args:
        expression = expression.args[0]
        names.append(expression.name)
    return names


def _number(value: str) -> int | float | str:
    if _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return value
