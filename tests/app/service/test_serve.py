"""`turnout serve`, as a process that listens."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from doors import ROOT, WEATHER, refused, turnout
from serving import events

SLOW = """
import asyncio
from turnout.engine.tasks import task

@task("slow")
async def slow(turn):
    if turn.input:
        open("entered", "w").close()
        await asyncio.sleep(600)
"""
AGENT = 'steps\n  slow, output\n\noutput CONVERSATION_START\n  say "Hello!"\n'


class Served:
    """A service that runs; `lines` are those of its standard error so far."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines = [self.line() for _ in range(3)]
        found = re.search(r"http://\S+", self.lines[0])
        assert found, self.lines
        self.address = found[0]
        self.client = httpx2.Client(base_url=self.address, timeout=60)

    def line(self) -> str:
        """The next line of standard error."""
        assert self.process.stderr is not None
        return self.process.stderr.readline()

    def end(self, sent: int = signal.SIGTERM) -> int:
        """Ask the service to end, and wait for that."""
        self.process.send_signal(sent)
        return self.process.wait(60)


@contextmanager
def served(folder: Path, *arguments: object) -> Iterator[Served]:
    command = [sys.executable, "-c", "import sys; from turnout.app.command import main; sys.exit(main())"]
    process = subprocess.Popen(
        [*command, "serve", *map(str, arguments), "--port", "0"], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    try:
        service = Served(process)
        yield service
        service.client.close()
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def shell_blocks() -> list[str]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```sh\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_requests_of_the_readme_are_answered_as_it_says(tmp_path: Path) -> None:
    [block] = [block for block in shell_blocks() if "curl" in block]
    with served(tmp_path, WEATHER) as service:
        script = block.replace("localhost:8000", service.address.removeprefix("http://"))
        ran = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, timeout=60, check=True)
    plain, at, stream = ran.stdout.partition("event: ")
    assert json.loads(plain)["conversationOutputs"][0]["output"][0]["text"].startswith("I can't reach the weather")
    assert json.loads(events(at + stream)[-1][1])["conversationState"] == "READY"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_file_of_tokens_of_the_readme_lets_its_token_in(tmp_path: Path) -> None:
    [block] = [block for block in shell_blocks() if "openssl" in block]
    shown = subprocess.run(
        ["sh", "-euc", f"{block}\nprintf %s $token"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    with served(tmp_path, WEATHER, "--tokens", "tokens.json") as service:
        assert service.client.get("/metrics").status_code == 401
        known = service.client.get("/metrics", headers={"Authorization": f"Bearer {shown.stdout}"})
    assert known.status_code == 200


def test_it_says_where_it_is_how_to_open_the_page_and_where_conversations_are(tmp_path: Path) -> None:
    greeting = tmp_path / "greeting.turnout"
    greeting.write_text(AGENT.replace("slow, ", ""), encoding="utf-8")
    with served(tmp_path, WEATHER, greeting) as service:
        page = service.client.get("/")
        assert [agent["id"] for agent in service.client.get("/api/agents").json()] == ["weather", "greeting"]
    assert service.lines == [
        f"serving weather, greeting at {service.address}\n",
        f"open {service.address}/ in a browser to talk and to see why\n",
        "conversations are kept in turnout.db\n",
    ]
    assert page.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_turn_that_outlives_the_service_is_kept_as_interrupted(sent: int, tmp_path: Path) -> None:
    agent, tasks = tmp_path / "slow.turnout", tmp_path / "slow.py"
    agent.write_text(AGENT, encoding="utf-8")
    tasks.write_text(SLOW, encoding="utf-8")
    arguments = (agent, "--tasks", tasks, "--grace", "0")
    with served(tmp_path, *arguments) as service:
        talk = service.client.post("/agents/slow/start").json()["conversationId"]
        with service.client.stream("POST", f"/agents/{talk}/stream", json={"input": "hi"}) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: task_start"
            service.process.send_signal(sent)
            with suppress(httpx2.RemoteProtocolError):
                assert "event: done" not in list(lines)
        service.process.wait(60)
    with served(tmp_path, *arguments) as service:
        turns = service.client.get(f"/api/conversations/{talk}/turns").json()
    assert [turn["state"] for turn in turns] == ["READY", "EXECUTION_INTERRUPTED"]


def test_conversations_outlive_the_service(tmp_path: Path) -> None:
    with served(tmp_path, WEATHER) as service:
        talk = service.client.post("/agents/weather/start").json()["conversationId"]
        before = service.client.get(f"/agents/{talk}").json()
        service.end()
    with served(tmp_path, WEATHER) as service:
        assert service.client.get(f"/agents/{talk}").json() == before


def test_a_turn_is_logged_as_a_line_of_json_without_what_was_said(tmp_path: Path) -> None:
    with served(tmp_path, WEATHER) as service:
        service.line()
        talk = service.client.post("/agents/weather/start").json()["conversationId"]
        service.client.post(f"/agents/{talk}", json={"input": "What's the weather in Vienna?"})
        lines = [service.line(), service.line()]
    told = json.loads(lines[1])
    assert {key: told[key] for key in ("event", "conversation", "agent", "turn", "state", "failed")} == {
        "event": "turn",
        "conversation": talk,
        "agent": "weather",
        "turn": 1,
        "state": "READY",
        "failed": ["ai.labs.httpcalls"],
    }
    assert told["durationMs"] > 0
    assert "Vienna" not in "".join(lines)


def test_several_workers_serve_the_same_conversations_and_count_together(tmp_path: Path) -> None:
    with served(tmp_path, WEATHER, "--workers", "2") as service:
        talk = service.client.post("/agents/weather/start").json()["conversationId"]
        for _ in range(8):  # each on a connection of its own, so that both workers have some
            answer = httpx2.post(f"{service.address}/agents/{talk}", json={"input": "hi"}, timeout=60)
            assert answer.status_code == 200
        turns = service.client.get(f"/api/conversations/{talk}/turns").json()
        metrics = service.client.get("/metrics").text
        assert service.end() == 0
    assert len(turns) == 9
    assert 'turnout_turns_total{agent="weather",state="READY"} 9.0' in metrics


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "without tokens, whoever reaches `0.0.0.0` could read and write all conversations"),
        (["--host", "example.invalid"], "add `--tokens FILE`"),
        (["--tokens", "nothing.json"], "nothing.json"),
        (["--store", "no/folder/turnout.db"], "there is no folder"),
        (["--workers", "0"], "`--workers`"),
        (["--port", "99999"], "`--port`"),
        (["wether"], "wether"),
        ([WEATHER], "two agents are called `weather`"),
    ],
)
def test_what_cannot_be_served_is_told_in_plain_words(
    arguments: list[object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = turnout("serve", WEATHER, *arguments)
    assert refused(ended)
    assert said in ended.err


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with served(tmp_path, WEATHER) as service:
        ended = turnout(
            "serve", WEATHER, "--store", tmp_path / "other.db", "--port", service.address.rpartition(":")[2]
        )
    assert refused(ended)
    assert "address already in use" in ended.err
