"""Where results go: to who stops reading, to what is full or closed; and what the command line's parser refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from doors import QUESTION, RULES, WEATHER, refused, turnout

SOURCE = "import sys; from turnout.app.command import main; sys.exit(main())"


def call(*arguments: object, before: str = "", stdout: BinaryIO | int = subprocess.PIPE) -> tuple[int, str]:
    """Exit code and standard error of a process of its own; `before` is run in it first."""
    command = [sys.executable, "-c", f"{before}\n{SOURCE}", *map(str, arguments)]
    ended = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    return ended.returncode, ended.stderr.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", WEATHER, "--say", QUESTION, "--json"),
        ("run", WEATHER, "--say", QUESTION, "--say", "hello"),
        ("check", WEATHER, "--json"),
        ("schema", "rules"),
        ("--help",),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:1])),
)
def test_who_stops_reading_changes_nothing(arguments: tuple[object, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert call(*arguments, stdout=writer) == (0, "")
    finally:
        os.close(writer)


def test_a_batch_ends_where_nobody_reads_on(tmp_path: Path) -> None:
    """Otherwise a batch without an end would go on for ever: here the lines come from a device that has none."""
    with subprocess.Popen(
        [sys.executable, "-c", SOURCE, "match", str(RULES), "--batch", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"id": 1, "steps": [{}]}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.stdout.close()
        process.stdin.write(b'{"id": 2, "steps": [{}]}\n')
        process.stdin.flush()
        assert process.wait(30) == 0
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full here")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_full_device_is_one_sentence(more: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        code, talk = call("run", WEATHER, "--say", "hello", *more, stdout=full)
    assert (code, talk) == (2, "error: standard output cannot be written: no space left on device\n")


def test_a_closed_standard_output_or_input_is_one_sentence() -> None:
    closed = "import sys; sys.stdout = None"
    code, talk = call("run", WEATHER, "--say", "hello", before=closed)
    assert (code, talk) == (2, "error: standard output cannot be written: it is closed\n")
    code, talk = call("match", RULES, "--batch", "-", before="import sys; sys.stdin = None")
    assert (code, talk.splitlines()[0]) == (2, "error: standard input is closed")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("run", "x", "--sya", "hi"), "there is no option `--sya`", "did you mean `--say`?"),
        (("run",), "`agent` is missing", "see `turnout run -h`"),
        (("rnu",), "there is no command `rnu`", "did you mean `run`?"),
        (("run", "a", "b"), "there is no place for `b`", "see `turnout run -h`"),
        (("run", "a", "--seed", "x"), "`--seed` must be a whole number", "see `turnout run -h`"),
        (("match", "--facts"), "`--facts` needs a value", "see `turnout -h`"),
    ],
)
def test_a_call_that_cannot_be_read_is_told_in_words_and_as_json(
    arguments: tuple[str, ...], message: str, hint: str
) -> None:
    ended = turnout(*arguments)
    assert refused(ended)
    assert ended.err == f"error: {message}\n  help: {hint}\n"
    told = turnout(arguments[0], "--json", *arguments[1:]) if arguments != ("rnu",) else turnout("rnu", "--json")
    assert (told.code, told.err) == (2, "")
    assert told.data["error"] == "usage"
    assert (told.data["problems"][0]["message"], told.data["problems"][0]["hint"]) == (message, hint)


def test_the_examples_fit_80_columns() -> None:
    for command in ([], ["run"], ["match"], ["check"], ["schema"]):
        assert max(map(len, turnout(*command, "--help").out.splitlines())) <= 80
