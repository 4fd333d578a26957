"""`turnout run`: an agent, a few things said to it, and the turns that come of them."""

import asyncio
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..engine.conversation import Conversation
from ..engine.events import OperatorNote
from ..engine.turns import Turn
from ..rules.errors import LoadError, UsageError
from ..rules.outputs import OutputSet
from ..rules.parsing import parse_json
from .agents import open_agent
from .printing import print_json, print_problems, printer
from .reasons import missed_data
from .streams import reserved
from .task_files import tasks_from_files
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
    with reserved():  # tasks may print
        return _run(script, context)


def _run(script: Script, context: Mapping[str, object]) -> int:
    agent = open_agent(script.agent, tasks_from_files(script.tasks))
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
    outputs = [step.settings for step in agent.definition.steps if isinstance(step.settings, OutputSet)]
    spoken = {output.action for one in outputs for output in one.output_set}
    return asyncio.run(_talk(conversation, script, context, notes, name=name, spoken=spoken))


async def _talk(
    conversation: Conversation,
    script: Script,
    context: Mapping[str, object],
    notes: list[OperatorNote],
    *,
    name: str,
    spoken: Collection[str],
) -> int:
    code = 0
    for said in [*([None] if script.start else []), *script.says]:
        try:
            turn = await (conversation.start(context) if said is None else conversation.say(said, context))
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise  # it is the process that is asked to end, not a task that gave up
            printer(talk=True).print(f"the turn was interrupted: {type(error).__name__}", soft_wrap=True)
            return 1
        if script.as_json:
            print_json(turn_data(turn, why=script.why))
        else:
            print_turn(turn, name, notes, why=script.why, spoken=spoken)
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
        data["why"] = [missed_data(miss) for miss in turn.misses]
    return data


def _context(pair: str) -> tuple[str, object]:
    """Key and value of `KEY=VALUE`. Objects, lists, `true` and `false` are JSON, all else is a text."""
    key, found, text = pair.partition("=")
    if not found or not key:
        raise UsageError(f"`{pair}` is no context", "write `KEY=VALUE`")
    if text[:1] not in ("{", "[") and text not in ("true", "false"):
        return key, text
    try:
        return key, parse_json(text)
    except LoadError as error:
        problem = error.problems[0]
        message = f"context `{key}` begins as JSON and is none: {problem.message}"
        raise UsageError(message, problem.hint) from error
