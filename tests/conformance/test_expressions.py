"""The expression vectors: how text is read, and which patterns match which input."""

from __future__ import annotations

from typing import Any

import pytest

from turnout.rules.expressions import Expression, has_run, is_empty_word, parse
from vectors import cases

CASES = cases("expressions")
PARSES = [case for case in CASES if "text" in case]
MATCHES = [case for case in CASES if "pattern" in case]


def tree(expression: Expression) -> list[Any]:
    return [expression.name, [tree(part) for part in expression.args]]


def test_every_vector_is_of_a_known_kind() -> None:
    assert len(PARSES) + len(MATCHES) == len(CASES) > 0


@pytest.mark.parametrize("case", PARSES, ids=lambda case: case["id"])
def test_text_reads_as_the_same_tree_with_the_same_canonical_text(case: dict[str, Any]) -> None:
    expressions = parse(case["text"])
    assert [tree(expression) for expression in expressions] == case["tree"]
    assert [str(expression) for expression in expressions] == case["parsed"]


@pytest.mark.parametrize("case", MATCHES, ids=lambda case: case["id"])
def test_a_pattern_matches_the_same_input(case: dict[str, Any]) -> None:
    pattern, said = parse(case["pattern"]), parse(case["input"])
    assert (has_run(pattern, said) or (is_empty_word(pattern) and not said)) is case["matches"]
