"""Each check beyond loading has a page, whose examples are what it says."""

import re
from pathlib import Path

import pytest

from turnout.app.check import checked
from turnout.rules.findings import CODES

CHECKS = Path(__file__).resolve().parents[2] / "docs" / "checks"
PAGES = sorted(page for page in CHECKS.glob("*.md") if page.stem != "README")


def found(tmp_path: Path, page: Path, part: str) -> set[str]:
    """The codes that are found in the example of a part of a page."""
    text = re.search(
        rf"^## {part}\n\n```turnout\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert text, f"{page.name} has no example to {part.lower()}"
    file = tmp_path / f"{page.stem}.turnout"
    file.write_text(text[1], encoding="utf-8")
    return {problem.code for problem in checked(file).problems if problem.severity != "note"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_says_to_avoid_is_found_and_nothing_else(tmp_path: Path, page: Path) -> None:
    assert found(tmp_path, page, "Avoid") == {page.stem}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_in_what_a_page_prefers_nothing_is_found(tmp_path: Path, page: Path) -> None:
    assert found(tmp_path, page, "Prefer") == set()


def test_every_check_has_a_page_that_is_listed_with_what_its_code_stands_for() -> None:
    codes = {code for code in CODES if code.startswith("L")}
    assert codes <= {page.stem for page in PAGES}
    listed = re.findall(
        r"^\* \[(\w+)\]\(\1\.md\): (.*)$", (CHECKS / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert dict(listed) == {page.stem: CODES[page.stem] for page in PAGES}
