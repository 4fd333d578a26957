"""Keeps what is done for a request out of the logs of the libraries that do it: they write addresses and headers."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LOGGERS = (
    "httpx2",
    *(f"httpcore2.{name}" for name in ("connection", "http11", "http2", "proxy", "socks")),
    "openai",
    *(f"openai.{name}" for name in ("_base_client", "_response", "_legacy_response")),
)

_calling: ContextVar[bool] = ContextVar("turnout_calling", default=False)


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep what is done inside out of the logs of HTTP libraries; others' use of them is logged as ever."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_not_calling)  # once: the same filter is not added again
    token = _calling.set(True)
    try:
        yield
    finally:
        _calling.reset(token)


def _not_calling(record: logging.LogRecord) -> bool:  # noqa: ARG001 - the signature of a filter
    return not _calling.get()
