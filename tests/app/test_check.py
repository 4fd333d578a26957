"""`turnout check`: what is wrong with agents and files, told without running anything."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doors import RULES, WEATHER, copy_of_weather, edit, turnout, write


def test_the_sample_has_no_problems() -> None:
    ended = turnout("check", WEATHER, *sorted(WEATHER.glob("*.json")), "--strict")
    assert (ended.code, ended.out, ended.err) == (0, "", "no problems\n")


def test_all_problems_of_all_paths_are_told_with_their_places(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path, onFailure="digets")
    edit(agent / "weather.output.json", ("outputSet", 0), {"outputz": []})
    other = write(tmp_path / "x.behavior.json", {"behaviourGroups": []})
    ended = turnout("check", agent, other)
    assert ended.code == 2
    told = [line.rsplit("/", 1)[1] for line in ended.out.splitlines() if "error[" in line]
    assert [line.partition(":")[0] for line in told] == [
        "weather.agent.json",
        "weather.output.json",
        "x.behavior.json",
    ]
    assert "did you mean `behaviorGroups`?" in ended.out
    assert ended.err == "3 errors\n"


def test_a_warning_counts_only_when_strict(tmp_path: Path) -> None:
    twice = {"behaviorRules": [{"name": "A"}, {"name": "A"}]}
    file = write(tmp_path / "x.behavior.json", twice)
    assert turnout("check", file).code == 0
    strict = turnout("check", file, "--strict")
    assert strict.code == 1
    assert "warning[R003]" in strict.out


def test_json_tells_code_and_severity_too(tmp_path: Path) -> None:
    file = write(tmp_path / "x.behavior.json", {"behaviorRules": [{"name": "A"}, {"name": "A"}]})
    ended = turnout("check", file, "--json")
    assert (ended.code, ended.err) == (0, "")
    assert {(one["code"], one["severity"]) for one in ended.data["problems"]} == {
        ("M004", "note"),
        ("R003", "warning"),
    }


@pytest.mark.parametrize(
    "document",
    [
        {"behaviorGroups": [{"rules": [{"conditions": [{"type": "nope"}]}]}]},
        {"outputSet": [{"outputs": []}]},
        {"workflows": 1},
        {"workflowSteps": [{}]},
        {"httpCalls": [{}]},
        {"words": [{}]},
        {"steps": []},
    ],
    ids=lambda document: str(next(iter(document))),
)
def test_the_keys_of_a_file_tell_its_kind_where_its_name_does_not(tmp_path: Path, document: dict[str, object]) -> None:
    ended = turnout("check", write(tmp_path / "x.json", document))
    assert ended.code == 2
    assert "K005" not in ended.out


@pytest.mark.parametrize("content", ["", "{", "[]", '{"what": 1}', "\0", "5"])
def test_a_file_that_is_nothing_known_is_told_so(tmp_path: Path, content: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(content, encoding="utf-8")
    ended = turnout("check", file)
    assert ended.code == 2
    assert ended.out.startswith(file.as_posix())


def test_what_is_not_there_or_no_agent_is_told_so(tmp_path: Path) -> None:
    ended = turnout("check", tmp_path / "none", tmp_path, RULES)
    assert ended.code == 2
    assert "there is no such file" in ended.out
    assert "the folder holds no agent file" in ended.out


@settings(max_examples=50)
@given(
    content=st.binary(max_size=300),
    suffix=st.sampled_from(["", ".agent", ".workflow", ".behavior", ".output", ".httpcalls", ".dictionary"]),
)
def test_random_bytes_are_always_told_about(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str
) -> None:
    file = tmp_path_factory.mktemp("check") / f"x{suffix}.json"
    file.write_bytes(content)
    ended = turnout("check", file, "--json")
    assert ended.err == ""
    assert ended.code in (0, 2)
    assert (ended.code == 2) == any(one["severity"] == "error" for one in ended.data["problems"])
