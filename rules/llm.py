"""Models of language that a step asks, as the author wrote them."""

from typing import Annotated

from pydantic import Field

from .authored import Authored, Whole
from .properties import PostResponse, PreRequest


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
    api_key: str = ""
    base_url: str = ""
    model_name: str = ""
    timeout: str = ""
    temperature: str = ""
    top_p: str = ""
    max_tokens: str = ""


class LlmRetry(Authored):
    """How often a model is asked, and the pauses between, in milliseconds."""

    max_attempts: Annotated[Whole, Field(ge=1, le=10)] = 3
    backoff_delay_ms: Annotated[Whole, Field(ge=0)] = 1000
    backoff_multiplier: Annotated[float, Field(ge=1)] = 2.0
    max_backoff_delay_ms: Annotated[Whole, Field(ge=0)] = 10_000


class LlmTask(Authored):
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
    """`<id>.langchain.json`: models of language, and what they are asked."""

    tasks: tuple[LlmTask, ...] = ()
