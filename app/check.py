"""`turnout check`: all that can be said of agents, rule sets and other files without running them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ..grammar.parser import Source
from ..grammar.program import READERS, look_at, read_agent_file
from ..grammar.render import marked
from ..rules.agent_files import KINDS, NOT_YET, suffix
from ..rules.agents import AgentDefinition, AgentFile, Dictionary, HttpCallsFile, WorkflowFile
from ..rules.conditions import Authored
from ..rules.errors import LoadError, Problem
from ..rules.facts import FactsFile, read_facts
from ..rules.folders import read_agent
from ..rules.lints import Lint, lint_agent, lint_document
from ..rules.outputs import OutputSet
from ..rules.parsing import parse_json
from ..rules.reading import read_document
from ..rules.rulesets import RuleSet
from ..rules.shapes import shape_of
from .files import read_file
from .printing import print_json, print_problems, printer, problem_data

_SHAPES = (RuleSet, OutputSet, AgentFile, WorkflowFile, HttpCallsFile, Dictionary, FactsFile)


@dataclass(frozen=True, slots=True)
class Checked:
    """All problems and notes of a path, how many findings its author has silenced, and the text that was read."""

    problems: Sequence[Problem]
    silenced: int = 0
    text: Source | None = None


def check(paths: Sequence[Path], *, strict: bool, as_json: bool) -> int:
    """Print what is to be said of each path.

    2 if one of them does not load, else with `strict` 1 if there is a warning, else 0.
    """
    found = [checked(each) for path in paths for each in _each(path)]
    problems = [problem for one in found for problem in one.problems]
    silenced = sum(one.silenced for one in found)
    if as_json:
        told = [{"code": one.code, "severity": one.severity, **problem_data(one)} for one in problems]
        print_json({"problems": told, "silenced": silenced})
    else:
        print_problems([_marked(problem, one.text) for one in found for problem in one.problems], talk=False)
        printer(talk=True).print(_summary(problems, silenced))
    if any(problem.severity == "error" for problem in problems):
        return 2
    return 1 if strict and any(problem.severity == "warning" for problem in problems) else 0


def _each(path: Path) -> list[Path]:
    """The path itself, or of a folder that holds no agent the texts and the agents' folders in it, if any."""
    if not path.is_dir() or any(map(_is_agent, path.glob("*.json"))):
        return [path]
    agents = {file.parent for file in path.rglob("*.json") if _is_agent(file)}
    texts = {file for file in path.rglob("*.turnout") if file.is_file() and agents.isdisjoint(file.parents)}
    return sorted(one for one in agents | texts if not any(part[0] == "." for part in one.relative_to(path).parts)) or [
        path
    ]


def _is_agent(file: Path) -> bool:
    return KINDS.get(suffix(PurePosixPath(file.as_posix()))) is AgentFile


def checked(path: Path) -> Checked:
    """Check an agent's folder, or a file, whose kind its name or its keys tell."""
    try:
        if path.is_dir():
            return _agent(read_agent(path, READERS))
        source = read_file(path)
        if path.suffix == ".turnout":
            return _text(path, source)
        name = path.as_posix()
        kind = suffix(PurePosixPath(name))
        if kind in NOT_YET:
            parse_json(source, name)
            message = f"{NOT_YET[kind]} are not read yet"
            return Checked([Problem(code="A016", message=message, file=name, severity="note")])
        model = KINDS.get(kind) or _kind(parse_json(source, name), name)
        if model is FactsFile:
            return Checked(read_facts(source, name).notes)
        document = read_document(model, source, name)
        if not document.loads:
            return Checked(document.problems)
        report = lint_document(document)
        return Checked([*document.problems, *report.problems], report.silenced)
    except LoadError as error:
        return Checked(error.problems)


def _agent(agent: AgentDefinition) -> Checked:
    report = lint_agent(agent)
    return Checked([*agent.notes, *report.problems], report.silenced)


def _text(path: Path, text: bytes) -> Checked:
    """Check a text; one that says what its steps are is an agent."""
    program = look_at(text, path.as_posix())
    if not program.loads:
        return Checked(program.problems)
    if program.has("steps"):
        found = _agent(read_agent_file(path))
    else:
        reports = [lint_document(program.rules), lint_document(program.outputs)]
        problems = [*program.problems, *(problem for report in reports for problem in report.problems)]
        found = Checked(problems, sum(report.silenced for report in reports))
    return replace(found, problems=[_at_item(one, program.source) for one in found.problems], text=program.source)


def _at_item(problem: Problem, source: Source) -> Problem:
    """A finding about a whole rule, which begins with the word before its name."""
    if not isinstance(problem, Lint) or problem.file != source.file or not problem.line:
        return problem
    before = source.line(problem.line)[: problem.column - 1].rstrip()
    return replace(problem, column=len(before) - 3) if before.endswith("rule") else problem


_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.:-]+|.')


def _marked(problem: Problem, source: Source | None) -> Problem:
    """A finding with the line that it is about, where that stands in this text; other problems as they are."""
    if not isinstance(problem, Lint) or source is None or problem.file != source.file or not problem.line:
        return problem
    start = source.offset(problem.line, problem.column)
    word = _WORD.match(source.text, start)
    return marked(
        source,
        start,
        word.end() if word else start + 1,
        code=problem.code,
        message=problem.short,
        note=problem.why or problem.hint,
        hint=problem.hint,
        severity=problem.severity,
    )


def _kind(data: object, name: str) -> type[Authored]:
    """The model that most of the document's keys are known to."""
    keys = set(data) if isinstance(data, dict) else set[str]()
    shared = {model: len(keys & (shape_of(model).known | set(shape_of(model).aliases))) for model in _SHAPES}
    best = max(shared, key=lambda model: shared[model])
    if not shared[best]:
        message = "this is no file that Turnout knows"
        hint = "let its name say what it is, as in `weather.behavior.json`"
        raise LoadError([Problem(code="K005", message=message, file=name, hint=hint)])
    return best


def _summary(problems: Iterable[Problem], silenced: int) -> str:
    found = list(problems)
    counts = {word: sum(one.severity == word for one in found) for word in ("error", "warning", "note")}
    told = [f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts.items() if count]
    quiet = [f"{silenced} silenced"] if silenced else []
    return ", ".join([*(told or ["no problems"]), *quiet])
