"""The questions that rules ask of a conversation.

A condition becomes a formula over questions, and a turn answers only those. Each question is put so that its answer is
*no* where there is no data: "counted at least 3 times", not "at most 2 times". The few that hold in a turn then say it
all. Questions are values: equal ones are one question, in whichever rule or rule set they stand.
"""

from typing import Literal, NamedTuple

from .authored import ErrorType
from .expressions import Expression

When = Literal["current", "last", "any"]
"""The step that is asked about: this one, the one before, or any so far (this one included)."""


class HasActions(NamedTuple):
    """The step's actions hold this run, side by side and in order."""

    when: When
    run: tuple[str, ...]


class HasSaid(NamedTuple):
    """The step's parsed expressions hold this run of patterns."""

    when: When
    run: tuple[Expression, ...]


class SomeActions(NamedTuple):
    """This step has actions."""


class SomethingSaid(NamedTuple):
    """This step has parsed expressions."""


class NoActions(NamedTuple):
    """The step before (`last`), or some step before this one (`past`), had no actions."""

    when: Literal["last", "past"]


class NothingSaid(NamedTuple):
    """The step before (`last`), or some step before this one (`past`), had no parsed expressions."""

    when: Literal["last", "past"]


class ContextText(NamedTuple):
    """The context entry of type `string` has this text."""

    key: str
    text: str


class ContextSays(NamedTuple):
    """The context entry of type `expressions` holds this run of patterns."""

    key: str
    run: tuple[Expression, ...]


class ContextHas(NamedTuple):
    """The context entry of type `object` has something at the JSON path, or that text form (None: anything)."""

    key: str
    path: str
    text: str | None


class RuleFired(NamedTuple):
    """The rule succeeded in at least `times` steps, this one included."""

    rule: str
    times: int


class ValueExists(NamedTuple):
    """There is a value at the path; a boolean stands for itself."""

    path: str


class ValueEquals(NamedTuple):
    """The value at the path has this text form."""

    path: str
    text: str


class ValueContains(NamedTuple):
    """The text at the path contains this one, or the list has it as an element."""

    path: str
    text: str


class SizeAtLeast(NamedTuple):
    """The value at the path has at least this size, which is above 0."""

    path: str
    size: int


class SizeBelow(NamedTuple):
    """The value at the path has a size below this one, which is 0 or less."""

    path: str
    size: int


class Attached(NamedTuple):
    """At least `least` attachments of this step have the type (`*/*`, a type, or `<prefix>/*`)."""

    mime_type: str
    least: int


class HasSkill(NamedTuple):
    """At least `least` agents have the skill (in lower case)."""

    skill: str
    least: int


class InEnvironment(NamedTuple):
    """The agent runs in this environment (in lower case)."""

    name: str


class HasTag(NamedTuple):
    """The agent carries this tag (in lower case)."""

    name: str


class TaskEnded(NamedTuple):
    """The task ended so in the step, for at least the `consecutive`th time in a row."""

    when: When
    task: str
    status: Literal["succeeded", "failed"]
    error_type: ErrorType | None
    consecutive: int


class DigestMentions(NamedTuple):
    """The step has a digest of the task that contains the text."""

    when: When
    task: str
    text: str


Question = (
    HasActions
    | HasSaid
    | SomeActions
    | SomethingSaid
    | NoActions
    | NothingSaid
    | ContextText
    | ContextSays
    | ContextHas
    | RuleFired
    | ValueExists
    | ValueEquals
    | ValueContains
    | SizeAtLeast
    | SizeBelow
    | Attached
    | HasSkill
    | InEnvironment
    | HasTag
    | TaskEnded
    | DigestMentions
)


def is_lasting(question: Question) -> bool:
    """Whether the answer, once yes, tends to stay yes: such a question is a poor sign that a turn is special."""
    match question:
        case RuleFired() | HasSkill() | InEnvironment() | HasTag():
            return True
        case HasActions(when="any") | HasSaid(when="any") | TaskEnded(when="any") | DigestMentions(when="any"):
            return True
        case NoActions(when="past") | NothingSaid(when="past"):
            return True
    return False
