"""Value paths such as `properties.cart[0].price+1`, and how the values found compare with texts and sizes."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from typing import TypeGuard

from .values import BLANKS, INT_LIMIT, JSON, integer

_OPERATOR = re.compile(r"[+-]")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")  # 18 digits fit 64 bits; longer ones are read as decimals
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_TEXT_DEPTH = 20


@lru_cache(maxsize=4096)
def split(path: str) -> tuple[tuple[str, int | None], ...] | None:
    """The segments of a path, each a key and an index or None, for plain navigation.

    Empty segments at the end do not count (`properties.` is `properties`), others are the key "". Returns
    None for a path that never resolves plainly: without any segment, or with an index that is no 32-bit
    integer. `+` and `-` are ordinary characters here: see `has_arithmetic`.
    """
    if path.strip(".") == "":
        return None
    try:
        return tuple([_segment(written) for written in path.rstrip(".").split(".")])
    except ValueError:
        return None


def _segment(written: str) -> tuple[str, int | None]:
    name, bracket, index = written.partition("[")
    return (name, integer(index[:-1])) if bracket and index.endswith("]") else (written, None)


def enter(value: JSON, name: str, index: int | None) -> JSON:
    """What one segment of a path finds in `value`, or None."""
    # An exact type is asked first: `isinstance` with `Mapping` costs as much as the rest of the step.
    if type(value) is not dict and not isinstance(value, Mapping):
        return None
    found = value.get(name)
    if index is not None and _is_list(found):
        return found[index] if 0 <= index < len(found) else None
    return found


def has_arithmetic(path: str) -> bool:
    """Whether `read` may have to calculate: a `+` or `-` occurs, though it may be part of a key."""
    return "+" in path or "-" in path


def read(model: Mapping[str, JSON], path: str) -> JSON:
    """The value at `path`, or None if there is nothing; never raises.

    A segment goes into a map by key, then into a list by index (an index on anything else is ignored). Only
    where that finds nothing, the first `+` or `-` splits the path: the left side is a path, the right side a
    path, a 'text', a number or else its own text. Whole numbers stay whole; a result that is no JSON number
    (too large) is nothing.
    """
    value = _navigate(model, path)
    if value is None and has_arithmetic(path):
        return _calculate(model, path)
    return value


def size(value: JSON) -> int:
    """The size of a value: elements of a container, the integer part of a number.

    A text that is an integer of 32 bits counts as that number, another one by its trimmed length in code
    points; nothing is 0.
    """
    if value is None:
        return 0
    if isinstance(value, str):
        trimmed = value.strip(BLANKS)
        try:
            return integer(trimmed)
        except ValueError:
            return len(trimmed)
    if isinstance(value, bool):
        return len(text(value))
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) or isfinite(value) else 0
    return len(value)


def text(value: JSON) -> str:
    """The text of a value as it is compared and concatenated: `true`, `5`, `1.5`, `10.0`, `null`.

    Floats read as in Python, which is the reference's form wherever that has no exponent (from 0.001 to
    10,000,000). The text of containers (`[x, 3]`, `{k=1}`) is stable, but not supported for comparisons; it
    ends after 20 levels.
    """
    return _text(value, _TEXT_DEPTH)


def contains(value: JSON, wanted: str) -> bool:
    """Whether a text has `wanted` in it, or a list has it as an element; others contain nothing."""
    if isinstance(value, str):
        return wanted in value
    return _is_list(value) and any(isinstance(item, str) and item == wanted for item in value)


_contains = contains  # `matches` has a parameter of that name


def matches(value: JSON, equals: str | None, contains: str | None) -> bool:
    """Whether a `dynamicvaluematcher` holds for the value that its path found.

    `equals` and `contains` are an OR, and an empty one counts as absent; with neither, a boolean decides
    itself and any other value is enough. Containers equal no text.
    """
    if value is None:
        return False
    if equals and not is_container(value) and text(value) == equals:
        return True
    if contains:
        return _contains(value, contains)
    return not equals and value is not False


def _navigate(model: Mapping[str, JSON], path: str) -> JSON:
    segments = split(path)
    if segments is None:
        return None
    value: JSON = model
    for name, index in segments:
        value = enter(value, name, index)
    return value


def _calculate(model: Mapping[str, JSON], path: str) -> JSON:
    operator = _OPERATOR.search(path)
    if operator is None:
        return None
    left = _navigate(model, path[: operator.start()].strip(BLANKS))
    operand = path[operator.end() :].strip(BLANKS)
    if left is None or operand == "":
        return None
    right = _navigate(model, operand)
    if right is None:
        right = _literal(operand)
    adding = operator[0] == "+"
    if _is_number(left) and _is_number(right):
        return _sum(left, right if adding else -right)
    return text(left) + text(right) if adding else left


def _sum(left: float, right: float) -> float | None:
    try:
        total = left + right
    except OverflowError:  # an integer too large to become a float
        return None
    if isinstance(total, float):
        return total if isfinite(total) else None
    return total if -INT_LIMIT < total < INT_LIMIT else None


def _literal(operand: str) -> int | float | str:
    if len(operand) >= 2 and operand[0] == operand[-1] == "'":
        return operand[1:-1]
    if _INTEGER.fullmatch(operand):
        return int(operand)
    if _DECIMAL.fullmatch(operand):
        return float(operand)
    return operand


def _text(value: JSON, depth: int) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, int):
        return str(value) if -INT_LIMIT < value < INT_LIMIT else hex(value)
    if depth == 0:
        return "..."
    if isinstance(value, Mapping):
        return "{" + ", ".join([f"{name}={_text(item, depth - 1)}" for name, item in value.items()]) + "}"
    return "[" + ", ".join([_text(item, depth - 1) for item in value]) + "]"


def _is_number(value: JSON) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: JSON) -> TypeGuard[Sequence[JSON]]:
    return type(value) is list or (isinstance(value, Sequence) and not isinstance(value, str))


def is_container(value: JSON) -> bool:
    """Whether `value` is a map or a list."""
    return isinstance(value, Mapping) or _is_list(value)
