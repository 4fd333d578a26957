"""Property setters, and the instructions by which calls set properties, as the author wrote them."""

from typing import Annotated, Literal

from pydantic import Field

from .authored import Authored, Flag, Whole

Scope = Literal["step", "conversation", "longTerm", "secret"]
"""How long a property lives: a turn, or the conversation. A `secret` is for requests alone, and is never stored."""


class HttpCodeValidator(Authored):
    """After which statuses something is done; without `runOnHttpCode` after those from 200 to 299."""

    run_on_http_code: tuple[Whole, ...] = ()
    skip_on_http_code: tuple[Whole, ...] = ()


class PropertyInstruction(Authored):
    """What a property becomes: what stands at `fromObjectPath`, else one of the values, whose texts are templates.

    What is not found changes nothing. Without `override` a property that is there stays. With `convertToObject` a text
    that is a JSON object becomes one.
    """

    name: str
    value_string: str | None = None
    value_int: Whole | None = None
    value_float: float | None = None
    value_boolean: Flag | None = None
    value_object: dict[str, object] | None = None
    value_list: tuple[object, ...] | None = None
    from_object_path: str = ""
    scope: Scope = "conversation"
    override: Flag = True
    convert_to_object: Flag = False


class PropertyAfterCall(PropertyInstruction):
    """What a property becomes after a call; paths find its `responseObjectName` and `responseHeaderObjectName`, too."""

    http_code_validator: HttpCodeValidator = HttpCodeValidator()


class SetOnActions(Authored):
    """Properties that are set for each of the turn's actions that is among `actions` (`*`: any)."""

    actions: tuple[str, ...] = ()
    set_properties: tuple[PropertyInstruction, ...] = ()


class PropertySetter(Authored):
    """`<id>.property.json`: which properties are set by which actions."""

    set_on_actions: tuple[SetOnActions, ...] = ()


class OutputInstruction(Authored):
    """An item of the reply for each element of the array at `pathToTargetArray`, or one if there is no path.

    The text is a template that finds the element under `iterationObjectName`; that of an `image` is its `uri`. One
    answer adds 100 items at most, and none without any text.
    """

    path_to_target_array: str = ""
    iteration_object_name: str = ""
    output_type: str = "text"
    output_value: str = ""
    http_code_validator: HttpCodeValidator = HttpCodeValidator()


class QuickReplyInstruction(Authored):
    """A quick reply for each element of the array at `pathToTargetArray`, or one if there is no path: see above."""

    path_to_target_array: str = ""
    iteration_object_name: str = ""
    quick_reply_value: str = ""
    quick_reply_expressions: str = ""
    http_code_validator: HttpCodeValidator = HttpCodeValidator()


class PreRequest(Authored):
    """What happens before a request; the pause is in milliseconds."""

    property_instructions: tuple[PropertyInstruction, ...] = ()
    delay_before_executing_in_millis: Annotated[Whole, Field(ge=0, le=60_000)] = 0


class PostResponse(Authored):
    """What happens after a response."""

    property_instructions: tuple[PropertyAfterCall, ...] = ()
    output_build_instructions: tuple[OutputInstruction, ...] = ()
    qr_build_instructions: tuple[QuickReplyInstruction, ...] = ()
