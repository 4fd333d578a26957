"""Carries out what an author wants done after an answer: properties to set, outputs and quick replies to build."""

import logging
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeVar

from ...rules.paths import read
from ...rules.properties import OutputInstruction, PostResponse, PropertyAfterCall, QuickReplyInstruction
from ...rules.templates import LookUp, filled
from ...rules.values import JSON
from ..journal import Journal
from .properties import set_properties
from .templating import filled_expressions

MOST_ITEMS = 100
"""How many outputs one answer adds at most, and how many quick replies."""
MOST_CHARACTERS = 2_000_000
"""Characters of the outputs that one answer adds at most, and of the quick replies: as many as an answer has bytes."""

_ADDRESSED = ("image", "agentFace")
_Instruction = TypeVar("_Instruction", PropertyAfterCall, OutputInstruction, QuickReplyInstruction)
_Item = TypeVar("_Item", dict[str, JSON], tuple[str, str])

_log = logging.getLogger(__name__)


def carry_out(
    turn: Journal, wanted: PostResponse, look_up: LookUp, status: int | None, secret: LookUp | None = None
) -> None:
    """Set the properties, then say and offer what is wanted after an answer of `status`; None: after any.

    `look_up` finds what may be kept of the answer, `secret` all of it, for properties of scope `secret` alone. An
    output or a quick reply without any text is left out, and so is what is more than `MOST_ITEMS` or `MOST_CHARACTERS`.
    """
    # INVARIANT: what a server sent is filled in as text. It adds no item, and no sign to an expression, and is said
    # as it stands: what is built is no template.
    set_properties(turn, due(wanted.property_instructions, status), look_up, secret)
    for item in _first(turn, _outputs(due(wanted.output_build_instructions, status), look_up)):
        turn.say(item)
    for value, expressions in _first(turn, _replies(due(wanted.qr_build_instructions, status), look_up)):
        turn.offer(value, expressions or None)


def due(instructions: Iterable[_Instruction], status: int | None) -> Iterator[_Instruction]:
    """Those that their validator lets run after `status`."""
    for instruction in instructions:
        codes = instruction.http_code_validator
        runs = status is None or (status in codes.run_on_http_code if codes.run_on_http_code else 200 <= status < 300)
        if runs and status not in codes.skip_on_http_code:
            yield instruction


def _first(turn: Journal, items: Iterator[_Item]) -> Iterator[_Item]:
    left = MOST_CHARACTERS
    for taken, item in enumerate(items):
        parts = item.values() if isinstance(item, dict) else item
        left -= sum([len(part) for part in parts if isinstance(part, str)])
        if taken == MOST_ITEMS or left < 0:
            _log.warning("task %s: of what is built from an answer, only the first %d are taken", turn.task, taken)
            return
        yield item


def _outputs(instructions: Iterable[OutputInstruction], look_up: LookUp) -> Iterator[dict[str, JSON]]:
    for instruction in instructions:
        kind = instruction.output_type or "text"
        for find in _elements(instruction, look_up):
            if text := filled(instruction.output_value, find).strip():
                if kind in _ADDRESSED:
                    yield {"type": kind, "uri": text}
                else:
                    yield {"type": kind, "text": text, "delay": 0}


def _replies(instructions: Iterable[QuickReplyInstruction], look_up: LookUp) -> Iterator[tuple[str, str]]:
    for instruction in instructions:
        for find in _elements(instruction, look_up):
            if value := filled(instruction.quick_reply_value, find).strip():
                yield value, filled_expressions(instruction.quick_reply_expressions, find).strip()


def _elements(instruction: OutputInstruction | QuickReplyInstruction, look_up: LookUp) -> Iterator[LookUp]:
    """What finds each element of the array, and everything else; without a path, everything else alone."""
    if not instruction.path_to_target_array:
        yield look_up
        return
    array = look_up(instruction.path_to_target_array)
    for element in array if isinstance(array, list) else ():
        yield partial(_found, instruction.iteration_object_name, element, look_up)


def _found(name: str, element: JSON, look_up: LookUp, path: str) -> JSON:
    value = read({name: element}, path)
    # What an element lacks is not looked for elsewhere.
    return look_up(path) if value is None and re.split(r"[.\[]", path, maxsplit=1)[0] != name else value
