"""An agent's folder to the agent that it describes."""

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turnout.rules.agents import (
    HttpCallsFile,
    ParserSettings,
    RulesSettings,
)
from turnout.rules.errors import LoadError, Problem
from turnout.rules.findings import CODES
from turnout.rules.folders import read_agent
from turnout.rules.outputs import OutputSet

RULES = {"behaviorGroups": [{"rules": [{"name": "Greet", "actions": ["greet"]}]}]}
OUTPUTS = {"outputSet": [{"action": "greet", "outputs": [{"valueAlternatives": [{"type": "text", "text": "Hi"}]}]}]}
STEPS = [
    {"type": "eddi://ai.labs.behavior", "config": {"uri": "rules.behavior.json", "appendActions": False}},
    {"type": "weather", "timeoutMs": 500},
    {"type": "eddi://ai.labs.output", "config": {"uri": "replies.output.json"}},
]


def write(folder: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return folder


def agent(folder: Path, steps: object = STEPS, **files: object) -> Path:
    """A small agent; `files` are added, or replace those of the agent, by name with `__` for the dots."""
    small = {
        "hello.agent.json": {"workflows": ["hello.workflow.json"]},
        "hello.workflow.json": {"workflowSteps": steps},
        "rules.behavior.json": RULES,
        "replies.output.json": OUTPUTS,
    }
    return write(folder, {**small, **{name.replace("__", "."): content for name, content in files.items()}})


def problems(folder: Path) -> tuple[Problem, ...]:
    with pytest.raises(LoadError) as raised:
        read_agent(folder)
    assert all(problem.code in CODES for problem in raised.value.problems)
    return raised.value.problems


def codes(folder: Path) -> list[str]:
    return [problem.code for problem in problems(folder)]


def test_steps_are_resolved_in_order(tmp_path: Path) -> None:
    hello = read_agent(agent(tmp_path))
    assert (hello.name, hello.notes) == ("hello", ())
    rules, weather, output = hello.steps
    assert rules.task == "ai.labs.behavior"
    assert isinstance(rules.settings, RulesSettings)
    assert rules.settings.append_actions is False
    assert rules.settings.expressions_as_actions is None
    assert (weather.task, weather.settings, weather.timeout_ms) == ("weather", None, 500)
    assert isinstance(output.settings, OutputSet)


@pytest.mark.parametrize(
    ("written", "task"),
    [
        ("weather", "weather"),
        ("eddi://weather", "weather"),
        ("eddi://ai.labs.mcpcalls", "ai.labs.mcpcalls"),
    ],
)
def test_a_task_that_is_not_built_in_has_no_settings(tmp_path: Path, written: str, task: str) -> None:
    (step,) = read_agent(agent(tmp_path, [{"type": written, "config": {"anything": {"goes": 1}}}])).steps
    assert (step.task, step.settings) == (task, None)


def test_what_a_foreign_task_is_given_is_its_own_affair(tmp_path: Path) -> None:
    step = {"type": "weather", "config": {"url": "http://localhost:1", "appendAction": 1}}
    assert read_agent(agent(tmp_path, [*STEPS, step])).notes == ()


def test_a_misspelt_key_of_a_built_in_step_is_refused(tmp_path: Path) -> None:
    config = {"uri": "rules.behavior.json", "apendActions": False, "color": "red"}
    found = problems(agent(tmp_path, [{"type": "eddi://ai.labs.behavior", "config": config}]))
    assert [(problem.code, problem.severity) for problem in found] == [("K001", "error"), ("K002", "warning")]
    assert found[0].hint == "did you mean `appendActions`?"


def test_an_alias_does_not_change_the_id_of_a_task(tmp_path: Path) -> None:
    step = {"type": "eddi://ai.labs.apicalls", "config": {"uri": "calls.httpcalls.json"}}
    calls = {"targetServerUrl": "http://localhost:1"}
    (step_read,) = read_agent(agent(tmp_path, [step], calls__httpcalls__json=calls)).steps
    assert step_read.task == "ai.labs.httpcalls"
    assert isinstance(step_read.settings, HttpCallsFile)


@pytest.mark.parametrize("written", ["", "eddi://", "a,b", "a b", "a\tb"])
def test_a_task_id_has_no_comma_and_no_blank(tmp_path: Path, written: str) -> None:
    (problem,) = problems(agent(tmp_path, [{"type": written}]))
    assert problem.code == "A009"
    assert (problem.line, problem.column) == (4, 12)


def test_a_parser_has_its_dictionaries(tmp_path: Path) -> None:
    references = [{"type": "eddi://ai.labs.parser.dictionaries.regular", "config": {"uri": "words.dictionary.json"}}]
    steps = [{"type": "eddi://ai.labs.parser", "extensions": {"dictionaries": references}}]
    words = {"words": [{"word": "hello", "expressions": "greeting(hello)"}]}
    (step,) = read_agent(agent(tmp_path, steps, words__dictionary__json=words)).steps
    assert isinstance(step.settings, ParserSettings)
    assert [word.word for word in step.settings.dictionaries[0].words] == ["hello"]


def exported(folder: Path, version: int = 1) -> Path:
    """An agent as the reference exports it, with descriptors beside its files."""
    steps = [
        {
            "type": "eddi://ai.labs.behavior",
            "config": {"uri": f"eddi://ai.labs.rules/rulestore/rulesets/b2?version={version}"},
        }
    ]
    return write(
        folder,
        {
            "a1.agent.json": {"workflows": [f"eddi://ai.labs.workflow/workflowstore/workflows/w1?version={version}"]},
            "a1.descriptor.json": {"name": "Hello"},
            f"w1/{version}/w1.workflow.json": {"workflowSteps": steps},
            f"w1/{version}/w1.descriptor.json": {},
            f"w1/{version}/b2.behavior.json": RULES,
            f"w1/{version}/b2.descriptor.json": {},
        },
    )


def test_an_address_is_found_by_its_id(tmp_path: Path) -> None:
    read = read_agent(exported(tmp_path))
    assert [step.task for step in read.steps] == ["ai.labs.behavior"]
    assert read.notes == ()


def test_of_several_versions_the_one_of_the_address_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"w1/1/w1.workflow.json": {"workflowSteps": []}, "w1/1/b2.behavior.json": {}})
    (step,) = read_agent(exported(tmp_path, 2)).steps
    assert isinstance(step.settings, RulesSettings)
    assert step.settings.rule_set.behavior_groups


def test_another_version_than_the_one_of_the_address_is_read_and_told(tmp_path: Path) -> None:
    folder = exported(tmp_path)
    address = "eddi://ai.labs.workflow/workflowstore/workflows/w1?version=7"
    write(folder, {"a1.agent.json": {"workflows": [address]}})
    (note,) = read_agent(folder).notes
    assert (note.code, note.severity) == ("A019", "note")
    assert note.message == f"`{address}` names a version that is not here, and version 1 is read"
    assert (Path(note.file).name, note.line) == ("a1.agent.json", 3)


def test_the_version_of_a_workflow_says_nothing_of_the_files_beside_it(tmp_path: Path) -> None:
    folder = exported(tmp_path)
    rules = {"type": "eddi://ai.labs.behavior", "config": {"uri": "eddi://x/rulesets/b2?version=4"}}
    write(folder, {"w1/1/w1.workflow.json": {"workflowSteps": [rules]}})
    assert read_agent(folder).notes == ()


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"hello.agent.json": {}}, 1),
        ({"hello.agent.json": {"workflows": []}}, 1),
        ({"hello.workflow.json": {"workflowSteps": []}}, 2),
        ({"hello.workflow.json": {"workflowSteps": [{"type": "git://x"}]}}, 2),
    ],
)
def test_an_agent_without_a_step_is_warned_of(tmp_path: Path, files: dict[str, object], line: int) -> None:
    notes = read_agent(write(agent(tmp_path), files)).notes
    (warning,) = [note for note in notes if note.code == "A020"]
    assert (warning.severity, Path(warning.file).name, warning.line) == ("warning", "hello.agent.json", line)
    assert warning.message == "the agent has no step, so it never answers"


def test_a_name_with_backslashes_is_told_the_other_slash(tmp_path: Path) -> None:
    folder = write(agent(tmp_path), {"inner/rules.behavior.json": RULES})
    address = "inner\\rules.behavior.json"
    (problem,) = problems(agent(folder, [{"type": "eddi://ai.labs.behavior", "config": {"uri": address}}]))
    assert (problem.code, problem.hint) == ("A004", "write `/` in place of `\\`")


def test_an_id_that_fits_two_files_is_refused(tmp_path: Path) -> None:
    write(exported(tmp_path), {"w1/1/b2.rules.json": RULES})
    assert codes(tmp_path) == ["A005"]


def test_the_policy_stands_at_the_top_of_the_agent(tmp_path: Path) -> None:
    policy = {"strictWriteDiscipline": {"enabled": True, "onFailure": "exclude_all", "continueOnFailure": True}}
    document = {"workflows": [], "memoryPolicy": policy}
    read = read_agent(agent(tmp_path, hello__agent__json=document)).policy
    assert (read.enabled, read.on_failure, read.continue_on_failure, read.reroute_on_failure) == (
        True,
        "exclude_all",
        True,
        True,
    )


def test_a_folder_without_an_agent_is_refused(tmp_path: Path) -> None:
    assert codes(tmp_path) == ["A002"]
    assert codes(tmp_path / "gone") == ["A001"]
    write(tmp_path, {"file": ""})
    assert codes(tmp_path / "file") == ["A001"]


def test_several_agents_in_one_folder_are_refused(tmp_path: Path) -> None:
    (problem,) = problems(agent(tmp_path, other__agent__json={}))
    assert problem.code == "A003"
    assert "`hello.agent.json` and `other.agent.json`" in problem.message


def test_a_missing_file_is_told_where_it_is_named(tmp_path: Path) -> None:
    folder = agent(tmp_path, [{"type": "eddi://ai.labs.behavior", "config": {"uri": "gone.json"}}])
    (problem,) = problems(folder)
    assert problem.code == "A004"
    assert problem.file.endswith("hello.workflow.json")
    assert (problem.line, problem.column) == (6, 12)
    (tmp_path / "hello.workflow.json").unlink()
    assert codes(folder) == ["A004"]


def test_a_built_in_step_needs_its_file(tmp_path: Path) -> None:
    assert codes(agent(tmp_path, [{"type": "eddi://ai.labs.output"}])) == ["A008"]


@pytest.mark.parametrize(
    "address", ["../secret.json", "a/../../secret.json", "/etc/passwd", "C:\\x.json", "..\\x.json"]
)
def test_nothing_outside_the_folder_is_read(tmp_path: Path, address: str) -> None:
    write(tmp_path, {"secret.json": RULES})
    folder = agent(tmp_path / "agent", [{"type": "eddi://ai.labs.behavior", "config": {"uri": address}}])
    assert codes(folder) == ["A006"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside/rules.json": RULES})
    folder = agent(tmp_path / "agent", [{"type": "eddi://ai.labs.behavior", "config": {"uri": "link.json"}}])
    (folder / "link.json").symlink_to(tmp_path / "outside" / "rules.json")
    (folder / "inner").symlink_to(tmp_path / "outside")
    assert codes(folder) == ["A015"]
    inner = agent(tmp_path / "agent", [{"type": "eddi://ai.labs.behavior", "config": {"uri": "inner/rules.json"}}])
    assert codes(inner) == ["A004"]


def test_a_link_that_an_address_means_by_its_id_is_told_as_such(tmp_path: Path) -> None:
    folder = exported(tmp_path / "agent")
    file = folder / "w1" / "1" / "b2.behavior.json"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    (problem,) = problems(folder)
    assert problem.code == "A015"
    assert (
        problem.message
        == "`eddi://ai.labs.rules/rulestore/rulesets/b2?version=1` is a link, and links are not followed"
    )


@pytest.mark.parametrize("address", ["x" * 5000, "eddi://a\0b/c", "eddi://", "a\nb", "eddi://x/" + "y" * 5000, "."])
def test_an_odd_address_is_a_missing_file(tmp_path: Path, address: str) -> None:
    assert codes(agent(tmp_path, [{"type": "eddi://ai.labs.behavior", "config": {"uri": address}}])) == ["A004"]


def test_all_problems_of_all_files_are_told_in_one_run(tmp_path: Path) -> None:
    folder = agent(tmp_path, rules__behavior__json='{"behaviorGroups": [', replies__output__json='{"a": "\x01"}')
    assert [(Path(problem.file).name, problem.code) for problem in problems(folder)] == [
        ("rules.behavior.json", "J004"),
        ("replies.output.json", "J005"),
    ]


def test_what_cannot_be_reached_any_more_is_read_as_well(tmp_path: Path) -> None:
    folder = agent(tmp_path, hello__workflow__json="{", replies__output__json={"outputset": []})
    assert codes(folder) == ["J004", "K001"]


def test_a_file_that_nothing_refers_to_is_a_note(tmp_path: Path) -> None:
    folder = agent(tmp_path, other__output__json=OUTPUTS, README="hello", other__descriptor__json={})
    (note,) = read_agent(folder).notes
    assert (note.code, note.severity, Path(note.file).name) == ("A007", "note", "other.output.json")


def test_the_file_of_a_foreign_task_counts_as_used(tmp_path: Path) -> None:
    step = {"type": "weather", "config": {"uri": "eddi://x/y/set?version=1"}}
    assert read_agent(agent(tmp_path, [*STEPS, step], set__property__json={})).notes == ()


def test_a_step_of_another_scheme_is_skipped(tmp_path: Path) -> None:
    read = read_agent(agent(tmp_path, [{"type": "https://example.test/x"}, {"type": "weather"}]))
    assert [step.task for step in read.steps] == ["weather"]
    assert [(note.code, note.severity) for note in read.notes if note.code != "A007"] == [("A012", "warning")]


def test_a_misspelt_uri_is_one_problem(tmp_path: Path) -> None:
    dictionary = {"type": "eddi://ai.labs.parser.dictionaries.regular", "config": {"uris": "words.dictionary.json"}}
    steps = [
        {"type": "eddi://ai.labs.behavior", "config": {"urii": "rules.behavior.json"}},
        {"type": "eddi://ai.labs.parser", "extensions": {"dictionaries": [dictionary]}},
    ]
    assert codes(agent(tmp_path, steps)) == ["K001", "K001"]


def test_a_file_of_another_kind_is_told_as_such(tmp_path: Path) -> None:
    (problem,) = problems(agent(tmp_path, [{"type": "ai.labs.httpcalls", "config": {"uri": "replies.output.json"}}]))
    assert problem.code == "A014"
    assert problem.message == "`replies.output.json` is an output set, and a set of calls is needed here"


@pytest.mark.parametrize(("kind", "said"), [("link", "links are not followed"), ("folder", "a folder"), ("fifo", "no")])
def test_what_only_has_the_name_of_an_agent_file_is_told_as_such(tmp_path: Path, kind: str, said: str) -> None:
    agent(tmp_path)
    file = tmp_path / "hello.agent.json"
    file.rename(tmp_path / "elsewhere")
    match kind:
        case "link":
            file.symlink_to(tmp_path / "elsewhere")
        case "folder":
            file.mkdir()
        case _:
            os.mkfifo(file)
    (problem,) = problems(tmp_path)
    assert problem.code == "A015"
    assert said in problem.message


def test_a_rule_set_in_two_steps_is_read_once(tmp_path: Path) -> None:
    first, second = read_agent(agent(tmp_path, [STEPS[0], STEPS[0], STEPS[2]])).steps[:2]
    assert isinstance(first.settings, RulesSettings)
    assert isinstance(second.settings, RulesSettings)
    assert first.settings.rule_set is second.settings.rule_set


def test_a_file_used_as_two_things_is_refused(tmp_path: Path) -> None:
    both = {"uri": "both.json"}
    steps = [
        {"type": "eddi://ai.labs.rules", "config": both},
        {"type": "eddi://ai.labs.output", "config": both},
    ]
    assert "A014" in codes(agent(tmp_path, steps, both__json=RULES))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    folder = agent(tmp_path)
    (folder / "rules.behavior.json").chmod(0)
    assert codes(folder) == ["A001"]


@given(
    st.dictionaries(st.sampled_from(["hello.agent.json", "hello.workflow.json", "rules.behavior.json"]), st.binary())
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=50)
def test_a_folder_of_random_bytes_is_a_load_error_at_worst(tmp_path: Path, files: dict[str, bytes]) -> None:
    folder = agent(tmp_path)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with suppress(LoadError):
        read_agent(folder)


def test_an_agent_one_folder_below_is_pointed_at(tmp_path: Path) -> None:
    agent(tmp_path / "inner")
    (problem,) = problems(tmp_path)
    assert (problem.code, "`inner/hello.agent.json`" in problem.message) == ("A002", True)


def test_a_folder_where_a_file_is_named_is_told_as_such(tmp_path: Path) -> None:
    folder = agent(tmp_path, [{"type": "eddi://ai.labs.behavior", "config": {"uri": "rules"}}])
    (folder / "rules").mkdir()
    (problem,) = problems(folder)
    assert (problem.code, problem.message) == ("A015", "`rules` is a folder")


def test_of_files_with_one_id_the_one_that_is_named_as_its_kind_is_read(tmp_path: Path) -> None:
    write(exported(tmp_path), {"w1/1/b2.json": {"anything": "else"}})
    (step,) = read_agent(tmp_path).steps
    assert isinstance(step.settings, RulesSettings)


def test_a_path_that_no_system_has_is_told(tmp_path: Path) -> None:
    assert codes(tmp_path / "a\0b") == ["A001"]
