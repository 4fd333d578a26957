"""The services that `make load` asks: a route that does nothing, and the agent without and with a database.

Run as `python apps.py bare PORT WORKERS`, `in_memory PORT WORKERS` or `stored WHERE PORT WORKERS`.
"""

import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from turnout.app.serve import _bound, opened_agents, serve
from turnout.app.service.logs import log_to_stderr
from turnout.app.service.service import service
from turnout.engine.stores.memory import MemoryStore

HERE = Path(__file__).parent
AGENT = HERE / "listener.turnout"


def bare() -> FastAPI:
    """One route that does nothing."""
    app = FastAPI()

    @app.post("/agents/{conversation}")
    async def nothing(conversation: str) -> dict[str, str]:
        return {}

    return app


def in_memory() -> FastAPI:
    """The service as it is, on the store in memory."""
    log_to_stderr()
    return service(opened_agents([AGENT], []), MemoryStore())


def main(which: str, *places: str, port: int, workers: int) -> None:
    """Serve one of them, with the socket and the options of `turnout serve`."""
    if which == "stored":
        options = {"host": "127.0.0.1", "tokens": None, "grace": 10, "tasks": []}
        serve([AGENT], store=places[0], port=port, workers=workers, **options)  # type: ignore[arg-type]  # as they are
        return
    options = {"log_config": None, "access_log": False, "server_header": False}
    config = uvicorn.Config(f"apps:{which}", factory=True, workers=workers, **options)  # type: ignore[arg-type]  # as they are
    with _bound("127.0.0.1", port) as listening:
        if workers == 1:
            uvicorn.Server(config).run(sockets=[listening])
        else:
            Multiprocess(config, sockets=[listening]).run()


if __name__ == "__main__":
    *what, number, count = sys.argv[1:]
    main(*what, port=int(number), workers=int(count))
