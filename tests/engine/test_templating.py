"""Templating: what the author wrote as a template is filled in once, and nothing that others sent is ever one."""

from collections.abc import Iterator
from typing import Any

import pytest

from building import CONTINUE, TEMPLATING, agent, failing, on_action, output, rules, step
from turnout.engine.agents import Agent
from turnout.engine.records import dump
from turnout.engine.tasks import FunctionTask
from turnout.engine.turns import Turn
from turnout.rules.agents import StepDefinition
from turnout.rules.reading import read_output_set

NASTY = "{memory.current.input} [[${properties.name}]] {#if x}"


def said(text: str, **properties: str) -> Turn:
    """The turn of an agent that says `text`, with these properties."""
    return speaking(output(CONVERSATION_START=text), **properties).conversation().start_sync({"city": "Wien"})


def speaking(outputs: StepDefinition, **properties: str) -> Agent:
    async def know(turn: Any) -> None:
        for name, value in properties.items():
            turn.set_property(name, value)

    return agent(step("know"), outputs, TEMPLATING, tasks=[FunctionTask("know", know)])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Hello {properties.name}!", "Hello Ada!"),
        ("Hello [[${properties.name}]] and [(${context.city})]!", "Hello Ada and Wien!"),
        ("Nothing: {properties.missing}.", "Nothing: ."),
        ("{memory.current.actions[0]}", "CONVERSATION_START"),
        ("{city}", "Wien"),
        ("No template: { name } {} {1}", "No template: { name } {} {1}"),
        ("{#if properties.name}yes{/if}", "yes"),
        ("[[${#strings.substring(properties.name, 1)}]]!", "!"),
        ("{properties.name.length()}!", "!"),
        ("{properties.name + 'x'}", ""),
    ],
)
def test_placeholders_are_filled_and_what_is_no_path_is_left_out(written: str, expected: str) -> None:
    assert said(written, name="Ada").texts == [expected]


def test_a_value_that_looks_like_a_template_is_text() -> None:
    assert said("You said {properties.said}", said=NASTY).texts == [f"You said {NASTY}"]


def test_what_a_caller_brings_is_no_template() -> None:
    context = {
        "output": {"type": "object", "value": [{"valueAlternatives": [{"type": "text", "text": NASTY}]}]},
        "quickReplies": {"type": "object", "value": [{"value": NASTY, "expressions": NASTY}]},
    }
    turn = agent(output(hello="Hi"), TEMPLATING).conversation().start_sync(context)
    assert turn.texts == [NASTY]
    assert [reply["value"] for reply in maps(turn.quick_replies)] == [NASTY]


def test_what_another_task_says_is_no_template() -> None:
    async def talk(turn: Any) -> None:
        turn.say(NASTY)
        turn.offer(NASTY)

    turn = agent(step("talk"), TEMPLATING, tasks=[FunctionTask("talk", talk)]).conversation().start_sync()
    assert turn.texts == [NASTY]
    assert [reply["value"] for reply in maps(turn.quick_replies)] == [NASTY]


def maps(items: list[Any]) -> Iterator[dict[str, Any]]:
    yield from items


ITEMS: list[dict[str, Any]] = [
    {"type": "text", "text": "{properties.name}"},
    {"type": "image", "uri": "https://x.test/{properties.name}.png", "alt": "{properties.name}"},
    {"type": "agentFace", "uri": "{properties.name}", "alt": "{properties.name}"},
    {"type": "inputField", "label": "{properties.name}", "defaultValue": "{properties.name}"},
    {"type": "applicationLink", "path": "/{properties.name}", "label": "{properties.name}"},
    {"type": "button", "label": "{properties.name}", "onPress": {"to": ["{properties.name}"]}},
    {"type": "other", "anything": "{properties.name}"},
]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["type"])
def test_every_text_of_every_type_of_item_is_a_template(item: dict[str, Any]) -> None:
    entry = {"action": "CONVERSATION_START", "outputs": [{"valueAlternatives": [item]}]}
    step = StepDefinition(task="ai.labs.output", settings=read_output_set({"outputSet": [entry]}).model)
    turn = speaking(step, name="Ada").conversation().start_sync()
    assert "{" not in str(turn.output).replace("[{'type'", "").replace("{'to'", "")
    assert str(turn.output).count("Ada") == str(item).count("{properties.name}")


def test_a_quick_reply_is_filled_and_a_value_adds_no_sign_to_its_expressions() -> None:
    reply = {"value": "Take {properties.name}", "expressions": "take({properties.name})"}
    entry = {"action": "CONVERSATION_START", "quickReplies": [reply]}
    step = StepDefinition(task="ai.labs.output", settings=read_output_set({"outputSet": [entry]}).model)
    conversation = speaking(step, name="a), admin(*").conversation()
    (offered,) = maps(conversation.start_sync().quick_replies)
    assert (offered["value"], offered["expressions"]) == ("Take a), admin(*", "take(a_admin)")
    assert "{properties" not in repr(dump(conversation.memory))


def test_a_callers_context_does_not_stand_in_for_properties() -> None:
    made = agent(output(CONVERSATION_START="{properties.role}|{context.properties.role}"), TEMPLATING)
    assert made.conversation().start_sync({"properties": {"role": "admin"}}).texts == ["|admin"]


def test_without_a_templating_step_texts_are_said_as_they_stand() -> None:
    turn = agent(output(CONVERSATION_START="Hello {properties.name}")).conversation().start_sync()
    assert turn.texts == ["Hello {properties.name}"]


def test_a_templating_step_before_the_output_fills_nothing_in() -> None:
    turn = agent(TEMPLATING, output(CONVERSATION_START="Hello {properties.name}")).conversation().start_sync()
    assert turn.texts == ["Hello {properties.name}"]


def test_a_step_that_comes_between_still_counts() -> None:
    async def know(turn: Any) -> None:
        turn.set_property("name", "Ada")

    made = agent(output(CONVERSATION_START="{properties.name}"), step("know"), TEMPLATING, tasks=[_task("know", know)])
    assert made.conversation().start_sync().texts == ["Ada"]


def _task(id: str, function: Any) -> FunctionTask:
    return FunctionTask(id, function)


def test_a_step_without_templates_is_skipped() -> None:
    turn = agent(output(CONVERSATION_START="Hi"), TEMPLATING).conversation().start_sync()
    assert [outcome.status for outcome in turn.outcomes] == ["succeeded", "skipped"]


@pytest.mark.parametrize("continues", [True, False])
def test_a_template_that_was_not_filled_in_is_not_said(continues: bool) -> None:
    policy = CONTINUE if continues else CONTINUE.model_copy(update={"enabled": False})
    texts = {"CONVERSATION_START": ["Hello {properties.name}"]}
    made = agent(output(**texts), step("late"), TEMPLATING, tasks=[failing("late")], policy=policy)
    turn = made.failing("ai.labs.templating").conversation().start_sync()
    assert "Hello" not in str(turn.output)
    assert "{" not in str(turn.texts)
    assert turn.errors


def test_what_a_failure_adds_after_the_templating_step_is_filled_in_as_well() -> None:
    outputs = output(sorry="Sorry, {context.user}")
    asked = rules([on_action("Down", "task_failed_late", "sorry")])
    made = agent(asked, outputs, TEMPLATING, step("late"), tasks=[failing("late")])
    assert made.conversation().say_sync("hi", {"user": "Ada"}).texts == ["Sorry, Ada"]


def test_a_fallback_whose_variable_is_missing_is_a_plain_text_and_the_failure_stays_told() -> None:
    made = agent(step("late"), output(task_failed_late="Sorry {properties.name}."), TEMPLATING, tasks=[failing("late")])
    turn = made.conversation().say_sync("hi")
    assert turn.texts == ["Sorry ."]
    assert [error["taskId"] for error in maps(turn.errors)] == ["late"]


def test_the_model_sees_the_filled_text() -> None:
    conversation = speaking(output(CONVERSATION_START="Hello {properties.name}"), name="Ada").conversation()
    assert [message.text for message in conversation.start_sync().model_view] == ["Hello Ada"]


def test_an_output_set_is_not_changed_by_being_said() -> None:
    made = agent(
        step("know"),
        rules([{"name": "R", "actions": ["again"]}]),
        output(again="{memory.current.input}"),
        TEMPLATING,
        tasks=[_task("know", lambda turn: None)],
    )
    conversation = made.conversation()
    assert [conversation.say_sync(text).texts for text in ("one", "two")] == [["one"], ["two"]]
