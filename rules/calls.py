"""HTTP calls, as the author wrote them."""

from typing import Annotated

from pydantic import Field

from .authored import Authored, Flag, Whole
from .properties import PostResponse, PreRequest

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")
"""The methods of HTTP that a call may have, in any case."""


class RetryInstruction(Authored):
    """When a call is tried again, how often, and the first pause in milliseconds: doubled each time, at most 30 s."""

    max_retries: Annotated[Whole, Field(ge=0, le=10)] = 3
    exponential_backoff_delay_in_millis: Annotated[Whole, Field(ge=0)] = 1000
    retry_on_http_codes: tuple[Whole, ...] = (502, 503)


class HttpRequest(Authored):
    """What is sent; `{path}` placeholders are filled in everywhere but in the method."""

    path: str = ""
    method: str = "get"
    headers: dict[str, str] = {}
    query_params: dict[str, str] = {}
    content_type: str = ""
    body: str = ""

    @property
    def kind(self) -> str:
        """The content type in lower case, by which a body takes values; one among the headers comes first."""
        named = [value for name, value in self.headers.items() if name.strip().lower() == "content-type"]
        return (named[-1] if named else self.content_type).lower()


class AfterCall(PostResponse):
    """What happens after the response to a call."""

    retry_api_call_instruction: RetryInstruction | None = None


class HttpCall(Authored):
    """A call made when the step has one of `actions` (`*`: any).

    `responseObjectName` is found by `postResponse` even if the answer is not saved. Under `responseHeaderObjectName`
    stand the headers of the answer, without those that prove who somebody is, such as `Set-Cookie`. With
    `fireAndForget` nobody waits for the answer: nothing of `postResponse` happens, and failures are logged only.
    """

    name: str
    actions: tuple[str, ...] = ()
    save_response: Flag = False
    response_object_name: str | None = None
    response_header_object_name: str | None = None
    fire_and_forget: Flag = False
    fail_on_status: Flag | None = None
    pre_request: PreRequest = PreRequest()
    request: HttpRequest = HttpRequest()
    post_response: AfterCall = AfterCall()


class HttpCallsFile(Authored):
    """`<id>.httpcalls.json`: calls to one server."""

    target_server_url: str
    http_calls: tuple[HttpCall, ...] = ()
