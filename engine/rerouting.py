"""Re-routing: the rules that a failure makes true fire in the same turn.

The rule sets that this turn has run are asked before the failure is recorded and again after. One pass: the actions of
the rules that fire start no further one.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .events import OperatorNote
from .failure import describe
from .journal import Journal, commit, roll_back, step_of
from .matcher import Answer, Matcher

if TYPE_CHECKING:
    from .executor import Rendered, TurnRun


def answers(run: "TurnRun") -> dict[Matcher, Answer]:
    """The answers of the rule sets that this turn has run, on the facts as they are; one that raises has none."""
    facts = run.memory.facts()
    found: dict[Matcher, Answer] = {}
    for matcher in run.asked:
        try:
            found[matcher] = matcher.decide(facts)
        except Exception as error:  # noqa: BLE001 - a rule set that can't be asked is no second failure
            _tell(run, "ai.labs.behavior", error)
    return found


def reroute(run: "TurnRun", before: dict[Matcher, Answer]) -> None:
    """Fire the rules that became true since `before`, and let output steps that already ran render what is new."""
    step = run.step
    facts = run.memory.facts()
    if before:
        asked = facts.snapshot()
        run.questions += [(matcher.rule_set, asked) for matcher in before]
    after = answers(run)
    actions = list(step.actions)
    for matcher, then in before.items():
        if matcher not in after:
            continue
        fired = run.asked[matcher]
        known = {*then.true, *fired}
        newly_true = [position for position in after[matcher].true if position not in known]
        for position in matcher.compiled.chosen(newly_true):
            fired.add(position)
            rule = matcher.compiled.rules[position]
            actions += rule.actions
            if rule.name not in step.succeeded:
                step.succeeded = [*step.succeeded, rule.name]
            step.failed = [name for name in step.failed if name != rule.name]
            step.rerouted = [*step.rerouted, rule.name]
    step.set_actions(list(dict.fromkeys(actions)))
    if not run.output_failed:
        for rendered in run.rendered:
            _once_more(run, rendered.id, partial(_render, rendered))
            rendered.actions = run.step.actions
        if run.templating is not None:
            _once_more(run, run.templating.id, run.templating.fill)


def _render(rendered: "Rendered", journal: Journal) -> None:
    rendered.task.render(journal, [action for action in step_of(journal).actions if action not in rendered.actions])


def _once_more(run: "TurnRun", task: str, work: Callable[[Journal], object]) -> None:
    journal = Journal(run.memory, run.step, task, run.random)
    try:
        work(journal)
        commit(journal)
    except Exception as error:  # noqa: BLE001 - the step itself has succeeded: what it can't add is told to the operator
        roll_back(journal)
        _tell(run, task, error)


def _tell(run: "TurnRun", task: str, error: Exception) -> None:
    run.tell_operator(OperatorNote(task, describe(error, task, run.handled).operator))
