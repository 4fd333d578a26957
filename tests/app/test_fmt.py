"""`turnout fmt`: texts are laid out in place, or checked, or read from standard input."""

import io
from pathlib import Path

import pytest

from doors import refused, turnout

UNTIDY = 'rule "A" when always then a # why\n'
TIDY = 'rule "A"\n  when always\n  then a  # why\n'


def text(folder: Path, content: str = UNTIDY, name: str = "a.turnout") -> Path:
    file = folder / name
    file.write_bytes(content.encode())
    return file


def test_files_and_folders_are_laid_out_in_place(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    files = [text(tmp_path), text(tmp_path / "inner", "\ufeff" + UNTIDY.replace("\n", "\r\n"), "b.turnout")]
    assert turnout("fmt", tmp_path).code == 0
    assert [file.read_bytes().decode() for file in files] == [TIDY, TIDY]


def test_what_is_hidden_in_a_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    hidden = [text(tmp_path / ".venv", name="c.turnout"), text(tmp_path, name=".d.turnout")]
    assert turnout("fmt", tmp_path).code == 0
    assert [file.read_text() for file in hidden] == [UNTIDY, UNTIDY]
    (tmp_path / ".venv" / "inner").mkdir()
    named = text(tmp_path / ".venv" / "inner")
    assert turnout("fmt", tmp_path / ".venv" / "inner").code == 0
    assert named.read_text() == TIDY


def test_check_writes_nothing_and_names_what_would_be_laid_out(tmp_path: Path) -> None:
    file, other = text(tmp_path), text(tmp_path, TIDY, "b.turnout")
    ended = turnout("fmt", "--check", file, other)
    assert (ended.code, file.read_text()) == (1, UNTIDY)
    assert ended.err.count("would be laid out") == 1
    assert turnout("fmt", "--check", other).code == 0
    assert turnout("fmt", "--check", "--json", file).data == {"changed": [file.as_posix()], "problems": []}


def test_standard_input_goes_to_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(UNTIDY.encode())))
    ended = turnout("fmt", "-")
    assert (ended.code, ended.out) == (0, TIDY)


def test_a_text_with_errors_stays_as_it_is_and_others_are_laid_out(tmp_path: Path) -> None:
    broken, fine = text(tmp_path, 'rule "A" then a', "a.turnout"), text(tmp_path, UNTIDY, "b.turnout")
    ended = turnout("fmt", broken, fine)
    assert ended.code == 2
    assert "a.turnout:1:10: error[" in ended.err
    assert (broken.read_text(), fine.read_text()) == ('rule "A" then a', TIDY)


def test_fix_makes_curly_quotes_plain(tmp_path: Path) -> None:
    file = text(tmp_path, UNTIDY.replace('"A"', "“A”"))
    assert turnout("fmt", file).code == 2
    assert turnout("fmt", "--fix", file).code == 0
    assert file.read_text() == TIDY


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refused(turnout("fmt", tmp_path / "no.turnout"))
    assert refused(turnout("fmt", "-", tmp_path))
