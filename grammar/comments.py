"""Comments: found in a text, moved to an item that is written anew, and written again.

A comment stands in a gap: gap 0 is before an item's first token, gap n behind its last one. On a line of its own it
belongs to the token that follows, else it trails the token before.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import regex

from .names import TERMINALS
from .pieces import Comment

# INVARIANT: what the grammar reads as one token is one here, so that no comment stands inside it; the longest is first.
_WHOLE = ("STRING", "ORDINAL", "SIGNED_NUMBER", "NAME")
_TOKEN = regex.compile(
    "|".join((f"(?P<comment>{TERMINALS['COMMENT']})", *(f"(?:{TERMINALS[name]})" for name in _WHOLE), r"\S"))
)
_LINE_END = regex.compile(r"[\r\n]")


def tokens(text: str) -> list[str]:
    """The tokens of an item, without its comments."""
    return [token[0] for token in _TOKEN.finditer(text) if token.lastgroup is None]


def found(text: str, starts: Sequence[int]) -> tuple[list[list[Comment]], list[str]]:
    """The comments of each item, and those that there is no item for; `starts` are the offsets of the items."""
    by_item: list[list[Comment]] = [[] for _ in starts]
    waiting: list[str] = []
    item, count, end = -1, 0, 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "comment":
            words = token[0][1:].rstrip()
            if item >= 0 and not waiting and _LINE_END.search(text, end, token.start()) is None:
                by_item[item].append((count, True, words))
            else:
                waiting.append(words)
            continue
        if item + 1 < len(starts) and token.start() >= starts[item + 1]:
            item, count = bisect_right(starts, token.start()) - 1, 0
        if item >= 0:
            by_item[item] += [(count, False, words) for words in waiting]
            waiting = []
            count += 1
        end = token.end()
    if not starts:
        return by_item, waiting
    by_item[-1] += [(count, False, words) for words in waiting]
    return by_item, []


def moved(comments: Sequence[Comment], old: Sequence[str], new: Sequence[str]) -> list[Comment]:
    """The comments of the old tokens, in gaps of the new ones.

    INVARIANT: the map is total and rising, so that no comment is lost and none overtakes another; what stands before
    an item's end stays before it.
    """
    if old == new or not comments:
        return list(comments)
    partners = dict(_aligned(old, new))
    following: list[int] = [len(new)] * (len(old) + 1)
    for index in range(len(old) - 1, -1, -1):
        following[index] = partners.get(index, following[index + 1])
    made: list[Comment] = []
    least = -1
    before, seen = 0, 0  # the gap behind the last partner of the old tokens seen so far
    for gap, trailing, words in comments:
        while seen < gap:
            before = partners[seen] + 1 if seen in partners else before
            seen += 1
        inside = min(before if trailing else following[gap], len(new) - 1)
        target = len(new) if gap == len(old) else inside
        target = max(target, least)
        made.append((target, trailing and 0 < target != least, words))
        least = target
    return made


_LOOK_AHEAD = 24


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of equal tokens, rising on both sides; where they differ, the nearest pair a few tokens on is next."""
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            yield i, j
            step = (1, 1)
        else:
            step = next(
                (
                    (skip, ahead - skip)
                    for ahead in range(1, _LOOK_AHEAD)
                    for skip in range(ahead + 1)
                    if i + skip < len(old) and j + ahead - skip < len(new) and old[i + skip] == new[j + ahead - skip]
                ),
                (1, 1),
            )
        i, j = i + step[0], j + step[1]


def woven(text: str, comments: Sequence[Comment]) -> str:
    """An item's text with its comments; those of a gap that it does not have stand at its end."""
    if not comments:
        return text
    spans = [token.span() for token in _TOKEN.finditer(text)]
    pieces: list[str] = []
    end, waiting = 0, 0
    indent = ""
    for gap, (start, stop) in enumerate([*spans, (len(text), len(text))]):
        space = text[end:start]
        here = waiting
        while waiting < len(comments) and (comments[waiting][0] <= gap or gap == len(spans)):
            waiting += 1
        if "\n" in space:
            indent = space.rpartition("\n")[2]
        if here < waiting:
            space = _between(comments[here:waiting], indent, first=gap == 0, last=gap == len(spans), whole=space)
        pieces += [space, text[start:stop]]
        end = stop
    return "".join(pieces)


def _between(comments: Sequence[Comment], indent: str, *, first: bool, last: bool, whole: str) -> str:
    """What stands in a gap with comments: they end their lines, and what follows begins a new one."""
    if not first and "\n" not in whole:
        indent = f"{indent}  "
    lines = [f"#{words}" for _, _, words in comments]
    head = ""
    if comments[0][1] and not first:
        head = f"  {lines.pop(0)}"
    if first:
        return "".join(f"{line}\n" for line in lines)
    own = "".join(f"\n{'' if last else indent}{line}" for line in lines)
    return f"{head}{own}" if last else f"{head}{own}\n{indent}"
