"""What a check finds, before its place in the text is known."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..findings import shown
from ..places import Pointer


class Telling(NamedTuple):
    """Where a finding is told: the line of its `other` place, and whether that author writes rules as text."""

    line: int
    in_text: bool

    def key(self, json: str, text: str) -> str:
        """What an author knows a setting by."""
        return text if self.in_text else json


Words: TypeAlias = str | Callable[[Telling], str]
"""What is told, or what makes it for one author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A finding about `model`, which was read from one document, at a pointer into it.

    `why` goes on where `message` ends.
    """

    code: str
    message: Words
    model: object
    at: Pointer
    why: Words = ""
    hint: Words = ""
    other: Pointer | None = None


def named(rule: str) -> str:
    """The name of a rule as a message shows it."""
    return f'"{shown(rule)[1:-1]}"' if rule else "without a name"
