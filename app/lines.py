"""Where the lines of a chat come from: a prompt on a terminal, else standard input as it is."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager

from rich.text import Text

from ..rules.errors import UsageError, cause
from .printing import printer


def on_terminal() -> bool:
    """Whether somebody types, and sees a prompt on standard error. Raises `UsageError` without a standard input."""
    if sys.stdin is None:
        raise UsageError("standard input is closed", "open it, or say it with `turnout run AGENT --say TEXT`")
    return sys.stdin.isatty() and sys.stderr.isatty()


def prompted(runner: asyncio.Runner, label: str, complete: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """The lines that are typed behind `label`; `complete` makes whole lines of the beginning of one.

    Raises `UsageError` at once where there is no `prompt_toolkit`.
    """
    try:
        from .chat_prompt import Prompt  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        hint = 'install it with `pip install "turnout[chat]"`, or pipe the lines in'
        raise UsageError("a chat on a terminal needs prompt_toolkit, which is not installed", hint) from error
    prompt = Prompt(label, complete)
    printer(talk=True).print(Text("/help lists the commands, /quit ends the chat\n", style="dim"))

    def lines() -> Iterator[str]:
        while (line := _uninterrupted(runner, prompt.read)) is not None:
            yield line

    return lines()


@contextmanager
def unechoed() -> Iterator[None]:
    """Do not show meanwhile what is typed ahead: it would stand in the middle of an answer."""
    try:
        import termios  # noqa: PLC0415 - Windows has none, and shows what is typed
    except ImportError:
        yield
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def ended(number: int, _: object) -> None:
        termios.tcsetattr(terminal, termios.TCSANOW, before)  # the terminal outlives the chat
        signal.signal(number, otherwise)
        signal.raise_signal(number)

    silent = [*before]
    silent[3] &= ~termios.ECHO
    otherwise = signal.signal(signal.SIGTERM, ended)
    termios.tcsetattr(terminal, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
        signal.signal(signal.SIGTERM, otherwise)


def piped() -> Iterator[str]:
    """The lines of standard input. Raises `UsageError` where it cannot be read."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")  # no text may end in a traceback
    try:
        for line in iter(sys.stdin.readline, ""):
            yield line.rstrip("\r\n")
    except OSError as error:
        raise UsageError(f"standard input cannot be read: {cause(error)}", "pipe the lines in") from error


def _uninterrupted(runner: asyncio.Runner, read: Callable[[], Coroutine[object, object, str | None]]) -> str | None:
    """A line; an interrupt that comes before the prompt can take it ends nothing."""
    try:
        return runner.run(read())
    except KeyboardInterrupt:
        return ""
