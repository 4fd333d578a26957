"""Asks a model a question until there is an answer or no hope of one, and says what went wrong in words of its own."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ...rules.authored import ErrorType
from ...rules.errors import TurnoutError
from ...rules.llm import LlmRetry
from ...rules.values import JSON
from ..classify import WINDOW
from ..failure import message_in
from ..redaction import MARK, redact
from .answers import whole_characters
from .secrets import TELLING, searched, without, without_parts
from .servers import Sleep

LONGEST_REASON = 2_000
"""Characters of what a provider says is wrong that are kept."""

Tell = Callable[[str], object]

_STATUSES: dict[int, ErrorType] = {408: "timeout", 429: "rate_limit", 504: "timeout"}
_DEEPEST = 3
_BLOCKED = frozenset({"content_filter", "content_policy_violation"})


class LlmError(TurnoutError):
    """A model that did not answer. The message holds no key and nothing of a request."""

    def __init__(self, message: str, error_type: ErrorType = "unknown") -> None:
        super().__init__(message)
        self.error_type = error_type


def failed(reason: str, kind: ErrorType = "unknown") -> LlmError:
    """The failure of a model for a reason that may be shown."""
    return LlmError(f"Chat model execution failed: {reason}", kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of which server; `timeout` is in seconds, for each attempt.

    `trusted` is a server that whoever runs the agent has chosen: what the environment says for it is sent to it.
    `key` is empty where none is sent. `secrets` is what no message may show.
    """

    server: str = field(repr=False)
    key: str = field(repr=False)
    trusted: bool
    body: Mapping[str, JSON] = field(repr=False)
    timeout: float
    secrets: frozenset[str] = field(repr=False)

    @property
    def unsaid(self) -> frozenset[str]:
        """What no answer may say: a key that is shorter may be a word, such as `ollama`."""
        return self.secrets if len(self.key) >= TELLING else self.secrets - {self.key}


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why there is no answer: in words, its kind, and whether the same question may be answered later."""

    reason: str
    kind: ErrorType = "unknown"
    passes: bool = False


MALFORMED = Trouble("the answer does not follow the protocol")
BROKEN_OFF = Trouble("the connection broke off", "transport", passes=True)

Attempt = Callable[[Question, Tell | None], Awaitable[str | Trouble]]
"""Asks once: the text of the answer, which `tell` is told in pieces while it is made, or why there is none."""


async def ask(question: Question, retry: LlmRetry, attempt: Attempt, *, sleep: Sleep, tell: Tell | None = None) -> str:
    """The text of the model's answer, after retries; `tell` is told its pieces while it is made. Raises `LlmError`."""
    number, pause = 1, float(retry.backoff_delay_ms)
    while True:
        told = _Told(tell, question.unsaid) if tell is not None else None
        answer = await _in_time(question, attempt, told.tell if told is not None else None)
        if isinstance(answer, str):
            if told is not None:
                told.end()
            return str(without(question.unsaid, answer))
        # INVARIANT: once a piece was told nothing is asked again: it would be told twice.
        if number == retry.max_attempts or not answer.passes or (told is not None and told.any):
            raise _given_up(answer, question.secrets, number, streamed=told is not None)
        await sleep(min(pause, retry.max_backoff_delay_ms) / 1000)
        number, pause = number + 1, pause * retry.backoff_multiplier


def _given_up(trouble: Trouble, secrets: Iterable[str], attempts: int, *, streamed: bool) -> LlmError:
    # INVARIANT: what the client library raised is neither quoted nor chained: its request holds the key.
    cause = LlmError(_shown(trouble.reason, secrets), trouble.kind)
    if streamed:
        error = LlmError("Streaming chat failed", trouble.kind)
    elif trouble.passes:
        times = f"{attempts} attempt{'s' if attempts > 1 else ''}"
        error = LlmError(f"Chat model execution failed after {times}", trouble.kind)
    else:
        return failed(str(cause), trouble.kind)
    error.__cause__ = cause
    return error


class _Told:
    """Tells the pieces of an answer without secrets, and for now without what may be the beginning of one."""

    def __init__(self, tell: Tell, secrets: Iterable[str]) -> None:
        self.any = False
        self._tell = tell
        self._pattern = searched(secrets)
        self._held = ""

    def tell(self, piece: str) -> None:
        text, held = self._held + piece, None
        if self._pattern is not None:
            text = self._pattern.sub(MARK, text)
            held = self._pattern.search(text, partial=True)
        end = held.start() if held else len(text)
        self._held = text[end:]
        self._pass_on(text[:end])

    def end(self) -> None:
        self._pass_on(self._held)

    def _pass_on(self, text: str) -> None:
        if text:
            self.any = True
            self._tell(text)


async def _in_time(question: Question, attempt: Attempt, tell: Tell | None) -> str | Trouble:
    try:
        async with asyncio.timeout(question.timeout):
            return await attempt(question, tell)
    except TimeoutError:
        return Trouble(f"no answer within {question.timeout:g} s", "timeout", passes=True)


def refused(status: int, body: object) -> Trouble:
    """What the data of an answer say that is an error; `status` is 0 where it has none of its own."""
    code = _code(body)
    if not status and isinstance(code, int) and 400 <= code < 600:
        status = code
    reason = message_in(body) or (f"HTTP {status}" if status else MALFORMED.reason)
    if code in _BLOCKED:
        return Trouble(reason, "content_filter")
    kind: ErrorType = _STATUSES.get(status, "http" if status else "unknown")
    return Trouble(reason, kind, passes=status in (408, 429) or status >= 500)


def _code(body: object) -> str | int | None:
    for _ in range(_DEEPEST):
        if not isinstance(body, Mapping):
            break
        code = body.get("code")
        if isinstance(code, str | int):
            return code
        body = body.get("error")
    return None


def choice_in(answer: object) -> Mapping[str, object] | None:
    """The first choice of an answer, or of a piece of one."""
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def text_in(choice: Mapping[str, object], part: str) -> str | Trouble | None:
    """The text of a choice's `message` or `delta`; None if there is none."""
    said = choice.get(part)
    if not isinstance(said, Mapping):
        said = {}
    if choice.get("finish_reason") == "content_filter":
        return Trouble("the provider's content filter stopped the answer", "content_filter")
    if isinstance(said.get("refusal"), str) and said["refusal"].strip():
        return Trouble("the model refused to answer", "content_filter")
    content = said.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        found = [text for text in texts if isinstance(text, str)]
        content = "".join(found) if found else None
    return whole_characters(content) if isinstance(content, str) else None


def whole(answer: object) -> str | Trouble:
    """The text of a whole answer."""
    choice = choice_in(answer)
    if choice is None:
        # Some servers say what is wrong with a status of 200.
        error = answer.get("error") if isinstance(answer, Mapping) else None
        return refused(0, error) if error else MALFORMED
    text = text_in(choice, "message")
    return MALFORMED if text is None else text


def _shown(reason: str, secrets: Iterable[str]) -> str:
    """What may be told of a reason."""
    # Redacted before it is cut, so that no part of a secret is left at the edge.
    return redact(without_parts(secrets, reason[:WINDOW]))[:LONGEST_REASON]
