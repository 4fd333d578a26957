"""The rule vectors: what fires, by the matcher and by the evaluator."""

import pytest

from exemptions import CASES, Case, exempted, expected, facts_part
from turnout.engine.documents import facts_of
from turnout.engine.evaluator import evaluate
from turnout.engine.matcher import Matcher
from turnout.engine.tasks.rules import RulesTask
from turnout.rules.agents import RulesSettings
from turnout.rules.errors import LoadError
from turnout.rules.facts import FactsFile
from turnout.rules.reading import read, read_rule_set


def test_only_decisions_exempt_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    """Every exemption is in use, and together they are few."""
    counts = exempted()
    with capsys.disabled():
        for what, count in counts.items():
            print(f"\n{count:5} rule vectors exempted by {what}", end="")
    assert len(counts) == 5
    assert sum(counts.values()) < len(CASES) / 10


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_matcher_and_evaluator_agree_with_the_vector(case: Case) -> None:
    wanted = expected(case)
    if wanted.get("error"):
        with pytest.raises(LoadError):
            read_rule_set(case["ruleset"])
        return
    matcher = Matcher(read_rule_set(case["ruleset"]).model)
    document = read(FactsFile, facts_part(case)).model
    facts = facts_of(document)

    found = evaluate(matcher.rule_set, facts)
    assert [one.rule.name for one in found if one.verdict == "fired"] == wanted["fired"]
    assert [one.rule.name for one in found if one.verdict == "failed"] == wanted["failed"]

    answer = matcher.decide(facts)
    assert list(answer.names) == wanted["fired"]
    assert [matcher.compiled.rules[position].name for position in answer.failed] == wanted["failed"]

    config = document.config
    settings = RulesSettings(
        rule_set=matcher.rule_set,
        append_actions=config.append_actions,
        expressions_as_actions=config.expressions_as_actions,
    )
    after = RulesTask(settings, matcher).concluded(facts.step, answer)
    assert list(after.actions) == wanted["actions"]
    if stored := wanted.get("stored"):
        assert list(after.succeeded) == stored["success"]
        assert list(after.failed) == stored["fail"]
