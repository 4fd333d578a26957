"""Conversation memory: the steps that ended, the properties, and what can be undone."""

from collections.abc import Mapping

from ..rules.agents import Surroundings
from ..rules.properties import Scope
from ..rules.values import JSON
from .facts import Facts, History
from .steps import Step

_Changes = list[tuple[dict[str, object], str, object]]
"""What to put back, latest change first: the map, the key, the value (`_ABSENT`: none)."""
_ABSENT = object()


class Memory:
    """What one conversation remembers.

    `properties` maps names to values, `scopes` names to scopes. `secrets` holds the properties of scope `secret`: only
    requests are made of them, and neither rules nor records see them. `drawn` holds, for each place in an output set,
    the alternatives that were used since all of them last had been. All values are JSON, shared and never changed in
    place.
    """

    def __init__(self, surroundings: Surroundings | None = None) -> None:
        self.history = History()
        self.step: Step | None = None
        self.properties: dict[str, JSON] = {}
        self.scopes: dict[str, Scope] = {}
        self.secrets: dict[str, JSON] = {}
        self.drawn: dict[str, tuple[int, ...]] = {}
        self.surroundings = surroundings or Surroundings()
        # For each step that can be undone, what it changed beside itself: no more than that is kept of a turn.
        self._changes: list[_Changes] = []
        self._undone: list[tuple[Step, _Changes]] = []

    def begin_step(self, step: Step) -> None:
        """Make `step` the step of this turn; what was undone can't be redone any more."""
        self._changes.append([])
        self._undone.clear()
        self.step = step

    def end_step(self) -> None:
        """The turn is over, however it ended: its step is history from now on, its `step` properties are gone."""
        if self.step is not None:
            self.history.add(self.step)
        for name in [name for name, scope in self.scopes.items() if scope == "step"]:
            self._put(self.properties, name, _ABSENT)
            self._put(self.scopes, name, _ABSENT)
        self.step = None

    def facts(self) -> Facts:
        """What rules can ask now."""
        if self.step is None:
            raise RuntimeError("there is no turn to ask about")
        return Facts(self.step, self.history, self.properties, self.surroundings)

    def set_properties(self, values: Mapping[str, JSON], scopes: Mapping[str, Scope]) -> None:
        """Set properties, each with its scope."""
        for name, value in values.items():
            secret = scopes[name] == "secret"
            # INVARIANT: a name stands in one of the two, so that a secret is never hidden by what it replaced.
            self._put(self.properties, name, _ABSENT if secret else value)
            self._put(self.scopes, name, _ABSENT if secret else scopes[name])
            if secret or name in self.secrets:
                self._put(self.secrets, name, value if secret else _ABSENT)

    def set_drawn(self, drawn: Mapping[str, tuple[int, ...]]) -> None:
        """Set which alternatives have been used."""
        for place, used in drawn.items():
            self._put(self.drawn, place, used)

    def undo(self) -> bool:
        """Take back the last step with all that it changed; False where there is none that can be."""
        if not self._changes:
            return False
        step = self.history.drop()
        self._undone.append((step, self._back(self._changes.pop())))
        return True

    def redo(self) -> bool:
        """Bring back the step that was undone last; False where there is none."""
        if not self._undone:
            return False
        step, changes = self._undone.pop()
        self.history.add(step)
        self._changes.append(self._back(changes))
        return True

    def settle(self) -> None:
        """Let no step so far be undone."""
        self._changes.clear()

    def _put(
        self, where: dict[str, JSON] | dict[str, Scope] | dict[str, tuple[int, ...]], key: str, value: object
    ) -> None:
        self._changes[-1].append(_set(where, key, value))  # type: ignore[arg-type]  # one of these three

    def _back(self, changes: _Changes) -> _Changes:
        """Put back what `changes` says, and return what puts it back again."""
        return [_set(*change) for change in reversed(changes)]


def _set(where: dict[str, object], key: str, value: object) -> tuple[dict[str, object], str, object]:
    before = where.get(key, _ABSENT)
    if value is _ABSENT:
        where.pop(key, None)
    else:
        where[key] = value
    return where, key, before
