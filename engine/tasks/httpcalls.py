"""The HTTP calls task: asks servers that the author named, when the turn has an action for it."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from ...rules.calls import HttpCall, HttpCallsFile
from ...rules.checking_calls import checked_calls
from ...rules.templates import LookUp
from ...rules.values import JSON
from ..journal import Journal, read_secret, read_with, rewrite, step_of
from .answers import Answer, CallError, HttpStatusError, all_headers, decoded, headers_in, value_in
from .building import carry_out, due
from .properties import set_properties, value_of
from .quiet import unlogged
from .requests import Request, origin, request_of
from .secrets import kept_secrets, noting, tellable, without
from .sending import LARGEST_ANSWER, Sender
from .servers import Sleep, require_usable, wanted

if TYPE_CHECKING:
    from httpx2 import AsyncClient

TIMEOUT = 30.0
"""Seconds that one attempt of a call may take, from connecting to the last byte."""
LONGEST_ERROR = 2_000
"""Characters that are kept of the answer to a call that went wrong."""

_log = logging.getLogger(__name__)


class HttpCallsTask:
    """A step of the turn that makes the calls of one file.

    Each call that shares an action with the turn (`*`: any) is made once, in order; the first that fails ends
    the task. With `strict` a status of 400 or more is a failure unless the call says `failOnStatus: false`,
    without it only if the call says `failOnStatus: true`. `sleep` pauses before a request and between retries,
    `timeout` is in seconds. Raises `UsageError` for calls that could never be made.
    """

    id = "ai.labs.httpcalls"
    type = "httpCalls"

    def __init__(
        self,
        calls: HttpCallsFile,
        *,
        strict: bool,
        sleep: Sleep = asyncio.sleep,
        timeout: float = TIMEOUT,
    ) -> None:
        require_usable(checked_calls(calls))
        self._server = calls.target_server_url.rstrip("/")
        self._calls = calls.http_calls
        self._strict = strict
        self._sender = Sender(sleep, timeout)

    async def execute(self, turn: Journal) -> None:
        """Make the calls that the turn's actions ask for.

        What they give stands in `memory.current.httpCalls`, where the placeholders of later calls find it.
        """
        async with AsyncExitStack() as stack:
            stack.enter_context(unlogged())
            client: AsyncClient | None = None
            stored = step_of(turn).output.get("httpCalls")
            kept = dict(stored) if isinstance(stored, Mapping) else {}
            for call in wanted(turn, self._calls):
                set_properties(turn, call.pre_request.property_instructions, turn.read)
                if call.fire_and_forget:
                    self._send_off(turn, call)
                    continue
                request = request_of(self._server, call, partial(read_secret, turn), turn.read)
                # A client belongs to its event loop, and an agent may be used from several.
                if client is None:
                    client = await stack.enter_async_context(self._sender.client(call.name))
                answer = await self._sender.answer(client, call, request)
                self._take(turn, call, request, answer, kept)

    def _send_off(self, turn: Journal, call: HttpCall) -> None:
        """Send a request that nobody waits for; if it cannot be made, that is logged, too."""
        try:
            self._sender.send_off(call, request_of(self._server, call, partial(read_secret, turn), turn.read))
        except CallError as error:
            _log.warning("%s", error)

    def _take(self, turn: Journal, call: HttpCall, request: Request, answer: Answer, stored: dict[str, JSON]) -> None:
        """Keep what an answer gives beside what is stored, and do what the author wants. Raises `CallError`."""
        fails = self._strict if call.fail_on_status is None else call.fail_on_status
        if fails and answer.status >= 400:
            raise HttpStatusError(call.name, answer.status)
        if answer.status < 400 and len(answer.body) > LARGEST_ANSWER:
            raise CallError(call.name, f"answer of more than {LARGEST_ANSWER:,} bytes")
        sent = request.secrets | kept_secrets(turn)
        whole = _given(call, sent, answer)
        if call.response_header_object_name:
            whole[call.response_header_object_name] = all_headers(answer)
        # INVARIANT: what was sent as a secret, or is or becomes one, is found by properties of scope `secret` alone.
        look_up_all = partial(read_with, turn, whole)
        secrets = sent.union(_secrets(call, answer, look_up_all))
        known = {name: without(secrets, value) for name, value in whole.items()}
        if call.response_header_object_name:
            known[call.response_header_object_name] = without(secrets, headers_in(answer))
        self._keep(turn, call, request, known, stored)
        carry_out(turn, call.post_response, partial(read_with, turn, known), answer.status, look_up_all)

    def _keep(
        self, turn: Journal, call: HttpCall, request: Request, known: Mapping[str, JSON], stored: dict[str, JSON]
    ) -> None:
        # INVARIANT: of a request only these two are kept: path, query, headers and body may hold secrets.
        kept: dict[str, JSON] = {f"{call.name}Request": {"method": request.method, "url": origin(self._server)}}
        unsaved = None if call.save_response else call.response_object_name
        kept |= {name: value for name, value in known.items() if name != unsaved}
        stored |= kept
        # What was read of an answer is JSON that nobody else has: megabytes of it are not copied again.
        rewrite(turn, "httpCalls", dict(stored), {f"httpCalls:{name}": value for name, value in kept.items()})


def _given(call: HttpCall, secrets: frozenset[str], answer: Answer) -> dict[str, JSON]:
    """What an answer says, by name; what is not to be saved is there for `postResponse`, if it wants something."""
    name, after = call.response_object_name, call.post_response
    if not name:
        return {}
    if 200 <= answer.status < 300:
        wanted = after.property_instructions or after.output_build_instructions or after.qr_build_instructions
        return {name: value_in(call, answer)} if call.save_response or wanted else {}
    if not call.save_response:
        return {}
    # A server may answer with the very key that it refuses.
    said = tellable(secrets, decoded(answer), LONGEST_ERROR)
    return {**({f"{name}Error": said} if said.strip() else {}), f"{name}HttpCode": answer.status}


def _secrets(call: HttpCall, answer: Answer, look_up: LookUp) -> set[str]:
    """What the author makes secrets of."""
    secrets: set[str] = set()
    for instruction in due(call.post_response.property_instructions, answer.status):
        if instruction.scope == "secret":
            value_of(instruction, noting(secrets, look_up))
    return secrets
