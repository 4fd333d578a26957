"""A worker that says one thing after another until it is killed, and tells what it was promised to be stored.

Run as `python killed.py WHERE ID`; each line of its output is the key of a turn whose `save` has come back.
"""

import asyncio
import sys

from talking import note
from turnout.engine.stores import open_store


async def main(where: str, id: str) -> None:
    store = open_store(where)
    while True:
        async with store.hold(id) as held:
            number = len(held.memory.history.steps)
            note(held.memory, f"{number} " + "x" * 20_000)
            held.memory.properties = {"turns": number + 1}
            await held.save(str(number), number)
        print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
