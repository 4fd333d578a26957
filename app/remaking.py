"""A whole agent in today's form: what its files become, in memory, whatever their age and wherever they are."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..grammar.documents import COMMENTS, dumped
from ..grammar.pieces import Entries, objects
from ..grammar.program import READERS, Json, Program, normal, read_program, to_json, write_program
from ..rules.agent_files import ENDINGS, KINDS, PARTS, AgentFiles, suffix
from ..rules.agents import AgentDefinition, AgentFile, RulesSettings, WorkflowFile, WorkflowStep
from ..rules.authored import Authored, step_task, task_name
from ..rules.bundles import Bundle, MemoryBundle
from ..rules.dictionaries import Dictionary
from ..rules.errors import LoadError, UsageError
from ..rules.folders import beside, read_bundle
from ..rules.outputs import OutputSet
from ..rules.reading import read
from ..rules.rulesets import RuleSet
from ..rules.step_types import BUILT_IN, is_skipped
from .files import json_bytes

_STORES = {
    "ai.labs.package/packagestore/packages": "ai.labs.workflow/workflowstore/workflows",
    "ai.labs.behavior/behaviorstore/behaviorsets": "ai.labs.rules/rulestore/rulesets",
    "ai.labs.httpcalls/httpcallsstore/httpcalls": "ai.labs.apicalls/apicallstore/apicalls",
    "ai.labs.regulardictionary/regulardictionarystore/regulardictionaries": (
        "ai.labs.dictionary/dictionarystore/dictionaries"
    ),
    "ai.labs.langchain/langchainstore/langchains": "ai.labs.llm/llmstore/llms",
}
"""Older beginnings of addresses, and today's."""

_Part = tuple[PurePosixPath, type[Authored]]
"""A file, and what it is read as: a text may be read as rules and as outputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remade:
    """What an agent's files became; and whether what is read of them is what was read before."""

    files: Mapping[PurePosixPath, bytes]
    equal: bool
    unneeded: Sequence[str] = ()
    """Files that no turn of the agent needs, which became nothing."""
    lost: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By text, the kinds of its items that became nothing."""


def remade(bundle: Bundle, agent: AgentDefinition, *, to: str) -> Remade:
    """The files of an agent that was read from `bundle`, with `to` `text` rules and outputs as texts.

    Raises `UsageError` for an agent whose files cannot be named so.
    """
    work = _Work(AgentFiles(bundle, READERS), agent, to)
    files = dict(work.written())
    return Remade(
        files=files,
        equal=_loads_as(agent, files),
        unneeded=[str(file) for file in work.files.files if file not in work.needed],
        lost=work.lost,
    )


def remade_text(path: Path, program: Program, agent: AgentDefinition) -> Remade:
    """As `remade`, for the agent that one text describes: as the folder of JSON files that it could have been."""
    name = path.name.partition(".")[0]
    folder = beside(path, program.workflow.model)
    parts = {file: folder.read(file) for file, odd in folder.entries() if not odd}
    made = to_json(program)
    steps = dumped(program.workflow.model or WorkflowFile())
    own: Entries = {}
    for task, document in (("ai.labs.behavior", made.rules), ("ai.labs.output", made.outputs)):
        file = f"{name}.{ENDINGS[PARTS[task]]}.json"
        for step in objects(steps, "workflowSteps"):
            if step["type"] == task and "config" not in step:
                step["config"] = {"uri": file}
                own[file] = document or {_LISTS[PARTS[task]]: []}
    start: Entries = {"workflows": [f"{name}.workflow.json"]}
    if program.has("policy"):
        start["memoryPolicy"] = {"strictWriteDiscipline": dumped(program.policy)}
    own |= {f"{name}.agent.json": start, f"{name}.workflow.json": steps}
    if taken := next((file for file in own if PurePosixPath(file) in parts), None):
        raise UsageError(f"the agent's own `{taken}` would take the place of the one that a step names", "rename it")
    whole = MemoryBundle(path.parent.as_posix(), {**parts, **{PurePosixPath(one): json_bytes(own[one]) for one in own}})
    work = _Work(AgentFiles(whole, READERS), read_bundle(whole, READERS), "json")
    files = dict(work.written())
    used = {model for model in _LISTS if f"{name}.{ENDINGS[model]}.json" in own}
    left = [*(kind for kind in made.dropped if kind not in ("policy", "steps")), *_unused(made, used)]
    lost = {**work.lost, **({path.name: left} if left else {})}
    return Remade(files=files, equal=_loads_as(agent, files), lost=lost)


_LISTS: Mapping[type[Authored], str] = {RuleSet: "behaviorGroups", OutputSet: "outputSet"}
"""The key that an empty document needs, so that it is not taken for something else."""


class _Work:
    """The remaking of one agent. `needed` are the files that it was made of, once all is written."""

    def __init__(self, files: AgentFiles, agent: AgentDefinition, to: str) -> None:
        self.files = files
        self.needed: set[PurePosixPath] = set()
        self.lost: dict[str, Sequence[str]] = {}
        self._text = to == "text"
        inner = {files.place(file): file for file in files.files}
        self._read: dict[_Part, Authored] = {
            (inner[source.file], type(source.model)): source.model
            for source in agent.sources
            if isinstance(source.model, Authored)
        }
        self._foreign = dict.fromkeys(self._of_foreign_tasks())
        self._targets = self._named()

    def written(self) -> Iterator[tuple[PurePosixPath, bytes]]:
        """The new files; those of tasks that are brought from outside stay as they are."""
        for file in self._foreign:
            self.needed.add(file)
            yield file, self.files.bundle.read(file)
        for (file, kind), model in self._read.items():
            self.needed.add(file)
            yield self._targets[file, kind], self._bytes(file, model)

    def _of_foreign_tasks(self) -> Iterator[PurePosixPath]:
        for (file, _), model in self._read.items():
            for step in _steps(model if isinstance(model, WorkflowFile) else None):
                uri = step.config.uri
                if uri is not None and step_task(step.type) not in BUILT_IN and not is_skipped(step.type):
                    yield from self.files.named(uri, file.parent)

    def _bytes(self, file: PurePosixPath, model: Authored) -> bytes:
        target = self._targets[file, type(model)]
        if file.suffix in READERS:
            source = self.files.bundle.read(file)
            return source if target == file else self._from_text(file, source, type(model))
        match model:
            case AgentFile():
                return json_bytes(self._agent(model))
            case WorkflowFile():
                return json_bytes(self._workflow(model, file.parent))
            case RuleSet() if self._text:
                return write_program(model).encode()
            case OutputSet() if self._text:
                return write_program(output_set=model).encode()
        return json_bytes(dumped(model))

    def _from_text(self, file: PurePosixPath, source: bytes, model: type[Authored]) -> bytes:
        made = to_json(read_program(source, self.files.place(file)))
        lost = [*made.dropped, *_unused(made, {kind for one, kind in self._read if one == file})]
        if lost:
            self.lost[str(file)] = lost
        document = (made.rules if model is RuleSet else made.outputs) or {_LISTS[model]: []}
        return json_bytes(dumped(read(model, dict(document)).model))  # in the order of every other file

    def _agent(self, agent: AgentFile) -> Entries:
        addresses = [self._address(one, PurePosixPath(), WorkflowFile) for one in agent.workflows]
        return {**dumped(agent), **({"workflows": addresses} if addresses else {})}

    def _workflow(self, workflow: WorkflowFile, folder: PurePosixPath) -> Entries:
        entries = dumped(workflow)
        for step, made in zip(_steps(workflow), objects(entries, "workflowSteps"), strict=True):
            task = step_task(step.type)
            made["type"] = _type(step.type)
            if task in PARTS:
                self._redirect(made, step.config.uri, folder, PARTS[task])
            for each, part in zip(step.extensions.dictionaries, _dictionaries(made), strict=True):
                part["type"] = _type(each.type)
                self._redirect(part, each.config.uri, folder, Dictionary)
        return entries

    def _redirect(self, made: Entries, uri: str | None, folder: PurePosixPath, model: type[Authored]) -> None:
        if uri:
            config: Entries = made["config"]  # type: ignore[assignment]  # it has the address
            config["uri"] = self._address(uri, folder, model)

    def _address(self, address: str, folder: PurePosixPath, model: type[Authored]) -> str:
        """Today's address of a file, from a document of `folder`; one that means nothing stays."""
        file = next((one for one in self.files.fitting(address, folder, model) if (one, model) in self._targets), None)
        if file is None:
            return address
        target = self._targets[file, model]
        if "://" not in address:
            return address if target == file else str(PurePosixPath(address).with_name(target.name))
        if target.suffix in READERS:
            return target.name if target.parent == folder else str(target)
        scheme, _, rest = address.partition("://")
        old = next((store for store in _STORES if rest.startswith(f"{store}/")), "")
        return f"{scheme}://{_STORES[old]}{rest.removeprefix(old)}" if old else address

    def _named(self) -> Mapping[_Part, PurePosixPath]:
        """What each file is called today; where two want one name, one keeps its own."""
        wanted = {part: [part[0].with_name(name) for name in self._names(*part)] for part in self._read}
        named = {part: part[0] for part in wanted if wanted[part][0] == part[0]}
        taken = {*named.values(), *self._foreign}
        for part, names in sorted(wanted.items(), key=lambda one: len(set(one[1]))):  # who has a choice chooses last
            if part not in named:
                free = next((name for name in names if name not in taken), None)
                if free is None:
                    raise UsageError(f"there is no name left for what `{part[0]}` becomes", "rename that file")
                named[part] = free
                taken.add(free)
        return named

    def _names(self, file: PurePosixPath, model: type[Authored]) -> Sequence[str]:
        """What a file may be called, best first."""
        name, text = file.name, file.suffix in READERS
        if text and self._text:
            return [name]
        kind = suffix(file.with_suffix(".json"))
        told = KINDS.get(kind) is model
        if told:
            stem = name[: -len(f"{kind}{file.suffix}")] + ENDINGS[model]
        elif text or (self._text and model in _LISTS):
            stem = f"{file.stem}.{ENDINGS[model]}"
        else:
            stem = file.stem
        ending = ".turnout" if self._text and model in _LISTS else ".json"
        return [stem + ending, file.stem + ending]


def _unused(made: Json, used: Collection[type[Authored]]) -> list[str]:
    """What a text says and no step asks for."""
    said = (("rules", RuleSet, made.rules), ("outputs", OutputSet, made.outputs))
    return [word for word, model, document in said if document and model not in used]


def _type(written: str) -> str:
    """Today's type of a step: that of a built-in task is an address, and has one name."""
    task = step_task(written)
    plain = task == task_name(written.partition("?")[0])
    return written if plain and ("://" in written or not task.startswith("ai.labs.")) else f"eddi://{task}"


def _steps(workflow: WorkflowFile | None) -> Sequence[WorkflowStep]:
    return () if workflow is None else workflow.workflow_steps


def _dictionaries(step: Entries) -> Sequence[Entries]:
    extensions: Entries = step.get("extensions") or {}  # type: ignore[assignment]  # by its form
    return objects(extensions, "dictionaries")


def _loads_as(agent: AgentDefinition, files: Mapping[PurePosixPath, bytes]) -> bool:
    """Whether what is read of the files is this agent, comments aside; raises `UsageError` where they do not load."""
    try:
        back = read_bundle(MemoryBundle("", files), READERS)
    except LoadError as error:
        message = f"what the agent becomes does not load: {error.problems[0].text} ({error.problems[0].file})"
        raise UsageError(message, "rename the files that this is about") from error
    return comparable(back) == comparable(agent)


def comparable(agent: AgentDefinition) -> object:
    """The policy and the steps of an agent, with what their readers can tell of rules and outputs."""
    steps: list[object] = []
    for step in agent.steps:
        told: object = step.settings
        match told:
            case RulesSettings():
                flags = (told.append_actions, told.expressions_as_actions)
                told = (*flags, _uncommented(normal(told.rule_set)))
            case OutputSet():
                told = _uncommented(normal(told))
        steps.append((step.task, step.timeout_ms, told))
    return agent.policy, steps


def _uncommented(part: object) -> object:
    if isinstance(part, dict):
        return {key: _uncommented(item) for key, item in part.items() if key != COMMENTS}
    return [_uncommented(item) for item in part] if isinstance(part, list) else part
