"""Other rules and outputs for an agent, as text, on a conversation that was recorded. Nothing is called."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...engine.memory import Memory
from ...grammar.program import Program, read_program, write_program
from ...rules.agents import AgentDefinition, RulesSettings, StepDefinition
from ...rules.outputs import OutputSet
from ...rules.rulesets import RuleSet
from ..replaying import Told, changed


def text_of(definition: AgentDefinition) -> str:
    """The rules of an agent's first rules step and the outputs of its first output step, as text."""
    return write_program(*_first(definition))


def tried(definition: AgentDefinition, memory: Memory, text: str) -> list[dict[str, Any]]:
    """The turns that would change if the agent's first rules and outputs were those of `text`.

    Raises `LoadError` for a text that does not load.
    """
    edited = _edited(definition, read_program(text))
    return [
        {
            "turn": turn.number,
            "before": _data(turn.before),
            "after": _data(turn.after),
            "rules": list(turn.rules),
        }
        for turn in changed(edited, memory)
    ]


def _data(told: Told) -> dict[str, Any]:
    return {
        "state": told.state,
        "actions": list(told.actions),
        "output": [item for item in told.replies if not isinstance(item, list)],
        "quickReplies": [reply for offered in told.replies if isinstance(offered, list) for reply in offered],
    }


def _first(definition: AgentDefinition) -> tuple[RuleSet | None, OutputSet | None]:
    settings = [step.settings for step in definition.steps]
    rules = next((one.rule_set for one in settings if isinstance(one, RulesSettings)), None)
    return rules, next((one for one in settings if isinstance(one, OutputSet)), None)


def _edited(definition: AgentDefinition, program: Program) -> AgentDefinition:
    """The agent with the rules, the outputs and the policy of a text; steps that a text has are left aside."""
    rules, outputs = _first(definition)

    def steps() -> Iterator[StepDefinition]:
        for step in definition.steps:
            settings = step.settings
            if isinstance(settings, RulesSettings) and settings.rule_set is rules:
                yield replace(step, settings=replace(settings, rule_set=program.rule_set))
            elif settings is not None and settings is outputs:
                yield replace(step, settings=program.output_set)
            else:
                yield step

    policy = program.policy if program.has("policy") else definition.policy
    return replace(definition, steps=tuple(steps()), policy=policy)
