"""The templating task: fills in the outputs of this turn that the author wrote as templates."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from ...rules.templates import LookUp, filled, filled_within
from ...rules.values import BLANKS, JSON
from ..journal import Journal, rewrite, step_of
from ..selection import Template
from ..steps import Step

# What has a meaning in the expression language: a value that is filled in stays a plain name.
_NO_SIGNS = str.maketrans(dict.fromkeys(BLANKS + "(),*", " "))
# Actions that end a turn or say that a task failed: rules and authors bring them, nobody else.
_BARRED = re.compile(
    r"(?<![^\s(,])(?:(?:CONVERSATION_(?:START|END)|STOP_CONVERSATION|PAUSE_CONVERSATION|CATCH_ANY_INPUT_AS_PROPERTY)"
    r"(?![^\s(),])|task_failed_[^\s(),]*)",
    re.IGNORECASE,
)
_LISTS = ("output", "quickReplies")


class TemplatingTask:
    """A step of the turn that fills in what output sets have said so far; a value that is missing is empty.

    What a caller, a server or a model said is no template, whatever it looks like.
    """

    id = "ai.labs.templating"
    type = "output"

    async def execute(self, turn: Journal) -> None:
        """Fill in all templates of the reply."""
        if not self.fill(turn):
            turn.skip()

    def fill(self, turn: Journal) -> bool:
        """Fill in all templates of the reply; whether there were any."""
        step = step_of(turn)
        done: dict[int, JSON] = {}

        def plain(item: JSON) -> JSON:
            if isinstance(item, Template):
                if id(item) not in done:
                    done[id(item)] = _filled(item, turn.read)
                return done[id(item)]
            return [plain(each) for each in item] if isinstance(item, list | tuple) else item

        for key in _LISTS:
            items = step.output.get(key)
            if _waits(items):
                data = {name: plain(entry.value) for name, entry in step.data.items() if _waits(entry.value)}
                rewrite(turn, key, [plain(item) for item in cast("Sequence[JSON]", items)], data)
        return bool(done)


def withhold(step: Step) -> None:
    """Take out what should have been filled in and was not: its templating step failed, or was not reached."""
    for key in _LISTS:
        items = step.output.get(key)
        if isinstance(items, list) and _waits(items):
            step.output[key] = [item for item in items if not isinstance(item, Template)]


def _waits(value: JSON) -> bool:
    return isinstance(value, Template) or (
        isinstance(value, list | tuple) and any(isinstance(item, Template) for item in value)
    )


def _filled(item: Mapping[str, JSON], look_up: LookUp) -> JSON:
    return {
        key: filled_expressions(value, look_up)
        if key == "expressions" and isinstance(value, str)
        else filled_within(value, look_up)
        for key, value in item.items()
    }


def filled_expressions(template: str, look_up: LookUp) -> str:
    """A template of expressions with its placeholders filled in, each value as a plain name.

    What becomes the name of an action that means something to Turnout, and was not written so, gets a `_` before it.
    """
    text = filled(template, look_up, as_name)
    written = set(_BARRED.findall(template))
    return _BARRED.sub(lambda found: found[0] if found[0] in written else f"_{found[0]}", text)


def as_name(value: str) -> str:
    """A value as a plain name of the expression language: without any sign that means something there."""
    return "_".join(value.translate(_NO_SIGNS).split())


def barred(name: str) -> str:
    """A name that somebody else chose, with a `_` before it where it means something to Turnout as an action."""
    return _BARRED.sub(lambda found: f"_{found[0]}", name)
