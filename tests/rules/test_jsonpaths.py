"""Reading objects at JSON paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.rules.jsonpaths import compile_path

USER = {"name": "Ada", "tags": ["b", "c"], "home": {"city": "Rome", "floor": 0}, "gone": None, "ok": False}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.name", "Ada"),
        ("name", "Ada"),
        ("$['name']", "Ada"),
        ("home.city", "Rome"),
        ("$.home.floor", 0),
        ("$.ok", False),
        ("tags[0]", "b"),
        ("tags[9]", None),
        ("$.gone", None),
        ("nope.deeper", None),
        ("$[0]", None),
        ("$", USER),
    ],
)
def test_a_definite_path_gives_its_value_or_none(path: str, value: object) -> None:
    assert compile_path(path).read(USER) == value


@pytest.mark.parametrize(
    ("path", "found"),
    [("$.tags[*]", ["b", "c"]), ("$..city", ["Rome"]), ("$.nope[*]", []), ("tags[0:1]", ["b"])],
)
def test_an_indefinite_path_gives_the_list_of_what_was_found(path: str, found: list[object]) -> None:
    assert compile_path(path).read(USER) == found


@pytest.mark.parametrize("path", ["$['a", "a[?(", "$.[", "", "a b", "$$", "[" * 5000, "\ud800["])
def test_an_unreadable_path_is_refused_in_plain_words(path: str) -> None:
    with pytest.raises(ValueError, match=r"^cannot be read as a JSON path: [^\n]+$"):
        compile_path(path)


@pytest.mark.parametrize(
    "path", ["$[?match(@.b,'(a|aa)+')]", "$[?search(@.b, @.c)]", "$[?@.b =~ /(a|aa)+/i]", "$[?@.b =~ /(/]"]
)
def test_a_filter_with_a_regular_expression_is_refused_because_one_may_take_for_ever(path: str) -> None:
    with pytest.raises(ValueError, match=r"^cannot be read as a JSON path: regular expressions .* are not supported$"):
        compile_path(path)


def test_a_key_may_be_named_as_what_is_refused() -> None:
    assert compile_path("$.match[?@.search == '=~']").read({"match": [{"search": "=~"}]}) == [{"search": "=~"}]


def test_deep_values_are_read_without_an_exception() -> None:
    value: object = 1
    for _ in range(300):
        value = {"a": value}
    assert compile_path("$..b").read(value) in (None, [])  # type: ignore[arg-type]
    assert compile_path("$" + ".a" * 300).read(value) == 1  # type: ignore[arg-type]


@given(st.text(alphabet="$.[]'\"?@*:()=ab10,-&|!<> \\"))
def test_any_text_is_a_path_or_a_value_error(path: str) -> None:
    try:
        compiled = compile_path(path)
    except ValueError:
        return
    compiled.read({"a": [{"b": 1}, 2], "b": None})
