"""What a service counts, in the text format of Prometheus; over all workers where there are several."""

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from ...engine.agents import Agent
from ...engine.steps import Step

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder in which workers share what they count."""
_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The counts of one worker."""

    def __init__(self) -> None:
        own = self._own = CollectorRegistry()
        self._turns = Counter("turnout_turns", "Turns that ended.", ["agent", "state"], registry=own)
        self._tasks = Histogram(
            "turnout_task_seconds", "How long tasks took.", ["agent", "task"], buckets=_SECONDS, registry=own
        )
        self._failures = Counter(
            "turnout_task_failures", "Tasks that failed.", ["agent", "task", "error_type"], registry=own
        )
        self._refusals = Counter(
            "turnout_engine_refusals",
            "Facts that the rule engine did not take; they were evaluated without it.",
            ["agent"],
            registry=own,
        )
        self._remembered = Gauge(
            "turnout_remembered_answers",
            "Answers of rule sets that are remembered.",
            ["agent"],
            registry=own,
            multiprocess_mode="livesum",
        )
        self._refused: dict[str, int] = {}

    def count(self, name: str, agent: Agent, step: Step) -> None:
        """Count a turn of the agent called `name`."""
        self._turns.labels(name, step.state).inc()
        for outcome in step.outcomes:
            if outcome.status != "skipped":
                self._tasks.labels(name, outcome.task).observe(outcome.duration_ms / 1000)
            if outcome.status == "failed":
                self._failures.labels(name, outcome.task, outcome.error_type or "unknown").inc()
        matchers = agent.matchers
        refused = sum(matcher.refused for matcher in matchers)
        self._refusals.labels(name).inc(refused - self._refused.get(name, 0))
        self._refused[name] = refused
        self._remembered.labels(name).set(sum(matcher.remembered for matcher in matchers))

    def text(self) -> bytes:
        """All that was counted, by this worker and by the others."""
        if SHARED not in os.environ:
            return generate_latest(self._own)
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]  # it carries none
        return generate_latest(shared)
