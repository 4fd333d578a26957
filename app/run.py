"""`turnout run`: an agent, a few things said to it, and the turns that come of them."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
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


def run(
    agent: Path,
    says: Sequence[str],
    *,
    start: bool = False,
    context: Sequence[str] = (),
    seed: int | None = None,
    why: bool = False,
    fails: Sequence[str] = (),
    tasks: Sequence[Path] = (),
    as_json: bool = False,
) -> int:
    """Say something to the agent in a folder and print its turns as they end; 1 if one ended in `ERROR`, else 0.

    `context` holds `KEY=VALUE`, `fails` `TASK` or `TASK=MESSAGE`. Raises `LoadError` and `UsageError` for what cannot
    be run, `ClosedError` where there is more to say after the conversation's end.
    """
    if not says and not start:
        raise UsageError("nothing is said", 'add `--say "…"`, or `--start` for the opening turn')
    told = dict(_context(pair) for pair in context)
    with reserved():  # tasks may print
        opened = open_agent(agent, tasks_from_files(tasks))
        for fail in fails:
            task, _, message = fail.partition("=")
            opened = opened.failing(task, message) if message else opened.failing(task)
        definition = opened.definition
        print_problems(note for note in definition.notes if note.severity == "warning")
        name = definition.name if 0 < len(definition.name) <= _LONGEST_NAME else "agent"
        outputs = [step.settings for step in definition.steps if isinstance(step.settings, OutputSet)]
        spoken = {output.action for one in outputs for output in one.output_set}
        notes: list[OperatorNote] = []

        def show(turn: Turn) -> None:
            if as_json:
                print_json(turn_data(turn, why=why))
            else:
                print_turn(turn, name, notes, why=why, spoken=spoken)
            notes.clear()

        chance = random.Random(seed) if seed is not None else None
        conversation = opened.conversation(chance=chance, operators=[notes.append])
        return asyncio.run(_talk(conversation, [*([None] if start else []), *says], told, show))


async def _talk(
    conversation: Conversation, says: Sequence[str | None], context: Mapping[str, object], show: Callable[[Turn], None]
) -> int:
    """Say it all, None being the opening turn."""
    code = 0
    for said in says:
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
        show(turn)
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
