"""An agent's folder or zip to the agent that it describes: its policy, and the steps of a turn with what they need.

The layout is the reference's export (`<id>.agent.json`, `<workflow>/<version>/<id>.workflow.json` and what is
beside it), of any age; files may have readable names instead of ids. Nothing outside of it is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Protocol, TypeVar

from .agent_files import KINDS, PARTS, WORDS, AgentFiles, agent_file, article, other_version, suffix
from .agents import (
    AgentDefinition,
    AgentFile,
    ParserSettings,
    Policy,
    RulesSettings,
    Settings,
    StepDefinition,
    TemplatingSettings,
    WorkflowFile,
    WorkflowStep,
)
from .authored import Authored, step_task, task_name
from .bundles import Bundle, FolderBundle, is_inside
from .dictionaries import CORRECTIONS, Dictionary, Kind
from .dictionaries import KINDS as KINDS_OF_DICTIONARIES
from .errors import LoadError, Problem, Severity, has_errors
from .findings import listed, shown
from .places import Pointer
from .properties import PropertySetter
from .reading import Document, read_document
from .rulesets import RuleSet
from .step_types import is_skipped, misspells_uri
from .zips import ZipBundle, is_zip

M = TypeVar("M", bound=Authored)


class Reader(Protocol):
    """Reads what a file holds of a model, as `read_document` does for JSON."""

    def __call__(self, model: type[M], source: bytes, file: str, /) -> Document[M]:
        """The document; nothing is raised."""


_NO_READERS: Mapping[str, Reader] = MappingProxyType({})


def read_agent(path: Path, readers: Mapping[str, Reader] = _NO_READERS) -> AgentDefinition:
    """Read the agent in the folder, or in the zip, at `path`.

    A step whose task is not built in has no settings; whether such a task exists is for the caller to say.
    Files with an ending of `readers` (`.turnout`) are read by these where a step names them, others are JSON.
    Raises `LoadError` with the errors and warnings of all files, in reading order.
    """
    return read_bundle(bundle_at(path), readers)


def bundle_at(path: Path) -> Bundle:
    """What holds the files of the agent at `path`; a folder is not looked into yet. Raises `LoadError` for a zip."""
    return ZipBundle(path) if is_zip(path) else FolderBundle(path)


def read_bundle(bundle: Bundle, readers: Mapping[str, Reader] = _NO_READERS) -> AgentDefinition:
    """As `read_agent`, from whatever holds the files."""
    start = agent_file(bundle)
    folder = _Folder(AgentFiles(bundle, readers), readers)
    return _loaded(folder.agent(start), folder.problems)


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
    folder = _Folder(AgentFiles(beside(file, workflow.model), readers), readers, own)
    agent = AgentDefinition(
        name=file.name.partition(".")[0],
        policy=policy,
        steps=tuple(folder.steps(workflow, PurePosixPath())),
        notes=tuple(folder.problems),
        sources=(*own.values(), *folder.read.values()),
    )
    return _loaded(agent, folder.problems)


def beside(file: Path, workflow: WorkflowFile | None) -> FolderBundle:
    """The folder that `file` is in, with nothing in it but the files that the steps of its workflow name."""
    steps = workflow.workflow_steps if workflow is not None else ()
    uris = [step.config.uri for step in steps]
    uris += (each.config.uri for step in steps for each in step.extensions.dictionaries)
    return FolderBundle(file.parent, filter(None, uris))


def _loaded(agent: AgentDefinition | None, problems: Sequence[Problem]) -> AgentDefinition:
    if agent is None or has_errors(problems):
        raise LoadError(problems)
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
    """One reading of a folder or zip. Paths inside it are relative to it."""

    def __init__(
        self,
        files: AgentFiles,
        readers: Mapping[str, Reader],
        own: Mapping[type[Authored], Document[Authored]] = MappingProxyType({}),
    ) -> None:
        self.problems = list(files.bundle.problems)
        self.read: dict[tuple[PurePosixPath, type[Authored] | None], Document[Authored]] = {}
        self._files = files
        self._readers = readers
        self._own = own
        self._used: set[PurePosixPath] = set()

    def agent(self, start: PurePosixPath) -> AgentDefinition | None:
        """The agent that begins with this file, None if that does not load; all problems are in `problems`."""
        agent = self._document(start, AgentFile)
        if agent is None or agent.model is None:
            self._look_into_the_rest()
            return None
        steps: list[StepDefinition] = []
        for index, address in enumerate(agent.model.workflows):
            found = self._file(_Reference(address, agent, ("workflows", index), PurePosixPath()), WorkflowFile)
            if found is not None and (workflow := self._document(found, WorkflowFile)) is not None:
                steps += self.steps(workflow, found.parent)
        if has_errors(self.problems):
            self._look_into_the_rest()
        else:
            if not steps:
                at: Pointer = ("workflows",) if agent.model.workflows else ()
                message, hint = "the agent has no step, so it never answers", "name a workflow that has steps"
                self.problems.append(agent.problem("A020", message, at, hint=hint, severity="warning"))
            self._note_unused()
        return AgentDefinition(
            name=start.name.partition(".")[0],
            policy=agent.model.memory_policy.strict_write_discipline,
            steps=tuple(steps),
            notes=tuple(self.problems),
            sources=tuple(self.read.values()),
        )

    def steps(self, workflow: Document[WorkflowFile], folder: PurePosixPath) -> Iterator[StepDefinition]:
        """The steps of a workflow that stands in `folder`."""
        for index, step in enumerate(workflow.model.workflow_steps if workflow.model is not None else ()):
            at: Pointer = ("workflowSteps", index)
            if is_skipped(step.type):
                continue
            task = step_task(step.type)
            settings = self._settings(task, step, workflow, at, folder)
            yield StepDefinition(task=task, settings=settings, timeout_ms=step.timeout_ms, place=(workflow, at))

    def _settings(
        self, task: str, step: WorkflowStep, workflow: Document[WorkflowFile], at: Pointer, folder: PurePosixPath
    ) -> Settings | None:
        """The settings of a built-in task; None for any other one, and where they do not load."""
        if task == "ai.labs.parser":
            corrections = [each for each in step.extensions.corrections if task_name(each.type) in CORRECTIONS]
            dictionaries = tuple(self._dictionaries(step, workflow, at, folder))
            return ParserSettings(dictionaries=dictionaries, corrections=tuple(corrections))
        if misspells_uri(step.config):
            return None
        uri = step.config.uri
        if task == "ai.labs.templating":
            return TemplatingSettings()
        if task == "ai.labs.property" and uri is None:
            return PropertySetter(set_on_actions=step.config.set_on_actions or ())
        if task not in PARTS:
            if uri is not None:  # the file of a task that is not built in is that task's affair
                self._used.update(self._files.named(uri, folder))
            return None
        part = self._part(_Reference(uri or "", workflow, (*at, "config", "uri"), folder), PARTS[task])
        if isinstance(part, RuleSet):
            append, expressions = step.config.append_actions, step.config.expressions_as_actions
            return RulesSettings(rule_set=part, append_actions=append, expressions_as_actions=expressions)
        return part

    def _dictionaries(
        self, step: WorkflowStep, workflow: Document[WorkflowFile], at: Pointer, folder: PurePosixPath
    ) -> Iterator[Dictionary | Kind]:
        for index, reference in enumerate(step.extensions.dictionaries):
            uri = reference.config.uri
            if misspells_uri(reference.config):
                continue
            if uri is not None:
                place = _Reference(uri, workflow, (*at, "extensions", "dictionaries", index, "config", "uri"), folder)
                if (dictionary := self._part(place, Dictionary)) is not None:
                    yield dictionary
            elif (kind := KINDS_OF_DICTIONARIES.get(task_name(reference.type))) is not None:
                yield kind

    def _part(self, reference: _Reference, model: type[M]) -> M | None:
        """The model in the file that a step refers to."""
        if not reference.address and (own := self._own.get(model)) is not None:
            return own.model  # type: ignore[return-value]  # kept by model
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
        if (known := self.read.get(key)) is None:
            try:
                source = self._files.bundle.read(file)
            except LoadError as error:
                self.problems += error.problems
                return None
            known = (reader or read_document)(model, source, self._files.place(file))
            self.read[key] = known
            self.problems += [problem for problem in known.problems if reader is None or problem not in self.problems]
        if known.model is not None and not isinstance(known.model, model):
            message = f"the file is used as {article(model)} and as {article(type(known.model))}"
            hint = "let each step name a file of its own"
            self.problems.append(Problem(code="A014", message=message, file=known.file, hint=hint))
            return None
        return known  # type: ignore[return-value]  # kept by model

    def _file(self, reference: _Reference, model: type[Authored]) -> PurePosixPath | None:
        """The file that an address means; without one, or with several, a problem is added."""
        address = reference.address
        named = self._files.named(address, reference.folder)
        found = self._files.fitting(address, reference.folder, model)
        holder = f"the agent's {self._files.bundle.word}"
        if "://" not in address and not is_inside(address):
            message = f"{shown(address)} leads out of {holder}"
            code, hint = "A006", f"put the file into {holder}, and name it from there"
        elif len(found) == 1:
            self._note_version(reference, found[0])
            return found[0]
        elif found:
            message = f"{shown(address)} could be any of {listed([str(file) for file in found])}"
            code, hint = "A005", "leave only one of them"
        elif odd := self._files.odd(address, reference.folder):
            message = f"{shown(address)} is {odd}"
            code, hint = "A015", "put the file itself there"
        elif named:
            other = KINDS[suffix(named[0])]
            message = f"{shown(str(named[0]))} is {article(other)}, and {article(model)} is needed here"
            code, hint = "A014", "correct the address, or the file's name"
        else:
            message = f"{holder} holds no {WORDS[model]} for {shown(address)}"
            code, hint = "A004", "add the file, or correct the address"
            if "\\" in address and "://" not in address:
                hint = "write `/` in place of `\\`"
        self.problems.append(reference.problem(code, message, hint=hint))
        return None

    def _note_version(self, reference: _Reference, file: PurePosixPath) -> None:
        if there := other_version(reference.address, file):
            message = f"{shown(reference.address)} names a version that is not here, and version {there} is read"
            hint = f"write `?version={there}`, or add the version"
            self.problems.append(reference.problem("A019", message, hint=hint, severity="note"))

    def _unread(self) -> list[PurePosixPath]:
        return [file for file in self._files.documents() if file not in self._used]

    def _look_into_the_rest(self) -> None:
        """Something is wrong: what else is wrong shall be told in the same run."""
        for file in self._unread():
            if (model := KINDS.get(suffix(file))) is not None:
                self._document(file, model)

    def _note_unused(self) -> None:
        for file in self._unread():
            message = "nothing in the agent refers to this file"
            self.problems.append(Problem(code="A007", message=message, file=self._files.place(file), severity="note"))
