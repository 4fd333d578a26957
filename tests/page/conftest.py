"""The page in a headless browser, on a service in this process; what no test of it may cause is looked at for all."""

import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from turnout.app.service.access import Settings
from turnout.app.service.service import service
from turnout.engine.agents import Agent
from turnout.engine.stores.memory import MemoryStore

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WIDE, PHONE = (1280, 860), (390, 844)

Opened = Callable[..., Page]


@pytest.fixture(scope="module")  # not longer: while it lives, this thread has an event loop that others trip over
def browser() -> Iterator[Browser]:
    """A headless Chromium that is installed on this machine."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("the page needs a browser, and there is no Chromium here: on Debian, `apt-get install chromium`")
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    """Open the page on a service of some agents.

    In the end no request may have left the service, and the page may have had no fault and nothing that its
    Content-Security-Policy refuses.
    """
    faults: list[str] = []
    with ExitStack() as stack:

        def open_page(
            agents: Mapping[str, Agent] | Agent, settings: Settings | None = None, size: tuple[int, int] = WIDE
        ) -> Page:
            served = {"a": agents} if isinstance(agents, Agent) else agents
            address = stack.enter_context(serving(served, settings))
            context = browser.new_context(viewport={"width": size[0], "height": size[1]})
            stack.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(20_000)

            def requested(request: Request) -> None:
                if not request.url.startswith(address):
                    faults.append(f"asked for {request.url}")

            page.on("request", requested)
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("console", lambda said: faults.append(said.text) if "Content Security" in said.text else None)
            page.goto(address)
            return page

        yield open_page
    assert faults == []


@contextmanager
def serving(agents: Mapping[str, Agent], settings: Settings | None) -> Iterator[str]:
    """Serve agents from memory, on loopback; gives the address of the page."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        app = service(agents, MemoryStore(), settings)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()
