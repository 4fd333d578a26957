"""Results of checks as JUnit XML, which build servers read."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from ..rules.errors import Problem, UsageError, cause
from .testing import Result

# What XML 1.0 cannot hold in any form.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, results: Mapping[str, Sequence[Result]], problems: Sequence[Problem] = ()) -> None:
    """Write the results of the files' checks to `path`: a suite for each file, a case for each check.

    The `problems` of files that do not load are errors of a case each.

    Raises `UsageError` where that cannot be written.
    """
    root = Element("testsuites", _counts([result for found in results.values() for result in found]))
    for file, found in results.items():
        suite = SubElement(root, "testsuite", {"name": _legal(file), **_counts(found)})
        for result in found:
            check = result.check
            place = {"classname": _legal(file), "file": _legal(file), "line": str(check.line)}
            case = SubElement(suite, "testcase", {"name": _legal(check.name), "time": _seconds([result]), **place})
            for failure in result.failures:
                told = f"expected {failure.expected}, actual {failure.actual}"
                element = SubElement(case, "failure", {"type": "expectation", "message": _legal(told)})
                lines = (f"{file}:{failure.line}:{failure.column}: turn {failure.turn}", *failure.why)
                element.text = _legal("\n".join(lines))
    if problems:
        root.set("errors", str(len(problems)))
        counts = {"tests": str(len(problems)), "failures": "0", "errors": str(len(problems)), "time": "0.000"}
        suite = SubElement(root, "testsuite", {"name": "files that do not load", **counts})
        for problem in problems:
            case = SubElement(suite, "testcase", {"name": problem.code, "classname": _legal(problem.file)})
            SubElement(case, "error", {"type": "load", "message": _legal(str(problem))})
    indent(root)
    try:
        ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        message = f"the results cannot be written to `{path.as_posix()}`: {cause(error)}"
        raise UsageError(message, "name a file in a folder that exists") from error


def _counts(results: Sequence[Result]) -> dict[str, str]:
    failed = sum(bool(result.failures) for result in results)
    return {"tests": str(len(results)), "failures": str(failed), "errors": "0", "time": _seconds(results)}


def _seconds(results: Sequence[Result]) -> str:
    return f"{sum(result.seconds for result in results):.3f}"


def _legal(text: str) -> str:
    return _ILLEGAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
