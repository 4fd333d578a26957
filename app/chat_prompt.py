"""The prompt of `turnout chat` on a terminal: one line after another, with completions and a history.

The history is kept in memory only: what is typed may be secret.
"""

import sys
from collections.abc import Callable, Iterable, Iterator

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output, create_output

_MENU = 4
"""Lines that are kept free for completions."""


class Prompt:
    """Asks for lines behind `label`; `complete` makes whole lines of the beginning of one.

    It is talk, and so stands on standard error unless another `output` is given.
    """

    def __init__(
        self,
        label: str,
        complete: Callable[[str], Iterable[str]],
        *,
        input: Input | None = None,
        output: Output | None = None,
    ) -> None:
        keys = KeyBindings()

        @keys.add("c-c")
        @keys.add("<sigint>")
        def clear(event: KeyPressEvent) -> None:
            event.current_buffer.reset()

        self._session: PromptSession[str] = PromptSession(
            [("bold", label)],
            completer=_Completions(complete),
            history=InMemoryHistory(),
            key_bindings=keys,
            reserve_space_for_menu=_MENU,
            input=input,
            output=output or create_output(stdout=sys.stderr),
        )

    async def read(self) -> str | None:
        """The next line; None at its end, which is Ctrl-D."""
        try:
            return await self._session.prompt_async()
        except EOFError:
            return None


class _Completions(Completer):
    def __init__(self, complete: Callable[[str], Iterable[str]]) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002 - its protocol
        begun = document.text_before_cursor
        for line in self._complete(begun):
            yield Completion(line, start_position=-len(begun))
