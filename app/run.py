"""`turnout run`: an agent, a few things said to it, and the turns that come of them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..engine.conversation import Conversation
from ..engine.events import OperatorNote
from ..engine.turns import Turn
from ..rules.errors import UsageError
from .printing import print_json, printer
from .reasons import missed_data
from .streams import reserved
from .talks import failing, prepared
from .transcript import print_turn


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
    with reserved():  # tasks may print
        talk = prepared(agent, context=context, seed=seed, fails=fails, tasks=tasks)
        name, spoken = talk.name, talk.spoken
        notes: list[OperatorNote] = []

        def show(turn: Turn) -> None:
            if as_json:
                print_json(turn_data(turn, why=why))
            else:
                print_turn(turn, name, notes, why=why, spoken=spoken)
            notes.clear()

        conversation = failing(talk.agent, talk.faults).conversation(chance=talk.chance, operators=[notes.append])
        return asyncio.run(_talk(conversation, [*([None] if start else []), *says], talk.context, show))


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
