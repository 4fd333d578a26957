"""`turnout match`: which rules fire for a conversation given as facts, one or a batch."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doors import ROOT, RULES, refused, turnout, write

FACTS = ROOT / "samples" / "outage.facts.json"


def rule(name: str, *conditions: dict[str, Any], actions: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"name": name, "actions": list(actions or (name.lower(),)), "conditions": list(conditions)}


def rule_set(*rules: dict[str, Any], **flags: object) -> dict[str, Any]:
    return {**flags, "behaviorGroups": [{"executionStrategy": "executeAll", "rules": list(rules)}]}


def condition(kind: str, **configs: object) -> dict[str, Any]:
    return {"type": kind, "configs": configs}


def match(folder: Path, rules: dict[str, Any], facts: dict[str, Any], *more: object) -> Any:
    """The JSON answer for a rule set and facts that are both fine."""
    ended = turnout(
        "match", write(folder / "r.json", rules), "--facts", write(folder / "f.json", facts), "--json", *more
    )
    assert (ended.code, ended.err) == (0, "")
    return ended.data


def test_json_tells_what_fired_what_failed_and_the_actions_afterwards() -> None:
    ended = turnout("match", RULES, "--facts", FACTS, "--json")
    assert (ended.code, ended.err) == (0, "")
    assert list(ended.data) == ["fired", "failed", "actions"]
    assert ended.data == {
        "fired": ["Weather in a city", "No weather today"],
        "failed": ["Welcome"],
        "actions": ["task_failed_ai.labs.httpcalls", "current_weather", "weather_unavailable"],
    }


def test_nothing_that_fires_is_no_error(tmp_path: Path) -> None:
    rules = rule_set(rule("A", condition("actionmatcher", actions="x")))
    assert match(tmp_path, rules, {"steps": [{}]}) == {"fired": [], "failed": ["A"], "actions": []}


@pytest.mark.parametrize(
    ("set_flags", "config", "actions"),
    [
        ({}, {}, ["before", "a"]),
        ({"appendActions": False}, {}, ["a"]),
        ({"appendActions": False}, {"appendActions": True}, ["before", "a"]),
        ({}, {"appendActions": "false"}, ["a"]),
        ({}, {"expressionsAsActions": "true"}, ["before", "a", "greeting"]),
        ({"expressionsAsActions": True}, {"expressionsAsActions": False}, ["before", "a"]),
    ],
)
def test_the_config_of_the_facts_wins_over_the_rule_set(
    tmp_path: Path, set_flags: dict[str, object], config: dict[str, object], actions: list[str]
) -> None:
    facts = {"steps": [{"actions": ["before"], "expressions": "greeting(hello)"}], "config": config}
    assert match(tmp_path, rule_set(rule("A"), **set_flags), facts)["actions"] == actions


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        (
            condition("contextmatcher", contextKey="k", contextType="string", string="v"),
            {"context": {"k": "v"}},
        ),
        (
            condition("contextmatcher", contextKey="k", contextType="object", objectKeyPath="a"),
            {"context": {"k": {"type": "object", "value": {"a": 1}}}},
        ),
        (
            condition("dynamicvaluematcher", valuePath="memory.current.v.w", equals="7"),
            {"values": {"v": {"w": 7}}},
        ),
        (condition("contentTypeMatcher", mimeType="image/*"), {"attachments": ["image/png"]}),
        (condition("contentTypeMatcher", mimeType="image/*"), {"attachments": [{"mimeType": "image/png"}]}),
        (
            condition("outcomematcher", taskId="eddi://weather", errorType="timeout"),
            {"outcomes": [{"task": "weather", "status": "failed", "errorType": "timeout"}]},
        ),
        (
            condition("digestmatcher", taskId="weather", contains="503"),
            {"digests": [{"taskId": "eddi://weather", "text": "HTTP 503"}]},
        ),
        (condition("occurrence", behaviorRuleName="B", minTimesOccurred="1"), {"rulesSuccess": ["B"]}),
    ],
    ids=lambda value: str(value.get("type", "")),
)
def test_each_kind_of_fact_reaches_its_condition(tmp_path: Path, asked: dict[str, Any], facts: dict[str, Any]) -> None:
    assert match(tmp_path, rule_set(rule("A", asked)), {"steps": [facts]})["fired"] == ["A"]
    assert match(tmp_path, rule_set(rule("A", asked)), {"steps": [{}]})["fired"] == []


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        (condition("dynamicvaluematcher", valuePath="properties.n", equals="2"), {"properties": {"n": 2}}),
        (condition("deploymentContext", when="production"), {"environment": "Production"}),
        (condition("deploymentContext", tagMatches="beta"), {"tags": ["Beta"]}),
        (
            condition("capabilityMatch", skill="translate"),
            {"capabilities": [{"skill": "Translate", "agentId": "a1", "confidence": "high"}]},
        ),
    ],
    ids=lambda value: str(value.get("type", "")),
)
def test_what_surrounds_the_steps_reaches_its_condition(
    tmp_path: Path, asked: dict[str, Any], facts: dict[str, Any]
) -> None:
    assert match(tmp_path, rule_set(rule("A", asked)), {"steps": [{}], **facts})["fired"] == ["A"]
    assert match(tmp_path, rule_set(rule("A", asked)), {"steps": [{}]})["fired"] == []


def test_the_last_step_is_this_turn(tmp_path: Path) -> None:
    asked = condition("actionmatcher", actions="x", occurrence="lastStep")
    assert match(tmp_path, rule_set(rule("A", asked)), {"steps": [{"actions": ["x"]}, {}]})["fired"] == ["A"]
    assert match(tmp_path, rule_set(rule("A", asked)), {"steps": [{}, {"actions": ["x"]}]})["fired"] == []


def test_people_read_what_fired_failed_and_was_not_reached() -> None:
    ended = turnout("match", RULES, "--facts", FACTS)
    assert (ended.code, ended.err) == (0, "")
    assert "fired        No weather today → weather_unavailable" in ended.out
    assert "failed       Welcome" in ended.out
    assert "not reached  Goodbye" in ended.out


def test_warnings_are_told_beside_the_answer(tmp_path: Path) -> None:
    rules = write(tmp_path / "r.json", rule_set(rule("A"), rule("A")))
    ended = turnout("match", rules, "--facts", FACTS)
    assert ended.code == 0
    assert "warning[S003]" in ended.err


def test_problems_of_both_files_are_told_in_one_run(tmp_path: Path) -> None:
    rules = write(tmp_path / "r.json", {"behaviourGroups": []})
    facts = write(tmp_path / "f.json", {"steps": [{"acton": []}]})
    ended = turnout("match", rules, "--facts", facts, "--json")
    assert ended.code == 2
    assert ended.data["error"] == "load"
    assert [Path(one["file"]).name for one in ended.data["problems"]] == ["r.json", "f.json"]


@pytest.mark.parametrize(
    ("facts", "place", "said"),
    [
        ('{"steps": []}', "1:11", "at least one step is needed"),
        ("{}", "1:1", "requires `steps`"),
        ("[]", "1:1", "must be an object"),
        ('{"steps": [{"acton": []}]}', "1:13", "did you mean `actions`?"),
        ('{"steps": {}}', "1:11", "`steps` must be a list"),
        ('{"steps": [{"actions": "greet"}]}', "1:24", "`actions` must be a list"),
        ('{"steps": [{"context": {"k": 5}}]}', "1:30", "must be a text or an object with `type` and `value`"),
        ('{"steps": [{"context": {"k": {"type": "string"}}}]}', "1:30", "context `k` requires `value`"),
        (
            '{"steps": [{"context": {"k": {"type": "strin", "value": 1}}}]}',
            "1:39",
            "did you mean `string`?",
        ),
        ('{"steps": [{"outcomes": [{"task": "a", "status": "faild"}]}]}', "1:50", "did you mean `failed`?"),
        ('{"steps": [{}], "config": {"appendActions": "maybe"}}', "1:45", "must be true or false"),
    ],
)
def test_facts_of_the_wrong_shape_are_refused_at_their_place(tmp_path: Path, facts: str, place: str, said: str) -> None:
    file = tmp_path / "f.json"
    file.write_text(facts, encoding="utf-8")
    ended = turnout("match", RULES, "--facts", file)
    assert refused(ended)
    assert ended.err.startswith(f"{file.as_posix()}:{place}: error[")
    assert said in ended.err


def test_a_folder_or_nothing_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        assert refused(turnout("match", RULES, "--facts", path))
        assert refused(turnout("match", path, "--facts", FACTS))
        assert refused(turnout("match", "--batch", path))


@pytest.mark.parametrize(
    "arguments",
    [[], [RULES], ["--facts", FACTS], ["--batch", FACTS, "--facts", FACTS], ["--batch", FACTS, "--why"]],
)
def test_a_call_that_lacks_or_mixes_files_is_a_usage_error(arguments: list[object]) -> None:
    ended = turnout("match", *arguments)
    assert ended.code == 2
    assert "Traceback" not in ended.err


@settings(max_examples=50)
@given(
    content=st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["steps", "context", "actions", "config", "values", "x"]), inner, max_size=3
            )
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
)
def test_random_facts_are_answered_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("facts") / "f.json"
    file.write_bytes(content)
    ended = turnout("match", RULES, "--facts", file, "--json")
    assert ended.err == ""
    assert ended.code == 0 or (ended.code, ended.data["error"]) == (2, "load")


def batch(folder: Path, lines: list[object], *more: object) -> list[Any]:
    """The answers to a batch; a line that is bytes stands as it is."""
    file = folder / "lines.jsonl"
    file.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    ended = turnout("match", *more, "--batch", file)
    assert (ended.code, ended.err) == (0, "")
    return ended.lines


def test_a_batch_answers_each_line_under_its_id(tmp_path: Path) -> None:
    rules = rule_set(rule("A", condition("actionmatcher", actions="x")))
    lines: list[object] = [
        {"id": "one", "ruleset": rules, "steps": [{"actions": ["x"]}]},
        {"id": 2, "ruleset": rules, "steps": [{}]},
    ]
    assert batch(tmp_path, lines) == [
        {"id": "one", "fired": ["A"], "failed": [], "actions": ["x", "a"]},
        {"id": 2, "fired": [], "failed": ["A"], "actions": []},
    ]


def test_a_rule_set_for_all_lines_is_named_once_and_a_lines_own_one_wins(tmp_path: Path) -> None:
    common = write(tmp_path / "r.json", rule_set(rule("A")))
    lines: list[object] = [{"steps": [{}]}, {"steps": [{}], "ruleset": rule_set(rule("B"))}]
    assert [answer["fired"] for answer in batch(tmp_path, lines, common)] == [["A"], ["B"]]


def test_a_broken_line_is_told_with_its_number_and_the_others_are_answered(tmp_path: Path) -> None:
    rules = rule_set(rule("A"))
    lines: list[object] = [
        b"",
        b"{half",
        {"id": "typo", "ruleset": rules, "stepz": []},
        {"id": "no rules", "steps": [{}]},
        {
            "id": "circle",
            "steps": [{}],
            "ruleset": rule_set(rule("A", condition("dependency", reference="A"))),
        },
        b"\xff\xfe",
        b"[" * 100_000,
        b"5",
        {"id": "good", "ruleset": rules, "steps": [{}]},
    ]
    answers = batch(tmp_path, lines)
    assert [(answer["id"], answer.get("error")) for answer in answers] == [
        (None, "load"),
        ("typo", "load"),
        ("no rules", "load"),
        ("circle", "load"),
        (None, "load"),
        (None, "load"),
        (None, "load"),
        ("good", None),
    ]
    assert [answer["problems"][0]["line"] for answer in answers[:-1]] == [2, 3, 4, 5, 6, 7, 8]
    assert [list(answer["problems"][0]) for answer in answers[:-1]] == [
        ["file", "line", "column", "message", "hint"]
    ] * 7


def test_the_problems_of_a_line_have_its_columns(tmp_path: Path) -> None:
    line = json.dumps({"steps": [{}], "ruleset": {"behaviorGroups": [{"rulez": []}]}})
    (answer,) = batch(tmp_path, [line.encode()])
    assert answer["problems"][0]["column"] == line.index('"rulez"') + 1


def test_a_batch_can_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    line = json.dumps({"id": 1, "ruleset": rule_set(rule("A")), "steps": [{}]})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line.encode())))
    assert turnout("match", "--batch", "-").data["fired"] == ["A"]


def test_a_common_rule_set_that_does_not_load_refuses_the_batch(tmp_path: Path) -> None:
    assert refused(turnout("match", write(tmp_path / "r.json", {"rulez": 1}), "--batch", write(tmp_path / "b", {})))


TEXT = 'rule "A" when user says a then x\nrule "B" when user says b then y\n'


@pytest.mark.parametrize("more", [(), ("--why",)])
def test_the_rules_may_be_a_text(tmp_path: Path, more: tuple[str, ...]) -> None:
    rules = tmp_path / "r.turnout"
    rules.write_text(TEXT, encoding="utf-8")
    facts = write(tmp_path / "f.json", {"steps": [{"expressions": "b"}]})
    ended = turnout("match", rules, "--facts", facts, "--json", *more)
    assert (ended.code, ended.data["fired"]) == (0, ["B"])


def test_so_they_may_for_a_batch(tmp_path: Path) -> None:
    rules, lines = tmp_path / "r.turnout", tmp_path / "b.jsonl"
    rules.write_text(TEXT, encoding="utf-8")
    lines.write_text('{"steps": [{"expressions": "a"}]}\n', encoding="utf-8")
    assert turnout("match", rules, "--batch", lines).data["fired"] == ["A"]


def test_a_text_of_rules_that_does_not_load_is_told(tmp_path: Path) -> None:
    rules = tmp_path / "r.turnout"
    rules.write_text('rule "A"', encoding="utf-8")
    assert refused(turnout("match", rules, "--facts", FACTS))


def test_facts_alone_lack_the_rule_set() -> None:
    ended = turnout("match", "--facts", FACTS)
    assert refused(ended)
    assert "the rule set is missing" in ended.err
