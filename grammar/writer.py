"""Items to text, laid out in the one way there is."""

from collections.abc import Iterator, Mapping, Sequence

from .comments import found, tokens, woven
from .documents import COMMENTS, FLAGS
from .names import expressions, name, ordinal, suffix, value
from .phrases import Phrase, phrase
from .pieces import Entries, Item, objects

WIDTH = 100
"""Longer lines are broken between conditions and between steps."""


def write(items: Sequence[Item]) -> str:
    """The text of items, with their comments."""
    blocks = [_commented(item, last=item is items[-1]) for item in items]
    text = ""
    for index, block in enumerate(blocks):
        close = index and items[index].kind == items[index - 1].kind == "set"
        text += f"{'' if close or not index else chr(10)}{block}\n"
    return text


def _commented(item: Item, *, last: bool) -> str:
    """An item's text with its comments: as such if they are read back the same, else under their key."""
    if not item.comments:
        return block(item)
    text = woven(block(item), item.comments)
    (read,), _ = found(text, [0])
    at_end = read and not read[-1][1] and read[-1][0] == len(tokens(text))
    if read == list(item.comments) and (last or not at_end):
        return text
    kept = {**item.entries, COMMENTS: [list(comment) for comment in item.comments]}
    return block(Item(kind=item.kind, entries=kept))


def block(item: Item) -> str:
    """The text of an item without comments, without a line end."""
    return "\n".join(_LINES[item.kind](item.entries))


def _rest(entries: Mapping[str, object], *told: str, word: str = "with") -> str:
    return suffix(((key, item) for key, item in entries.items() if key not in told), word)


def _set(entries: Entries) -> Iterator[str]:
    key, setting = str(entries["key"]), entries["value"]
    flag = FLAGS.get(key) is not None and isinstance(setting, bool)
    written = ("on" if setting else "off") if flag else value(setting)
    yield f"set {name(key)} {written}{' for outputs' if entries['outputs'] else ''}"


def _language(entries: Entries) -> Iterator[str]:
    yield f"language {value(entries['lang'])}"


def _policy(entries: Entries) -> Iterator[str]:
    lines = [] if entries["enabled"] else ["disabled"]
    if "onFailure" in entries:
        lines.append(f"on failure {name(str(entries['onFailure']))}")
    if "continueOnFailure" in entries:
        lines.append(f"{'continue' if entries['continueOnFailure'] else 'stop'} after failure")
    if "rerouteOnFailure" in entries:
        lines.append(f"reroute {'on' if entries['rerouteOnFailure'] else 'off'}")
    if not lines or lines == ["disabled"]:
        yield f"policy {lines[0] if lines else 'enabled'}"
    else:
        yield "policy"
        yield from (f"  {line}" for line in lines)


def _steps(entries: Entries) -> Iterator[str]:
    steps = [_step(step) for step in objects(entries, "steps")]
    line = f"steps {', '.join(steps)}"
    yield line if len(line) <= WIDTH else f"steps {(',' + chr(10) + '  ').join(steps)}"


def _step(entries: Entries) -> str:
    task = str(entries["task"])
    file = f" {value(entries['file'])}" if "file" in entries else ""
    within = f" within {entries['within']} ms" if "within" in entries else ""
    return f"{task if task == 'output' else name(task)}{file}{within}"


def _group(entries: Entries) -> Iterator[str]:
    told = []
    line = "group"
    if isinstance(entries.get("name"), str):
        told.append("name")
        line += f" {value(entries['name'])}"
    strategy = _STRATEGIES.get(str(entries.get("executionStrategy")))
    if strategy is not None:
        told.append("executionStrategy")
        line += f" {strategy}"
    yield line + _rest(entries, *told)


_STRATEGIES = {"executeUntilFirstSuccess": "first match", "executeAll": "all matches"}


def _rule(entries: Entries) -> Iterator[str]:
    yield f"rule {value(entries.get('name', ''))}{_rest(entries, 'name', 'conditions', 'actions')}"
    conditions, actions = objects(entries, "conditions"), entries.get("actions")
    if not conditions:
        yield "  when always"
    for index, condition in enumerate(conditions):
        yield from _laid_out("   and " if index else "  when ", phrase(condition))
    yield f"  then {', '.join(map(name, actions)) if actions else 'nothing'}"  # type: ignore[call-overload]  # by its form


def _laid_out(lead: str, told: Phrase) -> Iterator[str]:
    """The lines of a condition: one, or where that is too long, one for each condition in it."""
    line = f"{lead}{told}"
    if not told.children or len(line) <= WIDTH:
        yield line
    elif told.is_prefix:
        yield from _laid_out(f"{lead}{told.head}", told.children[0])
    else:
        yield f"{lead}{told.head} ("
        margin = " " * len(lead)
        for index, child in enumerate(told.children):
            joint = f"{told.joint} " if index else " " * (len(told.joint) + 1)
            yield from _laid_out(f"{margin}  {joint}", child)
        yield f"{margin}){told.tail}"


def _output(entries: Entries) -> Iterator[str]:
    told = ["action", "outputs", "quickReplies"]
    times, since = entries.get("timesOccurred"), ""
    if isinstance(times, int) and times >= 0:
        told.append("timesOccurred")
        since = f" from the {ordinal(times + 1)} time"
    yield f"output {name(str(entries['action']))}{since}{_rest(entries, *told)}"
    for piece in objects(entries, "outputs"):
        yield from _piece(piece)
    for reply in objects(entries, "quickReplies"):
        yield f"  {_reply(reply)}"


def _piece(entries: Entries) -> Iterator[str]:
    items = [_shown(item) for item in objects(entries, "valueAlternatives")] or ["say nothing"]
    items[-1] += _rest(entries, "valueAlternatives", word="keeping")
    yield f"  {items[0]}"
    yield from (f"   or {item.removeprefix('say ')}" for item in items[1:])


def _shown(entries: Entries) -> str:
    if entries["type"] != "text" or not isinstance(entries.get("text"), str):
        return f"show {name(str(entries['type']))}{_rest(entries, 'type')}"
    told = ["type", "text"]
    after = ""
    if type(delay := entries.get("delay")) is int and delay >= 0:
        told.append("delay")
        after = f" after {delay} ms"
    return f"say {value(entries['text'])}{after}{_rest(entries, *told)}"


def _reply(entries: Entries) -> str:
    told = ["value"]
    means = default = ""
    if isinstance(meaning := entries.get("expressions"), str):
        told.append("expressions")
        means = f" means {expressions(meaning, ', ')}"
    if entries.get("isDefault") is True:
        told.append("isDefault")
        default = "default "
    return f"{default}quick reply {value(entries.get('value', ''))}{means}{_rest(entries, *told)}"


def _check(entries: Entries) -> Iterator[str]:
    yield f"check {value(entries['name'])}"
    yield from (f"  {_given(given)}" for given in objects(entries, "givens"))
    for turn in objects(entries, "turns"):
        said = f" {value(turn['typed'])}" if "typed" in turn else ""
        meant = f" user says {expressions(str(turn['meant']), ', ')}" if "meant" in turn else ""
        yield f"  turn{said}{meant}"
        yield from (f"    {_given(given)}" for given in objects(turn, "givens"))
        yield from (f"    {_fault(fault)}" for fault in objects(turn, "faults"))
        for expected in objects(turn, "expects"):
            yield from _expectation(expected)


def _given(entries: Entries) -> str:
    kind, about = str(entries["kind"]), str(entries["name"])
    return f"given {kind} " + (f"{name(about)} {value(entries['value'])}" if "value" in entries else value(about))


def _fault(entries: Entries) -> str:
    about = f"task {name(str(entries['task']))}"
    if entries["kind"] == "times_out":
        return f"{about} times out"
    if entries["kind"] == "answers":
        return f"{about} answers {value(entries['answer'])}"
    symptoms = (f" {key} {value(entries[key])}" for key in ("status", "body", "error") if key in entries)
    return f"{about} fails{''.join(symptoms)}"


def _expectation(entries: Entries) -> Iterator[str]:
    kind, wanted, watcher = entries["kind"], entries["wanted"], entries.get("watcher")
    yield f"    expect {expectation(kind, wanted[:1], watcher)}"  # type: ignore[arg-type, index]  # by its form
    yield from (f"            or {value(text)}" for text in wanted[1:])  # type: ignore[index]  # by its form


def expectation(kind: str, wanted: Sequence[str], watcher: str | None = None) -> str:
    """What a check expects, as an author writes it on one line."""
    quoted = " or ".join(map(value, wanted))
    match kind:
        case "say":
            return f"say {quoted}"
        case "action" | "state":
            return f"{kind} {name(wanted[0])}"
        case "no_action":
            return f"no action {name(wanted[0])}"
        case "reply":
            return f"quick reply {quoted}"
        case "sees":
            return f"{watcher} sees {quoted}"
        case "fires":
            return f"rule {quoted} fires"
        case "silent":
            return f"rule {quoted} stays silent"
    return "say nothing"


_LINES = {
    "set": _set,
    "language": _language,
    "policy": _policy,
    "steps": _steps,
    "group": _group,
    "rule": _rule,
    "output": _output,
    "check": _check,
}
