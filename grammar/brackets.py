"""Slips with brackets, and with the words that join the conditions in them."""

from collections.abc import Sequence
from itertools import pairwise

from .faults import CONDITIONS, Fault, Slip, Word, alternatives, unexpected
from .render import shown

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def open_bracket(before: Sequence[Word]) -> int | None:
    """The index of the innermost bracket that is open behind these words."""
    depth = 0
    for index in range(len(before) - 1, -1, -1):
        if before[index].text in _CLOSING.values():
            depth += 1
        elif before[index].text in _CLOSING:
            if not depth:
                return index
            depth -= 1
    return None


def _opening(before: Sequence[Word], index: int) -> str:
    """The words that open a bracket: `any of`, `not all of`, a name; or nothing."""
    words = [one.text for one in before[max(0, index - 3) : index]]
    for size in (3, 2):
        if " ".join(words[-size:]) in ("not all of", "any of", "all of"):
            return " ".join(words[-size:])
    return words[-1] if words and before[index].text == "(" and before[index - 1].is_name else ""


def _closes(rest: Sequence[Word]) -> bool:
    """Whether a bracket that is open before these words is closed by them."""
    depth = 0
    for one in rest:
        depth += (one.text in _CLOSING) - (one.text in _CLOSING.values())
        if depth < 0:
            return True
    return False


def never_closed(fault: Fault) -> Slip | None:
    """A bracket that nothing closes before the item ends."""
    index = open_bracket(fault.before)
    if index is None or _closes(fault.rest):
        return None
    bracket = fault.before[index]
    closing = _CLOSING[bracket.text]
    if closing not in fault.accepted:
        return None
    opening = _opening(fault.before, index)
    joiner = "or" if opening == "any of" else "and" if opening.endswith("all of") else ","
    if joiner not in fault.accepted:
        joiner = ""
    name = f"{opening} (" if opening.endswith("of") else f"{opening}{bracket.text}"
    expected = alternatives([f"`{one}`" for one in (joiner, closing) if one])
    return Slip(
        "R005",
        f"`{shown(name)}` is never closed",
        f"expected {expected}",
        also=((bracket.start, bracket.end, "opened here"),),
    )


_LONGEST = 100


def joined_wrongly(fault: Fault) -> Slip | None:
    """`or` where conditions are joined by `and`, or the other way round."""
    word = fault.word.text
    other = {"or": "and", "and": "or"}.get(word, "")
    if not other or other not in fault.accepted:
        return None
    index = open_bracket(fault.before)
    opening = "" if index is None else _opening(fault.before, index)
    if index is not None and not opening.endswith(" of"):
        return None
    note = f"conditions {'after `when`' if index is None else f'in `{opening} (`'} are joined by `{other}`"
    # What is no condition cannot be wrapped as it stands.
    whole = len(fault.rest) > 1 and fault.rest[1].text in CONDITIONS
    wrapped = _wrapped(fault, word, index) if whole else ""
    frame = "any of" if word == "or" else "all of"
    hint = f"wrap them: `{wrapped}`" if wrapped else f"wrap them: `{frame} ( CONDITION {word} CONDITION )`"
    return Slip("R004", f"`{word}` can't join conditions here", note, hint)


def _wrapped(fault: Fault, word: str, index: int | None) -> str:
    """The conditions in a form that joins them as they stand; empty if that cannot be told or is long."""
    if index is None:
        index = next((place for place, one in enumerate(fault.before) if one.text == "when"), 0)
    groups: list[list[Word]] = [[]]
    several, depth = [False], 0
    for one in (*fault.before[index + 1 :], *fault.rest):
        depth += (one.text in _CLOSING) - (one.text in _CLOSING.values())
        if depth < 0 or one.text == "then":
            break
        last = [before.text for before in groups[-1][-3:]]
        joins = not depth and last[-2:-1] != ["between"] and last[:1] != ["either"]
        if joins and one.text == "or":
            groups.append([])
            several.append(False)
        else:
            several[-1] |= joins and one.text == "and"
            groups[-1].append(one)
    if not all(groups):
        return ""
    if word == "and":
        mixed = next(group for group in groups if group[-1].end > fault.word.start)
        whole = f"all of ( {_written(mixed)} )"
    else:
        parts = (
            f"all of ( {_written(one)} )" if joined else _written(one)
            for one, joined in zip(groups, several, strict=True)
        )
        whole = f"any of ( {' or '.join(parts)} )"
    return whole if len(whole) <= _LONGEST else ""


def _written(words: Sequence[Word]) -> str:
    """The words with one blank wherever they stand apart."""
    gaps = (" " if one.start > before.end else "" for before, one in pairwise(words))
    return words[0].text + "".join(gap + one.text for gap, one in zip(gaps, words[1:], strict=True))


def bare_brackets(fault: Fault) -> Slip | None:
    """Brackets without a word, or closed twice."""
    word, before = fault.word.text, [one.text for one in fault.before[-2:]]
    if word == "(" and {"user", "action"} <= fault.accepted:
        note = "write `any of` or `all of` before the bracket"
    elif before == ["not", "("]:
        note = "write `not` without brackets, or `not all of ( … )`"
    elif word in _CLOSING.values() and open_bracket(fault.before) is None:
        note = "remove it: nothing is open here that it closes"
    else:
        return None
    return Slip("R001", unexpected(fault.word), note)
