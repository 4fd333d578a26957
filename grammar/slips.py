"""What an author probably meant: small recognisers of one slip each, tried in order where reading stopped."""

from collections.abc import Callable

from ..rules.spelling import edits, nearest
from .brackets import bare_brackets, joined_wrongly, never_closed, open_bracket
from .faults import Fault, Slip, unexpected
from .habits import (
    expectation,
    habit,
    items_behind_replies,
    negated_inside,
    not_whole,
    step_list,
    subject_missing,
    suffix_of_actions,
    texts_joined,
)
from .parser import RESERVED
from .render import MarkedProblem, mark, marked, shown
from .signs import borrowed, curly_quotes, foreign, invisible, odd_name, open_text, quote_inside, quoted, single_quotes

CODES = {
    "R001": "a word stands where it means nothing",
    "R002": "a character means nothing here",
    "R003": "a reserved word stands for a name",
    "R004": "conditions are joined by the wrong word",
    "R005": "a bracket is never closed",
    "R006": "a text stands without quotes",
    "R007": "a typographic or invisible character stands for a plain one",
    "R008": "an item lacks a part",
    "R009": "something is said twice",
    "R012": "the quotes of a text do not fit",
    "R013": "reading stopped after many errors",
}
"""The codes of what is no text of the language, with what each stands for."""


def explained(fault: Fault) -> MarkedProblem:
    """What is wrong at a fault, in words."""
    found = next((slip for look in _SLIPS if (slip := look(fault)) is not None), None)
    slip = found or Slip("R001", unexpected(fault.word), fault.expected)
    return marked(
        fault.source,
        fault.word.start if slip.start is None else slip.start,
        fault.word.end if slip.end is None else slip.end,
        code=slip.code,
        message=slip.message,
        note=slip.note,
        hint=slip.hint,
        also=tuple(mark(fault.source, *one) for one in slip.also),
    )


def _json(fault: Fault) -> Slip | None:
    if fault.word.text not in ("{", "[") or fault.source.text[: fault.word.start].strip():
        return None
    hint = "name the file `*.json`, or let `turnout convert` write it as text"
    return Slip("R001", "this is JSON, not the rule language", "", hint)


def _trailing_comma(fault: Fault) -> Slip | None:
    comma = fault.previous
    if comma.text != "," or not (fault.ends or fault.word.text in (")", "]", "}", "then")):
        return None
    note = "remove it, or write what is missing"
    return Slip("R001", "nothing follows this `,`", note, "", comma.start, comma.end)


def _lacking(fault: Fault) -> Slip | None:
    """A rule without `then` or `when`, or a check without `turn`."""
    kind = fault.before[0].text if fault.before else ""
    lacks = next((part for part in _PARTS.get(kind, {}) if part in fault.accepted), None)
    if lacks is None or not (fault.ends or (lacks == "when" and fault.word.text == "then")):
        return None
    named = len(fault.before) > 1 and fault.before[1].is_text
    head = fault.before[1 if named else 0]
    ends = "the file ends here" if not fault.word.text else f"`{fault.word.text}` stands here"
    return Slip(
        "R008",
        f"{kind} {shown(head.text)} has no `{lacks}`" if named else f"this {kind} has no `{lacks}`",
        ends,
        _PARTS[kind][lacks],
        also=((fault.before[0].start, head.end, f"this {kind}"),),
    )


def _unfinished(fault: Fault) -> Slip | None:
    if not fault.ends or not fault.before:
        return None
    end = fault.previous.end
    return Slip("R008", f"this `{fault.before[0].text}` is not finished", fault.expected, "", end, end + 1)


_PARTS = {
    "rule": {
        "then": "end it with `then ACTION` or `then nothing`",
        "when": "write `when always` or `when CONDITION` before its `then`",
    },
    "check": {"turn": 'add `turn "TEXT"` and what you expect of it'},
}

_SENTENCES = {
    "failed": "task NAME failed",
    "succeeded": "task NAME succeeded",
    "due": "task NAME failed due to CAUSE",
    "mentioning": 'task NAME failed mentioning "TEXT"',
    "never": 'rule "NAME" never fired',
    "fired": 'rule "NAME" never fired',
    "would": 'rule "NAME" would fire',
    "user": "user says EXPRESSION",
    "always": "when always",
    "least": "at least NUMBER",
    "most": "at most NUMBER",
    "exactly": "exactly NUMBER",
    "between": "between NUMBER and NUMBER",
    "exists": "value PATH exists",
    "contains": 'value PATH contains "TEXT"',
    "means": 'quick reply "TEXT" means EXPRESSION',
}
_SYNONYMS = {
    "if": "when",
    "where": "when",
    "unless": "and not",
    "do": "then",
    "equals": "is",
    "equal": "is",
    "last": "previous",
    "current": "this",
    "every": "any",
    "fails": "failed",
    "failed": "fails",
    "broke": "failed",
    "ok": "succeeded",
    "respond": "say",
    "reply": "say",
    "None": "null",
    "has": "contains",
    "test": "check",
    "action": "output",
    "button": "quick reply",
}
_TEXTUAL = frozenset({"say", "show", "quick"})
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS = {"once": "1 time", "twice": "2 times"} | {word: str(number) for number, word in enumerate(_NUMBERS)}
_ORDINALS = {"first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th"}


def _misspelt(fault: Fault) -> Slip | None:
    word = fault.word.text
    if not fault.word.is_name or fault.ends or word == "then":
        return None
    best = nearest(word, fault.keywords)
    # In a short word two edits make anything out of anything.
    if best is None or len(word) < 2 or edits(word.casefold(), best) > max(1, len(word) // 3):
        return None
    note = f"did you mean `{best}`?"
    sentence = _SENTENCES.get(best)
    return Slip("R001", unexpected(fault.word), note, f"write `{sentence}`" if sentence else "")


def _synonym(fault: Fault) -> Slip | None:
    meant = _SYNONYMS.get(fault.word.text, "")
    if not meant or meant.split()[0] not in fault.accepted:
        return None
    return Slip("R001", unexpected(fault.word), f"write `{meant}`")


def _run_together(fault: Fault) -> Slip | None:
    word = fault.word.text
    known = [one for one in fault.keywords if word.startswith(one) and word != one and len(one) > 2]
    if not known or not fault.word.is_name or "NAME" in fault.accepted:
        return None
    keyword = max(known, key=len)
    note = f"write `{keyword} {shown(word[len(keyword) :].lstrip('.-:'))}`"
    return Slip("R001", unexpected(fault.word), note)


def _number_in_words(fault: Fault) -> Slip | None:
    word, number = fault.word.text, fault.word.is_number
    meant = ""
    if "ORDINAL" in fault.accepted:
        meant = f"{word}{_ending(word)}" if number and word.isdecimal() else _ORDINALS.get(word, "")
    elif "INT" in fault.accepted and "SIGNED_NUMBER" not in fault.accepted:
        meant = "a whole number from 0 in digits" if number else _COUNTS.get(word, "")
    elif "exactly" in fault.accepted and (number or word in _COUNTS):
        meant = f"exactly {_COUNTS.get(word, word)}"
    written = meant if meant.startswith("a ") else f"`{shown(meant)}`"
    return Slip("R001", unexpected(fault.word), f"write {written}") if meant else None


def _ending(digits: str) -> str:
    return {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1] if digits[-2:-1] != "1" else "", "th")


def _otherwise(fault: Fault) -> Slip | None:
    if fault.word.text not in ("else", "otherwise", "elif"):
        return None
    hint = "add a second rule below it, in a group of `first match`"
    return Slip("R001", f"there is no `{fault.word.text}`", "a rule has one `then`", hint)


def _text_in_rule(fault: Fault) -> Slip | None:
    word = fault.word.text
    if word not in _TEXTUAL or not fault.before or fault.before[0].text != "rule":
        return None
    note = "texts, images and quick replies belong to an `output`"
    return Slip("R001", unexpected(fault.word), note, f"name an action, and write `output ACTION {word} …` for it")


def _missing_comma(fault: Fault) -> Slip | None:
    word = fault.word
    listing = fault.before[:1] and (fault.before[0].text == "steps" or any(one.text == "then" for one in fault.before))
    if not listing or "," not in fault.accepted or word.first or not word.is_name or word.text in _TEXTUAL:
        return None
    return Slip("R001", unexpected(word), "separate names by `,`")


def _reserved(fault: Fault) -> Slip | None:
    word = fault.word
    joins = word.text in ("when", "then", "and", "or", "with", "keeping")  # before these, a name is missing
    if word.text not in RESERVED or joins or word.first or not {"NAME", "STRING"} <= fault.accepted:
        return None
    note = f'write "{word.text}" if it is a name'
    return Slip("R003", f"`{word.text}` is a reserved word", note)


_SAYING = frozenset({"say", "or", "turn", "check"})
_STOPS = frozenset({"when", "then", "with", "keeping", "this", "previous", "any", "no", "and", "or", ")"}) | frozenset(
    {"means", "after", "first", "all", "turn", "expect", "given", "never", "fired", "would", "fires", "stays"}
)


def _bare_text(fault: Fault) -> Slip | None:
    word, before = fault.word, fault.previous.text
    if "STRING" not in fault.accepted or "NAME" in fault.accepted or not (word.is_name or word.is_number):
        return None
    saying = before in _SAYING
    if (word.first and before != "say") or (word.text in RESERVED and not saying):
        return None
    end = word.end
    index = open_bracket(fault.before)
    value = "[" in fault.accepted or (index is not None and fault.before[index].text in "[{")
    if not value:  # in a value, one word is the text
        for one in fault.rest[1:]:
            if one.first or (one.text in _STOPS and not saying):
                break
            end = one.end
    note = f"write {quoted(fault.source.text[word.start : end])}"
    return Slip("R006", "text needs quotes", note)


# The order matters: what can be told for certain comes first, then spelling, then what is likely.
_SLIPS: tuple[Callable[[Fault], Slip | None], ...] = (
    _json,
    curly_quotes,
    invisible,
    odd_name,
    single_quotes,
    quote_inside,
    open_text,
    _trailing_comma,
    habit,
    not_whole,
    step_list,
    suffix_of_actions,
    negated_inside,
    items_behind_replies,
    texts_joined,
    subject_missing,
    joined_wrongly,
    _lacking,
    _number_in_words,
    _otherwise,
    _text_in_rule,
    _missing_comma,
    _misspelt,
    _synonym,
    _run_together,
    never_closed,
    _unfinished,
    _bare_text,
    _reserved,
    bare_brackets,
    borrowed,
    foreign,
    expectation,
)
