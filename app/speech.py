"""An answer while it is made: shown as it comes, taken back where the task that makes it fails."""

from threading import Lock

from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.text import Text

from ..engine.events import Event, TaskCompleted, TaskFailed, Token
from .printing import plain

_WITHDRAWN = "(an unfinished answer was withdrawn)"
_BETWEEN = "\n\n"


class Speech:
    """A listener to one conversation, which shows pieces of answers behind `label`.

    On a terminal what is shown is erased when it is withdrawn, and at the end of the turn, when the whole reply takes
    its place. Elsewhere it stays, and a line says that it is withdrawn. Pieces may come from other threads.
    """

    def __init__(self, console: Console, label: str) -> None:
        self._console = console
        self._label = label
        self._lock = Lock()
        self._finished: list[str] = []
        self._pieces: list[str] = []
        self._live: Live | None = None
        self._erases = console.is_terminal and not console.is_dumb_terminal

    def hear(self, event: Event) -> None:
        """Show what an event tells of an answer."""
        with self._lock:
            match event:
                case Token():
                    self._add(plain(event.text))
                case TaskCompleted() | TaskFailed(withdraw=False) if self._pieces:
                    self._finish()
                case TaskFailed(withdraw=True):
                    self._withdraw()

    def end(self) -> list[str]:
        """The turn is over; the answers that still stand there, as they were shown."""
        with self._lock:
            if self._pieces:  # whoever made it was interrupted
                self._withdraw()
            self._erase()
            standing = [] if self._erases else [text.strip() for text in self._finished]
            self._finished.clear()
            return standing

    def _add(self, piece: str) -> None:
        if not self._erases:
            self._write(("" if self._pieces else self._label) + piece.replace("\n", f"\n{' ' * cell_len(self._label)}"))
        self._pieces.append(piece)
        if self._erases:
            self._show()

    def _finish(self) -> None:
        self._finished.append("".join(self._pieces))
        self._pieces.clear()
        if not self._erases:
            self._write("\n")

    def _withdraw(self) -> None:
        if not self._erases:
            self._write("\n")
        self._pieces.clear()
        self._erase()
        self._console.print(Text(f"{' ' * cell_len(self._label)}{_WITHDRAWN}", style="dim"), soft_wrap=True)
        if self._erases and self._finished:
            self._show()

    def _show(self) -> None:
        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self._end_of_text(), refresh=True)

    def _erase(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _end_of_text(self) -> Text:
        """As much of what is to be shown as can be erased again: what has left the screen stays there."""
        offset = cell_len(self._label)
        width, height = max(20, self._console.width - offset), max(2, self._console.height - 2)
        text = _BETWEEN.join([*self._finished, "".join(self._pieces)] if self._pieces else self._finished)
        lines = Text(text[-width * height :]).wrap(self._console, width, overflow="fold")
        whole = len(text) <= width * height and len(lines) <= height
        first = Text(self._label, style="bold") if whole else Text("…".ljust(offset), style="dim")
        shown = Text()
        for number, line in enumerate(lines[-height:]):
            line.rstrip()
            shown.append_text(first if number == 0 else Text("\n" + " " * offset)).append_text(line)
        return shown

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()
