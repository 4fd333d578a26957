"""From what the parser reads to items: each rule, output or policy as JSON in today's keys.

The callbacks are called by Lark while it parses, so that no tree is made and nothing recurses. Texts and names stay
tokens, which are texts that know their places; so the JSON knows its places.
"""

# ruff: noqa: D102 - the grammar says what a callback is called for

import json
from unicodedata import normalize

from lark import Token

from .build_checks import Checks
from .build_conditions import Conditions, checked_depth
from .parser import RejectedError
from .pieces import Entries, Item, Parts, at, constant, counted, merged, numbered, plain

__all__ = ["Builder", "Item"]


class Builder(Conditions, Checks):
    """Makes a list of items. It keeps nothing, so that one will do for all files and threads.

    Raises `RejectedError` for what the grammar takes and the language does not.
    """

    def start(self, items: Parts) -> object:
        return items

    # tokens

    def NAME(self, token: Token) -> Token:  # noqa: N802 - named after the terminal
        return token if token.isascii() else token.update(value=normalize("NFC", token))

    def STRING(self, token: Token) -> Token:  # noqa: N802 - named after the terminal
        if "\\" not in token:
            return token.update(value=token[1:-1])
        try:
            return token.update(value=json.loads(token, strict=False))
        except ValueError as error:
            hint = "write `\\\\` for the backslash itself"
            raise RejectedError(token, "J003", "a backslash begins no escape in this text", hint) from error

    # JSON

    def number(self, children: list[Token]) -> object:
        return numbered(children[0])

    true, false, null = constant(True), constant(False), constant(None)
    on, off = constant(True), constant(False)

    def arr(self, children: Parts) -> object:
        return children

    def obj(self, children: list[tuple[Token, object]]) -> object:
        entries: Entries = {}
        for key, value in children:
            if key in entries:
                raise RejectedError(key, "J008", f"`{key}` stands twice in one object", "leave one of them out")
            entries[str.__str__(key)] = value
        return entries

    def member(self, children: Parts) -> object:
        return tuple(children)

    def pair(self, children: Parts) -> object:
        key, value = children
        return key, plain(key, value)

    def extra(self, pairs: list[tuple[Token, object]]) -> object:
        entries: Entries = {}
        for name, value in pairs:
            merged(entries, {name.update(type="KEY"): value})  # tokens of two types are never equal
        return entries

    keeping = extra

    # the set and the agent

    def option(self, children: Parts) -> Item:
        return self._option(children, outputs=False)

    def option_out(self, children: Parts) -> Item:
        return self._option(children, outputs=True)

    def _option(self, children: Parts, *, outputs: bool) -> Item:
        word, key, value = children
        entries: Entries = {"key": key, "value": plain(key, value), "outputs": outputs}
        return Item(kind="set", entries=entries, at=at(word))

    def language(self, children: Parts) -> Item:
        return Item(kind="language", entries={"lang": children[1]}, at=at(children[0]))

    enabled, disabled = constant(("enabled", True)), constant(("enabled", False))
    continue_after, stop_after = constant(("continueOnFailure", True)), constant(("continueOnFailure", False))

    def on_failure(self, children: Parts) -> object:
        return "onFailure", children[0]

    def reroute(self, children: Parts) -> object:
        return "rerouteOnFailure", children[0]

    def policy_line(self, children: Parts) -> object:
        return children[0]

    def policy(self, children: Parts) -> Item:
        word, *lines = children
        entries: Entries = {}
        for key, value in lines:
            if key in entries:
                raise RejectedError(word, "R009", "the policy says one thing twice", "leave one of them out")
            entries[key] = value
        return Item(kind="policy", entries={"enabled": True, **entries}, at=at(word))

    def stepref(self, children: Parts) -> object:
        task, file, within = children
        entries: Entries = {"task": task}
        if file is not None:
            entries["file"] = file
        if within is not None:
            entries["within"] = counted(within)
        return entries

    def steps(self, children: Parts) -> Item:
        return Item(kind="steps", entries={"steps": children[1:]}, at=at(children[0]))

    # rules

    first_match, all_matches = constant("executeUntilFirstSuccess"), constant("executeAll")

    def strategy(self, children: Parts) -> object:
        return children[0]

    def group(self, children: Parts) -> Item:
        word, name, strategy, extra = children
        entries: Entries = {}
        if name is not None:
            entries["name"] = name
        if strategy is not None:
            entries["executionStrategy"] = strategy
        return Item(kind="group", entries=merged(entries, extra, ("rules", "behaviorRules")), at=at(word))

    def rule(self, children: Parts) -> Item:
        word, name, extra, conditions, actions = children
        entries: Entries = {"name": name}
        if conditions:
            entries["conditions"] = checked_depth(conditions, name)
        if actions:
            entries["actions"] = actions
        return Item(kind="rule", entries=merged(entries, extra, ("conditions", "actions")), at=at(word))

    when_always = then_nothing = constant(())

    def when(self, children: Parts) -> object:
        return children[0]

    then = when

    # outputs

    def output(self, children: Parts) -> Item:
        word, action, ordinal, extra, *rest = children
        entries: Entries = {"action": action}
        if ordinal is not None:
            entries["timesOccurred"] = times = counted(ordinal.update(value=ordinal[:-2])) - 1
            if times < 0:
                raise RejectedError(ordinal, "V006", f"there is no `{ordinal}` time", "begin to count at `1st`")
        pieces = [entry for word, entry in rest if word == "piece"]
        replies = [entry for word, entry in rest if word == "reply"]
        if pieces:
            entries["outputs"] = pieces
        if replies:
            entries["quickReplies"] = replies
        return Item(kind="output", entries=merged(entries, extra, ("outputs", "quickReplies")), at=at(word))

    def piece(self, children: Parts) -> object:
        *items, keeping = children
        return "piece", merged({"valueAlternatives": items}, keeping)

    def no_alternatives(self, children: Parts) -> object:
        return "piece", merged({}, children[0], ("valueAlternatives",))

    def text(self, children: Parts) -> object:
        text, delay, extra = children
        entries: Entries = {"type": "text", "text": text}
        if delay is not None:
            entries["delay"] = counted(delay)
        return merged(entries, extra)

    def shown(self, children: Parts) -> object:
        return merged({"type": children[0]}, children[1])

    def reply(self, children: Parts) -> object:
        default, text, meaning, extra = children
        entries: Entries = {"value": text}
        if meaning is not None:
            entries["expressions"] = meaning
        if default is not None:
            entries["isDefault"] = True
        return "reply", merged(entries, extra)
