"""`make bench`: what Turnout costs beside what a person would write by hand, timed alternately in one process."""

import asyncio
import gc
import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parent))

from turnout.engine.agents import Agent
from turnout.engine.conversation import Conversation
from turnout.engine.facts import Facts
from turnout.engine.history import History
from turnout.engine.matcher import Matcher
from turnout.engine.memory import Memory
from turnout.engine.steps import Step
from turnout.engine.tasks import FunctionTask
from turnout.rules.agents import AgentDefinition, Policy, RulesSettings, StepDefinition
from turnout.rules.reading import read_output_set, read_rule_set
from work import DictIndex, PlainLoop, plain_turns, rule_document

SEEN = 200
NEW = 2_000
missed = []


def row(name: str, ours: float, theirs: float, limit: float, unit: str = "µs") -> None:
    """Print one line of the table."""
    ratio = ours / theirs
    mark = "" if ratio <= limit else "  MISSED"
    if mark:
        missed.append(name)
    print(f"{name:<52} {ours:9.2f} {theirs:9.2f} {unit} {ratio:7.1f}x  (at most {limit:g}x){mark}")


Job = Callable[[slice], object]


def alternately(jobs: list[Job], count: int, rounds: int, chunk: int = 50) -> list[float]:
    """What each job takes for one of `count` turns, in µs: chunk by chunk, one job after the other, the best counts.

    Chunks are short, so that what else the machine does spoils few of them, and all are gone through in each round, so
    that none is measured on caches that it has just filled itself.
    """
    chunks = [slice(start, start + chunk) for start in range(0, count, chunk)]
    best = [[float("inf")] * len(chunks) for _ in jobs]
    for _ in range(rounds):
        for place, part in enumerate(chunks):
            for job, found in zip(jobs, best, strict=True):
                began = perf_counter()
                job(part)
                found[place] = min(found[place], perf_counter() - began)
    return [sum(found) / count * 1e6 for found in best]


def rules(count: int) -> None:
    """Facts seen before, a conversation's state, and new facts, beside the dict index."""
    document = rule_document(count)
    rule_set = read_rule_set(document).model
    index, matcher, forgetful = DictIndex(document), Matcher(rule_set), Matcher(rule_set, remember=0)
    turns = plain_turns(count, NEW)
    facts = [turn.facts() for turn in turns]
    memories = []
    for turn, each in zip(turns, facts, strict=True):
        memory = Memory()
        memory.history = each.history
        memory.begin_step(each.step)
        memories.append(memory)
        expected = tuple(index.fired(turn.actions, turn.channel, turn.counts))
        assert matcher.decide(each).names == forgetful.decide(each).names == expected

    def by_index(part: slice) -> None:
        for turn in turns[part]:
            index.fired(turn.actions, turn.channel, turn.counts)

    def seen(part: slice) -> None:
        for each in facts[part]:
            _ = matcher.decide(each).names

    def from_state(part: slice) -> None:
        for memory in memories[part]:
            _ = matcher.decide(memory.facts()).names

    def new(part: slice) -> None:
        for each in facts[part]:
            _ = forgetful.decide(each).names

    theirs, hot, state = alternately([by_index, seen, from_state], SEEN, 100)
    row(f"{count:,} rules, facts seen before", hot, theirs, 2)
    row(f"{count:,} rules, from a conversation's state", state, theirs, 3)
    theirs, cold = alternately([by_index, new], NEW, 9)
    row(f"{count:,} rules, new facts", cold, theirs, 15 if count <= 100 else 20)


def history_rules() -> None:
    """300 rules about history, on facts that are new in each turn."""
    rules = []
    for number in range(300):
        now = {"type": "actionmatcher", "configs": {"actions": f"action_{number}"}}
        then: dict[str, Any] = {"type": "actionmatcher", "configs": {"actions": f"action_{number * 7 % 300}"}}
        kind = number % 4
        if kind == 3:
            configs = {"behaviorRuleName": f"rule {number * 7 % 300}", "minTimesOccurred": "2"}
            then = {"type": "occurrence", "configs": configs}
        else:
            then["configs"]["occurrence"] = ("lastStep", "anyStep", "never")[kind]
        rules.append({"name": f"rule {number}", "actions": [f"out_{number}"], "conditions": [now, then]})
    document = {"behaviorGroups": [{"name": "all", "executionStrategy": "executeAll", "rules": rules}]}
    matcher = Matcher(read_rule_set(document).model, remember=0)
    index = DictIndex(rule_document(300))
    turns = plain_turns(300, NEW)
    history = History()

    def by_index(part: slice) -> None:
        for turn in turns[part]:
            index.fired(turn.actions, turn.channel, turn.counts)

    def by_history(part: slice) -> None:
        for turn in turns[part]:
            step = Step(actions=turn.actions)
            step.succeeded = matcher.decide(Facts(step, history)).names
            history.add(step)

    theirs, ours = alternately([by_index, by_history], NEW, 5)
    row("300 rules about history, new facts", ours, theirs, 80)


def loading() -> None:
    """Reading, compiling and first asking 10,000 rules beside `json.loads` of the file."""
    text = json.dumps(rule_document(10_000))
    facts = plain_turns(10_000, 1)[0].facts()

    def plain(_: slice) -> None:
        json.loads(text)

    def ours(_: slice) -> None:
        Matcher(read_rule_set(text).model).decide(facts)

    gc.collect()
    theirs, mine = (microseconds / 1000 for microseconds in alternately([plain, ours], 1, 12))
    row("10,000 rules read, compiled and asked", mine, theirs, 15, "ms")
    for count in (511, 512, 513, 600):
        document = rule_document(count)
        matcher, index = Matcher(read_rule_set(document).model), DictIndex(document)
        for turn in plain_turns(count, 50):
            assert list(matcher.decide(turn.facts()).names) == index.fired(turn.actions, turn.channel, turn.counts)


def weather_agent() -> Agent:
    """Rules, a failing task, output: the rules are re-routed and the fallback is said."""
    failed = {"type": "actionmatcher", "configs": {"actions": "task_failed_weather"}}
    asked = {"type": "inputmatcher", "configs": {"expressions": "weather(*)"}}
    group = {
        "rules": [
            {"name": "weather is down", "actions": ["sorry"], "conditions": [failed]},
            {"name": "weather", "actions": ["ask_weather"], "conditions": [asked]},
            {"name": "anything", "actions": ["listen"]},
        ]
    }
    texts = {"sorry": "Sorry, the weather is not to be had.", "listen": "Yes?"}
    outputs = [
        {"action": action, "outputs": [{"valueAlternatives": [{"type": "text", "text": text}]}]}
        for action, text in texts.items()
    ]

    async def weather(turn: object) -> None:
        raise RuntimeError("the weather service is down")

    definition = AgentDefinition(
        name="bench",
        policy=Policy(enabled=True, continue_on_failure=True),
        steps=(
            StepDefinition(
                task="ai.labs.behavior",
                settings=RulesSettings(rule_set=read_rule_set({"behaviorGroups": [group]}).model),
            ),
            StepDefinition(task="weather"),
            StepDefinition(
                task="ai.labs.output",
                settings=read_output_set({"outputSet": outputs}).model,
            ),
        ),
    )
    return Agent(definition, [FunctionTask("weather", weather)])


def plain_loop() -> PlainLoop:
    """The same by hand."""

    async def rules(loop: PlainLoop, step: dict[str, Any], journal: dict[str, Any]) -> None:
        journal["actions"] = ["listen"]

    async def weather(loop: PlainLoop, step: dict[str, Any], journal: dict[str, Any]) -> None:
        journal["data"]["asked"] = True
        raise RuntimeError("the weather service is down")

    async def output(loop: PlainLoop, step: dict[str, Any], journal: dict[str, Any]) -> None:
        for action in step["actions"]:
            for text in loop.outputs.get(action, ()):
                journal["output"].append({"type": "text", "text": text, "delay": 0})
                journal["data"][f"output:text:{action}"] = text

    return PlainLoop(
        tasks=[("rules", rules), ("weather", weather), ("output", output)],
        rules={"task_failed_weather": [("weather is down", "sorry")]},
        outputs={"sorry": ["Sorry, the weather is not to be had."], "listen": ["Yes?"]},
        listener=lambda event: None,
    )


async def turns(count: int = 50) -> None:
    """A whole turn beside the plain loop; turn 10,000 beside turn 10."""
    agent = weather_agent()

    async def timed(say: Callable[[str], Any]) -> float:
        began = perf_counter()
        for number in range(count):
            await say(f"hello {number}")
        return (perf_counter() - began) / count * 1e6

    best = [float("inf"), float("inf")]
    for _ in range(300):
        conversation = agent.conversation(listeners=[lambda event: None])
        best[0] = min(best[0], await timed(conversation.say))
        best[1] = min(best[1], await timed(plain_loop().say))
    turn = await agent.conversation().say("hello")
    assert turn.texts == ["Yes?", "Sorry, the weather is not to be had."]
    assert (await plain_loop().say("hello"))["output"][1]["text"] == turn.texts[1]
    row("a whole turn: failure, re-routing, fallback", best[0], best[1], 10)

    old = agent.conversation()
    for number in range(10_000):
        await old.say(f"hello {number}")
    young, late = [], []
    for _ in range(60):
        young.append(await _one(agent.conversation()))
        late.append(await _one(old))
    row("turn 10,000 beside turn 10", median(late), median(young), 1.2)


async def _one(conversation: Conversation) -> float:
    for number in range(10):
        await conversation.say(f"warm {number}")
    began = perf_counter()
    for number in range(10):
        await conversation.say(f"again {number}")
    return (perf_counter() - began) / 10 * 1e6


async def memory() -> None:
    """Resident memory over 50,000 turns with fresh inputs, in conversations of 100 turns."""
    agent = weather_agent()
    process = psutil.Process()
    sizes = []
    for number in range(50_000):
        if number % 100 == 0:
            conversation = agent.conversation()
        await conversation.say(f"input {number}")
        if number % 5_000 == 4_999:
            gc.collect()
            sizes.append(process.memory_info().rss / 2**20)
    warm, last = sizes[1], sizes[-1]
    print(f"50,000 turns, fresh inputs: {warm:.1f} MiB after 10,000, {last:.1f} MiB at the end\n")
    if last > warm * 1.02 + 1:
        missed.append("memory over 50,000 turns")


def main() -> None:
    """Print the table; exit 1 where a figure misses its limit."""
    print(f"Python {platform.python_version()}, {platform.machine()}; ours, by hand, the ratio: best of many rounds\n")
    asyncio.run(memory())  # first: in a process that has freed much, growth would not show
    for count in (10, 100, 1_000, 10_000):
        rules(count)
    history_rules()
    loading()
    asyncio.run(turns())
    if missed:
        sys.exit("missed: " + ", ".join(missed))


if __name__ == "__main__":
    main()
