"""The rule vectors, as far as loading goes: which rule sets are accepted, which are refused."""

import pytest

from exemptions import CASES, Case, exemption_of, expected, rules_of
from turnout.rules.errors import LoadError
from turnout.rules.reading import read_rule_set


def codes(case: Case) -> frozenset[str]:
    """The codes of the errors that a rule set is refused with."""
    try:
        read_rule_set(case["ruleset"])
    except LoadError as error:
        return frozenset(problem.code for problem in error.problems if problem.severity == "error")
    return frozenset()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_rule_set_loads_where_it_loads_in_the_reference_or_a_decision_says_so(case: Case) -> None:
    exemption = exemption_of(case)
    if exemption is not None:
        assert codes(case) == exemption.codes
    else:
        assert bool(codes(case)) == (case["expect"].get("error") == "load")


REFUSED = [case for case in CASES if case["kind"] == "load_error/condition" and expected(case).get("error")]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["id"])
def test_a_refusal_names_the_rule(case: Case) -> None:
    with pytest.raises(LoadError) as raised:
        read_rule_set(case["ruleset"])
    named = [f"rule `{rule['name']}`" for rule in rules_of(case["ruleset"])]
    assert any(name in str(raised.value) for name in named)
