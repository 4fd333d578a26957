"""Facts: all that rules can ask of a conversation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..rules.agents import Surroundings
from ..rules.values import JSON
from .history import History
from .steps import Step


@dataclass(slots=True)
class Facts:
    """What rules can ask in a turn: the step of this turn, what came before, properties, and the surroundings."""

    step: Step
    history: History
    properties: Mapping[str, JSON] = field(default_factory=dict)
    surroundings: Surroundings = field(default_factory=Surroundings)

    @classmethod
    def of(cls, steps: Sequence[Step], properties: Mapping[str, JSON] | None = None) -> "Facts":
        """The facts of a conversation given as its steps, oldest first; the last one is this turn."""
        return cls(steps[-1], History(steps[:-1]), properties or {})

    def snapshot(self) -> "Facts":
        """These facts, as they stay while the turn goes on; the history changes between turns only and is shared."""
        properties = dict(self.properties) if self.properties else self.properties
        return Facts(self.step.snapshot(), self.history, properties, self.surroundings)

    def model(self, *, task_errors: bool = True) -> dict[str, JSON]:
        """What value paths read: the context, its keys at top level too, properties, and the memory.

        Without `task_errors`, the outputs in it lack what was told to the caller only: so it is for tasks, whose text
        may go to a model.
        """
        shown = _whole if task_errors else _without_task_errors
        context = {key: entry.value for key, entry in self.step.context.items()}
        model: dict[str, JSON] = dict(context)
        if context:
            # INVARIANT: what a caller says never stands in for what the conversation keeps.
            model.pop("properties", None)
            model["context"] = context
        if self.properties:
            model["properties"] = self.properties
        last = self.history.last
        model["memory"] = {
            "current": shown(self.step),
            "last": shown(last) if last is not None else {},
            "past": _Past(self.history.steps, self.step, shown),
        }
        return model


class _Past(Sequence[JSON]):
    """The outputs of all steps but the very first, without a list being made of them in every turn."""

    def __init__(self, earlier: Sequence[Step], step: Step, shown: Callable[[Step], Mapping[str, JSON]]) -> None:
        self._earlier = earlier
        self._step = step
        self._shown = shown

    def __len__(self) -> int:
        return len(self._earlier)

    def __getitem__(self, index: int) -> JSON:  # type: ignore[override]  # paths read one element at a time
        if not 0 <= index < len(self._earlier):
            raise IndexError(index)
        return self._shown(self._earlier[index + 1] if index + 1 < len(self._earlier) else self._step)


def _whole(step: Step) -> Mapping[str, JSON]:
    return step.output


def _without_task_errors(step: Step) -> Mapping[str, JSON]:
    return {key: value for key, value in step.output.items() if key != "taskErrors"}
