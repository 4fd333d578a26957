"""An agent in a zip: read as its folder is, and nothing else of it is trusted."""

import io
import json
import stat
import struct
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turnout.rules.bundles import MOST_BYTES
from turnout.rules.errors import LoadError, Problem
from turnout.rules.findings import CODES
from turnout.rules.folders import read_agent
from turnout.rules.zips import MOST_ENTRIES

RULES = '{"behaviorGroups": [\n  {"rules": [{"name": "Greet", "actions": ["greet"]}]}]}'
STEP = {"type": "eddi://ai.labs.behavior", "config": {"uri": "eddi://ai.labs.rules/rulestore/rulesets/b2?version=1"}}
EXPORT = {
    "a1.agent.json": '{"workflows": ["eddi://ai.labs.workflow/workflowstore/workflows/w1?version=1"]}',
    "a1.descriptor.json": "{}",
    "w1/1/w1.workflow.json": json.dumps({"workflowSteps": [STEP]}),
    "w1/1/b2.behavior.json": RULES,
}
Entries = Iterable[tuple[str | zipfile.ZipInfo, str | bytes]]


def zipped(file: Path, entries: Entries, packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(file, "w", packing) as archive:
        for name, content in entries:
            archive.writestr(entry(name) if isinstance(name, str) else name, content, packing)
    return file


def entry(name: str) -> zipfile.ZipInfo:
    """An entry whose name is written as it is, whatever it is."""
    made = zipfile.ZipInfo("x")
    made.filename = name
    return made


def export(tmp_path: Path, *added: tuple[str, str | bytes], prefix: str = "", packing: int = 8) -> Path:
    """An agent as the reference exports it, with more entries."""
    entries = [(prefix + name, content) for name, content in EXPORT.items()]
    return zipped(tmp_path / "agent.zip", [*entries, *added], packing)


def problems(file: Path) -> tuple[Problem, ...]:
    with pytest.raises(LoadError) as raised:
        read_agent(file)
    assert all(problem.code in CODES for problem in raised.value.problems)
    return raised.value.problems


def only(file: Path) -> Problem:
    (problem,) = problems(file)
    return problem


def unpacked(folder: Path) -> Path:
    for name, content in EXPORT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_a_zip_is_read_as_its_folder_is(tmp_path: Path) -> None:
    read = read_agent(export(tmp_path))
    assert read == read_agent(unpacked(tmp_path / "folder"))
    assert [rule.name for rule in read.rules] == ["Greet"]


def test_nothing_is_unpacked(tmp_path: Path) -> None:
    file = export(tmp_path)
    read_agent(file)
    assert list(tmp_path.iterdir()) == [file]


def test_names_made_on_windows_are_understood(tmp_path: Path) -> None:
    file = zipped(tmp_path / "agent.zip", [(name.replace("/", "\\"), text) for name, text in EXPORT.items()])
    assert read_agent(file).rules


def test_a_folder_that_all_files_stand_in_is_no_part_of_their_names(tmp_path: Path) -> None:
    file = export(tmp_path, ("__MACOSX/backup/._a1.agent.json", b"\0"), ("backup/.DS_Store", b"\0"), prefix="backup/")
    assert read_agent(file).rules
    more = export(tmp_path, ("backup/w1/1/c3.output.json", "{"), prefix="backup/")
    assert [note.file for note in read_agent(more).notes] == [f"{more}/backup/w1/1/c3.output.json"]


def test_a_problem_has_its_place_in_the_zip(tmp_path: Path) -> None:
    broken = {**EXPORT, "w1/1/b2.behavior.json": '{"behaviorGroups": [\n  {"rules": [}]}'}
    problem = only(zipped(tmp_path / "agent.zip", broken.items()))
    assert (problem.file, problem.line, problem.column) == (f"{tmp_path}/agent.zip/w1/1/b2.behavior.json", 2, 14)


def test_all_problems_of_all_files_are_told_in_one_run(tmp_path: Path) -> None:
    broken = {**EXPORT, "w1/1/b2.behavior.json": "{", "w1/1/c3.output.json": "["}
    assert [problem.code for problem in problems(zipped(tmp_path / "agent.zip", broken.items()))] == ["J004", "J004"]


def test_a_missing_file_is_missing_in_the_zip(tmp_path: Path) -> None:
    left = {name: content for name, content in EXPORT.items() if "b2" not in name}
    problem = only(zipped(tmp_path / "agent.zip", left.items()))
    assert (problem.code, problem.message.partition(" for ")[0]) == ("A004", "the agent's zip holds no rule set")


@pytest.mark.parametrize(
    ("names", "code", "said"),
    [
        ([], "A002", "the zip holds no agent file"),
        (["README", "a/a.agent.json"], "A002", "no agent file at its top, but `a/a.agent.json`"),
        (["a.agent.json", "b.bot.json"], "A003", "holds several agents"),
    ],
)
def test_a_zip_holds_one_agent(tmp_path: Path, names: list[str], code: str, said: str) -> None:
    problem = only(zipped(tmp_path / "agent.zip", [(name, "{}") for name in names]))
    assert problem.code == code
    assert said in problem.message


@pytest.mark.parametrize(
    "name",
    [
        "../secret.json",
        "w1/../../secret.json",
        "..\\secret.json",
        "/etc/passwd",
        "\\\\server\\share",
        "C:\\x.json",
        "c:x",
        "a\0.json",
    ],
)
def test_a_name_that_is_not_safe_is_told_and_never_read(tmp_path: Path, name: str) -> None:
    problem = only(export(tmp_path, (name, "{")))
    assert problem.code == "A006"
    assert name.replace("\\", "/").replace("\0", "\\x00") in problem.message


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    link = entry("w1/1/b2.behavior.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    others = [(name, content) for name, content in EXPORT.items() if name != link.filename]
    assert only(zipped(tmp_path / "agent.zip", [*others, (link, "/etc/passwd")])).code == "A015"
    start = entry("a1.agent.json")
    start.external_attr = link.external_attr
    problem = only(zipped(tmp_path / "agent.zip", [(start, "/etc/passwd")]))
    assert (problem.code, "links are not followed" in problem.message) == ("A015", True)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    problem = only(export(tmp_path, ("w1\\1\\b2.behavior.json", RULES), ("w1/1/./b2.behavior.json", RULES)))
    assert problem.code == "A018"
    assert "`w1/1/b2.behavior.json`" in problem.message


def test_an_encrypted_zip_is_told_as_such(tmp_path: Path) -> None:
    file = export(tmp_path)
    data = bytearray(file.read_bytes())
    at = data.rindex(b"PK\1\2")
    data[at + 8] |= 1
    file.write_bytes(data)
    problem = only(file)
    assert (problem.code, problem.message) == (
        "A001",
        "the zip is encrypted: `w1/1/b2.behavior.json` needs a password",
    )


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\3\4", b"PK\5\6" + bytes(17), b'{"packages": []}'])
def test_what_is_no_zip_is_told_as_such(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "agent.zip"
    file.write_bytes(content)
    problem = only(file)
    assert problem.code == "A001"
    assert "not a zip" in problem.message


def test_half_a_zip_is_no_zip(tmp_path: Path) -> None:
    file = export(tmp_path)
    file.write_bytes(file.read_bytes()[:-40])
    assert "only a part" in only(file).message


def test_a_broken_part_is_named(tmp_path: Path) -> None:
    file = export(tmp_path, packing=zipfile.ZIP_STORED)
    file.write_bytes(file.read_bytes().replace(b'"name": "Greet"', b'"name": "GREET"'))
    problem = only(file)
    assert (problem.code, problem.file) == ("A001", f"{file}/w1/1/b2.behavior.json")
    assert "broken" in problem.message


def test_a_way_of_packing_that_is_not_bounded_is_not_read(tmp_path: Path) -> None:
    assert {problem.message for problem in problems(export(tmp_path, packing=zipfile.ZIP_LZMA))} == {
        "this is packed in a way that is not read here"
    }


def test_what_comes_out_of_a_zip_is_bounded_and_told_once(tmp_path: Path) -> None:
    bomb = {name: bytes(MOST_BYTES + 1) for name in ("w1/1/b2.behavior.json", "w1/1/c3.output.json")}
    file = zipped(tmp_path / "agent.zip", [*{**EXPORT, **bomb}.items()])
    assert file.stat().st_size < MOST_BYTES / 100
    problem = only(file)
    assert problem.file == f"{file}/w1/1/b2.behavior.json"
    assert "64 MiB" in problem.message


def test_the_sizes_that_a_zip_declares_are_not_believed(tmp_path: Path) -> None:
    file = export(tmp_path)
    data = bytearray(file.read_bytes())
    at = data.rindex(b"PK\1\2")
    struct.pack_into("<I", data, at + 24, 2**31)  # said to be huge
    file.write_bytes(data)
    assert read_agent(file).rules
    struct.pack_into("<I", data, at + 24, 5)  # said to be small
    file.write_bytes(data)
    assert only(file).file == f"{file}/w1/1/b2.behavior.json"


def test_the_number_of_entries_is_bounded(tmp_path: Path) -> None:
    problem = only(zipped(tmp_path / "agent.zip", [(str(number), "") for number in range(MOST_ENTRIES + 1)]))
    assert f"more than {MOST_ENTRIES} entries" in problem.message


def test_a_large_zip_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "agent.zip"
    with file.open("wb") as sparse:
        sparse.truncate(MOST_BYTES + 1)
    assert "it has more than 64 MiB" in only(file).message


def test_a_zip_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert only(tmp_path / "gone.zip").message == "there is no such file"


def test_a_folder_may_be_called_like_a_zip(tmp_path: Path) -> None:
    assert read_agent(unpacked(tmp_path / "agent.zip")).rules


@given(st.binary(max_size=40), st.integers(min_value=0), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
def test_a_damaged_zip_is_a_load_error_at_worst(tmp_path: Path, bytes_: bytes, offset: int, insert: bool) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in EXPORT.items():
            archive.writestr(name, content)
    data = bytearray(buffer.getvalue())
    at = offset % len(data)
    data[at : at if insert else at + len(bytes_)] = bytes_
    (tmp_path / "agent.zip").write_bytes(data)
    with suppress(LoadError):
        read_agent(tmp_path / "agent.zip")
