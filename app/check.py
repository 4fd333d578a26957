"""`turnout check`: all that can be said of agents, rule sets and other files without running them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ..grammar.parser import Source
from ..grammar.program import READERS, agent_of_program, look_at
from ..grammar.render import pointed
from ..rules.agent_files import KINDS, NOT_YET, WORDS, suffix
from ..rules.agents import AgentDefinition, AgentFile
from ..rules.authored import Authored
from ..rules.bundles import is_folder
from ..rules.errors import LoadError, Problem, has_errors
from ..rules.facts import FactsFile
from ..rules.findings import listed
from ..rules.folders import read_agent
from ..rules.lints import lint_agent, lint_document
from ..rules.lints.actions import PASSED_OVER
from ..rules.parsing import parse_json
from ..rules.places import Spot
from ..rules.reading import read_document
from ..rules.shapes import shape_of
from ..rules.zips import is_zip
from .files import is_hidden, read_file, texts_in
from .flaws import flaws
from .printing import print_json, print_problems, printer, problem_data
from .testing import tested

_MODELS: tuple[type[Authored], ...] = (*WORDS, FactsFile)


@dataclass(frozen=True, slots=True)
class Checked:
    """All problems and notes of a path, and how many findings its author has silenced."""

    problems: Sequence[Problem]
    silenced: int = 0


def check(paths: Sequence[Path], *, strict: bool, as_json: bool) -> int:
    """Print what is to be said of each path.

    2 if one of them does not load, else with `strict` 1 if there is a warning, else 0.
    """
    found = [checked(each) for path in paths for each in _each(path)]
    problems = [problem for one in found for problem in one.problems]
    silenced = sum(one.silenced for one in found)
    if as_json:
        print_json({"problems": [problem_data(one) for one in problems], "silenced": silenced})
    else:
        print_problems(problems, talk=False)
        printer(talk=True).print(_summary(problems, silenced))
    if has_errors(problems):
        return 2
    return 1 if strict and any(problem.severity == "warning" for problem in problems) else 0


def _each(path: Path) -> list[Path]:
    """The path itself, or of a folder that holds no agent the texts and the agents' folders in it, if any."""
    if not is_folder(path) or any(map(_is_agent, path.glob("*.json"))):
        return [path]
    agents = {file.parent for file in path.rglob("*.json") if _is_agent(file)}
    texts = {file for file in texts_in(path) if agents.isdisjoint(file.parents)}
    return sorted(texts.union(one for one in agents if not is_hidden(one, path))) or [path]


def _is_agent(file: Path) -> bool:
    return KINDS.get(suffix(PurePosixPath(file.as_posix()))) is AgentFile


def checked(path: Path) -> Checked:
    """Check an agent's folder or zip, or a file, whose kind its name or its keys tell."""
    try:
        if is_folder(path) or is_zip(path):
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
        document = read_document(model, source, name)
        if not document.loads:
            return Checked(document.problems)
        report = lint_document(document)
        return Checked([*document.problems, *report.problems], report.silenced)
    except LoadError as error:
        return Checked(error.problems)


def _agent(agent: AgentDefinition) -> Checked:
    report = lint_agent(agent)
    return Checked([*agent.notes, *report.problems, *_passed_over(agent)], report.silenced)


def _passed_over(agent: AgentDefinition) -> Iterator[Problem]:
    """What is not looked for in an agent with tasks of its own, told at the first of them."""
    place = next((step.place for step in agent.steps if step.settings is None), None)
    if place is not None:
        source, at = place
        ((line, column),) = source.locate([Spot((*at, "type"))])
        yield Problem(
            code="A017",
            message=f"{listed(PASSED_OVER)} are not looked for",
            why="tasks of your own may emit any action, and may answer it",
            file=source.file,
            line=line,
            column=column,
            severity="note",
        )


def _text(path: Path, text: bytes) -> Checked:
    """Check a text; one that says what its steps are is an agent."""
    program = look_at(text, path.as_posix())
    source = program.source
    if not program.loads:
        return Checked(program.problems)
    agent = agent_of_program(program, path)
    if program.has("steps"):
        told, reports = agent.notes, [lint_agent(agent)]
    else:
        told, reports = program.problems, [lint_document(program.rules), lint_document(program.outputs)]
    found = [pointed(_at_item(one, source), source) for report in reports for one in report.problems]
    flawed = [
        pointed(replace(flaw, file=source.file), source)
        for one in program.checks
        for flaw in flaws(one, tested(program, agent))
    ]
    notes = [pointed(one, source) for one in _passed_over(agent)] if program.has("steps") else []
    return Checked([*told, *found, *flawed, *notes], sum(report.silenced for report in reports))


def checked_text(text: str) -> list[Problem]:
    """All that is to be said of the rules and outputs of a text, without reading a file that its steps may name."""
    program = look_at(text)
    if not program.loads:
        return list(program.problems)
    source = program.source
    found = [one for document in (program.rules, program.outputs) for one in lint_document(document).problems]
    return [*program.problems, *(pointed(_at_item(one, source), source) for one in found)]


def _at_item(problem: Problem, source: Source) -> Problem:
    """A finding about a whole rule, which begins with the word before its name."""
    if problem.file != source.file or not problem.line:
        return problem
    before = source.line(problem.line)[: problem.column - 1].rstrip()
    return replace(problem, column=len(before) - 3) if before.endswith("rule") else problem


def _kind(data: object, name: str) -> type[Authored]:
    """The model that most of the document's keys are known to."""
    keys = set(data) if isinstance(data, dict) else set[str]()
    shared = {model: len(keys & (shape_of(model).known | set(shape_of(model).aliases))) for model in _MODELS}
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
