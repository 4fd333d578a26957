"""The service as a process that can be killed, and clients that repeat a request until it is answered."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psutil

HERE = Path(__file__).parent
TURNS = 30
"""How many turns a conversation gets; the agent's outputs count as far."""
OFTEN = 5


def write_agent(folder: Path) -> Path:
    """An agent whose texts show each turn that was lost or doubled: its task, its rules and its outputs all count."""
    text = f"""
steps begin, count, rules, output, end

group "Counted" all matches

rule "Spoken"
  when action spoken
  then counted

rule "Often"
  when action spoken
   and rule "Spoken" fired at least {OFTEN} times
  then often

output often
  say "Often."
"""
    for number in range(1, TURNS + 2):
        ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 != 1 else 0, "th")
        text += f'\noutput counted from the {number}{ending} time\n  say "Turn {number}."\n'
    path = folder / "counter.turnout"
    path.write_text(text, encoding="utf-8")
    return path


def expected(inputs: list[str]) -> list[list[str]]:
    """What the agent says, turn by turn."""
    before = ["nothing", *inputs]
    return [
        [f"{said}, after {before[number - 1]}, is number {number}.", f"Turn {number}."]
        + (["Often."] if number > OFTEN else [])
        for number, said in enumerate(inputs, 1)
    ]


class Service:
    """A service on a store; it is started, killed and started again."""

    def __init__(self, folder: Path, store: str, marks: Path | None = None) -> None:
        self.address = ""
        self._log = folder / "log"
        command = "import sys; from turnout.app.command import main; sys.exit(main())"
        self._command = [sys.executable, "-c", command, "serve", str(write_agent(folder)), "--store", store]
        self._command += ["--tasks", str(HERE / "tasks.py"), "--port", "0"]
        self._environment = os.environ | ({"TURNOUT_TEST_MARKS": str(marks)} if marks else {"TURNOUT_TEST_HURRY": "1"})
        self._process: subprocess.Popen[bytes] | None = None
        self._up = asyncio.Event()

    async def start(self, workers: int) -> None:
        """Start it; it is up when it says where it listens, though its workers may not have come up."""
        self._process = self._begin(workers)
        while not (found := re.search(rb"at (http://\S+)\n", self._log.read_bytes())):
            assert self._process.poll() is None, self._log.read_text()
            await asyncio.sleep(0.02)
        self.address = found[1].decode()
        self._up.set()

    def _begin(self, workers: int) -> "subprocess.Popen[bytes]":
        command = [*self._command, "--workers", str(workers)]
        with self._log.open("wb") as log:
            return subprocess.Popen(command, stderr=log, env=self._environment, start_new_session=True)

    async def up(self) -> None:
        """Wait until it is up, and a moment."""
        await asyncio.sleep(0.05)
        await self._up.wait()

    def kill(self) -> None:
        """Kill the whole service at once."""
        self._up.clear()
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def kill_worker(self) -> None:
        """Kill one of its workers."""
        assert self._process is not None
        for child in psutil.Process(self._process.pid).children():
            if "spawn_main" in " ".join(child.cmdline()):
                child.kill()
                return

    def end(self) -> int:
        """Ask it to end; what it returns."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(60)

    def gone(self) -> None:
        """See to it that nothing of it is left."""
        if self._process is not None and self._process.poll() is None:
            self.kill()


@contextmanager
def services(folder: Path, store: str, count: int, marks: Path | None = None) -> Iterator[list[Service]]:
    """Services on one store."""
    made = []
    for number in range(count):
        (folder / f"service{number}").mkdir()
        made.append(Service(folder / f"service{number}", store, marks))
    try:
        yield made
    finally:
        for one in made:
            one.gone()


@dataclass(slots=True, kw_only=True)
class Talk:
    """A conversation as its clients know it: by what was said, what was answered."""

    id: str
    answers: dict[str, Any] = field(default_factory=dict)


class Clients:
    """Clients of services. A request has an idempotency key, and is repeated until it is answered."""

    def __init__(self, among: list[Service], http: httpx2.AsyncClient) -> None:
        self._services = among
        self._http = http
        self._asked = 0
        self.talks: list[Talk] = []
        self.stopping = False
        self.refused: Counter[str] = Counter()
        self.cut = 0
        self._answers = 0
        self._heard = asyncio.Event()

    async def ask(self, path: str, key: str, data: dict[str, Any]) -> Any:
        """The answer to a request; the services take turns."""
        while True:
            service = self._services[self._asked % len(self._services)]
            self._asked += 1
            try:
                answer = await self._http.post(service.address + path, json=data, headers={"Idempotency-Key": key})
            except httpx2.TransportError:
                self.cut += 1
                await service.up()
                continue
            if answer.is_success:
                self._answers += 1
                self._heard.set()
                return answer.json()
            self.refused[f"{answer.status_code} {answer.json()['code']}"] += 1

    async def answered(self, number: int) -> None:
        """Wait until so many more requests were answered, but not for long: a life may be one of waiting."""
        target = self._answers + number
        with suppress(TimeoutError):
            async with asyncio.timeout(10):
                while self._answers < target:
                    self._heard.clear()
                    await self._heard.wait()

    async def talk(self, name: str, clients: int, turns: int) -> None:
        """A conversation in which several clients say something at once, one thing after the other each."""
        started = await self.ask("/agents/counter/start", name, {})
        talk = Talk(id=started["conversationId"])
        self.talks.append(talk)

        async def client(number: int) -> None:
            for turn in range(turns):
                if self.stopping:
                    return
                said = f"{name}-{number}-{turn}"
                once = self.say(talk, said)
                # Now and then a client sends a request again before the first is answered.
                both = [once, self.say(talk, said)] if turn % 3 == 2 else [once]
                first, *others = await asyncio.gather(*both)
                assert all(other == first for other in others)
                talk.answers[said] = first

        await asyncio.gather(*(client(number) for number in range(clients)))

    async def say(self, talk: Talk, said: str) -> Any:
        """The answer to what was said; what was said is the key."""
        return await self.ask(f"/agents/{talk.id}", said, {"input": said})

    async def talk_on(self, name: str, clients: int) -> None:
        """One conversation after the other, until told to stop."""
        number = 0
        while not self.stopping:
            await self.talk(f"{name}.{number}", clients, TURNS // clients)
            number += 1

    async def turns(self, talk: Talk) -> list[dict[str, Any]]:
        """The turns of a conversation as a service tells them, without the opening one."""
        answer = await self._http.get(f"{self._services[0].address}/api/conversations/{talk.id}/turns")
        assert answer.status_code == 200, answer.text
        opening, *turns = answer.json()
        assert opening["input"] == ""
        return turns
