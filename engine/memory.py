"""Conversation memory: the steps that ended, the properties, and what can be undone."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ..rules.agents import Surroundings
from ..rules.values import JSON
from .facts import Facts, History
from .steps import Step

Scope = Literal["step", "conversation", "longTerm"]


class _Kept(NamedTuple):
    """What lives beside the steps, at one moment. The maps are replaced when they change, never written to."""

    properties: Mapping[str, JSON]
    scopes: Mapping[str, Scope]
    drawn: Mapping[str, tuple[int, ...]]


class Memory:
    """What one conversation remembers.

    `properties` maps names to values, `scopes` names to scopes. `drawn` holds, for each place in an output set, the
    alternatives that were used since all of them last had been. All values are JSON, shared and never changed in place.
    """

    def __init__(self, surroundings: Surroundings | None = None) -> None:
        self.history = History()
        self.step: Step | None = None
        self.properties: Mapping[str, JSON] = {}
        self.scopes: Mapping[str, Scope] = {}
        self.drawn: Mapping[str, tuple[int, ...]] = {}
        self._surroundings = surroundings or Surroundings()
        self._before: list[_Kept] = []  # by step: what undo brings back
        self._undone: list[tuple[Step, _Kept]] = []

    def begin_step(self, step: Step) -> None:
        """Make `step` the step of this turn; what was undone can't be redone any more."""
        self._before.append(self._kept())
        self._undone.clear()
        self.step = step

    def end_step(self) -> None:
        """The turn is over, however it ended: its step is history from now on, its `step` properties are gone."""
        step, self.step = self.step, None
        if step is not None:
            self.history.add(step)
        if "step" in self.scopes.values():
            self.properties = {k: v for k, v in self.properties.items() if self.scopes[k] != "step"}
            self.scopes = {k: v for k, v in self.scopes.items() if v != "step"}

    def facts(self) -> Facts:
        """What rules can ask now."""
        if self.step is None:
            raise RuntimeError("there is no turn to ask about")
        return Facts(self.step, self.history, self.properties, self._surroundings)

    def set_properties(self, values: Mapping[str, JSON], scopes: Mapping[str, Scope]) -> None:
        """Set properties, each with its scope."""
        self.properties = {**self.properties, **values}
        self.scopes = {**self.scopes, **scopes}

    def undo(self) -> bool:
        """Take back the last step with all that it changed; False where there is none."""
        if not self.history.steps:
            return False
        after = self._kept()
        self._undone.append((self.history.drop(), after))
        self._keep(self._before.pop())
        return True

    def redo(self) -> bool:
        """Bring back the step that was undone last; False where there is none."""
        if not self._undone:
            return False
        step, after = self._undone.pop()
        self._before.append(self._kept())
        self.history.add(step)
        self._keep(after)
        return True

    def _kept(self) -> _Kept:
        return _Kept(self.properties, self.scopes, self.drawn)

    def _keep(self, kept: _Kept) -> None:
        self.properties, self.scopes, self.drawn = kept.properties, kept.scopes, kept.drawn
