"""Output sets: what is said for an action, as the author wrote it."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from .authored import Authored, Flag, Whole
from .values import freeze

TAKEN = frozenset({"actions", "expressions", "input", "context", "taskErrors", "output", "quickReplies"})
"""Keys of what a turn puts out that are written, and shown, in ways of their own."""


def _json(entries: dict[str, object]) -> dict[str, object]:
    freeze(entries)  # raises `ValueError` for what is nested too deep
    return entries


AnyEntries = Annotated[dict[str, object], AfterValidator(_json)]
"""An object that the client understands and Turnout passes on."""


class Text(Authored):
    """A text; `delay` is a pause before it, in milliseconds."""

    type: Literal["text"]
    text: str = ""
    delay: Whole = 0


class Image(Authored):
    """A picture."""

    type: Literal["image"]
    uri: str | None = None
    alt: str | None = None


class AgentFace(Authored):
    """A picture of the agent; `delay` in milliseconds."""

    type: Literal["agentFace"]
    uri: str | None = None
    alt: str | None = None
    delay: Whole = 0


class QuickReply(Authored):
    """An answer that the user can choose; `expressions` is what choosing it means."""

    value: str = ""
    expressions: str | None = None
    is_default: Flag = False


class QuickReplyItem(QuickReply):
    """A quick reply drawn among alternatives."""

    type: Literal["quickReply"]


class Validation(Authored):
    """How long the text in a field may be, and what is said of one that is not."""

    min_length: Annotated[Whole, Field(ge=0)] | None = None
    max_length: Annotated[Whole, Field(ge=0)] | None = None
    validation_error_message: str | None = None


class InputField(Authored):
    """A field that the user fills in."""

    type: Literal["inputField"]
    sub_type: str | None = None
    placeholder: str | None = None
    label: str | None = None
    default_value: str | None = None
    validation: Validation | None = None


class ApplicationLink(Authored):
    """A link into an application; `delay` in milliseconds."""

    type: Literal["applicationLink"]
    path: str | None = None
    label: str | None = None
    delay: Whole = 0


class Button(Authored):
    """A button; `onPress` is passed on as it is."""

    type: Literal["button"]
    button_type: str | None = None
    label: str | None = None
    on_press: AnyEntries | None = None


class Other(Authored):
    """Anything else that the client understands."""

    type: Literal["other"]


Item = Annotated[
    Text | Image | AgentFace | QuickReplyItem | InputField | ApplicationLink | Button | Other,
    Field(discriminator="type"),
]


class Alternatives(Authored):
    """One place in the reply, filled by one of the alternatives, drawn at random."""

    value_alternatives: tuple[Item, ...] = ()


class Output(Authored):
    """What is said for `action` when earlier steps had it `timesOccurred` times."""

    action: str
    times_occurred: Annotated[Whole, Field(ge=0)] = 0
    outputs: tuple[Alternatives, ...] = ()
    quick_replies: tuple[QuickReply, ...] = ()


class OutputSet(Authored):
    """Outputs by action; with a `lang`, only for users of that language."""

    lang: str | None = None
    output_set: tuple[Output, ...] = ()
