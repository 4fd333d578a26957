"""The exceptions of Turnout, and the problems found in what a person wrote.

TurnoutError
├── LoadError            files or models that do not load; holds every `Problem` found
├── UsageError           a call that cannot be carried out as it was made
├── ClosedError          a write to a journal, or a turn of a conversation, that has ended
├── UnknownConversationError    a conversation that the store does not have
└── LostHoldError        a change of a conversation that is held no longer; nothing of it was stored
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, or worth knowing, in something a person wrote.

    `why` goes on where `message` ends. `line` and `column` count from 1; they are 0 where no place is known. `code` is
    stable.
    """

    code: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    hint: str = ""
    severity: Severity = "error"
    why: str = ""

    @property
    def text(self) -> str:
        """The message, with the reason if there is one."""
        return f"{self.message}: {self.why}" if self.why else self.message

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        head = f"{place}: " if place else ""
        tail = f"\n  help: {self.hint}" if self.hint else ""
        return f"{head}{self.severity}[{self.code}]: {self.text}{tail}"


def has_errors(problems: Iterable[Problem]) -> bool:
    """Whether one of the problems is an error."""
    return any(problem.severity == "error" for problem in problems)


def cause(error: OSError) -> str:
    """What the system says of a call that failed, in lower case."""
    return (error.strerror or type(error).__name__).lower()


class TurnoutError(Exception):
    """Whatever Turnout raises on purpose."""


class LoadError(TurnoutError):
    """What was given does not load; `problems` holds its errors and warnings, in reading order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problem for problem in problems if problem.severity != "note")
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UsageError(TurnoutError):
    """A call that cannot be carried out as it was made: an unknown task, a malformed context."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(f"{message}\n  help: {hint}" if hint else message)


class ClosedError(TurnoutError):
    """A task wrote after its step had ended, or a conversation that has ended was spoken to."""


class UnknownConversationError(TurnoutError):
    """The store has no such conversation."""

    def __init__(self) -> None:
        super().__init__("there is no such conversation")


class LostHoldError(TurnoutError):
    """A conversation is held no longer: its worker was taken for dead, or it was saved. Nothing was stored."""
