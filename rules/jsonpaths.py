"""JSON paths into the objects of a conversation's context.

The syntax is that of the library python-jsonpath (RFC 9535 and more), without regular expressions. As in the
reference, a path without `$` is read from the top, and one that can find several values finds a list.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn, cast

import jsonpath
from jsonpath.exceptions import JSONPathError
from jsonpath.parse import Parser
from jsonpath.stream import TokenStream
from jsonpath.token import Token

from .values import JSON, MAX_DEPTH

_REFUSED = "regular expressions (`match`, `search`, `=~`) are not supported"


class _Parser(Parser):
    def parse_regex(self, stream: TokenStream) -> NoReturn:  # noqa: ARG002 - the library's signature
        raise ValueError(_REFUSED)


class _Environment(jsonpath.JSONPathEnvironment):
    max_recursion_depth = MAX_DEPTH + 1
    parser_class = _Parser

    # INVARIANT: no regular expression is compiled or tried. Either may take for ever, even with a time-out, which
    # bounds a match but no compilation; and a pattern may come from the context.
    def validate_function_extension_signature(self, token: Token, args: list[Any]) -> list[Any]:
        if token.value in ("match", "search"):
            raise ValueError(_REFUSED)
        return super().validate_function_extension_signature(token, args)


_ENVIRONMENT = _Environment()


@dataclass(frozen=True, slots=True)
class ObjectPath:
    """A readable JSON path; `definite` if it leads to one value at most."""

    text: str
    definite: bool
    compiled: "jsonpath.JSONPath | jsonpath.CompoundJSONPath"

    def read(self, value: JSON) -> JSON:
        """What is at this path: the value, or of an indefinite path the list of all found; None for nothing.

        Never raises: where a path cannot be followed, nothing is there.
        """
        try:
            found = cast(list[JSON], self.compiled.findall(value))
        # The author's filter may meet any value, and the library does not wrap all that can go wrong there.
        except Exception:  # noqa: BLE001 - see above
            return None
        if self.definite:
            return found[0] if found else None
        return found


@lru_cache(maxsize=4096)
def compile_path(path: str) -> ObjectPath:
    """Read a JSON path; `$.` is put in front of one without `$`. Raises `ValueError` in plain words."""
    text = path if path.startswith("$") else f"$.{path}"
    try:
        compiled = _ENVIRONMENT.compile(text)
    except (JSONPathError, RecursionError, ValueError) as error:
        words = str(error).splitlines() or ["nested too deep"]
        raise ValueError(f"cannot be read as a JSON path: {words[0]}") from error
    definite = isinstance(compiled, jsonpath.JSONPath) and compiled.singular_query()
    return ObjectPath(text, definite, compiled)
