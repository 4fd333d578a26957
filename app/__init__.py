"""The doors of Turnout: from Python and from the command line."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .agents import open_agent
    from .reasons import explain

__all__ = ["explain", "open_agent"]


def __getattr__(name: str) -> object:
    # Late, because `turnout --help` needs neither the models nor the rule engine, and both take a while.
    if name == "open_agent":
        from .agents import open_agent  # noqa: PLC0415 - late: quick start

        return open_agent
    if name == "explain":
        from .reasons import explain  # noqa: PLC0415 - late: quick start

        return explain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
