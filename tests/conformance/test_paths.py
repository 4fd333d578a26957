"""The path vectors: what a path reads, and what value and size conditions make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnout.rules.paths import matches, read, size
from vectors import cases

CASES = cases("paths")


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case["kind"] == kind]


def test_every_vector_is_of_a_known_kind() -> None:
    assert {case["kind"] for case in CASES} == {"path", "match", "size"}


@pytest.mark.parametrize("case", of_kind("path"), ids=lambda case: case["id"])
def test_a_path_reads_the_same_value_of_the_same_type(case: dict[str, Any]) -> None:
    # As text, because 4 and 4.0, or 1 and true, are equal in Python.
    assert json.dumps(read(case["model"], case["path"])) == json.dumps(case["value"])


@pytest.mark.parametrize("case", of_kind("match"), ids=lambda case: case["id"])
def test_a_dynamicvaluematcher_decides_the_same(case: dict[str, Any]) -> None:
    value = read(case["model"], case.get("valuePath", ""))
    assert matches(value, case.get("equals"), case.get("contains")) is case["matches"]


@pytest.mark.parametrize("case", of_kind("size"), ids=lambda case: case["id"])
def test_a_sizematcher_ends_in_the_same_state(case: dict[str, Any]) -> None:
    minimum, maximum, exact = (int(case.get(bound, -1)) for bound in ("min", "max", "equal"))
    found = size(read(case["model"], case["valuePath"]))
    if minimum == maximum == exact == -1:
        state = "NOT_EXECUTED"
    elif found >= minimum and found <= (maximum if maximum != -1 else found) and exact in (-1, found):
        state = "SUCCESS"
    else:
        state = "FAIL"
    assert state == case["state"]
