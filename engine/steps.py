"""The steps of a conversation: what happened in each turn, as rules, language models and callers see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..rules.authored import ErrorType
from ..rules.values import JSON
from .failure import OperatorText, PublicText

State = Literal["READY", "IN_PROGRESS", "ENDED", "EXECUTION_INTERRUPTED", "ERROR", "AWAITING_HUMAN"]
Status = Literal["succeeded", "failed", "skipped"]


class ContextEntry(NamedTuple):
    """What a caller says about the circumstances of a turn; `type` is string, expressions, object or array."""

    type: str
    value: JSON


class Digest(NamedTuple):
    """The public text about a task that failed, as rules and models see it; `task` is the plain id."""

    task: str
    text: PublicText


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How a task ended in a turn; one that had nothing to do was `skipped`, which no rule takes for a success.

    `reason` is the operator's text, `where` the file and line that raised; neither ever goes to callers or models.
    `added` holds the actions that it added, unless it asked rules.
    """

    task: str
    status: Status
    error_type: ErrorType | None = None
    reason: OperatorText | None = None
    where: str = ""
    duration_ms: float = 0.0
    added: Sequence[str] = ()


@dataclass(slots=True, kw_only=True)
class Entry:
    """A stored value of a step; an uncommitted one is kept for the record and seen by nobody."""

    value: JSON
    committed: bool = True


@dataclass(slots=True, kw_only=True)
class Step:
    """One turn. What stands here is committed, save the entries of `data` that say otherwise.

    `expressions` is the parsed input, as text. `succeeded` and `failed` are rule names, each once. `output` is the
    conversation output: a map with `input`, `actions`, `output`, `quickReplies`, `taskErrors`, and what tasks add.
    Values are JSON and shared: whoever hands one out to be changed hands out a copy. Sequences are replaced when they
    change, never written to.
    """

    input: str = ""
    actions: Sequence[str] = ()
    expressions: str = ""
    context: Mapping[str, ContextEntry] = field(default_factory=dict)
    succeeded: Sequence[str] = ()
    failed: Sequence[str] = ()
    rerouted: Sequence[str] = ()
    output: dict[str, JSON] = field(default_factory=dict)
    data: dict[str, Entry] = field(default_factory=dict)
    attachments: Sequence[str] = ()
    outcomes: Sequence[Outcome] = ()
    digests: Sequence[Digest] = ()
    state: State = "IN_PROGRESS"

    def snapshot(self) -> "Step":
        """This step as rules see it now."""
        return Step(
            input=self.input,
            actions=self.actions,
            expressions=self.expressions,
            context=self.context,
            succeeded=self.succeeded,
            output=dict(self.output),
            attachments=self.attachments,
            outcomes=self.outcomes,
            digests=self.digests,
        )

    def set_actions(self, actions: Sequence[str]) -> None:
        """Replace the actions, which the conversation output shows as well."""
        # INVARIANT: the `actions` of the output and those that rules see are the same list.
        self.actions = actions
        if actions or "actions" in self.output:
            self.output["actions"] = actions
