"""What was found while reading, before its place in the text is known, and the codes of problems."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from .errors import Problem, Severity
from .places import Places, Pointer, Spot

CODES = {
    "J001": "the text is not UTF-8",
    "J002": "the file is empty",
    "J003": "the text is not JSON",
    "J004": "the text ends in the middle of something",
    "J005": "a control character stands in a text",
    "J006": "a number is NaN, infinite or too long",
    "J007": "values are nested too deep",
    "J008": "an object has one key twice",
    "K001": "a key is unknown and looks like a misspelling",
    "K002": "a key is unknown; it is kept",
    "K003": "a key is known to the reference and not used here; it is kept",
    "K004": "a key stands beside an older spelling of itself",
    "K005": "a document has none of the keys of its kind",
    "V001": "something required is missing",
    "V002": "a value is of another kind",
    "V003": "a value is not one of the legal ones",
    "V004": "the type of a condition or an output is unknown",
    "V005": "a text is blank",
    "V006": "a number is out of range",
    "V007": "a value is not as it must be",
    "V008": "bounds can never hold",
    "S001": "rules depend on each other in a circle",
    "S002": "a dependency names a rule that does not exist",
    "S003": "two rules have one name",
    "S004": "a JSON path cannot be read",
    "S005": "conditions are nested too deep",
    "S006": "a condition has conditions that it does not use",
    "H001": "the address of a server cannot be called",
    "H002": "a placeholder is not closed",
    "H003": "a placeholder nearly names something",
    "H004": "a piece of a template is left out, for it is no placeholder",
    "H005": "a path never finds anything",
    "H006": "what should happen after an answer never does, for nobody waits for it",
    "N001": "where models of a type are asked is not known",
    "N002": "a key stands in a file",
    "M001": "an older key was read as today's",
    "M002": "an older spelling of a type was read as today's",
    "M003": "an older value was read as today's",
    "M004": "an older shape was read as today's",
    "M005": "an older key has no effect any more and was left out",
    "A001": "a file or folder cannot be read",
    "A002": "a folder holds no agent",
    "A003": "a folder holds several agents",
    "A004": "a file that is referred to does not exist",
    "A005": "an id fits several files",
    "A006": "an address leads out of the agent's folder",
    "A007": "a file is not used",
    "A008": "a step needs a file",
    "A009": "a step's type is not a task id",
    "A010": "a part of a step is not used",
    "A011": "the type of a step is unknown",
    "A012": "a step is skipped, for its type is an address of another scheme",
    "A013": "a task is not built in yet",
    "A014": "a file is of another kind than is needed",
    "A015": "a link, a folder or the like stands where a file is needed",
    "A016": "a kind of file is not read yet",
    "A017": "findings are not looked for, for tasks of one's own may do anything",
    "A018": "a zip has several files of one name",
    "A019": "an address names another version than is there",
    "A020": "an agent has no step",
    "C001": "a check names a task that no step runs",
    "C002": "a check names a rule that does not exist",
    "C003": "a check expects a state that does not exist",
    "C004": "a check says twice what a task does",
    "C005": "a check lets HTTP calls answer with something that is no object",
    "C006": "a check expects nothing",
    "C007": "a check expects that an action does not come that nothing emits",
    "C008": "a check looks for an empty text",
    "L001": "a failure is asked about where it can never be seen",
    "L002": "nothing answers the failure of a task",
    "L003": "the answer to a task's failure needs that task",
    "L004": "rules drop the action of a failure",
    "L005": "the failure policy has a setting without effect",
    "L021": "a task does not exist",
    "L022": "a rule can never be reached",
    "L023": "a rule without conditions stands before others",
    "L024": "conditions contradict each other",
    "L025": "a condition adds nothing",
    "L026": "a rule is counted that does not exist",
    "L027": "the steps leave out something that the file has",
    "L028": "an output has placeholders that nothing fills in",
    "L030": "an action is asked for that nothing emits",
    "L031": "an action is emitted that nothing answers",
    "L032": "an output is never said",
    "L033": "a run of actions looks like a set",
    "L034": "the outputs of an action leave out a count",
    "L090": "a silence has no use",
    "U001": "a call cannot be carried out as it was made",
    "X001": "a line of a batch could not be answered",
}
"""Every code of a problem, with what it stands for. Codes are stable, and never used for something else."""


TOP = Spot(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem at a pointer into a document."""

    code: str
    message: str
    hint: str = ""
    severity: Severity = "error"
    spot: Spot = TOP

    def at(self, pointer: Pointer) -> "Finding":
        """The same at another pointer."""
        return replace(self, spot=Spot(pointer, self.spot.at_key))


def warning(code: str, message: str, hint: str, at: Pointer) -> Finding:
    """A finding that keeps nothing from being used."""
    return Finding(code=code, message=message, hint=hint, severity="warning", spot=Spot(at))


class Written(Protocol):
    """Something that was read: its model, its file, and where in that file things stand."""

    @property
    def model(self) -> object:
        """What was made of it; None if nothing."""

    @property
    def file(self) -> str:
        """The name of the file, as problems show it."""

    def locate(self, spots: Sequence[Spot]) -> list[tuple[int, int]]:
        """Line and column of each spot, whose pointer leads into the model as it is written; 0 where unknown."""


def placed(findings: Sequence[Finding], file: str, places: Places | None) -> tuple[Problem, ...]:
    """The findings as problems, in reading order; where places are not known they have no line and stay as they are."""
    if places is None:
        return _limited([_problem(finding, file, (0, 0)) for finding in findings])
    found = places([finding.spot for finding in findings]) if findings else []
    together = sorted(zip(found, findings, strict=True), key=lambda pair: pair[0])
    return _limited([_problem(finding, file, place) for place, finding in together])


MOST = 100
"""How many problems of one code and severity are told of a file."""


def _limited(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The first problems of each code and severity, and after them how many more there are."""
    if len(problems) <= MOST:
        return tuple(problems)
    counts = Counter((one.code, one.severity) for one in problems)
    seen: Counter[tuple[str, str]] = Counter()
    told: list[Problem] = []
    for problem in problems:
        key = (problem.code, problem.severity)
        seen[key] += 1
        if seen[key] <= MOST:
            told.append(problem)
        elif seen[key] == MOST + 1:
            message = f"and {counts[key] - MOST} more of these"
            told.append(replace(problem, message=message, hint="mend the others first"))
    return tuple(told)


def _problem(finding: Finding, file: str, place: tuple[int, int]) -> Problem:
    return Problem(
        code=finding.code,
        message=finding.message,
        file=file,
        line=place[0],
        column=place[1],
        hint=finding.hint,
        severity=finding.severity,
    )


_LONGEST = 60


def shown(value: object) -> str:
    """A value as a message shows it: in backticks, on one line, cut when long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _LONGEST and text.isprintable():
        return f"`{text}`"
    text = "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text[: _LONGEST + 1]
    )
    return f"`{text[: _LONGEST - 1]}…`" if len(text) > _LONGEST else f"`{text}`"


def listed(words: Sequence[str], last: str = "and") -> str:
    """`a`, `b` and `c`."""
    quoted = [f"`{word}`" for word in words]
    return f" {last} ".join(filter(None, [", ".join(quoted[:-1]), *quoted[-1:]]))


_PLAIN: dict[type, str] = {bool: "true or false", int: "a number", float: "a number", str: "a text", type(None): "null"}


def kind(value: object) -> str:
    """What a JSON value is, in words."""
    if isinstance(value, bool):
        return str(value).lower()
    return _PLAIN.get(type(value), "an object" if isinstance(value, dict) else "a list")
