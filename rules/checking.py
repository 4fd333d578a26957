"""What can be said of a rule set without running it: circles, names, bounds, paths."""

from collections.abc import Iterator
from typing import TypeAlias

from .conditions import (
    MAX_NESTING,
    Condition,
    Connector,
    ContextMatcher,
    Dependency,
    Negation,
    ObjectContext,
    OccurrenceCondition,
    OccurrenceConfigs,
    SizeConfigs,
    SizeMatcher,
)
from .findings import Finding, shown, warning
from .jsonpaths import compile_path
from .places import Pointer, Spot
from .rulesets import Rule, RuleSet

Edges: TypeAlias = dict[str, dict[str, Pointer]]
"""By rule name the names of the rules it depends on, and where each is referred to first."""


def checked(rule_set: RuleSet) -> Iterator[Finding]:
    """All findings of a rule set, at pointers into its document; the errors keep it from being used."""
    names: set[str] = set()
    edges: Edges = {}
    for g, group in enumerate(rule_set.behavior_groups):
        for r, rule in enumerate(group.rules):
            name = rule.name
            if name in names and name:
                yield _repeated(name, ("behaviorGroups", g, "rules", r, "name"))
            names.add(name)
            for condition in rule.conditions:
                if condition.__class__ in _REMARKABLE or condition.conditions:
                    yield from _looked_at(rule, ("behaviorGroups", g, "rules", r), edges)
                    break
    yield from _dangling(edges, names)
    yield from _circles(edges)


def _repeated(name: str, at: Pointer) -> Finding:
    message = f"there is more than one rule {shown(name)}; what counts it or depends on it means all of them"
    hint = "give each rule its own name"
    return warning("S003", message, hint, at)


def _looked_at(rule: Rule, at: Pointer, edges: Edges) -> Iterator[Finding]:
    """What a rule's conditions say, at every depth; its dependencies go into `edges`."""
    for condition, pointer, depth in _conditions(rule, at):
        if depth > MAX_NESTING:
            yield nested_too_deep(pointer)
        elif isinstance(condition, Dependency):
            edges.setdefault(rule.name, {}).setdefault(condition.configs.reference, pointer)
        yield from _single(condition, rule.name, pointer)


_REMARKABLE = frozenset({Connector, Negation, Dependency, ContextMatcher, OccurrenceCondition, SizeMatcher})


def _conditions(rule: Rule, at: Pointer) -> Iterator[tuple[Condition, Pointer, int]]:
    """A rule's conditions at every depth, with the depth; what stands in one that is too deep is left out."""
    pending: list[tuple[tuple[Condition, ...], Pointer, int]] = [(rule.conditions, at, 1)]
    while pending:
        conditions, parent, depth = pending.pop()
        for index, condition in enumerate(conditions):
            here = (*parent, "conditions", index)
            yield condition, here, depth
            if depth <= MAX_NESTING:
                pending.append((condition.conditions, here, depth + 1))


def nested_too_deep(at: Pointer) -> Finding:
    """The finding for a condition that stands deeper than `MAX_NESTING`."""
    message = f"conditions stand more than {MAX_NESTING} deep inside one another"
    return Finding(code="S005", message=message, hint="split the rule in two", spot=Spot(at))


def _single(condition: Condition, rule: str, at: Pointer) -> Iterator[Finding]:
    about = f"`{condition.type}` in rule {shown(rule)}"
    if isinstance(condition, ContextMatcher) and isinstance(condition.configs, ObjectContext):
        path = condition.configs.object_key_path
        try:
            compile_path(path)
        except ValueError as error:
            message = f"{about}: `objectKeyPath` {shown(path)} {error}"
            spot = Spot((*at, "configs", "objectKeyPath"))
            hint = "write it as in `$.user.name` or `items[0].price`"
            yield Finding(code="S004", message=message, hint=hint, spot=spot)
    if isinstance(condition, OccurrenceCondition | SizeMatcher) and _never(condition.configs):
        message, hint = f"{about}: its bounds can never hold", "let the lower bound be at most the upper one"
        yield warning("V008", message, hint, (*at, "configs"))
    if condition.conditions and not isinstance(condition, Connector | Negation):
        message = f"{about}: its conditions are not used"
        hint = "put them beside it, or into a `connector`"
        yield warning("S006", message, hint, (*at, "conditions"))


def _never(configs: OccurrenceConfigs | SizeConfigs) -> bool:
    """Whether no count and no size is within the bounds; a count is never negative."""
    if isinstance(configs, OccurrenceConfigs):
        least, most = int(configs.min_times_occurred), int(configs.max_times_occurred)
        return most < -1 or least > most != -1
    return int(configs.min) > int(configs.max) != -1


def _dangling(edges: Edges, names: set[str]) -> Iterator[Finding]:
    for name, leads in edges.items():
        for reference, at in leads.items():
            if reference not in names:
                about = f"`dependency` in rule {shown(name)}"
                message = f"{about}: there is no rule {shown(reference)}, so this is never true"
                place = (*at, "configs", "reference")
                yield warning("S002", message, "name a rule of this rule set", place)


def _circles(edges: Edges) -> Iterator[Finding]:
    """The circles that a walk through all dependencies meets, without those of rules already told.

    Source: depth-first search; a reference to a rule on the way to here closes a circle.
    """
    done: set[str] = set()
    told: set[str] = set()
    for start in edges:
        chain: dict[str, Iterator[str]] = {} if start in done else {start: iter(edges[start])}
        while chain:
            name, leads = next(reversed(chain.items()))
            reference = next(leads, None)
            if reference is None:
                done.add(name)
                del chain[name]
            elif reference in chain:
                names = list(chain)
                circle = [*names[names.index(reference) :], reference]
                if not told.issuperset(circle):
                    told.update(circle)
                    yield _circle(circle, (*edges[name][reference], "configs", "reference"))
            elif reference in edges and reference not in done:
                chain[reference] = iter(edges[reference])


def _circle(names: list[str], at: Pointer) -> Finding:
    message = f"rules depend on each other in a circle: {_chained(names)}"
    return Finding(code="S001", message=message, hint="take one of these dependencies out", spot=Spot(at))


_LONGEST_CHAIN = 12


def _chained(names: list[str]) -> str:
    if len(names) > _LONGEST_CHAIN:
        names = [*names[: _LONGEST_CHAIN - 2], "…", names[-2], names[-1]]
    return " -> ".join(name if name == "…" else shown(name).strip("`") for name in names)
