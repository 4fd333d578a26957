"""`turnout schema`: the JSON Schemas of the files that an author writes."""

from ..rules import schemas
from ..rules.errors import UsageError
from ..rules.facts import FactsFile
from ..rules.findings import listed
from ..rules.spelling import nearest
from .printing import print_json

KINDS = (*schemas.SCHEMAS, "facts")
"""What there are schemas of."""


def print_schema(kind: str, *, one_line: bool = False) -> int:
    """Print the schema of a kind of file. Raises `UsageError` for a kind there is none of."""
    print_json(schema(kind), indent=None if one_line else 2)
    return 0


def schema(kind: str) -> dict[str, object]:
    """The schema of a kind of file, in today's keys."""
    if kind in schemas.SCHEMAS:
        return schemas.schema(kind)
    if kind != "facts":
        meant = nearest(kind, KINDS)
        hint = f"did you mean `{meant}`?" if meant else f"name one of {listed(KINDS, 'or')}"
        raise UsageError(f"there is no schema of `{kind}`", hint)
    made: dict[str, object] = FactsFile.model_json_schema(by_alias=True)
    return {**made, "$schema": schemas.schema("rules")["$schema"]}
