"""Explanations in words: what a condition asks, and the answers that would have to be other ones."""

from typing import Any

import pytest
from lark import Lark
from pydantic import TypeAdapter

from turnout.grammar.explain import answer, asked
from turnout.grammar.parser import parser
from turnout.rules import questions as q
from turnout.rules.conditions import Condition
from turnout.rules.expressions import parse

CONDITIONS: TypeAdapter[Any] = TypeAdapter(Condition)


@pytest.fixture(scope="module")
def lark() -> Lark:
    return parser()


def condition(kind: str, *conditions: dict[str, Any], **configs: str) -> dict[str, Any]:
    made: dict[str, Any] = {"type": kind, "configs": configs}
    return made | {"conditions": list(conditions)} if conditions else made


def words(written: dict[str, Any]) -> str:
    return asked(CONDITIONS.validate_python(written))


IN_LANGUAGE: list[tuple[q.Question, bool, str]] = [
    (q.HasActions("current", ("retry",)), True, "action retry this turn"),
    (q.HasActions("current", ("retry",)), False, "not action retry this turn"),
    (q.HasActions("last", ("greet", "ask")), True, "action greet directly followed by ask previous turn"),
    (q.HasActions("any", ("task_failed_weather",)), True, "task weather failed any turn"),
    (q.HasActions("any", ("retry",)), False, "action retry no turn"),
    (q.HasSaid("current", parse("a(*), b(c)")), True, "user says a(*) directly followed by b(c) this turn"),
    (q.HasSaid("any", parse("bye")), False, "user says bye no turn"),
    (q.ContextText("channel", "voice"), True, 'context channel is "voice"'),
    (q.ContextText("channel", "voice"), False, 'not context channel is "voice"'),
    (q.ContextSays("topics", parse("billing(*)")), True, "context topics says billing(*)"),
    (q.ContextHas("user", "name", None), True, "context user has name"),
    (q.ContextHas("user", "profile.tier", "free"), False, 'not context user at profile.tier is "free"'),
    (q.RuleFired("Welcome", 3), True, 'rule "Welcome" fired at least 3 times'),
    (q.RuleFired("Welcome", 3), False, 'rule "Welcome" fired at most 2 times'),
    (q.RuleFired("Welcome", 1), False, 'rule "Welcome" never fired'),
    (q.ValueExists("a.b"), True, "value a.b exists"),
    (q.ValueEquals("a.b", "1"), False, 'not value a.b is "1"'),
    (q.ValueContains("a.b", "1"), True, 'value a.b contains "1"'),
    (q.SizeAtLeast("a.b", 2), True, "size of a.b is at least 2"),
    (q.SizeAtLeast("a.b", 2), False, "size of a.b is at most 1"),
    (q.TaskEnded("current", "weather", "failed", None, 1), True, "task weather failed this turn"),
    (q.TaskEnded("current", "weather", "failed", "timeout", 1), True, "task weather failed due to timeout this turn"),
    (q.TaskEnded("last", "weather", "failed", None, 3), True, "task weather failed 3 times in a row previous turn"),
    (q.TaskEnded("any", "weather", "succeeded", None, 1), False, "task weather succeeded no turn"),
    (
        q.TaskEnded("current", "weather", "failed", "http", 2),
        True,
        'task weather failed due to http this turn with minConsecutive "2"',
    ),
    (q.DigestMentions("current", "weather", "503"), True, 'task weather failed mentioning "503" this turn'),
]

BESIDE_IT: list[tuple[q.Question, bool, str]] = [
    (q.SomeActions(), True, "some action this turn"),
    (q.SomeActions(), False, "no action this turn"),
    (q.SomethingSaid(), True, "the user says something this turn"),
    (q.SomethingSaid(), False, "the user says nothing this turn"),
    (q.NoActions("last"), True, "no action in the previous turn"),
    (q.NoActions("past"), False, "some action in every earlier turn"),
    (q.NothingSaid("past"), True, "the user says nothing in an earlier turn"),
    (q.SizeBelow("a.b", 0), True, "size of a.b is at most -1"),
    (q.SizeBelow("a.b", 0), False, "size of a.b is at least 0"),
    (q.Attached("image/*", 2), True, 'at least 2 of type "image/*" attached'),
    (q.Attached("image/*", 1), False, 'none of type "image/*" attached'),
    (q.HasSkill("translate", 2), False, 'at most 1 with skill "translate" among the agents'),
    (q.InEnvironment("production"), True, 'environment "production"'),
    (q.HasTag("beta"), False, 'not tag "beta"'),
]


@pytest.mark.parametrize(("question", "holds", "text"), [*IN_LANGUAGE, *BESIDE_IT])
def test_each_answer_has_words(question: q.Question, holds: bool, text: str) -> None:
    assert answer(question, holds) == text


@pytest.mark.parametrize("text", [text for _, _, text in IN_LANGUAGE])
def test_an_answer_that_the_language_can_ask_for_is_written_in_it(lark: Lark, text: str) -> None:
    assert lark.parse(f'rule "R" when {text} then nothing').children


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (condition("actionmatcher", actions="retry"), "action retry"),
        (condition("outcomematcher", taskId="eddi://weather"), "task weather failed"),
        (condition("outcomematcher", taskId="weather", status="failed", minConsecutive="1"), "task weather failed"),
        (
            condition("outcomematcher", taskId="weather", occurrence="lastStep"),
            "task weather failed previous turn",
        ),
        (
            condition("outcomematcher", taskId="weather", minConsecutive="3"),
            "task weather failed 3 times in a row",
        ),
        (condition("digestmatcher", taskId="weather"), 'task weather failed mentioning ""'),
        (
            condition("occurrence", behaviorRuleName="A", minTimesOccurred="-1", maxTimesOccurred="2"),
            'rule "A" fired at most 2 times',
        ),
        (
            condition("connector", condition("actionmatcher", actions="a"), condition("actionmatcher", actions="b")),
            "all of ( action a and action b )",
        ),
        (
            condition(
                "connector",
                condition("actionmatcher", actions="a"),
                condition("negation", condition("actionmatcher", actions="b")),
                operator="or",
            ),
            "any of ( action a or not action b )",
        ),
        (
            condition("contentTypeMatcher", mimeType="image/*"),
            'condition "contentTypeMatcher" with mimeType "image/*"',
        ),
    ],
)
def test_what_is_asked_has_the_words_of_what_means_the_same(lark: Lark, written: dict[str, Any], text: str) -> None:
    assert words(written) == text
    assert lark.parse(f'rule "R" when {text} then nothing').children
