"""Conditions and expressions, from what the parser reads to JSON in today's keys."""

# ruff: noqa: D102 - the grammar says what a callback is called for

from collections.abc import Callable, Iterator

from lark import Token, Transformer

from ..rules.conditions import MAX_NESTING
from .parser import RejectedError
from .phrases import TASK_FAILED, TURNS
from .pieces import Entries, Parts, constant, merged

_OF_CONDITIONS = ("type", "configs", "conditions")


def _condition(kind: str, **configs: object) -> Entries:
    return {"type": kind, "configs": configs}


def _fact(kind: str, *keys: str, **fixed: str) -> Callable[[object, Parts], object]:
    """The callback for a condition whose configs are the texts that it is given, and fixed ones."""

    def build(_: object, children: Parts) -> object:
        return _condition(kind, **dict(zip(keys, children, strict=True)), **fixed)

    return build


class Conditions(Transformer[Token, object]):
    """Makes an object of each condition, and a text of expressions."""

    def names(self, children: Parts) -> object:
        return children

    conds = names

    def any_of(self, children: Parts) -> object:
        return _connected("OR", children[:-2], children[-2:])

    def all_of(self, children: Parts) -> object:
        inner, *suffixes = children
        return _connected("AND", inner, suffixes)

    def neg(self, children: Parts) -> object:
        return {"type": "negation", "conditions": children}

    def neg_all(self, children: Parts) -> object:
        return {"type": "negation", "conditions": children[0]}

    def leaf(self, children: Parts) -> object:
        fact, turn, extra, keeping = children
        configs: Entries = fact["configs"]
        if turn is not None:
            configs["occurrence"] = turn
        if extra is not None:
            merged(configs, extra)
        return fact if keeping is None else merged(fact, keeping, _OF_CONDITIONS)

    def says(self, children: Parts) -> object:
        return _condition("inputmatcher", expressions=children[0])

    def acts(self, children: Parts) -> object:
        return _condition("actionmatcher", actions=_joined(children))

    def failed(self, children: list[Token]) -> object:
        (task,) = children
        return _condition("actionmatcher", actions=task.update(value=f"{TASK_FAILED}{task}"))

    failed_due = _fact("outcomematcher", "taskId", "errorType")
    failed_row = _fact("outcomematcher", "taskId", "minConsecutive")
    mentions = _fact("digestmatcher", "taskId", "contains")
    succeeded = _fact("outcomematcher", "taskId", status="succeeded")
    ctx_string = _fact("contextmatcher", "contextKey", "string", contextType="string")
    ctx_expr = _fact("contextmatcher", "contextKey", "expressions", contextType="expressions")
    ctx_has = _fact("contextmatcher", "contextKey", "objectKeyPath", contextType="object")
    ctx_at = _fact("contextmatcher", "contextKey", "objectKeyPath", "objectValue", contextType="object")
    never_fired = _fact("occurrence", "behaviorRuleName", maxTimesOccurred="0")
    would = _fact("dependency", "reference")

    def at_least(self, children: Parts) -> object:
        return children[0], None, None

    def at_most(self, children: Parts) -> object:
        return None, children[0], None

    def between(self, children: Parts) -> object:
        return *children, None

    def exactly(self, children: Parts) -> object:
        return None, None, children[0]

    def occurred(self, children: Parts) -> object:
        name, (least, most, exact) = children
        bounds = {"minTimesOccurred": least or exact, "maxTimesOccurred": most or exact}
        return _condition("occurrence", behaviorRuleName=name, **_present(bounds))

    def size(self, children: Parts) -> object:
        path, (least, most, exact) = children
        return _condition("sizematcher", valuePath=path, **_present({"min": least, "max": most, "equal": exact}))

    t_any = constant({})

    def t_is(self, children: Parts) -> object:
        return {"equals": children[0]}

    def t_contains(self, children: Parts) -> object:
        return {"contains": children[0]}

    def t_either(self, children: Parts) -> object:
        return {"equals": children[0], "contains": children[1]}

    def value_of(self, children: Parts) -> object:
        path, tests = children
        return _condition("dynamicvaluematcher", valuePath=path, **tests)

    def generic(self, children: Parts) -> object:
        kind, inner = children
        made: Entries = {"type": kind, "configs": {}}
        return {**made, "conditions": inner} if inner else made

    # expressions

    def exprs(self, children: Parts) -> object:
        return _joined([_expression(part) for part in children])

    meaning = exprs

    def raw(self, children: Parts) -> object:
        return children[0]

    def expr(self, children: Parts) -> object:
        name, args = children
        return name if args is None else [name, args]

    star = constant("*")

    def args(self, children: Parts) -> object:
        parts: Parts = ["("]
        for child in children:
            if child is not None:
                parts += [", ", child] if len(parts) > 1 else [child]
        return [*parts, ")"]


for _word, (_turn, _) in TURNS.items():
    setattr(Conditions, _word, constant(_turn))


def _present(entries: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in entries.items() if value is not None}


def _connected(operator: str, inner: object, suffixes: Parts) -> object:
    made: Entries = {"type": "connector", "configs": merged({"operator": operator}, suffixes[0]), "conditions": inner}
    return merged(made, suffixes[1])


def _expression(part: object) -> object:
    """An expression as one text, at the place of its name."""
    return _joined(list(_flat(part)), "") if isinstance(part, list) else part


def _joined(names: Parts, joint: str = ", ") -> object:
    """Several texts as one, at the place of the first."""
    if len(names) == 1:
        return names[0]
    first = names[0]
    text = joint.join(names)
    return first.update(value=text) if isinstance(first, Token) else text


def _flat(nested: Parts) -> Iterator[object]:
    """The texts of nested lists, in order; expressions nest as deep as somebody likes."""
    pending = [iter(nested)]
    while pending:
        for part in pending[-1]:
            if isinstance(part, list):
                pending.append(iter(part))
                break
            yield part
        else:
            pending.pop()


def checked_depth(conditions: Parts, rule: Token) -> Parts:
    """The conditions of a rule; `RejectedError` where they nest too deep.

    INVARIANT: whoever walks through them afterwards may recurse.
    """
    level, depth = conditions, 1
    while level := [inner for one in level for inner in one.get("conditions", ())]:
        if (depth := depth + 1) > MAX_NESTING:
            message = f"conditions stand more than {MAX_NESTING} deep inside one another"
            raise RejectedError(rule, "S005", message, "split the rule in two")
    return conditions
