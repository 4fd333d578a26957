"""Documents to models: parsing, migration, validation and checks, with all that is wrong told at once."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import ValidationError

from .agents import WorkflowFile
from .authored import Authored
from .calls import HttpCallsFile
from .checking import checked
from .checking_calls import checked_calls
from .checking_dictionaries import checked_dictionary
from .checking_llm import checked_llm
from .checking_templates import checked_output_set, checked_setter
from .dictionaries import Dictionary
from .errors import LoadError, Problem, Severity, has_errors
from .facts import FactsFile, checked_facts
from .findings import Finding, placed
from .llm import LlmFile
from .migration import migrated
from .outputs import OutputSet
from .parsing import parse_text
from .places import Places, Pointer, Spot, locate_all
from .properties import PropertySetter
from .rulesets import RuleSet
from .silences import silence
from .step_types import checked_workflow
from .trails import Trail
from .wording import attributed, explained

Source: TypeAlias = "str | bytes | dict[str, object]"
"""A document: JSON text, UTF-8 bytes of it, or its data."""

_OTHER: dict[str | int, str] = {"rules": "behaviorRules"}

M = TypeVar("M", bound=Authored)
M_co = TypeVar("M_co", bound=Authored, covariant=True)


@dataclass(frozen=True, slots=True)
class Reading(Generic[M_co]):
    """A document that loads, and the warnings and notes that came with it."""

    model: M_co
    notes: tuple[Problem, ...] = ()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the cyclic garbage collector from running: it would look at each model over and over again."""
    # INVARIANT: afterwards the collector runs if it ran before, whatever happened and however it is nested.
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(Generic[M_co]):
    """What reading a document gave: its model, None if it has none, every problem, and where things stand."""

    model: M_co | None
    problems: tuple[Problem, ...]
    file: str
    places: Places | None
    trail: Trail | None
    """What was migrated; None for a document that is written in today's keys only."""

    @property
    def loads(self) -> bool:
        """Whether there is a model, and no error."""
        return self.model is not None and not has_errors(self.problems)

    def locate(self, spots: Sequence[Spot]) -> list[tuple[int, int]]:
        """Line and column of each spot, whose pointer leads into the model as it is written; 0 where unknown."""
        if self.places is None:
            return [(0, 0)] * len(spots)
        if self.trail is not None:
            return self.places([Spot(self.trail.origin(spot.pointer), spot.at_key) for spot in spots])
        # Today's keys were not migrated, and one has two spellings: what exists stands behind its nearest parent.
        other = [Spot(tuple(_OTHER.get(step, step) for step in spot.pointer), spot.at_key) for spot in spots]
        found = self.places([*spots, *other])
        return [max(pair) for pair in zip(found[: len(spots)], found[len(spots) :], strict=True)]

    def problem(
        self, code: str, message: str, pointer: Pointer, *, hint: str = "", severity: Severity = "error"
    ) -> Problem:
        """A problem that was found later, at a pointer into the model as it is written."""
        origin = self.trail.origin(pointer) if self.trail is not None else pointer
        finding = Finding(code=code, message=message, hint=hint, severity=severity, spot=Spot(origin))
        return placed([finding], self.file, self.places)[0]


def read(model: type[M], source: Source, file: str = "") -> Reading[M]:
    """Read a document of any age as `model`.

    Problems name `file` and, where `source` is a text, line and column. Raises `LoadError` with all errors
    and warnings of the document if there is an error.
    """
    document = read_document(model, source, file)
    if document.model is None or not document.loads:
        raise LoadError(document.problems)
    return Reading(document.model, document.problems)


def read_document(model: type[M], source: Source, file: str = "", places: Places | None = None) -> Document[M]:
    """As `read`, for a caller with more to say about the document; nothing is raised.

    `places` finds the places of data that were not written as JSON.
    """
    with collector_paused():
        # In a call of its own, so that the parsed data are gone before the collector runs again.
        return _read(model, source, file, places)


def _read(model: type[M], source: Source, file: str, places: Places | None) -> Document[M]:
    findings: tuple[Finding, ...] = ()
    data: object = source
    if isinstance(source, str | bytes):
        try:
            parsed = parse_text(source, file)
        except LoadError as error:
            return Document(model=None, problems=error.problems, file=file, places=None, trail=None)
        data, places, findings = parsed.data, partial(locate_all, parsed.text), parsed.findings
    trail: Trail | None = None
    found: list[Finding] = []
    try:
        # What is written in today's keys only, as most documents are, is done in one go.
        result: M | None = model.model_validate(data, extra="forbid", by_alias=True, by_name=False)
        usual = not any(_checked(result))
    except ValidationError:
        usual = False
    if not usual:
        today, trail = migrated(data, model)
        result, later = _validated(model, today, trail)
        found = [*(attributed(one, data) for one in trail.findings), *later]
    problems = placed([*findings, *found], file, places)
    return Document(model=result, problems=problems, file=file, places=places, trail=trail)


def _validated(model: type[M], data: object, trail: Trail) -> tuple[M | None, list[Finding]]:
    """A migrated document as `model`, and all that is wrong with it."""
    try:
        result: M | None = model.model_validate(data, by_alias=True, by_name=False)
        told = {one.code for one in trail.findings}  # what it cut off for its depth is not told twice
        later = [one for one in _checked(result) if one.code not in told]
    except ValidationError as error:
        meant = all(one.code != "K005" for one in trail.findings)  # else what is missing says nothing
        result, later = None, list(explained(error, data, model)) if meant else []
    return result, [one.at(trail.origin(one.spot.pointer)) for one in later]


def _checked(result: Authored | None) -> Iterator[Finding]:
    return (one for one in _found(result) if one.severity == "error" or not _is_silenced(result, one))


def _is_silenced(result: Authored | None, one: Finding) -> bool:
    return silence(result, one.spot.pointer, one.code) is not None


def warnings(model: object) -> Iterator[Finding]:
    """What is worth a warning in a model that loads, silenced or not, at pointers into it."""
    return (one for one in _found(model) if one.severity == "warning")


_CHECKS: Mapping[type[Authored], Callable[[Any], Iterator[Finding]]] = {
    RuleSet: checked,
    WorkflowFile: checked_workflow,
    HttpCallsFile: checked_calls,
    OutputSet: checked_output_set,
    PropertySetter: checked_setter,
    LlmFile: checked_llm,
    Dictionary: checked_dictionary,
    FactsFile: checked_facts,
}


def _found(result: object) -> Iterator[Finding]:
    return next((check(result) for model, check in _CHECKS.items() if isinstance(result, model)), iter(()))


def read_rule_set(source: Source, file: str = "") -> Reading[RuleSet]:
    """Read a rule set; a circle of dependencies and an unreadable JSON path are errors, too."""
    return read(RuleSet, source, file)


def read_output_set(source: Source, file: str = "") -> Reading[OutputSet]:
    """Read an output set."""
    return read(OutputSet, source, file)
