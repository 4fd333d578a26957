"""Language models that a step asks, as the author wrote them."""

import re
from typing import Annotated

from pydantic import Field

from .authored import Authored, Whole
from .properties import PostResponse, PreRequest
from .values import integer

ADDRESSES = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://localhost:11434/v1",
    "mistral": "https://api.mistral.ai/v1",
}
"""Where the models of a type are asked unless there is a `baseUrl`."""

NUMBERS = {"log_size_limit": -1, "timeout": 1, "temperature": 0.0, "top_p": 0.0, "max_tokens": 1}
"""The parameters that are numbers, and the least that each may be; an integer is for whole numbers."""

KEY_REFERENCE = re.compile(
    r"\$\{(?:env:(?P<env>[A-Za-z_]\w*)|file:(?P<file>[^{}]+)|(?:eddi)?vault:(?P<vault>[^{}]+))\}"
)
"""An `apiKey` that says where the key is: a variable of the environment, a file, or what the reference's vault had."""

_NUMBER = re.compile(r"-?\d{1,10}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?", re.ASCII)


class LlmParameters(Authored):
    """What a model is asked, and how; the values are texts, and templates.

    `timeout` is in milliseconds. `apiKey` is best `${env:NAME}` or `${file:PATH}`, read when the model is asked.
    """

    system_message: str = ""
    prompt: str = ""
    add_to_output: str = "false"
    convert_to_object: str = "false"
    log_size_limit: str = ""
    include_first_agent_message: str = "true"
    api_key: Annotated[str, Field(repr=False)] = ""
    base_url: Annotated[str, Field(repr=False)] = ""
    model_name: str = ""
    timeout: str = ""
    temperature: str = ""
    top_p: str = ""
    max_tokens: str = ""


class LlmRetry(Authored):
    """How often a model is asked, and the pauses between, in milliseconds."""

    max_attempts: Annotated[Whole, Field(ge=1, le=10)] = 3
    backoff_delay_ms: Annotated[Whole, Field(ge=0, le=2**31 - 1)] = 1000
    backoff_multiplier: Annotated[float, Field(ge=1)] = 2.0
    max_backoff_delay_ms: Annotated[Whole, Field(ge=0, le=2**31 - 1)] = 10_000


class LlmModel(Authored):
    """A model that is asked when the step has one of `actions` (`*`: any).

    `type` names the provider. `conversationHistoryLimit` counts turns, this one included (-1: all).
    """

    id: str = ""
    type: str = "openai"
    description: str = ""
    actions: tuple[str, ...] = ()
    parameters: LlmParameters = LlmParameters()
    conversation_history_limit: Annotated[Whole, Field(ge=-1)] = 10
    response_object_name: str | None = None
    retry: LlmRetry = LlmRetry()
    pre_request: PreRequest = PreRequest()
    post_response: PostResponse = PostResponse()


class LlmFile(Authored):
    """`<id>.langchain.json`: language models, and what they are asked."""

    tasks: tuple[LlmModel, ...] = ()


def number(parameter: str, text: str) -> int | float:
    """The number that `text` writes for one of `NUMBERS`. Raises `ValueError` with words for what is wrong."""
    least, text = NUMBERS[parameter], text.strip()
    whole = isinstance(least, int)
    try:
        value = integer(text) if whole else _real(text)
    except ValueError:
        raise ValueError(f"must be a {'whole ' if whole else ''}number") from None
    if value < least:
        raise ValueError(f"must be at least {least:g}")
    return value


def _real(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError("is no number")
    return float(text)
