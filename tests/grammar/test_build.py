"""Texts become the JSON that rules and outputs are read from, and every problem has its place."""

import json
from pathlib import Path

import pytest

from turnout.grammar.program import agent_of_program, look_at, read_program, read_text_document, to_json
from turnout.rules.agents import AgentDefinition, RulesSettings
from turnout.rules.calls import HttpCallsFile
from turnout.rules.conditions import MAX_NESTING
from turnout.rules.errors import LoadError, Problem
from turnout.rules.outputs import OutputSet
from turnout.rules.rulesets import RuleSet


def condition(text: str) -> object:
    """The JSON of a condition."""
    made = to_json(read_program(f'rule "A" when {text} then a')).rules
    assert made is not None
    (found,) = made["behaviorGroups"][0]["rules"][0]["conditions"]  # type: ignore[index]
    return found


def configs(text: str) -> object:
    found = condition(text)
    assert isinstance(found, dict)
    return found["configs"]


def problems(text: str | bytes) -> list[Problem]:
    with pytest.raises(LoadError) as raised:
        read_program(text, "a.turnout")
    return list(raised.value.problems)


def places(text: str | bytes) -> list[tuple[str, int, int]]:
    return [(one.code, one.line, one.column) for one in problems(text)]


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("user says greeting(*)", "inputmatcher", {"expressions": "greeting(*)"}),
        (
            "user says a(b,1) directly followed by c this turn",
            "inputmatcher",
            {"expressions": "a(b, 1), c", "occurrence": "currentStep"},
        ),
        ('user says "a,b"', "inputmatcher", {"expressions": "a,b"}),
        ("action a directly followed by b no turn", "actionmatcher", {"actions": "a, b", "occurrence": "never"}),
        ("task x failed", "actionmatcher", {"actions": "task_failed_x"}),
        ("task x failed due to timeout", "outcomematcher", {"taskId": "x", "errorType": "timeout"}),
        ("task x failed 3 times in a row", "outcomematcher", {"taskId": "x", "minConsecutive": "3"}),
        ("task x succeeded", "outcomematcher", {"taskId": "x", "status": "succeeded"}),
        ('task x failed mentioning "503"', "digestmatcher", {"taskId": "x", "contains": "503"}),
        ('context k is "v"', "contextmatcher", {"contextKey": "k", "contextType": "string", "string": "v"}),
        ('rule "R" never fired', "occurrence", {"behaviorRuleName": "R", "maxTimesOccurred": "0"}),
        (
            'rule "R" fired exactly 2 times',
            "occurrence",
            {"behaviorRuleName": "R", "minTimesOccurred": "2", "maxTimesOccurred": "2"},
        ),
        ('rule "R" would fire', "dependency", {"reference": "R"}),
        (
            'value a.b either is "1" or contains "2"',
            "dynamicvaluematcher",
            {"valuePath": "a.b", "equals": "1", "contains": "2"},
        ),
        ("size of a is exactly 0", "sizematcher", {"valuePath": "a", "equal": "0"}),
        ('condition "deploymentContext" with "when" "prod"', "deploymentContext", {"when": "prod"}),
    ],
)
def test_a_phrase_is_its_condition(text: str, kind: str, wanted: object) -> None:
    assert condition(text) == {"type": kind, "configs": wanted}


def test_several_conditions_under_not_are_one_negation() -> None:
    a, b = ({"type": "actionmatcher", "configs": {"actions": name}} for name in "ab")
    assert condition("not all of ( action a and action b )") == {"type": "negation", "conditions": [a, b]}
    every = {"type": "connector", "configs": {"operator": "AND"}, "conditions": [a, b]}
    assert condition("not ( all of ( action a and action b ) )") == {"type": "negation", "conditions": [every]}


def test_with_gives_configs_and_keeping_what_stands_beside_them() -> None:
    found = condition('action a with _x 1 keeping _y [true, null, "\\u00e9"]')
    assert found == {"type": "actionmatcher", "configs": {"actions": "a", "_x": 1}, "_y": [True, None, "é"]}


def test_absent_is_not_the_default() -> None:
    assert configs("action a") == {"actions": "a"}
    assert configs("action a this turn") == {"actions": "a", "occurrence": "currentStep"}
    outputs = to_json(read_program("output a output a from the 1st time output a from the 12th time")).outputs
    assert outputs == {
        "outputSet": [{"action": "a"}, {"action": "a", "timesOccurred": 0}, {"action": "a", "timesOccurred": 11}]
    }


def test_rules_before_a_group_and_behind_an_output_belong_to_the_group_before() -> None:
    text = (
        'rule "A" when always then a group "G" rule "B" when always then b output a rule "C" when always then nothing'
    )
    groups = read_program(text).rule_set.behavior_groups
    assert [(group.name, [rule.name for rule in group.rules]) for group in groups] == [(None, ["A"]), ("G", ["B", "C"])]


def test_a_name_is_made_nfc_and_a_text_stays_as_it_is() -> None:
    (rule,) = read_program('rule "e\u0301" when action e\u0301 then e\u0301').rule_set.behavior_groups[0].rules
    assert (rule.name, rule.actions) == ("e\u0301", ("é",))


@pytest.mark.parametrize("text", ["", "\n \n", "#", "# only this\n"])
def test_a_text_without_items_says_nothing(text: str) -> None:
    program = read_program(text)
    assert (program.rule_set, program.output_set) == (RuleSet(), OutputSet())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_problem_in_what_is_said_has_its_place_in_the_text(end: str) -> None:
    text = end.join(['\ufeffrule "A"', "  when task x failed due to tmeout", '   and condition "nogood"', "  then a"])
    assert places(text.encode()) == [("V003", 2, 29), ("V004", 3, 18)]


def test_one_run_tells_errors_of_the_syntax_and_of_what_is_said() -> None:
    text = 'rule "A" when task x failed due to tmeout then a\nrule "B" then b\noutput c from the 0th time\n'
    assert [line for _, line, _ in places(text)] == [1, 2, 3]


def test_circles_of_dependencies_are_told_at_their_line() -> None:
    text = 'rule "A" when rule "B" would fire then a\nrule "B" when rule "A" would fire then b'
    ((code, line, _),) = places(text)
    assert (code, line) == ("S001", 2)


@pytest.mark.parametrize("words", ["not ", "any of ( ", "all of ( "])
@pytest.mark.parametrize("depth", [MAX_NESTING, 300, 20_000])
def test_conditions_that_stand_too_deep_are_one_problem(words: str, depth: int) -> None:
    closing = " )" * depth if "(" in words else ""
    ((code, line, _),) = places(f'\nrule "A" when {words * depth}action a{closing} then a')
    assert (code, line) == ("S005", 2)


def test_conditions_may_stand_as_deep_as_the_loader_takes_them() -> None:
    read_program(f'rule "A" when {"not " * (MAX_NESTING - 1)}action a then a')


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('rule "A" with _a 1, _a 2 when always then a', "R009"),
        ('rule "A" with name "B" when always then a', "R009"),
        ('rule "A" when action a this turn with occurrence "never" then a', "R009"),
        ('language "en" language "de"', "R009"),
        ("set append_actions on set appendActions true", "R009"),
        ('set behaviorGroups "x"', "R009"),
        ("policy enabled policy disabled", "R009"),
        ("policy enabled disabled", "R009"),
        ("steps rules steps output", "R009"),
        ('output a show x with a {"b": 1, "b": 2}', "J008"),
        ("output a show x with a 1e999", "J006"),
        (f"output a from the {'9' * 5000}th time", "J006"),
        (f"output a show x with a {'[' * 300}{']' * 300}", "J007"),
        ('output a say "\\q"', "J003"),
    ],
)
def test_what_the_grammar_takes_and_the_language_does_not_is_a_problem_with_a_place(text: str, code: str) -> None:
    ((found, line, column),) = places(text)
    assert found == code
    assert line == 1
    assert column > 0


def test_a_text_as_deep_as_somebody_likes_is_read() -> None:
    depth = 20_000
    (found,) = (
        read_program(f'rule "A" when user says {"a(" * depth}b{")" * depth} then a').rule_set.behavior_groups[0].rules
    )
    assert len(str(found.conditions[0].configs)) > depth


def test_bytes_that_are_no_utf8_are_one_problem() -> None:
    ((code, _, _),) = places('rule "A"'.encode("utf-16"))
    assert code == "J001"


CHECK = """check "weather" given property lang "de"
  turn
    expect say nothing
  turn "hi"
    expect say "a" or "b" expect nobody sees "s"
    task weather fails status 503 body "x" given context userInfo {"username": "Ada"}
  turn user says weather(berlin), now
    expect rule "A" stays silent
"""


def test_a_check_is_data_with_places() -> None:
    (check,) = read_program(CHECK, "a.turnout").checks
    opening, typed, meant = check.turns
    assert (check.name, check.file, check.line, check.givens[0].value) == ("weather", "a.turnout", 1, "de")
    assert (opening.typed, opening.meant, opening.line) == (None, None, 2)
    assert (typed.faults[0].status, typed.faults[0].body, typed.givens[0].value) == (503, "x", {"username": "Ada"})
    assert [(one.kind, one.wanted, one.watcher) for one in typed.expectations] == [
        ("say", ("a", "b"), None),
        ("sees", ("s",), "nobody"),
    ]
    assert (meant.meant, meant.expectations[0].line, meant.expectations[0].column) == ("weather(berlin), now", 8, 5)


def test_checks_policy_and_steps_have_no_place_in_json() -> None:
    made = to_json(read_program(f"policy enabled steps rules {CHECK}"))
    assert (made.rules, made.outputs, made.dropped) == (None, None, ("policy", "steps", "check"))


AGENT = """policy on failure exclude_all continue after failure
steps parser "words.json", rules, httpcalls "weather.httpcalls.json" within 500 ms, my-tool, output
rule "A" when task my-tool failed then a
output a say "hello"
"""
CALLS = {"targetServerUrl": "http://127.0.0.1:9", "httpCalls": []}


def agent(folder: Path, text: str = AGENT) -> Path:
    (folder / "weather.httpcalls.json").write_text(json.dumps(CALLS))
    (folder / "words.json").write_text(json.dumps({"words": [{"word": "hi", "expressions": "greeting(hi)"}]}))
    file = folder / "weather.turnout"
    file.write_text(text)
    return file


def opened(file: Path) -> AgentDefinition:
    return agent_of_program(read_program(file.read_text(), file.as_posix()), file)


def test_one_text_is_an_agent(tmp_path: Path) -> None:
    made = opened(agent(tmp_path))
    assert (made.name, made.policy.enabled, made.policy.on_failure) == ("weather", True, "exclude_all")
    assert [(step.task, step.timeout_ms) for step in made.steps] == [
        ("ai.labs.parser", None),
        ("ai.labs.behavior", None),
        ("ai.labs.httpcalls", 500),
        ("my-tool", None),
        ("ai.labs.output", None),
    ]
    rules, calls, outputs = made.steps[1].settings, made.steps[2].settings, made.steps[4].settings
    assert isinstance(rules, RulesSettings)
    assert rules.rule_set.behavior_groups[0].rules[0].name == "A"
    assert isinstance(calls, HttpCallsFile)
    assert isinstance(outputs, OutputSet)


def test_an_agent_without_steps_asks_its_rules_and_gives_its_outputs(tmp_path: Path) -> None:
    made = opened(agent(tmp_path, 'rule "A" when always then a'))
    assert [step.task for step in made.steps] == ["ai.labs.behavior", "ai.labs.output"]
    assert not made.policy.enabled


@pytest.mark.parametrize(
    ("steps", "code", "column"),
    [
        ('rules, httpcalls "../x.httpcalls.json"', "A006", 24),
        ('rules, httpcalls "missing.httpcalls.json"', "A004", 24),
        ('rules, httpcalls "linked.httpcalls.json"', "A015", 24),
        ("rules, httpcalls", "A008", 14),
        ('rules, httpcalls "weather.httpcalls.json" within 0 ms', "V006", 14),
    ],
)
def test_a_step_with_a_wrong_file_is_told_at_its_place(tmp_path: Path, steps: str, code: str, column: int) -> None:
    file = agent(tmp_path, f"steps {steps}")
    (tmp_path / "linked.httpcalls.json").symlink_to(tmp_path / "weather.httpcalls.json")
    with pytest.raises(LoadError) as raised:
        opened(file)
    assert [(one.code, one.line, one.column) for one in raised.value.problems] == [(code, 1, column)]


def test_a_text_is_a_document_of_rules_and_one_of_outputs() -> None:
    text = 'rule "A" when always then a output a say "x" with _y 1'
    assert read_text_document(RuleSet, text).model == read_program(text).rule_set
    assert read_text_document(OutputSet, text).model == read_program(text).output_set
    assert not read_text_document(HttpCallsFile, text).loads


def test_what_can_be_read_of_a_text_with_errors_is_there() -> None:
    program = look_at('rule "A" when then a\nrule "B" when always then b')
    assert not program.loads
    assert [rule.name for rule in program.rule_set.behavior_groups[0].rules] == ["B"]
