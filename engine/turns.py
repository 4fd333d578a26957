"""What a turn amounts to, for whoever said something."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..rules.errors import UsageError
from ..rules.rulesets import RuleSet
from ..rules.spelling import nearest
from ..rules.values import JSON, freeze
from .evaluator import RuleFinding, evaluate
from .facts import Facts
from .history import History
from .misses import Miss, misses, nearest_first
from .steps import Outcome, State, Step
from .view import HISTORY_LIMIT, Message, view


class Turn:
    """A turn that has ended. What its attributes give is the caller's own: changing it changes nothing else."""

    def __init__(self, history: History, questions: Sequence[tuple[RuleSet, Facts]]) -> None:
        self._step: Step = history.steps[-1]
        self._steps = history.steps
        self._before = len(history.steps) - 1
        self._seen = history.steps[-HISTORY_LIMIT:]
        self._questions = questions

    def __repr__(self) -> str:
        return f"<Turn {self.state} {self.actions}>"

    @property
    def input(self) -> str:
        """What the user said; empty in the opening turn."""
        return self._step.input

    @property
    def state(self) -> State:
        """The state of the conversation after the turn."""
        return self._step.state

    @property
    def actions(self) -> list[str]:
        """The actions of the turn, failure actions included."""
        return list(self._step.actions)

    @property
    def output(self) -> list[JSON]:
        """The items of the reply: maps with a `type`, or whatever a task said."""
        return self._items("output")

    @property
    def texts(self) -> list[str]:
        """The texts of the reply."""
        items = (item.get("text") if isinstance(item, Mapping) else item for item in self.output)
        return [text for text in items if isinstance(text, str)]

    @property
    def quick_replies(self) -> list[JSON]:
        """The answers offered to the user: maps with `value`, `expressions` and `isDefault`."""
        return self._items("quickReplies")

    @property
    def errors(self) -> list[JSON]:
        """The public record of each failed task: maps with `type`, `taskId`, `taskType` and `text`."""
        return self._items("taskErrors")

    @property
    def outcomes(self) -> list[Outcome]:
        """How each task ended. `reason` is the operator's text: it is not for callers and models."""
        return [replace(outcome) for outcome in self._step.outcomes]

    @property
    def fired(self) -> list[str]:
        """The names of the rules that fired, those of re-routing included."""
        return list(self._step.succeeded)

    @property
    def failed(self) -> list[str]:
        """The names of the rules that were tried and did not fire."""
        return list(self._step.failed)

    @property
    def rerouted(self) -> list[str]:
        """The names of the rules that a failure made true and that fired for it."""
        return list(self._step.rerouted)

    @property
    def model_view(self) -> list[Message]:
        """What the next turn's model would be sent, system message excluded."""
        return view(self._seen)

    @property
    def explanations(self) -> list[RuleFinding]:
        """What became of each rule that this turn asked, in order, and why.

        Rules are asked anew when a task fails: a rule that fired is shown as it was when it fired, the others as they
        were asked last.
        """
        return [finding for _, _, findings in self._asked() for finding in findings]

    @property
    def misses(self) -> list[Miss]:
        """The rules that this turn asked and that did not fire, nearest misses first, each with what it lacked."""
        fired = set(self._step.succeeded)
        missed = (miss for asked in self._asked() for miss in misses(*asked))
        return nearest_first(miss for miss in missed if miss.finding.rule.name not in fired)

    def explain(self, rule: str) -> RuleFinding:
        """What became of the rule of that name, and why. Raises `UsageError` where this turn asked no such rule."""
        findings = self.explanations
        for finding in findings:
            if finding.rule.name == rule:
                return finding
        near = nearest(rule, [finding.rule.name for finding in findings])
        raise UsageError(f"no rule `{rule}` was asked in this turn", f"did you mean `{near}`?" if near else "")

    def _asked(self) -> list[tuple[RuleSet, Facts, list[RuleFinding]]]:
        """The rule sets that were asked, each with the facts of the last time and what became of its rules."""
        found: dict[int, tuple[RuleSet, Facts, list[RuleFinding]]] = {}
        history = History(self._steps[: self._before])
        for rule_set, asked in self._questions:
            facts = Facts(asked.step, history, asked.properties, asked.surroundings)
            new = evaluate(rule_set, facts)
            _, _, old = found.get(id(rule_set), (rule_set, facts, new))
            merged = [then if then.verdict == "fired" else now for then, now in zip(old, new, strict=True)]
            found[id(rule_set)] = (rule_set, facts, merged)
        return list(found.values())

    def _items(self, key: str) -> list[JSON]:
        items = freeze(self._step.output.get(key, []))
        return items if isinstance(items, list) else [items]
