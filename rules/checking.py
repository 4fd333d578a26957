"""What can be said of a rule set or of HTTP calls without running them: circles, names, paths, addresses."""

import re
from collections.abc import Iterator
from typing import TypeAlias
from urllib.parse import urlsplit

from .calls import METHODS, HttpCall, HttpCallsFile
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
from .findings import Finding, listed, shown
from .jsonpaths import compile_path
from .places import Pointer, Spot
from .rulesets import Rule, RuleSet
from .spelling import nearest, suggestion
from .templates import PLACEHOLDER

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
    return Finding(code="S003", message=message, hint=hint, severity="warning", spot=Spot(at))


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
        yield Finding(code="V008", message=message, hint=hint, severity="warning", spot=Spot((*at, "configs")))
    if condition.conditions and not isinstance(condition, Connector | Negation):
        message = f"{about}: its conditions are not used"
        hint = "put them beside it, or into a `connector`"
        yield Finding(code="S006", message=message, hint=hint, severity="warning", spot=Spot((*at, "conditions")))


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
                spot = Spot((*at, "configs", "reference"))
                yield Finding(
                    code="S002", message=message, hint="name a rule of this rule set", severity="warning", spot=spot
                )


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


def checked_calls(file: HttpCallsFile) -> Iterator[Finding]:
    """All findings of a file of calls, at pointers into its document; the errors keep it from being used."""
    wrong = _wrong_address(file.target_server_url)
    if wrong:
        message, hint = wrong
        yield Finding(code="H001", message=f"`targetServerUrl` {message}", hint=hint, spot=Spot(("targetServerUrl",)))
    for index, call in enumerate(file.http_calls):
        at = ("httpCalls", index, "request")
        method = call.request.method.strip()
        if method and method.upper() not in METHODS:
            message = f"call {shown(call.name)}: `method` must be {listed(METHODS, 'or')}, not {shown(method)}"
            hint = suggestion(method, METHODS, "write one of these")
            yield Finding(code="V003", message=message, hint=hint, spot=Spot((*at, "method")))
        for pointer, text in _templates(call, at):
            yield from _placeholders(f"call {shown(call.name)}", text, pointer)


def _wrong_address(url: str) -> tuple[str, str] | None:
    """What is wrong with the address of a server, and a hint; the address may hold a password and is not shown."""
    hint = "write one such as `https://api.example.com`"
    if "{" in url or "}" in url:
        return "cannot have placeholders", "write it out, or move the part with the placeholder into `path`"
    if any(sign.isspace() or not sign.isprintable() for sign in url):
        return "has a blank or an invisible character in it", hint
    if not url.lower().startswith(("http://", "https://")):
        return "is no http or https address", hint
    if "?" in url or "#" in url:
        return "has a query or a fragment", "move the query into `queryParams` of each request"
    try:
        parts = urlsplit(url)
        if not parts.hostname:
            return "names no server", hint
    except ValueError:
        return "names no server", hint
    try:
        legal = parts.port != 0
    except ValueError:
        legal = False
    return None if legal else ("has a port that is none", "write a port from 1 to 65535, or none")


def _templates(call: HttpCall, at: Pointer) -> Iterator[tuple[Pointer, str]]:
    """The texts of a call in which placeholders are filled in."""
    request = call.request
    yield (*at, "path"), request.path
    for name, text in request.query_params.items():
        yield (*at, "queryParams", name), text
    yield (*at, "contentType"), request.content_type
    for name, text in request.headers.items():
        yield (*at, "headers", name), text
    yield (*at, "body"), request.body


_ROOTS = ("memory", "properties", "context")
_STEPS = ("current", "last", "past")
_PLACEHOLDER = re.compile(PLACEHOLDER, re.ASCII)
# What nobody writes but to begin a placeholder; `{` alone may begin anything.
_OPENING = re.compile(
    rf"(?:\[[\[(]\$\{{|\{{(?=(?:{'|'.join(_ROOTS)}|userInfo|conversationInfo|snippets|vars)[.\[]))[\w.\[\]-]*", re.ASCII
)


def _placeholders(about: str, text: str, at: Pointer) -> Iterator[Finding]:
    for opening in _OPENING.finditer(text):
        if not _PLACEHOLDER.match(text, opening.start()):
            message = f"{about}: {shown(opening[0])} is not closed, and is sent as it stands"
            hint = "write it as in `{memory.current.input}`"
            yield Finding(code="H002", message=message, hint=hint, severity="warning", spot=Spot(at))
    for found in _PLACEHOLDER.finditer(text):
        path = found[found.lastindex or 0]
        if meant := _meant(path):
            root = path.partition(".")[0]
            message = f"{about}: {shown(found[0])} "
            if root == "memory":
                message += "is always empty"
            else:
                message += f"is empty unless the context has a key {shown(root)}"
            hint = f"did you mean `{meant}`?"
            yield Finding(code="H003", message=message, hint=hint, severity="warning", spot=Spot(at))


def _meant(path: str) -> str | None:
    """The path that is nearly `path`. A root that is near to nothing may be a key of the context."""
    root, _, rest = path.partition(".")
    near = nearest(root, _ROOTS) if rest else None
    if near == "memory":
        step = re.split(r"[.\[]", rest, maxsplit=1)[0]
        near_step = nearest(step, _STEPS)
        if near_step is None:
            return None
        rest = near_step + rest[len(step) :]
    meant = f"{near}.{rest}"
    return meant if near and meant != path else None
