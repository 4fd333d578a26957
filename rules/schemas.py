"""JSON Schemas of the files that an author writes, for editors."""

from collections.abc import Mapping

from .agent_files import KINDS
from .authored import Authored
from .errors import UsageError
from .facts import FactsFile
from .findings import listed
from .outputs import OutputSet
from .rulesets import RuleSet
from .spelling import suggestion

_MODELS: Mapping[str, type[Authored]] = {**KINDS, "outputs": OutputSet, "facts": FactsFile}
_NAMES = ("agent", "workflow", "rules", "outputs", "httpcalls", "dictionary", "property", "llm", "facts")
SCHEMAS = {name: _MODELS[name] for name in _NAMES}
"""What there are schemas of, and the models that they are made from."""


def schema(kind: str) -> dict[str, object]:
    """The JSON Schema of a kind of file, in today's keys; `UsageError` for a kind there is none of."""
    if (model := SCHEMAS.get(kind)) is None:
        hint = suggestion(kind, SCHEMAS, f"name one of {listed(list(SCHEMAS), 'or')}")
        raise UsageError(f"there is no schema of `{kind}`", hint)
    made: dict[str, object] = model.model_json_schema(by_alias=True)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    if model is RuleSet:
        _allow_both_keys(made)
    return made


def _allow_both_keys(made: dict[str, object]) -> None:
    """A group's rules stand under `rules` or `behaviorRules`."""
    match made:
        case {"$defs": {"Group": {"properties": dict(properties)}}}:
            properties["behaviorRules"] = properties["rules"]
