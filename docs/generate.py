"""Writes `configuration.md`, the reference of all keys, from the models: run it after a change of them."""

import re
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from turnout.rules.agents import (
    AgentFile,
    Capability,
    DictionaryReference,
    MemoryPolicy,
    Policy,
    StepConfig,
    StepExtensions,
    WorkflowFile,
    WorkflowStep,
)
from turnout.rules.authored import Authored
from turnout.rules.calls import AfterCall, HttpCall, HttpCallsFile, HttpRequest, RetryInstruction
from turnout.rules.conditions import AnyCondition, NoConfigs
from turnout.rules.dictionaries import Correction, CorrectionConfig, Dictionary, Phrase, RegEx, Word
from turnout.rules.facts import Attachment, FactsConfig, FactsFile, FactsStep, TaskDigest, TaskOutcome
from turnout.rules.llm import LlmFile, LlmModel, LlmParameters, LlmRetry
from turnout.rules.outputs import Alternatives, Item, Output, OutputSet, QuickReply, Validation
from turnout.rules.properties import (
    HttpCodeValidator,
    OutputInstruction,
    PostResponse,
    PreRequest,
    PropertyAfterCall,
    PropertyInstruction,
    PropertySetter,
    QuickReplyInstruction,
    SetOnActions,
)
from turnout.rules.rulesets import Group, Rule, RuleSet

PAGE = Path(__file__).with_name("configuration.md")

INTRODUCTION = """\
# Configuration

Every key of every file, as it is written today. Older spellings load too, each with a note; an unknown key
that looks like a misspelling is refused. `turnout check PATH` tells what is wrong with a file, and
`turnout schema agent` (or `workflow`, `rules`, `outputs`, `httpcalls`, `dictionary`, `property`, `llm`,
`facts`) prints a JSON Schema for your editor.

This page is made from the models by `docs/generate.py`. `<id>` may be any name; a `uri` is a file name in the
agent's folder, or an `eddi://` address that ends in the id of a file.
"""

PARTS: tuple[tuple[str, str, type[Authored] | None, tuple[type[Authored], ...]], ...] = (
    ("Agent", "", AgentFile, (MemoryPolicy, Policy)),
    (
        "Workflow",
        "",
        WorkflowFile,
        (WorkflowStep, StepConfig, StepExtensions, DictionaryReference, Correction, CorrectionConfig),
    ),
    ("Dictionary", "", Dictionary, (Word, Phrase, RegEx)),
    ("Rule set", "`<id>.behavior.json`.", RuleSet, (Group, Rule)),
    ("Output set", "`<id>.output.json`.", OutputSet, (Output, Alternatives, QuickReply, Validation)),
    ("Properties", "", PropertySetter, (SetOnActions, PropertyInstruction)),
    ("HTTP calls", "", HttpCallsFile, (HttpCall, HttpRequest, AfterCall, RetryInstruction)),
    (
        "Before and after a call",
        "Of HTTP calls and of models.",
        None,
        (PreRequest, PostResponse, PropertyAfterCall, OutputInstruction, QuickReplyInstruction, HttpCodeValidator),
    ),
    ("Language models", "", LlmFile, (LlmModel, LlmParameters, LlmRetry)),
    (
        "Facts",
        "What `turnout match` asks about, in a file of any name.",
        FactsFile,
        (FactsStep, Attachment, TaskOutcome, TaskDigest, FactsConfig, Capability),
    ),
)
"""The title of each part, what it is about, the model of the file, if there is one, and those of what is in it."""

NOTES: dict[type[Authored], str] = {
    Policy: "What each mode means: [when a task fails](failures.md). Without `enabled`, the other keys mean nothing.",
    WorkflowStep: "Types of built-in tasks: [names](names.md#tasks). `timeoutMs` is in milliseconds.",
    StepConfig: "What the two flags mean: [settings of a rules step](failures.md#settings-of-a-rules-step).",
    Word: "Expressions: [how they are written](expressions-and-paths.md#expressions).",
    Output: "If no entry has the exact count, the highest value below it is taken, else the lowest.",
    HttpCall: "Where the answer stands, and what can be in `{path}`: [paths](expressions-and-paths.md#paths).",
    TaskOutcome: "A task that was skipped is left out.",
}
"""What the pages for people say about a model."""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(line for part in PARTS for line in _part(*part))])


def _part(title: str, about: str, file: type[Authored] | None, models: tuple[type[Authored], ...]) -> Iterator[str]:
    yield f"## {title}\n"
    if about:
        yield f"{about}\n"
    if file is not None:
        yield from _model(file)
    for model in models:
        yield f"### {_words(model)}\n"
        yield from _model(model)
    if file is RuleSet:
        yield "### Conditions\n"
        yield "They stand in the `conditions` of a rule. [Conditions](conditions.md) has an example of each."
        yield "`connector` and `negation` have `conditions` of their own; no other type has.\n"
        yield "| type | it holds when … | `configs` |\n| --- | --- | --- |"
        yield from _table(get_args(AnyCondition))
        yield ""
    if file is OutputSet:
        yield "### Items\n"
        yield "| type | what it is | keys |\n| --- | --- | --- |"
        yield from _table(get_args(get_args(Item)[0]))
        yield ""


def _model(model: type[Authored]) -> Iterator[str]:
    """What a model is, and its keys; those of a model that it extends are told there."""
    yield f"{cleandoc(model.__doc__ or '')}\n"
    if model in NOTES:
        yield f"{NOTES[model]}\n"
    extended = model.__mro__[1]
    if extended is not Authored:
        words = _words(extended)
        yield f"It has all keys of [{words}](#{words.lower().replace(' ', '-')}), and:\n"
    yield "| key | value | default |\n| --- | --- | --- |"
    for name, info in model.model_fields.items():
        if name not in getattr(extended, "model_fields", ()):
            yield f"| `{_key(name, info)}` | {_cell(_value(info.annotation))} | {_default(info)} |"
    yield ""


def _table(models: tuple[type[Authored], ...]) -> Iterator[str]:
    """One row for each model of a union: its type, what it is, and its keys, or those of its `configs`."""
    for model in models:
        (name,) = get_args(model.model_fields["type"].annotation)
        configs = model.model_fields.get("configs")
        shapes = _models(configs.annotation) if configs is not None else (model,)
        keys = " *or* ".join(_keys(shape) for shape in shapes)
        about = (model.__doc__ or "").partition("\n")[0]
        yield f"| `{name}` | {_cell(about)} | {_cell(keys)} |"


def _keys(model: type[Authored]) -> str:
    if model is NoConfigs:
        return "none"
    told = []
    for name, info in model.model_fields.items():
        if name != "type":
            default = "" if info.is_required() else f" ({_default(info)})"
            told.append(f"`{_key(name, info)}`: {_value(info.annotation)}{default}")
    return "; ".join(told) or "anything"


def _key(name: str, info: FieldInfo) -> str:
    return info.alias or name


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "*required*"
    match info.get_default(call_default_factory=True):
        case None | () | "" | Authored():
            return "–"
        case dict() as empty if not empty:
            return "–"
        case bool() as flag:
            return str(flag).lower()
        case "-1":
            return "no bound"
        case other:
            return f"`{', '.join(map(str, other))}`" if isinstance(other, tuple) else f"`{other}`"


_NAMES: dict[type[Authored], str] = {
    RegEx: "Regular expression",
    SetOnActions: "Property setting",
    PreRequest: "Pre-request",
    PostResponse: "Post-response",
    AfterCall: "Post-response of a call",
    PropertyAfterCall: "Property instruction after a call",
    LlmModel: "Model",
    LlmParameters: "Parameters of a model",
    LlmRetry: "Retries of a model",
    FactsStep: "Step of a conversation",
}
_PLAIN = {str: "text", bool: "true or false", int: "whole number", float: "number", object: "anything"}


def _value(annotation: Any) -> str:
    """What stands under a key, in words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _value(parts[0])
    if origin is tuple:
        return f"list of {_several(_value(parts[0]))}"
    if origin is dict:
        return "object of texts" if parts[1] is str else "object"
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts if part)
    if origin in (Union, UnionType):
        models = _models(annotation)
        if len(models) > 3:
            return "[condition](#conditions)" if models == get_args(AnyCondition) else "[item](#items)"
        return " or ".join(_value(part) for part in parts if part is not type(None))
    if isinstance(annotation, type) and issubclass(annotation, Authored):
        words = _words(annotation)
        return words if words.startswith("HTTP") else words.lower()
    return _PLAIN[annotation]


def _several(words: str) -> str:
    """The plural of what `_value` says."""
    if " of " in words or " after " in words:
        first, rest = re.split("(?= of | after )", words, maxsplit=1)
        return _several(first) + rest
    if words.startswith("["):
        return words.replace("]", "s]")
    if words == "anything":
        return words
    if words.endswith("y"):
        return f"{words.removesuffix('y')}ies"
    return words if words.endswith("s") else f"{words}s"


def _models(annotation: Any) -> tuple[type[Authored], ...]:
    if isinstance(annotation, type) and issubclass(annotation, Authored):
        return (annotation,)
    return tuple(model for part in get_args(annotation) for model in _models(part))


def _words(model: type[Authored]) -> str:
    """`RetryInstruction` as "Retry instruction"."""
    if model in _NAMES:
        return _NAMES[model]
    letters = "".join(f" {sign.lower()}" if sign.isupper() else sign for sign in model.__name__)
    return letters.strip().capitalize().replace("Http", "HTTP")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
