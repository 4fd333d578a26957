"""The pytest plugin: checks in `.turnout` files are collected as test items.

Loaded in every run of pytest, so that it imports nothing before there is such a file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest._code.code import TerminalRepr, TracebackStyle

    from .testing import Result, Suite


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the checks of a text."""
    return CheckFile.from_parent(parent, path=file_path) if file_path.suffix == ".turnout" else None


class CheckFile(pytest.File):
    """A text with checks."""

    def collect(self) -> "Iterator[CheckItem]":
        """Collect an item for each check; a text that does not load is an error with all of its problems."""
        from ..rules.errors import LoadError  # noqa: PLC0415 - late: pytest loads this plugin in every run
        from .testing import read_suite  # noqa: PLC0415 - late: pytest loads this plugin in every run

        try:
            suite = read_suite(self.path)
        except LoadError as error:
            raise self.CollectError(str(error)) from None
        taken: dict[str, int] = {}
        for number, check in enumerate(suite.checks):
            taken[check.name] = again = taken.get(check.name, 0) + 1
            name = check.name if again == 1 else f"{check.name} [{again}]"
            yield CheckItem.from_parent(self, name=_printable(name), suite=suite, number=number)


def _printable(text: str) -> str:
    """The text with lone surrogates escaped: one of them would end the whole run of pytest."""
    return text.encode(errors="backslashreplace").decode()


class CheckFailedError(Exception):
    """A check failed."""

    def __init__(self, result: "Result") -> None:
        self.result = result
        super().__init__(result.check.name)


class CheckItem(pytest.Item):
    """A check as a test."""

    def __init__(self, *, suite: "Suite", number: int, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # pytest's own arguments, passed on
        self._suite = suite
        self._check = suite.checks[number]

    def runtest(self) -> None:
        """Run the check; raises `CheckFailedError`."""
        from .testing import run_check  # noqa: PLC0415 - late: pytest loads this plugin in every run

        result = run_check(self._suite, self._check)
        if result.failures:
            raise CheckFailedError(result)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: "TracebackStyle | None" = None
    ) -> "str | TerminalRepr":
        """What was expected and what there was, each at its line; a traceback only for faults of Turnout."""
        error = excinfo.value
        if not isinstance(error, CheckFailedError):
            return super().repr_failure(excinfo, style)
        lines: list[str] = []
        for failure in error.result.failures:
            lines.append(f"{self.path}:{failure.line}:{failure.column}: turn {failure.turn}")
            lines += [f"  expected  {failure.expected}", f"  actual    {failure.actual}"]
            lines += [f"  {'' if number else 'why':10}{line}" for number, line in enumerate(failure.why)]
        return _printable("\n".join(lines))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the check stands, from line 0, and its name."""
        return self.path, max(0, self._check.line - 1), f'check "{self.name}"'
