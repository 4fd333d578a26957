"""`turnout chat`: lines that become turns or commands, answers that stream, and the prompt on a terminal."""

import asyncio
import io
import os
import random
import re
import signal
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from building import CONTINUE, agent, on_action, output, parser, rules, step
from doors import QUESTION, WEATHER, Ended, copy_of_weather, refused, turnout
from turnout.app.chat import COMMANDS, Chat
from turnout.app.chat_prompt import Prompt
from turnout.app.lines import prompted, unechoed
from turnout.app.speech import Speech
from turnout.app.talks import Talk
from turnout.engine.agents import Agent
from turnout.engine.events import TaskCompleted, TaskFailed, Token
from turnout.engine.failure import PublicText
from turnout.engine.tasks import FunctionTask
from turnout.rules.agents import Policy
from turnout.rules.errors import UsageError

WITHDRAWN = "(an unfinished answer was withdrawn)"


def talk(agent: Agent, **given: Any) -> Talk:
    return Talk(**{"agent": agent, "faults": {}, "context": {}, "chance": random.Random(), **given})


class Chatting:
    """A chat with an agent, and what it printed since it was asked last."""

    def __init__(self, made: Agent, capsys: pytest.CaptureFixture[str], **given: Any) -> None:
        self._runner = asyncio.Runner()
        self._capsys = capsys
        self.chat = Chat(talk(made, **given), self._runner)

    def take(self, *lines: str) -> str:
        for line in lines:
            self.chat.take(line)
        return self.printed.out

    @property
    def printed(self) -> Any:
        return self._capsys.readouterr()

    def close(self) -> None:
        self._runner.close()


@pytest.fixture
def chatting(capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    made: list[Chatting] = []

    def make(agent: Agent, **given: Any) -> Chatting:
        made.append(Chatting(agent, capsys, **given))
        return made[-1]

    yield make
    for each in made:
        each.close()


def speaking(*, fails: bool = False) -> FunctionTask:
    """A task that streams what it was told, in pieces, and then says it or raises."""

    async def speak(turn: Any) -> None:
        answer = f"You said {turn.input or 'nothing'}."
        for piece in answer.split(" "):
            turn.stream(f"{piece} ")
        if fails or turn.input == "break":
            raise RuntimeError("the stream was cut")
        turn.say(answer)

    return FunctionTask("model", speak)


def model(task: FunctionTask | None = None, policy: Policy = CONTINUE) -> Agent:
    """An agent with one task that streams, and an answer for its failure."""
    fallback = rules([on_action("Fallback", "task_failed_model", "sorry")])
    return agent(fallback, step("model"), output(sorry="I am sorry."), tasks=[task or speaking()], policy=policy)


def remembering() -> Agent:
    """An agent that counts its turns in a property, and offers two things."""

    async def count(turn: Any) -> None:
        number = int(turn.properties.get("number", 0)) + 1
        turn.set_property("number", number)
        turn.say(f"turn {number}: {turn.input}")
        turn.offer(f"after {number}")
        turn.offer("/slash")

    return agent(parser(), step("count"), tasks=[FunctionTask("count", count)])


def piped(monkeypatch: pytest.MonkeyPatch, lines: str, *arguments: object) -> Ended:
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    return turnout("chat", *arguments)


def tasks_file(folder: Path, body: str) -> Path:
    """A tasks file with a task in the place of the sample's calls."""
    file = folder / "tasks.py"
    file.write_text(
        f"from turnout.engine.tasks import task\n\n@task('ai.labs.httpcalls')\nasync def calls(turn):\n    {body}\n",
        encoding="utf-8",
    )
    return file


# The command


def test_it_begins_with_the_opening_turn_and_ends_with_the_input(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = piped(monkeypatch, "", WEATHER, "--json")
    assert (ended.code, ended.err) == (0, "")
    assert [turn["actions"] for turn in ended.lines] == [["CONVERSATION_START", "greet"]]


def test_what_is_said_is_shown_before_its_answer_within_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = piped(monkeypatch, f"\n  \n{QUESTION}\r\n/why\n/facts\n/view\n/help\n", WEATHER)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.index(QUESTION) < ended.out.index("I can't reach the weather service")
    assert ended.out.count("you      ") == 1
    assert max(map(len, ended.out.splitlines())) <= 80


def test_with_json_results_are_turns_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What commands answer is talk then."""
    ended = piped(monkeypatch, "weather\n1\n/undo\n/facts\nbye\n", WEATHER, "--json")
    assert [turn["input"] for turn in ended.lines] == ["", "weather", "Vienna", "bye"]
    assert list(ended.lines[0]) == list(turnout("run", WEATHER, "--start", "--json").data)
    assert "taken back: “Vienna”" in ended.err
    assert "the conversation has ended" in ended.err


def test_the_end_of_the_conversation_is_told_and_ends_the_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = piped(monkeypatch, "bye\nhello\n", WEATHER)
    assert ended.code == 0
    assert "the conversation is now ENDED" in ended.out
    assert "hello" not in ended.out


def test_a_turn_that_ends_in_error_makes_the_exit_code_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = copy_of_weather(tmp_path, enabled=False)
    assert piped(monkeypatch, f"{QUESTION}\nhello\n", broken, "--json").code == 1


def test_context_seed_and_faults_are_those_of_run(monkeypatch: pytest.MonkeyPatch) -> None:
    told = ("--seed", "3", "--context", "channel=voice", "--fail", "ai.labs.httpcalls=gone", "--json")
    chatted = piped(monkeypatch, f"{QUESTION}\n", WEATHER, *told).lines
    ran = turnout("run", WEATHER, "--start", "--say", QUESTION, *told).lines
    assert [turn["output"] for turn in chatted] == [turn["output"] for turn in ran]
    assert [one["reason"] for turn in chatted for one in turn["outcomes"] if one["reason"]] == ["gone"] * 2


@pytest.mark.parametrize("wrong", [("--fail", "wether"), ("--context", "x"), ("--sed", "1")])
def test_a_wrong_call_is_refused(wrong: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(piped(monkeypatch, "hello\n", WEATHER, *wrong))


def test_a_closed_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert refused(turnout("chat", WEATHER))


def test_a_task_that_wants_to_end_everything_ends_its_turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tasks_file(tmp_path, "if turn.input == 'end it': raise SystemExit(7)")
    ended = piped(monkeypatch, "end it\nhello\n", WEATHER, "--tasks", file, "--json")
    assert ended.code == 1
    assert [turn["state"] for turn in ended.lines] == ["READY", "EXECUTION_INTERRUPTED", "READY"]
    assert "the turn was interrupted: SystemExit" in ended.err


def test_an_interrupt_while_the_chat_starts_ends_it_with_the_exit_code_of_shells(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tasks_file(tmp_path, "pass")
    file.write_text(f"import signal\nsignal.raise_signal(signal.SIGINT)\n{file.read_text()}")
    ended = piped(monkeypatch, "hello\n", WEATHER, "--tasks", file)
    assert (ended.code, ended.out, ended.err) == (130, "", "interrupted\n")


def test_without_prompt_toolkit_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "turnout.app.chat_prompt")
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    with asyncio.Runner() as runner, pytest.raises(UsageError, match="prompt_toolkit") as raised:
        prompted(runner, "you  ", lambda _: [])
    assert 'pip install "turnout[chat]"' in raised.value.hint


# Lines


def test_the_number_of_a_quick_reply_says_it(chatting: Any) -> None:
    chat = chatting(remembering())
    assert "1 [ after 1 ]  2 [ /slash ]" in chat.take("hello")
    assert "turn 2: after 1" in chat.take("1")
    assert "turn 3: /slash" in chat.take("2 ")


def test_a_number_that_is_no_choice_is_said(chatting: Any) -> None:
    chat = chatting(remembering())
    assert "turn 1: 1" in chat.take("1")
    assert "turn 2: 3" in chat.take("3")
    assert re.search(r"turn 3: +1", chat.take(" 1"))


def test_a_quick_reply_that_is_a_number_is_that_number(chatting: Any) -> None:
    async def rate(turn: Any) -> None:
        turn.say(f"You said {turn.input}.")
        for value in "321":
            turn.offer(value)

    chat = chatting(agent(step("rate"), tasks=[FunctionTask("rate", rate)]))
    chat.take("hello")
    assert "You said 3." in chat.take("3")


def test_a_text_that_begins_with_a_slash_is_said_with_two(chatting: Any) -> None:
    assert "turn 1: /help me" in chatting(remembering()).take("//help me")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/wyh", "did you mean `/why`?"),
        ("/", "see `/help`"),
        ("/x y", "`//x` says `/x`"),
        ("/undo 2", "write `/undo` alone"),
    ],
)
def test_a_command_that_there_is_not_is_no_turn_and_is_told_what_was_meant(line: str, said: str, chatting: Any) -> None:
    chat = chatting(remembering())
    chat.chat.take(line)
    printed = chat.printed
    assert said in " ".join(printed.err.split())
    assert printed.out == ""


def test_why_says_what_kept_the_rules(chatting: Any) -> None:
    chat = chatting(model())
    assert "there was no turn yet" in chat.take("/why")
    chat.take("hello")
    words = chat.take("/why")
    assert "rules that fired: none" in words
    assert "wanted  task model failed" in words
    chat.take("break")
    assert "rules that fired: Fallback" in chat.take("/why")


def test_facts_are_those_that_rules_can_ask(chatting: Any) -> None:
    async def learn(turn: Any) -> None:
        turn.set_property("city", "Vienna")
        turn.set_property("key", "canary-4711", "secret")
        turn.show("httpCalls", {"weather": {"temp": 21}})

    learned = agent(parser(), step("learn"), step("model"), tasks=[FunctionTask("learn", learn), speaking(fails=True)])
    chat = chatting(learned, context={"channel": "voice"})
    chat.take("hello")
    words = chat.take("/facts")
    for fact in (
        "actions      task_failed_model",
        "expressions  unknown(hello)",
        "context      channel: voice",
        "properties   city: Vienna",
        'values       httpCalls: {"weather": {"temp": 21}}',
        "model failed (unknown)",
        "digests      model: Task 'model' failed: the stream was cut",
    ):
        assert fact in words
    assert "canary" not in words


def test_the_view_is_what_a_model_would_be_sent(chatting: Any) -> None:
    chat = chatting(model())
    chat.take("break")
    assert " ".join(chat.take("/view").split()) == (
        "user break [errorDigest model] Task 'model' failed: the stream was cut assistant I am sorry."
    )


def test_fail_makes_a_task_fail_and_work_again(chatting: Any) -> None:
    chat = chatting(model())
    assert "works  model" in chat.take("/fail")
    chat.take("/fail model")
    assert "fails  model" in chat.take("/fail")
    assert "I am sorry." in chat.take("hello")
    assert "model works again" in chat.take("/fail model")
    assert "You said hello." in chat.take("hello")


def test_fail_may_have_a_message_and_changes_nothing_for_a_task_that_there_is_not(chatting: Any) -> None:
    chat = chatting(model())
    chat.take("/fail model=out of words")
    chat.chat.take("/fail modl")
    assert "did you mean `model`?" in chat.printed.err
    assert "out of words" in chat.take("hello")


def test_a_conversation_goes_on_when_a_task_is_made_to_fail(chatting: Any) -> None:
    chat = chatting(remembering())
    chat.take("hello", "/fail count", "/fail count")
    assert "turn 2: again" in chat.take("again")


def test_undo_and_redo_say_what_they_did_and_properties_follow(chatting: Any) -> None:
    chat = chatting(remembering())
    chat.take("one", "two")
    undone = chat.take("/undo")
    assert "taken back: “two”" in undone
    assert "1 [ after 1 ]" in undone
    assert "number: 1" in chat.take("/facts")
    redone = chat.take("/redo")
    assert "brought back: “two”" in redone
    assert "number: 2" in chat.take("/facts")
    assert "no turn to bring back" in chat.take("/redo")
    chat.take("/undo", "/undo")
    assert "no turn to take back" in chat.take("/undo")
    assert "turn 1: anew" in chat.take("anew")
    assert "no turn to bring back" in chat.take("/redo")


def test_the_opening_turn_can_be_taken_back(chatting: Any) -> None:
    chat = chatting(remembering())
    chat.chat.start()
    assert "taken back: the opening turn" in chat.take("/undo")


def test_undo_takes_back_what_happened_before_a_task_was_made_to_fail(chatting: Any) -> None:
    chat = chatting(remembering())
    chat.take("one", "/fail count", "/undo", "/fail count")
    assert "turn 1: one" in chat.take("one")


def test_the_help_lists_every_command(chatting: Any) -> None:
    words = chatting(remembering()).take("/help")
    assert all(name in words for name in COMMANDS)


def test_quit_ends_the_chat(chatting: Any) -> None:
    chat = chatting(remembering())
    chat.take("/quit")
    assert chat.chat.over


def test_an_interrupt_ends_the_turn_and_not_the_chat(chatting: Any) -> None:
    async def wait(turn: Any) -> None:
        turn.say("a word")
        turn.stream("a word")
        if turn.input == "wait":
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()

    chat = chatting(agent(step("wait"), tasks=[FunctionTask("wait", wait)]))
    interrupted = chat.take("wait")
    assert "the conversation is now EXECUTION_INTERRUPTED" in interrupted
    assert WITHDRAWN in interrupted
    assert "a word" in chat.take("hello")
    assert not chat.chat.over


def leaving(gate: asyncio.Event, *, swallows: bool) -> Agent:
    """An agent whose turn is interrupted twice, and that ends it when the gate is open."""

    async def wait(turn: Any) -> None:
        turn.say(f"You said {turn.input}.")
        if turn.input != "wait":
            return
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
            await gate.wait()
            if not swallows:
                raise

    return agent(step("wait"), tasks=[FunctionTask("wait", wait)])


@pytest.mark.parametrize("swallows", [False, True])
def test_a_turn_that_two_interrupts_leave_is_waited_for_by_what_comes_next(swallows: bool, chatting: Any) -> None:
    gate = asyncio.Event()
    chat = chatting(leaving(gate, swallows=swallows))
    assert "the turn has not ended yet" in chat.take("wait")
    gate.set()
    words = " ".join(chat.take("hello", "/why").split())
    ended = "the conversation is now EXECUTION_INTERRUPTED"
    assert words.startswith(f"{ended} you hello test You said hello. rules that fired")
    assert not chat.chat.over


def test_an_interrupt_while_a_turn_is_waited_for_refuses_the_line_and_not_the_chat(chatting: Any) -> None:
    gate = asyncio.Event()
    chat = chatting(leaving(gate, swallows=False))
    chat.take("wait")
    for line in ("hello", "/undo"):
        chat._runner.get_loop().call_soon(signal.raise_signal, signal.SIGINT)
        chat.chat.take(line)
        printed = chat.printed
        assert "the last turn has not ended yet" in printed.err
        assert printed.out == ""
    chat.take("/quit")
    assert chat.chat.over


def test_what_can_be_typed_is_completed(chatting: Any) -> None:
    chat = chatting(remembering())
    chat.take("hello")
    assert chat.chat.complete("") == ["after 1", "//slash"]
    assert chat.chat.complete("AFT") == ["after 1"]
    assert chat.chat.complete("/f") == ["/facts", "/fail"]
    assert chat.chat.complete("/fail c") == ["/fail count"]
    assert "turn 2: /slash" in chat.take("//slash")


# Answers while they are made


def test_a_streamed_answer_is_not_printed_twice(chatting: Any) -> None:
    words = chatting(model()).take("hello")
    assert " ".join(words.split()) == "you hello test You said hello."


def test_the_opening_turn_streams_too(chatting: Any) -> None:
    chat = chatting(model())
    chat.chat.start()
    assert " ".join(chat.printed.out.split()) == "test You said nothing."


def test_a_withdrawn_answer_is_marked_and_followed_by_the_reply(chatting: Any) -> None:
    lines = [line.strip() for line in chatting(model()).take("break").splitlines()]
    start = lines.index("test  You said break.")
    assert lines[start + 1 : start + 3] == [WITHDRAWN, "test  I am sorry."]


def test_an_answer_that_became_another_is_printed(chatting: Any) -> None:
    async def change(turn: Any) -> None:
        turn.stream("first words")
        turn.say("last words")

    words = chatting(agent(step("m"), tasks=[FunctionTask("m", change)])).take("hello")
    assert " ".join(words.split()) == (
        "you hello test first words (what was shown here is not what was said) test last words"
    )


def test_an_answer_of_which_the_beginning_was_streamed_goes_on_there(chatting: Any) -> None:
    async def begin(turn: Any) -> None:
        turn.stream("hello ")
        turn.say("hello world")
        turn.say("hello")

    async def end(turn: Any) -> None:
        turn.stream("hello")

    tasks = [FunctionTask("m", begin), FunctionTask("n", end)]
    lines = chatting(agent(step("m"), step("n"), tasks=tasks)).take("hello").rstrip().splitlines()
    assert [line.rstrip() for line in lines] == ["you   hello", "test  hello", "test  hello", "      world"]


def test_an_answer_that_was_streamed_and_never_said_is_marked(chatting: Any) -> None:
    async def stream(turn: Any) -> None:
        turn.stream("first words")

    words = chatting(agent(step("m"), tasks=[FunctionTask("m", stream)])).take("hello")
    assert " ".join(words.split()) == (
        "you hello test first words (what was shown here is not what was said) test (nothing)"
    )


def test_an_answer_that_is_said_twice_is_printed_once_more(chatting: Any) -> None:
    async def repeat(turn: Any) -> None:
        turn.stream("again")
        turn.say("again")
        turn.say("again")

    assert chatting(agent(step("m"), tasks=[FunctionTask("m", repeat)])).take("hello").count("again") == 2


@pytest.mark.parametrize("terminal", [False, True])
def test_no_piece_of_an_answer_can_rewrite_the_terminal(terminal: bool) -> None:
    """Not even where an escape sequence is cut between two pieces."""
    out = io.StringIO()
    speech = Speech(Console(file=out, force_terminal=terminal, width=80, height=24, color_system=None), "agent  ")
    for piece in ("red \x1b", "[31m, title \x1b]0;x", "\x07, back\r, turned \u202e, \x9b2J"):
        speech.hear(Token("model", piece))
    speech.end()
    ours = re.compile(r"\x1b\[(\?25[lh]|2K|1A|[01]m)|\r")
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", ours.sub("", out.getvalue()) if terminal else out.getvalue()
    )
    assert "\\u001b" in out.getvalue()


def screen(text: str) -> list[str]:
    """The lines that a terminal shows of what was written, for the few sequences that are written."""
    lines, row, column = [""], 0, 0
    for found in re.finditer(r"\x1b\[(\?25[lh]|\d*[A-Za-z])|[^\x1b]", text):
        match found[0]:
            case "\x1b[2K":
                lines[row] = ""
            case "\x1b[1A":
                row -= 1
            case "\r":
                column = 0
            case "\n":
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            case sign if not sign.startswith("\x1b"):
                lines[row] = lines[row][:column].ljust(column) + sign + lines[row][column + 1 :]
                column += 1
    return [line.rstrip() for line in lines if line.strip()]


def test_on_a_terminal_a_withdrawn_answer_is_erased() -> None:
    out = io.StringIO()
    speech = Speech(Console(file=out, force_terminal=True, width=80, height=10, color_system=None), "agent  ")
    speech.hear(Token("first", "A first answer"))
    speech.hear(TaskCompleted("first", "task", 1, ()))
    for _ in range(90):
        speech.hear(Token("second", "some more words "))
    assert "words" in screen(out.getvalue())[-1]
    assert len(screen(out.getvalue())) <= 10
    speech.hear(TaskFailed("second", "task", 1, "unknown", PublicText("cut"), withdraw=True))
    assert screen(out.getvalue()) == [f"       {WITHDRAWN}", "agent  A first answer"]
    assert speech.end() == []
    assert screen(out.getvalue()) == [f"       {WITHDRAWN}"]


def test_what_a_task_that_fails_has_said_all_the_same_stays() -> None:
    out = io.StringIO()
    speech = Speech(Console(file=out, width=80), "agent  ")
    speech.hear(Token("model", "A word"))
    speech.hear(TaskFailed("model", "task", 1, "unknown", PublicText("cut")))
    assert speech.end() == ["A word"]
    assert WITHDRAWN not in out.getvalue()


# The prompt


def typed(keys: str) -> list[str | None]:
    """The lines that the prompt gives for keys, up to the end."""

    async def read(prompt: Prompt) -> list[str | None]:
        lines = [await prompt.read()]
        while lines[-1] is not None:
            lines.append(await prompt.read())
        return lines

    with create_pipe_input() as source:
        source.send_text(keys)
        return asyncio.run(read(Prompt("you  ", lambda _: [], input=source, output=DummyOutput())))


def test_the_prompt_gives_line_after_line_until_ctrl_d() -> None:
    assert typed("hello\rthere\r\x04") == ["hello", "there", None]


def test_ctrl_c_clears_the_line() -> None:
    assert typed("secret\x03hello\r\x04") == ["hello", None]


@pytest.mark.parametrize("ended", [False, True])
def test_what_is_typed_ahead_is_not_shown_during_a_turn(ended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the turn it is shown again, also when the program is ended meanwhile."""

    def echoes() -> bool:
        return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)

    heard: list[bool] = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(echoes()))
    master, terminal = os.openpty()
    try:
        with os.fdopen(terminal) as stdin, os.fdopen(master):
            monkeypatch.setattr(sys, "stdin", stdin)
            with unechoed():
                assert not echoes()
                if ended:
                    signal.raise_signal(signal.SIGTERM)
            assert echoes()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [True] * ended


def test_what_was_typed_is_remembered_for_the_arrow_keys_and_nowhere_else() -> None:
    async def read(prompt: Prompt) -> list[str]:
        await prompt.read()
        return prompt._session.history.get_strings()

    with create_pipe_input() as source:
        source.send_text("hello\r")
        prompt = Prompt("you  ", lambda _: [], input=source, output=DummyOutput())
        assert asyncio.run(read(prompt)) == ["hello"]
        assert type(prompt._session.history) is InMemoryHistory


def test_a_completion_takes_the_place_of_what_was_typed() -> None:
    with create_pipe_input() as source:
        prompt = Prompt("you  ", lambda begun: [f"{begun}acts"], input=source, output=DummyOutput())
        assert prompt._session.completer is not None
        (made,) = prompt._session.completer.get_completions(Document("/f, then", 2), CompleteEvent())
    assert (made.text, made.start_position) == ("/facts", -2)
