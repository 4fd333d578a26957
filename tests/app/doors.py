"""The command line in this process, and copies of the sample to change."""

import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from turnout.app.command import main

ROOT = Path(__file__).resolve().parents[2]
WEATHER = ROOT / "samples" / "weather"
RULES = WEATHER / "weather.behavior.json"
QUESTION = "What's the weather in Vienna?"


class Ended(NamedTuple):
    """How a call of the command line ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """The lines of JSON on stdout."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def data(self) -> Any:
        """The one JSON value on stdout."""
        return json.loads(self.out)


def turnout(*arguments: object) -> Ended:
    """Run `turnout` with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return Ended(code, out.getvalue(), err.getvalue())


def refused(ended: Ended) -> bool:
    """Whether a call was refused as it must be: exit code 2, a message, nothing on stdout, no traceback."""
    return ended.code == 2 and bool(ended.err.strip()) and not ended.out and "Traceback" not in ended.err


def copy_of_weather(folder: Path, **policy: object) -> Path:
    """A copy of the sample agent in `folder`, with these keys of its failure policy changed."""
    agent = folder / "weather"
    shutil.copytree(WEATHER, agent)
    edit(agent / "weather.agent.json", ("memoryPolicy", "strictWriteDiscipline"), policy)
    return agent


def edit(file: Path, place: tuple[str | int, ...], changes: dict[str, object]) -> None:
    """Change keys of the object at `place` of a JSON file."""
    document = json.loads(file.read_text(encoding="utf-8"))
    target = document
    for step in place:
        target = target[step]
    target.update(changes)
    file.write_text(json.dumps(document), encoding="utf-8")


def write(file: Path, value: object) -> Path:
    """Write a value as JSON."""
    file.write_text(json.dumps(value), encoding="utf-8")
    return file
