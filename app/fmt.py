"""`turnout fmt`: texts of the rule language laid out in the one way there is."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..grammar.fmt import format_text
from ..rules.bundles import is_folder
from ..rules.errors import LoadError, Problem, UsageError
from .files import read_file, texts_in, write_file
from .printing import print_json, print_problems, printer, problem_data

STANDARD_INPUT = Path("-")


def fmt(paths: Sequence[Path], *, check: bool, fix: bool = False, as_json: bool = False) -> int:
    """Lay out files, and all texts in folders; `-` is standard input, whose layout goes to standard output.

    With `fix`, curly quotes and odd blanks become plain ones. With `check` nothing is written, and the exit code is 1
    if something would be. 2 if a file cannot be read.
    """
    if STANDARD_INPUT in paths and len(paths) > 1:
        raise UsageError("standard input goes with no other file", "leave `-` out, or the rest")
    if STANDARD_INPUT in paths and sys.stdin is None:
        raise UsageError("standard input is closed", "name a file")
    changed: list[str] = []
    problems: list[Problem] = []
    for path in _files(paths):
        name = "" if path == STANDARD_INPUT else path.as_posix()
        try:
            before = sys.stdin.buffer.read() if path == STANDARD_INPUT else read_file(path)
            after = format_text(before, name, fix=fix)
        except LoadError as error:
            problems += error.problems
            continue
        if path == STANDARD_INPUT and not check and not as_json:
            sys.stdout.write(after)
        if after.encode() != before:
            changed.append(name)
            if not check and path != STANDARD_INPUT:
                write_file(path, after.encode())
    if as_json:
        print_json({"changed": changed, "problems": [problem_data(problem) for problem in problems]})
    else:
        print_problems(problems)
        for name in changed if paths != [STANDARD_INPUT] or check else ():
            words = "would be laid out anew" if check else "laid out"
            printer(talk=True).print(f"{name or 'standard input'}: {words}", soft_wrap=True)
    return 2 if problems else int(check and bool(changed))


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if is_folder(path):
            yield from texts_in(path)
        else:
            yield path
