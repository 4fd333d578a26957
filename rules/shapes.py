"""What files call the parts of each model: today's keys come from the models, older ones from tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args, get_origin

from . import agents, calls, conditions, dictionaries, facts, llm, outputs, properties, rulesets
from .authored import Authored

Model = type[Authored]


@dataclass(slots=True, eq=False, repr=False)
class Shape:
    """The keys that an object of a document can have, and what stands under them.

    An object of a tagged union has `variants` by the value of its `tag`, and the variant tells the rest.
    """

    model: Model | None = None
    known: frozenset[str] = frozenset()
    required: tuple[str, ...] = ()
    literal: frozenset[str] = frozenset()
    """Keys whose null is a mistake, not an absence."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    unused: frozenset[str] = frozenset()
    nested: tuple[tuple[str, "Shape"], ...] = ()
    texts: bool = False
    """Whether numbers, true and false count as their texts."""
    scalars: Mapping[str, type] = field(default_factory=dict)
    """Keys of whole numbers and of truths, which older files have as texts."""
    loose: bool = False
    """Whether unknown keys are somebody else's affair."""
    tag: str = ""
    variants: Mapping[str, "Shape"] = field(default_factory=dict)

    def inner(self, key: str) -> "Shape | None":
        """What stands under `key`."""
        return next((shape for name, shape in self.nested if name == key), None)


_CONDITIONS: tuple[Model, ...] = get_args(conditions.AnyCondition)
_OLD_CONDITION = {"children": "conditions", "values": "configs", "config": "configs"}

ALIASES: dict[Model, Mapping[str, str]] = {
    rulesets.RuleSet: {"ruleGroups": "behaviorGroups"},
    rulesets.Group: {"behaviorRules": "rules"},
    rulesets.Rule: {"children": "conditions"},
    **dict.fromkeys(_CONDITIONS, _OLD_CONDITION),
    outputs.OutputSet: {"outputs": "outputSet"},
    outputs.Output: {"key": "action", "occurrence": "timesOccurred", "occurred": "timesOccurred"},
    outputs.QuickReply: {"default": "isDefault"},
    outputs.QuickReplyItem: {"default": "isDefault"},
    agents.AgentFile: {"packages": "workflows"},
    agents.WorkflowFile: {"packageExtensions": "workflowSteps", "workflowExtensions": "workflowSteps"},
    dictionaries.Word: {"exp": "expressions"},
    dictionaries.Phrase: {"exp": "expressions"},
    dictionaries.RegEx: {"regex": "regEx", "exp": "expressions"},
    calls.HttpCallsFile: {"targetServer": "targetServerUrl", "apiCalls": "httpCalls"},
    calls.AfterCall: {"retryHttpCallInstruction": "retryApiCallInstruction"},
    llm.LlmParameters: {
        "includeFirstBotMessage": "includeFirstAgentMessage",
        "model": "modelName",
        "modelId": "modelName",
        "maxOutputTokens": "maxTokens",
    },
}
"""Older keys, and what they are called today."""

CURRENT = {"behaviorRules"}
"""Aliases that are as good as the key itself: no note is made of them."""

RESHAPED: dict[Model, frozenset[str]] = {
    rulesets.RuleSet: frozenset({"behaviorRules", "rules"}),
    outputs.Output: frozenset({"outputValues"}),
    outputs.Alternatives: frozenset({"type"}),
    **dict.fromkeys((properties.PropertyInstruction, properties.PropertyAfterCall), frozenset({"value"})),
}
"""Older keys that cannot be renamed only; `migration` gives them today's shape."""

UNUSED: dict[Model, frozenset[str]] = {
    agents.AgentFile: frozenset({"channels", "gitBackupSettings"}),
    agents.StepExtensions: frozenset({"normalizer"}),
    dictionaries.CorrectionConfig: frozenset({"lookupIfKnown"}),
    dictionaries.Dictionary: frozenset({"language", "lang"}),
    dictionaries.Word: frozenset({"frequency"}),
    calls.HttpCall: frozenset({"isBatchCalls", "description", "parameters"}),
    calls.RetryInstruction: frozenset({"responseValuePathMatchers"}),
    properties.PropertyInstruction: frozenset({"toObjectPath", "runOnValidationError", "httpCodeValidator"}),
    properties.PropertyAfterCall: frozenset({"toObjectPath", "runOnValidationError"}),
    properties.PreRequest: frozenset({"batchRequests"}),
    **dict.fromkeys(
        (properties.OutputInstruction, properties.QuickReplyInstruction), frozenset({"templateFilterExpression"})
    ),
    llm.LlmModel: frozenset({"responseValidation", "tools", "enableBuiltInTools", "builtInToolsWhitelist"}),
    llm.LlmParameters: frozenset({"logRequests", "logResponses"}),
    outputs.InputField: frozenset({"isPassword"}),
    outputs.Image: frozenset({"delay"}),
}
"""Keys that the reference works with and Turnout does not."""

DEAD = {"maxOccurrence": "use `maxTimesOccurred` or `minTimesOccurred`"}
"""Keys of conditions that have had no effect for years, and what to do instead."""

TYPES = {"textInput": "inputField"}
"""Older types of output items."""

_LOOSE: frozenset[Model] = frozenset({outputs.Other, agents.StepConfig, facts.BatchLine})
_SHAPES: dict[tuple[Model, ...], Shape] = {}


def shape_of(*models: Model) -> Shape:
    """The shape of a model, or of a union of models that a tag tells apart."""
    if (known := _SHAPES.get(models)) is not None:
        return known
    shape = _SHAPES[models] = Shape()  # before it is filled, for conditions hold conditions
    if len(models) > 1:
        tagged = [(_tag(model), shape_of(model)) for model in models]
        shape.tag = tagged[0][0][0]
        shape.variants = {value: variant for (_, value), variant in tagged}
    else:
        _fill(shape, models[0])
    return shape


def _fill(shape: Shape, model: Model) -> None:
    fields = {info.alias or name: info for name, info in model.model_fields.items()}
    shape.model = model
    shape.known = frozenset(fields) | RESHAPED.get(model, frozenset())
    shape.required = tuple(key for key, info in fields.items() if info.is_required() and key != "type")
    shape.literal = frozenset(key for key, info in fields.items() if get_origin(info.annotation) is Literal)
    shape.scalars = {key: kind for key, info in fields.items() if (kind := _scalar(info.annotation)) is not None}
    shape.aliases = ALIASES.get(model, {})
    shape.unused = UNUSED.get(model, frozenset())
    shape.loose = model in _LOOSE
    inner = {key: _models(info.annotation) for key, info in fields.items()}
    shape.nested = tuple((key, shape_of(*models)) for key, models in inner.items() if models)
    shape.texts = model is llm.LlmParameters
    if model in _CONDITIONS:
        for variant in _each(shape.inner("configs")):
            variant.texts = True


def _each(shape: Shape | None) -> tuple[Shape, ...]:
    if shape is None:
        return ()
    return tuple(shape.variants.values()) or (shape,)


def _models(annotation: object) -> tuple[Model, ...]:
    """The models that an annotation speaks of, in order."""
    if isinstance(annotation, type) and issubclass(annotation, Authored):
        return (annotation,)
    return tuple(model for part in get_args(annotation) for model in _models(part))


def _scalar(annotation: object) -> type | None:
    """`int` or `bool` where an annotation speaks of one, in whatever it is wrapped."""
    if annotation is int or annotation is bool:
        return annotation
    parts = () if get_origin(annotation) is tuple else get_args(annotation)
    return next((found for part in parts if (found := _scalar(part)) is not None), None)


def _tag(model: Model) -> tuple[str, str]:
    """The key and the value by which a model of a union is told apart."""
    for name, info in model.model_fields.items():
        if get_origin(info.annotation) is Literal and len(values := get_args(info.annotation)) == 1:
            return info.alias or name, values[0]
    raise TypeError(f"{model.__name__} has no tag")


CONDITION = shape_of(*_CONDITIONS)
"""The shape of any condition."""
