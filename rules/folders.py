"""An agent's folder to the agent that it describes: its policy, and the steps of a turn with what they need.

The layout is the reference's export (`<id>.agent.json`, `<workflow>/<version>/<id>.workflow.json` and what is
beside it), of any age; files may have readable names instead of ids. Nothing outside the folder is read.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Protocol, TypeVar

from .agent_files import KINDS, WORDS, AgentFiles, article, is_inside, reason, suffix
from .agents import (
    AgentDefinition,
    AgentFile,
    Dictionary,
    HttpCallsFile,
    ParserSettings,
    Policy,
    RulesSettings,
    Settings,
    StepDefinition,
    WorkflowFile,
    WorkflowStep,
)
from .conditions import Authored, step_task
from .errors import LoadError, Problem, Severity
from .findings import listed, shown
from .outputs import OutputSet
from .places import Pointer
from .reading import Document, read_document
from .rulesets import RuleSet
from .step_types import is_skipped, misspells_uri

M = TypeVar("M", bound=Authored)


class Reader(Protocol):
    """Reads what a file holds of a model, as `read_document` does for JSON."""

    def __call__(self, model: type[M], source: bytes, file: str, /) -> Document[M]:
        """The document; nothing is raised."""


_NO_READERS: Mapping[str, Reader] = MappingProxyType({})


def read_agent(path: Path, readers: Mapping[str, Reader] = _NO_READERS) -> AgentDefinition:
    """Read the agent in the folder `path`.

    A step whose task is not built in has no settings; whether such a task exists is for the caller to say.
    Files with an ending of `readers` (`.turnout`) are read by these where a step names them, others are JSON.
    Raises `LoadError` with the errors and warnings of all files, in reading order.
    """
    folder = _Folder(path, readers)
    return _loaded(folder.agent(), folder.problems)


def agent_of(
    file: Path,
    policy: Policy,
    workflow: Document[WorkflowFile],
    own: Mapping[type[Authored], Document[Authored]],
    readers: Mapping[str, Reader] = _NO_READERS,
) -> AgentDefinition:
    """The agent that one file describes; other files that its steps name are read from the file's folder.

    `own` holds the parts that stand in the file itself, for steps that name no file. Raises `LoadError`.
    """
    folder = _Folder(file.parent, readers, own)
    return _loaded(folder.agent_of(file.name.partition(".")[0], policy, workflow), folder.problems)


def _loaded(agent: AgentDefinition | None, problems: Sequence[Problem]) -> AgentDefinition:
    if agent is None or any(problem.severity == "error" for problem in problems):
        raise LoadError(problem for problem in problems if problem.severity != "note")
    return agent


@dataclass(frozen=True, slots=True)
class _Reference:
    """An address, and the document and place that it was read from."""

    address: str
    document: "Document[Authored]"
    pointer: Pointer
    folder: PurePosixPath

    def problem(self, code: str, message: str, *, hint: str = "", severity: Severity = "error") -> Problem:
        return self.document.problem(code, message, self.pointer, hint=hint, severity=severity)


class _Folder:
    """One reading of a folder. Paths inside it are relative to it."""

    def __init__(
        self,
        root: Path,
        readers: Mapping[str, Reader] = _NO_READERS,
        own: Mapping[type[Authored], Document[Authored]] = MappingProxyType({}),
    ) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self._readers = readers
        self._own = own
        self._read: dict[tuple[PurePosixPath, type[Authored] | None], Document[Authored]] = {}
        self._used: set[PurePosixPath] = set()
        self._files = AgentFiles(root, tuple(readers))

    def agent(self) -> AgentDefinition | None:
        """The agent, None if there is no agent file to begin with; all problems are in `problems`."""
        if (start := self._agent_file()) is None:
            return None
        self._files.walk()
        self.problems += self._files.problems
        agent = self._document(start, AgentFile)
        if agent is None or agent.model is None:
            self._look_into_the_rest()
            return None
        steps: list[StepDefinition] = []
        for index, address in enumerate(agent.model.workflows):
            found = self._file(_Reference(address, agent, ("workflows", index), PurePosixPath()), WorkflowFile)
            if found is not None and (workflow := self._document(found, WorkflowFile)) is not None:
                steps += self._steps(workflow, found.parent)
        if any(problem.severity == "error" for problem in self.problems):
            self._look_into_the_rest()
        else:
            self._note_unused()
        return AgentDefinition(
            name=start.name.partition(".")[0],
            policy=agent.model.memory_policy.strict_write_discipline,
            steps=tuple(steps),
            notes=tuple(self.problems),
            sources=tuple(self._read.values()),
        )

    def agent_of(self, name: str, policy: Policy, workflow: Document[WorkflowFile]) -> AgentDefinition:
        """The agent of one file, which holds its policy and its workflow."""
        steps = workflow.model.workflow_steps if workflow.model is not None else ()
        references = [reference.config.uri for step in steps for reference in step.extensions.dictionaries]
        self._files.look_for(filter(None, [*references, *(step.config.uri for step in steps)]))
        return AgentDefinition(
            name=name,
            policy=policy,
            steps=tuple(self._steps(workflow, PurePosixPath())),
            notes=tuple(self.problems),
            sources=(*self._own.values(), *self._read.values()),
        )

    def _steps(self, workflow: Document[WorkflowFile], folder: PurePosixPath) -> Iterator[StepDefinition]:
        for index, step in enumerate(workflow.model.workflow_steps if workflow.model is not None else ()):
            at: Pointer = ("workflowSteps", index)
            if is_skipped(step.type):
                continue
            task = step_task(step.type)
            settings = self._settings(task, step, workflow, at, folder)
            yield StepDefinition(task=task, settings=settings, timeout_ms=step.timeout_ms, place=(workflow, at))

    def _settings(
        self,
        task: str,
        step: WorkflowStep,
        workflow: Document[WorkflowFile],
        at: Pointer,
        folder: PurePosixPath,
    ) -> Settings | None:
        """The settings of a built-in task; None for any other one, and where they do not load."""
        if task == "ai.labs.parser":
            return ParserSettings(dictionaries=tuple(self._dictionaries(step, workflow, at, folder)))
        if misspells_uri(step.config):
            return None
        uri = step.config.uri
        reference = _Reference(uri or "", workflow, (*at, "config", "uri"), folder)
        match task:
            case "ai.labs.behavior":
                if (rules := self._part(reference, RuleSet)) is not None:
                    append, expressions = step.config.append_actions, step.config.expressions_as_actions
                    return RulesSettings(rule_set=rules, append_actions=append, expressions_as_actions=expressions)
            case "ai.labs.output":
                return self._part(reference, OutputSet)
            case "ai.labs.httpcalls":
                return self._part(reference, HttpCallsFile)
            case _ if uri is not None:  # the file of a task that is not built in is that task's affair
                self._used.update(self._files.named(uri, folder))
        return None

    def _dictionaries(
        self, step: WorkflowStep, workflow: Document[WorkflowFile], at: Pointer, folder: PurePosixPath
    ) -> Iterator[Dictionary]:
        for index, reference in enumerate(step.extensions.dictionaries):
            here: Pointer = (*at, "extensions", "dictionaries", index)
            if misspells_uri(reference.config):
                continue
            if reference.config.uri is None:
                message = f"the dictionary {shown(reference.type)} is not used here"
                self.problems.append(workflow.problem("A010", message, (*here, "type"), severity="warning"))
                continue
            place = _Reference(reference.config.uri, workflow, (*here, "config", "uri"), folder)
            if (dictionary := self._part(place, Dictionary)) is not None:
                yield dictionary

    def _part(self, reference: _Reference, model: type[M]) -> M | None:
        """The model in the file that a step refers to."""
        if not reference.address and (own := self._own.get(model)) is not None:
            return own.model  # type: ignore[return-value]
        if not reference.address:
            message = f"a step of this type needs the file of its {WORDS[model]}"
            hint = "name it in `config`, under `uri`"
            self.problems.append(reference.problem("A008", message, hint=hint))
            return None
        found = self._file(reference, model)
        document = self._document(found, model) if found is not None else None
        return document.model if document is not None else None

    def _document(self, file: PurePosixPath, model: type[M]) -> Document[M] | None:
        """The file's document, read once; None for one that cannot be read or was read as something else."""
        self._used.add(file)
        reader = self._readers.get(file.suffix)
        # A text may hold both rules and outputs, a JSON document is one thing.
        key = (file, None if reader is None else model)
        if (known := self._read.get(key)) is None:
            name = (self.root / file).as_posix()
            try:
                known = (reader or read_document)(model, (self.root / file).read_bytes(), name)
            except OSError as error:
                self.problems.append(Problem(code="A001", message=reason("file", error), file=name))
                return None
            self._read[key] = known
            self.problems += [problem for problem in known.problems if reader is None or problem not in self.problems]
        if known.model is not None and not isinstance(known.model, model):
            message = f"the file is used as {article(model)} and as {article(type(known.model))}"
            hint = "let each step name a file of its own"
            self.problems.append(Problem(code="A014", message=message, file=known.file, hint=hint))
            return None
        return known  # type: ignore[return-value]

    def _file(self, reference: _Reference, model: type[Authored]) -> PurePosixPath | None:
        """The file that an address means; without one, or with several, a problem is added."""
        address = reference.address
        if "://" not in address and not is_inside(address):
            message = f"{shown(address)} leads out of the agent's folder"
            hint = "put the file into the agent's folder, and name it from there"
            self.problems.append(reference.problem("A006", message, hint=hint))
            return None
        named = self._files.named(address, reference.folder)
        found = [file for file in named if KINDS.get(suffix(file), model) is model]
        if len(found) == 1:
            return found[0]
        if found:
            files = listed([str(file) for file in found])
            message = f"{shown(address)} could be any of {files}"
            self.problems.append(reference.problem("A005", message, hint="leave only one of them"))
        elif self._files.is_link(address, reference.folder):
            message = f"{shown(address)} is a link, and links are not followed"
            self.problems.append(reference.problem("A015", message, hint="put the file itself there"))
        elif named:
            other = KINDS[suffix(named[0])]
            message = f"{shown(str(named[0]))} is {article(other)}, and {article(model)} is needed here"
            self.problems.append(reference.problem("A014", message, hint="correct the address, or the file's name"))
        else:
            message = f"the agent's folder holds no {WORDS[model]} for {shown(address)}"
            hint = "add the file, or correct the address"
            self.problems.append(reference.problem("A004", message, hint=hint))
        return None

    def _agent_file(self) -> PurePosixPath | None:
        """The one agent file at the top of the folder."""
        name = self.root.as_posix()
        try:
            every = sorted(os.scandir(self.root), key=lambda entry: entry.name)
            entries = [entry for entry in every if KINDS.get(suffix(PurePosixPath(entry.name))) is AgentFile]
            found = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        except OSError as error:
            hint = "name the folder that holds the agent's `.agent.json`"
            self.problems.append(Problem(code="A001", message=reason("folder", error), file=name, hint=hint))
            return None
        if len(found) == 1:
            return PurePosixPath(found[0])
        if found:
            message = f"the folder holds several agents: {listed(found)}"
            hint = "give each agent a folder of its own"
            self.problems.append(Problem(code="A003", message=message, file=name, hint=hint))
        elif entries:
            odd = entries[0]
            what = "a link, and links are not followed" if odd.is_symlink() else "no plain file"
            what = "a folder" if odd.is_dir(follow_symlinks=False) else what
            message, hint = f"{shown(odd.name)} is {what}", "put the agent's file itself there"
            self.problems.append(Problem(code="A015", message=message, file=name, hint=hint))
        else:
            hint = "add one whose name ends in `.agent.json`"
            message = "the folder holds no agent file"
            self.problems.append(Problem(code="A002", message=message, file=name, hint=hint))
        return None

    def _unread(self) -> list[PurePosixPath]:
        return [file for file in self._files.documents() if file not in self._used]

    def _look_into_the_rest(self) -> None:
        """Something is wrong: what else is wrong shall be told in the same run."""
        for file in self._unread():
            if (model := KINDS.get(suffix(file))) is not None:
                self._document(file, model)

    def _note_unused(self) -> None:
        for file in self._unread():
            name = (self.root / file).as_posix()
            message = "nothing in the agent refers to this file"
            self.problems.append(Problem(code="A007", message=message, file=name, severity="note"))
