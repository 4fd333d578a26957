"""`turnout convert` for whole agents: today's form of what others wrote years ago."""

import json
import os
import shutil
import zipfile
from itertools import permutations
from pathlib import Path

import pytest

import corpus
from doors import QUESTION, ROOT, WEATHER, Ended, copy_of_weather, edit, refused, turnout, write
from turnout.app import open_agent
from turnout.app.remaking import comparable
from turnout.engine.tasks import FunctionTask
from turnout.grammar.program import READERS
from turnout.rules.agents import AgentDefinition
from turnout.rules.folders import read_agent

AGENTS = [*corpus.NAMES, "samples/weather"]
TEXTS = sorted((ROOT / "samples").rglob("*.turnout"))


def folder_of(name: str) -> Path:
    return ROOT / name if name.startswith("samples") else corpus.folder(name)


def converted(agent: Path, to: str, out: Path, *more: str) -> Path:
    ended = turnout("convert", agent, "--to", to, "--out", out, *more)
    assert (ended.code, ended.out) == (0, ""), ended.err
    return out


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def read(agent: Path) -> AgentDefinition:
    return read_agent(agent, READERS)


def migrations(agent: AgentDefinition) -> list[str]:
    return [str(note) for note in agent.notes if note.code[0] == "M"]


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_of_any_age_becomes_the_same_agent_of_today(name: str, tmp_path: Path) -> None:
    source = folder_of(name)
    out = converted(source, "json", tmp_path / "json")
    before, after = read(source), read(out)
    assert (after.name, after.policy, after.steps) == (before.name, before.policy, before.steps)
    assert not migrations(after)
    assert not [note for note in after.notes if note.code == "A007"]
    assert not [file for file in files(out) if ".bot." in file or ".package." in file]
    assert files(converted(out, "json", tmp_path / "again")) == files(out)


@pytest.mark.parametrize("name", AGENTS)
def test_rules_and_outputs_of_any_age_become_texts_that_say_the_same(name: str, tmp_path: Path) -> None:
    source = folder_of(name)
    text = converted(source, "text", tmp_path / "text", "--prove")
    before, after = read(source), read(text)
    assert comparable(after) == comparable(before)
    assert not migrations(after)
    assert not [file for file in files(text) if file.endswith((".behavior.json", ".output.json"))]
    assert files(converted(text, "text", tmp_path / "again")) == files(text)


@pytest.mark.parametrize("name", AGENTS)
def test_text_to_json_to_text_is_stable(name: str, tmp_path: Path) -> None:
    text = converted(folder_of(name), "text", tmp_path / "text")
    there = converted(text, "json", tmp_path / "json")
    assert not migrations(read(there))
    assert files(converted(there, "text", tmp_path / "back")) == files(text)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.stem)
def test_a_text_becomes_the_folder_that_it_could_have_been(text: Path, tmp_path: Path) -> None:
    ended = turnout("convert", text, "--to", "json", "--out", tmp_path / "json", "--prove")
    assert ended.code == 0
    assert "there and back: equal" in ended.err
    assert f"left out of {text.name}: check (only texts have checks)" in ended.err
    brought = [FunctionTask(name, print) for name in ("orders", "tickets")]
    before, after = open_agent(text, brought).definition, open_agent(tmp_path / "json", brought).definition
    assert (after.name, comparable(after)) == (before.name, comparable(before))
    assert not migrations(after)
    again = converted(converted(tmp_path / "json", "text", tmp_path / "text"), "json", tmp_path / "again")
    assert files(again) == files(tmp_path / "json")


def test_a_converted_text_answers_as_before(tmp_path: Path) -> None:
    text = ROOT / "samples" / "weather.turnout"
    out = converted(text, "json", tmp_path / "json")
    said = [open_agent(agent).conversation().say_sync(QUESTION).texts for agent in (text, out)]
    assert said[0] == said[1]


def zipped(folder: Path, file: Path) -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in files(folder).items():
            archive.writestr(name.replace("/", "\\"), data)
    return file


def test_a_zip_is_opened_checked_run_and_converted_as_its_folder_is(tmp_path: Path) -> None:
    file = zipped(WEATHER, tmp_path / "weather.zip")
    assert open_agent(file).definition == open_agent(WEATHER).definition
    assert turnout("check", file) == turnout("check", WEATHER)
    said = [turnout("run", agent, "--say", "hello", "--seed", "1") for agent in (file, WEATHER)]
    assert said[0] == said[1]
    assert files(converted(file, "json", tmp_path / "a")) == files(converted(WEATHER, "json", tmp_path / "b"))


OLD_STEPS = [
    {
        "type": "eddi://ai.labs.rules",
        "config": {"uri": "eddi://ai.labs.behavior/behaviorstore/behaviorsets/b2?version=3", "_why": "kept"},
    },
    {"type": "ai.labs.output", "config": {"uri": "words.output.json"}},
    {"type": "weather", "config": {"uri": "eddi://own/store/b9?version=1", "key": "${env:KEY}"}, "timeoutMs": 5},
]
OUTPUTS = {"outputs": [{"key": "a", "occurrence": 1, "outputValues": ["x"]}], "_mine": [1, None, {"b": "ä\ud800"}]}


def old(folder: Path) -> Path:
    """A small agent in older spellings, with keys and files that are nobody's."""
    for name, document in {
        "a.bot.json": {"packages": ["eddi://ai.labs.package/packagestore/packages/w?version=3"], "channels": [1]},
        "a.descriptor.json": {},
        "notes.txt": "",
        "w/3/w.package.json": {"packageExtensions": OLD_STEPS},
        "w/3/b2.rules.json": {"behaviorRules": [{"name": "A", "actions": ["a"], "color": "red"}]},
        "w/3/words.output.json": OUTPUTS,
        "w/3/b9.property.json": {"of": "the task"},
        "w/3/unused.output.json": {"outputSet": []},
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, document)
    return folder


def document(file: Path) -> object:
    return json.loads(file.read_bytes())


def test_keys_endings_addresses_and_types_are_those_of_today(tmp_path: Path) -> None:
    out = converted(old(tmp_path / "old"), "json", tmp_path / "new")
    assert sorted(files(out)) == [
        "a.agent.json",
        "w/3/b2.behavior.json",
        "w/3/b9.property.json",
        "w/3/w.workflow.json",
        "w/3/words.output.json",
    ]
    assert document(out / "a.agent.json") == {
        "workflows": ["eddi://ai.labs.workflow/workflowstore/workflows/w?version=3"],
        "channels": [1],
    }
    assert document(out / "w/3/w.workflow.json") == {
        "workflowSteps": [
            {
                "type": "eddi://ai.labs.behavior",
                "config": {"uri": "eddi://ai.labs.rules/rulestore/rulesets/b2?version=3", "_why": "kept"},
            },
            {"type": "eddi://ai.labs.output", "config": {"uri": "words.output.json"}},
            OLD_STEPS[2],
        ]
    }


def test_keys_that_are_nobodys_and_files_of_own_tasks_are_kept(tmp_path: Path) -> None:
    source = old(tmp_path / "old")
    out = converted(source, "json", tmp_path / "new")
    match document(out / "w/3/b2.behavior.json"), document(out / "w/3/words.output.json"):
        case {"behaviorGroups": [{"rules": [rule]}]}, {"_mine": mine}:
            assert rule["color"] == "red"
            assert mine == OUTPUTS["_mine"]
        case other:
            pytest.fail(f"{other}")
    assert (out / "w/3/b9.property.json").read_bytes() == (source / "w/3/b9.property.json").read_bytes()


def test_a_step_names_the_text_of_its_rules(tmp_path: Path) -> None:
    out = converted(old(tmp_path / "old"), "text", tmp_path / "new")
    match document(out / "w/3/w.workflow.json"):
        case {"workflowSteps": [rules, outputs, _]}:
            assert rules["config"]["uri"] == "b2.behavior.turnout"
            assert outputs["config"]["uri"] == "words.output.turnout"
    assert (out / "w/3/b2.behavior.turnout").read_text(encoding="utf-8").startswith('rule "A" with color "red"')


def test_a_text_in_the_agents_folder_becomes_a_file_for_each_use_of_it(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path)
    text = (
        '# why\nrule "A"\n  when always\n  then a\n\noutput a\n  say "x"\n\ncheck "c"\n  turn\n    expect say nothing\n'
    )
    (agent / "all.turnout").write_text(text, encoding="utf-8")
    steps = [{"type": f"eddi://ai.labs.{task}", "config": {"uri": "all.turnout"}} for task in ("behavior", "output")]
    edit(agent / "weather.workflow.json", (), {"workflowSteps": steps})
    ended = turnout("convert", agent, "--to", "json", "--out", tmp_path / "new", "--prove")
    assert "left out of all.turnout: check (only texts have checks)" in ended.err
    assert "there and back: equal" in ended.err
    assert {"all.behavior.json", "all.output.json"} <= files(tmp_path / "new").keys()
    assert files(converted(agent, "text", tmp_path / "text"))["all.turnout"] == text.encode()


@pytest.mark.parametrize("names", list(permutations(("x.behavior.json", "x.rules.json", "x.json"))))
def test_files_that_want_one_name_are_told_apart(names: tuple[str, ...], tmp_path: Path) -> None:
    rules = {"behaviorGroups": [{"rules": [{"name": "A"}]}]}
    steps = []
    (tmp_path / "old").mkdir()
    for name in names:
        write(tmp_path / "old" / name, rules)
        steps.append({"type": "eddi://ai.labs.behavior", "config": {"uri": name}})
    write(tmp_path / "old" / "a.agent.json", {"workflows": ["a.workflow.json"]})
    write(tmp_path / "old" / "a.workflow.json", {"workflowSteps": steps})
    for to in ("json", "text"):
        out = converted(tmp_path / "old", to, tmp_path / to, "--prove")
        assert len(files(out)) == 5


def test_what_was_left_out_and_what_was_read_otherwise_is_told(tmp_path: Path) -> None:
    source = old(tmp_path / "old")
    ended = turnout("convert", source, "--to", "json", "--out", tmp_path / "new")
    assert "wrote 5 files" in ended.err
    assert "left out, for no step needs them: a.descriptor.json, notes.txt, w/3/unused.output.json" in ended.err
    assert "`packages` is read as `workflows`" in ended.err
    data = turnout("convert", source, "--to", "json", "--out", tmp_path / "again", "--json", "--prove").data
    assert data["dropped"] == ["a.descriptor.json", "notes.txt", "w/3/unused.output.json"]
    assert (tmp_path / "again" / "a.agent.json").as_posix() in data["files"]
    assert data["equal"] is True
    assert "M001" in {problem["code"] for problem in data["problems"]}


def nothing_written(ended: Ended, said: str, *folders: Path) -> bool:
    return refused(ended) and said in ended.err and not any(map(os.path.lexists, folders))


def test_a_whole_agent_needs_a_folder_to_be_written_to(tmp_path: Path) -> None:
    ended = turnout("convert", WEATHER, "--to", "json")
    assert refused(ended)
    assert "name a folder for them with `--out`" in ended.err
    write(tmp_path / "file", 1)
    assert nothing_written(turnout("convert", WEATHER, "--to", "json", "--out", tmp_path / "file"), "is no folder")
    zip_ = tmp_path / "new.zip"
    assert nothing_written(turnout("convert", WEATHER, "--to", "json", "--out", zip_), "is no folder", zip_)


@pytest.mark.parametrize("inner", ["", "new", "../weather/new", "link"])
def test_an_agent_is_never_written_into_its_own_folder(tmp_path: Path, inner: str) -> None:
    agent = copy_of_weather(tmp_path)
    (agent / "link").symlink_to(agent)
    before = files(agent)
    ended = turnout("convert", agent, "--to", "json", "--out", agent / inner, "--force")
    assert refused(ended)
    assert "is where the agent itself is read from" in ended.err
    assert files(agent) == before


def test_files_that_are_there_are_written_over_only_by_force(tmp_path: Path) -> None:
    out = tmp_path / "new"
    converted(WEATHER, "json", out)
    (out / "weather.agent.json").write_text("mine", encoding="utf-8")
    (out / "README").write_text("mine", encoding="utf-8")
    before = files(out)
    ended = turnout("convert", WEATHER, "--to", "json", "--out", out)
    assert refused(ended)
    assert f"`{out.as_posix()}/weather.agent.json` exists already" in ended.err
    assert files(out) == before
    converted(WEATHER, "json", out, "--force")
    assert files(out) == {**files(converted(WEATHER, "json", tmp_path / "other")), "README": b"mine"}


def test_an_agent_is_alone_in_its_folder(tmp_path: Path) -> None:
    out = converted(WEATHER, "text", tmp_path / "new")
    before = files(out)
    ended = turnout("convert", WEATHER, "--to", "json", "--out", out, "--force")
    assert refused(ended)
    assert "which is no part of what is written" in ended.err
    assert files(out) == before


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_nothing_else_is_taken_for_a_file_that_is_there(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "new"
    out.mkdir()
    if kind == "folder":
        (out / "weather.agent.json").mkdir()
    else:
        (tmp_path / "mine").write_text("mine", encoding="utf-8")
        (out / "weather.agent.json").symlink_to(tmp_path / "mine")
    ended = turnout("convert", WEATHER, "--to", "json", "--out", out, "--force")
    assert refused(ended)
    assert "is in the way" in ended.err
    assert [file.name for file in out.iterdir()] == ["weather.agent.json"]


def test_where_a_file_cannot_be_written_none_is(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path)
    long = "x" * 246 + ".json"  # its text has a longer name than files can have
    shutil.move(agent / "weather.behavior.json", agent / long)
    workflow = (agent / "weather.workflow.json").read_text(encoding="utf-8")
    (agent / "weather.workflow.json").write_text(workflow.replace("weather.behavior.json", long), encoding="utf-8")
    (tmp_path / "new").mkdir()
    ended = turnout("convert", agent, "--to", "text", "--out", tmp_path / "new")
    assert refused(ended)
    assert not list((tmp_path / "new").iterdir())


def test_an_agent_that_does_not_load_is_not_written(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path, onFailure="digets")
    (agent / "weather.output.json").write_text("{", encoding="utf-8")
    ended = turnout("convert", agent, "--to", "json", "--out", tmp_path / "new")
    assert nothing_written(ended, "error[J004]", tmp_path / "new")
    assert "digets" in ended.err


def test_parts_of_several_kinds_may_share_an_id(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path)
    workflow = (agent / "weather.workflow.json").read_text(encoding="utf-8")
    for kind in ("regulardictionary", "behavior", "httpcalls", "output"):
        workflow = workflow.replace(f"weather.{kind}.json", f"eddi://ai.labs.{kind}/store/sets/weather?version=1")
    (agent / "weather.workflow.json").write_text(workflow, encoding="utf-8")
    text = converted(agent, "text", tmp_path / "text")
    assert comparable(read(text)) == comparable(read(WEATHER))
    assert files(converted(converted(text, "json", tmp_path / "json"), "text", tmp_path / "again")) == files(text)


def test_what_a_text_says_and_no_step_asks_for_is_told(tmp_path: Path) -> None:
    text = tmp_path / "a.turnout"
    text.write_text('steps rules\n\nrule "A"\n  when always\n  then a\n\noutput a\n  say "x"\n', encoding="utf-8")
    ended = turnout("convert", text, "--to", "json", "--out", tmp_path / "new")
    assert "left out of a.turnout: outputs (no step asks for them)" in ended.err


def test_the_file_of_an_own_task_keeps_its_name(tmp_path: Path) -> None:
    source = old(tmp_path / "old")
    mine = write(source / "w" / "3" / "b2.behavior.json", {"of": "the task"})
    steps = [{**OLD_STEPS[0], "config": {"uri": "b2.rules.json"}}, {"type": "mine", "config": {"uri": mine.name}}]
    write(source / "w" / "3" / "w.package.json", {"packageExtensions": steps})
    out = converted(source, "json", tmp_path / "new", "--prove")
    assert files(out)["w/3/b2.behavior.json"] == mine.read_bytes()
    assert b'"name": "A"' in files(out)["w/3/b2.rules.json"]
