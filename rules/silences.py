"""Warnings that an author has silenced, with `"_silence": ["L022"]` on the rule, output, group or step concerned."""

from collections.abc import Iterator

from .authored import Authored
from .places import Pointer

SILENCE = "_silence"
"""The key that holds the codes."""


def silence(model: object, pointer: Pointer, code: str) -> Pointer | None:
    """Where a warning at `pointer` is silenced, as near to it as can be; None if it is not."""
    return next((at for at, each in reversed(list(_above(model, pointer))) if code in silenced(each)), None)


def silenced(model: Authored) -> list[str]:
    """The codes that are silenced in `model`."""
    written = (model.model_extra or {}).get(SILENCE)
    return [code for code in written if isinstance(code, str)] if isinstance(written, list | tuple) else []


def silences(model: object) -> Iterator[tuple[Pointer, Authored]]:
    """All that holds a silence, from `model` on, with pointers."""
    waiting: list[tuple[Pointer, object]] = [((), model)]
    while waiting:
        at, value = waiting.pop()
        if isinstance(value, tuple):
            waiting.extend(((*at, number), each) for number, each in enumerate(value))
        elif isinstance(value, Authored):
            if SILENCE in (value.model_extra or {}):
                yield at, value
            fields = type(value).model_fields
            for name, each in vars(value).items():
                if isinstance(each, tuple | Authored):
                    waiting.append(((*at, fields[name].alias or name), each))


def _above(model: object, pointer: Pointer) -> Iterator[tuple[Pointer, Authored]]:
    """The models on the way to a pointer, from the top."""
    for length in range(len(pointer) + 1):
        if isinstance(model, Authored):
            yield pointer[:length], model
        if length == len(pointer):
            return
        model = _entered(model, pointer[length])


def _entered(model: object, step: str | int) -> object:
    if isinstance(model, tuple) and isinstance(step, int):
        return model[step]
    if isinstance(model, Authored):
        for name, info in type(model).model_fields.items():
            if step == (info.alias or name):
                return getattr(model, name)
    return None
