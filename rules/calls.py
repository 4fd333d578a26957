"""HTTP calls, as the author wrote them."""

import re
from typing import Annotated

from pydantic import Field

from .authored import Authored, Flag, Whole
from .properties import PostResponse, PreRequest
from .templates import PLACEHOLDER

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")
"""The methods of HTTP that a call may have, in any case."""


_OTHER_KINDS = re.compile("urlencoded|xml|html")


class RetryInstruction(Authored):
    """When a call is tried again, how often, and the first pause in milliseconds: doubled each time, at most 30 s."""

    max_retries: Annotated[Whole, Field(ge=0, le=10)] = 3
    exponential_backoff_delay_in_millis: Annotated[Whole, Field(ge=0)] = 1000
    retry_on_http_codes: tuple[Whole, ...] = (502, 503)


class HttpRequest(Authored):
    """What is sent; `{path}` placeholders are filled in everywhere but in the method.

    A body that looks like JSON is sent as `application/json` where there is no content type.
    """

    path: Annotated[str, Field(repr=False)] = ""
    method: str = "get"
    headers: Annotated[dict[str, str], Field(repr=False)] = {}
    query_params: Annotated[dict[str, str], Field(repr=False)] = {}
    content_type: str = ""
    body: Annotated[str, Field(repr=False)] = ""

    @property
    def kind(self) -> str:
        """The content type in lower case; one among the headers comes first. What looks like JSON has one anyway."""
        named = [value for name, value in self.headers.items() if name.strip().lower() == "content-type"]
        written = (named[-1] if named else self.content_type).lower()
        return written or ("application/json" if self._looks_like_json else "")

    @property
    def is_json(self) -> bool:
        """Whether the body takes values as JSON: it is said to be JSON, or looks like it and is said to be no other."""
        return "json" in self.kind or (self._looks_like_json and not _OTHER_KINDS.search(self.kind))

    @property
    def _looks_like_json(self) -> bool:
        body = self.body.lstrip()
        return body[:1] in ("{", "[") and not PLACEHOLDER.match(body)


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

    target_server_url: Annotated[str, Field(repr=False)]
    http_calls: tuple[HttpCall, ...] = ()
