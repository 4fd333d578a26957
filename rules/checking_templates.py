"""What can be said of templates and of the paths in instructions without filling them in."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic.alias_generators import to_camel

from .authored import Authored
from .findings import Finding, shown, warning
from .outputs import OutputSet
from .paths import has_arithmetic, split
from .places import Pointer
from .properties import OutputInstruction, PropertyInstruction, PropertySetter, QuickReplyInstruction
from .spelling import nearest
from .templates import PIECES, ROOTS, path_in

_ROOTS = ("memory", "properties", "context")
_STEPS = ("current", "last", "past")
# What nobody writes but to begin a placeholder; `{` alone may begin anything.
_OPENING = re.compile(rf"(?:\[[\[(]\$\{{|\{{(?=(?:{ROOTS})[.\[]))[\w.\[\]-]*", re.ASCII)
# What stands in calls, comparisons and templates, and in no key that a path goes by.
_NO_PATH = re.compile(r"[(){}<>\"'?]|[!=]=|&&|\|\||^\$")
_BUILT = ("output_value", "quick_reply_value", "quick_reply_expressions")
_LEAVE_OUT = "write paths alone, as in `{properties.name}`, and let rules decide between whole texts"


def placeholders(about: str, text: str, at: Pointer, known: Sequence[str] = ()) -> Iterator[Finding]:
    """What is wrong with the placeholders in a template of `about`; `known` names stand at top level there, too."""
    if "{" not in text:
        return
    read = list(PIECES.finditer(text))
    for opening in _OPENING.finditer(text):
        if not any(found.start() <= opening.start() < found.end() for found in read):
            message = f"{about}: {shown(opening[0])} is not closed, and stays as it is"
            hint = "write it as in `{memory.current.input}`"
            yield warning("H002", message, hint, at)
    for found in read:
        path = path_in(found)
        if path is None:
            message = f"{about}: {shown(found[0])} is no placeholder, and is left out"
            yield warning("H004", message, _LEAVE_OUT, at)
        else:
            yield from _near_miss(about, found[0], path, at, known)


def no_path(about: str, path: str, at: Pointer, known: Sequence[str] = ()) -> Iterator[Finding]:
    """What is wrong with a path in an instruction of `about`: what can never find anything, or nearly names a root."""
    # Only the first operand has to be found; the second may be any text.
    left = re.split("[+-]", path, maxsplit=1)[0].strip() if has_arithmetic(path) else path
    keys = split(left)
    if path and (keys is None or _NO_PATH.search(left) or any(key.strip() != key or not key for key, _ in keys)):
        message = f"{about}: {shown(path)} is no path, and never finds anything"
        hint = "write keys and indexes alone, as in `memory.current.httpCalls.weather.days[0].temp`"
        yield warning("H005", message, hint, at)
    else:
        yield from _near_miss(about, path, path, at, known)


def _near_miss(about: str, written: str, path: str, at: Pointer, known: Sequence[str]) -> Iterator[Finding]:
    root = re.split(r"[.\[]", path, maxsplit=1)[0]
    if root not in known and (meant := _meant(path)):
        always = "is always empty" if root == "memory" else f"is empty unless the context has a key {shown(root)}"
        message, hint = f"{about}: {shown(written)} {always}", f"did you mean `{meant}`?"
        yield warning("H003", message, hint, at)


def _meant(path: str) -> str | None:
    """The path that is nearly `path`. A root that is near to nothing may be a key of the context."""
    root, _, rest = path.partition(".")
    near = nearest(root, _ROOTS) if rest else None
    if near == "memory":
        step = re.split(r"[.\[]", rest, maxsplit=1)[0]
        near_step = nearest(step, _STEPS)
        if near_step is None:
            return None
        rest = near_step + rest[len(step) :]
    meant = f"{near}.{rest}"
    return meant if near and meant != path else None


def checked_output_set(output_set: OutputSet) -> Iterator[Finding]:
    """All findings of an output set, at pointers into its document."""
    for index, output in enumerate(output_set.output_set):
        about = f"output of {shown(output.action)}"
        for key, parts in (("outputs", output.outputs), ("quickReplies", output.quick_replies)):
            for at, text in _texts(parts, ("outputSet", index, key)):
                yield from placeholders(about, text, at)


def checked_setter(setter: PropertySetter) -> Iterator[Finding]:
    """All findings of a property setter, at pointers into its document."""
    for index, each in enumerate(setter.set_on_actions):
        yield from checked_properties(each.set_properties, ("setOnActions", index, "setProperties"))


def checked_properties(
    instructions: Sequence[PropertyInstruction], at: Pointer, known: Sequence[str] = ()
) -> Iterator[Finding]:
    """All findings of instructions that set properties; `known` names stand at top level for them, too."""
    for index, instruction in enumerate(instructions):
        about, here = f"property {shown(instruction.name)}", (*at, index)
        yield from no_path(about, instruction.from_object_path, (*here, "fromObjectPath"), known)
        for key, value in (
            ("name", instruction.name),
            ("valueString", instruction.value_string),
            ("valueObject", instruction.value_object),
            ("valueList", instruction.value_list),
        ):
            for where, text in _texts(value, (*here, key)):
                yield from placeholders(about, text, where, known)


def checked_building(
    instructions: Sequence[OutputInstruction | QuickReplyInstruction], about: str, at: Pointer, known: Sequence[str]
) -> Iterator[Finding]:
    """All findings of instructions that build what is said or offered; `known` names stand at top level for them."""
    for index, instruction in enumerate(instructions):
        here = (*at, index)
        yield from no_path(about, instruction.path_to_target_array, (*here, "pathToTargetArray"), known)
        for key in _BUILT:
            text = getattr(instruction, key, "")
            yield from placeholders(about, text, (*here, to_camel(key)), (*known, instruction.iteration_object_name))


def _texts(value: object, at: Pointer) -> Iterator[tuple[Pointer, str]]:
    """The texts in a value of a model, at every depth."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Authored):
        names = {name: info.alias or name for name, info in type(value).model_fields.items()}
        for name, each in (*vars(value).items(), *(value.model_extra or {}).items()):
            yield from _texts(each, (*at, names.get(name, name)))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(each, (*at, key))
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _texts(each, (*at, index))
