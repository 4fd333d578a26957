"""Replay: recorded conversations against changed rules, and only the turns that would have gone another way."""

import asyncio
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from building import agent, failing, on_action, output, parser, rules, step
from doors import ROOT, turnout
from turnout.app import open_agent
from turnout.app.replaying import Changed, changed
from turnout.engine.agents import Agent
from turnout.engine.memory import Memory
from turnout.engine.records import dump
from turnout.engine.steps import Outcome, Step
from turnout.engine.stores import Head, open_store
from turnout.engine.tasks import FunctionTask

SAID = ["hello", "What's the weather in Vienna?", "Vienna", "What's the weather in Vienna?", "", "bye"]
MANY = [f"text {number}" for number in range(20)]


def recorded(made: Agent, *said: str, start: bool = True) -> Memory:
    conversation = made.conversation(chance=random.Random())
    if start:
        conversation.start_sync()
    for text in said:
        conversation.say_sync(text)
    return conversation.memory


def found(made: Agent, memory: Memory) -> list[Changed]:
    return list(changed(made.definition, memory))


@pytest.mark.parametrize("sample", ["weather", "weather.turnout"])
def test_the_same_rules_change_nothing(sample: str) -> None:
    made = open_agent(ROOT / "samples" / sample)
    memory = recorded(made, *SAID)
    before = dump(memory)
    assert found(made, memory) == []
    assert dump(memory) == before
    assert memory.undoable


def test_alternatives_are_drawn_as_they_were() -> None:
    made = agent(rules([{"name": "r", "actions": ["a"]}]), _alternatives(), tasks=[])
    memory = recorded(made, *"0123456789", start=False)
    assert found(made, memory) == []


def _alternatives() -> Any:
    from turnout.rules.agents import StepDefinition
    from turnout.rules.reading import read_output_set

    items = [{"type": "text", "text": text} for text in MANY]
    entry = {"action": "a", "outputs": [{"valueAlternatives": items}]}
    return StepDefinition(task="ai.labs.output", settings=read_output_set({"outputSet": [entry]}).model)


def made_of(*asked: dict[str, Any], tasks: list[FunctionTask] | None = None) -> Agent:
    return agent(parser(), rules(list(asked)), step("work"), output(sorry="Sorry.", other="Other."), tasks=tasks or [])


def test_a_rule_that_fires_instead_is_named_with_the_turn() -> None:
    old = on_action("Down", "task_failed_work", "sorry")
    memory = recorded(made_of(old, tasks=[failing("work")]), "one", "two", start=False)
    new = on_action("Broken", "task_failed_work", "other")
    first, second = found(made_of(new, tasks=[failing("work")]), memory)
    assert (first.number, first.input, first.rules) == (0, "one", ("Down", "Broken"))
    assert (second.number, second.input) == (1, "two")
    assert [_texts(told.replies) for told in (first.before, first.after)] == [["Sorry."], ["Other."]]


def _texts(replies: Any) -> list[str]:
    return [reply["text"] for reply in replies]


@pytest.mark.parametrize("task", ["ai.labs.parser", "ai.labs.behavior", "ai.labs.output"])
def test_a_built_in_task_that_failed_fails_again(task: str) -> None:
    made = open_agent(ROOT / "samples" / "weather")
    memory = recorded(made.failing(task), *SAID)
    assert found(made, memory) == []


def test_what_was_no_turn_or_was_interrupted_is_passed_over() -> None:
    made = open_agent(ROOT / "samples" / "weather")
    memory = recorded(made, "hello")
    for step_ in (Step(state="ENDED"), Step(state="EXECUTION_INTERRUPTED", input="hi", outcomes=[_outcome()])):
        memory.begin_step(step_)
        memory.end_step()
    assert found(made, memory) == []


def _outcome() -> Outcome:
    return Outcome(task="ai.labs.parser", status="succeeded")


def test_a_conversation_that_cannot_be_read_is_told_and_the_others_are_looked_at(kept: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(kept)) as database, database:
        database.execute("UPDATE turnout_steps SET document = '{' WHERE conversation = 'weather-00'")
    ended = turnout("replay", kept, "--rules", changed_text(tmp_path, steps=False))
    assert ended.code == 1
    assert "weather-01 turn 6" in ended.out
    assert "conversation `weather-00` cannot be read" in ended.err


def test_a_rule_that_emits_something_else_is_responsible() -> None:
    memory = recorded(made_of(on_action("Down", "task_failed_work", "sorry"), tasks=[failing("work")]), "one")
    new = made_of(on_action("Down", "task_failed_work", "other"), tasks=[failing("work")])
    assert {turn.rules for turn in found(new, memory)} == {("Down",)}


def test_each_turn_is_judged_on_what_was_recorded_before_it() -> None:
    once = [{"name": "first", "actions": ["sorry"], "conditions": [_asked("start")]}]
    after = {"name": "after", "actions": ["other"], "conditions": [_asked("sorry", "lastStep")]}
    work = FunctionTask("work", lambda turn: None)

    def begin(turn: Any) -> None:
        if turn.input == "start":
            turn.add_actions("start")

    def made(*given: dict[str, Any]) -> Agent:
        begins = FunctionTask("begin", begin)
        return agent(step("begin"), rules([*given]), output(sorry="S", other="O"), tasks=[begins, work])

    memory = recorded(made(*once, after), "start", "then", start=False)
    # Without the first rule its own turn changes; the next one still follows a turn that had the action.
    assert [turn.number for turn in found(made(after), memory)] == [0]


def _asked(action: str, occurrence: str = "currentStep") -> dict[str, Any]:
    return {"type": "actionmatcher", "configs": {"actions": action, "occurrence": occurrence}}


def test_what_tasks_did_is_taken_from_the_record_and_nothing_is_called() -> None:
    calls: list[str] = []

    def work(turn: Any) -> None:
        calls.append(turn.input)
        turn.show("answer", {"status": turn.input})
        turn.set_property("seen", turn.input)
        turn.add_actions("worked")
        turn.say("by the task")

    conditions = [
        {"type": "dynamicvaluematcher", "configs": {"valuePath": "memory.current.answer.status", "equals": "red"}},
        {"type": "dynamicvaluematcher", "configs": {"valuePath": "properties.seen", "equals": "red"}},
        _asked("worked"),
    ]

    def made(action: str) -> Agent:
        last = rules([{"name": "red", "actions": [action], "conditions": conditions}])
        return agent(step("work"), last, output(sorry="S", other="O"), tasks=[FunctionTask("work", work)])

    memory = recorded(made("sorry"), "red", "green", start=False)
    calls.clear()
    assert found(made("sorry"), memory) == []
    (turn,) = found(made("other"), memory)
    assert (turn.number, turn.rules, calls) == (0, ("red",), [])


async def keep(store_file: Path, made: Agent, name: str, conversations: int, said: Sequence[str] = SAID) -> None:
    store = open_store(store_file)
    for number in range(conversations):
        conversation = f"{name}-{number:02}"
        await store.add(Head(id=conversation, agent=name))
        for text in said:
            async with store.hold(conversation) as held:
                await made.conversation(memory=held.memory).say(text)
                await held.save()
    await store.close()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    file = tmp_path / "turnout.db"
    asyncio.run(keep(file, open_agent(ROOT / "samples" / "weather"), "weather", 2))
    return file


def changed_text(folder: Path, *, steps: bool) -> Path:
    text = (ROOT / "samples" / "weather.turnout").read_text(encoding="utf-8")
    text = text.replace("Goodbye, and stay dry!", "Bye!").replace('"weather/', f'"{ROOT}/samples/weather/')
    if not steps:
        text = text[: text.index("steps")] + text[text.index("group ") :]
        text = text[: text.index("check ")]
    file = folder / "new.turnout"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_command_tells_the_turns_by_the_rule_responsible(kept: Path, tmp_path: Path) -> None:
    ended = turnout("replay", kept, "--rules", changed_text(tmp_path, steps=False))
    assert (ended.code, ended.err) == (0, "2 turns of 2 conversations would change\n")
    assert ended.out.splitlines()[:4] == [
        "no rule, but outputs: 2 turns",
        "  weather-00 turn 6: bye",
        "    was  ENDED [say_goodbye, CONVERSATION_END] Goodbye, and stay dry!",
        "    now  ENDED [say_goodbye, CONVERSATION_END] Bye!",
    ]


def test_as_json_each_turn_is_an_object(kept: Path, tmp_path: Path) -> None:
    data = turnout("replay", kept, "--rules", changed_text(tmp_path, steps=False), "--json").data
    assert data["conversations"] == 2
    assert [(turn["conversation"], turn["turn"], turn["rules"]) for turn in data["changed"]] == [
        ("weather-00", 5, []),
        ("weather-01", 5, []),
    ]
    assert data["changed"][0]["after"]["replies"][0]["text"] == "Bye!"


def test_the_same_agent_changes_nothing_in_a_store(kept: Path) -> None:
    ended = turnout("replay", kept, "--rules", ROOT / "samples" / "weather")
    assert (ended.code, ended.out, ended.err) == (0, "", "0 turns of 2 conversations would change\n")


def test_many_conversations_are_shared_among_processes(tmp_path: Path) -> None:
    file = tmp_path / "many.db"
    asyncio.run(keep(file, open_agent(ROOT / "samples" / "weather"), "weather", 60, ["bye"]))
    ended = turnout("replay", file, "--rules", changed_text(tmp_path, steps=False), "--json")
    assert [turn["conversation"] for turn in ended.data["changed"]] == [f"weather-{number:02}" for number in range(60)]


def test_of_several_agents_one_is_named(kept: Path) -> None:
    asyncio.run(keep(kept, open_agent(ROOT / "samples" / "weather"), "other", 1))
    refused = turnout("replay", kept, "--rules", ROOT / "samples" / "weather")
    assert (refused.code, refused.err.splitlines()[-1]) == (2, "  help: say whose with `--agent`")
    assert turnout("replay", kept, "--rules", ROOT / "samples" / "weather", "--agent", "weather").code == 0
    assert turnout("replay", kept, "--rules", ROOT / "samples" / "weather", "--agent", "nobody").code == 2


@pytest.mark.parametrize("store", ["missing.db", "samples/weather"])
def test_a_store_that_is_not_there_is_told(store: str) -> None:
    ended = turnout("replay", store, "--rules", ROOT / "samples" / "weather")
    assert (ended.code, ended.out) == (2, "")
    assert "there is no store" in ended.err
