"""The parser task: what the user typed as expressions, by way of dictionaries.

Words are compared without regard to case, punctuation at their edges and apostrophes; commas and brackets
stand between words. At each place the longest word or phrase that a dictionary knows is taken. Where there is none,
regular expressions and built-in dictionaries are asked about what was typed between two blanks: what one of them
knows is taken whole. What is still unknown may be corrected, for words and phrases only.
"""

import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import regex

from ...rules.agents import ParserSettings
from ...rules.dictionaries import Dictionary
from ...rules.values import BLANKS
from ..journal import Journal, facts_of
from .corrections import Corrector
from .recognition import Recognized, Recognizer, marks
from .templating import barred

_BLANK = str.maketrans(dict.fromkeys(BLANKS, " "))
# What ends a name in the expression language, and what is trimmed from one: no word may hold any of it.
_BETWEEN_WORDS = str.maketrans(dict.fromkeys(BLANKS + "(),", " "))
_EDGE = r"[\p{P}\p{Cc}\p{Cf}]"
_EDGES = regex.compile(rf"^{_EDGE}++|(?<!{_EDGE}){_EDGE}++$")
_NO_APOSTROPHES = str.maketrans(dict.fromkeys("'’‘ʼ`´"))


class ParserTask:
    """A step of the turn that understands the input.

    A word that nothing knows becomes `unknown(word)`, with the word as it was typed. An input that is the
    value of a quick reply of the turn before means what that reply means.
    """

    id = "ai.labs.parser"
    type = "expressions"

    def __init__(self, settings: ParserSettings) -> None:
        own = [dictionary for dictionary in settings.dictionaries if isinstance(dictionary, Dictionary)]
        self._meanings, self._lengths = _compiled(own)
        self._recognizer = Recognizer(settings.dictionaries)
        self._marks = "punctuation" in settings.dictionaries
        distance = max((correction.config.distance for correction in settings.corrections), default=0)
        self._corrector = Corrector([word for run in self._meanings for word in run], distance) if distance else None

    async def execute(self, turn: Journal) -> None:
        """Write what the input means; in a turn without input, nothing."""
        if not turn.input.strip():
            return
        last = facts_of(turn).history.last
        chosen = _chosen(turn.input, last.output.get("quickReplies") if last is not None else None)
        turn.understand(chosen or ", ".join(self._expressions(turn.input)))

    def _expressions(self, text: str) -> Iterator[str]:
        # INVARIANT: what a user types never becomes an expression of its own: there are those of the
        # dictionaries, `unknown(word)` with a word that is a plain name, never `*`, and those of built-in
        # dictionaries, whose arguments are plain names as well.
        seen = _seen(text, self._recognizer.one_input(), marked=self._marks) if self._recognizer else None
        typed = _words(text) if seen is None else seen.typed
        words = tuple(map(_normal, typed))
        if self._corrector is not None:
            words = self._corrector.corrected(words, seen.settled(words, self._corrector) if seen is not None else ())
        at = 0
        while at < len(words):
            if seen is not None and at in seen.asides:
                yield from seen.asides[at]
            for length in self._lengths.get(words[at], ()):
                meaning = self._meanings.get(words[at : at + length])
                if meaning is not None:
                    yield meaning
                    at += length
                    break
            else:
                if seen is not None and (meaning := seen.meaning(at)):
                    yield meaning
                    at += seen.pieces[at][1]
                    continue
                yield f"unknown({typed[at]})"
                at += 1
        if seen is not None:
            yield from seen.asides.get(at, ())


@dataclass(slots=True)
class _Seen:
    """The words of an input, and the pieces of it that patterns and built-in dictionaries are asked about."""

    recognized: Recognized
    typed: list[str] = field(default_factory=list)
    pieces: dict[int, tuple[str, int]] = field(default_factory=dict)
    """By the number of its first word: what was typed between two blanks, and how many words it has."""
    asides: dict[int, list[str]] = field(default_factory=dict)
    """By the number of the next word: expressions of what is no word."""

    def meaning(self, at: int) -> str:
        """What the piece means that begins with a word; empty if nothing knows it, or none begins there."""
        return self.recognized(self.pieces[at][0]) if at in self.pieces else ""

    def settled(self, words: Sequence[str], known: Container[str]) -> set[int]:
        """The numbers of the words that need no correction, for their piece means something as it is."""
        made: set[int] = set()
        for first, (_, length) in self.pieces.items():
            run = range(first, first + length)
            if any(words[at] not in known for at in run) and self.meaning(first):
                made.update(run)
        return made


def _seen(text: str, recognized: Recognized, *, marked: bool) -> _Seen:
    """The pieces of `text`; with `marked`, the marks behind them too, which the dictionary of punctuation knows."""
    seen = _Seen(recognized)
    for piece in text.translate(_BLANK).split():
        words, before = _words(piece), len(seen.typed)
        seen.typed += words
        if words:
            seen.pieces[before] = (piece, len(words))
        aside = marks(piece) if words and marked else "" if words else recognized(piece)
        if aside:
            seen.asides.setdefault(len(seen.typed), []).append(aside)
    return seen


def _compiled(dictionaries: Iterable[Dictionary]) -> tuple[dict[tuple[str, ...], str], dict[str, list[int]]]:
    """What each run of words means, and the lengths of the runs that begin with a word, longest first.

    Of two entries for the same words the first counts.
    """
    meanings: dict[tuple[str, ...], str] = {}
    for dictionary in dictionaries:
        entries = [(word.word, word.expressions) for word in dictionary.words]
        entries += [(phrase.phrase, phrase.expressions) for phrase in dictionary.phrases]
        for text, expressions in entries:
            words, meaning = _run(text), _meaning(text, expressions)
            if words and meaning:
                meanings.setdefault(words, meaning)
    lengths: dict[str, set[int]] = {}
    for words in meanings:
        lengths.setdefault(words[0], set()).add(len(words))
    return meanings, {word: sorted(found, reverse=True) for word, found in lengths.items()}


def _chosen(text: str, replies: object) -> str:
    """What the quick reply whose value is all of `text` means; empty if there is none."""
    said = _run(text)
    for reply in replies if isinstance(replies, list) else []:
        value = reply.get("value") if isinstance(reply, Mapping) else None
        # A reply such as `?` has no words; then its characters count.
        if isinstance(value, str) and (_run(value) == said if said else value.strip() == text.strip()):
            expressions = reply.get("expressions")
            return _meaning(value, expressions if isinstance(expressions, str) else None)
    return ""


def _meaning(text: str, expressions: str | None) -> str:
    """The expressions of an entry; without any, its text as a name: `Yes, please!` is `yes_please`."""
    if expressions is not None and expressions.strip(BLANKS):
        return expressions.strip(BLANKS)
    kept = "".join(character for character in text if character.isalnum() or character.isspace())
    return barred("_".join(kept.lower().split()))


def _run(text: str) -> tuple[str, ...]:
    return tuple(map(_normal, _words(text)))


def _words(text: str) -> list[str]:
    """The words of `text` as typed, without punctuation at their edges; punctuation alone is no word."""
    words = text.translate(_BETWEEN_WORDS).split()
    return [word for word in (w if w.isalnum() else _EDGES.sub("", w) for w in words) if word]


def _normal(word: str) -> str:
    if word.isascii():
        return word.lower().translate(_NO_APOSTROPHES)
    return unicodedata.normalize("NFC", word.casefold()).translate(_NO_APOSTROPHES)
