"""What a model sees of a conversation: messages made of committed output and digests, never of raw errors."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from .steps import Step

_DIGEST = "[errorDigest"
# Where a line begins, to Python or to whoever reads it, and what is not seen before a word in it.
_BREAKS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_POSES = re.compile(rf"(^|[{_BREAKS}])([^\w\[{_BREAKS}]*+)(?=\[errorDigest)", re.IGNORECASE)

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
    # INVARIANT: no line that begins as a digest does is anything else: what a user said gets a `\` before it.
    messages: list[Message] = []
    for step in steps:
        lines = [_POSES.sub(r"\1\2\\", step.input)] if step.input.strip() else []
        lines += [f"{_DIGEST} {digest.task}] {digest.text}" for digest in step.digests]
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
