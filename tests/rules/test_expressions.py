"""The expression language beyond the vectors: keys, runs, odd and very deep text."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.rules.expressions import (
    MAX_DEPTH,
    WILDCARD,
    Expression,
    equal,
    has_run,
    is_empty_word,
    key,
    parse,
)

WORDS = ["a", "b", "A", "x.y", "1", "1.0", "01", "1.5", ".5", "0.5", "-1", "1.", "all", "ünï", "e-mail"]
ODD = ["", "a(b", "a)b", ",a", "0,1:a", "=1.0;", "1,0:", "a, b"]


def trees(names: list[str]) -> st.SearchStrategy[Expression]:
    leaves = st.builds(Expression, st.sampled_from(names))
    return st.recursive(
        leaves,
        lambda parts: st.builds(Expression, st.sampled_from(names), st.lists(parts, max_size=3).map(tuple)),
        max_leaves=6,
    )


def one(text: str) -> Expression:
    (expression,) = parse(text)
    return expression


@given(trees(WORDS + ODD), trees(WORDS + ODD))
def test_two_expressions_without_wildcard_are_equal_exactly_if_their_keys_are(
    left: Expression, right: Expression
) -> None:
    assert equal(left, right) is (key(left) == key(right))


@given(st.text(alphabet="a1.,() -:;=", max_size=12), st.text(alphabet="a1.,() -:;=", max_size=12))
def test_keys_and_equality_agree_on_whatever_text_reads_as(left: str, right: str) -> None:
    for a in parse(left):
        for b in parse(right):
            assert equal(a, b) is (key(a) == key(b))


@given(trees(WORDS), trees([WILDCARD]))
def test_an_expression_with_a_wildcard_at_any_depth_has_no_key(tree: Expression, star: Expression) -> None:
    assert key(Expression("a", (tree, Expression("b", (star,))))) is None


@given(st.lists(trees(WORDS), max_size=3))
def test_the_canonical_text_of_well_formed_expressions_reads_as_the_same(wanted: list[Expression]) -> None:
    assert parse(", ".join(map(str, wanted))) == tuple(wanted)


@given(trees([*WORDS, WILDCARD]), trees([*WORDS, WILDCARD]))
def test_equality_is_the_same_both_ways(left: Expression, right: Expression) -> None:
    assert equal(left, right) is equal(right, left)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("greeting(*)", "greeting(hello)", True),
        ("greeting(*)", "greeting(x(y))", True),
        ("greeting(*)", "greeting", False),
        ("greeting(*)", "greeting(a, b)", False),
        ("*(a)", "anything(b, c)", True),
        ("greeting(hello)", "*", True),
        ("a(b, *)", "a(b)", False),
        ("all", "greeting", False),
        ("1", "01.0", True),
        ("1(a)", "1.0(a)", False),
        ("1.", "1.0", False),
        ("-1", "-1.0", False),
        ("\u0661", "1", False),
        ("9" * 50, "8" * 60, True),
    ],
)
def test_equality(left: str, right: str, same: bool) -> None:
    """`*` equals all on either side, arguments are counted, numbers without arguments compare as float32."""
    assert equal(one(left), one(right)) is same


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("greeting(*)", True),
        ("*, question(how)", True),
        ("question(*), greeting(*)", False),
        ("greeting(*), name(*)", False),
        ("question(how), name(bob)", True),
        ("greeting(*), question(*), name(*), *", False),
        ("", True),
    ],
)
def test_a_pattern_is_found_only_as_a_contiguous_run_in_order(pattern: str, found: bool) -> None:
    said = parse("greeting(hello), question(how), name(bob)")
    assert has_run(parse(pattern), said) is found


def test_an_empty_pattern_is_a_run_of_nothing_and_a_wildcard_is_not() -> None:
    assert has_run((), ()) is True
    assert has_run(parse("*"), ()) is False


@pytest.mark.parametrize(
    ("text", "special"),
    [("empty", True), ("empty(x)", True), ("Empty", False), ("empty, empty", False), ("", False)],
)
def test_only_a_single_element_named_empty_is_the_special_word(text: str, special: bool) -> None:
    assert is_empty_word(parse(text)) is special


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a\u00a0", ["a\u00a0"]),
        ("a(b)),c", ["a(b)", ",c"]),
        ("negation(a, b)", ["negation(a)"]),
        ("\x00a\x1f", ["a"]),
    ],
)
def test_odd_text_reads_by_the_same_rules(text: str, canonical: list[str]) -> None:
    """Only U+0000 to U+0020 are trimmed; a comma after a bracket that closed nothing is part of a name."""
    assert [str(expression) for expression in parse(text)] == canonical


@given(st.text())
def test_no_text_makes_the_parser_raise(text: str) -> None:
    for expression in parse(text):
        key(expression)


@pytest.mark.parametrize("closing", [50_000, 49_999, 50_001, 0])
def test_a_hundred_thousand_brackets_are_read_to_a_bounded_depth(closing: int) -> None:
    """INVARIANT: parsed expressions nest at most `MAX_DEPTH` levels, so that recursion over them is safe."""
    expression = parse("a(" * 50_000 + ")" * closing)[0]
    depth, part = 0, expression
    while part.args:
        depth, part = depth + 1, part.args[0]
    assert depth <= MAX_DEPTH
    assert str(expression).startswith("a(a(")
    assert equal(expression, expression)


def test_text_deeper_than_the_limit_stays_the_name_of_the_deepest_expression() -> None:
    text = "a(" * (MAX_DEPTH + 2) + ")" * (MAX_DEPTH + 2)
    expression = one(text)
    assert str(expression) == text
    assert parse(str(expression)) == (expression,)


def test_equality_and_keys_do_not_recurse() -> None:
    deep = Expression("a")
    for _ in range(sys.getrecursionlimit() * 2):
        deep = Expression("a", (deep,))
    assert equal(deep, deep)
    assert key(deep) is not None
