"""Output selection, and what an output step writes (decision 18; cases 40 and 41)."""

from itertools import pairwise
from random import Random
from typing import Any

import pytest

from building import agent, on_action, output, rules
from turnout.engine.agents import Agent
from turnout.engine.selection import Selection, draw
from turnout.rules.agents import StepDefinition
from turnout.rules.reading import read_output_set


def output_step(document: dict[str, Any]) -> StepDefinition:
    return StepDefinition(task="ai.labs.output", settings=read_output_set(document).model)


def says(*actions: str, **output_set: Any) -> Agent:
    return agent(rules([{"name": "r", "actions": list(actions)}]), output_step(output_set))


def entry(action: str, *texts: str, **keys: Any) -> dict[str, Any]:
    items = [{"type": "text", "text": text} for text in texts]
    return {"action": action, "outputs": [{"valueAlternatives": items}], **keys}


@pytest.mark.parametrize(
    ("entries", "chosen"),
    [
        ([0], [0, 0, 0, 0]),
        ([0, 1], [0, 1, 1, 1]),
        ([0, 2], [0, 0, 2, 2]),
        ([0, 5], [0, 0, 0, 0]),
        ([1], [1, 1, 1, 1]),
        ([1, 3], [1, 1, 1, 3]),
    ],
)
def test_the_count_or_the_highest_below_it_or_the_lowest(entries: list[int], chosen: list[int]) -> None:
    """Decision 18 and case 40."""
    document = {"outputSet": [entry("a", "x", timesOccurred=times) for times in entries]}
    selection = Selection(read_output_set(document).model)
    assert [selection.select(["a"], {"a": n})[0].output.times_occurred for n in range(4)] == chosen


def test_entries_follow_the_order_of_the_actions_and_identical_ones_are_said_once() -> None:
    made = says("b", "a", "b", outputSet=[entry("a", "A"), entry("b", "B"), entry("b", "B"), entry("b", "B2")])
    assert made.conversation().say_sync("hello").texts == ["B", "B2", "A"]


@pytest.mark.parametrize(("lang", "said"), [("DE", ["Hallo"]), ("de", ["Hallo"]), ("en", []), (None, [])])
def test_a_set_with_a_language_speaks_to_users_of_it_only(lang: str | None, said: list[str]) -> None:
    """Case 41."""
    made = says("a", lang="de", outputSet=[entry("a", "Hallo")])
    conversation = made.conversation()
    turn = conversation.say_sync("hello", {"lang": lang} if lang else None)
    assert turn.texts == said
    assert conversation.say_sync("again").texts == said


def test_a_set_without_a_language_always_speaks() -> None:
    made = says("a", outputSet=[entry("a", "Hi")])
    assert made.conversation().say_sync("hello", {"lang": "fr"}).texts == ["Hi"]


def test_alternatives_do_not_repeat_before_all_were_used_and_never_twice_running() -> None:
    chance = Random(4)
    used: tuple[int, ...] = ()
    drawn = []
    for _ in range(60):
        number, used = draw(3, used, chance)
        drawn.append(number)
    for start in range(0, 60, 3):
        assert sorted(drawn[start : start + 3]) == [0, 1, 2]
    assert all(one != other for one, other in pairwise(drawn))


def test_a_conversation_uses_all_alternatives_and_two_seeds_the_same_give_the_same() -> None:
    made = says("a", outputSet=[entry("a", "one", "two", "three")])
    conversations = [made.conversation(chance=Random(7)) for _ in range(2)]
    said = [[conversation.say_sync("x").texts[0] for _ in range(6)] for conversation in conversations]
    assert said[0] == said[1]
    assert sorted(said[0][:3]) == sorted(said[0][3:]) == ["one", "three", "two"]


def test_quick_replies_are_offered_and_items_of_that_type_are_not_said() -> None:
    document = {
        "outputSet": [
            {
                "action": "a",
                "outputs": [
                    {"valueAlternatives": [{"type": "text", "text": "Pick."}]},
                    {
                        "valueAlternatives": [
                            {"type": "quickReply", "value": "One", "expressions": "one", "isDefault": True}
                        ]
                    },
                ],
                "quickReplies": [{"value": "Two", "expressions": "two"}],
            }
        ]
    }
    conversation = says("a", **document).conversation()
    turn = conversation.say_sync("hello")
    assert turn.texts == ["Pick."]
    assert [reply["value"] for reply in turn.quick_replies] == ["One", "Two"]
    assert turn.quick_replies[0]["isDefault"] is True
    data = conversation.memory.history.steps[-1].data
    assert data["output:text:a:0"].value == {"type": "text", "text": "Pick.", "delay": 0}
    assert [reply["value"] for reply in data["quickReplies:a"].value] == ["One", "Two"]


def test_one_element_is_stored_without_its_index() -> None:
    conversation = says("a", outputSet=[entry("a", "Hi")]).conversation()
    conversation.say_sync("hello")
    assert "output:text:a" in conversation.memory.history.steps[-1].data


@pytest.mark.parametrize(
    "item",
    [
        {"type": "image", "uri": "u", "alt": "a"},
        {"type": "agentFace", "uri": "u", "delay": 5},
        {"type": "inputField", "subType": "password", "validation": {"minLength": 3}},
        {"type": "applicationLink", "path": "/x", "label": "X", "delay": 0},
        {"type": "button", "buttonType": "submit", "label": "Go", "onPress": {"a": {"b": 1}}},
        {"type": "other", "anything": "goes"},
    ],
)
def test_every_type_of_item_is_sent_as_it_was_written(item: dict[str, Any]) -> None:
    made = says("a", outputSet=[{"action": "a", "outputs": [{"valueAlternatives": [item]}]}])
    assert made.conversation().say_sync("hello").output == [item]


def test_outputs_that_the_context_brings_are_said_first_and_as_they_stand() -> None:
    made = agent(rules([{"name": "r", "actions": ["a"]}]), output(a="Hi"))
    context = {
        "output:x": {
            "type": "object",
            "value": [{"valueAlternatives": [{"type": "text", "text": "{memory.current}"}]}],
        },
        "quickReplies:y": {"type": "object", "value": [{"value": "Ok"}]},
        "outputBroken": {"type": "object", "value": {"no": "list"}},
    }
    turn = made.conversation().say_sync("hello", context)
    assert turn.texts == ["{memory.current}", "Hi"]
    assert [reply["value"] for reply in turn.quick_replies] == ["Ok"]


def test_counts_look_at_earlier_turns_only_failed_ones_included() -> None:
    made = agent(
        rules([on_action("r", "CONVERSATION_START", "a"), {"name": "s", "actions": ["a"]}]),
        output(a=["one", "two"]),
    )
    conversation = made.conversation()
    assert conversation.start_sync().texts == ["one"]
    assert conversation.say_sync("hello").texts == ["two"]
