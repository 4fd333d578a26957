"""What rules can ask, short enough to be read: the facts of the last turn, and the properties as they are now."""

import json
from collections.abc import Iterable, Iterator, Mapping

from ..engine.memory import Memory
from ..engine.steps import Step
from ..rules.outputs import TAKEN
from ..rules.values import JSON, freeze

_LONGEST = 160


def fact_rows(memory: Memory) -> Iterator[tuple[str, str]]:
    """Rows of labels and facts, a label once; of a memory without a turn, the properties alone."""
    step = memory.history.last or Step()
    yield from _labelled("actions", step.actions)
    yield from _labelled("expressions", [step.expressions] if step.expressions else [])
    yield from _labelled("context", _named({key: entry.value for key, entry in step.context.items()}))
    yield from _labelled("properties", _named(memory.properties))
    yield from _labelled("values", _named({key: value for key, value in step.output.items() if key not in TAKEN}))
    yield from _labelled("rules fired", step.succeeded)
    yield from _labelled("outcomes", _outcomes(step))
    yield from _labelled("digests", [f"{digest.task}: {digest.text}" for digest in step.digests])
    if earlier := len(memory.history.steps) - 1:
        yield "earlier turns", str(earlier)


def _outcomes(step: Step) -> Iterator[str]:
    for outcome in step.outcomes:
        kind = f" ({outcome.error_type})" if outcome.error_type else ""
        yield f"{outcome.task} {outcome.status}{kind}"


def _named(values: Mapping[str, JSON]) -> Iterator[str]:
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(freeze(value), ensure_ascii=False)
        yield f"{name}: {text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…'}"


def _labelled(label: str, facts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The facts behind their label; `none` if there are none."""
    for number, fact in enumerate(list(facts) or ["none"]):
        yield ("" if number else label), fact
