"""What a model sees of a conversation: messages made of committed output and digests, never of raw errors."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from .steps import Step

HISTORY_LIMIT = 10
"""How many turns a model sees unless it is configured otherwise."""


class Message(NamedTuple):
    """One message to a model."""

    role: Literal["user", "assistant"]
    text: str


def view(steps: Iterable[Step]) -> list[Message]:
    """The messages of `steps`, oldest first, without a system message; roles alternate.

    A digest is data about the turn, not speech: it stands on a line of its own at the end of the user's message.
    """
    messages: list[Message] = []
    for step in steps:
        lines = [step.input] if step.input.strip() else []
        lines += [f"[errorDigest {digest.task}] {digest.text}" for digest in step.digests]
        _add(messages, "user", "\n".join(lines))
        _add(messages, "assistant", _spoken(step))
    return messages


def _add(messages: list[Message], role: Literal["user", "assistant"], text: str) -> None:
    if not text:
        return
    if messages and messages[-1].role == role:
        text = f"{messages.pop().text}\n\n{text}"
    messages.append(Message(role, text))


def _spoken(step: Step) -> str:
    items = step.output.get("output")
    if not isinstance(items, list):
        return ""
    texts = (item.get("text") if isinstance(item, Mapping) else item for item in items)
    return " ".join(text for text in texts if isinstance(text, str) and text)
