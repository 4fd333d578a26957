"""Templates: texts of an author with places for values, which are filled in and never read as templates themselves."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from .paths import is_container, text
from .values import JSON

_PATH = r"[A-Za-z_][\w.\[\]-]*"
PLACEHOLDER = rf"\[\[\$\{{({_PATH})\}}\]\]|\[\(\$\{{({_PATH})\}}\)\]|\{{({_PATH})\}}"
"""The pattern of `{path}`, and of what older files have, `[[${path}]]` and `[(${path})]`; for `re.ASCII`."""

_ROOTS = "memory|properties|context|userInfo|conversationInfo|snippets|vars"
UNREADABLE = (
    r"\[\[\$\{[^{}]{0,500}\}\]\]|\[\(\$\{[^{}]{0,500}\}\)\]"
    rf"|\{{(?:[#/!|]|(?:{_ROOTS})\b)[^{{}}]{{0,500}}\}}"
)
"""The pattern of what other languages of templates know and this one does not, such as `{#if x}`: it is left out."""

JSON_PIECES = re.compile(rf'{PLACEHOLDER}|{UNREADABLE}|(?P<string>"(?:[^"\\]|\\.)*+")', re.ASCII | re.DOTALL)
"""Finds both in a JSON text, and its strings, each of which is a template of its own."""

LookUp: TypeAlias = Callable[[str], JSON]
"""Finds the value at a path; None if there is none."""

_PIECES = re.compile(rf"{PLACEHOLDER}|{UNREADABLE}", re.ASCII)


def filled(template: str, look_up: LookUp, write: Callable[[str], str] = str) -> str:
    """The template with its placeholders filled in, each value as `write` writes its text; what is missing is empty."""
    # INVARIANT: one pass, so that nothing that was filled in is ever read as a template.
    return _PIECES.sub(lambda found: write(as_text(look_up(path))) if (path := path_in(found)) else "", template)


def path_in(found: re.Match[str]) -> str | None:
    """The path of a placeholder that was found; None for what is none."""
    return found[found.lastindex] if found.lastindex else None


def is_template(written: str) -> bool:
    """Whether a text has something to fill in, or to leave out."""
    return _PIECES.search(written) is not None


def as_text(value: JSON) -> str:
    """A value as it is filled in: nothing for none, containers as JSON."""
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if is_container(value) else text(value)


def filled_within(value: JSON, look_up: LookUp) -> JSON:
    """A copy of a JSON value with all texts in it filled in; keys stay."""
    if isinstance(value, str):
        return filled(value, look_up)
    if isinstance(value, Mapping):
        return {key: filled_within(item, look_up) for key, item in value.items()}
    return [filled_within(item, look_up) for item in value] if isinstance(value, Sequence) else value


def has_templates(value: JSON) -> bool:
    """Whether a JSON value has a text in it that is a template."""
    if isinstance(value, str):
        return is_template(value)
    if isinstance(value, Mapping):
        return any(map(has_templates, value.values()))
    return isinstance(value, Sequence) and any(map(has_templates, value))


def fits(template: str, text: str) -> bool:
    """Whether a text can be what a template becomes."""
    literals, at = [], 0
    for found in _PIECES.finditer(template):
        literals.append(template[at : found.start()])
        at = found.end()
    first, *others = [*literals, template[at:]]
    if not others:
        return first == text
    if not text.startswith(first) or len(text) < len(first) + len(others[-1]) or not text.endswith(others[-1]):
        return False
    at, end = len(first), len(text) - len(others[-1])
    for literal in others[:-1]:
        place = text.find(literal, at, end)
        if place < 0:
            return False
        at = place + len(literal)
    return True
