"""The page does in a browser what it is for: talk, and see why a turn went as it did."""

import re
import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from building import CONTINUE, agent, failing, on_action, output, parser, rules, step
from turnout.app import open_agent
from turnout.app.service.access import Caller, Settings
from turnout.engine.agents import Agent
from turnout.engine.tasks import FunctionTask
from turnout.rules.agents import Policy

WEATHER = Path(__file__).parents[2] / "samples" / "weather"
PHONE = (390, 844)
DOWN = "I can't reach the weather service right now. Shall I try again?"
SORRY = "Sorry, that did not work."
SECRET = "the-cellar-door"


@pytest.fixture
def weather() -> Agent:
    """The agent of the sample, whose service is down."""
    return open_agent(WEATHER)


def doing(work: Callable[[Any], object], policy: Policy = CONTINUE, *more: Any) -> Agent:
    """An agent with a task of the test, which does nothing in the opening turn."""
    return agent(
        parser(),
        step("work"),
        *more,
        tasks=[FunctionTask("work", lambda turn: work(turn) if turn.input else None)],
        policy=policy,
    )


def say(page: Page, text: str) -> None:
    """Write a message and send it with the key for that."""
    page.get_by_label("Your message").fill(text)
    page.get_by_label("Your message").press("Enter")


def turn(page: Page, number: int) -> Locator:
    """A turn in the conversation, when it is over."""
    return page.locator(f"li[data-turn='{number}']")


def panel(page: Page, name: str) -> Locator:
    """Select a tab."""
    page.get_by_role("tab", name=name).click()
    return page.get_by_role("tabpanel", name=name)


def test_what_is_said_gets_its_reply(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    expect(turn(page, 0)).to_contain_text("weather")
    say(page, "Weather, please")
    expect(turn(page, 1)).to_contain_text("In which city?")
    expect(page.get_by_role("status").first).to_contain_text("In which city?")  # for those who do not see it
    turn(page, 1).get_by_role("button", name="Lisbon").click()
    expect(turn(page, 2).locator(".said")).to_contain_text("Lisbon")
    expect(turn(page, 1).get_by_role("button", name="Lisbon")).to_have_count(0)
    say(page, "bye")
    expect(turn(page, 3)).to_contain_text("Goodbye")
    expect(page.get_by_label("Your message")).to_be_disabled()
    page.get_by_role("button", name="Start a new one").click()
    expect(page.get_by_label("Your message")).to_be_enabled()
    expect(page.locator("li.turn")).to_have_count(1)


def test_a_conversation_outlives_a_reload(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    expect(turn(page, 0)).to_be_visible()
    say(page, "Weather, please")
    expect(turn(page, 1)).to_be_visible()
    page.reload()
    expect(turn(page, 1)).to_contain_text("In which city?")


def test_tokens_appear_as_they_come_and_those_of_a_failed_task_are_taken_back(opened: Any) -> None:
    first, second = threading.Event(), threading.Event()

    def work(journal: Any) -> None:
        journal.stream("Once upon")
        first.wait()
        journal.stream(" a time")
        second.wait()
        raise RuntimeError("out of stories")

    page = opened(doing(work))
    expect(turn(page, 0)).to_be_visible()
    say(page, "Tell me a story")
    try:
        running = page.locator("li.running")
        expect(running).to_contain_text("Once upon")
        expect(running).not_to_contain_text("a time")
        expect(page.get_by_role("tabpanel", name="Turn")).to_contain_text("running")
        first.set()
        expect(running).to_contain_text("Once upon a time")
        editor = panel(page, "Rules").get_by_label("Rules and replies as text")
        editor.focus()
    finally:
        first.set()
        second.set()
    expect(turn(page, 1)).to_contain_text("work failed")
    expect(page.locator("#turns")).not_to_contain_text("Once upon")
    expect(editor).to_be_focused()  # the end of a turn disturbs nobody who does something else


def test_a_turn_can_be_stopped(opened: Any) -> None:
    go = threading.Event()
    page = opened(doing(lambda journal: go.wait()))
    expect(turn(page, 0)).to_be_visible()
    say(page, "Take your time")
    page.get_by_role("button", name="Stop").click()
    expect(turn(page, 1)).to_contain_text(SORRY)
    expect(page.get_by_role("tabpanel", name="Turn")).to_contain_text("The turn was interrupted")
    go.set()


def test_a_digest_is_folded_and_says_what_the_caller_may_know(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    expect(turn(page, 0)).to_be_visible()
    say(page, "What's the weather in Vienna?")
    expect(turn(page, 1)).to_contain_text(DOWN)
    digest = turn(page, 1).get_by_role("group").filter(has_text="ai.labs.httpcalls failed")
    told = digest.get_by_text("Task 'eddi://ai.labs.httpcalls' failed:")
    expect(told).to_be_hidden()
    digest.locator("summary").press("Enter")
    expect(told).to_be_visible()


def test_why_shows_the_turn_as_it_happened(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    expect(turn(page, 0)).to_be_visible()
    say(page, "What's the weather in Vienna?")
    expect(turn(page, 1)).to_be_visible()
    panel(page, "Rules")
    turn(page, 1).get_by_role("button", name="Why?").click()
    why = page.get_by_role("tabpanel", name="Turn")
    expect(why).to_contain_text("ai.labs.httpcalls failed, so the rule “No weather today” fired in the same turn.")
    expect(why.locator(".task[data-status=failed]")).to_contain_text("failed · transport")
    expect(why.locator(".task[data-status=failed]")).to_contain_text("The operator sees: API call to current weather")
    expect(why.locator(".rule").filter(has_text="No weather today")).to_contain_text("after the failure")
    why.get_by_text("Greeting", exact=True).click()
    expect(why).to_contain_text("user says greeting(*)")
    expect(why.locator(".facts")).to_contain_text("city(vienna)")
    expect(why.locator(".view")).to_contain_text("[errorDigest ai.labs.httpcalls]")
    turn(page, 0).get_by_role("button", name="Why?").click()
    expect(why.get_by_role("heading", level=2)).to_contain_text("Opening turn")
    expect(why.locator(".rule")).to_contain_text("Welcome")


def test_a_broken_task_fails_until_it_is_mended_and_try_again_says_the_same_again(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    expect(turn(page, 0)).to_be_visible()
    switch = panel(page, "Break").get_by_role("switch", name="Make ai.labs.output fail")
    switch.check()
    say(page, "hello")
    expect(turn(page, 1)).to_contain_text(SORRY)
    expect(turn(page, 1)).to_contain_text("ai.labs.output failed")
    with page.expect_response(re.compile("rerun")):
        turn(page, 1).get_by_role("button", name="Try again").click()
    expect(turn(page, 1)).to_contain_text(SORRY)  # it is broken still
    page.get_by_role("button", name="Made to fail: ai.labs.output").click()
    switch.uncheck()
    expect(page.get_by_role("button", name="Made to fail")).to_have_count(0)
    turn(page, 1).get_by_role("button", name="Try again").click()
    expect(turn(page, 1)).not_to_contain_text(SORRY)
    expect(turn(page, 1).get_by_role("button", name="The weather in Vienna")).to_be_visible()
    expect(turn(page, 2)).to_have_count(0)


def test_turns_are_taken_back_and_brought_back(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    expect(turn(page, 0)).to_be_visible()
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()
    say(page, "hello")
    expect(turn(page, 1)).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(turn(page, 1)).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.get_by_role("button", name="Redo").click()
    expect(turn(page, 1).locator(".said")).to_contain_text("hello")


def test_rules_are_checked_while_they_are_edited_and_tried_on_the_conversation(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    expect(turn(page, 0)).to_be_visible()
    say(page, "What's the weather in Vienna?")
    expect(turn(page, 1)).to_be_visible()
    tab = panel(page, "Rules")
    editor = tab.get_by_label("Rules and replies as text")
    expect(tab).to_contain_text("No problems.")
    written = editor.input_value()
    line = written[: written.index("  when always")].count("\n") + 1
    editor.fill(written.replace("when always", "whn always"))
    problem = tab.get_by_role("list", name="Problems").get_by_role("button")
    expect(problem).to_contain_text(f"Error · line {line}, column 3")
    expect(problem).to_contain_text("did you mean when?")
    expect(tab.get_by_role("button", name="Try on this conversation")).to_be_disabled()
    problem.click()
    caret = editor.evaluate("element => element.selectionStart")
    assert editor.input_value()[caret:].startswith("whn always")
    editor.fill(written.replace(DOWN, "The sky is out of order."))
    expect(tab).to_contain_text("No problems.")
    tab.get_by_role("button", name="Try on this conversation").click()
    changes = tab.get_by_role("region", name="What would change")
    expect(changes).to_contain_text("One turn would change")
    expect(changes.locator(".side").first).to_contain_text(DOWN)
    expect(changes.locator(".side").last).to_contain_text("The sky is out of order.")
    tab.get_by_role("button", name="Discard changes").click()
    expect(editor).to_have_value(written)
    tab.get_by_role("button", name="Try on this conversation").click()
    expect(changes).to_contain_text("No turn of this conversation would change.")


def test_everything_is_reached_by_keyboard(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    expect(turn(page, 0)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the message box")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your message")).to_be_focused()
    page.keyboard.type("What's the weather in Vienna?")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Today, I mean.")
    page.keyboard.press("Enter")
    expect(turn(page, 1).locator(".said")).to_contain_text("Vienna?\nToday")
    expect(page.get_by_label("Your message")).to_be_focused()
    press_until(page, "Shift+Tab", turn(page, 1).get_by_role("button", name="Bye"))
    page.keyboard.press("Enter")
    expect(turn(page, 2)).to_contain_text("Goodbye")
    press_until(page, "Tab", page.get_by_role("tab", name="Turn"))
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Break")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Break")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.get_by_role("tab", name="Turn")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    switch = page.get_by_role("switch", name="Make ai.labs.parser fail")
    press_until(page, "Tab", switch)
    assert switch.evaluate("element => getComputedStyle(element).outlineStyle") != "none"
    page.keyboard.press("Space")
    expect(switch).to_be_checked()


def press_until(page: Page, key: str, wanted: Locator) -> None:
    """Press a key until something has the focus, which it must get on one way through the page."""
    for _ in range(60):
        page.keyboard.press(key)
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{key} does not lead to {wanted}")


def test_a_phone_shows_one_thing_at_a_time_and_nothing_beside_its_edge(opened: Any, weather: Agent) -> None:
    page = opened(weather, size=PHONE)
    expect(turn(page, 0)).to_be_visible()
    say(page, "What's the weather in Vienna?" + "x" * 300)
    expect(turn(page, 1)).to_be_visible()
    expect(page.locator("#panel-turn")).to_be_hidden()
    turn(page, 1).get_by_role("button", name="Why?").click()
    expect(page.get_by_role("tab", name="Turn")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Turn").locator(".facts").first).to_be_attached()
    for name in ("Talk", "Turn", "Rules", "Break"):
        shown = panel(page, name)
        expect(shown).to_be_visible()
        expect(page.get_by_role("tabpanel")).to_have_count(1)
        if name == "Rules":
            expect(shown).to_contain_text("No problems.")
        beyond = (
            "element => Math.max(element.scrollWidth - element.clientWidth, document.body.scrollWidth - innerWidth)"
        )
        assert shown.evaluate(beyond) == 0, name


def test_what_looks_like_html_stays_text(opened: Any) -> None:
    html = "<img src=x onerror=document.title='owned'><b>bold</b>"

    def work(journal: Any) -> None:
        journal.say(html)
        journal.say({"type": "image", "uri": "https://elsewhere.example/a.png"})
        journal.say({"type": "image", "uri": "javascript:document.title='owned'"})
        journal.offer(html)
        journal.show("seen", {html: html})
        raise RuntimeError(html)

    made = agent(
        parser(),
        rules([{"name": html, "actions": ["x"]}], [on_action(f"not {html}", "never", "x")]),
        step("work"),
        tasks=[FunctionTask("work", work)],
        policy=Policy(enabled=True, continue_on_failure=True, on_failure="keep_all"),
    )
    page = opened(made)
    expect(turn(page, 0)).to_be_visible()
    say(page, html)
    expect(turn(page, 1).locator(".said")).to_contain_text(html)
    expect(turn(page, 1).locator(".item").first).to_have_text(html)
    expect(turn(page, 1).get_by_role("button", name=html)).to_be_visible()
    expect(turn(page, 1).get_by_role("link")).to_have_attribute("href", "https://elsewhere.example/a.png")
    expect(turn(page, 1).get_by_role("link")).to_have_count(1)
    expect(page.get_by_role("tabpanel", name="Turn").locator(".rule")).to_have_text(html)
    expect(page.locator(".facts.inner")).to_contain_text(html)
    expect(page.locator("img, b")).to_have_count(0)
    assert "owned" not in page.title()


def test_who_is_no_operator_sees_no_reasons(opened: Any) -> None:
    made = agent(
        rules([on_action("Answer", "task_failed_weather", "sorry")]),
        step("weather"),
        output(sorry="Not today."),
        tasks=[failing("weather", RuntimeError(f"broke at https://inside.example/{SECRET}"))],
    )
    callers = {"mine": Caller("ann"), "theirs": Caller("bob", operator=True)}
    hashed = {sha256(token.encode()).digest(): known for token, known in callers.items()}
    page = opened(made, Settings(tokens=hashed))
    enter(page, "wrong")
    expect(page.get_by_role("dialog", name="Use another token")).to_be_visible()
    enter(page, "mine")
    expect(turn(page, 0)).to_contain_text("Not today.")
    expect(page.get_by_role("tabpanel", name="Turn")).to_contain_text("Rules, facts and reasons are for operators.")
    assert SECRET not in page.content()
    expect(panel(page, "Break").get_by_role("switch")).to_have_count(0)
    expect(panel(page, "Rules")).to_contain_text("for operators")
    page.reload()
    expect(turn(page, 0)).to_contain_text("Not today.")  # the token is known still
    page.get_by_role("button", name="Enter an operator’s token").first.click()
    enter(page, "theirs")
    expect(page.get_by_role("tabpanel", name="Turn")).to_contain_text(SECRET)
    assert page.evaluate("[localStorage.length, document.cookie, location.href.includes('theirs')]") == [0, "", False]


def enter(page: Page, token: str) -> None:
    """Enter a token."""
    page.get_by_role("dialog").get_by_label("Token", exact=True).fill(token)
    page.keyboard.press("Enter")


def test_without_a_service_nothing_written_is_lost_or_said_twice(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    expect(turn(page, 0)).to_be_visible()
    page.context.set_offline(True)
    say(page, "hello")
    expect(page.get_by_role("alert")).to_contain_text("The service does not answer.")
    expect(page.get_by_label("Your message")).to_have_value("hello")
    expect(turn(page, 0).get_by_role("button", name="The weather in Vienna")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("alert").get_by_role("button", name="Try again").click()
    expect(turn(page, 1).locator(".said")).to_contain_text("hello")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_label("Your message")).to_have_value("")
    expect(turn(page, 2)).to_have_count(0)


def test_one_of_several_agents_is_picked(opened: Any, weather: Agent) -> None:
    page = opened({"weather": weather, "parrot": doing(lambda journal: journal.say(f"You said {journal.input}"))})
    expect(turn(page, 0)).to_contain_text("weather")
    page.get_by_label("Agent").select_option("parrot")
    expect(turn(page, 0)).to_contain_text("(no reply)")
    say(page, "hm")
    expect(turn(page, 1)).to_contain_text("You said hm")
    expect(panel(page, "Break").get_by_role("switch")).to_have_count(2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(opened: Any, weather: Agent, scheme: Any) -> None:
    """WCAG's AA: a contrast of 4.5 to 1 at least, for all that is not switched off."""
    page = opened(weather)
    page.emulate_media(color_scheme=scheme)
    expect(turn(page, 0)).to_be_visible()
    panel(page, "Break").get_by_role("switch").last.check()
    say(page, "What's the weather in Vienna?")
    expect(turn(page, 1)).to_contain_text(SORRY)
    assert page.evaluate(PALE) == []
    expect(panel(page, "Turn").locator(".view")).to_be_attached()
    assert page.evaluate(PALE) == []
    tab = panel(page, "Rules")
    tab.get_by_label("Rules and replies as text").fill("rule x")
    expect(tab.get_by_role("list", name="Problems").get_by_role("button").first).to_be_visible()
    assert page.evaluate(PALE) == []


PALE = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = parts(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.checkVisibility() && !one.closest(":disabled") && [...one.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
    .map((one) => {
      const [a, b] = [light(parts(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x);
      return [one.textContent.slice(0, 40), Math.round(((a + 0.05) / (b + 0.05)) * 100) / 100];
    })
    .filter(([, contrast]) => contrast < 4.5);
}"""


def test_events_are_read_wherever_the_stream_was_cut(opened: Any, weather: Agent) -> None:
    page = opened(weather)
    stream = "event: token\r\ndata:  one\r\ndata: two\r\n\r\n: a comment\n\nevent: done\ndata: {}\n\ndata:x\r\r"
    read = """async (stream) => {
      const { events } = await import("/service.js");
      return [...Array(stream.length).keys()].map((at) => {
        const told = [];
        const feed = events((name, data) => told.push([name, data]));
        feed(stream.slice(0, at));
        feed(stream.slice(at));
        return JSON.stringify(told);
      });
    }"""
    expected = '[["token"," one\\ntwo"],["done","{}"],["message","x"]]'
    assert set(page.evaluate(read, stream + "\n")) == {expected}
