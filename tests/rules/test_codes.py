"""The codes of problems: each has a meaning."""

import re
from pathlib import Path

from turnout.rules.findings import CODES

ROOT = Path(__file__).resolve().parents[2]


def used(*folders: str) -> set[str]:
    """The codes that are written out in these folders, where problems are made."""
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py") if file.name != "findings.py"]
    return {code for file in files for code in re.findall(r'"([A-Z][0-9]{3})"', file.read_text(encoding="utf-8"))}


def test_every_code_that_is_used_has_a_meaning() -> None:
    assert used("rules", "engine", "app") <= set(CODES)


def test_every_code_with_a_meaning_is_used() -> None:
    assert set(CODES) <= used("rules", "engine", "app", "grammar")
