"""`turnout check`: all that can be said of agents, rule sets and other files without running them."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from ..rules.agent_files import KINDS, suffix
from ..rules.agents import AgentFile, Dictionary, HttpCallsFile, WorkflowFile
from ..rules.conditions import Authored
from ..rules.errors import LoadError, Problem
from ..rules.facts import FactsFile, read_facts
from ..rules.folders import read_agent
from ..rules.outputs import OutputSet
from ..rules.parsing import parse_json
from ..rules.reading import read_document
from ..rules.rulesets import RuleSet
from ..rules.shapes import shape_of
from .files import read_file
from .printing import print_json, print_problems, printer

_SHAPES = (RuleSet, OutputSet, AgentFile, WorkflowFile, HttpCallsFile, Dictionary, FactsFile)


def check(paths: Sequence[Path], *, strict: bool, as_json: bool) -> int:
    """Print what is to be said of each path.

    2 if one of them does not load, else with `strict` 1 if there is a warning, else 0.
    """
    problems = [problem for path in paths for problem in checked(path)]
    if as_json:
        print_json({"problems": [asdict(problem) for problem in problems]})
    else:
        print_problems(problems, talk=False)
        printer(talk=True).print(_summary(problems))
    if any(problem.severity == "error" for problem in problems):
        return 2
    return 1 if strict and any(problem.severity == "warning" for problem in problems) else 0


def checked(path: Path) -> Iterable[Problem]:
    """All problems and notes of an agent's folder, or of a file, whose kind its name or its keys tell."""
    try:
        if path.is_dir():
            return read_agent(path).notes
        source = read_file(path)
        name = path.as_posix()
        model = KINDS.get(suffix(PurePosixPath(name))) or _kind(parse_json(source, name), name)
        if model is FactsFile:
            return read_facts(source, name).notes
        return read_document(model, source, name).problems
    except LoadError as error:
        return error.problems


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


def _summary(problems: Sequence[Problem]) -> str:
    counts = {word: sum(one.severity == word for one in problems) for word in ("error", "warning", "note")}
    told = [f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts.items() if count]
    return ", ".join(told) or "no problems"
