"""`turnout test`: runs the checks that stand in texts beside the rules, and tells what they cover."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.text import Text

from ..rules.bundles import is_folder, is_plain
from ..rules.errors import LoadError, Problem, UsageError
from .coverage import Coverage
from .files import is_same, texts_in
from .junit import write_junit
from .printing import plain, print_columns, print_json, print_problems, printer, problem_data
from .testing import Failure, Result, Suite, read_suite, run_check


def run_checks(
    paths: Sequence[Path],
    *,
    coverage: bool = False,
    fail_under: float | None = None,
    junit: Path | None = None,
    as_json: bool = False,
) -> int:
    """Run the checks and print how they went; 1 if one failed, or less is covered than is asked for.

    `fail_under` is in percent; `junit` is the file to write the results to. 2 if a file does not load while others do;
    raises `LoadError` where none does, and `UsageError`.
    """
    seen = Coverage() if coverage or fail_under is not None else None
    results: dict[str, list[Result]] = {}
    suites, broken = _suites(paths)
    read = [*(suite.file for suite in suites), *(problem.file for problem in broken)]
    if junit is not None and any(is_same(junit, Path(file)) for file in read):
        raise UsageError(f"`{junit.as_posix()}` is a text whose checks are run", "name another file with `--junit`")
    problems = [*broken, *(warning for suite in suites for warning in suite.warnings)]
    for suite in suites:
        listeners = [seen.of(suite.agent.definition)] if seen is not None else []
        results[suite.file] = [run_check(suite, check, listeners) for check in suite.checks]
    if junit is not None:
        write_junit(junit, results, broken)
    if as_json:
        print_json({**_data(results, seen), **({"problems": list(map(problem_data, problems))} if problems else {})})
    else:
        print_problems(problems)
        _print(results, seen)
    failed = any(result.failures for found in results.values() for result in found)
    enough = seen is None or fail_under is None or _enough(seen, fail_under)
    return 2 if broken else int(failed or not enough)


def _suites(paths: Sequence[Path]) -> tuple[list[Suite], list[Problem]]:
    """The suites of the texts that load, and what is wrong with the others; raises `LoadError` if none loads."""
    suites: list[Suite] = []
    problems: list[Problem] = []
    texts: dict[str, Path] = {}
    for text in _texts(paths):
        texts.setdefault(os.path.realpath(text), text)
    for path in texts.values():
        try:
            suites.append(read_suite(path))
        except LoadError as error:
            problems += error.problems
    if problems and not suites:
        raise LoadError(problems)
    return suites, problems


def _texts(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not is_folder(path):
            if is_plain(path) and path.suffix != ".turnout":
                raise UsageError(f"`{path.as_posix()}` is no text of rules", "name files that end in `.turnout`")
            yield path
            continue
        found = texts_in(path)
        if not found:
            raise UsageError(f"there is no text in `{path.as_posix()}`", "name files that end in `.turnout`")
        yield from found


def _enough(coverage: Coverage, least: float) -> bool:
    if coverage.reaches(least):
        return True
    printer(talk=True).print(f"{coverage.percent:g} % are covered, and {least:g} % are asked for")
    return False


def _print(results: Mapping[str, Sequence[Result]], coverage: Coverage | None) -> None:
    console = printer()
    for file, found in results.items():
        for result in found:
            for failure in result.failures:
                place = f"{file}:{failure.line}:{failure.column}"
                text = plain(f': check "{result.check.name}", turn {failure.turn}')
                console.print(Text.assemble(f"{plain(place)}: ", ("failed", "bold red"), text), soft_wrap=True)
                print_columns(console, _rows(failure), left=2)
        passed = sum(not result.failures for result in found)
        console.print(Text(plain(f"{file}: {_checks(passed, len(found))}")), soft_wrap=True)
    if coverage is not None:
        _print_coverage(coverage)
    every = [result for found in results.values() for result in found]
    if len(results) > 1:
        printer(talk=True).print(_checks(sum(not result.failures for result in every), len(every)))


def _rows(failure: Failure) -> Iterator[tuple[str, str]]:
    yield "expected", failure.expected
    yield "actual", failure.actual
    for number, line in enumerate(failure.why):
        yield "" if number else "why", line


def _checks(passed: int, of: int) -> str:
    if not of:
        return "no checks"
    checks = f"{of} check{'s' if of > 1 else ''}"
    return f"{checks} passed" if passed == of else f"{of - passed} of {checks} failed"


def _print_coverage(coverage: Coverage) -> None:
    console = printer()
    parts = (("rules fired", ("fired",)), ("conditions true", ("true",)), ("conditions false", ("false",)))
    told = []
    for words, kinds in (*parts, ("outputs said", ("said",))):
        seen, of = coverage.counts(*kinds)
        told.append(f"{seen} of {of} {words}")
    console.print(Text(f"{coverage.percent:g} % covered: {', '.join(told)}"), soft_wrap=True)
    for point in coverage.points:
        for gap in point.gaps:
            text = plain(f"  {point.file}:{point.line}:{point.column}: {gap}: {point.what}")
            console.print(Text(text), soft_wrap=True)


def _data(results: Mapping[str, Sequence[Result]], coverage: Coverage | None) -> Mapping[str, object]:
    data: dict[str, object] = {
        "checks": [
            {
                "name": result.check.name,
                "file": file,
                "line": result.check.line,
                "column": result.check.column,
                "passed": not result.failures,
                "failures": [
                    {
                        "file": file,
                        "line": failure.line,
                        "column": failure.column,
                        "turn": failure.turn,
                        "expected": failure.expected,
                        "actual": failure.actual,
                        "why": failure.why,
                    }
                    for failure in result.failures
                ],
            }
            for file, found in results.items()
            for result in found
        ]
    }
    if coverage is not None:
        gaps = [
            {"file": point.file, "line": point.line, "column": point.column, "gap": gap, "what": point.what}
            for point in coverage.points
            for gap in point.gaps
        ]
        seen, of = coverage.counts()
        data["coverage"] = {"percent": coverage.percent, "seen": seen, "of": of, "gaps": gaps}
    return data
