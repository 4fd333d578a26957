"""The tasks of the agent that is talked with: one counts, and two mark where a turn begins and ends.

The marks of all processes go to the end of one file, so that their order is the order in which they happened.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

from turnout.engine.stores.sql import SqlStore
from turnout.engine.tasks import task

MARKS = "TURNOUT_TEST_MARKS"

if os.environ.get("TURNOUT_TEST_HURRY"):
    # Lives are short in these tests: the dead must be taken for dead sooner than in five seconds.
    SqlStore.__init__.__kwdefaults__ |= {"beat": 0.1, "dead_after": 0.5}


@task("begin")
async def begin(turn: Any) -> None:
    mark("begin", turn)
    await asyncio.sleep(0.002)  # long enough for another turn to come between, were it let in


@task("count")
def count(turn: Any) -> None:
    """Say how many turns there were, and what was said before: one that is lost or doubled shows in all later ones."""
    if turn.input:
        number = turn.properties.get("turns", 0) + 1
        turn.say(f"{turn.input}, after {turn.properties.get('said', 'nothing')}, is number {number}.")
        turn.set_property("turns", number)
        turn.set_property("said", turn.input)
        turn.add_actions("spoken")


@task("end")
async def end(turn: Any) -> None:
    mark("end", turn)


def mark(which: str, turn: Any) -> None:
    place = os.environ.get(MARKS)
    if place and turn.input:
        with Path(place).open("ab", buffering=0) as file:
            file.write(f"{which} {turn.input} {os.getpid()}\n".encode())
