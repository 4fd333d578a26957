"""Problems of a rule text with what they point at: the source line, a caret and a note."""

import re
import unicodedata
from dataclasses import dataclass, replace

from ..rules.errors import Problem, Severity
from .parser import RejectedError, Source

_WIDEST = 100
_LEAD = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A stretch of one line, with a note: `indent` and `width` count the columns of a terminal."""

    line: int
    shown: str
    """The line, or what lies around the stretch where the line is long."""
    indent: int
    width: int
    sign: str = "-"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedProblem(Problem):
    """A problem that shows the lines it is about, and is rendered with them."""

    marks: tuple[Mark, ...] = ()

    def __str__(self) -> str:
        told = any(self.hint == _advice(one.note) for one in self.marks)
        helped = f"\n  help: {self.hint}" if self.hint and not told else ""
        head = Problem.__str__(replace(self, hint="", why=""))
        return "\n".join([head, *_rows(self.marks)]) + helped


def marked(
    source: Source,
    start: int,
    end: int,
    *,
    code: str,
    message: str,
    note: str = "",
    hint: str = "",
    severity: Severity = "error",
    also: tuple[Mark, ...] = (),
) -> MarkedProblem:
    """A problem at the characters from `start` to before `end`; `also` marks what else it is about.

    Without a hint, the note is the hint, too, for those who see no marks; it is rendered once.
    """
    line, column = source.place(start)
    place = replace(mark(source, start, end, note), sign="^")
    marks = tuple(sorted((*also, place), key=lambda one: (one.line, one.indent)))
    return MarkedProblem(
        code=code,
        message=message,
        file=source.file,
        line=line,
        column=column,
        hint=hint or _advice(note),
        severity=severity,
        marks=marks,
    )


_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.:-]+|.')


def pointed(problem: Problem, source: Source) -> Problem:
    """A problem that has only its place, with the word there marked; as it is where that is not in this text."""
    if problem.file != source.file or not problem.line:
        return problem
    start = source.offset(problem.line, problem.column)
    word = _WORD.match(source.text, start)
    made = marked(
        source,
        start,
        word.end() if word else start + 1,
        code=problem.code,
        message=problem.message,
        note=problem.why or problem.hint,
        hint=problem.hint,
        severity=problem.severity,
    )
    return replace(made, why=problem.why)


def rejected(error: RejectedError, source: Source) -> MarkedProblem:
    """What a callback refused, as a problem at its token."""
    start = error.token.start_pos or 0
    end = error.token.end_pos or start
    return marked(source, start, end, code=error.code, message=error.message, hint=error.hint)


def mark(source: Source, start: int, end: int, note: str = "") -> Mark:
    """The characters from `start` to before `end`, as far as they stand on one line; at least one is marked."""
    number, column = source.place(start)
    line = source.line(number)
    cut = 0 if len(line) <= _WIDEST else max(0, column - 1 - _LEAD)
    part = line[cut : cut + _WIDEST]
    before, after = ("…" if cut else ""), ("…" if cut + _WIDEST < len(line) else "")
    at = column - 1 - cut
    return Mark(
        line=number,
        shown=before + _visible(part) + after,
        indent=_columns(before + part[:at]),
        width=max(1, _columns(part[at : at + end - start])),
        note=note,
    )


def shown(text: str) -> str:
    """A word of the author, as it can stand in a message: short, and nothing in it invisible."""
    short = text if len(text) <= _LEAD else text[:_LEAD] + "…"
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in short)


def _advice(note: str) -> str:
    """A note as a hint, which starts with a verb."""
    return f"write {note.removeprefix('expected ')}" if note.startswith("expected ") else note


def _rows(marks: tuple[Mark, ...]) -> list[str]:
    gutter = max((len(str(one.line)) for one in marks), default=0)
    rows: list[str] = []
    before: Mark | None = None
    for one in marks:
        if before is not None and one.line > before.line + 1:
            rows.append("  ...")
        if before is None or (one.line, one.shown) != (before.line, before.shown):
            rows.append(f"  {one.line:>{gutter}} | {one.shown}".rstrip())
        rows.append(f"  {'':{gutter}} | {' ' * one.indent}{one.sign * one.width} {one.note}".rstrip())
        before = one
    return rows


def _visible(text: str) -> str:
    """The text with a blank for each tab and for whatever is invisible, so that a caret can stand below it."""
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes, as it is shown."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )
