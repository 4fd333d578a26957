"""`turnout chat`: what becomes of each line that is typed, a turn of the conversation or the answer of a command."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import nullcontext
from contextvars import copy_context
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ..engine.conversation import Conversation
from ..engine.events import Event, OperatorNote, TurnDone
from ..engine.memory import Memory
from ..engine.turns import Turn
from ..rules.errors import UsageError
from ..rules.spelling import suggestion
from .chat_facts import fact_rows
from .lines import on_terminal, piped, prompted, unechoed
from .printing import plain, print_columns, print_json, print_refusal, printer
from .run import turn_data
from .speech import Speech
from .streams import reserved, unread
from .talks import Talk, failing, fault, prepared
from .transcript import choices, offered, print_reasons, print_turn


def chat(
    agent: Path,
    *,
    context: Sequence[str] = (),
    seed: int | None = None,
    fails: Sequence[str] = (),
    tasks: Sequence[Path] = (),
    as_json: bool = False,
) -> int:
    """Talk with the agent in a folder, line by line from standard input; 1 if a turn ended in `ERROR`, else 0.

    On a terminal there is a prompt. Raises `LoadError` and `UsageError` as `run`.
    """
    typed = on_terminal()
    with reserved(), asyncio.Runner() as runner:  # tasks may print
        talk = prepared(agent, context=context, seed=seed, fails=fails, tasks=tasks)
        chatting = Chat(talk, runner, as_json=as_json, typed=typed)
        lines = prompted(runner, chatting.label, chatting.complete) if typed else piped()
        quiet = unechoed if typed else nullcontext
        with quiet():
            chatting.start()
        while not chatting.over and not unread() and (line := next(lines, None)) is not None:
            try:
                with quiet():
                    chatting.take(line)
            except KeyboardInterrupt:  # outside of a turn
                if not typed:
                    raise
        return chatting.code


class Chat:
    """A conversation, line by line.

    `typed` says that lines stand on the screen already. `over` is set when nothing more can be said, `code` is the
    exit code so far. An interrupt ends the turn that runs, not the chat; a second one leaves the turn to end by itself,
    and what is asked next waits for that.
    """

    def __init__(self, talk: Talk, runner: asyncio.Runner, *, as_json: bool = False, typed: bool = False) -> None:
        self.over = False
        self.code = 0
        self._talk = talk
        self._runner = runner
        self._as_json = as_json
        self._typed = typed
        self._faults = dict(talk.faults)
        self._turns: list[Turn] = []
        self._undone: list[Turn] = []
        self._notes: list[OperatorNote] = []
        self._running: asyncio.Task[object] | None = None
        self._left: asyncio.Task[object] | None = None
        self._fresh: Turn | None = None
        self._name = talk.name.ljust(len("you"))
        self._speech = None if as_json else Speech(printer(), f"{self._name}  ")
        self._conversation = self._carried_on(self._faults)

    @property
    def label(self) -> str:
        """What stands before what is typed."""
        return f"{'you'.ljust(cell_len(self._name))}  "

    @property
    def replies(self) -> list[str]:
        """What the agent offers to be said next."""
        return offered(self._turns[-1]) if self._turns else []

    def complete(self, begun: str) -> list[str]:
        """The lines that one may become that begins so."""
        if begun.startswith("/fail "):
            lines = [f"/fail {task}" for task in self._tasks()]
        elif begun.startswith("/") and not begun.startswith("//"):
            lines = list(COMMANDS)
        else:
            lines = [f"/{value}" if value.startswith("/") else value for value in self.replies]
        small = begun.casefold()
        return [line for line in lines if line.casefold().startswith(small) and plain(line) == line]

    def start(self) -> None:
        """Run the opening turn."""
        self._turn(self._conversation.start(self._talk.context))

    def take(self, line: str) -> None:
        """Do what a line asks for; a blank one asks for nothing."""
        try:
            if line.startswith("/") and not line.startswith("//"):
                name, _, given = (part.strip() for part in line.partition(" "))
                command = _known(name, given)
                if command.work is not Chat.quit:
                    self._settle()
                command.work(self, *[given] if command.takes else [])
                self._answers().print()
            elif line.strip():
                self._settle()
                self._say(self._meant(line))
        except UsageError as error:
            print_refusal(error.message, error.hint)
            printer(talk=True).print()

    # The commands

    def why(self) -> None:
        """Say why rules fired or did not."""
        if turn := self._last():
            print_reasons(self._answers(), turn)

    def facts(self) -> None:
        """Show what rules can ask."""
        if self._last():
            print_columns(self._answers(), fact_rows(self._conversation.memory), left=2, labels="bold")

    def view(self) -> None:
        """Show what the next model would be sent."""
        if turn := self._last():
            rows: list[tuple[str, str]] = [(message.role, message.text) for message in turn.model_view]
            print_columns(self._answers(), rows or [("nothing",)], left=2, labels="bold")

    def fail(self, given: str) -> None:
        """Make a task fail that works, and work again if it was made to fail; without one, list them."""
        if not given:
            states = [(Text("fails", "red") if task in self._faults else "works", task) for task in self._tasks()]
            print_columns(self._answers(), states, left=2)
            return
        task, message = fault(given)
        faults = {name: said for name, said in self._faults.items() if name != task}
        fails = task not in self._faults or "=" in given
        if fails:
            faults[task] = message
        self._conversation = self._carried_on(faults, self._conversation.memory)
        self._faults = faults
        self._tell(f"{task} fails from now on, `/fail {task}` makes it work again" if fails else f"{task} works again")

    def undo(self) -> None:
        """Take the last turn back."""
        if self._conversation.undo():
            self._undone.append(self._turns.pop())
            self._changed("taken back", self._undone[-1])
        else:
            self._tell("there is no turn to take back")

    def redo(self) -> None:
        """Bring back the turn that was taken back last."""
        if self._conversation.redo():
            self._turns.append(self._undone.pop())
            self._changed("brought back", self._turns[-1])
        else:
            self._tell("there is no turn to bring back")

    def help(self) -> None:
        """List the commands."""
        rows = [(f"{name} {command.takes}".strip(), command.about) for name, command in COMMANDS.items()]
        print_columns(self._answers(), [*rows, *_OTHERWISE], left=2, labels="bold")

    def quit(self) -> None:
        """End the chat."""
        self.over = True

    # What they need

    def _meant(self, line: str) -> str:
        """What a line says: a number stands for the quick reply that has it, unless one is that very number."""
        if line.startswith("//"):
            return line[1:]
        replies = self.replies
        numbered = {str(number): value for number, value in enumerate(replies, start=1)}
        return line if line in replies else numbered.get(line.rstrip(), line)

    def _say(self, text: str) -> None:
        if not self._typed and not self._as_json:
            print_columns(printer(), [(self.label.removesuffix("  "), text)], labels="bold")
        self._turn(self._conversation.say(text, self._talk.context))

    def _turn(self, running: Coroutine[object, object, Turn]) -> None:
        self._run(self._noted(running))
        if self._running is not None and not self._running.done():
            self._left = self._running
            if self._speech:
                self._speech.end()
            self._tell("the turn has not ended yet: what comes next waits for it")
        else:
            running.close()  # it may have been interrupted before it began
            self._ended()

    async def _noted(self, running: Coroutine[object, object, Turn]) -> None:
        self._running = asyncio.current_task()
        await running

    def _run(self, work: Coroutine[object, object, object]) -> None:
        try:
            self._runner.run(work, context=copy_context())  # a turn that is left behind must not be in the next one's
        except Exception:
            raise
        except KeyboardInterrupt:
            pass  # the turn says so
        except BaseException as error:  # noqa: BLE001 - a task that wants to end everything ends its turn
            self.code = 1
            printer(talk=True).print(f"the turn was interrupted: {type(error).__name__}", soft_wrap=True)

    def _settle(self) -> None:
        """Wait for the turn that was left to end by itself; raises `UsageError` where an interrupt ends that."""
        if self._left is None:
            return
        self._run(asyncio.wait([self._left]))
        if not self._left.done():
            raise UsageError("the last turn has not ended yet", "say it again later, or end the chat with `/quit`")
        if not self._left.cancelled():
            self._left.exception()  # it is seen, so nobody complains of it
        self._left = None
        self._ended()

    def _ended(self) -> None:
        shown = self._speech.end() if self._speech else ()
        if self._fresh is not None:
            turn, self._fresh = self._fresh, None
            self._show(turn, shown)
        self._notes.clear()

    def _show(self, turn: Turn, shown: Sequence[str]) -> None:
        self._undone.clear()
        if self._as_json:
            print_json(turn_data(turn))
        else:
            print_turn(turn, self._name, self._notes, spoken=self._talk.spoken, chat=True, shown=shown)
        if turn.state == "ERROR":
            self.code = 1
        if turn.state == "ENDED":
            self.over = True
            if self._as_json:
                self._tell("the conversation has ended")

    def _heard(self, event: Event) -> None:
        if isinstance(event, TurnDone):
            self._turns.append(event.turn)
            self._fresh = event.turn
        elif self._speech and self._left is None:
            self._speech.hear(event)

    def _carried_on(self, faults: Mapping[str, str], memory: Memory | None = None) -> Conversation:
        """The conversation that has this memory, with the tasks failing that are to."""
        return failing(self._talk.agent, faults).conversation(
            chance=self._talk.chance, listeners=[self._heard], operators=[self._notes.append], memory=memory
        )

    def _tasks(self) -> list[str]:
        return list(dict.fromkeys(self._talk.agent.tasks))

    def _last(self) -> Turn | None:
        if not self._turns:
            self._tell("there was no turn yet")
            return None
        return self._turns[-1]

    def _changed(self, how: str, turn: Turn) -> None:
        what = f"“{turn.input}” and its answer" if turn.input else "the opening turn"
        self._tell(f"{how}: {what}")
        if replies := self.replies:
            print_columns(self._answers(), [(" " * cell_len(self._name), choices(replies, numbered=True))])

    def _tell(self, text: str) -> None:
        print_columns(self._answers(), [(text,)], left=2)

    def _answers(self) -> Console:
        """Where commands answer: with `--json`, results are turns alone."""
        return printer(talk=self._as_json)


class Command(NamedTuple):
    """A command of the chat; `takes` names what may stand behind it, and `work` is given."""

    work: Callable[..., None]
    about: str
    takes: str = ""


COMMANDS: Mapping[str, Command] = {
    "/why": Command(Chat.why, "why rules fired or did not in the last turn"),
    "/facts": Command(Chat.facts, "what rules can ask, as the last turn left it"),
    "/view": Command(Chat.view, "what the next model would be sent"),
    "/fail": Command(
        Chat.fail, "make a task fail from now on, or work again; without one, list the tasks", "[TASK[=MESSAGE]]"
    ),
    "/undo": Command(Chat.undo, "take the last turn back"),
    "/redo": Command(Chat.redo, "bring back what was taken back"),
    "/help": Command(Chat.help, "this list"),
    "/quit": Command(Chat.quit, "end the chat, as Ctrl-D does"),
}
_OTHERWISE = (
    ("1, 2, …", "say the quick reply of that number; with a blank before it, say the number"),
    ("//text", "say a text that begins with a slash: /text"),
    ("Ctrl-C", "end the turn that runs, or clear the line"),
)


def _known(name: str, given: str) -> Command:
    """The command of that name. Raises `UsageError` where there is none, or where nothing may stand behind it."""
    command = COMMANDS.get(name)
    if command is None:
        hint = suggestion(name, COMMANDS, "see `/help`")
        raise UsageError(f"there is no command `{name}`", f"{hint} (`/{name}` says `{name}`)")
    if given and not command.takes:
        raise UsageError(f"`{name}` takes nothing", f"write `{name}` alone")
    return command
