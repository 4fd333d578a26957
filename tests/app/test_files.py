"""What the commands read and write: whole files or none, plain ones, and none of the user's by mistake."""

import os
import resource
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pytest

from doors import RULES, WEATHER, Ended, refused, turnout
from turnout.app.files import write_files, write_folder
from turnout.rules.bundles import MOST_BYTES
from turnout.rules.errors import UsageError

UNTIDY = 'rule "A" when always then a\n'
TIDY = 'rule "A"\n  when always\n  then a\n'
BOTH = f'{TIDY}\noutput a\n  say "x"\n'


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """No file may become larger than `room` bytes meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_text_that_cannot_be_laid_out_for_want_of_room_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.turnout"
    file.write_text(UNTIDY)
    with full_disk(5):
        ended = turnout("fmt", file)
    assert refused(ended)
    assert "cannot be written" in ended.err
    assert (names(tmp_path), file.read_text()) == (["a.turnout"], UNTIDY)


def test_a_file_that_convert_cannot_write_over_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.turnout"
    file.write_text("mine")
    with full_disk(5):
        assert refused(turnout("convert", RULES, "--to", "text", "--out", file, "--force"))
    assert (names(tmp_path), file.read_text()) == (["a.turnout"], "mine")


def test_of_several_files_all_are_written_or_none(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(UsageError, match="/b` cannot be written"):
        write_files({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert names(tmp_path) == ["b"]


def test_a_text_that_becomes_two_files_becomes_both_or_neither(tmp_path: Path) -> None:
    text, out = tmp_path / "a.turnout", tmp_path / "out"
    text.write_text(BOTH)
    (out / "a.output.json").mkdir(parents=True)
    assert refused(turnout("convert", text, "--to", "json", "--out", out, "--force"))
    assert names(out) == ["a.output.json"]


def test_a_file_that_is_written_over_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "a.turnout"
    file.write_text(UNTIDY)
    file.chmod(0o640)
    assert turnout("fmt", file).code == 0
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (TIDY, 0o640)


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file, link = tmp_path / "inner" / "a.turnout", tmp_path / "a.turnout"
    file.write_text(UNTIDY)
    link.symlink_to(Path("inner") / "a.turnout")
    assert turnout("fmt", link).code == 0
    assert link.is_symlink()
    assert (file.read_text(), names(tmp_path / "inner")) == (TIDY, ["a.turnout"])
    write_folder(tmp_path, {PurePosixPath("a.turnout"): b"new"})
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


@pytest.mark.parametrize("how", ["itself", "a link", "a hard link", "another way to write it", "its folder"])
def test_convert_never_writes_over_what_it_reads(how: str, tmp_path: Path) -> None:
    file, other = tmp_path / "a.behavior.json", tmp_path / "b.json"
    file.write_bytes(RULES.read_bytes())
    if how == "a link":
        other.symlink_to(file)
    elif how == "a hard link":
        other.hardlink_to(file)
    out = {"itself": file, "another way to write it": f"{tmp_path}/../{tmp_path.name}/{file.name}"}.get(how, other)
    if how == "its folder":  # a text whose name is that of what it becomes
        file, out = tmp_path / "a.turnout", tmp_path
        file.write_text(BOTH)
        (tmp_path / "a.output.json").symlink_to(file)
    before = file.read_bytes()
    to = "json" if how == "its folder" else "text"
    ended = turnout("convert", file, "--to", to, "--out", out, "--force")
    assert refused(ended)
    assert "is what is read" in ended.err
    assert file.read_bytes() == before


def test_results_are_never_written_over_a_text_whose_checks_are_run(tmp_path: Path) -> None:
    for content in (BOTH, 'rule "A" then a'):
        text = tmp_path / "a.turnout"
        text.write_text(content)
        assert refused(turnout("test", text, "--junit", text))
        assert text.read_text() == content


LONG = "x" * 300


COMMANDS = {
    "check": ("check", "{}"),
    "fmt": ("fmt", "{}"),
    "test": ("test", "{}"),
    "run": ("run", "{}", "--start"),
    "convert": ("convert", "{}", "--to", "text"),
    "convert to a folder": ("convert", "{}", "--to", "json", "--out", "new"),
    "convert to it": ("convert", RULES, "--to", "text", "--out", "{}"),
    "convert an agent to it": ("convert", WEATHER, "--to", "text", "--out", "{}"),
    "serve": ("serve", "{}"),
    "replay": ("replay", "{}", "--rules", RULES),
}


@pytest.mark.parametrize("name", [LONG, f"{LONG}.turnout", f"{LONG}.zip", f"{LONG}.json", "loop"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_that_cannot_be_looked_at_is_told_in_plain_words(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    ended = turnout(*(str(part).format(name) for part in COMMANDS[command]))
    report = ended.out if command == "check" else ended.err
    assert ended.code == 2
    assert report.strip()
    assert "fault in Turnout" not in ended.err
    assert names(tmp_path) == ["loop"]


def refusal(ended: Ended) -> str:
    assert ended.code == 2
    return ended.out + ended.err


@pytest.mark.parametrize("name", ["pipe", "pipe.turnout", "pipe.zip", "pipe.behavior.json"])
def test_what_is_no_plain_file_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    to = "json" if name == "pipe.turnout" else "text"
    for call in (("check",), ("convert", "--to", to, "--out", tmp_path / "o")):
        assert "it is no plain file" in refusal(turnout(*call, tmp_path / name))


def test_the_size_of_a_file_is_bounded(tmp_path: Path) -> None:
    text, document = tmp_path / "a.turnout", tmp_path / "w" / "a.agent.json"
    document.parent.mkdir()
    for file in (text, document):
        with file.open("wb") as sparse:
            sparse.truncate(MOST_BYTES + 1)
    for path in (text, document, document.parent):
        assert "it has more than 64 MiB" in refusal(turnout("check", path))


@pytest.mark.parametrize("name", ["agent", "agent.export", "agent.turnout", "agent.behavior.json"])
def test_a_zip_without_the_name_of_one_is_told_its_name(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(b"PK\3\4 and so on")
    to = "json" if name == "agent.turnout" else "text"
    for call in (("check", file), ("run", file, "--start"), ("convert", file, "--to", to)):
        words = refusal(turnout(*call))
        assert "a zip" in words
        assert "let its name end in `.zip`" in words
