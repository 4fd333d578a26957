"""What happens in a turn, told to whoever listens."""

from collections.abc import Callable
from dataclasses import dataclass

from ..rules.conditions import ErrorType
from .failure import OperatorText, PublicText
from .steps import State


@dataclass(slots=True)
class TaskStarted:
    """A task begins; `task` is its id as shown, `index` its place among the steps of a turn, from 0."""

    task: str
    type: str
    index: int


@dataclass(slots=True)
class TaskCompleted:
    """A task succeeded; `actions` are all of the turn so far."""

    task: str
    type: str
    duration_ms: float
    actions: list[str]


@dataclass(slots=True)
class TaskFailed:
    """A task failed; `reason` is the public text, None where the policy tells the caller nothing."""

    task: str
    type: str
    duration_ms: float
    error_type: ErrorType
    reason: PublicText | None


@dataclass(slots=True)
class TurnDone:
    """The turn is over."""

    state: State


@dataclass(slots=True)
class OperatorNote:
    """Something for whoever runs the agent; never sent to a caller."""

    task: str
    text: OperatorText


Event = TaskStarted | TaskCompleted | TaskFailed | TurnDone
Listener = Callable[[Event], object]
OperatorListener = Callable[[OperatorNote], object]
