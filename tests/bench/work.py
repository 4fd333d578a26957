"""The work that is measured: rule sets, turns, and what a person would write by hand for the same job."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from turnout.engine.facts import Facts
from turnout.engine.history import History
from turnout.engine.steps import ContextEntry, Step

CHANNELS = 7


@dataclass(frozen=True)
class PlainTurn:
    """What a turn holds: three actions, one context value, a few counts of rules."""

    actions: list[str]
    channel: str
    counts: dict[str, int]

    def facts(self) -> Facts:
        """The same for the matcher."""
        steps = [
            Step(succeeded=[rule for rule, count in self.counts.items() if count > number])
            for number in range(max(self.counts.values()))
        ]
        return Facts(
            Step(actions=self.actions, context={"channel": ContextEntry("string", self.channel)}),
            History(steps),
        )


def rule_document(count: int) -> dict[str, Any]:
    """80 % of rules on one action, 10 % action and context, 5 % action and not another, 5 % action and count <= 2."""
    chance = random.Random(count)
    rules = []
    for number in range(count):
        conditions: list[dict[str, Any]] = [{"type": "actionmatcher", "configs": {"actions": f"action_{number}"}}]
        kind = chance.random()
        if kind < 0.1:
            configs = {
                "contextKey": "channel",
                "contextType": "string",
                "string": f"channel_{number % CHANNELS}",
            }
            conditions.append({"type": "contextmatcher", "configs": configs})
        elif kind < 0.15:
            other = {"type": "actionmatcher", "configs": {"actions": f"action_{chance.randrange(count)}"}}
            conditions.append({"type": "negation", "conditions": [other]})
        elif kind < 0.2:
            configs = {"behaviorRuleName": f"rule {chance.randrange(count)}", "maxTimesOccurred": "2"}
            conditions.append({"type": "occurrence", "configs": configs})
        rules.append({"name": f"rule {number}", "actions": [f"out_{number}"], "conditions": conditions})
    return {"behaviorGroups": [{"name": "all", "executionStrategy": "executeAll", "rules": rules}]}


def plain_turns(rules: int, count: int) -> list[PlainTurn]:
    """Random turns that seldom repeat: for ten rules there are not many to choose from."""
    chance = random.Random(rules + count)
    return [
        PlainTurn(
            actions=[f"action_{number}" for number in chance.sample(range(rules), 3)],
            channel=f"channel_{chance.randrange(CHANNELS)}",
            counts={f"rule {chance.randrange(rules)}": chance.randrange(1, 5) for _ in range(3)},
        )
        for _ in range(count)
    ]


class DictIndex:
    """What a person would write for `rule_document`: rules by action, with the rest of their conditions."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._by_action: dict[str, list[tuple[int, str, str | None, str | None, str | None]]] = {}
        for number, rule in enumerate(document["behaviorGroups"][0]["rules"]):
            first, *others = rule["conditions"]
            channel = other = counted = None
            for condition in others:
                match condition["type"]:
                    case "contextmatcher":
                        channel = condition["configs"]["string"]
                    case "negation":
                        other = condition["conditions"][0]["configs"]["actions"]
                    case _:
                        counted = condition["configs"]["behaviorRuleName"]
            entry = (number, rule["name"], channel, other, counted)
            self._by_action.setdefault(first["configs"]["actions"], []).append(entry)

    def fired(self, actions: list[str], channel: str, counts: dict[str, int]) -> list[str]:
        """The names of the rules that fire, in file order."""
        found = []
        for action in actions:
            for number, name, wanted, other, counted in self._by_action.get(action, ()):
                if wanted is not None and channel != wanted:
                    continue
                if other is not None and other in actions:
                    continue
                if counted is not None and counts.get(counted, 0) > 2:
                    continue
                found.append((number, name))
        found.sort()
        return [name for _, name in found]


@dataclass
class PlainLoop:
    """A turn as one would write it by hand: tasks with a rollback journal, a digest, an index, a listener."""

    tasks: list[tuple[str, Callable[..., Any]]]
    rules: dict[str, list[tuple[str, str]]]
    outputs: dict[str, list[str]]
    listener: Callable[[Any], None]
    steps: list[dict[str, Any]] = field(default_factory=list)

    async def say(self, text: str) -> dict[str, Any]:
        """Run one turn."""
        step: dict[str, Any] = {
            "input": text,
            "actions": [],
            "output": [],
            "data": {},
            "errors": [],
            "outcomes": [],
        }
        for name, task in self.tasks:
            journal: dict[str, Any] = {"actions": [], "output": [], "data": {}}
            self.listener(("start", name))
            began = perf_counter()
            try:
                await task(self, step, journal)
            except Exception as error:
                text = f"Task '{name}' failed: {error}"[:200]
                step["errors"].append({"type": "errorDigest", "taskId": name, "text": text})
                step["data"][f"taskError:{name}"] = text
                step["actions"].append(f"task_failed_{name}")
                step["outcomes"].append((name, "failed", text, perf_counter() - began))
                self.listener(("failed", name, text))
                for _, action in self.rules.get(f"task_failed_{name}", ()):
                    if action not in step["actions"]:
                        step["actions"].append(action)
            else:
                step["actions"].extend(action for action in journal["actions"] if action not in step["actions"])
                step["output"].extend(journal["output"])
                step["data"].update(journal["data"])
                step["outcomes"].append((name, "succeeded", None, perf_counter() - began))
                self.listener(("complete", name, list(step["actions"])))
        self.steps.append(step)
        return step
