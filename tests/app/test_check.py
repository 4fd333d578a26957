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
    assert "warning[S003]" in strict.out


def test_json_tells_code_and_severity_too(tmp_path: Path) -> None:
    file = write(tmp_path / "x.behavior.json", {"behaviorRules": [{"name": "A"}, {"name": "A"}]})
    ended = turnout("check", file, "--json")
    assert (ended.code, ended.err) == (0, "")
    assert {(one["code"], one["severity"]) for one in ended.data["problems"]} == {
        ("M004", "note"),
        ("S003", "warning"),
        ("L023", "warning"),
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


FALLBACK = """\
policy
  on failure digest
  continue after failure
  reroute off
steps llm, weather, rules, output
rule "Any failure"
  when any of (task weather failed or task llm failed)
  then sorry
rule "Typo"
  when task wether failed this turn
  then sorry
rule "Weather is down"
  when task weather failed this turn
   and user says weather(*)
  then sorry
output sorry
  say "Sorry."
"""


def test_findings_in_a_text_show_what_they_are_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fallback.turnout").write_text(FALLBACK, encoding="utf-8")
    ended = turnout("check", "fallback.turnout", "--strict")
    assert (ended.code, ended.err) == (1, "2 warnings, 1 note\n")
    assert ended.out == (
        """\
fallback.turnout:10:13: warning[L021]: no task is called `wether`
  10 |   when task wether failed this turn
     |             ^^^^^^ did you mean `weather`? (tasks: llm, weather)
fallback.turnout:12:1: warning[L022]: rule "Weather is down" can never be reached
  12 | rule "Weather is down"
     | ^^^^ "Any failure" (line 6) is earlier in this first-match group and matches whenever this one does
  help: move it above line 6, or make the group `all matches`
fallback.turnout:5:7: note[A017]: `L030`, `L031`, `L032` and `L033` are not looked for
  5 | steps llm, weather, rules, output
    |       ^^^ tasks of your own may emit any action, and may answer it
"""
    )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            "set apend_actions on",
            """1:5: error[K001]: there is no key `apend_actions` here
  1 | set apend_actions on
    |     ^^^^^^^^^^^^^ did you mean `appendActions`?
""",
        ),
        (
            'rule "A" when size of properties.x is between 5 and 3 then b',
            """1:23: warning[V008]: `sizematcher` in rule `A`: its bounds can never hold
  1 | rule "A" when size of properties.x is between 5 and 3 then b
    |                       ^^^^^^^^^^^^ let the lower bound be at most the upper one
""",
        ),
        (
            'rule "A" when action a then b\nrule "A" when action b then c',
            """2:6: warning[S003]: there is more than one rule `A`; what counts it or depends on it means all of them
  2 | rule "A" when action b then c
    |      ^^^ give each rule its own name
""",
        ),
    ],
    ids=["K", "V", "S"],
)
def test_what_loading_finds_in_a_text_shows_what_it_is_about(tmp_path: Path, wrong: str, told: str) -> None:
    file = tmp_path / "a.turnout"
    file.write_text(wrong, encoding="utf-8")
    assert turnout("check", file).out == f"{file.as_posix()}:{told}"


def test_what_an_author_named_is_never_taken_for_a_setting(tmp_path: Path) -> None:
    file = tmp_path / "a.turnout"
    file.write_text('rule "`executeAll`" when always then a\nrule "{line}" when action b then a\n', encoding="utf-8")
    out = turnout("check", file).out
    assert 'rule "`executeAll`" has no conditions' in out
    assert "make the group `all matches`" in out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            (
                "policy on failure exclude_all continue after failure steps weather, rules {} "
                'rule "B" when task weather failed mentioning "503" then a'
            ),
            "`on failure` is `exclude_all`",
        ),
        ("policy stop after failure steps weather, rules {}", "say `previous turn`, or set `continue after failure`"),
        ("policy continue after failure reroute off steps rules, weather {}", "and `reroute` is off"),
        ("policy disabled continue after failure steps weather, rules {}", "`continue after failure` has no effect"),
        ("policy disabled continue after failure steps weather, rules {}", "take `disabled` out"),
        ("steps weather, rules {}", "write `policy` with `continue after failure`"),
        (
            (
                "policy continue after failure set append_actions off steps weather, rules, output {} "
                "output task_failed_weather say nothing"
            ),
            "`append_actions` is off, so these rules drop `task_failed_weather` when they fire",
        ),
    ],
)
def test_an_author_of_a_text_is_told_of_settings_by_their_words_there(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "a.turnout"
    rule = 'rule "A" when action task_failed_weather then a'
    file.write_text(text.format(rule), encoding="utf-8")
    assert told in turnout("check", file).out


def test_findings_as_json_say_the_same_in_one_message(tmp_path: Path) -> None:
    file = tmp_path / "fallback.turnout"
    file.write_text(FALLBACK, encoding="utf-8")
    found = turnout("check", file, "--json").data["problems"]
    assert [(one["code"], one["line"], one["column"]) for one in found] == [
        ("L021", 10, 13),
        ("L022", 12, 1),
        ("A017", 5, 7),
    ]
    assert found[1]["message"].endswith("and matches whenever this one does")
    assert set(found[0]) == {"code", "severity", "file", "line", "column", "message", "hint"}


def test_a_silenced_finding_is_counted_and_not_told(tmp_path: Path) -> None:
    file = tmp_path / "fallback.turnout"
    quiet = FALLBACK.replace('rule "Weather is down"', 'rule "Weather is down" with _silence ["L022"]')
    file.write_text(quiet.replace("wether failed this turn", "llm failed previous turn"))
    ended = turnout("check", file, "--strict")
    assert ended.err.endswith(", 1 silenced\n")
    assert turnout("check", file, "--json").data["silenced"] == 1


def test_an_agent_is_checked_as_a_whole_and_a_file_alone(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path, continueOnFailure=False)
    assert "warning[L001]" in turnout("check", agent).out
    assert turnout("check", agent / "weather.behavior.json").out == ""


def test_a_rule_set_that_does_not_load_has_no_findings(tmp_path: Path) -> None:
    rules = [{"name": "A"}, {"name": "B", "conditions": [{"type": "nope"}]}]
    file = write(tmp_path / "x.behavior.json", {"behaviorGroups": [{"rules": rules}]})
    ended = turnout("check", file)
    assert ended.code == 2
    assert "[L" not in ended.out


@pytest.mark.parametrize("kind", ["mcpcalls", "rag"])
def test_a_kind_of_file_that_is_not_read_yet_is_a_note(tmp_path: Path, kind: str) -> None:
    ended = turnout("check", write(tmp_path / f"x.{kind}.json", {"setOnActions": []}), "--strict")
    assert ended.code == 0
    assert "are not read yet" in ended.out


def test_the_config_of_a_step_is_checked_without_its_folder(tmp_path: Path) -> None:
    step = {"type": "eddi://ai.labs.behavior", "config": {"uri": "x", "appendActoins": True}}
    ended = turnout("check", write(tmp_path / "x.workflow.json", {"workflowSteps": [step]}))
    assert ended.code == 2
    assert "did you mean `appendActions`?" in ended.out


def test_of_a_folder_without_an_agent_all_agents_and_texts_in_it_are_checked(tmp_path: Path) -> None:
    copy_of_weather(tmp_path, continueOnFailure=False)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "fallback.turnout").write_text(FALLBACK, encoding="utf-8")
    found = {one["code"] for one in turnout("check", tmp_path, "--json").data["problems"]}
    assert found == {"L001", "L021", "L022", "A017"}


def test_a_folder_with_nothing_in_it_is_no_agent(tmp_path: Path) -> None:
    assert "A002" in turnout("check", tmp_path).out


def test_all_samples_are_clean() -> None:
    assert turnout("check", WEATHER.parent, "--strict").code == 0


@pytest.mark.parametrize("steps", ["", "steps parser, rules, output\n"])
def test_what_keeps_the_checks_of_a_text_from_being_run_is_told(tmp_path: Path, steps: str) -> None:
    file = tmp_path / "x.turnout"
    text = f'{steps}rule "A" when user says a then CONVERSATION_END\ncheck "C" turn expect rule "B" fires\n'
    file.write_text(text, encoding="utf-8")
    ended = turnout("check", file)
    assert ended.code == 2
    assert "error[C002]" in ended.out


def test_what_is_not_looked_for_is_told_once_of_an_agent_with_tasks_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "x.turnout"
    file.write_text('steps rules, one, two, output\nrule "A" when always then a\n', encoding="utf-8")
    (note,) = (one for one in turnout("check", file, "--json").data["problems"] if one["code"] == "A017")
    assert (note["severity"], note["line"], note["column"]) == ("note", 1, 14)
    assert note["message"].startswith("`L030`, `L031`, `L032` and `L033` are not looked for")
