"""The parser task: what the user typed as expressions, by way of dictionaries.

Words are compared without regard to case, punctuation at their edges and apostrophes; commas and brackets
stand between words. At each place the longest word or phrase that a dictionary knows is taken.
"""

import unicodedata
from collections.abc import Iterable, Mapping

import regex

from ...rules.agents import ParserSettings
from ...rules.dictionaries import Dictionary
from ...rules.values import BLANKS
from ..journal import Journal, facts_of

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
        self._meanings, self._lengths = _compiled(settings.dictionaries)

    async def execute(self, turn: Journal) -> None:
        """Write what the input means; in a turn without input, nothing."""
        if not turn.input.strip():
            return
        last = facts_of(turn).history.last
        chosen = _chosen(turn.input, last.output.get("quickReplies") if last is not None else None)
        turn.understand(chosen or ", ".join(self._expressions(turn.input)))

    def _expressions(self, text: str) -> Iterable[str]:
        # INVARIANT: what a user types never becomes an expression of its own: there are those of the
        # dictionaries, and `unknown(word)` with a word that is a plain name, never `*`.
        typed = _words(text)
        words = tuple(map(_normal, typed))
        at = 0
        while at < len(words):
            for length in self._lengths.get(words[at], ()):
                meaning = self._meanings.get(words[at : at + length])
                if meaning is not None:
                    yield meaning
                    at += length
                    break
            else:
                yield f"unknown({typed[at]})"
                at += 1


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
    return "_".join(kept.lower().split())


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
