"""Lines and columns of what a pointer leads to."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.rules.places import Pointer, Spot, locate_all, repeated_keys

TEXT = """{
  "name": "a",
  "list": [1, {"deep": [true,
     null]}, "x, ]"],
  "empty": {}
}"""


@pytest.mark.parametrize(
    ("pointer", "place"),
    [
        ((), (1, 1)),
        (("name",), (2, 11)),
        (("list",), (3, 11)),
        (("list", 0), (3, 12)),
        (("list", 1, "deep"), (3, 24)),
        (("list", 1, "deep", 1), (4, 6)),
        (("list", 2), (4, 14)),
        (("empty",), (5, 12)),
    ],
)
def test_a_pointer_leads_to_the_first_character_of_its_value(
    pointer: tuple[str | int, ...], place: tuple[int, int]
) -> None:
    assert locate(TEXT, pointer) == place


def locate(text: str, pointer: Pointer, *, at_key: bool = False) -> tuple[int, int]:
    return locate_all(text, [Spot(pointer, at_key)])[0]


def test_a_key_has_a_place_of_its_own() -> None:
    assert locate(TEXT, ("list", 1, "deep"), at_key=True) == (3, 16)


def test_what_is_missing_is_placed_at_the_nearest_parent() -> None:
    assert locate(TEXT, ("empty", "gone", 3), at_key=True) == (5, 12)
    assert locate(TEXT, ("list", 9)) == locate(TEXT, ("list",))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_at_any_line_end(end: str) -> None:
    assert locate(TEXT.replace("\n", end), ("list", 1, "deep", 1)) == (4, 6)


def test_columns_count_characters_not_bytes() -> None:
    assert locate('{"grüße😄": 5}', ("grüße😄",)) == (1, 12)


def test_an_escaped_key_is_found_by_what_it_means() -> None:
    assert locate('{"a\\"\\u0062": 5}', ('a"b',)) == (1, 15)


def test_of_a_repeated_key_the_last_one_counts() -> None:
    text = '{"a": {"b": 1}, "a": {"b": 2}}'
    assert locate(text, ("a", "b")) == (1, 28)
    assert list(repeated_keys(text)) == [("a",)]


def test_any_nesting_can_be_scanned() -> None:
    depth = 100_000
    assert locate("[" * depth + "]" * depth, (0, 0, 0)) == (1, 4)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_every_value_of_any_document_is_found_where_it_is_written(document: object) -> None:
    text = json.dumps(document, indent=1)
    spots: list[Spot] = []
    values: list[object] = []

    def gather(value: object, pointer: tuple[str | int, ...]) -> None:
        spots.append(Spot(pointer))
        values.append(value)
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in entries:
            gather(inner, (*pointer, key))

    gather(document, ())
    lines = text.split("\n")
    for value, (line, column) in zip(values, locate_all(text, spots), strict=True):
        rest = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        assert json.JSONDecoder().raw_decode(rest)[0] == value
