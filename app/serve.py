"""`turnout serve`: agents behind HTTP, in one process or several on one port and one store."""

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.agents import Agent
from ..engine.stores import open_store
from ..rules.bundles import is_folder
from ..rules.errors import UsageError, cause
from .agents import open_agent
from .printing import plain, print_problems
from .task_files import tasks_from_files

if TYPE_CHECKING:
    from fastapi import FastAPI

    from .service.access import Settings

HANDED_OVER = "TURNOUT_SERVE"
"""The variable in which a worker finds what to serve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to serve, in texts, so that it can be handed to another process."""

    agents: Sequence[str]
    tasks: Sequence[str]
    store: str
    tokens: str = ""
    grace: int = 10
    """How many seconds requests, and then turns that nobody waits for, have to end at a shutdown."""


def serve(
    agents: Sequence[Path],
    *,
    host: str,
    port: int,
    store: str,
    tokens: Path | None,
    workers: int,
    grace: int,
    tasks: Sequence[Path],
) -> int:
    """Serve agents until the process is asked to end; 0. Raises `LoadError` and `UsageError` for what cannot be."""
    try:
        import uvicorn  # noqa: PLC0415 - an extra
        from uvicorn.supervisors import Multiprocess  # noqa: PLC0415 - an extra

        from .service.access import is_loopback  # noqa: PLC0415 - needs the extra
        from .service.logs import log_to_stderr  # noqa: PLC0415 - needs the extra
        from .service.metrics import SHARED  # noqa: PLC0415 - needs the extra
    except ImportError as error:
        hint = 'install it with `pip install "turnout[serve]"`'
        raise UsageError(f"a service needs {error.name}, which is not installed", hint) from error
    if tokens is None and not is_loopback(host):
        raise UsageError(
            f"without tokens, whoever reaches `{host}` could read and write all conversations",
            "add `--tokens FILE`, or listen on 127.0.0.1",
        )
    order = Order(
        agents=[str(path) for path in agents],
        tasks=[str(path) for path in tasks],
        store=store,
        tokens="" if tokens is None else str(tokens),
        grace=grace,
    )
    settings, opened = _read(order)  # by this process, too: what is wrong is said once
    for agent in opened.values():
        print_problems(note for note in agent.definition.notes if note.severity == "warning")
    with _bound(host, port) as listening:
        keeper = open_store(store)
        _tell(host, listening.getsockname()[1], store, opened, open_to_all=tokens is None)
        log_to_stderr()
        options = {"log_config": None, "access_log": False, "server_header": False, "timeout_graceful_shutdown": grace}
        if workers == 1:
            from .service.service import service  # noqa: PLC0415 - needs the extra

            config = uvicorn.Config(service(opened, keeper, settings), **options)  # type: ignore[arg-type]  # its own
            with suppress(KeyboardInterrupt):  # which it raises once more when it has ended well
                uvicorn.Server(config).run(sockets=[listening])
            return 0
        asyncio.run(keeper.close())  # the workers open it, each for itself
        os.environ[HANDED_OVER] = json.dumps(asdict(order))
        with tempfile.TemporaryDirectory(prefix="turnout-metrics-") as folder:
            os.environ[SHARED] = folder
            shared = uvicorn.Config("turnout.app.serve:worker", factory=True, workers=workers, **options)  # type: ignore[arg-type]  # its own
            Multiprocess(shared, sockets=[listening]).run()
    return 0


def worker() -> "FastAPI":
    """The application of one of several workers."""
    from .service.logs import log_to_stderr  # noqa: PLC0415 - needs the extra
    from .service.service import service  # noqa: PLC0415 - needs the extra

    log_to_stderr()
    order = Order(**json.loads(os.environ[HANDED_OVER]))
    settings, opened = _read(order)
    return service(opened, open_store(order.store), settings)


def opened_agents(paths: Sequence[Path], tasks: Sequence[Path]) -> Mapping[str, Agent]:
    """The agents at some paths, by the names of their folders or files. Raises `LoadError` and `UsageError`."""
    brought = tasks_from_files(tasks)
    agents: dict[str, Agent] = {}
    for path in paths:
        whole = Path(os.path.realpath(path))
        name = whole.name if is_folder(whole) else whole.stem
        if not name:
            raise UsageError(f"`{path.as_posix()}` has no name to be addressed by", "name the agent's folder")
        if name in agents:
            raise UsageError(f"two agents are called `{name}`", "rename a folder or file: its name is the address")
        agents[name] = open_agent(path, brought)
    return agents


def _read(order: Order) -> "tuple[Settings, Mapping[str, Agent]]":
    from .service.access import Settings, read_tokens  # noqa: PLC0415 - needs the extra

    tokens = read_tokens(Path(order.tokens)) if order.tokens else None
    agents = opened_agents([Path(path) for path in order.agents], [Path(path) for path in order.tasks])
    return Settings(tokens=tokens, grace=order.grace), agents


def _bound(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        bound = socket.create_server(address[:2], family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        said = cause(error) if isinstance(error, OSError) else "it is no host"
        raise UsageError(f"nothing can listen on `{host}`, port {port}: {said}", "use another port or host") from error
    bound.set_inheritable(True)
    # Connections inherit it. Without it the body of an answer waits 40 ms for the client to confirm its headers.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


def _tell(host: str, port: int, store: str, agents: Mapping[str, Agent], *, open_to_all: bool) -> None:
    """Say on standard error where the service is, and who may use it."""
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    kept = store
    if "://" in store:  # without a password
        scheme, _, rest = store.partition("://")
        kept = f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
    lines = [
        f"serving {', '.join(agents)} at {address}",
        f"open {address}/ in a browser to talk and to see why",
        f"conversations are kept in {kept}",
    ]
    if open_to_all:
        lines.append("without --tokens, whoever works on this machine may read them all")
    sys.stderr.write("".join(f"{plain(line)}\n" for line in lines))
    sys.stderr.flush()
