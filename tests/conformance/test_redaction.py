"""The redaction vectors: what is taken out of a text, and where we take out more than the reference."""

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import pytest

from turnout.engine.redaction import redact
from vectors import cases

NAME = r"(?:api[_-]?key|token|secret|authorization|password)"


class Exemption(NamedTuple):
    """A decision by which some vectors have another value, found by a predicate on the vector."""

    why: str
    applies: re.Pattern[str]
    """Finds in the vector's text what the reference leaves."""
    ours: str | Callable[[re.Match[str]], str]
    """What stands in its place."""


# All by decision 21: we take out more where the reference leaks.
EXEMPTIONS = (
    Exemption(
        "a bearer token is one in any case of letters",
        re.compile(r"\b(bearer|BEARER) [\w.+/=-]{20,}", re.ASCII),
        r"\1 <REDACTED>",
    ),
    Exemption(
        "after a secret's name, the credential of a scheme goes, whatever its length",
        re.compile(rf"(?ai)({NAME}\s*[:=]\s*(?:Bearer|Basic)\s+)[\w.+/=-]{{1,19}}(?![\w.+/=-])"),
        r"\1<REDACTED>",
    ),
    Exemption(
        "an apostrophe inside a value does not end it",
        re.compile(rf"({NAME}'?\s*[:=]\s*'?)\w+'\w-[\w-]+", re.ASCII | re.IGNORECASE),
        r"\1<REDACTED>",
    ),
    Exemption(
        "a quoted password is taken out even if it is short",
        re.compile(r"""(password(?P<q>\\*["'])\s*:\s*(?P=q))[^"'\\$<]{1,7}(?=(?P=q))""", re.IGNORECASE),
        r"\1<REDACTED>",
    ),
    Exemption(
        "a password in a connection string is taken out to its semicolon, whatever its length",
        re.compile(r"(?<=; )(\w*password=)[^\s;,]{1,7},[^\s;]*(?=;)", re.IGNORECASE),
        r"\1<REDACTED>",
    ),
)


CASES = cases("redaction")


def exempted(case: dict[str, str]) -> list[Exemption]:
    return [exemption for exemption in EXEMPTIONS if exemption.applies.search(case["text"])]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_text_is_redacted_the_same(case: dict[str, str]) -> None:
    expected = case["redacted"]
    for exemption in exempted(case):
        ours = exemption.applies.sub(exemption.ours, expected)
        assert ours != expected, f"{exemption.why}: the reference leaves nothing here"
        expected = ours
    assert redact(case["text"]) == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_redacted_text_is_left_as_it_is(case: dict[str, str]) -> None:
    assert redact(case["redacted"]) in (case["redacted"], redact(case["text"]))
    assert redact(redact(case["text"])) == redact(case["text"])


def test_each_exemption_is_needed() -> None:
    counts = Counter(exemption.why for case in CASES for exemption in exempted(case))
    for exemption in EXEMPTIONS:
        print(f"{counts[exemption.why]:4} vectors are exempt by decision 21: {exemption.why}")
    assert set(counts) == {exemption.why for exemption in EXEMPTIONS}
