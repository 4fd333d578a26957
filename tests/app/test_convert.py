"""`turnout convert`: rules and outputs from JSON to text and back."""

import json
from pathlib import Path

import pytest

from doors import RULES, WEATHER, refused, turnout, write
from turnout.rules.reading import read_output_set, read_rule_set

OUTPUTS = WEATHER / "weather.output.json"


@pytest.mark.parametrize("file", [RULES, OUTPUTS], ids=lambda file: file.name)
def test_a_file_goes_to_text_and_back(file: Path, tmp_path: Path) -> None:
    there = turnout("convert", file, "--to", "text", "--out", tmp_path, "--prove")
    assert (there.code, there.out) == (0, "")
    assert "there and back: equal" in there.err
    back = turnout("convert", tmp_path / "weather.turnout", "--to", "json")
    read = read_rule_set if file is RULES else read_output_set
    assert read(back.out).model == read(file.read_bytes()).model


def test_a_text_of_rules_and_outputs_becomes_two_files(tmp_path: Path) -> None:
    file = tmp_path / "a.turnout"
    file.write_text('# why\nrule "A"\n  when always\n  then a\n\noutput a\n  say "x"\n\ncheck "c"\n  turn\n')
    assert refused(turnout("convert", file, "--to", "json"))
    ended = turnout("convert", file, "--to", "json", "--out", tmp_path)
    assert ended.code == 0
    assert "left out, for rules and outputs have no place for it: check (only texts have checks)" in ended.err
    rules = json.loads((tmp_path / "a.behavior.json").read_text())
    assert rules["behaviorGroups"][0]["rules"][0]["_comments"] == [[0, False, " why"]]
    assert json.loads((tmp_path / "a.output.json").read_text())["outputSet"][0]["action"] == "a"
    data = turnout("convert", file, "--to", "json", "--json").data
    assert (data["rules"], data["dropped"]) == (rules, ["check"])


def test_prove_names_the_quirks_that_were_met(tmp_path: Path) -> None:
    condition = {
        "type": "connector",
        "configs": {"operator": "and"},
        "conditions": [{"type": "dependency", "configs": {"reference": "B"}}],
    }
    rule = {"name": "", "actions": ["a", "a"], "conditions": [condition]}
    file = write(
        tmp_path / "x.behavior.json", {"behaviorGroups": [{"name": None, "rules": [rule, {"conditions": []}]}]}
    )
    data = turnout("convert", file, "--to", "text", "--prove", "--json").data
    assert data["equal"] is True
    for words in (
        "`operator` with the value",
        "`name` with",
        "`conditions` with",
        "always fires",
        "emitted once",
        "asks the rule anew",
    ):
        assert any(words in quirk for quirk in data["quirks"]), words


def test_comments_come_back(tmp_path: Path) -> None:
    rules = [{"name": "A", "_comments": [[0, False, " why"], [4, True, " ever"]]}, {"name": "B", "actions": ["b"]}]
    file = write(tmp_path / "x.behavior.json", {"behaviorRules": rules})
    assert turnout("convert", file, "--to", "text", "--prove", "--json").data["equal"] is True
    text = tmp_path / "x.turnout"
    text.write_text('# a\nrule "A"\n  when always  # b\n  then a\n\n# c\noutput a  # d\n  say "x"\n# e\n')
    assert turnout("convert", text, "--to", "json", "--prove", "--json").data["equal"] is True


def test_rules_and_outputs_of_one_text_can_be_proved_without_a_place_to_write_to(tmp_path: Path) -> None:
    text = tmp_path / "x.turnout"
    text.write_text('rule "A"\n  when always\n  then a\n\noutput a\n  say "x"\n')
    ended = turnout("convert", text, "--to", "json", "--prove")
    assert (ended.code, ended.out) == (0, "")
    assert "there and back: equal" in ended.err


def test_a_file_that_is_there_is_written_over_only_by_force(tmp_path: Path) -> None:
    taken = tmp_path / "weather.turnout"
    taken.write_text("mine")
    for out in (taken, tmp_path):
        ended = turnout("convert", RULES, "--to", "text", "--out", out)
        assert refused(ended)
        assert f"`{taken.as_posix()}` exists already" in ended.err
        assert taken.read_text() == "mine"
    assert turnout("convert", RULES, "--to", "text", "--out", taken, "--force").code == 0
    assert taken.read_text().startswith("group")


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    assert turnout("convert", RULES, "--to", "text", "--out", tmp_path / "new" / "inner").code == 0
    assert (tmp_path / "new" / "inner" / "weather.turnout").is_file()


@pytest.mark.parametrize(
    "arguments",
    [
        (RULES, "--to", "json"),
        (RULES, "--to", "yaml"),
        (WEATHER / "weather.agent.json", "--to", "text"),
        (WEATHER, "--to", "text"),
        (WEATHER / "none.behavior.json", "--to", "text"),
    ],
)
def test_what_has_no_other_form_is_refused(arguments: tuple[object, ...]) -> None:
    assert refused(turnout("convert", *arguments))


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    assert refused(turnout("convert", RULES, "--to", "text", "--out", tmp_path / "no" / "a.turnout"))


def test_a_file_that_does_not_load_is_refused(tmp_path: Path) -> None:
    broken = write(tmp_path / "x.behavior.json", {"behaviorGroups": [{"rules": [{"conditions": [{"type": "x"}]}]}]})
    assert refused(turnout("convert", broken, "--to", "text"))
    text = tmp_path / "x.turnout"
    text.write_text('rule "A" then a')
    assert refused(turnout("convert", text, "--to", "json"))
