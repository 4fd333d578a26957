"""The service as an ASGI application: its routes, the page, and how it starts and ends."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import FileResponse, Response

from ...engine.agents import Agent
from ...engine.stores import Store
from ...rules.errors import UnknownConversationError
from . import conversations, inspection
from .access import Settings
from .faults import Refusal, add_handlers
from .guard import Guard
from .metrics import Metrics
from .shapes import Shape, json_response
from .turns import Turns
from .wiring import Here, Operator, Service, refusals

PAGE = Path(__file__).resolve().parents[1] / "page"
_NOBODY = "0" * 32


class Health(Shape):
    """How the service is."""

    status: str


def service(agents: Mapping[str, Agent], store: Store, settings: Settings | None = None) -> FastAPI:
    """The service of some agents, by their ids in addresses; it closes the store when it ends."""
    settings = settings or Settings()
    metrics = Metrics()
    parts = Service(agents=agents, store=store, settings=settings, metrics=metrics, turns=Turns(agents, store, metrics))

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        await parts.turns.close(settings.grace)
        await store.close()

    app = FastAPI(
        title="Turnout",
        version=version("turnout"),
        description="Conversations that answer for themselves when one of their tasks fails.",
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
    )
    app.state.service = parts
    app.state.settings = settings
    add_handlers(app)
    app.add_middleware(Guard, most_bytes=settings.most_bytes)
    app.include_router(inspection.router)
    app.include_router(conversations.router)
    app.add_api_route("/healthz", health, response_model=Health, responses=refusals(500, 503))
    app.add_api_route(
        "/metrics",
        metered,
        status_code=200,
        response_class=Response,
        responses=refusals(401, 403, 500)
        | {200: {"description": "What was counted.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    _add_page(app)
    return app


async def health(here: Here) -> Response:
    """Whether the service can work: whether its store can be reached."""
    try:
        await here.store.read(_NOBODY)
    except UnknownConversationError:
        return json_response({"status": "ok"})
    except Exception as error:
        raise Refusal(503, "store_unreachable", "the store cannot be reached") from error
    return json_response({"status": "ok"})


async def metered(here: Here, _: Operator) -> Response:
    """What was counted since the start, in the text format of Prometheus; for operators."""
    return Response(here.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_page(app: FastAPI) -> None:
    """Serve the files of the page, each at its own address."""
    for file in sorted(PAGE.rglob("*")) if PAGE.is_dir() else ():
        if file.is_file():
            name = file.relative_to(PAGE).as_posix()
            address = "/" if name == "index.html" else f"/{name}"
            app.add_api_route(address, _sending(file), include_in_schema=False, methods=["GET", "HEAD"])


def _sending(file: Path) -> Callable[[], Awaitable[FileResponse]]:
    async def send() -> FileResponse:
        return FileResponse(file)

    return send
