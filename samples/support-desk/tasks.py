"""The two systems that the help desk works with, on a bad day."""

from turnout.engine.journal import Journal
from turnout.engine.tasks import task


@task("orders")
def orders(turn: Journal) -> None:
    if "order(" not in turn.expressions:
        turn.skip()
        return
    raise ConnectionError("the order system does not answer")


@task("tickets")
def tickets(turn: Journal) -> None:
    if "open_ticket" not in turn.actions:
        turn.skip()
        return
    raise TimeoutError("no answer from the ticket system")
