"""A turn as people read it: what was said, the reply, and after a failure who is told what."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ..engine.events import OperatorNote
from ..engine.steps import Outcome
from ..engine.turns import Turn
from ..rules.findings import listed
from ..rules.values import JSON
from .printing import plain, print_columns, printer
from .reasons import ORDER, print_missed

_LABELS = "bold"
_STYLES = {"succeeded": "green", "failed": "red", "skipped": "dim"}
_MESSAGES = 4


def print_turn(
    turn: Turn,
    name: str,
    notes: Sequence[OperatorNote],
    *,
    why: bool = False,
    spoken: Collection[str] = (),
    chat: bool = False,
    shown: Collection[str] = (),
) -> None:
    """Print a turn with the agent called `name`.

    `notes` are what its operator was told meanwhile, `spoken` the actions that it has outputs for. In a `chat`, what
    was said stands there already, as do the texts in `shown`, and the quick replies have numbers.
    """
    console = printer()
    speech: list[tuple[str | Text, str | Text]] = []
    if not chat and (turn.input or "CONVERSATION_START" not in turn.actions):
        speech.append(("you", turn.input))
    speech += ((" " * cell_len(name) if goes_on else name, item) for goes_on, item in _said(turn, spoken, shown))
    if values := offered(turn):
        speech.append((" " * cell_len(name) if chat else "", choices(values, numbered=chat)))
    print_columns(console, speech, labels=_LABELS)
    failed = [outcome for outcome in turn.outcomes if outcome.status == "failed"]
    if failed:
        _print_failure(console, turn, failed, notes)
    if turn.state not in ("READY", "ERROR"):  # which the headline of a failure tells
        console.print(f"\nthe conversation is now {turn.state}", style="dim")
    if why:
        console.print()
        print_reasons(console, turn)
    console.print()


def offered(turn: Turn) -> list[str]:
    """The values of the quick replies."""
    values = (reply.get("value") if isinstance(reply, Mapping) else reply for reply in turn.quick_replies)
    return [str(value) for value in values if value]


def choices(values: Sequence[str], *, numbered: bool = False) -> Text:
    """The values of quick replies, as what can be chosen."""
    shown = []
    for number, value in enumerate(values, start=1):
        shown.append(Text.assemble(f"{number} " if numbered else "", (f"[ {plain(value)} ]", "cyan")))
    return Text("  ").join(shown)


def print_reasons(console: Console, turn: Turn) -> None:
    """Print which rules fired, and what kept the others."""
    fired = [plain(rule) for rule in turn.fired]
    console.print(Text(f"  rules that fired: {', '.join(fired) or 'none'}", style=_LABELS))
    if missed := turn.misses:
        console.print(Text(f"  why not the others, {ORDER}", style=_LABELS))
        print_missed(console, missed)


def _said(turn: Turn, spoken: Collection[str], shown: Collection[str]) -> Iterable[tuple[bool, str | Text]]:
    """What is still to be printed, and whether it goes on with what stands there."""
    items = [text for item in turn.output if (text := _item(item))]
    yield from _others(items, shown)
    if not items and turn.state != "EXECUTION_INTERRUPTED":
        silent = turn.actions and not set(turn.actions) & set(spoken)
        why = f": no output is written for {listed(turn.actions, 'or')}" if silent else ""
        yield False, Text(f"(nothing{plain(why)})", style="dim")


def _others(items: Sequence[str], shown: Collection[str]) -> Iterator[tuple[bool, str | Text]]:
    """The items without what was shown of them already; before them, whether something was shown that is in none."""
    bare = [plain(text).strip() for text in items]
    seen: dict[int, str] = {}
    unsaid = False
    for text in sorted(filter(None, shown), key=lambda one: one not in bare):  # whole items first
        free = [number for number in range(len(bare)) if number not in seen]
        same = next((number for number in free if bare[number] == text), None)
        number = next((one for one in free if bare[one].startswith(text)), None) if same is None else same
        if number is None:
            unsaid = True
        else:
            seen[number] = text
    if unsaid:
        yield True, Text("(what was shown here is not what was said)", style="dim")
    for number, text in enumerate(items):
        if number not in seen:
            yield False, text
        elif rest := bare[number].removeprefix(seen[number]).strip():
            yield True, rest


def _item(item: JSON) -> str:
    """What an item of the reply says; of one without a text, what it is."""
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        text = item.get("text")
        if isinstance(text, str):
            return text
        rest = ", ".join(f"{key}: {value}" for key, value in item.items() if key != "type" and value is not None)
        return f"({item.get('type', 'item')}: {rest})"
    return str(item)


def _print_failure(console: Console, turn: Turn, failed: Sequence[Outcome], notes: Sequence[OperatorNote]) -> None:
    console.print()
    print_columns(console, [(Text(_headline(turn, failed), style="yellow"),)], left=2)
    told = [error["text"] for error in turn.errors if isinstance(error, Mapping)]
    _section(console, "the caller is told", [(str(text),) for text in told] or [("nothing",)])
    seen = turn.model_view
    rows: list[tuple[str, str]] = [(message.role, message.text) for message in seen[-_MESSAGES:]]
    if len(seen) > _MESSAGES:
        rows.insert(0, ("…", "(what was said before)"))
    _section(console, "the next model would see", rows or [("nothing",)])
    _section(console, "the operator sees", list(_outcomes(turn.outcomes)))
    known = {outcome.reason for outcome in failed}
    for note in notes:
        if note.text not in known:
            print_columns(console, [(note.task, str(note.text))], left=4)


def _headline(turn: Turn, failed: Sequence[Outcome]) -> str:
    tasks = " and ".join(dict.fromkeys(plain(outcome.task) for outcome in failed))
    if turn.state == "ERROR":
        return f"{tasks} failed, and the turn ended with it"
    if turn.rerouted:
        rules = " and ".join(f"`{plain(rule)}`" for rule in turn.rerouted)
        word = "rules" if len(turn.rerouted) > 1 else "rule"
        return f"{tasks} failed, so {word} {rules} fired in the same turn"
    return f"{tasks} failed, and the turn went on"


def _outcomes(outcomes: Iterable[Outcome]) -> Iterable[tuple[str | Text, ...]]:
    for outcome in outcomes:
        status = Text(outcome.status, style=_STYLES[outcome.status])
        reason = f"{outcome.error_type}: {outcome.reason}" if outcome.status == "failed" else ""
        if outcome.where and not outcome.task.startswith("ai.labs."):
            reason += f" ({outcome.where})"
        yield status, outcome.task, f"{outcome.duration_ms:.1f} ms", reason


def _section(console: Console, title: str, rows: Sequence[Sequence[str | Text]]) -> None:
    console.print()
    console.print(Text(f"  {title}", style=_LABELS))
    print_columns(console, rows, left=4)
