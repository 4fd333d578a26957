"""Agents, workflows, the failure policy and the settings of the built-in tasks, as the author wrote them.

The `…File` models mirror the files of an agent's folder. `AgentDefinition` is what they amount to: the resolved steps
of a turn, which is all that `engine` needs to know of an agent.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from .authored import Authored, Flag, Whole
from .calls import HttpCallsFile
from .dictionaries import Correction, Dictionary, Kind
from .errors import Problem
from .findings import Written
from .llm import LlmFile
from .outputs import OutputSet
from .places import Pointer
from .properties import PropertySetter, SetOnActions
from .rulesets import Rule, RuleSet

FailureMode = Literal["digest", "exclude_all", "keep_all"]


class Policy(Authored):
    """What becomes of the writes of a failing task, and whether the turn goes on."""

    enabled: Flag = False
    on_failure: FailureMode = "digest"
    continue_on_failure: Flag = False
    reroute_on_failure: Flag = True


class MemoryPolicy(Authored):
    """The agent's memory policy."""

    strict_write_discipline: Policy = Policy()


class AgentFile(Authored):
    """`<id>.agent.json`: the workflows of an agent, by address."""

    workflows: tuple[str, ...] = ()
    memory_policy: MemoryPolicy = MemoryPolicy()


class StepConfig(Authored):
    """A step's settings; `uri` addresses a file of the workflow's folder, the rest wins over that file's own.

    The two flags are for rules, `setOnActions` is for properties.
    """

    uri: str | None = None
    append_actions: Flag | None = None
    expressions_as_actions: Flag | None = None
    set_on_actions: tuple[SetOnActions, ...] | None = None


class DictionaryReference(Authored):
    """A dictionary that a parser step uses."""

    type: str
    config: StepConfig = StepConfig()


class StepExtensions(Authored):
    """What a parser step works with."""

    dictionaries: tuple[DictionaryReference, ...] = ()
    corrections: tuple[Correction, ...] = ()


class WorkflowStep(Authored):
    """One task of a turn, by type; `timeoutMs` (ours) bounds how long it may run."""

    type: str
    config: StepConfig = StepConfig()
    extensions: StepExtensions = StepExtensions()
    timeout_ms: Annotated[Whole, Field(ge=1, le=2**31 - 1)] | None = None


class WorkflowFile(Authored):
    """`<id>.workflow.json`: the tasks of a turn, in order."""

    workflow_steps: tuple[WorkflowStep, ...] = ()


class Capability(Authored):
    """An agent that has a skill, as `capabilityMatch` looks it up."""

    skill: str
    agent_id: str
    confidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesSettings:
    """A rules step; the two flags are the step's own and win over the set's where not None."""

    rule_set: RuleSet
    append_actions: bool | None = None
    expressions_as_actions: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserSettings:
    """A parser step; a built-in dictionary stands there by its kind, such as `integer`."""

    dictionaries: tuple[Dictionary | Kind, ...] = ()
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True, slots=True)
class TemplatingSettings:
    """A templating step, which has none."""


Settings = RulesSettings | OutputSet | ParserSettings | HttpCallsFile | PropertySetter | LlmFile | TemplatingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What rules can ask about the agent itself, with `deploymentContext` and `capabilityMatch`."""

    environment: str = "development"
    tags: tuple[str, ...] = ()
    capabilities: tuple[Capability, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDefinition:
    """One step of a turn.

    `task` is the plain id (`ai.labs.behavior`, `weather`). `settings` is None for a task that is brought from outside.
    """

    task: str
    settings: Settings | None = None
    timeout_ms: int | None = None
    place: tuple[Written, Pointer] | None = field(default=None, compare=False, repr=False)
    """Where the step is written: its document, and a pointer into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """An agent, ready to be run: its policy and the steps of each turn, in order.

    `notes` holds the warnings and migrations met while reading, `sources` the documents that were read.
    """

    name: str
    policy: Policy = field(default_factory=Policy)
    steps: tuple[StepDefinition, ...] = ()
    surroundings: Surroundings = field(default_factory=Surroundings)
    notes: tuple[Problem, ...] = ()
    sources: tuple[Written, ...] = field(default=(), compare=False, repr=False)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of all steps, in order."""
        sets = [step.settings.rule_set for step in self.steps if isinstance(step.settings, RulesSettings)]
        return tuple([rule for rule_set in sets for rule in rule_set.rules])
