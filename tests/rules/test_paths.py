"""Value paths beyond the vectors: other containers, limits, texts, and that nothing raises."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.rules.paths import contains, has_arithmetic, matches, read, size, split, text
from turnout.rules.values import JSON

MODEL: Mapping[str, JSON] = {
    "count": 3,
    "big": 2**31 - 1,
    "huge": 10**4299,
    "f": 1.5,
    "max": 1.7e308,
    "name": "Ada",
    "yes": True,
    "a-b": {"c+d": "hy"},
    "list": ["x", {"n": 7}],
    "list[x]": "never read",
    "": "blank",
}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.tuples(parts)
        | st.dictionaries(st.sampled_from(["a", "b", "a-b", ""]), parts, max_size=3)
    ),
    max_leaves=8,
)
models = st.dictionaries(st.sampled_from(["a", "b", "a-b", ""]), values, max_size=4)
paths = st.text(alphabet="ab.[]0129+-' ", max_size=12) | st.text()


@given(models, paths)
def test_reading_and_judging_never_raise(model: dict[str, JSON], path: str) -> None:
    value = read(model, path)
    size(value)
    text(value)
    matches(value, "a", "b")


@given(models, paths)
def test_a_path_without_segments_never_finds_anything_plainly(model: dict[str, JSON], path: str) -> None:
    if split(path) is None and not has_arithmetic(path):
        assert read(model, path) is None


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("a.b[2].c", (("a", None), ("b", 2), ("c", None))),
        ("a.b[-1]", (("a", None), ("b", -1))),
        ("a..", (("a", None),)),
        ("a..b", (("a", None), ("", None), ("b", None))),
        ("a-b.c+d", (("a-b", None), ("c+d", None))),
        ("a[0 ", (("a[0 ", None),)),
        ("a[x]", None),
        ("a[]", None),
        ("a[0][1]", None),
        ("a[99999999999]", None),
        ("a[4294967296]", None),
        ("", None),
        ("..", None),
    ],
)
def test_split_gives_keys_and_indexes_or_none(path: str, segments: object) -> None:
    assert split(path) == segments


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a-b.c+d", "hy"),
        ("big+1", 2**31),
        ("count - 1.0", 2.0),
        ("count+yes", "3true"),
        ("yes-1", True),
        ("list[1].n+count", 10),
        (" count + count ", 6),
        ("count+count+count", "3count+count"),
        ("name+' x '", "Ada x "),
        ("count+ ", None),
        ("max+max", None),
        ("huge+1.5", None),
        ("list[x]", None),
        (".", None),
        (".count", None),
        ("count+999999999999999999", 1000000000000000002),
        ("count+9999999999999999999", 1e19),
    ],
)
def test_reading(path: str, value: JSON) -> None:
    """Keys win over arithmetic; one operator; whole stays whole; what is no JSON number is nothing."""
    found = read(MODEL, path)
    assert found == value
    assert type(found) is type(value)


def test_an_integer_too_long_to_be_written_is_nothing() -> None:
    assert read({"a": 10**4300 - 1}, "a+1") is None


def test_any_mapping_and_any_sequence_can_be_walked() -> None:
    model = MappingProxyType({"a": (1, MappingProxyType({"b": "c"}))})
    assert read(model, "a[1].b") == "c"


def test_a_text_is_not_a_list() -> None:
    assert read(MODEL, "name[9]") == "Ada"
    assert read(MODEL, "name[x]") is None


def test_a_very_long_path_is_walked() -> None:
    nested: JSON = "end"
    for _ in range(5_000):
        nested = {"a": nested}
    assert read({"a": nested}, ".".join(["a"] * 5_001)) == "end"


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (None, 0),
        ([1, 2], 2),
        ((1, 2), 2),
        ({"a": 1}, 1),
        (7, 7),
        (2.9, 2),
        (-2.9, -2),
        (float("inf"), 0),
        (" 12 ", 12),
        ("2147483648", 10),
        ("1.5", 3),
        ("  hi ", 2),
        ("", 0),
        (True, 4),
        (False, 5),
    ],
)
def test_size(value: JSON, count: int) -> None:
    """Elements, the integer part of a number, a text's integer or trimmed length, a boolean's text length."""
    assert size(value) == count


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (True, "true"),
        (None, "null"),
        (5, "5"),
        (1.5, "1.5"),
        (10.0, "10.0"),
        ("x", "x"),
        ([1, "x", None], "[1, x, null]"),
        ({"k": [True]}, "{k=[true]}"),
    ],
)
def test_text(value: JSON, written: str) -> None:
    """Booleans are lower case, floats keep their point, containers have a stable text."""
    assert text(value) == written


def test_the_text_of_a_deep_container_ends_instead_of_recursing() -> None:
    deep: JSON = []
    for _ in range(5_000):
        deep = [deep]
    assert text(deep) == "[" * 20 + "..." + "]" * 20


def test_contains_is_a_part_of_a_text_or_an_equal_text_in_a_list() -> None:
    assert contains("Ada", "d")
    assert contains(["x", 3], "x")
    assert not contains(["x", 3], "3")
    assert not contains({"k": 1}, "k")
    assert not contains(3, "3")


@pytest.mark.parametrize(
    ("value", "equals", "part", "matched"),
    [
        ("Ada", "zzz", "d", True),
        ("Ada", "Ada", "zzz", True),
        (False, "false", None, True),
        (False, None, None, False),
        (False, "", "", False),
        ("", "", None, True),
        (0, None, None, True),
        (None, None, None, False),
        (None, "null", None, False),
        (3, "4", None, False),
        ([1], "[1]", None, False),
    ],
)
def test_a_value_matches_by_equality_or_containment_or_else_existence(
    value: JSON, equals: str | None, part: str | None, matched: bool
) -> None:
    assert matches(value, equals, part) is matched
