"""The documentation: what it shows works, and what is generated is up to date."""

import json
import re
import runpy
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from doors import ROOT, turnout

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[Path, str]]:
    return [
        (page, found[2])
        for page in PAGES
        for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))
        if found[1] == language
    ]


def commands() -> list[str]:
    """The lines of the documentation and of the help that call `turnout`, and can be called as they stand."""
    shown = [line for _, block in blocks("sh") for line in block.splitlines()]
    shown += [line.strip() for line in turnout("--help").out.splitlines()]
    return list(dict.fromkeys(line for line in shown if re.match(r"turnout \w", line)))


def test_the_help_has_an_example_of_each_command() -> None:
    assert {line.split()[1] for line in commands()} == {"run", "match", "check", "schema"}


@pytest.mark.parametrize("line", commands())
def test_a_command_that_is_shown_works(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ended = turnout(*shlex.split(line)[1:])
    assert ended.code == 0
    assert "error" not in ended.err


@pytest.mark.parametrize("command", ["run", "match", "check", "schema"])
def test_the_help_of_a_command_fits_80_columns_and_has_an_example(command: str) -> None:
    help_text = turnout(command, "--help").out
    options = help_text.partition("Example:")[0]
    assert f"turnout {command} " in help_text.partition("Example:")[2]
    assert max(map(len, options.splitlines())) <= 80


def test_json_that_is_shown_is_json() -> None:
    shown = blocks("json")
    assert shown
    for _, block in shown:
        json.loads(block)


@pytest.mark.parametrize(("page", "source"), blocks("python"), ids=lambda value: getattr(value, "name", ""))
def test_python_that_is_shown_runs(page: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with redirect_stdout(StringIO()):
        exec(compile(source, page.name, "exec"), {"__name__": "shown"})


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page.name, link)


def test_the_page_of_all_keys_is_up_to_date() -> None:
    """Run `python docs/generate.py` after a change of the models."""
    page = runpy.run_path(str(ROOT / "docs" / "generate.py"))["page"]()
    assert (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8") == page
