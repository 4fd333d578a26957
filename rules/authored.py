"""What the models of files share: their common ancestor, strict scalars, and how the names in them are read."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from .values import BLANKS, integer

ErrorType = Literal["timeout", "transport", "rate_limit", "http", "content_filter", "circuit_open", "unknown"]

# Strict, so that true is no number and "yes" no truth; what old files write as texts is read by the migration.
Whole = Annotated[int, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]


class Authored(BaseModel):
    """Something an author wrote: immutable, unknown keys kept, JSON keys in camel case."""

    model_config = ConfigDict(frozen=True, extra="allow", alias_generator=to_camel, populate_by_name=True)


def lenient(text: str) -> int:
    """The integer that `text` writes, or 1: counts of attachments and results are read so."""
    try:
        return integer(text)
    except ValueError:
        return 1


def task_name(task_id: str) -> str:
    """A task's plain name: `eddi://ai.labs.llm` and `ai.labs.llm` are one task."""
    return task_id.removeprefix("eddi://")


SAME_TASK = {
    "ai.labs.rules": "ai.labs.behavior",
    "ai.labs.apicalls": "ai.labs.httpcalls",
    "ai.labs.langchain": "ai.labs.llm",
}
"""Other names of step types, and the ids of their tasks."""


def step_task(type: str) -> str:
    """The plain id of the task that a step of this type runs."""
    name = task_name(type.partition("?")[0])
    return SAME_TASK.get(name, name)


def action_run(actions: str) -> tuple[str, ...]:
    """The names of a comma-separated run, trimmed as the reference trims, empty ones dropped."""
    return tuple([name for part in actions.split(",") if (name := part.strip(BLANKS))])
