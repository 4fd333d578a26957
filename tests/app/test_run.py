"""`turnout run`: an agent, what is said to it, and the turns that come of it."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doors import QUESTION, WEATHER, copy_of_weather, edit, refused, turnout, write
from turnout.app.command import main

FALLBACK = "I can't reach the weather service right now. Shall I try again?"
FAILED = "task_failed_ai.labs.httpcalls"


def test_json_prints_one_object_a_turn_with_the_keys_of_the_contract() -> None:
    ended = turnout("run", WEATHER, "--say", QUESTION, "--say", "hello", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert [list(turn) for turn in ended.lines] == [
        [
            "input",
            "state",
            "actions",
            "output",
            "quickReplies",
            "taskErrors",
            "outcomes",
            "rules",
            "modelView",
        ]
    ] * 2


def test_a_failed_call_is_answered_in_the_same_turn() -> None:
    turn = turnout("run", WEATHER, "--say", QUESTION, "--json").data
    assert turn["input"] == QUESTION
    assert turn["state"] == "READY"
    assert turn["actions"] == ["current_weather", FAILED, "weather_unavailable"]
    assert [item["text"] for item in turn["output"]] == [FALLBACK]
    assert [reply["value"] for reply in turn["quickReplies"]] == ["The weather in Vienna", "Bye"]
    assert turn["rules"] == {
        "fired": ["Weather in a city", "No weather today"],
        "failed": ["Welcome"],
        "rerouted": ["No weather today"],
    }


def test_caller_model_and_operator_are_told_each_their_own() -> None:
    turn = turnout("run", WEATHER, "--say", QUESTION, "--json").data
    (error,) = turn["taskErrors"]
    assert list(error) == ["type", "taskId", "taskType", "text"]
    assert error["text"].startswith("Task 'eddi://ai.labs.httpcalls' failed: ")
    assert len(error["text"]) <= 200
    assert "http:" not in error["text"]
    failed = [outcome for outcome in turn["outcomes"] if outcome["status"] == "failed"]
    assert [(one["task"], one["errorType"]) for one in failed] == [("ai.labs.httpcalls", "transport")]
    assert list(failed[0]) == ["task", "status", "errorType", "reason", "durationMs"]
    user, agent = turn["modelView"]
    assert user == {"role": "user", "text": f"{QUESTION}\n[errorDigest ai.labs.httpcalls] {error['text']}"}
    assert agent == {"role": "assistant", "text": FALLBACK}


def test_the_second_failure_is_answered_with_the_second_text() -> None:
    turns = turnout("run", WEATHER, "--say", QUESTION, "--say", QUESTION, "--json").lines
    first, second = (turn["output"][0]["text"] for turn in turns)
    assert first == FALLBACK
    assert second.startswith("The weather service still does not answer.")


def test_people_read_question_answer_and_who_is_told_what_within_80_columns() -> None:
    ended = turnout("run", WEATHER, "--say", QUESTION)
    assert (ended.code, ended.err) == (0, "")
    shown = [
        QUESTION,
        FALLBACK,
        "[ Bye ]",
        "No weather today",
        "the caller is told",
        "the next model would see",
    ]
    for text in [*shown, "[errorDigest ai.labs.httpcalls]", "the operator sees", "transport"]:
        assert text in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_a_turn_without_a_failure_is_only_question_and_answer() -> None:
    ended = turnout("run", WEATHER, "--say", "weather, please")
    words = " ".join(ended.out.split())
    assert words == "you weather, please weather In which city? [ Vienna ] [ Lisbon ]"


def test_a_turn_that_ends_in_error_exits_with_1(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path, enabled=False)
    ended = turnout("run", agent, "--say", QUESTION, "--json")
    assert ended.code == 1
    assert ended.data["state"] == "ERROR"
    assert "the turn ended with it" in turnout("run", agent, "--say", QUESTION).out


def test_an_error_in_an_earlier_turn_counts_too(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path, continueOnFailure=False)
    ended = turnout("run", agent, "--say", QUESTION, "--say", "hello", "--json")
    assert ended.code == 1
    assert [turn["state"] for turn in ended.lines] == ["ERROR", "READY"]


@pytest.mark.parametrize("name", ["ai.labs.output", "eddi://ai.labs.output"])
def test_fail_makes_a_task_raise_whatever_its_id_looks_like(name: str) -> None:
    turn = turnout("run", WEATHER, "--say", "hello", "--fail", f"{name}=out of = words", "--json").data
    (failed,) = [one for one in turn["outcomes"] if one["status"] == "failed"]
    assert (failed["task"], failed["errorType"], failed["reason"]) == (
        "ai.labs.output",
        "unknown",
        "out of = words",
    )


def test_fail_for_a_task_that_is_not_there_is_refused_with_the_nearest() -> None:
    ended = turnout("run", WEATHER, "--say", "hello", "--fail", "ai.labs.outputs")
    assert refused(ended)
    assert "did you mean `ai.labs.output`?" in ended.err


def test_start_runs_the_opening_turn_first() -> None:
    turns = turnout("run", WEATHER, "--start", "--say", "hello", "--json").lines
    assert [turn["input"] for turn in turns] == ["", "hello"]
    assert turns[0]["actions"] == ["CONVERSATION_START", "greet"]


def test_the_same_seed_draws_the_same_alternatives() -> None:
    def said(seed: int) -> str:
        turn = turnout("run", WEATHER, "--say", "hello", "--seed", seed, "--json").data
        return str(turn["output"][0]["text"])

    texts = [said(seed) for seed in range(8)]
    assert texts == [said(seed) for seed in range(8)]
    assert len(set(texts)) == 2


def asking_context(folder: Path, condition: dict[str, object]) -> Path:
    agent = copy_of_weather(folder)
    group = {"rules": [{"name": "Asked", "actions": ["asked"], "conditions": [condition]}]}
    write(agent / "weather.behavior.json", {"behaviorGroups": [group]})
    return agent


@pytest.mark.parametrize(
    ("given_value", "path", "wanted"),
    [
        ("1.10", "context.key", "1.10"),
        ('{"tier": "gold"}', "context.key.tier", "gold"),
        ('["a", "b"]', "context.key[1]", "b"),
        ("true", "context.key", "true"),
        ("a=b", "context.key", "a=b"),
    ],
)
def test_context_is_a_text_unless_it_is_an_object_a_list_or_a_truth_value(
    tmp_path: Path, given_value: str, path: str, wanted: str
) -> None:
    agent = asking_context(tmp_path, {"type": "dynamicvaluematcher", "configs": {"valuePath": path, "equals": wanted}})
    turn = turnout("run", agent, "--say", "x", "--context", f"key={given_value}", "--json").data
    assert turn["rules"]["fired"] == ["Asked"]


@pytest.mark.parametrize("pair", ["key", "=value", '{"a": 1}'])
def test_a_context_that_is_no_pair_is_refused(pair: str) -> None:
    assert refused(turnout("run", WEATHER, "--say", "x", "--context", pair))


def test_nothing_to_say_is_a_usage_error() -> None:
    ended = turnout("run", WEATHER)
    assert refused(ended)
    assert "--say" in ended.err


def test_a_conversation_that_has_ended_says_so_after_the_turns_before() -> None:
    ended = turnout("run", WEATHER, "--say", "bye", "--say", "hello")
    assert ended.code == 2
    assert "stay dry" in ended.out
    assert ended.err.startswith("error: the conversation has ended\n  help: ")


def with_task(folder: Path, name: str = "lookup") -> Path:
    agent = copy_of_weather(folder)
    file = agent / "weather.workflow.json"
    steps = json.loads(file.read_text(encoding="utf-8"))["workflowSteps"]
    edit(file, (), {"workflowSteps": [*steps, {"type": name}]})
    return agent


TASK = """
from turnout.engine.tasks import task

@task("lookup")
def lookup(turn):
    turn.say({"type": "text", "text": "looked up"})
"""


def test_tasks_come_from_a_file_that_the_user_names(tmp_path: Path) -> None:
    agent = with_task(tmp_path)
    (tmp_path / "mine.py").write_text(TASK, encoding="utf-8")
    turn = turnout("run", agent, "--say", "hello", "--tasks", tmp_path / "mine.py", "--json").data
    assert turn["output"][-1] == {"type": "text", "text": "looked up"}


def test_a_file_in_the_agents_folder_is_not_run_unasked(tmp_path: Path) -> None:
    agent = with_task(tmp_path)
    (agent / "lookup.py").write_text(f"raise SystemExit('it ran')\n{TASK}", encoding="utf-8")
    ended = turnout("run", agent, "--say", "hello")
    assert refused(ended)
    assert "`lookup`" in ended.err
    assert "it ran" not in ended.err


ODD_ID = """
class Lookup:
    type = "search"
    @property
    def id(self):
        raise OSError("no id")
    async def execute(self, turn): ...
lookup = Lookup()
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, "no such file"),
        ("def (:", "is no Python, line 1"),
        ("\n\nraise ValueError('boom')", "ValueError: boom, line 3"),
        ("import sys\nsys.exit(0)", "SystemExit: 0, line 2"),
        ("x = 1", "holds no task"),
        (f"{TASK}\nagain = task('eddi://lookup')(print)", "two tasks with the id `lookup`"),
        ("\0", "is no Python: it holds a NUL byte"),
        (f"{'(' * 300}1{')' * 300}", "is n"),
        ("class Odd(BaseException):\n    pass\nraise Odd('x')", "Odd: x, line 3"),
        ("class Odd(Exception):\n    def __str__(self):\n        raise self\nraise Odd", "stopped with Odd, line 4"),
        (ODD_ID, "stopped with OSError: no id, line"),
        ("from turnout.engine.tasks import task\n@task\ndef lookup(turn): ...", "`@task` needs the id of the task"),
        ("class Lookup:\n    id = type = 'lookup'\n    async def execute(self, turn): ...", "`lookup = Lookup()`"),
    ],
)
def test_a_tasks_file_that_is_none_is_one_clear_message(tmp_path: Path, source: str | None, said: str) -> None:
    file = tmp_path / "mine.py"
    if source is not None:
        file.write_text(source, encoding="utf-8")
    ended = turnout("run", with_task(tmp_path), "--say", "hello", "--tasks", file)
    assert refused(ended)
    assert said in ended.err


def test_two_files_do_not_bring_one_task(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(TASK, encoding="utf-8")
    ended = turnout(
        "run", with_task(tmp_path), "--say", "x", "--tasks", tmp_path / "a.py", "--tasks", tmp_path / "b.py"
    )
    assert refused(ended)
    assert "two tasks with the id `lookup`" in ended.err


def test_what_a_task_prints_is_no_result(tmp_path: Path) -> None:
    source = f"print('loaded')\n{TASK.replace('turn.say', 'print(chr(64) * 3); turn.say')}"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    ended = turnout("run", with_task(tmp_path), "--say", "hello", "--tasks", tmp_path / "mine.py", "--json")
    assert (ended.code, ended.data["state"]) == (0, "READY")
    assert ended.err == "loaded\n@@@\n"


@pytest.mark.parametrize("function", ["def", "async def"])
@pytest.mark.parametrize("error", ["SystemExit(5)", "asyncio.CancelledError()", "GeneratorExit()", "Odd()"])
def test_a_task_that_wants_to_end_everything_ends_the_run(tmp_path: Path, error: str, function: str) -> None:
    """The turns so far are told, then what interrupted this one, in one line."""
    source = (
        "import asyncio\nfrom turnout.engine.tasks import task\nclass Odd(BaseException): ...\n@task('lookup')\n"
        f"{function} lookup(turn):\n    if turn.input == 'end': raise {error}\n"
    )
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    agent = with_task(tmp_path)
    says = ["--say", "hello", "--say", "end", "--say", "hello"]
    ended = turnout("run", agent, *says, "--tasks", tmp_path / "mine.py", "--json")
    assert ended.code == 1
    assert [turn["input"] for turn in ended.lines] == ["hello"]
    name = error.partition("(")[0].rpartition(".")[2]
    assert ended.err == f"the turn was interrupted: {name}\n"


@pytest.mark.parametrize("name", ["ai.labs.rules", "eddi://ai.labs.rules", "eddi://ai.labs.behavior"])
def test_fail_knows_a_task_by_its_newer_name_too(name: str) -> None:
    turn = turnout("run", WEATHER, "--say", "hello", "--fail", name, "--json").data
    assert [one["task"] for one in turn["outcomes"] if one["status"] == "failed"] == ["ai.labs.behavior"]


def test_a_task_that_is_missing_is_told_with_the_place_of_its_step(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path)
    write(agent / "weather.workflow.json", {"workflowSteps": [{"type": "lookup"}]})
    ended = turnout("run", agent, "--say", "x")
    assert refused(ended)
    assert f"the step at {(agent / 'weather.workflow.json').as_posix()}:1:29 runs task `lookup`" in ended.err


@pytest.mark.parametrize(("value", "said"), [("[1", "ends too early"), ("{no json", "key"), ("[NaN]", "finite")])
def test_a_context_that_begins_as_json_and_is_none_is_refused_with_the_reason(value: str, said: str) -> None:
    ended = turnout("run", WEATHER, "--say", "x", "--context", f"key={value}")
    assert refused(ended)
    assert "context `key` begins as JSON and is none" in ended.err
    assert said in ended.err


def test_to_say_nothing_is_a_turn_that_can_be_seen() -> None:
    assert turnout("run", WEATHER, "--say", "").out.startswith("you\n")


def test_actions_that_nothing_answers_are_named(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path)
    write(agent / "weather.output.json", {"outputSet": []})
    out = turnout("run", agent, "--say", "hello").out
    assert "(nothing: no output is written for `greet`)" in out


def test_a_tasks_file_may_hold_dataclasses(tmp_path: Path) -> None:
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        f"@dataclass\nclass Place:\n    name: str\n{TASK}"
    )
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    assert turnout("run", with_task(tmp_path), "--say", "hello", "--tasks", tmp_path / "mine.py").code == 0


def test_what_was_said_and_is_no_unicode_stays_valid_json() -> None:
    ended = turnout("run", WEATHER, "--say", "caf\udce9 ☕", "--json")
    assert ended.code == 0
    ended.out.encode()
    assert ended.data["input"] == "caf\udce9 ☕"


def test_no_output_can_rewrite_the_terminal() -> None:
    ended = turnout("run", WEATHER, "--say", "a\x1b[2Jb\r\u202ec", "--fail", "ai.labs.parser=\x1b]0;x\x07")
    assert not set(ended.out) & set("\x1b\r\x07\u202e")


def test_there_is_no_colour_unless_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not where there is no terminal, and not with `NO_COLOR`, whatever else is set."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert "\x1b" not in turnout("run", WEATHER, "--say", QUESTION, "--why").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in turnout("run", WEATHER, "--say", QUESTION).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in turnout("run", WEATHER, "--say", QUESTION).out


def test_warnings_about_the_agents_files_are_talk(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path)
    edit(agent / "weather.agent.json", (), {"somethingElse": 1})
    ended = turnout("run", agent, "--say", "hello", "--json")
    assert ended.code == 0
    assert ended.data["state"] == "READY"
    assert "warning[K002]" in ended.err


def test_version_is_that_of_the_package() -> None:
    try:
        installed = version("turnout")
    except PackageNotFoundError:
        pytest.skip("turnout is not installed here")
    assert turnout("--version").out == f"turnout {installed}\n"


def test_a_fault_of_ours_is_one_sentence_and_exit_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise RuntimeError("the pen broke")

    monkeypatch.setattr(sys, "stdout", Broken())
    for debug in ("0", "1"):
        monkeypatch.setenv("TURNOUT_DEBUG", debug)
        err = io.StringIO()
        with redirect_stderr(err):
            code = main(["run", str(WEATHER), "--say", "hello", "--json"])
        assert code == 3
        assert "RuntimeError: the pen broke" in err.getvalue()
        assert ("Traceback" in err.getvalue()) == (debug == "1")


def leads(rule: str, other: str) -> dict[str, object]:
    return {"name": rule, "conditions": [{"type": "dependency", "configs": {"reference": other}}]}


BROKEN = {
    "half": ("behavior", (WEATHER / "weather.behavior.json").read_bytes()[:700]),
    "type": ("behavior", b'{"behaviorRules": [{"conditions": [{"type": "nope"}]}]}'),
    "circle": ("behavior", json.dumps({"behaviorRules": [leads("A", "B"), leads("B", "A")]}).encode()),
    "unicode": ("output", b'{"outputSet": ["\xff"]}'),
    "deep": ("output", b"[" * 100_000),
    "workflow": ("workflow", None),
    "empty": ("agent", None),
}
"""What a file of the weather agent holds instead, by why the folder is no agent then; None if the file is gone."""

REASONS = [*BROKEN, "missing", "file"]


def broken(folder: Path, reason: str) -> Path:
    """A folder that holds no agent, for that reason."""
    if reason not in BROKEN:
        if reason == "file":
            (folder / reason).write_text("{}", encoding="utf-8")
        return folder / reason
    agent = copy_of_weather(folder)
    kind, content = BROKEN[reason]
    file = agent / f"weather.{kind}.json"
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    return agent


@pytest.mark.parametrize("reason", REASONS)
def test_what_does_not_load_is_a_message_and_exit_code_2(tmp_path: Path, reason: str) -> None:
    ended = turnout("run", broken(tmp_path, reason), "--say", "hello")
    assert refused(ended)
    assert "error[" in ended.err


@pytest.mark.parametrize("reason", REASONS)
def test_what_does_not_load_is_told_as_json_on_request(tmp_path: Path, reason: str) -> None:
    ended = turnout("run", broken(tmp_path, reason), "--say", "hello", "--json")
    assert (ended.code, ended.err) == (2, "")
    assert ended.data["error"] == "load"
    first = ended.data["problems"][0]
    assert list(first) == ["file", "line", "column", "message", "hint"]


FILES = ("agent", "workflow", "behavior", "output", "regulardictionary", "httpcalls")


@settings(max_examples=50)
@given(name=st.sampled_from(FILES), content=st.binary(max_size=200))
def test_random_bytes_in_any_file_never_end_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes
) -> None:
    agent = copy_of_weather(tmp_path_factory.mktemp("agent"))
    (agent / f"weather.{name}.json").write_bytes(content)
    ended = turnout("run", agent, "--say", "hello")
    assert ended.code == 0 or refused(ended)


@pytest.mark.parametrize(
    "arguments", [["run"], ["run", "x", "--nope"], ["fly"], ["run", "x", "--seed", "y", "--say", "z"]]
)
def test_a_wrong_call_exits_with_2(arguments: list[str]) -> None:
    assert refused(turnout(*arguments))


def test_the_process_exits_with_the_code_and_leaves_logs_alone() -> None:
    """The whole way, once: a process of its own, in a terminal that knows ASCII only."""
    source = "import sys; from turnout.app.command import main; sys.exit(main())"
    ended = subprocess.run(
        [sys.executable, "-c", source, "run", str(WEATHER), "--say", "Wien? ☔ weather", "--fail", "parser"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "NO_COLOR": "1"},
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(b"error: no step of this agent is task `parser`")
