"""`turnout run`: an agent, a few things said to it, and the turns that come of them."""

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..engine.conversation import Conversation
from ..engine.events import OperatorNote
from ..engine.turns import Turn
from ..rules.errors import UsageError
from .agents import open_agent, tasks_from_file
from .printing import print_json, print_problems
from .reasons import missed, missed_data
from .transcript import print_turn

_LONGEST_NAME = 16
"""Of an agent, to stand before what it says: an id of 24 digits says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What is to be run: the agent's folder, what is said to it, and how.

    `context` holds `KEY=VALUE`, `fails` `TASK` or `TASK=MESSAGE`.
    """

    agent: Path
    says: Sequence[str]
    start: bool = False
    context: Sequence[str] = ()
    seed: int | None = None
    why: bool = False
    fails: Sequence[str] = ()
    tasks: Sequence[Path] = ()
    as_json: bool = False


def run(script: Script) -> int:
    """Run the script and print its turns as they end; 1 if one of them ended in `ERROR`, else 0.

    Raises `LoadError` and `UsageError` for what cannot be run, `ClosedError` where there is more to say after
    the conversation's end.
    """
    if not script.says and not script.start:
        raise UsageError("nothing is said", 'add `--say "…"`, or `--start` for the opening turn')
    context = dict(_context(pair) for pair in script.context)
    agent = open_agent(script.agent, [task for file in script.tasks for task in tasks_from_file(file)])
    for fail in script.fails:
        task, _, message = fail.partition("=")
        agent = agent.failing(task, message) if message else agent.failing(task)
    print_problems(note for note in agent.definition.notes if note.severity == "warning")
    notes: list[OperatorNote] = []
    chance = random.Random(script.seed) if script.seed is not None else None
    conversation = agent.conversation(chance=chance, operators=[notes.append])
    name = agent.definition.name
    if not 0 < len(name) <= _LONGEST_NAME:
        name = "agent"
    return asyncio.run(_talk(conversation, script, context, notes, name))


async def _talk(
    conversation: Conversation,
    script: Script,
    context: Mapping[str, object],
    notes: list[OperatorNote],
    name: str,
) -> int:
    code = 0
    for said in [*([None] if script.start else []), *script.says]:
        turn = await (conversation.start(context) if said is None else conversation.say(said, context))
        if script.as_json:
            print_json(turn_data(turn, why=script.why))
        else:
            print_turn(turn, name, notes, why=script.why)
        notes.clear()
        if turn.state == "ERROR":
            code = 1
    return code


def turn_data(turn: Turn, *, why: bool = False) -> Mapping[str, object]:
    """A turn as `run --json` prints it; with `why`, also what kept the rules from firing that did not."""
    data: dict[str, object] = {
        "input": turn.input,
        "state": turn.state,
        "actions": turn.actions,
        "output": turn.output,
        "quickReplies": turn.quick_replies,
        "taskErrors": turn.errors,
        "outcomes": [
            {
                "task": outcome.task,
                "status": outcome.status,
                "errorType": outcome.error_type,
                "reason": outcome.reason,
                "durationMs": round(outcome.duration_ms, 3),
            }
            for outcome in turn.outcomes
        ],
        "rules": {"fired": turn.fired, "failed": turn.failed, "rerouted": turn.rerouted},
        "modelView": [{"role": message.role, "text": message.text} for message in turn.model_view],
    }
    if why:
        fired = set(turn.fired)
        data["why"] = [missed_data(finding) for finding in missed(turn.explanations) if finding.rule.name not in fired]
    return data


def _context(pair: str) -> tuple[str, object]:
    """Key and value of `KEY=VALUE`. Objects, lists, `true` and `false` are JSON, all else is a text."""
    key, found, text = pair.partition("=")
    if not found or not key:
        raise UsageError(f"`{pair}` is no context", "write `KEY=VALUE`")
    if text[:1] in ("{", "[") or text in ("true", "false"):
        try:
            return key, json.loads(text)
        except (ValueError, RecursionError):
            return key, text
    return key, text
