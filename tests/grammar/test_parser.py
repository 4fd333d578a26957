"""The grammar, the text that it reads, and whole words."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Lark, UnexpectedInput
from lark.lexer import PatternStr

from turnout.grammar.parser import ITEM_WORDS, RESERVED, parser, source
from turnout.rules.errors import LoadError

LANGUAGE = Path(__file__).resolve().parents[2] / ".." / "shared" / "LANGUAGE.md"


@pytest.fixture(scope="module")
def lark() -> Lark:
    return parser()


def programs() -> list[str]:
    """Every example program of the language's description."""
    if not LANGUAGE.exists():
        return []
    blocks = LANGUAGE.read_text("utf-8").split("```")[1::2]
    return [block for block in blocks if block.startswith("\n") and not re.search(r"(error|warning)\[", block)]


def test_the_grammar_has_no_conflict_and_no_two_terminals_for_one_text():
    pytest.importorskip("interegular")
    assert parser(strict=True).options.strict


@pytest.mark.parametrize("program", programs() or [pytest.param("", marks=pytest.mark.skip("no description here"))])
def test_every_example_program_is_read(lark: Lark, program: str):
    assert lark.parse(program).children


def test_the_words_named_in_the_parser_are_terminals_of_the_grammar(lark: Lark):
    names = {one.name for one in lark.terminals}
    assert {word.upper() for word in RESERVED | ITEM_WORDS} <= names


def keywords() -> list[str]:
    spelt = (one.pattern.value for one in parser().terminals if isinstance(one.pattern, PatternStr))
    return sorted(word for word in spelt if word.isalpha())


@pytest.mark.parametrize("word", keywords())
def test_a_keyword_is_a_name_where_a_name_stands_unless_it_is_reserved(lark: Lark, word: str):
    text = f'rule "A" when action {word} then greet, {word} output {word} show image steps {word}'
    if word in RESERVED:
        with pytest.raises(UnexpectedInput):
            lark.parse(text)
    else:
        lark.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "rulea when always then x",
        'rule "A" whenaction a then x',
        'rule "A" when action a thenx',
        'rule "A" when any of( action a orb ) then x',
    ],
)
def test_a_keyword_is_a_whole_word(lark: Lark, text: str):
    with pytest.raises(UnexpectedInput):
        lark.parse(text)


@pytest.mark.parametrize("name", ["ruleset_a", "then_pay", "rule-a", "when.x", "task_failed_my-tool"])
def test_a_name_may_begin_with_a_keyword(lark: Lark, name: str):
    lark.parse(f'rule "A" when action {name} then {name} output {name} say "x"')


@pytest.mark.parametrize(
    "name", ["grüßen", "gru\u0308ßen", "नमस्ते", "வணக்கம்", "สวัสดี", "привет", "你好", "ai.labs.llm", "a:b-c.d"]
)
def test_a_name_has_letters_of_any_script(lark: Lark, name: str):
    lark.parse(f'rule "A" when action {name} then {name}')


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "# the end", "\n", "\n#\n"])
def test_a_file_may_end_without_a_line_end_or_with_a_comment(lark: Lark, end: str, last: str):
    lark.parse(f'rule "A"\n\twhen always # c\n  then x\n{last}'.replace("\n", end))


@pytest.mark.parametrize("text", ["", "\n \t\n", "#", "# a\r\n# b"])
def test_a_file_without_items_is_read(lark: Lark, text: str):
    assert not lark.parse(text).children


def test_a_text_ends_with_its_line_whatever_ends_the_line(lark: Lark):
    for end in ("\n", "\r", "\r\n"):
        with pytest.raises(UnexpectedInput):
            lark.parse(f'rule "A{end}B" when always then x')


def test_lines_end_at_lf_cr_lf_or_cr():
    read = source("a\nbc\r\nd\re")
    assert [read.place(at) for at in (0, 2, 3, 6, 8)] == [(1, 1), (2, 1), (2, 2), (3, 1), (4, 1)]
    assert [read.line(number) for number in (1, 2, 3, 4)] == ["a", "bc", "d", "e"]


@given(st.text("ab\n\r\u2028", max_size=30), st.data())
def test_a_place_leads_back_to_its_character(text: str, data: st.DataObject):
    read = source(text)
    at = data.draw(st.integers(0, len(text)))
    line, column = read.place(at)
    letter = (read.line(line) + "\r\n")[column - 1]
    assert letter == text[at] if at < len(text) and text[at] not in "\r\n" else letter in "\r\n"


def test_a_byte_order_mark_moves_no_column():
    for text in ("\ufeffab", "\ufeffab".encode()):
        assert source(text).text == "ab"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_one_problem_that_names_the_file(encoding: str):
    with pytest.raises(LoadError) as caught:
        source('rule "A" when always then x'.encode(encoding), "a.turnout")
    assert str(caught.value) == "a.turnout: error[J001]: the text is UTF-16, not UTF-8\n  help: save it as UTF-8"


def test_a_byte_that_is_not_utf_8_has_its_place():
    with pytest.raises(LoadError) as caught:
        source(b"# fine\r\n# gr\xfc\xdf", "a.turnout")
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (2, 5)
    assert problem.message == "the text is not UTF-8: byte 0xfc cannot be read"
