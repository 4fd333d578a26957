"""Checks of an agent as its author wrote them: turns, what is given and made to fail, and what is expected."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Placed(BaseModel):
    """Something that stands in a file; line and column count from 1, and are 0 where no place is known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    line: int = 0
    column: int = 0


class Given(Placed):
    """What a turn finds: a context entry or a property with its value, an attachment's type, the environment."""

    kind: Literal["context", "property", "attachment", "environment"]
    name: str
    value: object = None


class Fault(Placed):
    """What a task does instead of its work; a failure may have an HTTP status, a body and an error message."""

    kind: Literal["fails", "times_out", "answers"]
    task: str
    status: int | None = None
    body: str | None = None
    error: str | None = None
    answer: object = None


class Expectation(Placed):
    """What must have come of a turn.

    `wanted` holds one text: the action, the state, the rule's name, the quick reply, the text to be seen. For `say`
    it holds the texts of which one must be said; for `say_nothing` none. `watcher` is who `sees` it.
    """

    kind: Literal["action", "no_action", "say", "say_nothing", "reply", "state", "sees", "fires", "silent"]
    wanted: tuple[str, ...] = ()
    watcher: Literal["model", "operator", "caller", "nobody"] | None = None


class Turn(Placed):
    """What is said, as text that is `typed` or as expressions that are `meant`; neither in the opening turn."""

    typed: str | None = None
    meant: str | None = None
    givens: tuple[Given, ...] = ()
    faults: tuple[Fault, ...] = ()
    expectations: tuple[Expectation, ...] = ()


class CheckBlock(Placed):
    """A conversation of one or more turns; `givens` hold from its beginning."""

    name: str
    file: str = ""
    givens: tuple[Given, ...] = ()
    turns: tuple[Turn, ...]
