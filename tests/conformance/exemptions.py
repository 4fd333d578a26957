"""The rule vectors, and where a decision of the design has another answer: by predicate, with our value."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from building import CONDITION_TYPES
from turnout.engine.documents import facts_of
from turnout.engine.evaluator import evaluate
from turnout.rules.expressions import parse
from turnout.rules.facts import FactsFile
from turnout.rules.reading import read, read_rule_set
from vectors import cases

Case = dict[str, Any]
CASES = cases("rules")

REFUSED: Case = {"error": "load"}


def facts_part(case: Case) -> Case:
    """What of a vector is a facts document."""
    return {key: case[key] for key in ("steps", "properties", "config") if key in case}


def rules_of(ruleset: Case) -> Iterator[Case]:
    """The rules of a rule set, in either spelling of its keys."""
    for group in ruleset.get("behaviorGroups", ruleset.get("ruleGroups", [])):
        yield from group.get("rules", group.get("behaviorRules", []))


def _inside(conditions: list[Case]) -> Iterator[Case]:
    for condition in conditions:
        yield condition
        yield from _inside(condition.get("conditions", []))


def _conditions(ruleset: Case) -> Iterator[Case]:
    for rule in rules_of(ruleset):
        yield from _inside(rule.get("conditions", []))


def _operators(case: Case) -> set[str]:
    return {each.get("configs", {}).get("operator", "AND") for each in _conditions(case["ruleset"])}


def _odd_operator(case: Case) -> bool:
    return any(operator.upper() not in ("AND", "OR") for operator in _operators(case))


def _small_and(case: Case) -> bool:
    return any(operator.upper() == "AND" and operator != "AND" for operator in _operators(case))


def _circle(case: Case) -> bool:
    leads: dict[str, set[str]] = {}
    for rule in rules_of(case["ruleset"]):
        reached = leads.setdefault(rule.get("name", ""), set())
        for condition in _inside(rule.get("conditions", [])):
            if condition.get("type") == "dependency":
                reached.add(condition["configs"]["reference"])
    for _ in leads:
        for reached in leads.values():
            reached |= {further for name in reached for further in leads.get(name, ())}
    return any(name in reached for name, reached in leads.items())


def _unreadable_path(case: Case) -> bool:
    paths = [condition.get("configs", {}).get("objectKeyPath", "") for condition in _conditions(case["ruleset"])]
    return any(path.count("[") != path.count("]") for path in paths)


_TYPES = {legal.casefold(): legal for legal in CONDITION_TYPES}


def _older_spelling(case: Case) -> bool:
    return case["expect"].get("error") == "load" and any(
        "values" in condition
        or "config" in condition
        or condition.get("type", "") != _TYPES.get(condition.get("type", "").casefold(), condition.get("type", ""))
        for condition in _conditions(case["ruleset"])
    )


def _refused(case: Case) -> Case:
    return REFUSED


def _as_and(case: Case) -> Case:
    """What the rule set says where every `and` is written in capitals."""
    case = copy.deepcopy(case)
    for condition in _conditions(case["ruleset"]):
        if condition.get("configs", {}).get("operator", "").upper() == "AND":
            condition["configs"]["operator"] = "AND"
    return _evaluated(case)


def _as_today(case: Case) -> Case:
    """What the rule set says in today's spelling."""
    case = copy.deepcopy(case)
    for condition in _conditions(case["ruleset"]):
        condition["type"] = _TYPES[condition["type"].casefold()]
        for old in ("values", "config"):
            if old in condition:
                condition["configs"] = condition.pop(old)
    return _evaluated(case)


def _evaluated(case: Case) -> Case:
    rule_set = read_rule_set(case["ruleset"]).model
    facts = facts_of(read(FactsFile, facts_part(case)).model)
    found = evaluate(rule_set, facts)
    config = read(FactsFile, facts_part(case)).model.config
    flags = (config.append_actions, rule_set.append_actions)
    append = next((flag for flag in flags if flag is not None), True)
    flags = (config.expressions_as_actions, rule_set.expressions_as_actions)
    actions = [action for each in found if each.verdict == "fired" for action in each.rule.actions]
    if next((flag for flag in flags if flag is not None), False):
        actions += [expression.name for expression in parse(facts.step.expressions)]
    if append or not actions:
        actions = [*facts.step.actions, *actions]
    return {
        "fired": [each.rule.name for each in found if each.verdict == "fired"],
        "failed": [each.rule.name for each in found if each.verdict == "failed"],
        "actions": list(dict.fromkeys(actions)),
    }


@dataclass(frozen=True, slots=True)
class Exemption:
    """The vectors on which a decision has another answer, that answer, and the codes it is refused with, if it is."""

    decision: int
    what: str
    applies: Callable[[Case], bool]
    ours: Callable[[Case], Case]
    codes: frozenset[str] = frozenset()


# Where several apply the first counts: what is refused is refused, whatever else is in it.
EXEMPTIONS = (
    Exemption(19, "an operator neither AND nor OR is refused", _odd_operator, _refused, frozenset({"V003"})),
    Exemption(19, "a circle of dependencies is refused, even if not met", _circle, _refused, frozenset({"S001"})),
    Exemption(
        19, "an unreadable JSON path is refused, reached or not", _unreadable_path, _refused, frozenset({"S004"})
    ),
    Exemption(20, "an older spelling of a key or a type is read as today's", _older_spelling, _as_today),
    Exemption(19, "`and` is AND", _small_and, _as_and),
)


def exemption_of(case: Case) -> Exemption | None:
    """The exemption that a vector falls under."""
    return next((one for one in EXEMPTIONS if one.applies(case)), None)


def expected(case: Case) -> Case:
    """What is to come out: `fired`, `failed`, `actions` and, if the vector has it, `stored`; or `error`."""
    exemption = exemption_of(case)
    return exemption.ours(case) if exemption is not None else case["expect"]


def exempted() -> dict[str, int]:
    """How many vectors each exemption is for."""
    counts: dict[str, int] = {}
    for case in CASES:
        exemption = exemption_of(case)
        if exemption is not None:
            key = f"decision {exemption.decision}: {exemption.what}"
            counts[key] = counts.get(key, 0) + 1
    return counts
