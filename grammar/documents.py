"""Items to JSON documents and back, and what two documents have to share to be the same to their reader."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lark import Token

from ..rules.authored import Authored
from ..rules.outputs import OutputSet
from ..rules.places import Places, Spot
from ..rules.rulesets import RuleSet
from .parser import RejectedError, Source
from .pieces import Comment, Entries, Item, objects

FLAGS = {"append_actions": "appendActions", "expressions_as_actions": "expressionsAsActions"}
"""The flags of a rule set by the names that the language gives them."""

COMMENTS = "_comments"
"""The key under which comments travel in JSON: `[[gap, trailing, text], …]`."""

_NO_COMMENT = re.compile("[\r\n\ud800-\udfff]")
_RULE_WORDS = dict.fromkeys(("behaviorGroups", "ruleGroups", "behaviorRules", "rules"), "`group` and `rule`")
_OUTPUT_WORDS = {"outputSet": "`output`", "outputs": "`output`", "lang": "`language`"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """A rule set and an output set as JSON in today's keys; their texts are tokens where they come from a text."""

    rules: Entries
    outputs: Entries
    rejected: tuple[RejectedError, ...] = ()
    """What was left out: settings that are said twice, or have words of their own."""


def documents(items: Iterable[Item], *, comments: bool = False) -> Documents:
    """What items say, as JSON.

    Rules before any group form a group of their own. With `comments` those of groups, rules and outputs are kept.
    """
    rules: Entries = {}
    outputs: Entries = {}
    groups: list[Entries] = []
    listed: list[Entries] = []
    rejected: list[RejectedError] = []
    for item in items:
        entries = _commented(item) if comments else item.entries
        match item.kind:
            case "set" | "language":
                try:
                    _set(item, rules, outputs)
                except RejectedError as error:
                    rejected.append(error)
            case "group":
                groups.append({**entries})
            case "rule":
                if not groups:
                    groups.append({})
                groups[-1].setdefault("rules", []).append(entries)  # type: ignore[attr-defined]  # by its form
            case "output":
                listed.append(entries)
    # A document needs one key of its kind, else it is taken for something else.
    if groups or rules:
        rules["behaviorGroups"] = groups
    if listed or outputs:
        outputs["outputSet"] = listed
    return Documents(rules=rules, outputs=outputs, rejected=tuple(rejected))


def _set(item: Item, rules: Entries, outputs: Entries) -> None:
    """Put a setting into its document; raises `RejectedError` where that cannot be."""
    if item.kind == "language":
        language = token(item.entries["lang"])
        if "lang" in outputs:
            raise RejectedError(language, "R009", "the language is said twice", "leave one of them out")
        outputs["lang"] = language
        return
    key = token(item.entries["key"])
    target, own = (outputs, _OUTPUT_WORDS) if item.entries["outputs"] else (rules, _RULE_WORDS)
    if key in own:
        raise RejectedError(key, "R009", f"`{key}` is not written with `set`", f"write {own[key]}")
    # Tokens of two types are never equal: as keys, all are of one.
    name = key.update(type="KEY", value=key if target is outputs else FLAGS.get(key, key))
    if name in target:
        raise RejectedError(key, "R009", f"`{key}` is set twice", "leave one of them out")
    target[name] = item.entries["value"]


def token(text: object) -> Token:
    """A text with its place, if it has one."""
    return text if isinstance(text, Token) else Token("NAME", str(text))


def _commented(item: Item) -> Entries:
    if not item.comments:
        return item.entries
    kept = item.entries.get(COMMENTS)
    before = kept if isinstance(kept, list) else []
    return {**item.entries, COMMENTS: [*before, *map(list, item.comments)]}


def items(rules: Mapping[str, object] | None = None, outputs: Mapping[str, object] | None = None) -> list[Item]:
    """What documents say, as items, in the order: settings, groups with their rules, language, outputs.

    The documents are in today's keys.
    """
    made = [] if rules is None else list(_rule_items(rules))
    return made if outputs is None else [*made, *_output_items(outputs)]


def _rule_items(document: Mapping[str, object]) -> Iterator[Item]:
    words = {key: word for word, key in FLAGS.items()}
    for key, setting in document.items():
        if key != "behaviorGroups":
            entries = {"key": words.get(key, key), "value": setting, "outputs": False}
            yield Item(kind="set", entries=entries)
    for index, group in enumerate(objects(document, "behaviorGroups")):
        rules = objects(group, "rules")
        if index or not rules or len(group) > 1:
            yield _item("group", {key: item for key, item in group.items() if key != "rules"})
        for rule in rules:
            yield _item("rule", rule)


def _output_items(document: Mapping[str, object]) -> Iterator[Item]:
    for key, setting in document.items():
        if key not in ("outputSet", "lang"):
            yield Item(kind="set", entries={"key": key, "value": setting, "outputs": True})
    if "lang" in document:
        yield Item(kind="language", entries={"lang": document["lang"]})
    for output in objects(document, "outputSet"):
        yield _item("output", output)


def _item(kind: str, entries: Entries) -> Item:
    comments = _read_comments(entries.get(COMMENTS))
    if comments is None:
        return Item(kind=kind, entries=entries)  # type: ignore[arg-type]  # by its form
    rest = {key: item for key, item in entries.items() if key != COMMENTS}
    return Item(kind=kind, entries=rest, comments=comments)  # type: ignore[arg-type]  # by its form


def _read_comments(written: object) -> tuple[Comment, ...] | None:
    """The comments of an item, or None if they are something else."""
    if not isinstance(written, list):
        return None
    read: list[Comment] = []
    for entry in written:
        match entry:
            case [int(gap), bool(trailing), str(text)] if type(gap) is int and _is_comment(text):
                read.append((gap, trailing, text))
            case _:
                return None
    return tuple(read)


def _is_comment(text: str) -> bool:
    return text == text.rstrip() and _NO_COMMENT.search(text) is None


_NOTHING: tuple[object, ...] = (None, "", [], {})
_NULL: tuple[object, ...] = (None,)
_ABSENT: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "rule set": {"behaviorGroups": _NOTHING, "appendActions": _NULL, "expressionsAsActions": _NULL},
    "group": {"name": _NOTHING, "executionStrategy": _NOTHING, "rules": _NOTHING, COMMENTS: _NOTHING},
    "rule": {"name": _NOTHING, "actions": _NOTHING, "conditions": _NOTHING, COMMENTS: _NOTHING},
    "condition": {"configs": _NOTHING, "conditions": _NOTHING},
    "output set": {"lang": _NULL, "outputSet": _NOTHING},
    "output": {"timesOccurred": _NULL, "outputs": _NOTHING, "quickReplies": _NOTHING, COMMENTS: _NOTHING},
    "alternatives": {"valueAlternatives": _NOTHING},
    "quick reply": {"value": _NOTHING, "expressions": _NULL, "isDefault": (None, False)},
}
"""What the reference's reader cannot tell from an absent key."""


def normal(model: RuleSet | OutputSet) -> Entries:
    """The document of a model in today's keys, without what its reader cannot tell from its absence.

    Those are null, empty lists and empty names, config values that are null, `isDefault: false`; nor can it tell the
    letter case of an operator, and whether a config is a text. All else is kept, unknown keys too.
    """
    document = dumped(model)
    if isinstance(model, RuleSet):
        return _kept("rule set", document, behaviorGroups=_group)
    return _kept("output set", document, outputSet=_output)


def dumped(model: Authored) -> Entries:
    """A model as JSON in today's keys, as it was set."""
    fields = type(model).model_fields
    entries = {fields[key].alias or key: _json(getattr(model, key)) for key in fields if key in model.model_fields_set}
    return {**entries, **(model.model_extra or {})}


def _json(item: object) -> object:
    if isinstance(item, Authored):
        return dumped(item)
    return [_json(one) for one in item] if isinstance(item, tuple) else item


def _kept(what: str, entries: Entries, **inner: Callable[[Entries], object]) -> Entries:
    absent = _ABSENT[what]
    kept = {key: item for key, item in entries.items() if key not in absent or not _is_one(item, absent[key])}
    for key, normalised in inner.items():
        if key in kept:
            kept[key] = [normalised(one) for one in kept[key]]  # type: ignore[attr-defined]  # by its form
    return kept


def _is_one(item: object, these: Sequence[object]) -> bool:
    return any(item == one and type(item) is type(one) for one in these)


def _group(entries: Entries) -> Entries:
    return _kept("group", entries, rules=_rule)


def _rule(entries: Entries) -> Entries:
    return _kept("rule", entries, conditions=_condition)


def _condition(entries: Entries) -> Entries:
    configs: Entries = entries.get("configs") or {}  # type: ignore[assignment]  # by its form
    texts = {key: _text(item) for key, item in configs.items() if item is not None}
    if entries["type"] == "connector" and isinstance(operator := texts.get("operator"), str):
        texts["operator"] = operator.upper()
    return _kept("condition", {**entries, "configs": texts}, conditions=_condition)


def _text(item: object) -> object:
    return json.dumps(item) if isinstance(item, bool | int | float) else item


def _output(entries: Entries) -> Entries:
    return _kept("output", entries, outputs=_alternatives, quickReplies=_quick_reply)


def _alternatives(entries: Entries) -> Entries:
    return _kept("alternatives", entries)


def _quick_reply(entries: Entries) -> Entries:
    return _kept("quick reply", entries)


def plain(document: Mapping[str, object]) -> Entries:
    """A document without tokens, for whoever keeps it."""
    return {str.__str__(key): _plain(item) for key, item in document.items()}


def _plain(item: object) -> object:
    if isinstance(item, dict):
        return plain(item)
    if isinstance(item, list | tuple):
        return [_plain(one) for one in item]
    return str.__str__(item) if isinstance(item, Token) else item


def places(document: object, source: Source) -> Places:
    """Where the parts of a document stand in the text that it was built from."""

    def located(spots: Sequence[Spot]) -> list[tuple[int, int]]:
        return [source.place(_offset(document, spot)) for spot in spots]

    return located


def _offset(document: object, spot: Spot) -> int:
    """Where what is pointed at begins, or what is around it, as far as tokens tell."""
    offset = _begin(document)
    for index, step in enumerate(spot.pointer):
        try:
            key = next((key for key in document if key == step), None) if isinstance(document, dict) else None
            document = document[step]  # type: ignore[index]  # a wrong step raises, and is caught
        except (KeyError, IndexError, TypeError):
            break
        at_key = spot.at_key and index + 1 == len(spot.pointer)
        for token in (key, document) if at_key else (document, key):
            if (begin := _begin(token)) is not None:
                offset = begin
                break
    return offset or 0


def _begin(part: object) -> int | None:
    """The offset of the first token in a part of a document."""
    least: int | None = None
    pending = [part]
    while pending:
        one = pending.pop()
        if isinstance(one, Token):
            if one.start_pos is not None and (least is None or one.start_pos < least):
                least = one.start_pos
        elif isinstance(one, dict):
            pending += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            pending += one
    return least
