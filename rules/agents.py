"""Agents, workflows, the failure policy and the settings of the built-in tasks, as the author wrote them.

The `…File` models mirror the files of an agent's folder. `AgentDefinition` is what they amount to: the resolved steps
of a turn, which is all that `engine` needs to know of an agent.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from .authored import Authored, Flag, Whole
from .errors import Problem
from .findings import Written
from .outputs import OutputSet
from .places import Pointer
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
    """A step's settings; `uri` addresses a file of the workflow's folder, the rest wins over that file's own."""

    uri: str | None = None
    append_actions: Flag | None = None
    expressions_as_actions: Flag | None = None


class DictionaryReference(Authored):
    """A dictionary that a parser step uses."""

    type: str
    config: StepConfig = StepConfig()


class StepExtensions(Authored):
    """What a parser step works with; corrections are read and not used yet."""

    dictionaries: tuple[DictionaryReference, ...] = ()


class WorkflowStep(Authored):
    """One task of a turn, by type; `timeoutMs` (ours) bounds how long it may run."""

    type: str
    config: StepConfig = StepConfig()
    extensions: StepExtensions = StepExtensions()
    timeout_ms: Annotated[Whole, Field(ge=1, le=2**31 - 1)] | None = None


class WorkflowFile(Authored):
    """`<id>.workflow.json`: the tasks of a turn, in order."""

    workflow_steps: tuple[WorkflowStep, ...] = ()


class Word(Authored):
    """A word and what it means, as expressions."""

    word: str
    expressions: str | None = None


class Phrase(Authored):
    """Several words and what they mean together, as expressions."""

    phrase: str
    expressions: str | None = None


class Dictionary(Authored):
    """`<id>.regulardictionary.json`: words and phrases; regular expressions are read and not used yet."""

    words: tuple[Word, ...] = ()
    phrases: tuple[Phrase, ...] = ()


class RetryInstruction(Authored):
    """When a call is tried again, how often, and the first pause (doubled each time), in milliseconds."""

    max_retries: Annotated[Whole, Field(ge=0, le=10)] = 3
    exponential_backoff_delay_in_millis: Annotated[Whole, Field(ge=0)] = 1000
    retry_on_http_codes: tuple[Whole, ...] = (502, 503)


_PATH = r"[A-Za-z_][\w.\[\]-]*"
PLACEHOLDER = rf"\[\[\$\{{({_PATH})\}}\]\]|\[\(\$\{{({_PATH})\}}\)\]|\{{({_PATH})\}}"
"""The pattern of `{path}`, and of what older files have, `[[${path}]]` and `[(${path})]`; for `re.ASCII`."""

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")
"""The methods of HTTP that a call may have, in any case."""


class HttpRequest(Authored):
    """What is sent; `{path}` placeholders are filled in everywhere but in the method."""

    path: str = ""
    method: str = "get"
    headers: dict[str, str] = {}
    query_params: dict[str, str] = {}
    content_type: str = ""
    body: str = ""


class PostResponse(Authored):
    """What happens after a response."""

    retry_api_call_instruction: RetryInstruction | None = None


class HttpCall(Authored):
    """A call made when the step has one of `actions` (`*`: any)."""

    name: str
    actions: tuple[str, ...] = ()
    save_response: Flag = False
    response_object_name: str | None = None
    fail_on_status: Flag | None = None
    request: HttpRequest = HttpRequest()
    post_response: PostResponse = PostResponse()


class HttpCallsFile(Authored):
    """`<id>.httpcalls.json`: calls to one server."""

    target_server_url: str
    http_calls: tuple[HttpCall, ...] = ()


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
    """A parser step."""

    dictionaries: tuple[Dictionary, ...] = ()


Settings = RulesSettings | OutputSet | ParserSettings | HttpCallsFile


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
