"""The model task: asks language models, with the conversation as they may see it, when the turn has an action."""

import asyncio
import os
from collections.abc import Mapping
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from ...rules.checking_llm import checked_llm
from ...rules.errors import UsageError
from ...rules.llm import LlmFile, LlmModel, LlmParameters, number
from ...rules.templates import filled
from ...rules.values import JSON
from ..journal import Journal, read_secret, read_with
from .access import key_of, server_of
from .answers import data_in
from .asking import Question, ask, failed
from .building import carry_out
from .properties import set_properties
from .quiet import unlogged
from .secrets import credentials_in, kept_secrets, noting, without
from .servers import Sleep, pause, require_usable, wanted

if TYPE_CHECKING:
    from .openai_chat import Chat

TIMEOUT_MS = 60_000
"""Milliseconds that one attempt may take unless `timeout` says otherwise, to the last piece of the answer."""

_OLDEST = (3, 50)
_FENCE = "```"


class LlmTask:
    """A step of the turn that asks the models of one file.

    Each that shares an action with the turn (`*`: any) is asked, in order; the first that fails ends the task. `sleep`
    pauses before a retry, `environment` has the keys that are not in the file. Raises `UsageError` for models that
    could never be asked, and where the client for it is not installed.
    """

    id = "ai.labs.llm"
    type = "langchain"

    def __init__(
        self, file: LlmFile, *, sleep: Sleep = asyncio.sleep, environment: Mapping[str, str] = os.environ
    ) -> None:
        require_usable(checked_llm(file))
        _require_client()
        self._models = file.tasks
        self._sleep = sleep
        self._environment = environment

    async def execute(self, turn: Journal) -> None:
        """Ask the models that the turn's actions ask for."""
        for model in wanted(turn, self._models):
            await pause(model.pre_request, self._sleep)
            set_properties(turn, model.pre_request.property_instructions, turn.read)
            await self._run(turn, model)

    @cached_property
    def _chat(self) -> "Chat":
        from .openai_chat import Chat  # noqa: PLC0415 - late: it takes longer to import than all else together

        return Chat()

    async def _run(self, turn: Journal, model: LlmModel) -> None:
        says = _filled(turn, model.parameters.add_to_output).strip().lower() == "true"
        converts = _filled(turn, model.parameters.convert_to_object).strip().lower() == "true"
        # Pieces of what is not said are not told, and those of data are for nobody to read.
        tell = turn.stream if turn.streaming and says and not converts else None
        question = self._question(turn, model, stream=tell is not None)
        with unlogged():
            answer = await ask(question, model.retry, self._chat.attempt, sleep=self._sleep, tell=tell)
        # INVARIANT: a turn ends with a reply or with a reason: rules can notice a failure, not silence.
        if not answer.strip():
            raise failed("the model gave no answer")
        # Taken out once more: in JSON, a secret can be written in many ways.
        value = without(question.unsaid, _data_in(answer)) if converts else answer
        turn.store(f"langchain:{model.type}:{model.id}", value)
        if says:
            turn.say(answer)
        names: dict[str, JSON] = {}
        if model.response_object_name:
            names[model.response_object_name] = value
            turn.show(model.response_object_name, value)
        # A model has no status: what is done after a good answer is done.
        carry_out(turn, model.post_response, partial(read_with, turn, names), 200)

    def _question(self, turn: Journal, model: LlmModel, *, stream: bool) -> Question:
        secrets: set[str] = set()
        look_up = noting(secrets, partial(read_secret, turn), turn.read)
        server, trusted = server_of(model, look_up, self._environment)
        key = key_of(model, look_up, self._environment, trusted=trusted)
        body: dict[str, JSON] = {"model": _model_name(turn, model), "messages": _messages(turn, model)}
        for name in ("temperature", "top_p", "max_tokens"):
            value = _number(turn, model.parameters, name)
            if value is not None:
                # OpenAI's newer models refuse the name by which all other servers know it.
                body["max_completion_tokens" if trusted and name == "max_tokens" else name] = value
        if stream:
            body["stream"] = True
        return Question(
            server=server,
            key=key,
            trusted=trusted,
            body=body,
            timeout=(_number(turn, model.parameters, "timeout") or TIMEOUT_MS) / 1000,
            secrets=frozenset((*secrets, *kept_secrets(turn), *credentials_in(server), key)),
        )


def _model_name(turn: Journal, model: LlmModel) -> str:
    name = _filled(turn, model.parameters.model_name).strip()
    if not name:
        raise failed("`modelName` is empty")
    return name


def _messages(turn: Journal, model: LlmModel) -> list[JSON]:
    """What is sent of the conversation; after the system message roles alternate, and the last is the user's."""
    parameters = model.parameters
    prompt = _filled(turn, parameters.prompt)
    limit = _number(turn, parameters, "log_size_limit")
    turns = model.conversation_history_limit if limit is None else int(limit)
    # INVARIANT: what a prompt takes the place of is the user's words, never the digests of the turn.
    seen = turn.messages(turns or 1, prompt) if prompt.strip() else turn.messages(turns)
    if _filled(turn, parameters.include_first_agent_message).strip().lower() == "false":
        seen = seen[1:] if seen and seen[0].role == "assistant" else seen
    if seen and seen[-1].role == "assistant":  # nothing was said in this turn
        seen = seen[:-1]
    system = _filled(turn, parameters.system_message)
    messages: list[JSON] = [{"role": "system", "content": system}] if system.strip() else []
    messages += [{"role": message.role, "content": _sendable(message.text)} for message in seen]
    if not messages:
        raise failed("there is nothing to send")
    return messages


def _number(turn: Journal, parameters: LlmParameters, name: str) -> int | float | None:
    text = _filled(turn, getattr(parameters, name))
    if not text.strip():
        return None
    try:
        return number(name, text)
    except ValueError as error:
        # What was filled in is not repeated: it may be a user's words.
        raise failed(f"`{LlmParameters.model_fields[name].alias}` {error}") from None


def _filled(turn: Journal, template: str) -> str:
    return _sendable(filled(template, turn.read))


def _sendable(text: str) -> str:
    """The text with `?` for each half of a character, which UTF-8 cannot have."""
    return text.encode("utf-8", "replace").decode()


def _data_in(answer: str) -> JSON:
    """What the JSON of an answer says, with or without the fence that models like to put around it."""
    text = answer.strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE) and len(text) > len(2 * _FENCE):
        language, _, inside = text[len(_FENCE) : -len(_FENCE)].partition("\n")
        text = inside if language.strip().lower() in ("", "json") else text
    value, wrong = data_in(text)
    if wrong:
        raise failed(wrong)
    return value


def _require_client() -> None:
    try:
        found = version("openai")
    except PackageNotFoundError:
        found = ""
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    if numbers < _OLDEST:
        what = f"is too old here: it is {found}" if found else "is not installed"
        raise UsageError(
            f"task `{LlmTask.id}` needs the package `openai`, which {what}", 'run `pip install "turnout[llm]"`'
        )
