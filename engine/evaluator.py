"""The evaluator: what conditions mean, by walking the models over the whole conversation, with reasons.

It shares nothing with the matcher but the models, the expression language and paths: it is the definition that the
matcher is held against, and what explanations are made from. It looks at every step each time, so it is slow where
the matcher is fast.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from ..rules import conditions as c
from ..rules import paths
from ..rules.authored import action_run, lenient, task_name
from ..rules.compiling import dependency_order
from ..rules.expressions import has_run, is_empty_word, parse
from ..rules.jsonpaths import compile_path
from ..rules.rulesets import Rule, RuleSet
from .facts import Facts
from .steps import Step

Result = Literal["held", "failed", "not executed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What became of a condition: its result, what was seen and what was wanted (empty for a junction).

    `parts` are the findings of its children, as far as they were looked at; of a dependency, those of the rule.
    `found` tells whether there was anything to see, `ago` how many steps before this one it was seen in (None where
    there is no such step), `count` the number that was compared, `kind` the type of the context entry that is there.
    """

    condition: c.AnyCondition
    result: Result
    seen: str = ""
    wanted: str = ""
    found: bool = True
    ago: int | None = None
    count: int | None = None
    kind: str = ""
    parts: tuple["Finding", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFinding:
    """What became of a rule: fired, failed, or not reached because an earlier one of its group fired.

    `held` counts the conditions that held; `first_miss` is the finding of the first that did not; `behind` is the
    earlier rule that keeps this one from being reached. `parts` are the findings of all conditions that were looked at.
    """

    rule: Rule
    group: int
    verdict: Literal["fired", "failed", "not reached"]
    true: bool
    held: int
    first_miss: Finding | None
    behind: Rule | None = None
    parts: tuple[Finding, ...] = ()


def evaluate(rule_set: RuleSet, facts: Facts) -> list[RuleFinding]:
    """What becomes of every rule of `rule_set`, in file order; rules that are not reached are looked at all the same.

    Raises `LoadError` where rules depend on one another in a circle.
    """
    evaluation = _Evaluation(rule_set, facts)
    rules = [rule for group in rule_set.behavior_groups for rule in group.rules]
    for position in dependency_order(rules):
        evaluation.rule(rules[position])
    findings: list[RuleFinding] = []
    for number, group in enumerate(rule_set.behavior_groups):
        closed: Rule | None = None
        for rule in group.rules:
            parts = evaluation.rule(rule)
            missed = parts[-1] if parts and parts[-1].result != "held" else None
            verdict: Literal["fired", "failed", "not reached"] = "failed" if missed else "fired"
            behind = evaluation.all_of(rule.conditions[len(parts) :]) if missed else []
            findings.append(
                RuleFinding(
                    rule=rule,
                    group=number,
                    verdict="not reached" if closed is not None else verdict,
                    true=missed is None,
                    held=sum(part.result == "held" for part in (*parts, *behind)),
                    first_miss=missed,
                    behind=closed,
                    parts=tuple(parts),
                )
            )
            if closed is None and missed is None and group.first_match:
                closed = rule
    return findings


class _Evaluation:
    """One rule set on the facts of one turn."""

    def __init__(self, rule_set: RuleSet, facts: Facts) -> None:
        self._facts = facts
        self._steps: Sequence[Step] = [*facts.history.steps, facts.step]
        self._named: dict[str, list[Rule]] = {}
        for group in rule_set.behavior_groups:
            for rule in group.rules:
                self._named.setdefault(rule.name, []).append(rule)
        self._known: dict[int, list[Finding]] = {}
        self._model = facts.model()

    def all_of(self, conditions: Iterable[c.AnyCondition]) -> list[Finding]:
        """The findings of all conditions, whatever their results."""
        return self._until(conditions, lambda _result: False)

    def rule(self, rule: Rule) -> list[Finding]:
        """The findings of the conditions up to the first that does not hold."""
        known = self._known.get(id(rule))
        if known is None:
            known = self._known[id(rule)] = self._until(rule.conditions, lambda result: result != "held")
        return known

    def _until(self, conditions: Iterable[c.AnyCondition], ends: Callable[[Result], bool]) -> list[Finding]:
        found = []
        for condition in conditions:
            found.append(self._condition(condition))
            if ends(found[-1].result):
                break
        return found

    def _condition(self, condition: c.AnyCondition) -> Finding:
        match condition:
            case c.Connector():
                return self._connector(condition)
            case c.Negation():
                parts = self._until(condition.conditions, lambda result: result != "held")
                inverted: dict[Result, Result] = {
                    "held": "failed",
                    "failed": "held",
                    "not executed": "not executed",
                }
                return Finding(condition=condition, result=inverted[parts[-1].result], parts=tuple(parts))
            case c.Dependency(configs=configs):
                return self._dependency(condition, configs.reference)
            case c.InputMatcher(configs=configs):
                pattern = parse(configs.expressions)
                return self._in_steps(
                    condition,
                    configs.occurrence,
                    lambda step: (
                        has_run(pattern, said := parse(step.expressions)) or (is_empty_word(pattern) and not said)
                    ),
                    lambda step: step.expressions,
                    configs.expressions,
                )
            case c.ActionMatcher(configs=configs):
                run = action_run(configs.actions)
                return self._in_steps(
                    condition,
                    configs.occurrence,
                    lambda step: _stands_in(run, step.actions) or (run == ("empty",) and not step.actions),
                    lambda step: ", ".join(step.actions),
                    ", ".join(run),
                )
            case c.OutcomeMatcher(configs=configs):
                return self._outcome(condition, configs)
            case c.DigestMatcher(configs=configs):
                task, text = task_name(configs.task_id), configs.contains
                return self._in_steps(
                    condition,
                    configs.occurrence,
                    lambda step: any(digest.task == task and text in digest.text for digest in step.digests),
                    lambda step: "; ".join(digest.text for digest in step.digests if digest.task == task),
                    text or f"a digest of `{task}`",
                )
            case c.ContextMatcher():
                return self._context(condition)
            case c.OccurrenceCondition(configs=configs):
                count = sum(configs.behavior_rule_name in step.succeeded for step in self._steps)
                bounds = (configs.min_times_occurred, configs.max_times_occurred)
                return _finding(condition, _within(count, *bounds), str(count), _range(*bounds), count=count)
            case c.DynamicValueMatcher(configs=configs):
                value = paths.read(self._model, configs.value_path) if configs.value_path else None
                wanted = " or ".join(
                    f"{how} `{text}`" for how, text in (("is", configs.equals), ("contains", configs.contains)) if text
                )
                holds = paths.matches(value, configs.equals, configs.contains)
                return _finding(condition, holds, paths.text(value), wanted or "a value", found=value is not None)
            case c.SizeMatcher(configs=configs):
                return self._size(condition, configs)
            case c.ContentTypeMatcher(configs=configs):
                count = 0
                if configs.mime_type is not None:
                    count = sum(_has_type(configs.mime_type, has) for has in self._facts.step.attachments)
                least = max(1, lenient(configs.min_count))
                wanted = f"{least} of type `{configs.mime_type}`"
                return _finding(condition, count >= least, ", ".join(self._facts.step.attachments), wanted, count=count)
            case c.CapabilityMatch(configs=configs):
                skill = configs.skill.strip().lower()
                agents = sorted(
                    {
                        each.agent_id
                        for each in self._facts.surroundings.capabilities
                        if each.skill.strip().lower() == skill
                    }
                )
                least = lenient(configs.min_results)
                holds = bool(skill) and len(agents) >= least
                return _finding(condition, holds, ", ".join(agents), f"{least} with skill `{skill}`", count=len(agents))
            case c.DeploymentContext(configs=configs):
                return self._deployment(condition, configs)
        raise AssertionError(f"no meaning for {condition!r}")

    def _connector(self, condition: c.Connector) -> Finding:
        every = condition.configs.operator.upper() == "AND"
        parts = self._until(
            condition.conditions,
            (lambda result: result != "held") if every else (lambda result: result == "held"),
        )
        return Finding(
            condition=condition, result="held" if parts[-1].result == "held" else "failed", parts=tuple(parts)
        )

    def _dependency(self, condition: c.Dependency, name: str) -> Finding:
        parts: list[Finding] = []
        for rule in self._named.get(name, ()):
            found = self.rule(rule)
            parts.extend(found)
            if all(part.result == "held" for part in found):
                return Finding(condition=condition, result="held", wanted=f"rule `{name}`", parts=tuple(parts))
        return Finding(condition=condition, result="failed", wanted=f"rule `{name}`", parts=tuple(parts))

    def _in_steps(
        self,
        condition: c.AnyCondition,
        occurrence: c.Occurrence,
        holds: Callable[[Step], bool],
        seen: Callable[[Step], str],
        wanted: str,
        *,
        count: Callable[[Step], int | None] = lambda _: None,
    ) -> Finding:
        """A question about one step, asked of the steps that `occurrence` names."""
        last = len(self._steps) - 1
        if occurrence in ("currentStep", "lastStep"):
            number = last if occurrence == "currentStep" else last - 1
            if number < 0:
                return Finding(condition=condition, result="failed", wanted=wanted, found=False)
            result = holds(self._steps[number])
        else:
            where = next((number for number in range(last, -1, -1) if holds(self._steps[number])), None)
            result = (where is not None) is (occurrence == "anyStep")
            number = last if where is None else where
        step = self._steps[number]
        text = seen(step)
        return _finding(condition, result, text, wanted, found=bool(text), ago=last - number, count=count(step))

    def _outcome(self, condition: c.OutcomeMatcher, configs: c.OutcomeConfigs) -> Finding:
        task = task_name(configs.task_id)
        least = int(configs.min_consecutive)

        def row(step: Step) -> int:
            """How many times in a row, up to `step`, the task ended so; steps in which it did not run are skipped."""
            upto = next(place for place, each in enumerate(self._steps) if each is step)
            runs = (
                each
                for each in reversed(self._steps[: upto + 1])
                if any(o.task == task and o.status != "skipped" for o in each.outcomes)
            )
            return sum(1 for _ in takewhile(lambda each: _ended(each, task, configs), runs))

        def holds(step: Step) -> bool:
            return _ended(step, task, configs) if least <= 1 else row(step) >= least

        def seen(step: Step) -> str:
            return ", ".join(
                f"{o.status} ({o.error_type})" if o.error_type else o.status for o in step.outcomes if o.task == task
            )

        wanted = f"{configs.status} ({configs.error_type})" if configs.error_type else configs.status
        if least <= 1:
            return self._in_steps(condition, configs.occurrence, holds, seen, wanted)
        wanted += f", {least} times in a row"
        return self._in_steps(condition, configs.occurrence, holds, seen, wanted, count=row)

    def _context(self, condition: c.ContextMatcher) -> Finding:
        configs = condition.configs
        entry = self._facts.step.context.get(configs.context_key)
        value = entry.value if entry is not None and entry.type == configs.context_type else None
        match configs:
            case c.StringContext():
                holds = value is not None and paths.text(value) == configs.string
                wanted = configs.string
            case c.ExpressionsContext():
                holds = value is not None and has_run(parse(configs.expressions), parse(paths.text(value)))
                wanted = configs.expressions
            case c.ObjectContext():
                value = None if value is None else compile_path(configs.object_key_path).read(value)
                holds = value is not None and configs.object_value in (None, paths.text(value))
                wanted = configs.object_value if configs.object_value is not None else "a value"
        seen = "" if value is None else paths.text(value)
        kind = "" if entry is None else entry.type
        return _finding(condition, holds, seen, wanted, found=value is not None, kind=kind)

    def _size(self, condition: c.SizeMatcher, configs: c.SizeConfigs) -> Finding:
        if not configs.bounded:
            return Finding(condition=condition, result="not executed", wanted="a bound")
        size = paths.size(paths.read(self._model, configs.value_path))
        holds = _within(size, configs.min, configs.max) and (int(configs.equal) in (-1, size))
        wanted = _range(configs.min, configs.max) if int(configs.equal) == -1 else f"exactly {configs.equal}"
        return _finding(condition, holds, str(size), wanted, count=size)

    def _deployment(self, condition: c.DeploymentContext, configs: c.DeploymentConfigs) -> Finding:
        surroundings = self._facts.surroundings
        when, tag = (configs.when or "").strip().lower(), (configs.tag_matches or "").strip().lower()
        tags = [each.strip().lower() for each in surroundings.tags]
        holds = (not when or when == surroundings.environment.strip().lower()) and (not tag or tag in tags)
        seen = ", ".join([surroundings.environment, *surroundings.tags])
        return _finding(condition, holds, seen, ", ".join(filter(None, (when, tag))))


def _finding(
    condition: c.AnyCondition,
    holds: bool,
    seen: str,
    wanted: str,
    *,
    found: bool = True,
    ago: int | None = None,
    count: int | None = None,
    kind: str = "",
) -> Finding:
    result: Result = "held" if holds else "failed"
    return Finding(
        condition=condition, result=result, seen=seen, wanted=wanted, found=found, ago=ago, count=count, kind=kind
    )


def _stands_in(run: tuple[str, ...], actions: Sequence[str]) -> bool:
    return any(tuple(actions[at : at + len(run)]) == run for at in range(len(actions) - len(run) + 1))


def _ended(step: Step, task: str, configs: c.OutcomeConfigs) -> bool:
    outcomes = [outcome for outcome in step.outcomes if outcome.task == task and outcome.status != "skipped"]
    failures = [outcome for outcome in outcomes if outcome.status == "failed"]
    if configs.status == "succeeded":
        return bool(outcomes) and not failures
    return any(configs.error_type in (None, outcome.error_type) for outcome in failures)


def _has_type(pattern: str, mime_type: str) -> bool:
    prefix = pattern.removesuffix("*")
    return pattern in ("*/*", mime_type) or (pattern.endswith("/*") and mime_type.startswith(prefix))


def _within(number: int, least: str, most: str) -> bool:
    return (int(least) == -1 or number >= int(least)) and (int(most) == -1 or number <= int(most))


def _range(least: str, most: str) -> str:
    bounds = (("at least", least), ("at most", most))
    return " and ".join(f"{word} {bound}" for word, bound in bounds if int(bound) != -1)
