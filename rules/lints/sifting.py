"""The findings that are left when the author's silences have been heard."""

from collections.abc import Iterator, Sequence

from ..findings import listed
from ..places import Pointer
from ..reading import warnings
from ..silences import SILENCE, silence, silenced, silences
from .found import Found


def sifted(model: object, found: Sequence[Found]) -> tuple[list[Found], int]:
    """The findings about `model` that are not silenced, with one for each silence that has no use; and how many are.

    Those that reading has silenced are counted as well.
    """
    kept = [one for one in found if silence(model, one.at, one.code) is None]
    spoken = [*((one.at, one.code) for one in found), *((one.spot.pointer, one.code) for one in warnings(model))]
    used = [(at, code) for pointer, code in spoken if (at := silence(model, pointer, code)) is not None]
    return [*kept, *_useless(model, set(used))], len(used)


def _useless(model: object, used: set[tuple[Pointer, str]]) -> Iterator[Found]:
    for at, authored in silences(model):
        codes = silenced(authored)
        if not codes:
            message, hint = f"`{SILENCE}` holds no codes", 'write a list, as in `["L022"]`'
        elif idle := [code for code in codes if (at, code) not in used]:
            message, hint = f"there is no {listed(idle, 'or')} to silence here", "take it out"
        else:
            continue
        yield Found(code="L090", message=message, hint=hint, model=model, at=(*at, SILENCE))
