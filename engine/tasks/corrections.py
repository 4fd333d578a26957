"""Corrections: the known word that somebody meant who mistyped it."""

import time
from collections.abc import Callable, Collection, Iterable, Sequence

import regex

from ...rules.spelling import edits

MOST_WORDS = 100
"""How many different words of one input are corrected: who types more mistakes has pasted a text."""

SECONDS = 0.2
"""How long the corrections of one input may take; the words that are left then stay as they are."""

# Scripts that put no blank between words: what stands between two blanks is a sentence, and an edit eats a word of it.
_NO_BLANKS = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]", regex.VERSION1
)


class Corrector:
    """Takes a word that is not among `words` for the nearest that is, at most `distance` edits away.

    An edit inserts, drops or changes a letter, or swaps two neighbours. Of equally near words the first counts. There
    must be fewer edits than half of the letters of either word: one in a word of three or four letters, two from
    five letters on, none in a shorter word, which would be near to anything, nor in one of a script without blanks
    between words.
    """

    def __init__(self, words: Iterable[str], distance: int, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._words = {word: order for order, word in enumerate(dict.fromkeys(words))}
        self._distance = distance
        self._by_length: dict[int, list[tuple[int, str, int]]] = {}
        for word, order in self._words.items():
            self._by_length.setdefault(len(word), []).append((order, word, _letters(word)))

    def corrected(self, words: Sequence[str], settled: Collection[int]) -> tuple[str, ...]:
        """The words, each unknown one as what was meant, if that is known; those at `settled` stay as they are."""
        meant: dict[str, str] = {}
        end = self._clock() + SECONDS
        made = list(words)
        for at, word in enumerate(words):
            if word in self._words or at in settled:
                continue
            if word not in meant:
                meant[word] = self._nearest(word, end) if len(meant) < MOST_WORDS else word
            made[at] = meant[word]
        return tuple(made)

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def _nearest(self, word: str, end: float) -> str:
        """The nearest of the known words; `word` itself if there is none, or the time is up."""
        length, letters = len(word), 0
        if self._clock() > end or _NO_BLANKS.search(word):
            return word
        nearest, best = word, (self._distance + 1, 0)
        for other in range(length - self._distance, length + self._distance + 1):
            candidates = self._by_length.get(other)
            most = min(self._distance, (min(length, other) - 1) // 2)
            if not candidates or most < 1:
                continue
            letters = letters or _letters(word)
            for order, known, its in candidates:
                # Each edit brings in at most one letter and takes out at most one: this spares most of the counting.
                if (letters & ~its).bit_count() > most or (its & ~letters).bit_count() > most:
                    continue
                if self._clock() > end:
                    return word
                count = edits(word, known, most)
                if count <= most and (count, order) < best:
                    nearest, best = known, (count, order)
        return nearest


def _letters(word: str) -> int:
    """The letters of a word as a set of bits; several letters may share one."""
    made = 0
    for letter in word:
        made |= 1 << (ord(letter) & 63)
    return made
