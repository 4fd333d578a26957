"""The models of what an author writes: defaults, limits, and what they keep."""

import pytest
from pydantic import ValidationError

from turnout.rules.agents import AgentFile, Policy, WorkflowStep
from turnout.rules.authored import action_run, task_name
from turnout.rules.conditions import ActionMatcher
from turnout.rules.rulesets import Group, Rule, RuleSet
from turnout.rules.values import integer


def test_the_policy_is_off_and_digests_by_default() -> None:
    policy = AgentFile().memory_policy.strict_write_discipline
    assert policy == Policy(enabled=False, on_failure="digest", continue_on_failure=False, reroute_on_failure=True)


def test_a_model_is_immutable() -> None:
    rule = Rule(name="Greet")
    with pytest.raises(ValidationError):
        rule.name = "Other"  # type: ignore[misc]


def test_unknown_keys_are_kept() -> None:
    document = {"name": "Greet", "_comments": [[0, False, "hello"]]}
    assert Rule.model_validate(document).model_dump(by_alias=True, exclude_unset=True) == document


def test_rules_of_a_group_stand_under_either_key_and_are_written_under_rules() -> None:
    group = Group.model_validate({"behaviorRules": [{"name": "Greet"}]})
    assert group.model_dump(by_alias=True, exclude_unset=True) == {"rules": ({"name": "Greet"},)}


def test_a_group_stops_at_its_first_success_unless_all_are_executed() -> None:
    assert Group(execution_strategy="").first_match
    assert Group().first_match
    assert not Group(execution_strategy="executeAll").first_match


def test_a_step_has_a_positive_time_limit() -> None:
    with pytest.raises(ValidationError):
        WorkflowStep.model_validate({"type": "weather", "timeoutMs": 0})


@pytest.mark.parametrize("text", ["1", "-1", "+5", "007", "2147483647", "-2147483648"])
def test_whole_numbers_are_plain_digits(text: str) -> None:
    assert integer(text) == int(text)


@pytest.mark.parametrize("text", ["", " 1", "1.0", "x", "٣", "2147483648", "-2147483649", "--1", "1_0", "9" * 5000])
def test_other_texts_are_no_whole_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="is not a whole number"):
        integer(text)


def test_a_run_of_actions_is_split_at_commas_and_trimmed() -> None:
    assert action_run(" a , ,b\t,") == ("a", "b")


def test_a_task_has_one_name_in_both_forms() -> None:
    assert task_name("eddi://ai.labs.llm") == task_name("ai.labs.llm") == "ai.labs.llm"


def test_equal_documents_make_equal_models_whether_or_not_defaults_are_written() -> None:
    short = RuleSet.model_validate({"behaviorGroups": [{"rules": [{"name": "a"}]}]})
    long = RuleSet.model_validate({"behaviorGroups": [{"rules": [{"name": "a", "actions": [], "conditions": []}]}]})
    assert short == long


def test_a_condition_written_in_python_is_the_one_read_from_a_document() -> None:
    read = ActionMatcher.model_validate({"type": "actionmatcher", "configs": {"actions": "a"}})
    assert read.configs.occurrence == "currentStep"
