"""Says what kind of failure an exception is, from its whole cause chain."""

import errno
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import get_args

from ..rules.authored import ErrorType

WINDOW = 16_384
"""Characters of one message that are ever looked at: megabytes of text cost no more than a page."""

_LONGEST_CHAIN = 100

_ERROR_TYPES: dict[str, ErrorType] = {name: name for name in get_args(ErrorType)}

# Classes are known by name, so that no client library is imported for this. Timeouts come first, because
# clients derive theirs from their transport errors.
_CLASSES: dict[ErrorType, frozenset[str]] = {
    "timeout": frozenset(("TimeoutError", "TimeoutException", "Timeout", "ConnectTimeoutError", "ReadTimeoutError")),
    "transport": frozenset(
        ("ConnectionError", "TransportError", "ConnectError", "ClientConnectionError", "gaierror", "herror")
    ),
    "circuit_open": frozenset(("CircuitBreakerError", "CircuitOpenError")),
    "content_filter": frozenset(("ContentFilterFinishReasonError", "ContentPolicyViolationError")),
}
# An `OSError` that is no `ConnectionError` and still says that the network was not there.
_UNREACHABLE = frozenset((errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN))
_STATUSES: dict[int, ErrorType] = {429: "rate_limit", 408: "timeout", 504: "timeout"}


def classify(error: BaseException, beyond: BaseException | None = None) -> ErrorType:
    """What kind of failure `error` is; for `beyond` see `chain`.

    From the outermost exception inwards, the first one that is *typed* decides: by an attribute `error_type`
    that holds a legal value, by its class, or by an HTTP status of 400 or more on it or on its `response`.
    Only if none is typed, messages are read, again from the outside in. Raises nothing.
    """
    return kind_of(chain(error, beyond))


def kind_of(links: Sequence[BaseException]) -> ErrorType:
    """What kind of failure a chain of exceptions is: see `classify`."""
    for link in links:
        kind = _typed(link)
        if kind is not None:
            return kind
    for link in links:
        text = message(link)[:WINDOW].lower()
        if "rate limit" in text or "429" in text or "too many" in text:
            return "rate_limit"
        if "content_filter" in text or "content filter" in text:
            return "content_filter"
    return "unknown"


def chain(error: BaseException, beyond: BaseException | None = None) -> list[BaseException]:
    """Give `error` and what lies beneath it, outermost first: at least one and at most 100 exceptions.

    Beneath an exception lies its `__cause__`, else its `__context__` unless that is suppressed; beneath a
    group, its first member. `beyond` is what the caller was handling already when the work began that failed: Python
    makes it the context of whatever is raised meanwhile, and it is none of that failure's affair.
    """
    links = [error]
    below = _beneath(error)
    # INVARIANT: a chain that bites its own tail ends. By identity, as anyone may have written `__eq__`.
    while (
        below is not None
        and below is not beyond
        and len(links) < _LONGEST_CHAIN
        and not any(link is below for link in links)
    ):
        links.append(below)
        below = _beneath(below)
    return links


def message(error: BaseException) -> str:
    """The text of `error` itself, at its full length; empty if it has none or fails to say it."""
    try:
        if isinstance(error, BaseExceptionGroup):
            return str(error.message)
        if len(error.args) == 1 and isinstance(error.args[0], bytes | bytearray):
            return error.args[0][:WINDOW].decode("utf-8", "replace")
        return str.__str__(str(error))  # of a subclass of `str`, the text alone
    except Exception:  # noqa: BLE001 - an exception that cannot tell its own text must not hide the failure
        with suppress(Exception):
            return next(argument for argument in error.args if isinstance(argument, str))
        return ""


def _beneath(error: BaseException) -> BaseException | None:
    try:
        if isinstance(error, BaseExceptionGroup):
            return error.exceptions[0]
        if error.__cause__ is not None:
            return error.__cause__
        return None if error.__suppress_context__ else error.__context__  # noqa: TRY300 - may raise as well
    except Exception:  # noqa: BLE001 - any of these may be a property that raises
        return None


def _typed(error: BaseException) -> ErrorType | None:
    try:
        kind_of_error: type = type(error)
        if not error.__dict__ and _says_nothing(kind_of_error):
            return None
        named = getattr(error, "error_type", None)
        if isinstance(named, str) and named in _ERROR_TYPES:
            return _ERROR_TYPES[named]
        kind = _type_of_class(type(error).__mro__)
        if kind is not None:
            return kind
        if isinstance(error, OSError) and error.errno in _UNREACHABLE:
            return "transport"
        status = _status(error) or _status(getattr(error, "response", None))
    except Exception:  # noqa: BLE001 - an attribute may be a property, and a property may raise
        return None
    return _STATUSES.get(status, "http") if status else None


def _status(holder: object) -> int:
    if holder is None:
        return 0
    for name in ("status_code", "status"):
        value = getattr(holder, name, None)
        if isinstance(value, int) and value >= 400:
            return value
    return 0


@lru_cache(maxsize=256)
def _says_nothing(kind: "type[object]") -> bool:
    """Whether no exception of this class is typed unless an attribute was set on it."""
    asked = ("error_type", "status_code", "status", "response", "__getattr__")
    return (
        _type_of_class(kind.__mro__) is None
        and not issubclass(kind, OSError)
        and not any(hasattr(kind, name) for name in asked)
        and kind.__getattribute__ is BaseException.__getattribute__
    )


@lru_cache(maxsize=256)
def _type_of_class(mro: tuple[type, ...]) -> ErrorType | None:
    names = {base.__name__ for base in mro}
    return next((kind for kind, known in _CLASSES.items() if not known.isdisjoint(names)), None)
