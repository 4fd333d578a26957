"""Which outputs of an output set are said for the actions of a turn."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random

from ..rules.authored import Authored
from ..rules.outputs import Output, OutputSet
from ..rules.templates import has_templates
from ..rules.values import JSON, freeze


class Template(dict[str, JSON]):
    """An item of an output set with placeholders, until they are filled in. Nothing that others sent is ever one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """An entry of an output set, ready to be said.

    `position` is its place in the document. Each element of `elements` holds the alternatives for one place in the
    reply, as they are sent; `quick_replies` likewise.
    """

    output: Output
    position: int
    elements: tuple[tuple[Mapping[str, JSON], ...], ...]
    quick_replies: tuple[Mapping[str, JSON], ...]


class Selection:
    """An output set, laid out by action; with `templates` its items wait to be filled in where there is something."""

    def __init__(self, output_set: OutputSet, *, templates: bool = False) -> None:
        self.lang = output_set.lang
        self._by_action: dict[str, tuple[list[int], list[list[Selected]]]] = {}
        entries: dict[str, dict[int, list[Selected]]] = {}
        for position, output in enumerate(output_set.output_set):
            same = entries.setdefault(output.action, {}).setdefault(output.times_occurred, [])
            # Of identical entries only the first is used.
            if all(output != other.output for other in same):
                same.append(_selected(output, position, _template if templates else as_sent))
        for action, by_times in entries.items():
            times = sorted(by_times)
            self._by_action[action] = (times, [by_times[time] for time in times])

    def speaks(self, lang: JSON) -> bool:
        """Whether the set has something to say to a user whose `lang` property is this."""
        return self.lang is None or (isinstance(lang, str) and lang.lower() == self.lang.lower())

    def select(self, actions: Iterable[str], counts: Mapping[str, int]) -> list[Selected]:
        """The entries for `actions`, in their order; `counts` says in how many earlier steps each stood.

        For each action, those whose `timesOccurred` is its count; else the highest below, else the lowest.
        """
        selected: list[Selected] = []
        for action in dict.fromkeys(actions):
            found = self._by_action.get(action)
            if found is not None:
                times, entries = found
                selected += entries[max(0, bisect_right(times, counts.get(action, 0)) - 1)]
        return selected


def draw(count: int, used: tuple[int, ...], chance: Random) -> tuple[int, tuple[int, ...]]:
    """One of `count` alternatives at random, of those not in `used` until all were, and the new `used`."""
    left = [number for number in range(count) if number not in used]
    if not left:
        left, used = [number for number in range(count) if number != used[-1]], ()
    number = left[chance.randrange(len(left))]
    return number, (*used, number)


def is_quick_reply(item: Mapping[str, JSON]) -> bool:
    """Whether an alternative is a quick reply, which is offered and not said."""
    return item.get("type") == "quickReply"


def as_sent(item: Authored) -> Mapping[str, JSON]:
    """An item as a caller gets it: JSON, without what is null."""
    sent = freeze(item.model_dump(by_alias=True, exclude_none=True))
    if not isinstance(sent, Mapping):
        raise TypeError(f"{type(item).__name__} is not sent as a map")
    return sent


def _selected(output: Output, position: int, made: Callable[[Authored], Mapping[str, JSON]]) -> Selected:
    return Selected(
        output=output,
        position=position,
        elements=tuple(tuple(made(item) for item in element.value_alternatives) for element in output.outputs),
        quick_replies=tuple(made(reply) for reply in output.quick_replies),
    )


def _template(item: Authored) -> Mapping[str, JSON]:
    sent = as_sent(item)
    return Template(sent) if has_templates(sent) else sent
