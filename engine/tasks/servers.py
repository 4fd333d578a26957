"""What the tasks that ask servers have in common: when they run, how they wait, and what they connect with."""

from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from functools import cached_property
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import quote

from ...rules.errors import UsageError
from ...rules.findings import Finding
from ...rules.properties import PreRequest
from ..journal import Journal

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import AsyncClient

NO_CLIENT = "the HTTP client cannot be set up"

Sleep = Callable[[float], Awaitable[object]]


class OnActions(Protocol):
    """Something that is for actions of the turn."""

    @property
    def actions(self) -> Collection[str]:
        """These actions; `*` is any."""


Each = TypeVar("Each", bound=OnActions)


def require_usable(findings: Iterable[Finding]) -> None:
    """Raise the first error among the findings as a `UsageError`."""
    for finding in findings:
        if finding.severity == "error":
            raise UsageError(finding.message, finding.hint)


def wanted(turn: Journal, every: Iterable[Each]) -> list[Each]:
    """Those that share an action with the turn (`*`: any); where there are none, the task is skipped."""
    actions = turn.actions
    found = [each for each in every if actions and {"*", *actions}.intersection(each.actions)]
    if not found:
        turn.skip()
    return found


async def pause(before: PreRequest, sleep: Sleep) -> None:
    """Wait as long as the author wants before a request."""
    if before.delay_before_executing_in_millis:
        await sleep(before.delay_before_executing_in_millis / 1000)


def percent(value: str, safe: str = "") -> str:
    """A value as it is written into a part of an address."""
    return quote(value, safe=safe, errors="replace")


class Clients:
    """Makes HTTP clients; it holds the certificates to trust, which take longer to read than many an answer."""

    def client(self, **settings: Any) -> "AsyncClient | None":
        """A client for one event loop, to be closed; None where it cannot be set up."""
        # Imported here: it costs more than the rest of the engine, and most agents make no calls.
        from httpx2 import AsyncClient  # noqa: PLC0415 - late: only an agent with calls needs it

        trust = self._trust
        with suppress(Exception):  # what is wrong with the environment's proxies may hold their passwords
            # INVARIANT: each request goes by itself: what one answer sets as a cookie is sent with no other.
            cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
            return AsyncClient(verify=trust, timeout=None, cookies=cookies, **settings)
        return None

    @cached_property
    def _trust(self) -> "SSLContext":
        from httpx2 import create_ssl_context  # noqa: PLC0415 - late: only an agent with calls needs it

        return create_ssl_context()
