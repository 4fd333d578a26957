"""The checks beyond loading: each finds what it is there for, and passes over what may be meant."""

import json
from pathlib import Path
from typing import Any

import pytest

import corpus
from turnout.grammar.program import agent_of_program, read_program
from turnout.rules.errors import Problem
from turnout.rules.folders import read_agent
from turnout.rules.lints import Report, lint_agent, lint_document
from turnout.rules.outputs import OutputSet
from turnout.rules.reading import read_document
from turnout.rules.rulesets import RuleSet
from turnout.rules.step_types import SHORT_TASKS

GO = {"enabled": True, "continueOnFailure": True}
CALLS = "ai.labs.httpcalls"


def on_action(actions: str, occurrence: str = "currentStep") -> dict[str, Any]:
    return {"type": "actionmatcher", "configs": {"actions": actions, "occurrence": occurrence}}


def on_failure(task: str = "weather", occurrence: str = "currentStep") -> dict[str, Any]:
    return on_action(f"task_failed_{task}", occurrence)


def outcome(task: str = "weather", occurrence: str = "currentStep", **configs: str) -> dict[str, Any]:
    return {"type": "outcomematcher", "configs": {"taskId": task, "occurrence": occurrence, **configs}}


def says(expressions: str) -> dict[str, Any]:
    return {"type": "inputmatcher", "configs": {"expressions": expressions}}


def context(key: str, text: str) -> dict[str, Any]:
    return {"type": "contextmatcher", "configs": {"contextKey": key, "contextType": "string", "string": text}}


def fired(rule: str, least: int = -1, most: int = -1) -> dict[str, Any]:
    configs = {"behaviorRuleName": rule, "minTimesOccurred": str(least), "maxTimesOccurred": str(most)}
    return {"type": "occurrence", "configs": configs}


def size(**bounds: str) -> dict[str, Any]:
    return {"type": "sizematcher", "configs": {"valuePath": "properties.list", **bounds}}


def any_of(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"type": "connector", "configs": {"operator": "OR"}, "conditions": list(conditions)}


def none_of(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"type": "negation", "conditions": list(conditions)}


def rule(name: str, *conditions: dict[str, Any], emits: str = "hi", **keys: Any) -> dict[str, Any]:
    return {"name": name, "actions": emits.split(), "conditions": list(conditions), **keys}


def rules(*group: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"behaviorGroups": [{"rules": list(group)}], **keys}


def alone(document: dict[str, Any], model: type[RuleSet] | type[OutputSet] = RuleSet) -> Report:
    """The report on a rule set or an output set that is checked by itself."""
    read = read_document(model, json.dumps(document, indent=1), "x.json")
    assert read.loads, read.problems
    return lint_document(read)


def codes(report: Report) -> list[str]:
    return [problem.code for problem in report.problems]


class Sketch:
    """An agent in the making. Its steps are `rules`, `output`, `calls` and tasks from outside, by their ids."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.policy: dict[str, Any] = dict(GO)
        self.steps = ["rules", "weather", "output"]
        self.rules: dict[str, Any] = rules(rule("Sorry", on_failure()))
        self.calls: dict[str, Any] = {"targetServerUrl": "http://127.0.0.1:9", "httpCalls": []}
        self.outputs = ["hi"]
        self.config: dict[str, Any] = {}

    def report(self) -> Report:
        """What is found when all of it is written down and read."""
        types = {"rules": "ai.labs.behavior", "output": "ai.labs.output", "calls": CALLS}
        steps = [
            {"type": types[step], "config": {"uri": f"x.{step}.json", **(self.config if step == "rules" else {})}}
            if step in types
            else {"type": step}
            for step in self.steps
        ]
        files = {
            "x.agent.json": {
                "workflows": ["x.workflow.json"],
                "memoryPolicy": {"strictWriteDiscipline": self.policy},
            },
            "x.workflow.json": {"workflowSteps": steps},
            "x.rules.json": self.rules,
            "x.output.json": {"outputSet": [{"action": action} for action in self.outputs]},
            "x.calls.json": self.calls,
        }
        for name, document in files.items():
            (self.folder / name.replace("calls", "httpcalls")).write_text(json.dumps(document, indent=1))
        for step in steps:
            if "config" in step:
                step["config"]["uri"] = step["config"]["uri"].replace("calls", "httpcalls")
        (self.folder / "x.workflow.json").write_text(json.dumps(files["x.workflow.json"], indent=1))
        return lint_agent(read_agent(self.folder))

    def codes(self) -> list[str]:
        return codes(self.report())


@pytest.fixture
def sketch(tmp_path: Path) -> Sketch:
    return Sketch(tmp_path)


def test_an_agent_that_answers_its_failures_is_clean(sketch: Sketch) -> None:
    assert sketch.codes() == []


class TestFailuresAskedInVain:
    def test_nothing_is_seen_of_a_failure_in_a_turn_that_ends_with_it(self, sketch: Sketch) -> None:
        sketch.policy = {"enabled": True}
        (found,) = sketch.report().problems
        assert found.code == "L001"
        assert found.hint == "say `lastStep`, or set `continueOnFailure` to true"

    @pytest.mark.parametrize("occurrence", ["lastStep", "anyStep", "never"])
    def test_later_turns_see_it(self, sketch: Sketch, occurrence: str) -> None:
        sketch.policy = {"enabled": True}
        sketch.rules = rules(
            rule("Sorry", on_failure(occurrence=occurrence)), rule("Too", on_failure(occurrence="lastStep"))
        )
        assert "L001" not in sketch.codes()

    def test_a_row_of_failures_still_holds_in_the_rules_of_the_next_turn(self, sketch: Sketch) -> None:
        sketch.policy = {"enabled": True}
        sketch.rules = rules(rule("Sorry", outcome(minConsecutive="2")))
        assert "L001" not in sketch.codes()
        sketch.rules = rules(rule("Sorry", outcome(minConsecutive="1")))
        assert "L001" in sketch.codes()

    def test_without_a_policy_a_failure_adds_no_action(self, sketch: Sketch) -> None:
        sketch.policy = {}
        sketch.rules = rules(rule("Sorry", on_failure(occurrence="lastStep")))
        assert sketch.codes() == ["L001"]

    def test_without_a_policy_later_turns_see_the_outcome(self, sketch: Sketch) -> None:
        sketch.policy = {}
        sketch.rules = rules(rule("Sorry", outcome(occurrence="lastStep")))
        assert sketch.codes() == []

    @pytest.mark.parametrize(("mode", "found"), [("digest", []), ("exclude_all", ["L001"]), ("keep_all", ["L001"])])
    def test_digests_are_there_in_their_mode_only(self, sketch: Sketch, mode: str, found: list[str]) -> None:
        sketch.policy = {**GO, "onFailure": mode}
        asked = {"type": "digestmatcher", "configs": {"taskId": "weather", "contains": "503"}}
        sketch.rules = rules(rule("Sorry", asked))
        assert sketch.codes() == found

    @pytest.mark.parametrize(
        ("steps", "found"),
        [(["rules", "weather", "output"], ["L001"]), (["weather", "rules", "output"], [])],
    )
    def test_without_rerouting_only_rules_behind_the_task_see_it(
        self, sketch: Sketch, steps: list[str], found: list[str]
    ) -> None:
        sketch.policy = {**GO, "rerouteOnFailure": False}
        sketch.steps = steps
        assert sketch.codes() == found

    def test_a_rules_step_that_failed_is_not_asked_about_its_own_failure(self, sketch: Sketch) -> None:
        sketch.rules = rules(rule("Sorry", on_failure()), rule("Broken", on_failure("ai.labs.behavior")))
        assert sketch.codes() == ["L001"]

    def test_an_output_is_never_said_in_a_turn_that_ends_at_the_failure(self, sketch: Sketch) -> None:
        sketch.policy = {"enabled": True}
        sketch.rules = rules(rule("Sorry", on_failure(occurrence="lastStep")))
        sketch.outputs = ["hi", "task_failed_weather"]
        assert sketch.codes() == ["L001"]

    def test_a_continued_failure_has_its_output(self, sketch: Sketch) -> None:
        sketch.outputs = ["hi", "task_failed_weather"]
        assert sketch.codes() == []


class TestUnansweredFailures:
    def test_a_failure_that_nothing_waits_for_is_told_at_its_step(self, sketch: Sketch) -> None:
        sketch.rules = rules(rule("Hi", says("hi")))
        (found,) = sketch.report().problems
        assert (found.code, Path(found.file).name) == ("L002", "x.workflow.json")
        line = Path(found.file).read_text().splitlines()[found.line - 1]
        assert line.strip() == '"type": "weather"'

    def test_where_nothing_is_told_of_a_failure_the_reply_is_empty(self, sketch: Sketch) -> None:
        sketch.policy = {**GO, "onFailure": "exclude_all"}
        sketch.rules = rules(rule("Hi", says("hi")))
        (found,) = sketch.report().problems
        assert "the reply is empty" in found.text

    @pytest.mark.parametrize(("steps", "found"), [(["weather", "llm"], ["llm"]), (["llm", "weather"], ["weather"])])
    def test_a_task_from_outside_that_runs_later_may_answer(
        self, sketch: Sketch, steps: list[str], found: list[str]
    ) -> None:
        sketch.steps = ["rules", *steps, "output"]
        sketch.rules = rules(rule("Hi", says("hi")))
        report = sketch.report()
        assert codes(report) == ["L002"]
        assert f"task `{found[0]}` fails" in report.problems[0].text

    def test_a_negated_question_is_no_answer(self, sketch: Sketch) -> None:
        sketch.rules = rules(rule("Fine", none_of(on_failure())))
        assert sketch.codes() == ["L002"]

    def test_without_a_policy_it_is_told_once_where_the_policy_stands(self, sketch: Sketch) -> None:
        sketch.policy = {}
        sketch.steps = ["rules", "calls", "weather", "output"]
        sketch.rules = rules(rule("Hi", says("hi")))
        (found,) = sketch.report().problems
        assert (found.code, Path(found.file).name) == ("L002", "x.agent.json")
        assert f"`{CALLS}` or `weather`" in found.text

    def test_a_policy_that_is_not_enabled_does_not_continue(self, sketch: Sketch) -> None:
        sketch.policy = {"continueOnFailure": True}
        sketch.rules = rules(rule("Sorry", outcome(occurrence="lastStep")))
        assert sketch.codes() == ["L005"]


class TestFallbacks:
    @pytest.fixture
    def calling(self, sketch: Sketch) -> Sketch:
        """A fallback that makes the call again which has failed."""
        sketch.steps = ["rules", "calls", "output"]
        sketch.rules = rules(rule("Sorry", on_failure(CALLS), emits="ask_again"))
        sketch.calls["httpCalls"] = [{"name": "weather", "actions": ["ask_again"]}]
        sketch.outputs = []
        return sketch

    def test_a_fallback_that_needs_the_failed_task_is_found(self, calling: Sketch) -> None:
        assert calling.codes() == ["L003"]

    def test_what_the_output_step_says_is_no_answer_to_its_own_failure(self, calling: Sketch) -> None:
        calling.steps = ["rules", "output"]
        calling.rules = rules(rule("Sorry", on_failure("ai.labs.output"), emits="hi"))
        calling.outputs = ["hi"]
        assert "L003" in calling.codes()
        calling.steps = ["rules", "output", "output"]
        assert "L003" not in calling.codes()

    def test_a_fallback_that_says_something_as_well_is_none(self, calling: Sketch) -> None:
        calling.rules = rules(rule("Sorry", on_failure(CALLS), emits="ask_again hi"))
        calling.outputs = ["hi"]
        assert calling.codes() == []

    def test_another_turn_may_call_again(self, calling: Sketch) -> None:
        calling.rules = rules(rule("Sorry", on_failure(CALLS, "lastStep"), emits="ask_again"))
        assert calling.codes() == []

    def test_a_second_step_of_the_task_may_be_another_server(self, calling: Sketch) -> None:
        calling.steps = ["rules", "calls", "calls", "output"]
        assert calling.codes() == []

    @pytest.mark.parametrize("where", ["set", "step"])
    def test_rules_that_replace_actions_drop_that_of_a_failure(self, sketch: Sketch, where: str) -> None:
        sketch.steps = ["weather", "rules", "output"]
        sketch.rules = rules(rule("Hi", says("hi")))
        sketch.outputs = ["hi", "task_failed_weather"]
        assert sketch.codes() == []
        if where == "set":
            sketch.rules["appendActions"] = False
        else:
            sketch.config = {"appendActions": False}
        report = sketch.report()
        assert codes(report) == ["L004"]
        assert report.problems[0].file.endswith("x.rules.json" if where == "set" else "x.workflow.json")

    def test_what_only_these_rules_ask_for_may_be_dropped(self, sketch: Sketch) -> None:
        sketch.steps = ["weather", "rules", "output"]
        sketch.rules["appendActions"] = False
        assert sketch.codes() == []


class TestTasksThatDoNotExist:
    @pytest.mark.parametrize(
        "asked", [on_failure("wether"), outcome("eddi://wether"), outcome("wether", status="succeeded")]
    )
    def test_a_misspelled_task_is_found(self, sketch: Sketch, asked: dict[str, Any]) -> None:
        sketch.rules["behaviorGroups"][0]["rules"].append(rule("Typo", asked))
        (found,) = sketch.report().problems
        assert (found.code, found.text) == ("L021", "no task is called `wether`")
        assert found.hint.startswith("did you mean `weather`?")

    def test_an_action_has_no_address_in_it(self, sketch: Sketch) -> None:
        sketch.rules["behaviorGroups"][0]["rules"].append(rule("Typo", on_failure("eddi://weather")))
        (found,) = sketch.report().problems
        assert found.hint == "write `task_failed_weather`, without `eddi://`"

    def test_an_outcome_may_name_the_task_by_its_address(self, sketch: Sketch) -> None:
        sketch.rules = rules(rule("Sorry", outcome("eddi://weather")))
        assert sketch.codes() == []

    def test_a_newer_name_of_a_step_type_is_not_the_id_of_its_task(self, sketch: Sketch) -> None:
        sketch.steps = ["rules", "calls", "output"]
        sketch.rules = rules(rule("Sorry", on_failure("ai.labs.apicalls")), rule("Too", on_failure(CALLS)))
        (found,) = sketch.report().problems
        assert found.code == "L021"
        assert "did you mean `ai.labs.httpcalls`?" in found.hint

    @pytest.mark.parametrize("waits", ["output", "call"])
    def test_outputs_and_calls_name_tasks_too(self, sketch: Sketch, waits: str) -> None:
        sketch.steps = ["rules", "weather", "calls", "output"]
        sketch.rules = rules(rule("Sorry", on_failure()), rule("Down", on_failure(CALLS)))
        if waits == "output":
            sketch.outputs.append("task_failed_wether")
        else:
            sketch.calls["httpCalls"] = [{"name": "again", "actions": ["task_failed_wether"]}]
        assert sketch.codes() == ["L021"]


class TestRulesThatAreNeverReached:
    @pytest.mark.parametrize(
        ("earlier", "later"),
        [
            (says("greeting(*)"), says("greeting(hello)")),
            (says("*"), says("anything")),
            (says("name(*)"), says("greeting(hello), name(ada)")),
            (says("price(1)"), says("price(1.0)")),
            (fired("A", 2), fired("A", 3)),
            (fired("A", most=3), fired("A", most=2)),
            (size(min="2"), size(min="3")),
            (size(max="3"), size(equal="2")),
            (any_of(context("k", "a"), context("k", "b")), context("k", "b")),
            (none_of(context("k", "a")), context("k", "b")),
            (none_of(says("a"), says("b")), none_of(says("a"))),
            (on_action("a", "anyStep"), on_action("a", "lastStep")),
            (on_action("b"), on_action("a, b")),
        ],
    )
    def test_a_rule_that_holds_whenever_a_later_one_does_is_in_its_way(
        self, earlier: dict[str, Any], later: dict[str, Any]
    ) -> None:
        found = alone(rules(rule("A", earlier), rule("B", later, says("x"))))
        assert codes(found) == ["L022"]
        assert codes(alone(rules(rule("B", later, says("x")), rule("A", earlier)))) == []

    @pytest.mark.parametrize(
        ("earlier", "later"),
        [
            (says("greeting(hello)"), says("greeting(*)")),
            (says("greeting(*)"), says("greeting")),
            (fired("A", 2), fired("B", 3)),
            (context("k", "a"), context("k", "b")),
            (none_of(context("k", "a")), context("j", "b")),
            (on_action("a, b"), on_action("a")),
            (on_action("a", "lastStep"), on_action("a", "anyStep")),
            (outcome(minConsecutive="1"), outcome(minConsecutive="2")),
        ],
    )
    def test_a_rule_that_may_hold_alone_is_reached(self, earlier: dict[str, Any], later: dict[str, Any]) -> None:
        assert codes(alone(rules(rule("A", earlier), rule("B", later, says("x"))))) == []

    def test_the_rule_in_the_way_is_named_with_its_line(self) -> None:
        (found,) = alone(rules(rule("A", says("a")), rule("B", says("a"), says("b")))).problems
        assert found.text == (
            'rule "B" can never be reached: "A" (line 5) is earlier in this first-match group and matches whenever '
            "this one does"
        )

    def test_names_are_told_as_they_are_written(self) -> None:
        (found,) = alone(rules(rule("{line}", says("a")), rule("{}", says("a"), says("b")))).problems
        assert found.message == 'rule "{}" can never be reached'
        assert found.why.startswith('"{line}" (line 5) is earlier')

    def test_where_all_rules_of_a_group_fire_none_is_in_the_way(self) -> None:
        document = rules(rule("A", says("a")), rule("B", says("a"), says("b")))
        document["behaviorGroups"][0]["executionStrategy"] = "executeAll"
        assert codes(alone(document)) == []

    def test_rules_of_different_groups_are_not_in_each_others_way(self) -> None:
        groups = [{"rules": [rule("A", says("a"))]}, {"rules": [rule("B", says("a"), says("b"))]}]
        assert codes(alone({"behaviorGroups": groups})) == []

    def test_a_rule_that_others_depend_on_need_not_be_reached(self) -> None:
        depends = {"type": "dependency", "configs": {"reference": "B"}}
        group = [{"rules": [rule("A", says("a")), rule("B", says("a"), says("b"))]}, {"rules": [rule("C", depends)]}]
        assert codes(alone({"behaviorGroups": group})) == []

    def test_a_failure_reaches_a_rule_behind_one_that_holds_anyway(self, sketch: Sketch) -> None:
        sketch.rules = rules(rule("Any", any_of(on_failure(), on_failure("llm"))), rule("Weather", on_failure()))
        sketch.steps = ["rules", "llm", "weather", "output"]
        assert sketch.codes() == []
        sketch.policy = {**GO, "rerouteOnFailure": False}
        sketch.steps = ["llm", "weather", "rules", "output"]
        assert sketch.codes() == ["L022"]

    def test_the_same_failure_makes_both_rules_true(self, sketch: Sketch) -> None:
        sketch.rules = rules(rule("Down", on_failure()), rule("Down at night", on_failure(), context("time", "night")))
        assert sketch.codes() == ["L022"]

    def test_a_second_failure_may_tell_more(self, sketch: Sketch) -> None:
        sketch.rules = rules(rule("Down", outcome()), rule("Slow", outcome(errorType="timeout")))
        assert sketch.codes() == ["L022"]
        sketch.steps = ["rules", "weather", "weather", "output"]
        assert sketch.codes() == []

    def test_a_rule_without_conditions_is_told_once(self) -> None:
        (found,) = alone(rules(rule("All"), rule("A", says("a")), rule("B", says("b")))).problems
        assert (found.code, found.message) == ("L023", 'rule "All" has no conditions')
        assert "the 2 rules behind it are never reached" in found.text

    def test_a_rule_without_conditions_may_stand_last(self) -> None:
        assert codes(alone(rules(rule("A", says("a")), rule("All")))) == []

    def test_a_failure_reaches_a_fallback_behind_a_rule_without_conditions(self, sketch: Sketch) -> None:
        sketch.rules = rules(rule("All"), rule("Sorry", on_failure()))
        assert sketch.codes() == []
        sketch.policy = {**GO, "rerouteOnFailure": False}
        sketch.steps = ["weather", "rules", "output"]
        assert sketch.codes() == ["L023"]


class TestConditions:
    @pytest.mark.parametrize(
        "pair",
        [
            (says("a"), none_of(says("a"))),
            (says("a(b)"), none_of(says("a(*)"))),
            (context("k", "a"), context("k", "b")),
            (fired("A", 3), fired("A", most=2)),
            (size(min="3"), size(max="1")),
            (outcome(), outcome(status="succeeded")),
        ],
    )
    def test_conditions_that_exclude_each_other_contradict(self, pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
        assert codes(alone(rules(rule("A", *pair)))) == ["L024"]

    @pytest.mark.parametrize(
        "pair",
        [
            (says("a"), none_of(says("a(b)"))),
            (says("a"), says("b")),
            (context("k", "a"), context("j", "b")),
            (fired("A", 2), fired("A", most=2)),
            (outcome(), outcome("llm", status="succeeded")),
            (outcome(minConsecutive="2"), outcome(status="succeeded")),
        ],
    )
    def test_conditions_that_can_hold_together_do_not(self, pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
        assert codes(alone(rules(rule("A", *pair)))) == []

    def test_a_condition_that_the_others_entail_adds_nothing(self) -> None:
        (found,) = alone(rules(rule("A", says("a(*)"), says("a(b)")))).problems
        assert found.code == "L025"
        assert found.why.startswith("it holds whenever that of line ")

    def test_so_does_an_alternative_that_the_others_cover(self) -> None:
        (found,) = alone(rules(rule("A", any_of(says("a(*)"), says("a(b)"))))).problems
        assert found.code == "L025"
        assert found.why.startswith("whenever it holds, ")

    def test_a_contradiction_inside_is_told_once(self) -> None:
        inside = {"type": "connector", "conditions": [says("a"), none_of(says("a"))]}
        assert codes(alone(rules(rule("A", inside, says("b"))))) == ["L024"]

    @pytest.mark.parametrize(
        ("condition", "found"),
        [
            (size(), ["L024"]),
            ({"type": "dynamicvaluematcher", "configs": {}}, ["L024"]),
            ({"type": "deploymentContext", "configs": {}}, ["L025"]),
            (size(min="0"), []),
            (size(max="0"), []),
        ],
    )
    def test_a_condition_with_one_answer_whatever_happens_is_found(
        self, condition: dict[str, Any], found: list[str]
    ) -> None:
        assert codes(alone(rules(rule("A", condition)))) == found

    def test_a_count_of_a_rule_that_does_not_exist_is_found(self, sketch: Sketch) -> None:
        sketch.rules["behaviorGroups"][0]["rules"].append(rule("B", fired("Sory", most=0)))
        (found,) = sketch.report().problems
        assert (found.code, found.hint) == ("L026", 'did you mean "Sorry"?')

    def test_a_rule_set_alone_may_count_rules_of_another(self) -> None:
        assert codes(alone(rules(rule("A", fired("B", 1))))) == []


class TestActions:
    @pytest.fixture
    def plain(self, sketch: Sketch) -> Sketch:
        """An agent without tasks from outside: all of its actions are known."""
        sketch.steps = ["rules", "output"]
        sketch.rules = rules(rule("Hi", says("hi")))
        return sketch

    def ask(self, sketch: Sketch, condition: dict[str, Any]) -> None:
        sketch.rules["behaviorGroups"][0]["rules"].append(rule("Ask", condition))

    def test_an_action_that_nothing_emits_is_asked_for_in_vain(self, plain: Sketch) -> None:
        self.ask(plain, on_action("hj", "lastStep"))
        (found,) = plain.report().problems
        assert (found.code, found.hint) == ("L030", "did you mean `hi`?")

    def test_rules_do_not_see_what_they_are_about_to_emit(self, plain: Sketch) -> None:
        self.ask(plain, on_action("hi"))
        (found,) = plain.report().problems
        assert found.code == "L030"
        assert found.hint.startswith("say `lastStep`")

    @pytest.mark.parametrize(
        "condition",
        [
            on_action("hi", "lastStep"),
            on_action("hi", "never"),
            on_action("CONVERSATION_START"),
            on_action("empty"),
        ],
    )
    def test_what_is_there_may_be_asked_for(self, plain: Sketch, condition: dict[str, Any]) -> None:
        self.ask(plain, condition)
        assert plain.codes() == []

    def test_a_failure_lets_rules_see_what_they_emitted(self, plain: Sketch) -> None:
        plain.steps = ["rules", "calls", "output"]
        plain.rules["behaviorGroups"][0]["rules"].append(rule("Sorry", on_failure(CALLS), on_action("hi")))
        assert plain.codes() == []

    def test_a_task_from_outside_may_emit_anything(self, sketch: Sketch) -> None:
        self.ask(sketch, on_action("unheard_of"))
        sketch.outputs.append("unheard_of_too")
        assert sketch.codes() == []

    def test_expressions_as_actions_may_be_anything(self, plain: Sketch) -> None:
        self.ask(plain, on_action("unheard_of", "lastStep"))
        plain.outputs.append("unheard_of_too")
        plain.config = {"expressionsAsActions": True}
        assert plain.codes() == []

    def test_an_action_that_nothing_answers_is_found_once(self, plain: Sketch) -> None:
        plain.outputs = ["ho"]
        plain.rules = rules(rule("Ho", says("ho"), emits="ho"), rule("Hi", says("hi")), rule("Hey", says("hey")))
        (found,) = plain.report().problems
        assert (found.code, found.hint) == ("L031", "did you mean `ho`?")

    @pytest.mark.parametrize("answer", ["rule", "call", "any call", "special", "no output step"])
    def test_an_action_may_be_answered_by_other_means_than_an_output(self, plain: Sketch, answer: str) -> None:
        plain.rules = rules(rule("Do", says("hi"), emits="STOP_CONVERSATION" if answer == "special" else "do"))
        plain.outputs = []
        if answer == "rule":
            self.ask(plain, on_action("do", "lastStep"))
            plain.outputs = ["hi"]
        elif "call" in answer:
            plain.steps = ["rules", "calls", "output"]
            plain.outputs = [f"task_failed_{CALLS}"]
            plain.calls["httpCalls"] = [{"name": "do", "actions": ["do" if answer == "call" else "*"]}]
        elif answer == "no output step":
            plain.steps = ["rules"]
        assert plain.codes() == []

    def test_an_output_that_no_rule_reaches_is_found(self, plain: Sketch) -> None:
        plain.outputs = ["hi", "bye", "CONVERSATION_START"]
        (found,) = plain.report().problems
        assert (found.code, found.message) == ("L032", "output `bye` is never said")

    def test_an_output_before_all_rules_is_never_said(self, plain: Sketch) -> None:
        plain.steps = ["output", "rules"]
        assert plain.codes() == ["L032"]

    @pytest.mark.parametrize(("emits", "found"), [("a b", []), ("b a", ["L033"]), ("a", ["L033"])])
    def test_a_run_that_no_rule_emits_looks_like_a_set(self, plain: Sketch, emits: str, found: list[str]) -> None:
        plain.rules = rules(rule("A", says("a"), emits=emits), rule("B", says("b"), emits="b"))
        self.ask(plain, on_action("a, b", "lastStep"))
        plain.outputs = ["a", "b", "hi"]
        assert plain.codes() == found

    @pytest.mark.parametrize(("times", "missing"), [([0, 1, 2], None), ([2, 0], 1), ([1], 0), ([0, 0, 1], None)])
    def test_counts_without_an_entry_are_found(self, times: list[int], missing: int | None) -> None:
        entries = [{"action": "hi", "timesOccurred": count} for count in times]
        found = alone({"outputSet": entries}, OutputSet).problems
        assert [problem.message for problem in found] == (
            [] if missing is None else [f"output `hi` has no entry for `timesOccurred` {missing}"]
        )


class TestPlacesAndSilences:
    @pytest.mark.parametrize("key", ["rules", "behaviorRules"])
    def test_a_finding_has_its_place_however_the_rules_are_called(self, key: str) -> None:
        document = {"behaviorGroups": [{key: [rule("A", says("a")), rule("B", says("a"))]}]}
        text = json.dumps(document, indent=1)
        (found,) = lint_document(read_document(RuleSet, text, "x.json")).problems
        begin = "\n".join(text.splitlines()[found.line - 1 :])[found.column - 1 :]
        assert json.JSONDecoder().raw_decode(begin)[0]["name"] == "B"

    def test_a_document_without_a_text_has_findings_without_a_place(self) -> None:
        read = read_document(RuleSet, rules(rule("All"), rule("B", says("b"))))
        assert [(one.code, one.line) for one in lint_document(read).problems] == [("L023", 0)]

    @pytest.mark.parametrize("where", ["rule", "group", "set"])
    def test_a_finding_is_silenced_where_it_is_and_counted(self, where: str) -> None:
        silence = {"_silence": ["L022"]}
        later = rule("B", says("a"), **(silence if where == "rule" else {}))
        group = {"rules": [rule("A", says("a")), later], **(silence if where == "group" else {})}
        report = alone({"behaviorGroups": [group], **(silence if where == "set" else {})})
        assert (report.problems, report.silenced) == ((), 1)

    def test_another_code_silences_nothing(self) -> None:
        report = alone(rules(rule("A", says("a")), rule("B", says("a"), _silence=["L021"])))
        assert (sorted(codes(report)), report.silenced) == (["L022", "L090"], 0)

    def test_the_silence_of_another_rule_is_its_own(self) -> None:
        report = alone(rules(rule("A", says("a"), _silence=["L022"]), rule("B", says("a"))))
        assert sorted(codes(report)) == ["L022", "L090"]

    @pytest.mark.parametrize("value", ["L022", {}, [], [3]])
    def test_a_silence_is_a_list_of_codes(self, value: object) -> None:
        report = alone(rules(rule("A", says("a"), _silence=value)))
        assert codes(report) == ["L090"]

    def test_what_is_found_while_reading_is_silenced_likewise(self) -> None:
        depends = {"type": "dependency", "configs": {"reference": "gone"}}
        document = rules(rule("A", depends, _silence=["S002"]))
        read = read_document(RuleSet, document)
        assert read.problems == ()
        report = lint_document(read)
        assert (report.problems, report.silenced) == ((), 1)

    def test_an_error_is_not_silenced(self) -> None:
        depends = {"type": "dependency", "configs": {"reference": "A"}}
        read = read_document(RuleSet, rules(rule("A", depends, _silence=["S001"])))
        assert not read.loads

    def test_a_step_can_be_silenced_too(self, sketch: Sketch) -> None:
        sketch.rules = rules(rule("Hi", says("hi")))
        sketch.report()
        file = sketch.folder / "x.workflow.json"
        document = json.loads(file.read_text())
        document["workflowSteps"][1]["_silence"] = ["L002"]
        file.write_text(json.dumps(document))
        report = lint_agent(read_agent(sketch.folder))
        assert (report.problems, report.silenced) == ((), 1)


def test_thousands_of_rules_about_one_failure_are_told_apart() -> None:
    """Each differs from the others in one condition, and the last one repeats the first."""
    group = [rule(f"R{n}", on_failure(), says(f"item({n})")) for n in range(2000)]
    (found,) = alone(rules(*group, rule("Again", on_failure(), says("item(0)")))).problems
    assert (found.code, found.text.partition(" (")[0]) == ("L022", 'rule "Again" can never be reached: "R0"')


def test_a_formula_too_large_to_look_into_is_passed_over() -> None:
    depends = [
        rule(f"R{n}", {"type": "dependency", "configs": {"reference": f"R{n - 1}"}}, says(f"item({n})"))
        for n in range(1, 600)
    ]
    assert isinstance(alone(rules(rule("R0", says("item(0)")), *depends)), Report)


@pytest.mark.parametrize("name", corpus.NAMES)
def test_of_agents_that_worked_for_years_only_unanswered_failures_are_told(name: str) -> None:
    folder = corpus.folder(name)
    found: tuple[Problem, ...] = lint_agent(read_agent(folder)).problems
    # One rule of `registration-2019` emits an action that nothing in the agent waits for.
    known = {"L031"} if name == "registration-2019" else set()
    unanswered = {"L002"} if any(folder.rglob("*.httpcalls.json")) else set()
    assert {problem.code for problem in found} == known | unanswered


class TestStepsOfATextThatLeaveSomethingOut:
    TEXT = """\
policy
  continue after failure
steps {steps}
rule "Hello" when user says greeting(*) then greet
rule "Down" when task ai.labs.httpcalls failed then sorry
output greet say "Hi!"
output sorry say "Sorry."
"""
    CALLS = 'httpcalls "x.httpcalls.json"'

    def found(self, folder: Path, steps: str) -> list[Problem]:
        (folder / "x.httpcalls.json").write_text('{"targetServerUrl": "http://127.0.0.1:9", "httpCalls": []}')
        file = folder / "x.turnout"
        return list(
            lint_agent(agent_of_program(read_program(self.TEXT.format(steps=steps), file.as_posix()), file)).problems
        )

    @pytest.mark.parametrize(
        ("steps", "missing"),
        [
            (f"parser, {CALLS}, output", "`rules`"),
            (f"parser, rules, {CALLS}", "`output`"),
            (f"rules, {CALLS}, output", "`parser`"),
            (f"rules, {CALLS}", "`parser` and `output`"),
            (f"parser, {CALLS}", "`rules` and `output`"),
        ],
    )
    def test_it_is_told_once_and_not_what_follows_from_it(self, tmp_path: Path, steps: str, missing: str) -> None:
        (found,) = self.found(tmp_path, steps)
        assert (found.code, found.line, found.column) == ("L027", 3, 7)
        assert found.message == f"the steps leave out {missing}"

    def test_with_all_of_them_there_is_nothing_to_tell(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, f"parser, rules, {self.CALLS}, output") == []

    def test_a_task_from_outside_may_tell_what_was_meant(self, tmp_path: Path) -> None:
        codes = {one.code for one in self.found(tmp_path, f"own, rules, {self.CALLS}, output")}
        assert "L027" not in codes


def test_the_short_name_of_a_step_is_no_task(sketch: Sketch) -> None:
    sketch.rules = rules(rule("Sorry", outcome("output")))
    found = next(one for one in sketch.report().problems if one.code == "L021")
    assert found.hint.startswith("did you mean `ai.labs.output`?")


def test_texts_know_the_same_short_names() -> None:
    steps = ", ".join(f'{name} "x.json"' for name in SHORT_TASKS)
    program = read_program(f"steps {steps}\n")
    assert [step.type for step in program.workflow.model.workflow_steps] == list(SHORT_TASKS.values())


def test_a_task_of_ones_own_may_be_called_llm() -> None:
    assert [step.type for step in read_program("steps llm\n").workflow.model.workflow_steps] == ["llm"]
