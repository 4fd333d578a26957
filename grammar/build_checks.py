"""Checks, from what the parser reads to objects that `checks` and the writer know."""

# ruff: noqa: D102 - the grammar says what a callback is called for

from collections.abc import Callable

from lark import Token, Transformer

from .parser import RejectedError
from .pieces import Entries, Item, Parts, at, constant, counted, plain


class Checks(Transformer[Token, object]):
    """Makes an item of each check."""

    def check(self, children: Parts) -> Item:
        word, name, *parts = children
        return Item(kind="check", entries={"name": name, **_sorted(parts, "givens", "turns")}, at=at(word))

    def typed(self, children: Parts) -> object:
        return {"typed": children[0]}

    def meant(self, children: Parts) -> object:
        return {"meant": children[0]}

    def step(self, children: Parts) -> object:
        word, said, *parts = children
        return "turns", {"word": word, **(said or {}), **_sorted(parts, "givens", "faults", "expects")}

    def given(self, children: Parts) -> object:
        return "givens", children[0]

    def g_context(self, children: Parts) -> object:
        return {"kind": "context", "name": children[0], "value": plain(*children)}

    def g_property(self, children: Parts) -> object:
        return {"kind": "property", "name": children[0], "value": plain(*children)}

    def g_attachment(self, children: Parts) -> object:
        return {"kind": "attachment", "name": children[0]}

    def g_environment(self, children: Parts) -> object:
        return {"kind": "environment", "name": children[0]}

    def s_status(self, children: list[Token]) -> object:
        return "status", children[0], counted(children[0])

    def s_body(self, children: list[Token]) -> object:
        return "body", children[0], children[0]

    def s_error(self, children: list[Token]) -> object:
        return "error", children[0], children[0]

    def fails(self, children: Parts) -> object:
        task, *symptoms = children
        fault: Entries = {"kind": "fails", "task": task}
        for key, token, value in symptoms:
            if key in fault:
                raise RejectedError(token, "R009", f"`{key}` is said twice", "leave one of them out")
            fault[key] = value
        return "faults", fault

    def times_out(self, children: Parts) -> object:
        return "faults", {"kind": "times_out", "task": children[0]}

    def answers(self, children: Parts) -> object:
        return "faults", {"kind": "answers", "task": children[0], "answer": plain(*children)}

    def expect(self, children: Parts) -> object:
        word, expectation = children
        return "expects", {"word": word, **expectation}

    def e_sees(self, children: Parts) -> object:
        return {"kind": "sees", "watcher": children[0], "wanted": children[1:]}

    w_model, w_operator = constant("model"), constant("operator")
    w_caller, w_nobody = constant("caller"), constant("nobody")


def _sorted(parts: Parts, *names: str) -> Entries:
    """What was read, under the names of what it is."""
    return {name: [entries for one, entries in parts if one == name] for name in names}


def _expected(kind: str) -> Callable[[object, Parts], object]:
    return lambda _, children: {"kind": kind, "wanted": children}


for _kind in ("action", "no_action", "say", "say_nothing", "reply", "state", "fires", "silent"):
    setattr(Checks, f"e_{_kind}", _expected(_kind))
