"""Standard output and error: who reads them may stop, what they go to may be full, and tasks may print, too."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from contextvars import ContextVar
from io import StringIO
from typing import TextIO, cast

from ..rules.errors import cause

_results: ContextVar[TextIO | None] = ContextVar("turnout_results", default=None)


class Stream:
    """A stream that takes everything. Once something could not be written, the rest is dropped.

    `failure` says why; it is empty where the reader has only stopped reading.
    """

    def __init__(self, stream: TextIO, text: "Stream | None" = None) -> None:
        self.gone = False
        self.failure = ""
        self._stream = stream
        self._text = text or self  # what knows that something went wrong, of a text and its bytes

    @property
    def buffer(self) -> "Stream":
        """The bytes below a text."""
        return Stream(cast("TextIO", self._stream.buffer), self)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text (to bytes: bytes), or drop it."""
        self._tried(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Write what was kept back, or drop it."""
        self._tried(self._stream.flush)

    def _tried(self, work: Callable[[], object]) -> None:
        if self._text.gone:
            return
        try:
            work()
        except OSError as error:
            self._text.gone = True
            if error.errno != errno.EPIPE:
                self._text.failure = cause(error)
            with suppress(OSError, ValueError):  # what is still kept back must not fail again when Python ends
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self._stream.fileno())
                os.close(nowhere)


@contextmanager
def guarded(out: TextIO) -> Iterator[Stream]:
    """Make standard output, which is `out`, and standard error streams that take everything."""
    stream = Stream(out)
    # A closed standard error is None in Python: what nobody can be told is dropped.
    talk = Stream(sys.stderr or StringIO())
    with redirect_stdout(cast("TextIO", stream)), redirect_stderr(cast("TextIO", talk)):
        yield stream
        stream.flush()
        talk.flush()


@contextmanager
def reserved() -> Iterator[None]:
    """Keep standard output for results: what other code prints meanwhile goes to standard error."""
    token = _results.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _results.reset(token)


def results() -> TextIO:
    """Where results go."""
    return _results.get() or sys.stdout


def unread() -> bool:
    """Whether results go nowhere any more."""
    return bool(getattr(results(), "gone", False))
