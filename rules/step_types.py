"""What can be said of a workflow without its folder: the types of its steps, and the keys that they are given."""

import re
from collections.abc import Iterator, Sequence

from .agents import DictionaryReference, StepConfig, StepExtensions, WorkflowFile
from .authored import SAME_TASK, step_task, task_name
from .dictionaries import CORRECTIONS, KINDS, REGULAR
from .findings import Finding, listed, shown, warning
from .places import Pointer, Spot
from .spelling import nearest, suggestion

SHORT_TASKS = {
    "parser": "ai.labs.parser",
    "rules": "ai.labs.behavior",
    "property": "ai.labs.property",
    "httpcalls": "ai.labs.httpcalls",
    "llm": "ai.labs.llm",
    "output": "ai.labs.output",
    "templating": "ai.labs.templating",
}
"""What texts call the built-in tasks in their steps, and the ids by which everything else knows them."""

_PLANNED = ("ai.labs.mcpcalls", "ai.labs.rag")
BUILT_IN = tuple(SHORT_TASKS.values())
_KNOWN = (*BUILT_IN, *_PLANNED, *SAME_TASK)
_CONFIG = tuple(info.alias or name for name, info in StepConfig.model_fields.items())
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def is_skipped(type: str) -> bool:
    """Whether a step's type is an address of another scheme than `eddi`: such a step is no task of a turn."""
    scheme = _SCHEME.match(type)
    return scheme is not None and scheme[1] != "eddi"


def checked_workflow(workflow: WorkflowFile) -> Iterator[Finding]:
    """All findings of a workflow, at pointers into its document."""
    for index, step in enumerate(workflow.workflow_steps):
        at: Pointer = ("workflowSteps", index)
        yield from _type(index + 1, step.type, (*at, "type"))
        if is_skipped(step.type):
            continue
        if step_task(step.type) in BUILT_IN:
            yield from _config(f"step {shown(step.type)}", step.config, (*at, "config"))
        for number, dictionary in enumerate(step.extensions.dictionaries):
            here = (*at, "extensions", "dictionaries", number)
            yield from _config(f"dictionary {shown(dictionary.type)}", dictionary.config, (*here, "config"))
        if step_task(step.type) == SHORT_TASKS["parser"]:
            yield from _extensions(step.extensions, (*at, "extensions"))


def _type(number: int, written: str, at: Pointer) -> Iterator[Finding]:
    """What is to be said of the type of the step with this number."""
    spot, task = Spot(at), step_task(written)
    if is_skipped(written):
        message = f"step {number} is skipped: its type {shown(written)} is no `eddi://` one"
        plain = "eddi://" + written.partition("://")[2].rstrip("/")
        known = [f"eddi://{known}" for known in _KNOWN]
        hint = suggestion(plain, known, "leave it out, or begin the type with `eddi://`")
        yield warning("A012", message, hint, at)
    elif not task or "," in task or any(sign.isspace() for sign in task):
        message = f"the type of step {number}, {shown(written)}, is no task id"
        yield Finding(code="A009", message=message, hint="write an id without commas and blanks", spot=spot)
    elif task in _PLANNED:
        message = f"the task `{task}` is not built in yet"
        hint = "bring a task with that id"
        yield Finding(code="A013", message=message, hint=hint, severity="note", spot=spot)
    elif task.startswith("ai.labs.") and task not in BUILT_IN:
        hint = suggestion(task.rstrip("/"), _KNOWN, "bring a task with that id, or correct the type")
        message = f"the type of step {number} is unknown: {shown(task)}"
        yield warning("A011", message, hint, at)
    elif task != task_name(written.partition("?")[0]):
        message = f"the type {shown(written)} is read as `{task}`"
        hint = f"write `eddi://{task}`"
        yield Finding(code="M002", message=message, hint=hint, severity="note", spot=spot)


def _config(about: str, config: StepConfig, at: Pointer) -> Iterator[Finding]:
    """Unknown keys of what a built-in task is given; what other tasks are given is their affair."""
    for key in config.model_extra or ():
        spot = Spot((*at, key), at_key=True)
        if (meant := nearest(key, _CONFIG)) is not None:
            message = f"{about}: there is no key {shown(key)} here"
            yield Finding(code="K001", message=message, hint=f"did you mean `{meant}`?", spot=spot)
        elif not key.startswith("_"):
            message = f"{about}: the key {shown(key)} is kept and not used"
            hint = f"use one of {listed(_CONFIG, 'or')}, or a key that begins with `_`"
            yield Finding(code="K002", message=message, hint=hint, severity="warning", spot=spot)


def _extensions(extensions: StepExtensions, at: Pointer) -> Iterator[Finding]:
    """What a parser step works with and cannot."""
    for index, dictionary in enumerate(extensions.dictionaries):
        here: Pointer = (*at, "dictionaries", index, "type")
        if _stands_alone(dictionary) and task_name(dictionary.type) == REGULAR:
            message, hint = "a dictionary of this type needs a file", "name it in `config`, under `uri`"
            yield Finding(code="A008", message=message, hint=hint, spot=Spot(here))
        elif _stands_alone(dictionary) and task_name(dictionary.type) not in KINDS:
            yield _unused("dictionary", dictionary.type, (*KINDS, REGULAR), here)
    for index, correction in enumerate(extensions.corrections):
        if task_name(correction.type) not in CORRECTIONS:
            yield _unused("correction", correction.type, CORRECTIONS, (*at, "corrections", index, "type"))


def _stands_alone(dictionary: DictionaryReference) -> bool:
    return dictionary.config.uri is None and not misspells_uri(dictionary.config)


def _unused(what: str, type: str, known: Sequence[str], at: Pointer) -> Finding:
    names = {each.rpartition(".")[2]: each for each in known}
    meant = nearest(type.rpartition(".")[2], names)
    hint = f"did you mean `eddi://{names[meant]}`?" if meant else "leave it out"
    return warning("A010", f"the {what} {shown(type)} is not used here", hint, at)


def misspells_uri(config: StepConfig) -> bool:
    """Whether a file is named under a key that looks like `uri`, which `checked_workflow` tells."""
    return not config.uri and any(nearest(key, _CONFIG) == "uri" for key in config.model_extra or ())
