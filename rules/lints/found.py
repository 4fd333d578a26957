"""What a check finds, before its place in the text is known."""

from dataclasses import dataclass

from ..findings import shown
from ..places import Pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A finding about `model`, which was read from one document, at a pointer into it.

    `why` goes on where `message` ends. A `{line}` in the texts stands for the line of `other`.
    """

    code: str
    message: str
    model: object
    at: Pointer
    why: str = ""
    hint: str = ""
    other: Pointer | None = None


def named(rule: str) -> str:
    """The name of a rule as a message shows it."""
    return f'"{shown(rule)[1:-1]}"' if rule else "without a name"
