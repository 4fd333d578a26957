"""Documents to models, and what is said of documents that do not load."""

import gc
import json
from collections.abc import Callable
from functools import partial

import pytest

import corpus
from building import CONDITION_TYPES
from turnout.rules.agents import AgentFile
from turnout.rules.errors import LoadError, Problem
from turnout.rules.findings import CODES
from turnout.rules.parsing import parse_json
from turnout.rules.reading import collector_paused, read, read_output_set, read_rule_set
from turnout.rules.rulesets import RuleSet
from turnout.rules.spelling import edits, nearest


def problems(reader: Callable[..., object], source: object, file: str = "") -> tuple[Problem, ...]:
    """What is wrong with a document that must not load."""
    with pytest.raises(LoadError) as raised:
        reader(source, file)
    assert all(problem.code in CODES for problem in raised.value.problems)
    assert all(problem.file == file for problem in raised.value.problems)
    return raised.value.problems


def rules(*conditions: object, name: str = "Greet") -> dict[str, object]:
    return {"behaviorGroups": [{"rules": [{"name": name, "actions": ["hi"], "conditions": list(conditions)}]}]}


def only(reader: Callable[..., object], source: object) -> Problem:
    (problem,) = problems(reader, source)
    return problem


# --- JSON


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("", "J002", 1, 1),
        (" \n", "J002", 2, 1),
        ('{"behaviorGroups": [', "J004", 1, 21),
        ('{\n "a": "b', "J004", 2, 7),
        ('{"a": 1,\n}', "J003", 2, 1),
        ("{'a': 1}", "J003", 1, 2),
        ('{"a": 1 "b": 2}', "J003", 1, 9),
        ('{"a" 1}', "J003", 1, 6),
        ("{} {}", "J003", 1, 4),
        ("// comment\n{}", "J003", 1, 1),
        ('{"a": True}', "J003", 1, 7),
        ('{"a": "x\ty"}', "J005", 1, 9),
        ('{\r\n"a": NaN}', "J006", 2, 6),
        ('{"NaN": "NaN", "a": -Infinity}', "J006", 1, 21),
        ('{"a": [1, 1e999]}', "J006", 1, 11),
        ('{"a": ' + "9" * 5000 + "}", "J006", 1, 7),
    ],
)
def test_what_is_not_json_is_told_at_its_place(text: str, code: str, line: int, column: int) -> None:
    problem = only(read_rule_set, text)
    assert (problem.code, problem.line, problem.column) == (code, line, column)
    assert problem.hint


def test_the_control_character_of_a_real_file_is_found() -> None:
    file = corpus.folder("broken") / "httpcalls-control-character.json"
    problem = only(parse_json, file.read_bytes())
    assert (problem.code, problem.line, problem.column) == ("J005", 87, 709)


def test_brackets_without_end_are_no_recursion_error() -> None:
    assert only(read_rule_set, "[" * 100_000).code == "J007"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(encoding: str) -> None:
    problem = only(read_rule_set, '{"behaviorGroups": []}'.encode(encoding))
    assert problem.code == "J001"
    assert "UTF-16" in problem.message


def test_other_encodings_are_refused_at_the_first_strange_byte() -> None:
    problem = only(read_rule_set, '{\n"name": "größe"}'.encode("latin-1"))
    assert (problem.code, problem.line, problem.column) == ("J001", 2, 12)


@pytest.mark.parametrize("source", ["\ufeff{}", "\ufeff{}".encode()])
def test_a_byte_order_mark_is_no_part_of_the_text(source: str | bytes) -> None:
    assert read_rule_set(source).model == RuleSet()
    broken = source + "x" if isinstance(source, str) else source + b"x"
    assert only(read_rule_set, broken).column == 3


def test_a_key_written_twice_is_a_warning() -> None:
    (note,) = read_rule_set('{"appendActions": true,\n "appendActions": false}').notes
    assert (note.code, note.severity, note.line, note.column) == ("J008", "warning", 2, 2)


# --- keys


@pytest.mark.parametrize(
    ("reader", "document", "hint"),
    [
        (read_rule_set, {"behaviourGroups": []}, "did you mean `behaviorGroups`?"),
        (read_rule_set, {"behavior_groups": []}, "did you mean `behaviorGroups`?"),
        (read_rule_set, {"behaviorGroups": [{"rules": [{"condtions": []}]}]}, "did you mean `conditions`?"),
        (read_rule_set, {"behaviorGroups": [{"rules": [{"CONDITIONS": []}]}]}, "did you mean `conditions`?"),
        (read_rule_set, {"behaviorGroups": [{"rules": [{"childern": []}]}]}, "did you mean `children`?"),
        (read_output_set, {"outputset": []}, "did you mean `outputSet`?"),
        (partial(read, AgentFile), {"memoryPolicies": {}}, None),
        (read_rule_set, {"outputSet": []}, None),
    ],
)
def test_a_misspelt_key_never_makes_an_empty_document(
    reader: Callable[..., object], document: dict[str, object], hint: str | None
) -> None:
    found = [problem for problem in problems(reader, json.dumps(document, indent=1)) if problem.severity == "error"]
    assert [problem.code for problem in found] == ["K001" if hint else "K005"]
    assert hint is None or found[0].hint == hint
    assert found[0].line > 1 or hint is None


def test_a_misspelt_key_of_configs_is_one_problem_only() -> None:
    problem = only(read_rule_set, rules({"type": "inputmatcher", "configs": {"expression": "a"}}))
    assert problem.message == "`inputmatcher` in rule `Greet`: there is no key `expression` here"


def test_another_unknown_key_is_kept_with_a_warning() -> None:
    reading = read_rule_set({"behaviorGroups": [{"rules": [{"name": "A", "owner": "me"}]}]})
    assert [(note.code, note.severity) for note in reading.notes] == [("K002", "warning")]
    assert reading.model.model_dump(by_alias=True)["behaviorGroups"][0]["rules"][0]["owner"] == "me"


def test_a_key_with_an_underscore_is_the_authors_own() -> None:
    assert read_rule_set({"behaviorGroups": [], "_comments": [[0, False, "hello"]]}).notes == ()


def test_an_unknown_key_holds_no_bottomless_value() -> None:
    document = '{"behaviorGroups": [], "extra": ' + "[" * 300 + "]" * 300 + "}"
    assert only(read_rule_set, document).code == "J007"


# --- values


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"type": "actionmatcher", "configs": {"actions": " , "}}, "`actions` must name at least one action"),
        ({"type": "actionmatcher", "configs": {"actions": ""}}, "`actions` must name at least one action"),
        ({"type": "actionmatcher", "configs": {"actions": None}}, "requires `actions`"),
        ({"type": "actionmatcher", "configs": {}}, "requires `actions`"),
        ({"type": "actionmatcher"}, "requires `actions`"),
        ({"type": "inputmatcher", "configs": {"expressions": " "}}, "`expressions` must not be blank"),
        ({"type": "negation"}, "needs at least one condition of its own"),
        ({"type": "negation", "conditions": []}, "needs at least one condition of its own"),
        ({"type": "connector", "configs": {"operator": "OR"}}, "needs at least one condition of its own"),
        (
            {"type": "inputmatcher", "configs": {"expressions": "a", "occurrence": "LASTSTEP"}},
            "`occurrence` must be `currentStep`, `lastStep`, `anyStep` or `never`, not `LASTSTEP`",
        ),
        (
            {"type": "inputmatcher", "configs": {"expressions": "a", "occurrence": None}},
            "`occurrence` must be `currentStep`, `lastStep`, `anyStep` or `never`, not null",
        ),
        (
            {"type": "occurrence", "configs": {"behaviorRuleName": "A"}},
            "requires at least one of `minTimesOccurred` and `maxTimesOccurred`",
        ),
        ({"type": "occurrence", "configs": {"minTimesOccurred": "1"}}, "requires `behaviorRuleName`"),
        ({"type": "sizematcher", "configs": {"min": " 1"}}, "`min` is not a whole number: ` 1`"),
        ({"type": "contextmatcher"}, "requires `contextKey` and `contextType`"),
        ({"type": "contextmatcher", "configs": {"contextKey": "a"}}, "requires `contextType`"),
        (
            {"type": "contextmatcher", "configs": {"contextKey": "a", "contextType": "string"}},
            "requires `string`",
        ),
        (
            {"type": "contextmatcher", "configs": {"contextKey": "a", "contextType": "array"}},
            "`contextType` must be `string`, `expressions` or `object`, not `array`",
        ),
        ({"type": "actionmatcher", "configs": {"actions": ["a"]}}, "`actions` must be a text, not a list"),
    ],
)
def test_a_refusal_names_the_condition_and_its_rule(condition: dict[str, object], message: str) -> None:
    problem = only(read_rule_set, rules(condition))
    assert problem.message == f"`{condition['type']}` in rule `Greet`: {message}"


def test_an_operator_is_and_or_or_in_any_case() -> None:
    child = {"type": "deploymentContext"}
    for operator in ("AND", "or", "Or"):
        read_rule_set(rules({"type": "connector", "configs": {"operator": operator}, "conditions": [child]}))
    read_rule_set(rules({"type": "connector", "conditions": [child]}))
    problem = only(read_rule_set, rules({"type": "connector", "configs": {"operator": "XOR"}, "conditions": [child]}))
    assert problem.message == "`connector` in rule `Greet`: `operator` must be `AND` or `OR`, not `XOR`"


@pytest.mark.parametrize(("written", "meant"), [("actionmatchr", "actionmatcher"), ("contenttype", None)])
def test_an_unknown_condition_type_is_refused_with_the_legal_ones(written: str, meant: str | None) -> None:
    problem = only(read_rule_set, rules({"type": written}))
    assert all(f"`{legal}`" in problem.message for legal in CONDITION_TYPES)
    assert problem.hint == (f"did you mean `{meant}`?" if meant else "write one of these types")


def test_a_bad_child_is_told_and_its_parents_are_not() -> None:
    child = {"type": "actionmatcher", "configs": {"actions": ","}}
    for kind in ("negation", "connector"):
        child = {"type": kind, "conditions": [child]}
    assert only(read_rule_set, rules(child)).message.startswith("`actionmatcher` in rule `Greet`: ")


@pytest.mark.parametrize("strategy", ["ExecuteAll", "executeall", "all", "executeAll "])
def test_an_unknown_strategy_is_refused(strategy: str) -> None:
    problem = only(read_rule_set, {"behaviorGroups": [{"name": "Main", "executionStrategy": strategy}]})
    assert problem.code == "V003"
    assert problem.message.startswith("group `Main`: `executionStrategy` must be")


@pytest.mark.parametrize("mode", ["Digest", "DIGEST", "digets", "", None, 7])
def test_an_unknown_failure_mode_is_refused_with_the_three(mode: object) -> None:
    problem = only(partial(read, AgentFile), {"memoryPolicy": {"strictWriteDiscipline": {"onFailure": mode}}})
    assert problem.message.startswith("`onFailure` must be `digest`, `exclude_all` or `keep_all`, not ")


def test_a_negative_count_of_an_output_is_refused() -> None:
    problem = only(read_output_set, {"outputSet": [{"action": "greet", "timesOccurred": -1}]})
    assert problem.message == "output `greet`: `timesOccurred` must be at least 0, not -1"


def test_a_single_output_with_a_count_above_zero_loads() -> None:
    assert read_output_set({"outputSet": [{"action": "greet", "timesOccurred": 1}]}).notes == ()


def test_a_name_in_a_message_is_short_and_on_one_line() -> None:
    problem = only(read_rule_set, rules({"type": "negation"}, name="a\nb" * 1000))
    assert "\n" not in problem.message
    assert len(problem.message) < 200


def test_all_that_is_wrong_is_told_at_once_in_reading_order() -> None:
    text = """{"behaviorGroups": [{"executionStrategy": "all",
      "rules": [{"name": 5},
      {"condtions": []},
      {"conditions": [{"type": "foo"}]}]}]}"""
    found = [(problem.line, problem.code) for problem in problems(read_rule_set, text, "rules.json")]
    assert found == [(1, "V003"), (2, "V002"), (3, "K001"), (4, "V004")]


# --- rules


def depends(name: str, *references: str) -> dict[str, object]:
    conditions = [{"type": "dependency", "configs": {"reference": reference}} for reference in references]
    return {"name": name, "conditions": conditions}


def group(*members: dict[str, object]) -> dict[str, object]:
    return {"behaviorGroups": [{"rules": list(members)}]}


@pytest.mark.parametrize(
    ("document", "chain"),
    [
        (group(depends("A", "A")), "A -> A"),
        (group(depends("A", "B"), depends("B", "A")), "A -> B -> A"),
        (
            group(depends("X", "A"), depends("A", "B"), depends("B", "C"), depends("C", "A")),
            "A -> B -> C -> A",
        ),
        (group(depends("A", "B"), depends("B"), depends("B", "A")), "A -> B -> A"),
        (
            group(
                {
                    "name": "A",
                    "conditions": [{"type": "negation", "conditions": depends("", "A")["conditions"]}],
                }
            ),
            "A -> A",
        ),
    ],
)
def test_a_circle_of_dependencies_is_one_error_with_its_chain(document: dict[str, object], chain: str) -> None:
    errors = [problem for problem in problems(read_rule_set, document) if problem.severity == "error"]
    assert [problem.code for problem in errors] == ["S001"]
    assert errors[0].message.endswith(f": {chain}")


def test_a_diamond_of_dependencies_is_no_circle() -> None:
    assert read_rule_set(group(depends("A", "B", "C"), depends("B", "D"), depends("C", "D"), depends("D"))).notes == ()


def test_a_long_chain_of_dependencies_is_followed_to_its_end() -> None:
    members = [depends(f"R{number}", f"R{number + 1}") for number in range(5000)]
    assert read_rule_set(group(*members, depends("R5000"))).notes == ()
    assert problems(read_rule_set, group(*members, depends("R5000", "R0")))[0].code == "S001"


def test_a_dependency_on_a_missing_rule_and_a_repeated_name_are_warnings() -> None:
    notes = read_rule_set(group(depends("A", "Gone"), depends("A"))).notes
    assert sorted((note.code, note.severity) for note in notes) == [("S002", "warning"), ("S003", "warning")]


def test_an_unreadable_json_path_is_refused_at_its_place() -> None:
    configs = {"contextKey": "user", "contextType": "object", "objectKeyPath": "a[?("}
    text = json.dumps(rules({"type": "contextmatcher", "configs": configs}), indent=1)
    problem = only(read_rule_set, text.replace('"rules"', '"behaviorRules"'))
    assert problem.code == "S004"
    assert text.splitlines()[problem.line - 1][problem.column - 1 :] == '"a[?("'


@pytest.mark.parametrize("depth", [50, 51, 120, 220])
def test_conditions_stand_at_most_fifty_deep(depth: int) -> None:
    condition: dict[str, object] = {"type": "deploymentContext"}
    for _ in range(depth - 1):
        condition = {"type": "negation", "conditions": [condition]}
    if depth <= 50:
        assert read_rule_set(rules(condition)).notes == ()
    else:
        assert only(read_rule_set, json.dumps(rules(condition))).code == "S005"


def test_children_of_a_matcher_are_not_ignored_in_silence() -> None:
    matcher = {
        "type": "inputmatcher",
        "configs": {"expressions": "a"},
        "conditions": [{"type": "deploymentContext"}],
    }
    assert [note.code for note in read_rule_set(rules(matcher)).notes] == ["S006"]


# --- the machinery


def test_the_collector_is_paused_while_reading_and_runs_afterwards() -> None:
    assert gc.isenabled()
    with collector_paused():
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    only(read_rule_set, "{")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        read_rule_set("{}")
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("left", "right", "count"),
    [
        ("", "", 0),
        ("rules", "rules", 0),
        ("rule", "rules", 1),
        ("ab", "ba", 1),
        ("abc", "xyz", 3),
        ("digets", "digest", 1),
    ],
)
def test_edits_are_counted(left: str, right: str, count: int) -> None:
    assert edits(left, right) == edits(right, left) == count


def test_edits_of_long_words_take_time_by_their_length() -> None:
    """Else these would take an hour."""
    word = "ab" * 50_000
    assert edits(word, word[:-1] + "x", 1) == 1
    assert edits(word, word[1:] + "ac", 4) == 2
    assert edits(word, "b" + word, 4) == 1


def test_the_nearest_word_is_at_most_two_edits_away() -> None:
    assert nearest("condtion", ["connector", "conditions", "condition"]) == "condition"
    assert nearest("conds", ["conditions"]) is None
