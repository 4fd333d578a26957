"""What can be said of a dictionary without a turn: patterns that cannot be read, entries that are never found."""

from collections.abc import Iterator

import regex

from .dictionaries import Dictionary, compiled
from .findings import Finding, shown, warning
from .places import Pointer, Spot
from .values import BLANKS

_NO_WORD = regex.compile(r"[\p{P}\p{C}\p{Z}]*+")


def checked_dictionary(dictionary: Dictionary) -> Iterator[Finding]:
    """All findings of a dictionary, at pointers into its document; the errors keep it from being used."""
    for index, word in enumerate(dictionary.words):
        yield from _entry("word", word.word, word.expressions, index)
    for index, phrase in enumerate(dictionary.phrases):
        yield from _entry("phrase", phrase.phrase, phrase.expressions, index)
    for index, pattern in enumerate(dictionary.reg_exs):
        at: Pointer = ("regExs", index)
        about = _about("regular expression", pattern.reg_ex, index)
        if not pattern.reg_ex.strip():
            yield _never_found(about, "V005", "is blank", (*at, "regEx"))
        try:
            compiled(pattern.reg_ex)
        except ValueError as error:
            message = f"{about} cannot be read: {error}"
            hint = "let it repeat less, or nest less"
            if isinstance(error.__cause__, regex.error):
                hint = "correct it; what stands for itself is written with `\\\\` in front of it, as in `\\\\(`"
            yield Finding(code="V007", message=message, hint=hint, spot=Spot((*at, "regEx")))
        if not (pattern.expressions or "").strip(BLANKS):
            message = f"{about} has no `expressions`, and means nothing"
            yield warning("V001", message, "add what it means, as in `number(any)`", at)
        yield from _brackets(about, pattern.expressions, at)


def _entry(what: str, text: str, expressions: str | None, index: int) -> Iterator[Finding]:
    about = _about(what, text, index)
    at: Pointer = (f"{what}s", index)
    if not text.strip():
        yield _never_found(about, "V005", "is blank", (*at, what))
    elif _NO_WORD.fullmatch(text):
        yield _never_found(about, "V007", "has nothing but punctuation in it", (*at, what))
    yield from _brackets(about, expressions, at)


def _about(what: str, text: str, index: int) -> str:
    return f"{what} {shown(text)}" if text.strip() else f"{what} {index + 1}"


def _never_found(about: str, code: str, how: str, at: Pointer) -> Finding:
    return warning(code, f"{about} {how}, and is never found", "write what people type, or leave the entry out", at)


def _brackets(about: str, expressions: str | None, at: Pointer) -> Iterator[Finding]:
    """What is said of expressions whose brackets do not match: they are read as something else than was meant."""
    depth = 0
    for sign in expressions or "":
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
    if depth:
        message = f"{about}: the brackets of {shown(expressions)} do not match"
        yield warning("V007", message, "write it as in `greeting(hello)`", (*at, "expressions"))
