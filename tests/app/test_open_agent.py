"""`open_agent`: the door from Python."""

import asyncio
import sys
from pathlib import Path

import pytest

from doors import QUESTION, WEATHER, copy_of_weather, edit
from turnout.app import open_agent
from turnout.engine.tasks import FunctionTask, task
from turnout.rules.errors import LoadError, UsageError


def test_an_agent_is_opened_and_spoken_to() -> None:
    conversation = open_agent(WEATHER).conversation()
    turn = asyncio.run(conversation.say(QUESTION))
    assert turn.state == "READY"
    assert turn.rerouted == ["No weather today"]
    assert turn.explain("Goodbye").verdict == "not reached"


def test_the_path_may_be_a_text() -> None:
    assert open_agent(str(WEATHER)).definition.name == "weather"


def test_what_does_not_load_raises_all_of_it(tmp_path: Path) -> None:
    agent = copy_of_weather(tmp_path, onFailure="digets")
    (agent / "weather.output.json").write_text("{", encoding="utf-8")
    with pytest.raises(LoadError) as raised:
        open_agent(agent)
    assert len(raised.value.problems) == 2


def with_step(folder: Path, name: str) -> Path:
    """The sample with this task as its only step."""
    agent = copy_of_weather(folder)
    edit(agent / "weather.workflow.json", (), {"workflowSteps": [{"type": name}]})
    return agent


def test_a_task_is_any_object_with_id_type_and_execute(tmp_path: Path) -> None:
    class Lookup:
        id = "lookup"
        type = "search"

        async def execute(self, turn: object) -> None:
            turn.say("found")  # type: ignore[attr-defined]

    agent = open_agent(with_step(tmp_path, "lookup"), tasks=[Lookup()])
    assert agent.conversation().say_sync("x").texts == ["found"]


def test_a_plain_function_can_be_made_a_task(tmp_path: Path) -> None:
    @task("lookup")
    def lookup(turn: object) -> None:
        turn.say("found")  # type: ignore[attr-defined]

    agent = open_agent(with_step(tmp_path, "eddi://lookup"), tasks=[lookup])
    assert agent.conversation().say_sync("x").texts == ["found"]


def test_a_step_whose_task_nobody_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`lookup`"):
        open_agent(with_step(tmp_path, "lookup"))


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, *, module: str, points: str) -> None:
    """Install a package that offers entry points, as pip would leave it."""
    name = f"offers_{folder.name}"
    (folder / f"{name}.py").write_text(module, encoding="utf-8")
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[turnout.tasks]\n{points.format(name)}", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)


OFFER = """
from turnout.engine.tasks import task

@task("lookup")
def lookup(turn):
    turn.say("found")
"""


def test_an_installed_package_can_offer_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, module=OFFER, points="lookup = {}:lookup")
    assert open_agent(with_step(tmp_path, "lookup")).conversation().say_sync("x").texts == ["found"]


def test_a_task_that_was_brought_wins_over_an_installed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, module=OFFER, points="lookup = {}:lookup")

    @task("lookup")
    def mine(turn: object) -> None:
        turn.say("mine")  # type: ignore[attr-defined]

    agent = open_agent(with_step(tmp_path, "lookup"), tasks=[mine])
    assert agent.conversation().say_sync("x").texts == ["mine"]


def test_only_tasks_that_a_step_names_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, module="raise RuntimeError('loaded')", points="other = {}:other")
    open_agent(WEATHER)
    assert f"offers_{tmp_path.name}" not in sys.modules


def test_no_installed_package_takes_the_place_of_a_built_in_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, points = "raise RuntimeError('loaded')", "ai.labs.output = {}:x"
    installed(tmp_path, monkeypatch, module=module, points=points)
    assert open_agent(WEATHER).conversation().say_sync("hello").texts


@pytest.mark.parametrize(
    ("module", "said"), [("raise RuntimeError('boom')", "RuntimeError: boom"), ("lookup = 5", "is no task")]
)
def test_an_installed_task_that_cannot_be_used_is_one_clear_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, said: str
) -> None:
    installed(tmp_path, monkeypatch, module=module, points="lookup = {}:lookup")
    with pytest.raises(UsageError, match=said):
        open_agent(with_step(tmp_path, "lookup"))


def test_a_path_with_a_slip_in_its_ending_is_asked_about() -> None:
    with pytest.raises(UsageError, match=r"did you mean `x\.turnout`\?"):
        open_agent("x.turnot")


def test_one_task_that_is_no_list_is_refused() -> None:
    with pytest.raises(UsageError, match="`tasks` is not a list"):
        open_agent(WEATHER, tasks=FunctionTask("t", print))  # type: ignore[arg-type]
