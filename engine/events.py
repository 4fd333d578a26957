"""What happens in a turn, told to whoever listens."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..rules.authored import ErrorType
from .failure import OperatorText, PublicText

if TYPE_CHECKING:
    from .turns import Turn


class TaskStarted(NamedTuple):
    """A task begins; `task` is its id as shown, `position` its place among the steps of a turn, from 0."""

    task: str
    type: str
    position: int


class Token(NamedTuple):
    """A piece of an answer while it is made. The answer stands in the reply only if the task succeeds."""

    task: str
    text: str


class TaskCompleted(NamedTuple):
    """A task succeeded; `actions` are all of the turn so far."""

    task: str
    type: str
    duration_ms: float
    actions: tuple[str, ...]


class TaskFailed(NamedTuple):
    """A task failed; `reason` is the public text, None where the policy tells the caller nothing.

    With `withdraw`, pieces were told that are not in the reply, and whoever shows them takes them back.
    """

    task: str
    type: str
    duration_ms: float
    error_type: ErrorType
    reason: PublicText | None
    withdraw: bool = False


class TurnDone(NamedTuple):
    """The turn is over; `turn` is what it amounts to."""

    turn: "Turn"


class OperatorNote(NamedTuple):
    """Something for whoever runs the agent; never sent to a caller."""

    task: str
    text: OperatorText


Event = TaskStarted | Token | TaskCompleted | TaskFailed | TurnDone
Listener = Callable[[Event], object]
OperatorListener = Callable[[OperatorNote], object]
