"""What the command line prints: results to stdout, talk to stderr, as text for people or as JSON."""

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ..rules.errors import Problem
from .streams import results

_COLOURS = {"error": "bold red", "warning": "yellow", "note": "cyan"}

# Control characters, lone surrogates and what turns the direction of a text: they could rewrite the screen.
_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def printer(*, talk: bool = False) -> Console:
    """What prints to stdout, or `talk` to stderr; in colour on a terminal, unless `NO_COLOR` is set."""
    colour = None if os.environ.get("NO_COLOR") else "auto"
    stream = sys.stderr if talk else results()
    return Console(file=stream, color_system=colour, highlight=False, markup=False, emoji=False)  # type: ignore[arg-type]  # a fixed name


def plain(text: str) -> str:
    """A text without anything that does more to a terminal than show a character."""
    return _UNSAFE.sub(lambda found: " " if found[0] == "\t" else f"\\u{ord(found[0]):04x}", text)


def print_json(value: object, *, indent: int | None = None) -> None:
    """Print a value as JSON, on one line unless indented; what the encoding does not know is escaped."""
    stream = results()
    utf8 = (stream.encoding or "utf-8").lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not utf8, indent=indent)
    stream.write(_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    stream.flush()  # whoever reads line by line may wait for this one


def print_problems(problems: Iterable[Problem], *, talk: bool = True) -> None:
    """Print problems, each with its place and its help."""
    console = printer(talk=talk)
    for problem in problems:
        place, severity, rest = plain(str(problem)).partition(f"{problem.severity}[{problem.code}]")
        text = Text.assemble(place, (severity, _COLOURS[problem.severity]), rest)
        console.print(text, soft_wrap=True)


def print_refusal(message: str, hint: str = "") -> None:
    """Print why a call cannot be carried out, to stderr."""
    text = Text.assemble(("error", _COLOURS["error"]), f": {plain(message)}")
    if hint:
        text.append(f"\n  help: {plain(hint)}")
    printer(talk=True).print(text, soft_wrap=True)


def problem_data(problem: Problem) -> Mapping[str, object]:
    """A problem as it stands in the answer of a call that was carried out."""
    return {"code": problem.code, "severity": problem.severity, **_place_and_words(problem)}


def _place_and_words(problem: Problem) -> Mapping[str, object]:
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "message": problem.text,
        "hint": problem.hint,
    }


def refusal_data(kind: str, problems: Iterable[Problem]) -> Mapping[str, object]:
    """The JSON answer of a call that could not be carried out; `kind` is `load`, `run` or `usage`."""
    return {"error": kind, "problems": [_place_and_words(one) for one in problems if one.severity == "error"]}


def print_columns(
    console: Console, rows: Iterable[Sequence[str | Text]], *, left: int = 0, labels: str = "dim"
) -> None:
    """Print rows of cells as columns, each as wide as it needs; the last one is wrapped to what is left.

    `left` is how far they are moved in, `labels` the style of all but the last column.
    """
    table = [[cell.copy() if isinstance(cell, Text) else Text(plain(cell)) for cell in row] for row in rows]
    widths = [max(cell.cell_len for cell in column) for column in zip(*table, strict=True)][:-1]
    offset = left + sum(widths) + 2 * len(widths)
    for *heads, last in table:
        for head, width in zip(heads, widths, strict=True):
            head.pad_right(width + 2 - head.cell_len)
            head.stylize_before(labels)
        start = Text.assemble(" " * left, *heads)
        for line in last.wrap(console, max(20, console.width - offset), overflow="fold") or [Text()]:
            line.rstrip()
            whole = start + line
            whole.rstrip()
            console.print(whole, soft_wrap=True)
            start = Text(" " * offset)
