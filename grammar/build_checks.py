"""Checks, from what the parser reads to objects that `checks` and the writer know."""

# ruff: noqa: D102 - the grammar says what a callback is called for

from collections.abc import Callable

from lark import Token, Transformer

from .parser import RejectedError
from .pieces import Entries, Item, Parts, at, constant, counted, plain


class Checks(Transformer[Token, object]):
    """Makes an item of each check."""

    def check(self, children: Parts) -> Item:
        word, name, *rest = children
        givens = [part for part in rest if "given" in part]
        turns = [part for part in rest if "given" not in part]
        return Item(kind="check", entries={"name": name, "givens": givens, "turns": turns}, at=at(word))

    def typed(self, children: Parts) -> object:
        return {"typed": children[0]}

    def meant(self, children: Parts) -> object:
        return {"meant": children[0]}

    def step(self, children: Parts) -> object:
        word, said, *rest = children
        turn: Entries = {"word": word, **(said or {})}
        for part in ("given", "fault", "expect"):
            turn[f"{part}s"] = [one for one in rest if part in one]
        return turn

    def given(self, children: list[Entries]) -> object:
        return children[0]

    def g_context(self, children: Parts) -> object:
        return {"given": "context", "name": children[0], "value": plain(*children)}

    def g_property(self, children: Parts) -> object:
        return {"given": "property", "name": children[0], "value": plain(*children)}

    def g_attachment(self, children: Parts) -> object:
        return {"given": "attachment", "name": children[0]}

    def g_environment(self, children: Parts) -> object:
        return {"given": "environment", "name": children[0]}

    def s_status(self, children: list[Token]) -> object:
        return "status", children[0], counted(children[0])

    def s_body(self, children: list[Token]) -> object:
        return "body", children[0], children[0]

    def s_error(self, children: list[Token]) -> object:
        return "error", children[0], children[0]

    def fails(self, children: Parts) -> object:
        task, *symptoms = children
        fault: Entries = {"fault": "fails", "task": task}
        for key, token, value in symptoms:
            if key in fault:
                raise RejectedError(token, "R009", f"`{key}` is said twice", "leave one of them out")
            fault[key] = value
        return fault

    def times_out(self, children: Parts) -> object:
        return {"fault": "times_out", "task": children[0]}

    def answers(self, children: Parts) -> object:
        return {"fault": "answers", "task": children[0], "answer": plain(*children)}

    def fault(self, children: Parts) -> object:
        return children[0]

    def expect(self, children: Parts) -> object:
        word, expectation = children
        return {"word": word, **expectation}

    def e_sees(self, children: Parts) -> object:
        return {"expect": "sees", "watcher": children[0], "wanted": children[1:]}

    w_model, w_operator = constant("model"), constant("operator")
    w_caller, w_nobody = constant("caller"), constant("nobody")


def _expected(kind: str) -> Callable[[object, Parts], object]:
    return lambda _, children: {"expect": kind, "wanted": children}


for _kind in ("action", "no_action", "say", "say_nothing", "reply", "state", "fires", "silent"):
    setattr(Checks, f"e_{_kind}", _expected(_kind))
