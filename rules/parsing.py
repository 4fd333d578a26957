"""JSON texts to data, with plain words and a place for what is not JSON."""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass

from .errors import LoadError, Problem
from .findings import Finding, shown
from .places import Spot, first_scalar, line_and_column, repeated_keys
from .values import MAX_DEPTH


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ParsedText:
    """The data of a JSON text, the text without its byte order mark, and what is worth a warning."""

    data: object
    text: str
    findings: tuple[Finding, ...] = ()


class _RefusedError(ValueError):
    """A number that Python's reader takes and JSON does not know."""


def parse_json(source: str | bytes, file: str = "") -> object:
    """The data of a JSON text; bytes are UTF-8, with or without a byte order mark.

    Raises `LoadError` with one problem, at its line and column, for what is not JSON.
    """
    return parse_text(source, file).data


def parse_text(source: str | bytes, file: str = "") -> ParsedText:
    """As `parse_json`, and keeps the text and the warnings."""
    text = decoded(source, file) if isinstance(source, bytes) else source.removeprefix("\ufeff")
    repeated = False

    def gathered(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal repeated
        entries = dict(pairs)
        if len(entries) != len(pairs):
            repeated = True
        return entries

    try:
        data = json.loads(text, object_pairs_hook=gathered, parse_constant=_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise _refusal(file, text, error.pos, _words(text, error)) from error
    except RecursionError as error:
        hint = f"nest them at most {MAX_DEPTH} deep"
        words = ("J007", "lists and objects are nested too deep", hint)
        raise _refusal(file, text, _too_deep(text), words) from error
    except ValueError as error:  # a number: NaN, infinite, or an integer of thousands of digits
        offset = first_scalar(text, _unreadable) or 0
        number = "the number must be finite and of a usual length"
        raise _refusal(file, text, offset, ("J006", number, "write it as a text or leave it out")) from error
    return ParsedText(data=data, text=text, findings=tuple(_repetitions(text)) if repeated else ())


_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def _too_deep(text: str) -> int:
    """The offset of the first bracket that stands deeper than values may nest."""
    depth = 0
    for found in _BRACKETS.finditer(text):
        depth += (found[0] in "[{") - (found[0] in "]}")
        if depth > MAX_DEPTH:
            return found.start()
    return 0


def _repetitions(text: str) -> list[Finding]:
    again = Counter(repeated_keys(text))
    return [
        Finding(
            code="J008",
            message=f"{shown(pointer[-1])} stands {_times(count + 1)} in one object, and the last one counts",
            hint="remove the one that is not meant",
            severity="warning",
            spot=Spot(pointer, at_key=True),
        )
        for pointer, count in again.items()
    ]


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _constant(word: str) -> float:
    raise _RefusedError(word)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusedError(digits)
    return number


_MOST_DIGITS = 4300  # of an integer, for Python


def _unreadable(token: str) -> bool:
    if token in ("NaN", "Infinity", "-Infinity"):
        return True
    try:
        return len(token) > _MOST_DIGITS or math.isinf(float(token))
    except ValueError:
        return False


def decoded(source: bytes, file: str) -> str:
    """The text of UTF-8 bytes, without a byte order mark; raises `LoadError` for bytes of another encoding."""
    wide = source.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")) or source[:4].count(0) == 3
    if wide or source.startswith((b"\xff\xfe", b"\xfe\xff")) or source[:2].count(0) == 1:
        message = f"the text is UTF-{32 if wide else 16}, not UTF-8"
        raise LoadError([Problem(code="J001", message=message, file=file, hint="save it as UTF-8")])
    try:
        return source.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        good = source[: error.start].decode().removeprefix("\ufeff")
        message = f"the text is not UTF-8: byte 0x{source[error.start]:02x} cannot be read"
        raise _refusal(file, good, len(good), ("J001", message, "save it as UTF-8")) from error


def _refusal(file: str, text: str, offset: int, words: tuple[str, str, str]) -> LoadError:
    code, message, hint = words
    line, column = line_and_column(text, offset)
    return LoadError([Problem(code=code, message=message, file=file, line=line, column=column, hint=hint)])


_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}


def _words(text: str, error: json.JSONDecodeError) -> tuple[str, str, str]:
    """Code, message and hint for the reader's error."""
    if not text.strip():
        return "J002", "the file is empty", "write a JSON object into it"
    rest = text[error.pos :]
    if error.msg.startswith("Invalid control character"):
        sign = f"U+{ord(rest[0]):04X}" if rest else "a control character"
        hint = "write it as an escape: `\\n` for a line end, `\\t` for a tab"
        return "J005", f"a text holds {sign}, a control character", hint
    if error.msg.startswith("Unterminated string"):
        return "J004", "a text that begins here has no closing quote", 'close it with `"`'
    if error.msg.startswith("Invalid \\"):
        return "J003", "a backslash begins no escape here", "write `\\\\` for the backslash itself"
    if error.msg.startswith("Extra data"):
        return ("J003", "something follows the end of the document", "remove it, or put everything into one object")
    if not rest.strip():
        return "J004", "the document ends too early", "add what is missing, or copy the file again"
    if rest[0] in "]}" and text[: error.pos].rstrip().endswith(","):
        return "J003", f"a comma stands before `{rest[0]}`", "remove the comma"
    if rest[0] == "," and error.msg.startswith("Expecting value"):
        return "J003", "a value is missing before `,`", "write the value, or remove one comma"
    if rest[0] == "\ufeff":
        return "J003", "a second byte order mark (U+FEFF) stands here", "remove it"
    if rest.startswith(("//", "/*", "#")):
        return "J003", "JSON has no comments", "remove the comment, or use a key that begins with `_`"
    if rest[0] in "'`\u201c\u201d\u2018\u2019":
        return "J003", "a text or key stands in quotes of another kind", 'use `"`'
    for word, right in _PYTHON_WORDS.items():
        if rest.startswith(word):
            return "J003", f"`{word}` is no JSON value", f"write `{right}`"
    if error.msg.startswith("Expecting property name"):
        return "J003", "a key in double quotes is missing here", 'write the key as `"key"`'
    if error.msg.startswith("Expecting ':'"):
        return "J003", "a colon is missing after the key", "write `:` between key and value"
    if error.msg.startswith("Expecting ','"):
        return ("J003", "a comma or a closing bracket is missing before this", "write `,` after the entry before")
    return (
        "J003",
        "a value is missing or unreadable here",
        'write texts in `"`, and numbers, true, false and null without',
    )
