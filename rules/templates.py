"""Templates: texts of an author with places for values, which are filled in and never read as templates themselves."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from .paths import is_container, text
from .values import JSON

_PATH = r"[A-Za-z_][\w.\[\]-]*"
_PLACEHOLDER = rf"\[\[\$\{{({_PATH})\}}\]\]|\[\(\$\{{({_PATH})\}}\)\]|\{{({_PATH})\}}"
PLACEHOLDER = re.compile(_PLACEHOLDER, re.ASCII)
"""Finds `{path}`, and what older files have, `[[${path}]]` and `[(${path})]`."""

ROOTS = "memory|properties|context|userInfo|conversationInfo|snippets|vars"
"""What placeholders of this and of other languages of templates begin with, as a pattern."""

_UNREADABLE = (
    r"\[\[\$\{[^{}]{0,500}\}\]\]|\[\(\$\{[^{}]{0,500}\}\)\]"
    rf"|\{{(?:[#/!|]|(?:{ROOTS})\b)[^{{}}]{{0,500}}\}}"
)
PIECES = re.compile(rf"{_PLACEHOLDER}|{_UNREADABLE}", re.ASCII)
"""Finds placeholders, and what only other languages of templates know, such as `{#if x}`: it is left out."""

JSON_PIECES = re.compile(rf'{PIECES.pattern}|(?P<string>"(?:[^"\\]|\\.)*+")', re.ASCII | re.DOTALL)
"""Finds both in a JSON text, and its strings, each of which is a template of its own."""

LookUp: TypeAlias = Callable[[str], JSON]
"""Finds the value at a path; None if there is none."""


def filled(template: str, look_up: LookUp, write: Callable[[str], str] = str) -> str:
    """The template with its placeholders filled in, each value as `write` writes its text; what is missing is empty."""
    # INVARIANT: one pass, so that nothing that was filled in is ever read as a template.
    return PIECES.sub(lambda found: write(as_text(look_up(path))) if (path := path_in(found)) else "", template)


def path_in(found: re.Match[str]) -> str | None:
    """The path of a placeholder that was found; None for what is none."""
    return found[found.lastindex] if found.lastindex else None


def is_template(written: str) -> bool:
    """Whether a text has something to fill in, or to leave out."""
    return PIECES.search(written) is not None


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
    first, *others = map(re.escape, PIECES.split(template)[:: PIECES.groups + 1])
    if not others:
        return template == text
    *between, last = others
    # Each literal is looked for behind the one before, at the first place alone: further on, no more would fit.
    pattern = first + "".join([f"(?>.*?{literal})" for literal in between]) + ".*" + last
    return re.fullmatch(pattern, text, re.DOTALL) is not None
