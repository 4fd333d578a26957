"""What a person probably meant: the nearest of the known words."""

from collections.abc import Iterable

MOST_EDITS = 2


def edits(left: str, right: str, most: int = MOST_EDITS) -> int:
    """How many letters to insert, drop, change or swap with their neighbour make `left` into `right`.

    Anything above `most` counts as `most + 1`. Source: the optimal string alignment distance.
    """
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, start=1):
        above, row = row, [i]
        for j, other in enumerate(right, start=1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before = above
    return min(row[-1], most + 1)


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
