"""The compilation of a rule set: its rules as formulas over the questions they ask.

Conditions know three results: held, failed, and not executed (a `sizematcher` without bounds). Which conditions are
not executed is known here, so a formula says only when the condition holds and, where that differs from the
opposite, when it fails. A `dependency` takes over the formula of the rule it names.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from . import conditions as c
from . import questions as q
from .authored import action_run, lenient, task_name
from .errors import LoadError, Problem
from .expressions import Expression, is_empty_word, parse
from .formulas import FALSE, TRUE, Formula, conjunction, disjunction, opposite
from .rulesets import Rule, RuleSet

_WHEN: dict[str, q.When] = {"currentStep": "current", "lastStep": "last", "anyStep": "any", "never": "any"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRuleSet:
    """A rule set ready to be matched.

    `rules`, `groups` and `formulas` run in parallel, in file order; `groups[i]` is the position of rule `i`'s group and
    `first_match[g]` its strategy. `questions[a - 1]` is the question of atom `a`.
    """

    rules: tuple[Rule, ...]
    groups: tuple[int, ...]
    first_match: tuple[bool, ...]
    formulas: tuple[Formula, ...]
    questions: tuple[q.Question, ...]

    def chosen(self, positions: Iterable[int]) -> list[int]:
        """Of `positions`, ascending, those that their groups' strategies let fire: all, or the first of a group."""
        chosen: list[int] = []
        closed = -1
        for position in positions:
            group = self.groups[position]
            if group != closed:
                chosen.append(position)
                if self.first_match[group]:
                    closed = group
        return chosen


def compile_rule_set(rule_set: RuleSet) -> CompiledRuleSet:
    """Compile `rule_set`. Raises `LoadError` where rules depend on one another in a circle."""
    rules = rule_set.rules
    compiler = _Compiler(rules)
    formulas: list[Formula] = [FALSE] * len(rules)
    for number in dependency_order(rules):
        formulas[number] = compiler.rule(number)
    return CompiledRuleSet(
        rules=rules,
        groups=tuple(g for g, group in enumerate(rule_set.behavior_groups) for _ in group.rules),
        first_match=tuple(group.first_match for group in rule_set.behavior_groups),
        formulas=tuple(formulas),
        questions=tuple(question for _, question in compiler.atoms),
    )


def compile_conditions(
    rule_set: RuleSet, conditions: Iterable[c.AnyCondition]
) -> tuple[list[Formula], tuple[q.Question, ...]]:
    """Compile conditions of `rule_set` one by one: a formula each, and the question of each atom, that of 1 first.

    Raises `LoadError` where rules depend on one another in a circle.
    """
    rules = rule_set.rules
    asked = list(conditions)
    compiler = _Compiler(rules)
    wanted = {*dependencies(asked), *dependencies(each for rule in rules for each in rule.conditions)}
    for number in dependency_order(rules):
        if rules[number].name in wanted:
            compiler.rule(number)
    formulas = [compiler.condition(condition) for condition in asked]
    return formulas, tuple(question for _, question in compiler.atoms)


def dependencies(conditions: Iterable[c.AnyCondition]) -> Iterator[str]:
    """The names of the rules that `conditions` refer to by `dependency`, at any depth."""
    for condition in conditions:
        if isinstance(condition, c.Dependency):
            yield condition.configs.reference
        elif isinstance(condition, c.Connector | c.Negation):
            yield from dependencies(condition.conditions)


def dependency_order(rules: Sequence[Rule]) -> list[int]:
    """The positions of the rules, each behind those that it depends on.

    Raises `LoadError`, with the chain, where rules depend on one another in a circle; rules of one name are one.
    """
    wanted: dict[str, set[str]] = {}
    for rule in rules:
        for name in dependencies(rule.conditions):
            wanted.setdefault(rule.name, set()).add(name)
    if not wanted:
        return list(range(len(rules)))
    try:
        names = {name: place for place, name in enumerate(TopologicalSorter(wanted).static_order())}
    except CycleError as error:
        chain = " -> ".join(reversed(error.args[1]))
        message, hint = f"rules depend on one another in a circle: {chain}", "remove one of these dependencies"
        raise LoadError([Problem(code="S001", message=message, hint=hint)]) from None
    return sorted(range(len(rules)), key=lambda number: names.get(rules[number].name, -1))


class _Compiler:
    """Numbers the questions of one rule set and turns its conditions into formulas over them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        # The kind is part of the key: tuples of two kinds with equal fields are equal.
        self.atoms: dict[tuple[type[q.Question], q.Question], int] = {}
        self._rules = rules
        self._named: dict[str, list[Formula]] = {}

    def rule(self, number: int) -> Formula:
        rule = self._rules[number]
        formula = conjunction(map(self.condition, rule.conditions))
        self._named.setdefault(rule.name, []).append(formula)
        return formula

    def condition(self, condition: c.AnyCondition) -> Formula:
        return self._outcome(condition)[0]

    def _atom(self, question: q.Question) -> int:
        return self.atoms.setdefault((type(question), question), len(self.atoms) + 1)

    def _outcome(self, condition: c.AnyCondition) -> tuple[Formula, Formula]:
        """When `condition` holds and when it fails; where neither, it is not executed."""
        if isinstance(condition, c.Negation):
            return self._negation(condition)
        if isinstance(condition, c.SizeMatcher) and not condition.configs.bounded:
            return FALSE, FALSE
        holds = self._plain(condition)
        return holds, opposite(holds)

    def _negation(self, negation: c.Negation) -> tuple[Formula, Formula]:
        outcomes = [self._outcome(child) for child in negation.conditions]
        all_hold = conjunction(holds for holds, _ in outcomes)
        if all(fails == opposite(holds) for holds, fails in outcomes):
            return opposite(all_hold), all_hold
        # Children run in order: the first that fails makes the negation hold, the first that is not executed ends it.
        first_fails = [
            conjunction([*(holds for holds, _ in outcomes[:place]), fails]) for place, (_, fails) in enumerate(outcomes)
        ]
        return disjunction(first_fails), all_hold

    def _plain(self, condition: c.AnyCondition) -> Formula:
        """When a condition holds that fails whenever it does not."""
        match condition:
            case c.ActionMatcher(configs=configs):
                return self._actions(action_run(configs.actions), configs.occurrence)
            case c.InputMatcher(configs=configs):
                return self._said(parse(configs.expressions), configs.occurrence)
            case c.ContextMatcher(configs=c.StringContext(context_key=key, string=text)):
                return self._atom(q.ContextText(key, text))
            case c.ContextMatcher(configs=c.ExpressionsContext(context_key=key, expressions=expressions)):
                return self._atom(q.ContextSays(key, parse(expressions)))
            case c.ContextMatcher(configs=c.ObjectContext(context_key=key, object_key_path=path, object_value=text)):
                return self._atom(q.ContextHas(key, path, text))
            case c.Connector(configs=configs, conditions=children):
                parts = [self._outcome(child)[0] for child in children]
                return conjunction(parts) if configs.operator.upper() == "AND" else disjunction(parts)
            case c.OccurrenceCondition(configs=configs):
                return self._fired(configs)
            case c.Dependency(configs=configs):
                return disjunction(self._named.get(configs.reference, ()))
            case c.DynamicValueMatcher(configs=configs):
                return self._value(configs)
            case c.SizeMatcher(configs=configs):
                return self._size(configs)
            case c.ContentTypeMatcher(configs=configs):
                if configs.mime_type is None:
                    return FALSE
                return self._atom(q.Attached(configs.mime_type, max(1, lenient(configs.min_count))))
            case c.CapabilityMatch(configs=configs):
                return self._skill(configs)
            case c.DeploymentContext(configs=configs):
                asked = []
                if configs.when and configs.when.strip():
                    asked.append(self._atom(q.InEnvironment(configs.when.strip().lower())))
                if configs.tag_matches and configs.tag_matches.strip():
                    asked.append(self._atom(q.HasTag(configs.tag_matches.strip().lower())))
                return conjunction(asked)
            case c.OutcomeMatcher(configs=configs):
                return self._ended(configs)
            case c.DigestMatcher(configs=configs):
                task, when = task_name(configs.task_id), _WHEN[configs.occurrence]
                return self._once(configs.occurrence, self._atom(q.DigestMentions(when, task, configs.contains)))
        raise AssertionError(f"no formula for {condition!r}")

    def _once(self, occurrence: c.Occurrence, formula: Formula) -> Formula:
        return opposite(formula) if occurrence == "never" else formula

    def _actions(self, run: tuple[str, ...], occurrence: c.Occurrence) -> Formula:
        formula: Formula = self._atom(q.HasActions(_WHEN[occurrence], run))
        if run == ("empty",):
            some, none_last, none_past = q.SomeActions(), q.NoActions("last"), q.NoActions("past")
            formula = disjunction([formula, self._empty(occurrence, some, none_last, none_past)])
        return self._once(occurrence, formula)

    def _said(self, run: tuple[Expression, ...], occurrence: c.Occurrence) -> Formula:
        formula: Formula = self._atom(q.HasSaid(_WHEN[occurrence], run))
        if is_empty_word(run):
            some, none_last, none_past = q.SomethingSaid(), q.NothingSaid("last"), q.NothingSaid("past")
            formula = disjunction([formula, self._empty(occurrence, some, none_last, none_past)])
        return self._once(occurrence, formula)

    def _empty(
        self, occurrence: c.Occurrence, some: q.Question, none_last: q.Question, none_past: q.Question
    ) -> Formula:
        """The special word `empty`: the step that `occurrence` names has nothing at all."""
        if occurrence == "lastStep":
            return self._atom(none_last)
        nothing_now = -self._atom(some)
        return nothing_now if occurrence == "currentStep" else disjunction([nothing_now, self._atom(none_past)])

    def _fired(self, configs: c.OccurrenceConfigs) -> Formula:
        def reached(times: int) -> Formula:
            return TRUE if times <= 0 else self._atom(q.RuleFired(configs.behavior_rule_name, times))

        least, most = int(configs.min_times_occurred), int(configs.max_times_occurred)
        parts = []
        if least != -1:
            parts.append(reached(least))
        if most != -1:
            parts.append(opposite(reached(most + 1)))
        return conjunction(parts)

    def _value(self, configs: c.ValueConfigs) -> Formula:
        path = configs.value_path
        if not path:
            return FALSE
        if not configs.equals and not configs.contains:
            return self._atom(q.ValueExists(path))
        parts = []
        if configs.equals:
            parts.append(self._atom(q.ValueEquals(path, configs.equals)))
        if configs.contains:
            parts.append(self._atom(q.ValueContains(path, configs.contains)))
        return disjunction(parts)

    def _size(self, configs: c.SizeConfigs) -> Formula:
        def reached(size: int) -> Formula:
            if size > 0:
                return self._atom(q.SizeAtLeast(configs.value_path, size))
            return -self._atom(q.SizeBelow(configs.value_path, size))

        least, most, equal = (int(text) for text in (configs.min, configs.max, configs.equal))
        parts = []
        if least != -1:
            parts.append(reached(least))
        if most != -1:
            parts.append(opposite(reached(most + 1)))
        if equal != -1:
            parts += [reached(equal), opposite(reached(equal + 1))]
        return conjunction(parts)

    def _skill(self, configs: c.CapabilityConfigs) -> Formula:
        skill, least = configs.skill.strip().lower(), lenient(configs.min_results)
        if not skill:
            return FALSE
        return TRUE if least <= 0 else self._atom(q.HasSkill(skill, least))

    def _ended(self, configs: c.OutcomeConfigs) -> Formula:
        question = q.TaskEnded(
            _WHEN[configs.occurrence],
            task_name(configs.task_id),
            configs.status,
            configs.error_type,
            max(1, int(configs.min_consecutive)),
        )
        return self._once(configs.occurrence, self._atom(question))
