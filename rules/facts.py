"""A conversation written down as facts: what `match` asks a rule set about.

The document lists the steps, oldest first; the last one is this turn. What is absent is taken as not known.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field

from .agents import Capability
from .checking import checked
from .conditions import Authored, ErrorType, Flag
from .errors import LoadError, Problem
from .findings import kind, listed, shown
from .outputs import AnyEntries
from .reading import Document, Reading, Source, read_document
from .rulesets import RuleSet
from .spelling import nearest

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
    """A line of a batch: facts, a name for them, and the rule set that is asked, if not one for all lines."""

    id: object = None
    ruleset: RuleSet | None = None


def read_facts(source: Source, file: str = "") -> Reading[FactsFile]:
    """Read a facts document. Raises `LoadError` with all that is wrong."""
    return _completed(read_document(FactsFile, source, file))


def read_batch_line(source: Source, file: str = "") -> Reading[BatchLine]:
    """Read a line of a batch, its rule set included. Raises `LoadError` with all that is wrong."""
    return _completed(read_document(BatchLine, source, file))


F = TypeVar("F", bound=FactsFile)


def _completed(document: Document[F]) -> Reading[F]:
    facts = document.model
    problems = list(document.problems)
    if facts is not None:
        if not facts.steps:
            hint = "add the step of this turn, `{}` if nothing is known of it"
            problems.append(document.problem("V001", "at least one step is needed", ("steps",), hint=hint))
        problems += _contexts(document, facts)
        if isinstance(facts, BatchLine) and facts.ruleset is not None:
            problems += (
                document.problem(
                    found.code,
                    found.message,
                    ("ruleset", *found.spot.pointer),
                    hint=found.hint,
                    severity=found.severity,
                )
                for found in checked(facts.ruleset)
            )
    if facts is None or any(problem.severity == "error" for problem in problems):
        raise LoadError(problem for problem in problems if problem.severity != "note")
    return Reading(facts, tuple(problems))


def _contexts(document: Document[F], facts: FactsFile) -> Iterator[Problem]:
    """The context entries that are neither a text nor an object with a type and a value."""
    for number, step in enumerate(facts.steps):
        for key, entry in (step.context or {}).items():
            at = ("steps", number, "context", key)
            if isinstance(entry, str):
                continue
            if not isinstance(entry, Mapping):
                wanted = "a text or an object with `type` and `value`"
                message = f"context {shown(key)} must be {wanted}, not {kind(entry)}"
                yield document.problem("V002", message, at, hint='write `{"type": "string", "value": …}`')
            elif missing := [name for name in ("type", "value") if name not in entry]:
                message = f"context {shown(key)} requires {listed(missing)}"
                yield document.problem("V001", message, at, hint=f"add {listed(missing)}")
            elif entry["type"] not in CONTEXT_TYPES:
                meant = nearest(entry["type"], CONTEXT_TYPES) if isinstance(entry["type"], str) else None
                legal, given = listed(CONTEXT_TYPES, "or"), shown(entry["type"])
                message = f"the type of context {shown(key)} must be {legal}, not {given}"
                hint = f"did you mean `{meant}`?" if meant else "write one of these"
                yield document.problem("V003", message, (*at, "type"), hint=hint)
