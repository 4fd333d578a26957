"""Conversation memory: the steps that ended, the properties, and what can be undone."""

from collections.abc import Mapping
from typing import Literal, cast

from ..rules.agents import Surroundings
from ..rules.properties import Scope
from ..rules.values import JSON
from .facts import Facts
from .history import History, Stored
from .steps import Step

Part = Literal["properties", "scopes", "secrets", "drawn"]
Changes = list[tuple[Part, str, object]]
"""What to put back, latest change last: the part of the memory, the key, the value (`ABSENT`: none)."""
ABSENT = object()


class Memory:
    """What one conversation remembers.

    `properties` maps names to values, `scopes` names to scopes. `secrets` holds the properties of scope `secret`: only
    requests are made of them, and neither rules nor records see them. `drawn` holds, for each place in an output set,
    the alternatives that were used since all of them last had been. All values are JSON, shared and never changed in
    place. `changes` holds for each step that can be undone, oldest first, what it changed beside itself, `undone` what
    can be redone, latest last.
    """

    def __init__(self, surroundings: Surroundings | None = None) -> None:
        self.history = History()
        self.step: Step | None = None
        self.properties: dict[str, JSON] = {}
        self.scopes: dict[str, Scope] = {}
        self.secrets: dict[str, JSON] = {}
        self.drawn: dict[str, tuple[int, ...]] = {}
        self.surroundings = surroundings or Surroundings()
        self.changes: list[Changes] | Stored[Changes] = []
        self.undone: list[tuple[Step, Changes]] = []

    def begin_step(self, step: Step) -> None:
        """Make `step` the step of this turn; what was undone can't be redone any more."""
        self.changes.append([])
        self.undone.clear()
        self.step = step

    def end_step(self) -> None:
        """The turn is over, however it ended: its step is history from now on, its `step` properties are gone."""
        if self.step is not None:
            self.history.add(self.step)
        for name in [name for name, scope in self.scopes.items() if scope == "step"]:
            self._put("properties", name, ABSENT)
            self._put("scopes", name, ABSENT)
        self.step = None

    def facts(self) -> Facts:
        """What rules can ask now."""
        if self.step is None:
            raise RuntimeError("there is no turn to ask about")
        return Facts(self.step, self.history, self.properties, self.surroundings)

    def set_properties(self, values: Mapping[str, tuple[JSON, Scope]]) -> None:
        """Set properties, each with its scope."""
        for name, (value, scope) in values.items():
            secret = scope == "secret"
            # INVARIANT: a name stands in one of the two, so that a secret is never hidden by what it replaced.
            self._put("properties", name, ABSENT if secret else value)
            self._put("scopes", name, ABSENT if secret else scope)
            if secret or name in self.secrets:
                self._put("secrets", name, value if secret else ABSENT)

    def set_drawn(self, drawn: Mapping[str, tuple[int, ...]]) -> None:
        """Set which alternatives have been used."""
        for place, used in drawn.items():
            self._put("drawn", place, used)

    def undo(self) -> bool:
        """Take back the last step with all that it changed; False where there is none that can be."""
        if not self.changes:
            return False
        changes = self.changes[-1]
        step = self.history.drop()
        self.changes = self.changes[:-1]
        self.undone.append((step, self._back(changes)))
        return True

    def redo(self) -> bool:
        """Bring back the step that was undone last; False where there is none."""
        if not self.undone:
            return False
        step, changes = self.undone.pop()
        self.history.add(step)
        self.changes.append(self._back(changes))
        return True

    @property
    def undoable(self) -> bool:
        """Whether there is a step that can be undone."""
        return bool(self.changes)

    @property
    def redoable(self) -> bool:
        """Whether there is a step that can be redone."""
        return bool(self.undone)

    def settle(self) -> None:
        """Let no step so far be undone."""
        self.changes = []

    def _put(self, part: Part, key: str, value: object) -> None:
        self.changes[-1].append(self._set(part, key, value))

    def _back(self, changes: Changes) -> Changes:
        """Put back what `changes` says, and return what puts it back again."""
        return [self._set(*change) for change in reversed(changes)]

    def _set(self, part: Part, key: str, value: object) -> tuple[Part, str, object]:
        values = cast("dict[str, object]", getattr(self, part))
        before = values.get(key, ABSENT)
        if value is ABSENT:
            values.pop(key, None)
        else:
            values[key] = value
        return part, key, before
