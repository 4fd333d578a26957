"""`make load`: how many turns a second the service does beside a route that does nothing, and what they take.

All services run at once, and are asked one after the other, round by round, so that what else the machine does meets
them alike. The requests come from this process, over connections that each wait for an answer before they ask again.
"""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "engine/stores"))

import postgres
from places import new_database

HERE = Path(__file__).parent
CONNECTIONS = 16
ROUNDS, SECONDS = 5, 2.0
TURNS = 100
"""How many turns a conversation gets."""
MANY = 100_000
missed: list[str] = []


class Connection:
    """A connection to a service, and the conversation that is had over it."""

    def __init__(self, address: str, *, bare: bool) -> None:
        self._host, port = address.removeprefix("http://").split(":")
        self._port = int(port)
        self._bare = bare
        self._turns = TURNS
        self._path = "/agents/any"

    async def open(self) -> None:
        """Connect."""
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)

    async def say(self, text: str) -> float:
        """Say something; how many seconds the answer took."""
        if self._turns == TURNS and not self._bare:
            answer = await self._post("/agents/listener/start", b"{}")
            self._path = "/agents/" + answer.split(b'"')[3].decode()
            self._turns = 0
        self._turns += 1
        began = perf_counter()
        await self._post(self._path, b'{"input":"%s"}' % text.encode())
        return perf_counter() - began

    async def _post(self, path: str, body: bytes) -> bytes:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        headers = await self._reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", headers, re.IGNORECASE)
        assert found, headers
        answer = await self._reader.readexactly(int(found[1]))
        assert headers.startswith(b"HTTP/1.1 20"), headers + answer
        return answer

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


@dataclass(slots=True, kw_only=True)
class Measured:
    """What is measured of one service: turns a second by round, the seconds that each took, and its processors'."""

    name: str
    workers: int
    address: str
    process: psutil.Process
    rates: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    busy: float = 0.0

    async def load(self, seconds: float, *, keep: bool = True) -> None:
        """Ask over all connections for some time."""
        connections = [Connection(self.address, bare=self.name == "bare route") for _ in range(CONNECTIONS)]
        for each in connections:
            await each.open()
            await each.say("hello")  # one after the other, so that all workers get some of them
        began, busy = perf_counter(), self._busy()
        latencies: list[float] = []

        async def ask(connection: Connection) -> None:
            while perf_counter() - began < seconds:
                latencies.append(await connection.say(f"turn {len(latencies)}"))

        await asyncio.gather(*(ask(each) for each in connections))
        if keep:
            self.rates.append(len(latencies) / (perf_counter() - began))
            self.latencies += latencies
            self.busy += self._busy() - busy
        for each in connections:
            each.close()

    def _busy(self) -> float:
        """How many seconds its processes have computed."""
        every = (self.process, *self.process.children(recursive=True))
        return sum(times.user + times.system for times in (each.cpu_times() for each in every))


@contextmanager
def process(*command: str, port: int, workers: int) -> Iterator[psutil.Process]:
    """A service that listens."""
    whole = [sys.executable, str(HERE / "apps.py"), *command, str(port), str(workers)]
    made = psutil.Popen(whole, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        while True:
            assert made.poll() is None, f"it ended: {command}"
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
                connection.sendall(b"GET /openapi.json HTTP/1.0\r\n\r\n")
                if connection.recv(1):
                    break
        yield made
    finally:
        with suppress(ProcessLookupError):
            os.killpg(made.pid, signal.SIGKILL)
        made.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def throughput(stores: dict[str, list[str]]) -> None:
    """Turns a second and their times, service beside service; each store is one for each number of workers."""
    kinds: dict[str, list[list[str]]] = {"bare route": [["bare"]] * 2, "memory": [["in_memory"]]}
    kinds |= {name: [["stored", place] for place in places] for name, places in stores.items()}
    with ExitStack() as running:
        measured = []
        for name, commands in kinds.items():
            for workers, command in enumerate(commands, 1):
                port = free_port()
                made = running.enter_context(process(*command, port=port, workers=workers))
                measured.append(Measured(name=name, workers=workers, address=f"http://127.0.0.1:{port}", process=made))
        for each in measured:
            await each.load(SECONDS, keep=False)
        for _ in range(ROUNDS):
            for each in measured:
                await each.load(SECONDS)
    bare = {each.workers: each for each in measured if each.name == "bare route"}
    print(f"{'':<12} workers   turns/s   beside bare   p50 ms   p99 ms   processor ms a turn")
    for each in measured:
        ratio = median(theirs / mine for mine, theirs in zip(each.rates, bare[each.workers].rates, strict=True))
        cuts = quantiles(each.latencies, n=100)
        print(
            f"{each.name:<12} {each.workers:7} {median(each.rates):9.0f} {ratio:12.1f}x"
            f" {cuts[49] * 1000:8.1f} {cuts[98] * 1000:8.1f} {each.busy / len(each.latencies) * 1000:12.2f}"
        )


async def memory(folder: Path) -> None:
    """Resident memory of one worker on SQLite, in conversations of 100 turns, each with a fresh input."""
    port = free_port()
    with process("stored", str(folder / "many.db"), port=port, workers=1) as service:
        connections = [Connection(f"http://127.0.0.1:{port}", bare=False) for _ in range(CONNECTIONS)]
        for each in connections:
            await each.open()
        sizes = []
        for part in range(10):

            async def ask(connection: Connection, part: int = part) -> None:
                for number in range(MANY // 10 // CONNECTIONS):
                    await connection.say(f"input {part} {number} {id(connection)}")

            await asyncio.gather(*(ask(each) for each in connections))
            sizes.append(service.memory_info().rss / 2**20)
            print(f"{(part + 1) * MANY // 10:>9,} turns over HTTP: {sizes[-1]:6.1f} MiB", flush=True)
    warm, last = sizes[3], sizes[-1]  # by then as many conversations are cached as ever will be
    if last > warm * 1.02 + 1:
        missed.append("memory grows from the fourth size to the last")


def main() -> None:
    """Print the table; exit 1 where memory grows."""
    print(f"{CONNECTIONS} connections; the median of {ROUNDS} rounds of {SECONDS:g} s each\n")
    with tempfile.TemporaryDirectory(prefix="turnout-load-") as name, ExitStack() as running:
        reason = postgres.reason_to_skip()
        if reason:
            print(f"without PostgreSQL: {reason}")
        stores = {"SQLite": [f"{name}/1.db", f"{name}/2.db"]}
        if not reason:
            server = running.enter_context(postgres.server())
            stores["PostgreSQL"] = [new_database(server), new_database(server)]
        asyncio.run(throughput(stores))
    # What the disk takes is told above: where files can be in memory, so many turns need not wait for it.
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="turnout-load-", dir=place) as name:
        asyncio.run(memory(Path(name)))
    if missed:
        sys.exit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
