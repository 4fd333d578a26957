"""The rule vectors, as far as loading goes: which rule sets are accepted, which are refused."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from turnout.rules.conditions import CONDITION_TYPES
from turnout.rules.errors import LoadError
from turnout.rules.reading import read_rule_set

VECTORS = Path(__file__).resolve().parents[2] / ".." / "shared" / "conformance" / "rules.jsonl"


def load() -> list[dict[str, Any]]:
    if not VECTORS.exists():
        pytest.skip("the conformance vectors are not beside the project", allow_module_level=True)
    return [json.loads(line) for line in VECTORS.read_text(encoding="utf-8").splitlines()]


def rules_of(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for group in case["ruleset"].get("behaviorGroups", case["ruleset"].get("ruleGroups", [])):
        yield from group.get("rules", group.get("behaviorRules", []))


def inside(conditions: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for condition in conditions:
        yield condition
        yield from inside(condition.get("conditions", []))


def conditions_of(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for rule in rules_of(case):
        yield from inside(rule.get("conditions", []))


def odd_operator(case: dict[str, Any]) -> bool:
    operators = [condition.get("configs", {}).get("operator", "AND") for condition in conditions_of(case)]
    return any(operator.upper() not in ("AND", "OR") for operator in operators)


def circle(case: dict[str, Any]) -> bool:
    leads: dict[str, set[str]] = {}
    for rule in rules_of(case):
        reached = leads.setdefault(rule.get("name", ""), set())
        for condition in inside(rule.get("conditions", [])):
            if condition.get("type") == "dependency":
                reached.add(condition["configs"]["reference"])
    for _ in leads:
        for reached in leads.values():
            reached |= {further for name in reached for further in leads.get(name, ())}
    return any(name in reached for name, reached in leads.items())


def unreadable_path(case: dict[str, Any]) -> bool:
    paths = [condition.get("configs", {}).get("objectKeyPath", "") for condition in conditions_of(case)]
    return any(path.count("[") != path.count("]") for path in paths)


def older_spelling(case: dict[str, Any]) -> bool:
    small = {legal.casefold(): legal for legal in CONDITION_TYPES}
    for condition in conditions_of(case):
        kind = condition.get("type", "")
        if "values" in condition or "config" in condition or kind not in (small.get(kind.casefold(), kind), ""):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Exemption:
    """Vectors on which a decision of the design has another answer, and that answer: error codes, or none."""

    decision: int
    what: str
    applies: Callable[[dict[str, Any]], bool]
    codes: frozenset[str]


EXEMPTIONS = (
    Exemption(19, "an operator that is neither AND nor OR", odd_operator, frozenset({"V003"})),
    Exemption(19, "a circle of dependencies, met at run time or not", circle, frozenset({"R001"})),
    Exemption(19, "a JSON path that cannot be read, reached or not", unreadable_path, frozenset({"R004"})),
    Exemption(20, "an older spelling of a key or of a type", older_spelling, frozenset()),
)

CASES = load()


def codes(case: dict[str, Any]) -> frozenset[str]:
    """The codes of the errors that a rule set is refused with."""
    try:
        read_rule_set(case["ruleset"])
    except LoadError as error:
        return frozenset(problem.code for problem in error.problems if problem.severity == "error")
    return frozenset()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_rule_set_loads_where_it_loads_in_the_reference(case: dict[str, Any]) -> None:
    found = codes(case)
    exempt = [exemption for exemption in EXEMPTIONS if exemption.applies(case)]
    if exempt:
        assert found in {exemption.codes for exemption in exempt}
    else:
        assert bool(found) == (case["expect"].get("error") == "load")


REFUSED = [
    case
    for case in CASES
    if case["kind"] == "load_error/condition" and not any(exemption.applies(case) for exemption in EXEMPTIONS)
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["id"])
def test_a_refusal_names_the_rule(case: dict[str, Any]) -> None:
    with pytest.raises(LoadError) as raised:
        read_rule_set(case["ruleset"])
    named = [f"rule `{rule['name']}`" for rule in rules_of(case)]
    assert any(name in str(raised.value) for name in named)


def test_each_exemption_is_needed() -> None:
    for exemption in EXEMPTIONS:
        exempted = [case for case in CASES if exemption.applies(case)]
        print(f"decision {exemption.decision}, {exemption.what}: {len(exempted)} of {len(CASES)} vectors")
        assert any(bool(codes(case)) != (case["expect"].get("error") == "load") for case in exempted)
