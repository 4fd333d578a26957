"""Agents whose rules ask for all kinds of history, for the tests of stores."""

from typing import Any

from building import action, agent, condition, output, rules, step
from turnout.engine.agents import Agent
from turnout.engine.conversation import Conversation
from turnout.engine.memory import Memory
from turnout.engine.steps import Step
from turnout.engine.stores import Held
from turnout.engine.tasks import FunctionTask

WORDS = ["a", "b", "fail", "time out", "rest"]
"""What can be said: it becomes the action; `fail` and `time out` fail the task `w`, which does not run at `rest`."""


def _act(turn: Any) -> None:
    turn.add_actions(turn.input.replace(" ", "_"))
    turn.set_property("said", turn.input)
    turn.set_property(f"last {turn.input}", len(turn.properties), scope="step")
    if turn.input == "b":
        turn.set_property("hidden", "s3cret", scope="secret")


async def _work(turn: Any) -> None:
    if turn.input == "rest":
        turn.skip()
    turn.show("w", {"said": turn.input})
    if turn.input == "fail":
        raise RuntimeError("it broke")
    if turn.input == "time out":
        raise TimeoutError


def _rule(name: str, *conditions: Any) -> dict[str, Any]:
    return {"name": name, "actions": [f"did {name}"], "conditions": list(conditions)}


def _outcome(**configs: str) -> Any:
    return condition("outcomematcher", taskId="w", **configs)


RULES = [
    _rule("a last", action("a", occurrence="lastStep")),
    _rule("a ever", action("a", occurrence="anyStep")),
    _rule("no b so far", action("b", occurrence="never")),
    _rule("a then b", action("a, b", occurrence="anyStep"), action("b", occurrence="lastStep")),
    _rule("three times a", action("a"), condition("occurrence", behaviorRuleName="a last", minTimesOccurred="3")),
    _rule("down twice", _outcome(minConsecutive="2")),
    _rule("down three times before", _outcome(minConsecutive="3", occurrence="lastStep")),
    _rule("down four times once", _outcome(minConsecutive="4", occurrence="anyStep")),
    _rule("well five times", _outcome(status="succeeded", minConsecutive="5", occurrence="lastStep")),
    _rule("slow ever", _outcome(errorType="timeout", occurrence="anyStep")),
    _rule("broke ever", condition("digestmatcher", taskId="w", contains="broke", occurrence="anyStep")),
    _rule("first thing", condition("dynamicvaluematcher", valuePath="memory.past[0].w.said", equals="a")),
    _rule("not all said", condition("negation", condition("inputmatcher", expressions="empty", occurrence="anyStep"))),
]


def talker(*, only: int | None = None) -> Agent:
    """An agent that asks all of the rules, or only the first so many."""
    asked = [{"executionStrategy": "executeAll", "rules": RULES[:only]}]
    said = output(a=["A one", "A two"], b="B", task_failed_w=["Sorry.", "Sorry again."])
    tasks = [FunctionTask("act", _act), FunctionTask("w", _work)]
    return agent(step("act"), step("w"), rules(*asked), said, tasks=tasks)


def said(memory: Memory) -> list[str]:
    """What was said in all turns of a conversation."""
    return [each.input for each in memory.history.steps]


def note(memory: Memory, text: str) -> None:
    """A turn in which nothing happened, but that something was said."""
    memory.begin_step(Step(input=text))
    memory.end_step()


async def talk(made: Agent, held: Held, text: str) -> Conversation:
    """A turn with the memory that is held, and the conversation that had it."""
    conversation = made.conversation(memory=held.memory)
    await conversation.say(text)
    return conversation
