"""The door to the rule language: a text as the models, checks and steps that it says, and models as text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ..rules.agents import AgentDefinition, AgentFile, Policy, WorkflowFile
from ..rules.authored import Authored
from ..rules.check_blocks import CheckBlock
from ..rules.errors import LoadError, Problem, has_errors
from ..rules.folders import Reader, agent_of
from ..rules.outputs import OutputSet
from ..rules.reading import Document, collector_paused, read_document
from ..rules.rulesets import RuleSet
from ..rules.step_types import SHORT_TASKS
from ..rules.templates import has_templates
from .checks import check_block
from .comments import tokens
from .documents import documents, items, normal, places, plain, token
from .fmt import attach_comments, format_text
from .parser import Source, source
from .pieces import Entries, Item
from .recover import read_items
from .render import marked, pointed, rejected
from .writer import block, write

__all__ = [
    "Json",
    "Program",
    "agent_of_program",
    "format_text",
    "look_at",
    "normal",
    "read_program",
    "read_text_document",
    "to_json",
    "write_program",
]

M = TypeVar("M", bound=Authored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a text says. Without `steps`, the workflow is that of asking the rules and saying the outputs.

    `problems` holds all that was found, in reading order; the text loads if there is no error among them.
    """

    source: Source
    items: tuple[Item, ...]
    rules: Document[RuleSet]
    outputs: Document[OutputSet]
    policy: Policy
    workflow: Document[WorkflowFile]
    checks: tuple[CheckBlock, ...]
    problems: tuple[Problem, ...]

    @property
    def rule_set(self) -> RuleSet:
        """The rules; a set without groups if there are none."""
        return self.rules.model or RuleSet()

    @property
    def output_set(self) -> OutputSet:
        """The outputs; an empty set if there are none."""
        return self.outputs.model or OutputSet()

    @property
    def loads(self) -> bool:
        """Whether no error was found."""
        return not has_errors(self.problems)

    def has(self, *kinds: str) -> bool:
        """Whether the text has an item of one of these kinds."""
        return any(item.kind in kinds for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Json:
    """A text's rules and outputs as JSON in today's keys; None where it says nothing of the kind.

    `dropped` names the kinds of items that files of rules and outputs have no place for.
    """

    rules: Mapping[str, object] | None
    outputs: Mapping[str, object] | None
    dropped: tuple[str, ...] = ()


def read_program(text: str | bytes, file: str = "") -> Program:
    """Read a text.

    Raises `LoadError` with all errors and warnings, of its syntax and of what it says, if there is an error.
    """
    program = look_at(text, file)
    if not program.loads:
        raise LoadError(program.problems)
    return program


def look_at(text: str | bytes, file: str = "") -> Program:
    """As `read_program`, for a caller who takes what can be read of a text with errors; nothing is raised."""
    with collector_paused():
        try:
            where = source(text, file)
        except LoadError as error:
            return _looked_at(Source(text="", file=file), error.problems)
        return _looked_at(where)


def _looked_at(where: Source, broken: Sequence[Problem] = ()) -> Program:
    read, problems = read_items(where)
    problems += broken
    made = documents(read)
    rules = _document(RuleSet, made.rules, where)
    outputs = _document(OutputSet, made.outputs, where)
    agent, workflow = _agent(read, where), _workflow(read, where, outputs.model)
    found = [*rules.problems, *outputs.problems, *agent.problems, *workflow.problems]
    if problems:
        # A warning may be about what an item says that could not be read.
        found = [problem for problem in found if problem.severity == "error"]
    found += [*problems, *(rejected(error, where) for error in made.rejected), *_repeated(read, where)]
    return Program(
        source=where,
        items=tuple(read),
        rules=rules,
        outputs=outputs,
        policy=(agent.model or AgentFile()).memory_policy.strict_write_discipline,
        workflow=workflow,
        checks=tuple(check_block(item, where) for item in read if item.kind == "check"),
        problems=tuple(sorted(found, key=lambda problem: (problem.line, problem.column))),
    )


def _document(model: type[M], made: Entries, where: Source) -> Document[M]:
    document = read_document(model, plain(made), where.file, places(made, where))
    return replace(document, problems=tuple(pointed(problem, where) for problem in document.problems))


def _repeated(read: Sequence[Item], where: Source) -> Iterator[Problem]:
    for kind in ("policy", "steps"):
        for item in [item for item in read if item.kind == kind][1:]:
            message = f"`{kind}` stands twice in one file"
            yield marked(where, item.at, item.at + len(kind), code="R009", message=message, hint="put all into one")


def _agent(read: Iterable[Item], where: Source) -> Document[AgentFile]:
    """The policy of a text as the document of an agent."""
    policy = next((item.entries for item in read if item.kind == "policy"), {})
    made: Entries = {"memoryPolicy": {"strictWriteDiscipline": policy}}
    return _document(AgentFile, made, where)


def _workflow(read: Iterable[Item], where: Source, outputs: OutputSet | None) -> Document[WorkflowFile]:
    """The steps of a text as the document of a workflow.

    Without any, the rules are asked, then the outputs are said, and filled in if they have placeholders.
    """
    usual = ["rules", "output"]
    if outputs is not None and has_templates(outputs.model_dump()):
        usual.append("templating")
    written = next((item.entries for item in read if item.kind == "steps"), None)
    steps: Any = [{"task": task} for task in usual] if written is None else written["steps"]
    made: Entries = {"workflowSteps": [_step(step) for step in steps]}
    return _document(WorkflowFile, made, where)


def _step(entries: Entries) -> Entries:
    task = token(entries["task"])
    # A model step needs a file, so that `llm` alone is a task of one's own.
    known = task != "llm" or "file" in entries
    name = SHORT_TASKS.get(task, str(task)) if known else str(task)
    step: Entries = {"type": task.update(value=name)}
    if "within" in entries:
        step["timeoutMs"] = entries["within"]
    if "file" in entries:
        config = {"uri": entries["file"]}
        dictionary = {"type": "ai.labs.parser.dictionaries.regular", "config": config}
        step |= {"extensions": {"dictionaries": [dictionary]}} if name == "ai.labs.parser" else {"config": config}
    return step


def write_program(rule_set: RuleSet | None = None, output_set: OutputSet | None = None) -> str:
    """Models as text, in the one layout there is; comments that came with them stand where they stood."""
    rules = None if rule_set is None else normal(rule_set)
    return write(items(rules, None if output_set is None else normal(output_set)))


def to_json(program: Program) -> Json:
    """A text's rules and outputs as JSON, with its comments.

    A comment on the policy, the steps or a setting goes with the next rule, group or output, if there is one. What is
    said of a check is dropped with it.
    """
    kept = [replace(item) for item in program.items]
    lost = _carried(kept, attach_comments(kept, program.source.text))
    made = documents(kept, comments=True)
    return Json(
        rules=plain(made.rules) if made.rules else None,
        outputs=plain(made.outputs) if made.outputs else None,
        dropped=(*(kind for kind in ("policy", "steps", "check") if program.has(kind)), *["comments"][: len(lost)]),
    )


def _carried(kept: Sequence[Item], waiting: list[str]) -> list[str]:
    """Give the comments of other items to those that carry comments in JSON; returns those that nothing carries."""
    last: Item | None = None
    for item in kept:
        if item.kind in ("group", "rule", "output"):
            item.comments = [*((0, False, words) for words in waiting), *item.comments]
            waiting, last = [], item
        elif item.kind != "check":
            waiting = [*waiting, *(words for _, _, words in item.comments)]
    if last is None:
        return waiting
    end = len(tokens(block(last)))
    last.comments = [*last.comments, *((end, False, words) for words in waiting)]
    return []


def read_text_document(model: type[M], text: str | bytes, file: str = "", /) -> Document[M]:
    """The rule set or the output set of a text, for a reader of agents that reads JSON otherwise; nothing is raised.

    Its problems are those of the syntax and of this model.
    """
    program = look_at(text, file)
    mine = program.outputs if model is OutputSet else program.rules
    others = program.rules if mine is program.outputs else program.outputs
    problems = [problem for problem in program.problems if problem not in others.problems]
    if model not in (RuleSet, OutputSet):
        message = "a text holds rules and outputs, and something else is needed here"
        problems = [Problem(code="A005", message=message, file=file, hint="name a JSON file")]
    return replace(mine, problems=tuple(problems))  # type: ignore[return-value]  # else a problem


def agent_of_program(program: Program, path: Path) -> AgentDefinition:
    """The agent that a text at `path`, which loads, describes; without `steps` its rules are asked, then its outputs.

    Files that its steps name are read from the text's folder, never from elsewhere. Raises `LoadError` with all
    errors and warnings.
    """
    own: Mapping[type[Authored], Document[Authored]] = {RuleSet: program.rules, OutputSet: program.outputs}
    agent = agent_of(path, program.policy, program.workflow, own, READERS)
    return replace(agent, notes=(*program.problems, *agent.notes))


READERS: Mapping[str, Reader] = {".turnout": read_text_document}
"""What reads the texts in an agent's folder."""
