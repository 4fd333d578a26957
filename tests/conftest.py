"""Settings for all tests, and the server that many of them ask."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from servers import Server, serving

# How fast a machine is never decides a test. All else stays as Hypothesis has it, such as drawing the same
# examples in each run under CI.
settings.register_profile("turnout", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("turnout")


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> None:
    """Tests raise interrupts; a process that was started in the background ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server on loopback, which is found whatever the machine has set."""
    monkeypatch.setenv("NO_PROXY", "*")
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)
    with serving() as served:
        yield served
