"""The output task: what the output sets say for the actions of the turn."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from ...rules.outputs import Alternatives, OutputSet, QuickReply
from ...rules.values import JSON
from ..journal import Journal, drawn, facts_of, note_drawn, render, step_of
from ..selection import Selection, as_sent, draw, is_quick_reply

_Shape = TypeVar("_Shape")
_OUTPUTS = TypeAdapter(list[Alternatives])
_QUICK_REPLIES = TypeAdapter(list[QuickReply])


class OutputTask:
    """A step of the turn that renders one output set. `place` tells it from the agent's other output steps.

    With `templates` a later step fills in what it says.
    """

    id = "ai.labs.output"
    type = "output"

    def __init__(self, output_set: OutputSet, place: int, *, templates: bool = False) -> None:
        self._selection = Selection(output_set, templates=templates)
        self._place = place

    async def execute(self, turn: Journal) -> None:
        """Render what the caller's context brings, then what the set says for the actions."""
        self._render_context(turn)
        self.render(turn, step_of(turn).actions)

    def render(self, turn: Journal, actions: Iterable[str]) -> None:
        """Render what the set says for `actions`."""
        if self._selection.lang is not None and not self._selection.speaks(turn.properties.get("lang")):
            return
        for entry in self._selection.select(actions, facts_of(turn).history.actions):
            action = entry.output.action
            offered: list[Mapping[str, JSON]] = []
            for number, alternatives in enumerate(entry.elements):
                if not alternatives:
                    continue
                item = alternatives[0]
                if len(alternatives) > 1:
                    where = f"{self._place}/{entry.position}/{number}"
                    number_drawn, used = draw(len(alternatives), drawn(turn, where), turn.random)
                    note_drawn(turn, where, used)
                    item = alternatives[number_drawn]
                if is_quick_reply(item):
                    offered.append(item)
                    continue
                key = f"output:{item['type']}:{action}"
                render(turn, key if len(entry.elements) == 1 else f"{key}:{number}", [item])
            if replies := [*offered, *entry.quick_replies]:
                render(turn, f"quickReplies:{action}", replies, offered=True)

    def _render_context(self, turn: Journal) -> None:
        """What the caller brings is said as it stands: it is never a template, and of a wrong shape it is no output."""
        for key, entry in step_of(turn).context.items():
            if entry.type != "object":
                continue
            if key.startswith("output"):
                for alternatives in _checked(_OUTPUTS, entry.value):
                    if items := [as_sent(item) for item in alternatives.value_alternatives]:
                        item = items[turn.random.randrange(len(items))]
                        render(turn, f"output:{item['type']}:context", [item])
            elif key.startswith("quickReplies"):
                replies = [as_sent(reply) for reply in _checked(_QUICK_REPLIES, entry.value)]
                if replies:
                    render(turn, f"quickReplies:{key.partition(':')[2] or 'context'}", replies, offered=True)


def _checked(adapter: TypeAdapter[list[_Shape]], value: JSON) -> list[_Shape]:
    try:
        return adapter.validate_python(value)
    except ValidationError:
        return []
