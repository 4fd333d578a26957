"""`--why` and `explain`: what kept a rule from firing, in words, as text and as JSON."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from building import Conditions, action, condition
from doors import QUESTION, ROOT, RULES, WEATHER, turnout, write
from turnout.app import explain, open_agent
from turnout.rules.errors import UsageError

FACTS = ROOT / "samples" / "outage.facts.json"


def outcome(status: str, error_type: str | None = None) -> dict[str, Any]:
    return {"task": "weather", "status": status, "errorType": error_type}


def why(
    folder: Path, rules: dict[str, list[Conditions]], *steps: dict[str, Any], strategy: str = "executeAll"
) -> tuple[str, list[dict[str, Any]]]:
    """The text and the JSON about rules, given as their conditions, and the steps of a conversation."""
    made = [{"name": name, "conditions": conditions} for name, conditions in rules.items()]
    group = {"executionStrategy": strategy, "rules": made}
    files = (
        write(folder / "r.json", {"behaviorGroups": [group]}),
        "--facts",
        write(folder / "f.json", {"steps": list(steps) or [{}]}),
    )
    text = turnout("match", *files, "--why").out
    return text.partition("nearest misses first\n")[2], turnout("match", *files, "--why", "--json").data["why"]


def test_a_miss_is_told_with_what_held_what_did_not_what_was_seen_and_what_is_needed(tmp_path: Path) -> None:
    said = [condition("inputmatcher", expressions=f"{name}(*)") for name in ("weather", "city", "day")]
    text, data = why(tmp_path, {"Weather": said}, {"expressions": "weather(now), please(1)"})
    assert text.splitlines() == [
        "  Weather",
        "    held    1 of 3 conditions; the first that did not:",
        "    wanted  user says city(*)",
        "    seen    expressions this turn: weather(now), please(1)",
        "    needed  user says city(*) this turn",
        "            and user says day(*) this turn",
    ]
    assert data == [
        {
            "rule": "Weather",
            "verdict": "failed",
            "held": 1,
            "of": 3,
            "condition": "user says city(*)",
            "seen": ["expressions this turn: weather(now), please(1)"],
            "needed": ["user says city(*) this turn", "user says day(*) this turn"],
            "impossible": False,
            "behind": None,
        }
    ]


def test_where_only_the_condition_itself_is_missing_it_is_not_said_twice(tmp_path: Path) -> None:
    text, _ = why(tmp_path, {"A": [action("x")]})
    assert text.splitlines()[1:] == [
        "    wanted  action x",
        "    seen    no actions this turn",
        "    needed  only that",
    ]


def test_the_nearest_miss_comes_first(tmp_path: Path) -> None:
    rules = {
        "Never": [condition("dependency", reference="gone")],
        "Far": [action("b"), action("c")],
        "Near": [action("x"), action("b")],
        "Same": [action("b"), action("x")],
    }
    _, data = why(tmp_path, rules, {"actions": ["x"]})
    assert [one["rule"] for one in data] == ["Near", "Same", "Far", "Never"]


def test_what_nothing_can_make_fire_is_told_as_such(tmp_path: Path) -> None:
    text, (data,) = why(tmp_path, {"A": [condition("dependency", reference="gone")]})
    assert "needed  nothing would make it fire" in text
    assert (data["needed"], data["impossible"]) == (None, True)


def test_rules_behind_one_that_fired_are_told_with_it(tmp_path: Path) -> None:
    rules = {"First": [], "Second": [], "Third": [action("x")], "Fourth": []}
    text, data = why(tmp_path, rules, strategy="executeUntilFirstSuccess")
    assert text.splitlines() == [
        '  not reached, because "First" of their group fired first',
        "    Second  conditions hold; nothing would make it fire",
        "    Fourth  conditions hold; nothing would make it fire",
        "    Third   conditions do not hold; nothing would make it fire",
    ]
    assert [(one["rule"], one["verdict"], one["behind"]) for one in data] == [
        (name, "not reached", "First") for name in ("Second", "Fourth", "Third")
    ]


def test_match_as_json_names_the_rules_that_were_not_reached_beside_the_reasons() -> None:
    plain = turnout("match", RULES, "--facts", FACTS, "--json").data
    data = turnout("match", RULES, "--facts", FACTS, "--json", "--why").data
    assert list(data) == [*plain, "notReached", "why"]
    assert data["notReached"] == ["Weather somewhere", "Greeting", "Goodbye", "Anything else"]


@pytest.mark.parametrize(
    ("asked", "steps", "seen"),
    [
        (action("x"), [{"actions": ["a", "b"]}], "actions this turn: a, b"),
        (action("x", occurrence="lastStep"), [{}], "there is no previous turn"),
        (action("x", occurrence="lastStep"), [{"actions": ["a"]}, {}], "actions in the previous turn: a"),
        (action("x", occurrence="anyStep"), [{"actions": ["a"]}], "in no turn; actions this turn: a"),
        (action("a", occurrence="never"), [{"actions": ["a"]}, {}, {}], "actions 2 turns ago: a"),
        (condition("inputmatcher", expressions="hi"), [{}], "no expressions this turn"),
        (
            condition("contextmatcher", contextKey="channel", contextType="string", string="voice"),
            [{"context": {"channel": "chat"}}],
            'context channel is "chat"',
        ),
        (
            condition("contextmatcher", contextKey="channel", contextType="string", string="voice"),
            [{}],
            "there is no context channel",
        ),
        (
            condition("contextmatcher", contextKey="topics", contextType="expressions", expressions="a(*)"),
            [{"context": {"topics": "a(b)"}}],
            "context topics is of type string, not expressions",
        ),
        (
            condition("contextmatcher", contextKey="user", contextType="object", objectKeyPath="a.b"),
            [{"context": {"user": {"type": "object", "value": {"a": 1}}}}],
            "context user has nothing at a.b",
        ),
        (
            condition("contextmatcher", contextKey="user", contextType="object", objectKeyPath="a", objectValue="2"),
            [{"context": {"user": {"type": "object", "value": {"a": 1}}}}],
            'context user at a is "1"',
        ),
        (
            condition("occurrence", behaviorRuleName="B", minTimesOccurred="2"),
            [{"rulesSuccess": ["B"]}],
            'rule "B" fired 1 time',
        ),
        (condition("occurrence", behaviorRuleName="B", minTimesOccurred="2"), [{}], 'rule "B" never fired'),
        (
            condition("dynamicvaluematcher", valuePath="memory.current.n", equals="1"),
            [{"values": {"n": 2}}],
            'value memory.current.n is "2"',
        ),
        (condition("dynamicvaluematcher", valuePath="a.b", equals="1"), [{}], "there is no value a.b"),
        (
            condition("sizematcher", valuePath="memory.current.n", min="3"),
            [{"values": {"n": [1, 2]}}],
            "size of memory.current.n is 2",
        ),
        (
            condition("outcomematcher", taskId="weather", errorType="timeout"),
            [{"outcomes": [outcome("failed", "http")]}],
            "task weather failed (http) this turn",
        ),
        (condition("outcomematcher", taskId="weather"), [{}], "task weather did not run this turn"),
        (
            condition("outcomematcher", taskId="weather", minConsecutive="3"),
            [
                {"outcomes": [outcome("succeeded")]},
                {"outcomes": [outcome("failed")]},
                {},
                {"outcomes": [outcome("failed")]},
            ],
            "task weather failed this turn; failed 2 times in a row",
        ),
        (
            condition("digestmatcher", taskId="weather", contains="503"),
            [{"digests": [{"taskId": "weather", "text": "HTTP 502"}]}],
            "digest of task weather this turn: HTTP 502",
        ),
        (
            condition("contentTypeMatcher", mimeType="image/*"),
            [{"attachments": ["text/plain"]}],
            "attachments this turn: text/plain",
        ),
        (condition("capabilityMatch", skill="translate"), [{}], 'no agent with skill "translate"'),
        (condition("deploymentContext", when="production"), [{}], "environment and tags: development"),
        (
            condition("dependency", reference="Other"),
            [{}],
            'rule "Other" would not fire, for lack of: action o',
        ),
        (condition("dependency", reference="Gone"), [{}], 'there is no rule "Gone"'),
    ],
)
def test_what_was_seen_says_what_it_is_a_value_of(
    tmp_path: Path, asked: Conditions, steps: list[dict[str, Any]], seen: str
) -> None:
    text, data = why(tmp_path, {"A": [asked], "Other": [action("o")]}, *steps)
    assert {one["rule"]: one["seen"] for one in data}["A"] == [seen]
    assert f"    seen    {seen}" in text


def test_a_negation_shows_what_held_in_it(tmp_path: Path) -> None:
    never_both = condition("negation", action("x"), action("y"))
    _, (data,) = why(tmp_path, {"A": [never_both]}, {"actions": ["x", "y"]})
    assert data["condition"] == "not all of ( action x and action y )"
    assert data["seen"] == ["actions this turn: x, y"]
    assert data["needed"] == ["not action x this turn"]


def test_of_an_or_all_parts_are_shown_and_of_an_and_the_one_that_failed(tmp_path: Path) -> None:
    channel = condition("contextmatcher", contextKey="channel", contextType="string", string="voice")
    parts = condition("connector", action("x"), condition("dynamicvaluematcher", valuePath="v"))
    asked = condition("connector", parts, channel, operator="OR")
    _, (data,) = why(tmp_path, {"A": [asked]}, {"actions": ["x"]})
    assert data["seen"] == ["there is no value v", "there is no context channel"]


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    asked = condition("dynamicvaluematcher", valuePath="memory.current.v", equals="1")
    _, (data,) = why(tmp_path, {"A": [asked]}, {"values": {"v": "x" * 1000}})
    assert data["seen"][0].endswith('x…"')
    assert len(data["seen"][0]) < 130


def test_run_says_the_same_as_text_and_as_json() -> None:
    text = turnout("run", WEATHER, "--say", "weather, please", "--why").out
    assert "  rules that fired: Weather somewhere\n" in text
    assert "  why not the others, nearest misses first\n" in text
    data = turnout("run", WEATHER, "--say", "weather, please", "--why", "--json").data["why"]
    assert [one["rule"] for one in data[:3]] == ["Weather in a city", "Welcome", "No weather today"]
    nearest = data[0]
    for told in (nearest["condition"], *nearest["seen"]):
        assert told in text
    assert nearest["seen"] == ["expressions this turn: weather(current), unknown(please)"]


def test_a_rule_that_fired_by_re_routing_is_no_miss() -> None:
    data = turnout("run", WEATHER, "--say", QUESTION, "--why", "--json").data
    assert data["rules"]["rerouted"] == ["No weather today"]
    assert "No weather today" not in [one["rule"] for one in data["why"]]


def test_explain_puts_what_became_of_one_rule_into_words() -> None:
    turn = asyncio.run(open_agent(WEATHER).conversation().say("weather, please"))
    assert explain(turn, "Weather somewhere") == 'rule "Weather somewhere" fired'
    assert explain(turn, "Weather in a city").splitlines() == [
        'rule "Weather in a city" did not fire',
        "  held    1 of 2 conditions; the first that did not:",
        "  wanted  user says city(*)",
        "  seen    expressions this turn: weather(current), unknown(please)",
        "  needed  only that",
    ]
    assert explain(turn, "Greeting").splitlines() == [
        'rule "Greeting" did not fire',
        '  behind  rule "Weather somewhere" of its group, which fired first',
        "  wanted  user says greeting(*)",
        "  seen    expressions this turn: weather(current), unknown(please)",
        "  needed  not user says weather(*) this turn",
        "          and user says greeting(*) this turn",
    ]


def test_explain_tells_a_rule_that_a_failure_made_fire() -> None:
    turn = asyncio.run(open_agent(WEATHER).conversation().say(QUESTION))
    assert explain(turn, "No weather today") == 'rule "No weather today" fired after a task had failed'


def test_a_rule_that_was_not_asked_cannot_be_explained() -> None:
    turn = asyncio.run(open_agent(WEATHER).conversation().say("hello"))
    with pytest.raises(UsageError, match="no rule `Weather in a cit` was asked"):
        explain(turn, "Weather in a cit")


def test_of_a_rule_that_was_not_reached_it_is_told_what_would_have_to_change(tmp_path: Path) -> None:
    text, _ = why(
        tmp_path, {"First": [condition("negation", action("x"))], "Second": []}, strategy="executeUntilFirstSuccess"
    )
    assert text.splitlines()[1:] == ["    Second  conditions hold; needed: action x this turn"]
