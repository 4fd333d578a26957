"""What a check expects of a turn: whether it holds, what there was instead, and which rules it hangs on."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..engine.evaluator import RuleFinding
from ..engine.events import Event, OperatorNote, TaskFailed
from ..engine.memory import Memory
from ..engine.misses import deciding
from ..engine.records import dump
from ..engine.turns import Turn
from ..grammar.explain import asked, seen
from ..grammar.names import value
from ..grammar.writer import expectation
from ..rules.agents import AgentDefinition
from ..rules.check_blocks import Expectation
from ..rules.outputs import Output, OutputSet

_LONGEST = 400
_LOGS = "the logs"
_MOST_RULES = 3
_log = logging.getLogger(__name__.partition(".")[0])


@dataclass(slots=True, kw_only=True)
class Sight:
    """A turn as it is seen from everywhere: what came of it, what was told and logged meanwhile, and what is stored."""

    memory: Memory
    events: list[Event] = field(default_factory=list)
    notes: list[OperatorNote] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    turn: Turn = field(init=False)

    @contextmanager
    def logging(self) -> Iterator[None]:
        """Keep what is logged meanwhile, however little of it the program wants to see."""
        handler, level = _Lines(self.logs), _log.level
        _log.addHandler(handler)
        _log.setLevel(logging.DEBUG)
        try:
            yield
        finally:
            _log.removeHandler(handler)
            _log.setLevel(level)


class _Lines(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))


def holds(expected: Expectation, sight: Sight) -> bool:
    """Whether the turn is as expected."""
    turn, wanted = sight.turn, expected.wanted
    match expected.kind:
        case "action":
            return wanted[0] in turn.actions
        case "no_action":
            return wanted[0] not in turn.actions
        case "say":
            return any(text in wanted for text in turn.texts)
        case "say_nothing":
            return not turn.output
        case "reply":
            return wanted[0] in _choices(turn)
        case "state":
            return turn.state == wanted[0]
        case "fires":
            return wanted[0] in turn.fired
        case "silent":
            return wanted[0] not in turn.fired
    return (expected.watcher != "nobody") is bool(_seen_in(expected, sight))


def words(expected: Expectation) -> str:
    """An expectation as the author wrote it."""
    return expectation(expected.kind, expected.wanted, expected.watcher)


def actual(expected: Expectation, sight: Sight) -> str:
    """What there was, in words that stand well under those of what was expected."""
    turn = sight.turn
    match expected.kind:
        case "action" | "no_action":
            return _listed("action", turn.actions)
        case "say" | "say_nothing":
            return "say " + (" and ".join(_quoted(turn.texts)) or ("something else" if turn.output else "nothing"))
        case "reply":
            return _listed("quick reply", _quoted(_choices(turn)))
        case "state":
            return f"state {turn.state}"
        case "fires" | "silent":
            return _listed("rule", _quoted(turn.fired))
    if expected.watcher == "nobody":
        places = [f"in {place}" for place in _seen_in(expected, sight)]
        return f"it stands {' and '.join(filter(None, [', '.join(places[:-1]), places[-1]]))}"
    # Lines of the log are for programs: they are searched, and not shown.
    found = _places(expected, sight).items()
    there = dict.fromkeys(text for place, texts in found if place != _LOGS for text in texts if text)
    return f"{expected.watcher} sees {' and '.join(_quoted(there)) or 'nothing'}"


def reasons(expected: Expectation, sight: Sight, definition: AgentDefinition) -> Iterator[str]:
    """What became of the rules that the expectation hangs on, line by line."""
    turn = sight.turn
    names = list(dict.fromkeys(_concerned(expected, turn, definition)))[:_MOST_RULES]
    for finding in turn.explanations:
        if finding.rule.name in names:
            yield from _told(finding, fired=finding.rule.name in turn.fired)


def _told(finding: RuleFinding, *, fired: bool) -> Iterator[str]:
    rule, of = f"rule {value(finding.rule.name)}", len(finding.rule.conditions)
    if fired:
        yield f"{rule} fired" + ("" if of else ", for it has no conditions")
    elif finding.true and finding.behind is not None:
        yield f"{rule} was not reached, for rule {value(finding.behind.name)} fired before it"
    else:
        held = f": {finding.held} of {of} conditions held, then not" if of > 1 else ""
        yield f"{rule} did not fire{held}"
    decided = finding.parts if fired else filter(None, [finding.first_miss])
    for part in (part for whole in decided for part in deciding(whole)):
        held = "held" if part.result == "held" else "did not hold"
        yield f"  {asked(part.condition)} {held}: {seen(part)}"


def _concerned(expected: Expectation, turn: Turn, definition: AgentDefinition) -> Iterator[str]:
    """The names of the rules that would have to fire, or that should not have."""
    wanted = expected.wanted
    match expected.kind:
        case "fires" | "silent":
            yield wanted[0]
        case "action":
            yield from (rule.name for rule in definition.rules if wanted[0] in rule.actions)
        case "no_action":
            yield from (rule.name for rule in definition.rules if wanted[0] in rule.actions and rule.name in turn.fired)
        case "say" | "reply":
            actions = {output.action for output in _outputs(definition) if not set(wanted).isdisjoint(_texts(output))}
            yield from (rule.name for rule in definition.rules if not actions.isdisjoint(rule.actions))
        case "say_nothing":
            yield from turn.fired


def _outputs(definition: AgentDefinition) -> Iterator[Output]:
    for step in definition.steps:
        if isinstance(step.settings, OutputSet):
            yield from step.settings.output_set


def _texts(output: Output) -> Iterator[str]:
    """What an output may say or offer."""
    yield from (reply.value for reply in output.quick_replies)
    for alternatives in output.outputs:
        for item in alternatives.value_alternatives:
            yield from (text for text in (getattr(item, "text", None), getattr(item, "value", None)) if text)


def _seen_in(expected: Expectation, sight: Sight) -> list[str]:
    """The places where the watcher sees the wanted text; for `nobody` everywhere."""
    places = _places(expected, sight)
    return [place for place, texts in places.items() if any(expected.wanted[0] in text for text in texts)]


def _places(expected: Expectation, sight: Sight) -> Mapping[str, Iterable[str]]:
    """The texts of a turn that the watcher sees, by where they stand."""
    turn = sight.turn
    model = {"what a model is sent": [message.text for message in turn.model_view]}
    reply = {
        "the reply": list(_shown([turn.output, turn.quick_replies])),
        "`taskErrors`": list(_shown(turn.errors)),
    }
    match expected.watcher:
        case "model":
            return model
        case "operator":
            told = [note.text for note in sight.notes] + [outcome.reason or "" for outcome in turn.outcomes]
            return {"what the operator is told": list(dict.fromkeys(told)), _LOGS: sight.logs}
        case "caller":
            stream = [event.reason or "" for event in sight.events if isinstance(event, TaskFailed)]
            return {**reply, "the events": stream}
    events = list(_leaves(sight.events))
    return {**reply, **model, "the events": events, _LOGS: sight.logs, "the store": _leaves(dump(sight.memory))}


def _leaves(value: object) -> Iterator[str]:
    """All texts and numbers in a value, keys included."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield str(value)


def _shown(value: object) -> Iterator[str]:
    """The texts in what is sent to a client, but for those that only say of what type something is."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key not in ("type", "taskType"):
                yield from _shown(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _shown(item)
    elif isinstance(value, str):
        yield value


def _choices(turn: Turn) -> list[str]:
    return [str(reply.get("value") if isinstance(reply, Mapping) else reply) for reply in turn.quick_replies]


def _listed(word: str, names: Iterable[str]) -> str:
    names = list(names)
    if not names:
        return f"no {word}"
    plural = word.replace("reply", "replie") + "s" if len(names) > 1 else word
    return f"{plural} {', '.join(names)}"


def _quoted(texts: Iterable[str]) -> list[str]:
    short = (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in texts)
    return [value(text) for text in short]
