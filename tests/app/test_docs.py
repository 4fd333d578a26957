"""The documentation: what it shows works, and what is generated is up to date."""

import asyncio
import json
import re
import runpy
import shlex
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from typer.main import get_command

from building import CONDITION_TYPES
from doors import ROOT, WEATHER, turnout
from turnout.app import open_agent
from turnout.app.command import app
from turnout.engine.documents import facts_of
from turnout.engine.evaluator import evaluate
from turnout.engine.steps import State, Status
from turnout.engine.stores import open_store
from turnout.engine.tasks import FunctionTask
from turnout.grammar.program import format_text, look_at, normal, read_program
from turnout.rules.agents import AgentFile, FailureMode, WorkflowFile
from turnout.rules.authored import ErrorType
from turnout.rules.calls import HttpCallsFile
from turnout.rules.expressions import has_run, is_empty_word, parse
from turnout.rules.facts import FactsFile
from turnout.rules.llm import LlmFile
from turnout.rules.outputs import OutputSet
from turnout.rules.paths import read as read_path
from turnout.rules.properties import PropertySetter
from turnout.rules.reading import read, read_document, read_output_set, read_rule_set
from turnout.rules.rulesets import RuleSet
from turnout.rules.step_types import BUILT_IN

README, DOCS = ROOT / "README.md", ROOT / "docs"
PAGES = [README, *sorted(DOCS.glob("*.md")), ROOT / "samples" / "README.md"]
COMMANDS = sorted(get_command(app).commands)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str, *pages: Path) -> list[tuple[Path, str]]:
    return [
        (page, found[2])
        for page in pages or PAGES
        for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))
        if found[1] == language
    ]


def shown_json(*pages: Path) -> list[Any]:
    return [json.loads(block) for _, block in blocks("json", *pages)]


def rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table that follows a heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    table = text[text.index(heading) :].partition("| --- |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[1:]]


def commands() -> list[str]:
    """The lines of the documentation and of the help that call `turnout`, and can be called as they stand."""
    text = "\n".join([*(block for _, block in blocks("sh")), turnout("--help").out])
    shown = [line.strip() for line in re.sub(r"\\\n\s*", "", text).splitlines()]
    return list(dict.fromkeys(line for line in shown if re.match(r"turnout \w", line)))


def test_the_help_has_an_example_of_each_command() -> None:
    assert {line.split()[1] for line in commands()} == set(COMMANDS)


@pytest.mark.parametrize("line", [line for line in commands() if not line.startswith("turnout serve")])
def test_a_command_that_is_shown_works(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    if " turnout.db" in line:  # which a service leaves behind
        asyncio.run(open_store(tmp_path / "turnout.db").close())
        line = line.replace("turnout.db", str(tmp_path / "turnout.db"))
    monkeypatch.setattr("sys.stdin", StringIO())  # for `chat`
    ended = turnout(*shlex.split(line)[1:])
    assert ended.code == 0
    assert "error" not in ended.err


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_fits_80_columns_and_has_an_example(command: str) -> None:
    help_text = turnout(command, "--help").out
    options = help_text.partition("Example:")[0]
    assert f"turnout {command} " in help_text.partition("Example:")[2]
    assert max(map(len, options.splitlines())) <= 80


_CALL = {"targetServerUrl": "http://127.0.0.1:9"}


def _as_file(part: dict[str, Any]) -> tuple[type[Any], dict[str, Any]]:
    """The kind of file that a part is of, and such a file with the part in it."""
    if part.get("type") in CONDITION_TYPES:
        part = {"name": "a rule", "conditions": [part]}
    if "conditions" in part or "behaviorGroups" in part:
        return RuleSet, part if "behaviorGroups" in part else {"behaviorGroups": [{"rules": [part]}]}
    if "action" in part or "outputSet" in part:
        return OutputSet, part if "outputSet" in part else {"outputSet": [part]}
    kinds = {"steps": FactsFile, "memoryPolicy": AgentFile, "workflowSteps": WorkflowFile, "httpCalls": HttpCallsFile}
    kinds |= {"tasks": LlmFile, "setOnActions": PropertySetter}
    return next(kind for key, kind in kinds.items() if key in part), part


@pytest.mark.parametrize("source", [block for _, block in blocks("json")])
def test_json_that_is_shown_loads_without_a_warning(source: str) -> None:
    kind, file = _as_file(json.loads(source))
    problems = read_document(kind, file).problems
    # A part may depend on a rule that is shown elsewhere on its page.
    assert [str(problem) for problem in problems if "depend" not in problem.message] == []


@pytest.mark.parametrize(("page", "source"), blocks("python"), ids=lambda value: getattr(value, "name", ""))
def test_python_that_is_shown_runs(page: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with redirect_stdout(StringIO()):
        exec(compile(source, page.name, "exec"), {"__name__": "shown"})


@pytest.mark.parametrize("source", [block for _, block in blocks("turnout")])
def test_a_text_that_is_shown_loads_and_is_laid_out(source: str) -> None:
    assert read_program(source).loads
    assert format_text(source) == source


def test_the_message_that_is_shown_is_what_is_said_of_the_text_before_it() -> None:
    page = DOCS / "language.md"
    [(_, wrong)], [(_, message)] = blocks("wrong", page), blocks("message", page)
    [problem] = look_at(wrong, "weather.turnout").problems
    assert str(problem) == message.rstrip()


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page.name, link)


def test_links_into_a_page_lead_to_a_heading() -> None:
    def anchors(page: Path) -> set[str]:
        headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}

    for page in PAGES:
        for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", page.read_text(encoding="utf-8")):
            assert anchor in anchors(page.parent / link if link else page), (page.name, link, anchor)


def test_the_page_of_all_keys_is_up_to_date() -> None:
    """Run `python docs/generate.py` after a change of the models."""
    page = runpy.run_path(str(DOCS / "generate.py"))["page"]()
    assert (DOCS / "configuration.md").read_text(encoding="utf-8") == page


def test_what_readme_shows_stands_in_the_sample_and_is_the_same_as_text() -> None:
    policy, rule, output = shown_json(README)
    [(_, text)] = blocks("turnout", README)
    whole = (ROOT / "samples" / "weather.turnout").read_text(encoding="utf-8")
    assert all(item.strip() in whole for item in text.split("\n\n"))
    sample = {kind: json.loads((WEATHER / f"weather.{kind}.json").read_text("utf-8")) for kind in ("agent", "output")}
    rules = json.loads((WEATHER / "weather.behavior.json").read_text("utf-8"))
    assert policy["memoryPolicy"] == sample["agent"]["memoryPolicy"]
    assert output in sample["output"]["outputSet"]
    assert rule in [each for group in rules["behaviorGroups"] for each in group["rules"]]

    program = read_program(text)
    strict = read_document(AgentFile, policy).model.memory_policy.strict_write_discipline
    assert program.policy == strict
    assert normal(program.rule_set) == normal(read_rule_set({"behaviorGroups": [{"rules": [rule]}]}).model)
    assert normal(program.output_set) == normal(read_output_set({"outputSet": [output]}).model)


def test_the_example_of_the_words_is_what_the_sample_does() -> None:
    (_, expressions), (_, public) = blocks("text", DOCS / "concepts.md")
    conversation = open_agent(WEATHER).conversation()
    turn = conversation.say_sync("What's the weather in Vienna?")
    assert conversation.memory.history.steps[0].expressions == expressions.strip()
    assert [error["text"] for error in turn.errors] == [public.strip()]
    assert turn.rerouted == ["No weather today"]


def _condition_examples() -> list[tuple[str, str]]:
    """The conditions of their page: as JSON, and as the text that follows it."""
    page = (DOCS / "conditions.md").read_text(encoding="utf-8")
    shown = [(found[1], found[2]) for found in _BLOCK.finditer(page)]
    return [(block, text) for (_, block), (kind, text) in pairwise(shown) if kind == "condition"]


def test_each_type_of_condition_has_an_example() -> None:
    assert {json.loads(block)["type"] for block, _ in _condition_examples()} == set(CONDITION_TYPES)


@pytest.mark.parametrize(("block", "text"), _condition_examples())
def test_a_condition_that_is_shown_is_the_same_as_text_and_holds_for_the_facts_of_its_page(
    block: str, text: str
) -> None:
    rule, facts, *_ = shown_json(DOCS / "conditions.md")
    group = {"executionStrategy": "executeAll", "rules": [{"name": "shown", "conditions": [json.loads(block)]}, rule]}
    rules = read_rule_set({"behaviorGroups": [group]}).model
    program = read_program(f'rule "shown" when {text} then nothing')
    [made] = program.rule_set.behavior_groups
    assert normal(program.rule_set)["behaviorGroups"][0]["rules"][0] == normal(rules)["behaviorGroups"][0]["rules"][0]
    assert made.rules[0].name == "shown"
    assert evaluate(rules, facts_of(read(FactsFile, facts).model))[0].verdict == "fired"


@pytest.mark.parametrize("row", rows("expressions-and-paths.md", "## Expressions"), ids=" ".join)
def test_expressions_match_as_the_table_says(row: list[str]) -> None:
    asked, said, holds = (cell.strip("`") for cell in row)
    pattern = parse(asked)
    assert (has_run(pattern, parse(said)) or (is_empty_word(pattern) and not said)) is (holds == "yes")


@pytest.mark.parametrize("row", rows("expressions-and-paths.md", "### Arithmetic"), ids=" ".join)
def test_paths_calculate_as_the_table_says(row: list[str]) -> None:
    text = (DOCS / "expressions-and-paths.md").read_text(encoding="utf-8")
    model = json.loads(re.search(r"\| path \| with `(.*)` in the context", text)[1])
    path, found = (cell.strip("`") for cell in row)
    assert read_path(model, path) == (None if found == "nothing" else json.loads(found))


@pytest.mark.parametrize("row", rows("language.md", "### Conditions"), ids=" ".join)
def test_the_phrases_of_the_language_mean_what_the_table_says(row: list[str]) -> None:
    program = read_program(f'rule "shown" when {row[0].strip("`")} then nothing')
    [condition] = program.rule_set.behavior_groups[0].rules[0].conditions
    named = [name for name in re.findall(r"`(\w+)`", row[1]) if name in CONDITION_TYPES]
    assert condition.type in (named or CONDITION_TYPES)


def test_all_names_are_told() -> None:
    page = (DOCS / "names.md").read_text(encoding="utf-8")
    for name in (*BUILT_IN, *get_args(State), *get_args(Status), *get_args(ErrorType)):
        assert f"| `{name}`" in page, name
    failures = (DOCS / "failures.md").read_text(encoding="utf-8")
    assert all(f"| `{mode}` " in failures for mode in get_args(FailureMode))


@pytest.mark.parametrize(
    ("ends", "said"),
    [("succeeded", ["Here is the weather."]), ("failed", ["I can't reach the weather service."]), ("skipped", [])],
)
def test_the_recipe_says_it_only_if_the_call_succeeded(ends: str, said: list[str], tmp_path: Path) -> None:
    policy, workflow, after, outputs, *_ = shown_json(DOCS / "failures.md")
    policy["workflows"] = ["a.workflow.json"]
    files = {"a.agent.json": policy, "a.workflow.json": workflow, "weather.output.json": outputs}
    files |= {"after.behavior.json": after, "weather.httpcalls.json": _CALL}
    files |= {"before.behavior.json": {"behaviorGroups": [{"rules": [{"name": "r", "actions": ["current_weather"]}]}]}}
    for name, file in files.items():
        (tmp_path / name).write_text(json.dumps(file), encoding="utf-8")

    async def call(turn: Any) -> None:
        if ends == "failed":
            raise ConnectionError("nothing listens there")
        if ends == "skipped":
            turn.skip()

    agent = open_agent(tmp_path, [FunctionTask("ai.labs.httpcalls", call)])
    assert agent.conversation().say_sync("hello").texts == said
