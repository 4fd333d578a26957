"""The HTTP calls task: asks servers that the author named, when the turn has an action for it."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from ...rules.calls import HttpCall, HttpCallsFile
from ...rules.checking_calls import checked_calls
from ...rules.errors import UsageError
from ...rules.templates import LookUp
from ...rules.values import JSON
from ..journal import Journal, read_secret, read_with
from ..redaction import redact
from .answers import Answer, CallError, HttpStatusError, all_headers, decoded, headers_in, secrets_in, value_in, without
from .building import carry_out, due
from .properties import set_properties, value_of
from .quiet import unlogged
from .requests import Request, made, origin
from .sending import LARGEST_ANSWER, Sender, Sleep

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
        for finding in checked_calls(calls):
            if finding.severity == "error":
                raise UsageError(finding.message, finding.hint)
        self._server = calls.target_server_url.rstrip("/")
        self._calls = calls.http_calls
        self._strict = strict
        self._sender = Sender(sleep, timeout)

    async def execute(self, turn: Journal) -> None:
        """Make the calls that the turn's actions ask for.

        What they give stands in `memory.current.httpCalls`, where the placeholders of later calls find it.
        """
        actions = turn.actions
        calls = [call for call in self._calls if actions and {"*", *actions}.intersection(call.actions)]
        if not calls:
            turn.skip()
            return
        async with AsyncExitStack() as stack:
            stack.enter_context(unlogged())
            client: AsyncClient | None = None
            for call in calls:
                set_properties(turn, call.pre_request.property_instructions, turn.read)
                if call.fire_and_forget:
                    self._send_off(turn, call)
                    continue
                request = made(self._server, call, partial(read_secret, turn), turn.read)
                # A client belongs to its event loop, and an agent may be used from several.
                if client is None:
                    client = await stack.enter_async_context(self._sender.client(call.name))
                answer = await self._sender.answer(client, call, request)
                self._take(turn, call, request, answer)

    def _send_off(self, turn: Journal, call: HttpCall) -> None:
        """Send a request that nobody waits for; if it cannot be made, that is logged, too."""
        try:
            self._sender.send_off(call, made(self._server, call, partial(read_secret, turn), turn.read))
        except CallError as error:
            _log.warning("%s", error)

    def _take(self, turn: Journal, call: HttpCall, request: Request, answer: Answer) -> None:
        """Keep what an answer gives, and do what the author wants done with it. Raises `CallError`."""
        fails = self._strict if call.fail_on_status is None else call.fail_on_status
        if fails and answer.status >= 400:
            raise HttpStatusError(call.name, answer.status)
        if answer.status < 400 and len(answer.body) > LARGEST_ANSWER:
            raise CallError(call.name, f"answer of more than {LARGEST_ANSWER:,} bytes")
        whole = _given(call, request, answer)
        if call.response_header_object_name:
            whole[call.response_header_object_name] = all_headers(answer)
        # INVARIANT: what was sent as a secret, or is or becomes one, is found by properties of scope `secret` alone.
        look_up_all = partial(read_with, turn, whole)
        secrets = request.secrets.union(_secrets(call, answer, look_up_all))
        known = {name: without(secrets, value) for name, value in whole.items()}
        if call.response_header_object_name:
            known[call.response_header_object_name] = without(secrets, headers_in(answer))
        self._keep(turn, call, request, known)
        carry_out(turn, call.post_response, partial(read_with, turn, known), answer.status, look_up_all)

    def _keep(self, turn: Journal, call: HttpCall, request: Request, known: Mapping[str, JSON]) -> None:
        # INVARIANT: of a request only these two are kept: path, query, headers and body may hold secrets.
        kept: dict[str, JSON] = {f"{call.name}Request": {"method": request.method, "url": origin(self._server)}}
        unsaved = None if call.save_response else call.response_object_name
        kept |= {name: value for name, value in known.items() if name != unsaved}
        stored = turn.read("memory.current.httpCalls")
        turn.show("httpCalls", {**(stored if isinstance(stored, Mapping) else {}), **kept})
        for name, value in kept.items():
            turn.store(f"httpCalls:{name}", value)


def _given(call: HttpCall, request: Request, answer: Answer) -> dict[str, JSON]:
    """What an answer says, by name; what is not to be saved is there for `postResponse`, if it wants something."""
    name, after = call.response_object_name, call.post_response
    if not name:
        return {}
    if 200 <= answer.status < 300:
        wanted = after.property_instructions or after.output_build_instructions or after.qr_build_instructions
        return {name: value_in(call, answer)} if call.save_response or wanted else {}
    if not call.save_response:
        return {}
    # A server may answer with the very key that it refuses. What is cut first is not recognised any more.
    told = redact(str(without(request.secrets, decoded(answer))))[:LONGEST_ERROR]
    return {**({f"{name}Error": told} if told.strip() else {}), f"{name}HttpCode": answer.status}


def _secrets(call: HttpCall, answer: Answer, look_up: LookUp) -> set[str]:
    """What the author makes secrets of."""
    secrets: set[str] = set()

    def noted(path: str) -> JSON:
        value = look_up(path)
        secrets.update(secrets_in(value))
        return value

    for instruction in due(call.post_response.property_instructions, answer.status):
        if instruction.scope == "secret":
            value_of(instruction, noted)
    return secrets
