"""Real files and the language's own examples go to text and back."""

from pathlib import Path

import pytest

from corpus import CORPUS, folder
from turnout.grammar.comments import tokens
from turnout.grammar.fmt import format_text
from turnout.grammar.parser import parser
from turnout.grammar.program import look_at, normal, read_program, to_json, write_program
from turnout.rules.outputs import OutputSet
from turnout.rules.reading import read
from turnout.rules.rulesets import RuleSet

KINDS = {".behavior": RuleSet, ".output": OutputSet}
FILES = sorted(file for file in CORPUS.rglob("*.json") if Path(file.stem).suffix in KINDS)


def test_the_corpus_is_there() -> None:
    folder()
    assert len(FILES) > 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_real_file_comes_back_from_its_text(file: Path) -> None:
    kind: type[RuleSet | OutputSet] = KINDS[Path(file.stem).suffix]  # type: ignore[assignment]
    model = read(kind, file.read_bytes(), file.name).model
    text = write_program(model) if isinstance(model, RuleSet) else write_program(output_set=model)
    program = read_program(text)
    back = program.rule_set if isinstance(model, RuleSet) else program.output_set
    made = to_json(program)
    document = (made.rules if isinstance(model, RuleSet) else made.outputs) or {}
    assert normal(back) == normal(model) == normal(read(kind, dict(document)).model)
    assert format_text(text) == text


def examples() -> list[str]:
    """The programs of the language's description: code blocks that show no message."""
    file = CORPUS.parent / "LANGUAGE.md"
    blocks = file.read_text("utf-8").split("```")[1::2] if file.exists() else []
    plain = [block.removeprefix("\n") for block in blocks if block.startswith("\n")]
    return [block for block in plain if "error[R" not in block and "warning[" not in block]


EXAMPLES = examples()


@pytest.mark.parametrize("text", EXAMPLES, ids=[text.splitlines()[0] for text in EXAMPLES])
def test_an_example_program_is_read_and_written_again(text: str) -> None:
    once = format_text(text)
    assert format_text(once) == once
    again = look_at(once)
    assert normal(again.rule_set) == normal(look_at(text).rule_set)
    assert [check.name for check in again.checks] == [check.name for check in look_at(text).checks]


def test_the_layout_of_an_example_is_the_formatters() -> None:
    """The first two programs of the description are laid out as the formatter does it."""
    if not EXAMPLES:
        pytest.skip("the description is not beside the project")
    assert [format_text(text) for text in EXAMPLES[:2]] == EXAMPLES[:2]


def test_a_text_of_many_lines_is_read_without_a_tree() -> None:
    """The items are made while Lark parses: what it hands over is a list of them, as long as the text."""
    from turnout.grammar.build import Builder, Item

    made = parser(Builder()).parse('rule "A" when always then a\n' * 500)
    assert isinstance(made, list)
    assert len(made) == 500
    assert all(isinstance(item, Item) for item in made)


def test_a_document_keeps_its_comments_through_json() -> None:
    text = '# why\nrule "A"\n  when always  # ever\n  then a\n'
    made = to_json(read_program(text)).rules
    assert made is not None
    assert write_program(read(RuleSet, dict(made)).model) == text
    assert tokens(text)[0] == "rule"
