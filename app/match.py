"""`turnout match`: which rules fire for a conversation given as facts, one or a whole batch."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from rich.text import Text

from ..engine.documents import facts_of
from ..engine.evaluator import evaluate
from ..engine.matcher import Matcher
from ..engine.misses import Miss, misses, nearest_first
from ..engine.tasks.rules import RulesTask
from ..grammar.program import read_program
from ..rules.agents import RulesSettings
from ..rules.errors import LoadError, Problem, UsageError, cause
from ..rules.facts import BatchLine, FactsFile
from ..rules.parsing import parse_json
from ..rules.reading import read, read_rule_set
from ..rules.rulesets import Rule, RuleSet
from .files import read_file
from .printing import print_columns, print_json, print_problems, printer, refusal_data
from .reasons import ORDER, missed_data, print_missed
from .streams import unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """What a rule set makes of facts: the rules that fired, that failed, and that were not tried.

    `unreached` stand behind one of their group that fired. `actions` are those of the step afterwards; `misses` say
    why rules did not fire, nearest first.
    """

    fired: Sequence[Rule]
    failed: Sequence[Rule]
    unreached: Sequence[Rule]
    actions: Sequence[str]
    misses: Sequence[Miss] = ()

    def data(self) -> dict[str, object]:
        """As `match --json` prints it."""
        return {"fired": _names(self.fired), "failed": _names(self.failed), "actions": list(self.actions)}


def _names(rules: Sequence[Rule]) -> list[str]:
    return [rule.name for rule in rules]


def matched(matcher: Matcher, document: FactsFile, *, why: bool = False) -> Matched:
    """Ask the matcher about the facts in `document`; with `why`, the evaluator as well."""
    facts = facts_of(document)
    config = document.config
    settings = RulesSettings(
        rule_set=matcher.rule_set,
        append_actions=config.append_actions,
        expressions_as_actions=config.expressions_as_actions,
    )
    answer = matcher.decide(facts)
    rules = matcher.compiled.rules
    reached = {*answer.fired, *answer.failed}
    return Matched(
        fired=[rules[position] for position in answer.fired],
        failed=[rules[position] for position in answer.failed],
        unreached=[rule for position, rule in enumerate(rules) if position not in reached],
        actions=RulesTask(settings, matcher).concluded(facts.step, answer).actions,
        misses=nearest_first(misses(matcher.rule_set, facts, evaluate(matcher.rule_set, facts))) if why else (),
    )


def match(rules: Path, facts: Path, *, why: bool, as_json: bool) -> int:
    """Print which rules fire for one facts document. Raises `LoadError` where rules or facts do not load."""
    problems: list[Problem] = []
    with _gathered(problems):
        rule_set, notes = _rules(rules)
    with _gathered(problems):
        document = read(FactsFile, read_file(facts), facts.as_posix())
    if problems:
        raise LoadError(problems)
    print_problems(problem for problem in (*notes, *document.notes) if problem.severity == "warning")
    result = matched(Matcher(rule_set), document.model, why=why)
    if as_json:
        reasons = {"notReached": _names(result.unreached), "why": [missed_data(miss) for miss in result.misses]}
        print_json(result.data() | (reasons if why else {}))
        return 0
    _print(result)
    return 0


def _rules(path: Path) -> tuple[RuleSet, Sequence[Problem]]:
    """The rules of a file, JSON or text, and what is to be said of it."""
    source, name = read_file(path), path.as_posix()
    if path.suffix == ".turnout":
        program = read_program(source, name)
        return program.rule_set, program.problems
    document = read_rule_set(source, name)
    return document.model, document.notes


@contextmanager
def _gathered(problems: list[Problem]) -> Iterator[None]:
    """Keep the problems of a document that does not load, so that those of the next one are told as well."""
    try:
        yield
    except LoadError as error:
        problems += error.problems


def _print(result: Matched) -> None:
    console = printer()
    rows: list[tuple[str | Text, str]] = [
        *(
            (Text("fired", style="green"), f"{rule.name} → {', '.join(rule.actions) or 'no action'}")
            for rule in result.fired
        ),
        *((Text("failed", style="red"), rule.name) for rule in result.failed),
        *(("not reached", rule.name) for rule in result.unreached),
        (Text("actions", style="bold"), ", ".join(result.actions) or "none"),
    ]
    print_columns(console, rows)
    if result.misses:
        console.print(Text(f"\nwhy not the others, {ORDER}", style="bold"))
        print_missed(console, result.misses)


def match_batch(lines: Path, rules: Path | None) -> int:
    """Answer a batch, line by line.

    Raises `LoadError` or `UsageError` where the rules or the batch cannot be read at all.
    """
    common: Matcher | None = None
    if rules is not None:
        common = Matcher(_rules(rules)[0])
    name = "standard input" if str(lines) == "-" else lines.as_posix()
    with _opened(lines) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                print_json(_answered(line, name, number, common))
                if unread():
                    break
    return 0


def _opened(path: Path) -> IO[bytes]:
    if str(path) == "-":
        if sys.stdin is None:
            raise UsageError("standard input is closed", "name a file")
        return nullcontext(sys.stdin.buffer)  # type: ignore[return-value]  # stdin is read as bytes
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"the batch `{path.as_posix()}` cannot be read: {cause(error)}", "name a file") from error


def _answered(line: bytes, file: str, number: int, common: Matcher | None) -> Mapping[str, object]:
    """The answer to one line. A line that cannot be answered is told as such, and the others are answered."""
    try:
        asked = read(BatchLine, line, file).model
        return {"id": asked.id, **matched(_matcher(asked, common, file), asked).data()}
    except LoadError as error:
        problems = (replace(problem, line=number) for problem in error.problems)
        return {"id": _id(line), **refusal_data("load", problems)}
    except Exception as error:  # noqa: BLE001 - the boundary of a line: one that we fail at must not cost the rest
        told = Problem(code="X001", message=f"{type(error).__name__}: {error}", file=file, line=number)
        return {"id": _id(line), **refusal_data("run", [told])}


def _matcher(asked: BatchLine, common: Matcher | None, file: str) -> Matcher:
    if asked.ruleset is not None:
        return Matcher(asked.ruleset)
    if common is None:
        hint = "add `ruleset`, or name a rule set for all lines"
        raise LoadError([Problem(code="V001", message="the line requires `ruleset`", hint=hint, file=file, column=1)])
    return common


def _id(line: bytes) -> object:
    """The id of a line that does not load, if it is JSON at all."""
    try:
        data = parse_json(line)
    except LoadError:
        return None
    return data.get("id") if isinstance(data, dict) else None
