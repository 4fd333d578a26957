"""Slips with quotes, signs and characters that cannot be seen."""

import re
import unicodedata

from .brackets import open_bracket
from .faults import Fault, Slip, unexpected
from .render import shown

_CURLY = "“”„‟«»‘’‚‛"
_SIGNS = {
    "&": "write `and`",
    "|": "write `or`",
    "!": "write `not`",
    "=": "write `is`",
    "/": "begin a comment with `#`",
    ";": "remove it: nothing needs it at its end",
    ".": "remove it: nothing needs it at its end",
    ":": "remove it: nothing needs it",
    "{": "remove it: rules need no braces",
    "}": "remove it: rules need no braces",
}


def curly_quotes(fault: Fault) -> Slip | None:
    """Curly quotes around a text."""
    if fault.word.text not in _CURLY or not fault.word.text:
        return None
    line, column = fault.source.place(fault.word.start)
    rest = fault.source.line(line)[column - 1 :]
    used = dict.fromkeys(one for one in rest if one in _CURLY)
    plain = " ".join('"' for _ in used)
    note = f"replace {' '.join(used)} by {plain} (`fmt --fix` does it)"
    return Slip("R007", "curly quotes are not quotes here", note)


def invisible(fault: Fault) -> Slip | None:
    """A blank or control character that looks like none."""
    sign = fault.word.text
    if len(sign) != 1 or sign.isprintable():
        return None
    kind = unicodedata.category(sign)
    name = unicodedata.name(sign, "control character" if kind == "Cc" else "no character").lower()
    by = "by a line end" if kind in ("Zl", "Zp") or sign == "\x85" else "by a blank"
    note = f"{'remove it' if kind == 'Cf' else f'replace it {by}'} (`fmt --fix` does it)"
    return Slip("R007", f"`U+{ord(sign):04X}` ({name}) is no blank here", note)


_RUN = re.compile(r'[^\s()\[\]{},"#]+')


def odd_name(fault: Fault) -> Slip | None:
    """A name with a sign in it, such as `eddi://weather`."""
    before, odd = fault.previous, fault.word
    run = _RUN.match(fault.source.text, before.start)
    inside = before.is_name and before.end == odd.start and run is not None and run.end() > odd.end
    if not inside or odd.is_name or run is None:
        return None
    return Slip("R006", "this name needs quotes", f"write {quoted(run[0])}", start=before.start, end=run.end())


def single_quotes(fault: Fault) -> Slip | None:
    """A text in quotes of another kind."""
    if fault.word.text not in ("'", "`"):
        return None
    line, column = fault.source.place(fault.word.start)
    inside, closing, _ = fault.source.line(line)[column:].partition(fault.word.text)
    note = f"write {quoted(inside)}" if closing else 'write `"`'
    end = fault.word.start + len(inside) + 2 if closing else None
    return Slip("R006", "texts stand in double quotes", note, end=end)


def open_text(fault: Fault) -> Slip | None:
    """A text without its closing quote."""
    if not fault.word.is_open:
        return None
    note = "this text ends with its line"
    hint = 'close it with `"`; a line end inside a text is written `\\n`, a backslash `\\\\`'
    return Slip("R012", 'a closing `"` is missing', note, hint, end=fault.word.start + 1)


def quote_inside(fault: Fault) -> Slip | None:
    """A quote inside a text, which ends it."""
    before = fault.previous
    follows = before.is_text and before.end == fault.word.start
    if not follows or not (fault.word.is_name or fault.word.is_text):
        return None
    hint = 'write `\\"` for a quote inside a text'
    return Slip("R012", "a text ends inside a word", "the text ends here", hint, before.end - 1, before.end)


def borrowed(fault: Fault) -> Slip | None:
    """A sign of another language."""
    sign = fault.word.text
    if sign not in _SIGNS or (sign in "{}:" and open_bracket(fault.before) is not None):
        return None
    code = "R001" if sign in "{}:" else "R002"
    return Slip(code, unexpected(fault.word), _SIGNS[sign])


def foreign(fault: Fault) -> Slip | None:
    """A character that the language does not know."""
    sign = fault.word.text
    if len(sign) != 1 or sign.isalnum() or sign in '"()[]{},:*_':
        return None
    return Slip("R002", f"unexpected character `{sign}`", fault.expected)


def quoted(text: str) -> str:
    """An author's words as a text of the language, shortened if need be."""
    inside = shown(text.strip().removesuffix('"'))
    return '"' + inside.replace("\\", "\\\\").replace('"', '\\"') + '"'
