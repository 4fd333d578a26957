"""A turn as whoever runs the agent sees it: what was asked, why rules did not fire, and the reasons of failures."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...engine.agents import Agent
from ...engine.evaluator import evaluate
from ...engine.facts import Facts
from ...engine.history import History
from ...engine.memory import Memory
from ...engine.misses import Miss, misses, nearest_first
from ...engine.steps import Step
from ...engine.tasks.rules import RulesTask
from ...engine.view import HISTORY_LIMIT, view
from ...rules.agents import RulesSettings
from ...rules.rulesets import RuleSet
from ...rules.values import freeze
from ..reasons import missed_words

MOST_MISSES = 50
"""Rules that are told of; what is further off helps nobody."""
_APART = frozenset({"input", "actions", "context", "expressions", "output", "quickReplies", "taskErrors"})
"""What of a conversation output stands elsewhere."""


def trace(agent: Agent, memory: Memory, number: int) -> dict[str, Any]:
    """The turn at position `number`, counted from 0; later ones are undone in `memory`.

    Why rules did not fire is found anew, on what was kept of the turn: what a later task changed is seen as that task
    left it.
    """
    while len(memory.history.steps) > number + 1 and memory.undo():
        pass
    steps = memory.history.steps
    step = steps[number]
    missed = [miss for one in _asked(agent, memory, number) for miss in one]
    fired = set(step.succeeded)
    types = agent.types
    return {
        "tasks": [
            {
                "task": outcome.task,
                "type": types.get(outcome.task, ""),
                "status": outcome.status,
                "errorType": outcome.error_type,
                "durationMs": round(outcome.duration_ms, 3),
                "reason": outcome.reason,
                "where": outcome.where,
            }
            for outcome in step.outcomes
        ],
        "facts": facts(step, memory),
        "fired": list(step.succeeded),
        "rerouted": list(step.rerouted),
        "misses": [
            {"rule": miss.finding.rule.name, "why": missed_words(miss)}
            for miss in nearest_first(miss for miss in missed if miss.finding.rule.name not in fired)[:MOST_MISSES]
        ],
        "modelView": [
            {"role": message.role, "text": message.text}
            for message in view(steps[max(0, number + 1 - HISTORY_LIMIT) : number + 1])
        ],
    }


def facts(step: Step, memory: Memory) -> dict[str, Any]:
    """What rules could ask at the end of a turn."""
    return {
        "actions": freeze(step.actions),
        "expressions": step.expressions,
        "context": {key: freeze(entry.value) for key, entry in step.context.items()},
        "properties": freeze(memory.properties),
        "values": {key: freeze(value) for key, value in step.output.items() if key not in _APART},
        "outcomes": [
            {"task": outcome.task, "status": outcome.status, "errorType": outcome.error_type}
            for outcome in step.outcomes
        ],
        "digests": [{"task": digest.task, "text": str(digest.text)} for digest in step.digests],
    }


def _asked(agent: Agent, memory: Memory, number: int) -> Iterator[Sequence[Miss]]:
    """What became of the rules of each rule set that the turn asked."""
    steps = memory.history.steps
    history = History(steps[:number])
    places = [place for place, one in enumerate(agent.definition.steps) if isinstance(one.settings, RulesSettings)]
    seen: set[int] = set()
    for place in places:
        settings = agent.definition.steps[place].settings
        if not isinstance(settings, RulesSettings) or id(settings.rule_set) in seen:
            continue
        if RulesTask.id not in {outcome.task for outcome in steps[number].outcomes[: place + 1]}:
            continue
        seen.add(id(settings.rule_set))
        step = _when_asked(agent, steps[number], settings.rule_set, place)
        asked = Facts(step, history, memory.properties, memory.surroundings)
        yield misses(settings.rule_set, asked, evaluate(settings.rule_set, asked))


def _when_asked(agent: Agent, step: Step, rule_set: RuleSet, place: int) -> Step:
    """A step as it was when a rule set was asked last: before its own answer, or after a failure and that answer."""
    policy = agent.definition.policy
    failed = any(outcome.status == "failed" for outcome in step.outcomes)
    again = failed and policy.enabled and policy.continue_on_failure and policy.reroute_on_failure
    new = set(step.rerouted if again else step.succeeded)
    emitted = {action for rule in rule_set.rules if rule.name in new for action in rule.actions}
    return replace(
        step,
        actions=[action for action in step.actions if action not in emitted],
        succeeded=[name for name in step.succeeded if name not in new],
        outcomes=step.outcomes if again else step.outcomes[:place],
    )
