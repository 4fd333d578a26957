"""The conditions that a behavior rule can have, as the author wrote them.

Each model mirrors its JSON: a `type`, a `configs` map of texts, and `conditions` (children, which only `connector` and
`negation` use). Values stay texts, so that a document comes back as it was; the questions they ask are made in
`compiling`. A condition's meaning is defined by the evaluator. Source: the reference's behavior-rule format.
"""

from collections.abc import Callable
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from .authored import Authored, ErrorType
from .values import integer

Occurrence = Literal["currentStep", "lastStep", "anyStep", "never"]

MAX_NESTING = 50
"""How deep conditions may stand inside one another; a rule's own conditions are at depth 1."""


def _positive(text: str) -> None:
    if integer(text) < 1:
        raise ValueError("must be at least 1")


def _checked(check: Callable[[str], object]) -> AfterValidator:
    def keep(text: str) -> str:
        check(text)
        return text

    return AfterValidator(keep)


# Blank is what the reference trims: every character up to U+0020. A list of actions needs one character beside commas.
NOT_BLANK = r"[^\x00-\x20]"
SOME_ACTION = r"[^\x00-\x20,]"
AND_OR = r"^(?i-u:and|or)$"
TASK_ID = r"^[^\s,]+$"
Filled = Annotated[str, Field(pattern=NOT_BLANK)]
ActionList = Annotated[str, Field(pattern=SOME_ACTION)]
TaskId = Annotated[str, Field(pattern=TASK_ID)]
Number = Annotated[str, _checked(integer)]
Count = Annotated[str, _checked(_positive)]
UNSET = "-1"


class InputConfigs(Authored):
    """`expressions` is a run of expression patterns, in the expression language."""

    expressions: Filled
    occurrence: Occurrence = "currentStep"


class InputMatcher(Authored):
    """A step's parsed expressions hold the configured run, side by side and in order."""

    type: Literal["inputmatcher"]
    configs: InputConfigs
    conditions: tuple["Condition", ...] = ()


class ActionConfigs(Authored):
    """`actions` is a comma-separated run of action names."""

    actions: ActionList
    occurrence: Occurrence = "currentStep"


class ActionMatcher(Authored):
    """A step's actions hold the configured run, side by side and in order."""

    type: Literal["actionmatcher"]
    configs: ActionConfigs
    conditions: tuple["Condition", ...] = ()


class StringContext(Authored):
    """A context entry of type `string` equals `string`."""

    context_key: Filled
    context_type: Literal["string"]
    string: str


class ExpressionsContext(Authored):
    """A context entry of type `expressions` holds the configured run."""

    context_key: Filled
    context_type: Literal["expressions"]
    expressions: Filled


class ObjectContext(Authored):
    """A context entry of type `object` has a value at a JSON path, or that very value (as text)."""

    context_key: Filled
    context_type: Literal["object"]
    object_key_path: Filled
    object_value: str | None = None


ContextConfigs = Annotated[StringContext | ExpressionsContext | ObjectContext, Field(discriminator="context_type")]


class ContextMatcher(Authored):
    """A context entry of the current step has the configured value."""

    type: Literal["contextmatcher"]
    configs: ContextConfigs
    conditions: tuple["Condition", ...] = ()


Operator = Annotated[str, Field(pattern=AND_OR)]


class ConnectorConfigs(Authored):
    """`operator` is AND or OR in any case; absent means AND."""

    operator: Operator = "AND"


class Connector(Authored):
    """All (AND) or any (OR) of the children hold."""

    type: Literal["connector"]
    configs: ConnectorConfigs = ConnectorConfigs()
    conditions: Annotated[tuple["Condition", ...], Field(min_length=1)]


class NoConfigs(Authored):
    """A condition without settings."""


class Negation(Authored):
    """Not all of the children hold."""

    type: Literal["negation"]
    configs: NoConfigs = NoConfigs()
    conditions: Annotated[tuple["Condition", ...], Field(min_length=1)]


class OccurrenceConfigs(Authored):
    """Bounds on how many steps the named rule succeeded in, both inclusive; -1 leaves a bound out."""

    behavior_rule_name: Filled
    min_times_occurred: Number = UNSET
    max_times_occurred: Number = UNSET

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if int(self.min_times_occurred) == int(self.max_times_occurred) == -1:
            raise ValueError("requires at least one of `minTimesOccurred` and `maxTimesOccurred`")
        return self


class OccurrenceCondition(Authored):
    """A rule succeeded often enough so far, and not too often."""

    type: Literal["occurrence"]
    configs: OccurrenceConfigs
    conditions: tuple["Condition", ...] = ()


class DependencyConfigs(Authored):
    """`reference` names the rule, in whichever group it is."""

    reference: str = ""


class Dependency(Authored):
    """A rule of that name would succeed now."""

    type: Literal["dependency"]
    configs: DependencyConfigs = DependencyConfigs()
    conditions: tuple["Condition", ...] = ()


class ValueConfigs(Authored):
    """What the value at `valuePath` equals or contains; neither asks only that it is there."""

    value_path: str = ""
    equals: str | None = None
    contains: str | None = None


class DynamicValueMatcher(Authored):
    """The value at a path exists, equals a text or contains one."""

    type: Literal["dynamicvaluematcher"]
    configs: ValueConfigs = ValueConfigs()
    conditions: tuple["Condition", ...] = ()


class SizeConfigs(Authored):
    """Bounds on the size of the value at `valuePath`, inclusive; -1 leaves a bound out."""

    value_path: str = ""
    min: Number = UNSET
    max: Number = UNSET
    equal: Number = UNSET

    @property
    def bounded(self) -> bool:
        """Whether any bound is set; without one the condition is not executed."""
        return any(int(text) != -1 for text in (self.min, self.max, self.equal))


class SizeMatcher(Authored):
    """The value at a path has a size within the bounds; without a bound it is not executed."""

    type: Literal["sizematcher"]
    configs: SizeConfigs = SizeConfigs()
    conditions: tuple["Condition", ...] = ()


class ContentTypeConfigs(Authored):
    """`mimeType` is `*/*`, a type, or `<prefix>/*`; a `minCount` that is no positive number means 1."""

    mime_type: str | None = None
    min_count: str = "1"


class ContentTypeMatcher(Authored):
    """Enough attachments of the current step have the type."""

    type: Literal["contentTypeMatcher"]
    configs: ContentTypeConfigs = ContentTypeConfigs()
    conditions: tuple["Condition", ...] = ()


class CapabilityConfigs(Authored):
    """`skill` is looked up without regard to case; `strategy` orders the matches."""

    skill: str = ""
    strategy: str = "highest_confidence"
    min_results: str = "1"


class CapabilityMatch(Authored):
    """Enough agents in the capability data that the agent was given have the skill."""

    type: Literal["capabilityMatch"]
    configs: CapabilityConfigs = CapabilityConfigs()
    conditions: tuple["Condition", ...] = ()


class DeploymentConfigs(Authored):
    """`when` names the environment, `tagMatches` a tag of the agent; an absent one asks nothing."""

    when: str | None = None
    tag_matches: str | None = None


class DeploymentContext(Authored):
    """The agent runs in the environment, and carries the tag."""

    type: Literal["deploymentContext"]
    configs: DeploymentConfigs = DeploymentConfigs()
    conditions: tuple["Condition", ...] = ()


class OutcomeConfigs(Authored):
    """How a task ended in the step that `occurrence` names, and how often in a row before it."""

    task_id: TaskId
    status: Literal["succeeded", "failed"] = "failed"
    error_type: ErrorType | None = None
    occurrence: Occurrence = "currentStep"
    min_consecutive: Count = "1"


class OutcomeMatcher(Authored):
    """A task ended as configured (ours)."""

    type: Literal["outcomematcher"]
    configs: OutcomeConfigs
    conditions: tuple["Condition", ...] = ()


class DigestConfigs(Authored):
    """`contains` is looked for in the digest of the task, as it stands; absent asks only for a digest."""

    task_id: TaskId
    contains: str = ""
    occurrence: Occurrence = "currentStep"


class DigestMatcher(Authored):
    """A digest of the task was recorded (ours)."""

    type: Literal["digestmatcher"]
    configs: DigestConfigs
    conditions: tuple["Condition", ...] = ()


AnyCondition = (
    InputMatcher
    | ActionMatcher
    | ContextMatcher
    | Connector
    | Negation
    | OccurrenceCondition
    | Dependency
    | DynamicValueMatcher
    | SizeMatcher
    | ContentTypeMatcher
    | CapabilityMatch
    | DeploymentContext
    | OutcomeMatcher
    | DigestMatcher
)
Condition = Annotated[AnyCondition, Field(discriminator="type")]

for _model in get_args(AnyCondition):
    _model.model_rebuild()
