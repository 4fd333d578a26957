"""Models become text: pretty where that is exact, raw otherwise."""

import pytest

from turnout.grammar.names import expressions, name, ordinal, value
from turnout.grammar.phrases import phrase
from turnout.grammar.program import read_program, write_program
from turnout.rules.outputs import OutputSet
from turnout.rules.rulesets import RuleSet


def leaf(kind: str, **configs: object) -> dict[str, object]:
    return {"type": kind, "configs": configs}


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (leaf("inputmatcher", expressions="a(*), b(1)"), "user says a(*) directly followed by b(1)"),
        (leaf("inputmatcher", expressions="a(*),b"), 'user says "a(*),b"'),
        (leaf("inputmatcher", expressions="when(*)"), 'user says "when(*)"'),
        (leaf("inputmatcher", expressions="a", occurrence="anyStep"), "user says a any turn"),
        (leaf("actionmatcher", actions="a, b"), "action a directly followed by b"),
        (leaf("actionmatcher", actions="a,b"), 'action "a,b"'),
        (leaf("actionmatcher", actions="task_failed_eddi://x"), 'task "eddi://x" failed'),
        (leaf("actionmatcher", actions="task_failed_"), "action task_failed_"),
        (leaf("actionmatcher", actions="task_failed_a, b"), "action task_failed_a directly followed by b"),
        (
            leaf("outcomematcher", taskId="x", status="failed"),
            'condition "outcomematcher" with taskId "x", status "failed"',
        ),
        (leaf("outcomematcher", taskId="x", minConsecutive="1"), "task x failed 1 time in a row"),
        (
            leaf("outcomematcher", taskId="x", errorType="http", status="failed"),
            'task x failed due to http with status "failed"',
        ),
        (leaf("contextmatcher", contextKey="k", contextType="object", objectKeyPath="$.a"), 'context k has "$.a"'),
        (leaf("occurrence", behaviorRuleName="R", maxTimesOccurred="00"), 'rule "R" fired at most 00 times'),
        (
            leaf("occurrence", behaviorRuleName="R", minTimesOccurred="2", maxTimesOccurred="2"),
            'rule "R" fired exactly 2 times',
        ),
        (
            leaf("occurrence", behaviorRuleName="R", minTimesOccurred="1", maxTimesOccurred="-1"),
            'rule "R" fired at least 1 time with maxTimesOccurred "-1"',
        ),
        (leaf("occurrence", behaviorRuleName="R", minTimesOccurred="+1"), None),
        (leaf("sizematcher", valuePath="a", min="1", max="1"), "size of a is between 1 and 1"),
        (leaf("sizematcher", valuePath="a"), None),
        (leaf("dynamicvaluematcher", valuePath="a[0]", contains="x"), 'value "a[0]" contains "x"'),
        (leaf("dependency"), None),
        ({"type": "deploymentContext", "_x": 1}, 'condition "deploymentContext" keeping _x 1'),
        (
            {"type": "dependency", "configs": {"reference": "R"}, "conditions": [leaf("actionmatcher", actions="a")]},
            'condition "dependency" ( action a ) with reference "R"',
        ),
    ],
)
def test_a_condition_has_a_phrase_where_that_is_exact(condition: dict[str, object], text: str | None) -> None:
    told = str(phrase(condition))
    assert told == text if text is not None else told.startswith('condition "')
    model = RuleSet.model_validate({"behaviorGroups": [{"rules": [{"name": "A", "conditions": [condition]}]}]})
    assert told in write_program(model)


A, B = leaf("actionmatcher", actions="a"), leaf("actionmatcher", actions="b")
EVERY = {"type": "connector", "configs": {"operator": "AND"}, "conditions": [A, B]}


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (EVERY, "all of ( action a and action b )"),
        ({**EVERY, "configs": {"operator": "OR", "_x": "1"}}, 'any of ( action a or action b ) with _x "1"'),
        ({**EVERY, "configs": {}}, 'condition "connector" ( action a and action b )'),
        ({"type": "negation", "conditions": [A]}, "not action a"),
        ({"type": "negation", "conditions": [A, B]}, "not all of ( action a and action b )"),
        ({"type": "negation", "conditions": [EVERY]}, "not ( all of ( action a and action b ) )"),
        ({"type": "negation", "conditions": [{"type": "negation", "conditions": [A]}]}, "not not action a"),
        ({"type": "negation", "conditions": [A], "_x": None}, 'condition "negation" ( action a ) keeping _x null'),
    ],
)
def test_conditions_of_conditions_have_their_phrases(condition: dict[str, object], text: str) -> None:
    assert str(phrase(condition)) == text


@pytest.mark.parametrize("text", ["a", "ai.labs.llm", "my-tool", "a:b", "grüßen", "நன்றி", "failed", "turn", "_x"])
def test_a_plain_name_stands_bare(text: str) -> None:
    assert name(text) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", '""'),
        ("when", '"when"'),
        ("nothing", '"nothing"'),
        ("two words", '"two words"'),
        ("1a", '"1a"'),
        ("a.", '"a."'),
        ("e\u0301", '"e\u0301"'),
        ("a\u200db", '"a\\u200db"'),
        ("\ud800", '"\\ud800"'),
        ('a"\\\n', '"a\\"\\\\\\n"'),
        ("\x7f\xa0\U000e0001", '"\\u007f\\u00a0\\udb40\\udc01"'),
    ],
)
def test_an_odd_name_is_quoted_and_what_cannot_be_seen_is_escaped(text: str, written: str) -> None:
    assert name(text) == written
    (rule,) = read_program(f'rule "A" when always then {written}').rule_set.behavior_groups[0].rules
    assert rule.actions == (text,)


@pytest.mark.parametrize("text", ["a", "*", "a()", "a(*, 1, b(c))", "a, b(1)"])
def test_expressions_as_the_language_writes_them_stand_bare(text: str) -> None:
    assert expressions(text, ", ") == text


@pytest.mark.parametrize(
    "text", ["", "1", "a(", "a)", "a((b))", "*(a)", "1(a)", "a(b,c)", "a ,b", "a, ", ", a", "a(, b)", "a b"]
)
def test_other_expressions_stand_in_quotes(text: str) -> None:
    assert expressions(text, ", ") == value(text)


def test_ordinals() -> None:
    assert [ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 101, 111)] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "101st", "111th"]
    )


def test_long_conditions_are_broken_at_their_joints() -> None:
    several = [leaf("actionmatcher", actions=f"action_with_a_long_name_{index}") for index in range(3)]
    inner = {
        "type": "negation",
        "conditions": [{"type": "connector", "configs": {"operator": "OR"}, "conditions": several}],
    }
    text = write_program(
        RuleSet.model_validate({"behaviorGroups": [{"rules": [{"name": "A", "conditions": [inner, A]}]}]})
    )
    assert text == (
        'rule "A"\n'
        "  when not any of (\n"
        "                action action_with_a_long_name_0\n"
        "             or action action_with_a_long_name_1\n"
        "             or action action_with_a_long_name_2\n"
        "           )\n"
        "   and action a\n"
        "  then nothing\n"
    )


def test_a_first_group_that_says_nothing_is_not_written() -> None:
    rules = [{"name": "A", "actions": ["a"]}]
    assert write_program(RuleSet.model_validate({"behaviorGroups": [{"rules": rules}]})).startswith('rule "A"')
    second = {"behaviorGroups": [{}, {"rules": rules}, {"name": "G", "executionStrategy": "executeAll"}]}
    text = write_program(RuleSet.model_validate(second))
    assert [line for line in text.splitlines() if line.startswith("group")] == [
        "group",
        "group",
        'group "G" all matches',
    ]


def test_outputs_are_written_with_their_pieces_and_replies() -> None:
    items = [{"type": "text", "text": "x", "delay": 5}, {"type": "image", "uri": None}, {"type": "text", "delay": 1}]
    output = {
        "action": "say",
        "timesOccurred": 1,
        "outputs": [{"valueAlternatives": items, "_y": 1}, {}],
        "quickReplies": [{"value": "v", "expressions": "a, b", "isDefault": True}, {"expressions": ""}],
    }
    assert write_program(output_set=OutputSet.model_validate({"lang": "", "outputSet": [output]})) == (
        'language ""\n'
        "\n"
        'output "say" from the 2nd time\n'
        '  say "x" after 5 ms\n'
        "   or show image with uri null\n"
        "   or show text with delay 1 keeping _y 1\n"
        "  say nothing\n"
        '  default quick reply "v" means a, b\n'
        '  quick reply "" means ""\n'
    )


def test_comments_that_came_with_a_model_stand_where_they_stood() -> None:
    rule = {"name": "A", "actions": ["a"], "_comments": [[0, False, " why"], [2, True, " when"], [6, True, ""]]}
    text = write_program(RuleSet.model_validate({"behaviorGroups": [{"rules": [rule]}]}))
    assert text == '# why\nrule "A"  # when\n  when always\n  then a  #\n'


@pytest.mark.parametrize(
    "comments", [1, [[0, "x"]], [[0, False, "a\nb"]], [[99, False, "x"]], [[3, False, "b"], [0, False, "a"]]]
)
def test_comments_that_could_not_be_read_back_stay_a_key(comments: object) -> None:
    rule = {"name": "A", "actions": ["a"], "_comments": comments}
    text = write_program(RuleSet.model_validate({"behaviorGroups": [{"rules": [rule]}]}))
    assert text.startswith('rule "A" with _comments ')
