"""A conversation written down as facts: what `match` asks a rule set about.

The document lists the steps, oldest first; the last one is this turn. What is absent is taken as not known.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from .agents import Capability
from .authored import Authored, ErrorType, Flag
from .checking import checked
from .findings import Finding, kind, listed, shown
from .outputs import AnyEntries
from .places import Pointer, Spot
from .rulesets import RuleSet
from .spelling import suggestion

CONTEXT_TYPES = ("string", "expressions", "object", "array")


def _under(key: str) -> BeforeValidator:
    """A plain text is short for an object that has it under `key`."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


class Attachment(Authored):
    """Something that came with the input; a plain text is its MIME type."""

    mime_type: str


class TaskOutcome(Authored):
    """How a task ended in the step."""

    task: str
    status: Literal["succeeded", "failed"]
    error_type: ErrorType | None = None


class TaskDigest(Authored):
    """The public text about a task that failed in the step."""

    task_id: str
    text: str


class FactsStep(Authored):
    """One step of a conversation.

    `context` maps keys to `{"type", "value"}`, or to a text. `rulesSuccess` names the rules that have fired,
    `values` holds whatever else tasks have shown in the conversation output.
    """

    actions: tuple[str, ...] | None = None
    expressions: str = ""
    context: AnyEntries | None = None
    rules_success: tuple[str, ...] = ()
    values: AnyEntries = {}
    attachments: tuple[Annotated[Attachment, _under("mimeType")], ...] = ()
    outcomes: tuple[TaskOutcome, ...] = ()
    digests: tuple[TaskDigest, ...] = ()


class FactsConfig(Authored):
    """The settings of the rules step; they win over those of the rule set."""

    append_actions: Flag | None = None
    expressions_as_actions: Flag | None = None


class FactsFile(Authored):
    """A conversation as facts: its steps, its properties, and what the agent was given."""

    steps: Annotated[tuple[FactsStep, ...], Field(json_schema_extra={"minItems": 1})]
    properties: AnyEntries = {}
    config: FactsConfig = FactsConfig()
    environment: str = "development"
    tags: tuple[str, ...] = ()
    capabilities: tuple[Capability, ...] = ()


class BatchLine(FactsFile):
    """A line of a batch: facts, a name for them, and the rule set that is asked, if not one for all lines.

    Other keys are the affair of whoever made the batch.
    """

    id: object = None
    ruleset: RuleSet | None = None


def checked_facts(facts: FactsFile) -> Iterator[Finding]:
    """All findings of a facts document, at pointers into it; those of its rule set among them."""
    if not facts.steps:
        hint = "add the step of this turn, `{}` if nothing is known of it"
        yield Finding(code="V001", message="at least one step is needed", hint=hint, spot=Spot(("steps",)))
    for number, step in enumerate(facts.steps):
        for key, entry in (step.context or {}).items():
            yield from _context(key, entry, ("steps", number, "context", key))
    if isinstance(facts, BatchLine) and facts.ruleset is not None:
        for found in checked(facts.ruleset):
            yield found.at(("ruleset", *found.spot.pointer))


def _context(key: str, entry: object, at: Pointer) -> Iterator[Finding]:
    """What is wrong with a context entry that is neither a text nor an object with a type and a value."""
    if isinstance(entry, str):
        return
    if not isinstance(entry, Mapping):
        message = f"context {shown(key)} must be a text or an object with `type` and `value`, not {kind(entry)}"
        yield Finding(code="V002", message=message, hint='write `{"type": "string", "value": …}`', spot=Spot(at))
    elif missing := [name for name in ("type", "value") if name not in entry]:
        message = f"context {shown(key)} requires {listed(missing)}"
        yield Finding(code="V001", message=message, hint=f"add {listed(missing)}", spot=Spot(at))
    elif entry["type"] not in CONTEXT_TYPES:
        message = f"the type of context {shown(key)} must be {listed(CONTEXT_TYPES, 'or')}, not {shown(entry['type'])}"
        hint = suggestion(entry["type"], CONTEXT_TYPES, "write one of these")
        yield Finding(code="V003", message=message, hint=hint, spot=Spot((*at, "type")))
