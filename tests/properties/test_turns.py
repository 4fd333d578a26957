"""Random tasks that write, change objects in place and fail: what a failed task did leaves no trace but its record."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from building import agent, step
from turnout.engine.conversation import Conversation
from turnout.engine.records import dump, load
from turnout.engine.tasks import FunctionTask
from turnout.engine.view import view
from turnout.rules.agents import Policy

KEYS = ["a", "b", "c"]
Operation = tuple[str, str]

operations = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "say",
                "offer",
                "store",
                "show",
                "property",
                "step property",
                "actions",
                "set actions",
                "understand",
                "mutate",
            ]
        ),
        st.sampled_from(KEYS),
    ),
    max_size=6,
)
endings = st.sampled_from(["succeeds", "succeeds", "raises", "no json", "late no json"])
plans = st.lists(st.tuples(operations, endings, st.booleans()), min_size=1, max_size=5)


def mutate(value: Any, marker: str) -> None:
    """Change everything inside a value that was read."""
    if isinstance(value, dict):
        for item in list(value.values()):
            mutate(item, marker)
        value[marker] = marker
    elif isinstance(value, list):
        for item in value:
            mutate(item, marker)
        value.append(marker)


def perform(turn: Any, operation: Operation, marker: str) -> None:
    """One write, which carries the marker, or a change in place of all that can be read."""
    kind, key = operation
    value = {"deep": [marker, {"er": marker}]}
    match kind:
        case "say":
            turn.say(marker)
        case "offer":
            turn.offer(marker)
        case "store":
            turn.store(key, value)
        case "show":
            turn.show(key, value)
        case "property":
            turn.set_property(key, value)
        case "step property":
            turn.set_property(key, value, scope="step")
        case "actions":
            turn.add_actions(marker)
        case "set actions":
            turn.set_actions([marker])
        case "understand":
            turn.understand(f"said({marker})")
        case "mutate":
            for read in (
                turn.data(key),
                turn.properties,
                turn.context,
                turn.actions,
                turn.read(f"memory.current.{key}"),
            ):
                mutate(read, marker)
            mutate(turn.read("memory.current.output"), marker)
            mutate(turn.read("memory.last"), marker)
            return
    mutate(value, marker)


def task_of(number: int, wanted: list[Operation], ending: str, plain: bool) -> FunctionTask:
    """A task that does what was drawn, in the event loop or in a thread, and ends as was drawn."""

    def work(turn: Any) -> None:
        marker = f"m{number}"
        if ending == "no json":
            turn.store("a", {"x": object()})
        for operation in wanted:
            perform(turn, operation, marker)
        if ending == "late no json":
            turn.say({1: marker})
        if ending == "raises":
            raise RuntimeError("failed")

    async def asynchronously(turn: Any) -> None:
        await asyncio.sleep(0)
        work(turn)

    return FunctionTask(f"t{number}", work if plain else asynchronously)


def committed(conversation: Conversation) -> dict[str, Any]:
    """All that is committed in a conversation, without the record of failures."""
    record: dict[str, Any] = json.loads(json.dumps(dump(conversation.memory)))
    for each in record["steps"]:
        each["outcomes"] = each["digests"] = each["state"] = None
        each["output"].pop("taskErrors", None)
        each["actions"] = [name for name in each["actions"] if not name.startswith("task_failed_")]
        each["output"]["actions"] = each["actions"]
        each["data"] = {
            key: entry for key, entry in each["data"].items() if entry["committed"] and not key.startswith("taskError:")
        }
    return record


def conversation_of(tasks: list[FunctionTask], policy: Policy, turns: int) -> Conversation:
    made = agent(*(step(task.id) for task in tasks), tasks=tasks, policy=policy)
    conversation = made.conversation()

    async def talk() -> None:
        for number in range(turns):
            await conversation.say(f"hello {number}", {"k": {"deep": [number]}})

    asyncio.run(talk())
    return conversation


@given(plans, st.sampled_from(["digest", "exclude_all"]), st.integers(1, 3))
@settings(max_examples=200)
def test_a_conversation_is_as_if_the_failed_tasks_had_not_run(plan: Any, mode: Any, turns: int) -> None:
    policy = Policy(enabled=True, continue_on_failure=True, on_failure=mode)
    tasks = [task_of(number, *drawn) for number, drawn in enumerate(plan)]
    well = [task for task, (_, ending, _) in zip(tasks, plan, strict=True) if ending == "succeeds"]
    event(f"{len(tasks) - len(well)} of {len(tasks)} fail")
    with_failures, without = conversation_of(tasks, policy, turns), conversation_of(well, policy, turns)
    assert committed(with_failures) == committed(without)
    for number, (_, ending, _) in enumerate(plan):
        if ending != "succeeds":
            assert f"m{number}" not in str(view(with_failures.memory.history.steps))


@given(plans, st.sampled_from(["digest", "exclude_all", "keep_all"]), st.booleans(), st.integers(1, 3))
@settings(max_examples=100)
def test_what_holds_in_every_mode(plan: Any, mode: Any, enabled: bool, turns: int) -> None:
    """Actions are the same wherever they stand, outcomes tell each task's end, and the record comes back whole."""
    policy = Policy(enabled=enabled, continue_on_failure=True, on_failure=mode)
    tasks = [task_of(number, *drawn) for number, drawn in enumerate(plan)]
    conversation = conversation_of(tasks, policy, turns)
    failing = any(ending != "succeeds" for _, ending, _ in plan)
    for stored in conversation.memory.history.steps:
        assert list(stored.actions) == list(stored.output.get("actions", []))  # type: ignore[arg-type]
        assert stored.state == ("ERROR" if failing and not enabled else "READY")
        ended = [outcome.status for outcome in stored.outcomes]
        wanted = ["succeeded" if ending == "succeeds" else "failed" for _, ending, _ in plan]
        assert ended == (wanted if enabled else wanted[: wanted.index("failed") + 1] if failing else wanted)
    record = dump(conversation.memory)
    assert dump(load(json.loads(json.dumps(record)))) == record


@given(plans, st.integers(1, 4))
@settings(max_examples=50)
def test_undoing_every_turn_leaves_nothing_and_redoing_them_brings_all_back(plan: Any, turns: int) -> None:
    policy = Policy(enabled=True, continue_on_failure=True)
    conversation = conversation_of([task_of(n, *drawn) for n, drawn in enumerate(plan)], policy, turns)
    full = dump(conversation.memory)
    repeat(conversation.undo)
    history = conversation.memory.history
    assert dump(conversation.memory) == {"steps": [], "properties": {}, "scopes": {}, "drawn": {}}
    assert not any(history.actions.values())
    repeat(conversation.redo)
    assert dump(conversation.memory) == full


def repeat(work: Callable[[], bool]) -> None:
    while work():
        pass
