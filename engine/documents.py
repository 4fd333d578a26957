"""Facts documents to facts: a conversation that was written down, as the matcher and the evaluator see it."""

from collections.abc import Mapping
from typing import cast

from ..rules.agents import Surroundings
from ..rules.authored import task_name
from ..rules.facts import FactsFile, FactsStep
from ..rules.values import JSON, freeze
from .facts import Facts
from .failure import PublicText
from .history import History
from .steps import ContextEntry, Digest, Outcome, Step


def facts_of(document: FactsFile) -> Facts:
    """The facts that `document` holds; its last step is this turn."""
    steps = [_step(step) for step in document.steps]
    surroundings = Surroundings(
        environment=document.environment, tags=document.tags, capabilities=document.capabilities
    )
    return Facts(steps[-1], History(steps[:-1]), _entries(document.properties), surroundings)


def _step(written: FactsStep) -> Step:
    context = {key: _context(value) for key, value in _entries(written.context or {}).items()}
    output = dict(_entries(written.values))
    if written.actions is not None:
        output["actions"] = list(written.actions)
    if written.context is not None:
        output["context"] = {key: entry.value for key, entry in context.items()}
    return Step(
        actions=list(written.actions or ()),
        expressions=written.expressions,
        context=context,
        succeeded=list(dict.fromkeys(written.rules_success)),
        output=output,
        attachments=[attachment.mime_type for attachment in written.attachments],
        outcomes=[
            Outcome(task=task_name(one.task), status=one.status, error_type=one.error_type) for one in written.outcomes
        ],
        digests=[Digest(task_name(digest.task_id), PublicText(digest.text)) for digest in written.digests],
    )


def _context(entry: JSON) -> ContextEntry:
    # Reading has made sure that it is a text, or an object with these two keys.
    if isinstance(entry, Mapping):
        return ContextEntry(str(entry["type"]), entry["value"])
    return ContextEntry("string", entry)


def _entries(written: Mapping[str, object]) -> Mapping[str, JSON]:
    return cast("Mapping[str, JSON]", freeze(written))
