"""Private copies of JSON values: what is copied, and what is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.rules.values import INT_LIMIT, MAX_DEPTH, freeze

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts, max_size=4),
    max_leaves=20,
)


class Colour(str, Enum):  # noqa: UP042 - its `str()` is not its value, unlike that of a `StrEnum`
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Price(float):
    def __repr__(self) -> str:
        return "a price"


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def containers(value: object) -> list[object]:
    if isinstance(value, dict):
        return [value, *(part for item in value.values() for part in containers(item))]
    if isinstance(value, list):
        return [value, *(part for item in value for part in containers(item))]
    return []


@given(json_values)
def test_a_copy_is_equal_and_shares_no_container_with_its_source(value: object) -> None:
    copy = freeze(value)
    assert copy == value
    assert not {id(part) for part in containers(copy)} & {id(part) for part in containers(value)}


def test_a_container_that_occurs_twice_is_copied_twice() -> None:
    shared = [1]
    copy: Any = freeze([shared, shared])
    assert copy == [[1], [1]]
    assert copy[0] is not copy[1]


def test_order_is_kept() -> None:
    copy: Any = freeze({"b": [3, [2], "1"], "a": {"d": 0, "c": 0}})
    assert list(copy) == ["b", "a"]
    assert list(copy["a"]) == ["d", "c"]
    assert copy["b"] == [3, [2], "1"]


@pytest.mark.parametrize(
    ("value", "kind", "plain"),
    [
        (Colour.RED, str, "red"),
        (Level.HIGH, int, 3),
        (Price(1.5), float, 1.5),
        ((1, 2), list, [1, 2]),
        (MappingProxyType({"a": 1}), dict, {"a": 1}),
    ],
)
def test_subclasses_and_other_containers_become_plain(value: object, kind: type, plain: object) -> None:
    copies: Any = [freeze(value), freeze([value])[0]]  # type: ignore[index]
    for copy in copies:
        assert type(copy) is kind
        assert copy == plain


def test_keys_become_plain_text() -> None:
    copy: Any = freeze({Colour.RED: 1})
    assert [type(name) for name in copy] == [str]
    assert copy == {"red": 1}


def test_a_lone_surrogate_is_kept() -> None:
    assert freeze(["\ud800"]) == ["\ud800"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {"b": [0, 1, 2, {1}]}}, "`a.b[3]` is of type `set`, which JSON does not know"),
        (object(), "the value is of type `object`, which JSON does not know"),
        ([b"x"], "`[0]` is of type `bytes`, which JSON does not know"),
        ({"a": {1: 2}}, "a key of `a` is of type `int`, not text"),
        ({None: 2}, "a key of the value is of type `NoneType`, not text"),
        ({"a": float("nan")}, "`a` is `nan`, which JSON does not know"),
        (float("-inf"), "the value is `-inf`, which JSON does not know"),
        pytest.param([INT_LIMIT], "`[0]` is an integer of more than 4,300 digits", id="long"),
        pytest.param(-INT_LIMIT, "the value is an integer of more than 4,300 digits", id="long, negative"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(value: object, message: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
        freeze(value)
    assert str(refused.value) == message


def test_the_longest_integer_that_has_a_text_is_kept() -> None:
    assert freeze([INT_LIMIT - 1]) == [INT_LIMIT - 1]


def test_nesting_is_refused_beyond_the_limit_only() -> None:
    assert freeze(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    with pytest.raises(ValueError, match="nests deeper than 200 levels"):
        freeze(nested(MAX_DEPTH + 1))


def test_a_wide_cycle_is_refused_as_too_deep_with_a_short_place() -> None:
    cycle: list[Any] = []
    cycle.extend([cycle] * 50)
    with pytest.raises(ValueError, match="nests deeper than 200 levels") as refused:
        freeze({"a": cycle})
    assert len(str(refused.value)) < 200


def test_copying_needs_no_stack_of_the_caller() -> None:
    """INVARIANT: a copy does not recurse, so it works wherever the caller stands."""

    def at_the_bottom(act: Callable[[], object], levels: int) -> object:
        return act() if levels == 0 else at_the_bottom(act, levels - 1)

    deep = nested(MAX_DEPTH)
    assert at_the_bottom(lambda: freeze(deep), 700) is not deep
