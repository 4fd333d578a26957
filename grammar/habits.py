"""Slips out of habit: what other languages, or the same words elsewhere, would say here."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from .faults import CONDITIONS, Fault, Slip, Word, alternatives, unexpected, words
from .parser import ITEM_WORDS, RESERVED
from .render import shown
from .signs import quoted

# The words before (`*` is any one), the unexpected word, and what to write.
_HABITS = (
    (("user",), ("say", "said"), "did you mean `says`?"),
    (("when",), ("nothing",), "write `always`"),
    (("set", "*"), ("=", "is", ":"), "remove it: the value follows the key"),
    (("given", "context", "*"), ("=", "is", ":"), "remove it: the value follows the name"),
    (("given", "property", "*"), ("=", "is", ":"), "remove it: the value follows the name"),
    (("expect",), ("nothing",), "write `say nothing`"),
    (("expect", "no"), ("say", "reply", "answer"), "write `expect say nothing`"),
    (("expect", "say"), ("contains", "containing", "like", "matches"), "write the whole text behind `say`"),
    (("expect", "say"), ("is", "equals", "exactly"), "remove it: the text follows `say`"),
    (("expect", "rule", "*"), ("does", "doesn", "did", "not", "never", "is"), "write `stays silent`"),
    (("task", "*"), ("succeeds", "works", "returns"), "write `answers {}`"),
)


def habit(fault: Fault) -> Slip | None:
    """A phrase that says it in other words than the language does."""
    for before, here, note in _HABITS:
        behind = fault.before[-len(before) :]
        fits = len(behind) == len(before) and all(
            wanted in ("*", one.text) for wanted, one in zip(before, behind, strict=True)
        )
        if fits and fault.word.text in here and ("answers" not in note or "answers" in fault.accepted):
            return Slip("R001", unexpected(fault.word), note)
    return None


_MILLISECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
}


def not_whole(fault: Fault) -> Slip | None:
    """A number with a fraction where one is counted, or a time in another unit than `ms`."""
    number, rest = fault.previous, list(fault.rest[:3])
    if not number.text.isdecimal() or not rest:
        return None
    end, message = number.end, unexpected(rest[0])
    if rest[0].text == "." and rest[0].start == end and rest[1:] and rest[1].is_number:
        end, rest, message = rest[1].end, rest[2:], "a whole number is needed here"
    unit = _MILLISECONDS.get(rest[0].text, 0) if rest else 0
    if end == number.end and not (unit and "ms" in fault.accepted):
        return None
    amount = _amount(fault.source.text[number.start : end], unit)
    note = f"write `{amount} ms`" if amount else "write a whole number"
    return Slip("R001", message, note, start=number.start, end=rest[0].end if unit else end)


def _amount(text: str, unit: int) -> str:
    """A time in whole milliseconds; empty where that is not one, or long."""
    if not unit or len(text) > 9 or not text.isascii():
        return ""
    amount = float(text) * unit
    return str(int(amount)) if amount.is_integer() else ""


def step_list(fault: Fault) -> Slip | None:
    """Steps without commas, or a file without quotes."""
    word, commas = fault.word, "steps are separated by `,`"
    if fault.ends and [one.text for one in fault.before] == ["output"]:
        heads = [one.text for one in words(fault.source.text, 0, fault.item) if one.first and one.text in ITEM_WORDS]
        output = fault.previous
        return (
            Slip("R001", unexpected(output), commas, "", output.start, output.end) if heads[-1:] == ["steps"] else None
        )
    listing = fault.before[:1] and fault.before[0].text == "steps" and "," in fault.accepted
    begins = word.first and len(fault.rest) > 1 and fault.rest[1].text[:1] in '"('
    if not listing or not word.is_name or word.text in RESERVED or begins:
        return None
    if word.text.endswith((".json", ".turnout")) and "STRING" in fault.accepted:
        return Slip("R006", "the name of a file needs quotes", f"write {quoted(word.text)}")
    return Slip("R001", unexpected(word), commas) if word.first else None


def suffix_of_actions(fault: Fault) -> Slip | None:
    """A suffix of a rule behind its actions."""
    word = fault.word.text
    if word != "with" or "," not in fault.accepted or not fault.before or fault.before[0].text != "rule":
        return None
    if not any(one.text == "then" for one in fault.before) or not fault.before[1].is_text:
        return None
    hint = f"write `rule {shown(fault.before[1].text)} with KEY VALUE`"
    return Slip("R001", unexpected(fault.word), "`with` stands behind the rule's name", hint)


def negated_inside(fault: Fault) -> Slip | None:
    """`not` inside a condition."""
    if fault.word.text != "not" or fault.previous.text != "is" or "STRING" not in fault.accepted:
        return None
    leaf = _leaf(fault.before)
    value = fault.rest[1].text if len(fault.rest) > 1 and fault.rest[1].is_text else '"TEXT"'
    if not leaf or leaf[0].text not in ("context", "value"):
        return None
    written = " ".join(one.text for one in leaf)
    return Slip("R001", unexpected(fault.word), f"write `not {shown(written)} {shown(value)}`")


def items_behind_replies(fault: Fault) -> Slip | None:
    """What is said or shown behind a quick reply."""
    if fault.word.text not in ("say", "show") or not fault.before or fault.before[0].text != "output":
        return None
    if "quick" not in fault.accepted or not any(one.text == "quick" for one in fault.before):
        return None
    return Slip("R001", unexpected(fault.word), "move it up: what is said and shown comes before the quick replies")


def texts_joined(fault: Fault) -> Slip | None:
    """`and` between texts."""
    if fault.word.text != "and" or "or" not in fault.accepted or "say" not in {one.text for one in fault.before}:
        return None
    if fault.before[0].text not in ("output", "check"):
        return None
    more = "say" if fault.before[0].text == "output" else "expect say"
    note = f"write `or` for another wording, or `{more}` for one more text"
    return Slip("R001", unexpected(fault.word), note)


_EXPECTATIONS = tuple(
    f"`{words}`"
    for words in (
        *("say", "action", "no action", "rule", "quick reply", "state"),
        *("model", "operator", "caller", "nobody"),
    )
)


def expectation(fault: Fault) -> Slip | None:
    """Something behind `expect` that nobody can expect."""
    if fault.previous.text != "expect" or "nobody" not in fault.accepted or fault.ends:
        return None
    return Slip("R001", unexpected(fault.word), f"expected {alternatives(_EXPECTATIONS)}")


_JOINS = ("and", "or")
_SUBJECTS = {"user": ("says",), "action": ("action",), "context": ("is", "says", "has"), "value": ("is", "contains")}
_LONGEST = 100


def subject_missing(fault: Fault) -> Slip | None:
    """`or` or `and` before the second half of a condition: its subject must be said again."""
    at_join = fault.word.text in _JOINS
    joint = fault.word if at_join else fault.previous
    leaf = _leaf(fault.before if at_join else fault.before[:-1])
    verbs = _SUBJECTS.get(leaf[0].text, ()) if leaf and fault.before[0].text == "rule" else ()
    verb = next((place for place, one in enumerate(leaf[:-1]) if one.text in verbs), None)
    if joint.text not in _JOINS or verb is None:
        return None
    parts = list(_parted(fault.rest[1:] if at_join else fault.rest, joint.text))
    halves = next((place for place, one in enumerate(parts) if one and one[0].text in CONDITIONS), len(parts))
    texts = leaf[verb].text in ("is", "contains")
    if not halves or not all(parts) or not all(_is_half(one, texts=texts) for one in parts[:halves]):
        return None
    # The turn behind the last half is said of all of them.
    turn = parts[halves - 1][-2:] if parts[halves - 1][-1].text == "turn" else []
    subject = leaf[: verb + 1]
    said = [leaf, *([*subject, *_without_turn(one), *turn] for one in parts[:halves]), *parts[halves:]]
    if turn and leaf[-1].text != "turn":
        said[0] = [*leaf, *turn]
    whole = f" {joint.text} ".join(_written(one) for one in said)
    if at_join and joint.text == "or":
        whole = f"any of ( {whole} )"
    hint = f"write `{whole}`" if len(whole) <= _LONGEST else "say the subject in each part"
    note = "each part needs its subject"
    return Slip("R004", f"`{joint.text}` joins whole conditions", note, hint, joint.start, joint.end)


def _leaf(before: Sequence[Word]) -> Sequence[Word]:
    """The words of the condition that these words end with."""
    for place in range(len(before) - 1, -1, -1):
        opens = before[place].text == "(" and before[place - 1].text == "of"
        if opens or before[place].text in ("when", "not", *_JOINS):
            return before[place + 1 :]
    return ()


def _parted(rest: Sequence[Word], joint: str) -> Iterator[Sequence[Word]]:
    """The words between joints, up to a word that ends them."""
    begin = depth = 0
    for place, one in enumerate(rest):
        if not depth and one.text in ("then", ")", *_JOINS):
            yield rest[begin:place]
            if one.text != joint:
                return
            begin = place + 1
        depth += (one.text == "(") - (one.text == ")")
    yield rest[begin:]


def _is_half(said: Sequence[Word], *, texts: bool) -> bool:
    """Whether words are but what a condition compares with: a text, or a name that may have arguments."""
    half = _without_turn(said)
    if half[0].text in RESERVED or not (half[0].is_text or (half[0].is_name and not texts)):
        return False
    return len(half) == 1 or (half[1].text == "(" and half[-1].text == ")")


def _without_turn(said: Sequence[Word]) -> Sequence[Word]:
    return said[:-2] if len(said) > 2 and said[-1].text == "turn" else said


def _written(said: Sequence[Word]) -> str:
    """The words with one blank between them, but for those of arguments."""
    joined = said[0].text
    for before, one in pairwise(said):
        tight = before.text == "(" or one.text in (")", ",") or (one.text == "(" and before.text != "of")
        joined += one.text if tight else f" {one.text}"
    return joined
