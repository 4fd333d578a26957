"""What a person probably meant: the nearest of the known words."""

from collections.abc import Iterable

MOST_EDITS = 2


def edits(left: str, right: str, most: int = MOST_EDITS) -> int:
    """How many letters to insert, drop, change or swap with their neighbour make `left` into `right`.

    Anything above `most` counts as `most + 1`. Source: the optimal string alignment distance.
    """
    # INVARIANT: only what is at most `most` beside the diagonal is looked at, so that long words take no longer than
    # their length. Place `k` of row `i` is for the first `i` letters of `left` and `i + k - most` of `right`.
    length, far, width = len(right), most + 1, 2 * most + 1
    if abs(len(left) - length) > most:
        return far
    before: list[int] = []
    row = [k - most if most <= k <= most + length else far for k in range(width)]
    for i, letter in enumerate(left, start=1):
        above, row = row, []
        for k in range(width):
            j = i + k - most
            if not 0 < j <= length:
                row.append(i if j == 0 else far)
                continue
            other = right[j - 1]
            cost = above[k] + (letter != other)
            if k and row[k - 1] < cost:
                cost = row[k - 1] + 1
            if k + 1 < width and above[k + 1] < cost:
                cost = above[k + 1] + 1
            if i > 1 and j > 1 and letter == right[j - 2] and left[i - 2] == other and before[k] < cost:
                cost = before[k] + 1
            row.append(cost)
        if min(row) > most:
            return far
        before = above
    return min(row[length - len(left) + most], far)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word within two edits of `word`, letter case aside, the first of equals; or None."""
    small = word.casefold()
    best, fewest = None, MOST_EDITS + 1
    for candidate in known:
        if (count := edits(small, candidate.casefold())) < fewest:
            best, fewest = candidate, count
    return best


def suggestion(word: object, known: Iterable[str], otherwise: str) -> str:
    """A hint that names the known word that was probably meant, else `otherwise`; what is no text is near to none."""
    meant = nearest(word, known) if isinstance(word, str) else None
    return f"did you mean `{meant}`?" if meant else otherwise
