"""What is told about a text that is not one of the language: every word of it, and its place."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnout.grammar.faults import Word, word_at, words
from turnout.grammar.parser import source
from turnout.grammar.pieces import Item
from turnout.grammar.recover import MOST_ERRORS, next_item, read_items
from turnout.grammar.render import MarkedProblem, mark, marked, shown
from turnout.grammar.slips import CODES
from turnout.rules.errors import LoadError, Problem

LANGUAGE = Path(__file__).resolve().parents[2] / ".." / "shared" / "LANGUAGE.md"


def read(text: str | bytes, file: str = "a.turnout") -> tuple[list[Item], list[Problem]]:
    try:
        return read_items(source(text, file))
    except LoadError as error:
        return [], list(error.problems)


def problems(text: str | bytes, file: str = "a.turnout") -> list[Problem]:
    return read(text, file)[1]


def told(text: str | bytes, file: str = "a.turnout") -> str:
    return "\n".join(map(str, problems(text, file)))


def heads(text: str) -> list[str]:
    """The item words and names of what was read."""
    return [f"{item.kind} {item.entries.get('name', item.entries.get('action'))}" for item in read(text)[0]]


# The examples of the language's description, word for word

GOLDEN = {
    'rule "A"\n  when task weather faild this turn\n  then sorry': """\
weather.turnout:2:21: error[R001]: unexpected word `faild`
  2 |   when task weather faild this turn
    |                     ^^^^^ did you mean `failed`?
  help: write `task NAME failed`""",
    'rule "A"\n  when user says greeting(*) this trun\n  then greet': """\
greet.turnout:2:35: error[R001]: unexpected word `trun`
  2 |   when user says greeting(*) this trun
    |                                   ^^^^ did you mean `turn`?""",
    'rule "A"\n  when user says greeting(*) or user says hello(*)\n  then greet': """\
greet.turnout:2:30: error[R004]: `or` can't join conditions here
  2 |   when user says greeting(*) or user says hello(*)
    |                              ^^ conditions after `when` are joined by `and`
  help: wrap them: `any of ( user says greeting(*) or user says hello(*) )`""",
    'rule "A"\n  when any of ( action a or action b\n  then greet': """\
pay.turnout:3:3: error[R005]: `any of (` is never closed
  2 |   when any of ( action a or action b
    |               - opened here
  3 |   then greet
    |   ^^^^ expected `or` or `)`""",
    "output sorry\n  say Sorry, not now": """\
out.turnout:2:7: error[R006]: text needs quotes
  2 |   say Sorry, not now
    |       ^^^^^ write "Sorry, not now\"""",
    "rule “A”\n  when always\n  then x": """\
a.turnout:1:6: error[R007]: curly quotes are not quotes here
  1 | rule “A”
    |      ^ replace “ ” by " " (`fmt --fix` does it)""",
    'rule "A"\n  when task weather failed\n': """\
a.turnout:2:27: error[R008]: rule "A" has no `then`
  1 | rule "A"
    | -------- this rule
  2 |   when task weather failed
    |                           ^ the file ends here
  help: end it with `then ACTION` or `then nothing`""",
}


@pytest.mark.parametrize("text", GOLDEN)
def test_an_error_reads_as_the_description_of_the_language_says(text: str):
    expected = GOLDEN[text]
    assert told(text, expected.partition(":")[0]) == expected


def test_the_description_has_no_other_syntax_error():
    if not LANGUAGE.exists():
        pytest.skip("no description here")
    blocks = (block.strip("\n") for block in LANGUAGE.read_text("utf-8").split("```")[1::2])
    assert {block for block in blocks if "error[R" in block} == set(GOLDEN.values())


def test_a_finding_of_a_check_is_rendered_alike():
    text = "\n\n\n\n  when task wether failed this turn\n"
    read = source(text, "fallback.turnout")
    at = text.index("wether")
    note = "did you mean `weather`? (tasks: llm, weather)"
    message = "no task is called `wether`"
    problem = marked(read, at, at + 6, code="L021", message=message, note=note, severity="warning")
    assert str(problem) == (
        "fallback.turnout:5:13: warning[L021]: no task is called `wether`\n"
        "  5 |   when task wether failed this turn\n"
        "    |             ^^^^^^ did you mean `weather`? (tasks: llm, weather)"
    )


# One slip each

SLIPS = [
    block.partition("\n----\n")[::2]
    for block in (Path(__file__).parent / "slips.txt").read_text("utf-8").rstrip("\n").split("\n====\n")
]
"""Texts with one slip, and what is told about each."""


@pytest.mark.parametrize(("text", "expected"), SLIPS)
def test_a_slip_is_told_in_words(text: str, expected: str):
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ('rule "A" when context a is "x" or "y" then z', 'context a is "x" or "y"', ""),
        ('rule "A" when context a at b.c is "x" or "y" or "z" then z', 'context a at b.c is "x" or "y" or "z"', ""),
        ('rule "A" when user says hi(a, 2) or hello then z', "user says hi(a, 2) or hello", ""),
        ('rule "A" when any of ( user says hi or hello ) then z', "user says hi or hello", ""),
        ('rule "A" when user says hi or "a b" or action b then z', 'user says hi or "a b" or action b', ""),
        ('rule "A" when user says hi or b(2) and action b then z', "user says hi or b(2)", ""),
        ('rule "A" when action a or b this turn then z', "action a or b this turn", ""),
        ('rule "A" when context x is not "y" then z', 'context x is not "y"', ""),
        ('output x say "a" after 0.5 s', "0.5 s", ""),
        ('output x say "a" after 1.25 minutes', "1.25 minutes", ""),
        ("steps parser within 2 seconds, rules", "2 seconds", ""),
        ("steps parser words.json, rules", "words.json", '"words.json"'),
        ('check "c" turn expect no say', "expect no say", ""),
        ('check "c" turn expect rule "A" does not fire', "does not fire", ""),
        ('check "c" turn task t succeeds', "succeeds", ""),
        ('rule "A" when context.tier is "x" then z', "context.tier", ""),
    ],
)
def test_what_is_advised_is_a_text_of_the_language(text: str, wrong: str, right: str):
    """Who follows the advice meets no second error."""
    (problem,) = problems(text)
    advised = right or problem.hint.removeprefix("write `").removesuffix("`")
    assert problems(text.replace(wrong, advised)) == []


def test_a_misspelt_condition_is_no_half_of_the_one_before():
    (problem,) = problems('rule "A" when user says hi and actoin b then z')
    assert problem.message == "unexpected word `actoin`"


@pytest.mark.parametrize("behind", ["user", "action", "or", "then", ")", "not"])
def test_a_condition_that_only_begins_is_no_half_of_the_one_before(behind: str):
    assert all("its subject" not in problem.hint for problem in problems(f'rule "A" when user says hi or {behind}'))


def test_conditions_nested_too_deep_are_told_of_their_rule():
    text = 'rule "A"\n  when ' + "any of ( " * 60 + "action a" + " )" * 60 + '\n  then b\nrule "B" when always then c'
    (problem,) = problems(text)
    assert (problem.code, problem.line, problem.column) == ("S005", 1, 6)
    assert problem.message == "conditions stand more than 50 deep inside one another"
    assert heads(text) == ["rule B"]


def test_every_code_of_the_parser_is_explained_and_has_a_slip():
    used = set(re.findall(r"error\[(R\d+)\]", "".join(expected for _, expected in [*SLIPS, *GOLDEN.items()])))
    assert used == CODES.keys() - {"R009", "R013"}


@pytest.mark.parametrize(
    ("sign", "message", "note"),
    [
        ("\u00a0", "`U+00A0` (no-break space) is no blank here", "replace it by a blank (`fmt --fix` does it)"),
        ("\u3000", "`U+3000` (ideographic space) is no blank here", "replace it by a blank (`fmt --fix` does it)"),
        ("\u2028", "`U+2028` (line separator) is no blank here", "replace it by a line end (`fmt --fix` does it)"),
        ("\u200b", "`U+200B` (zero width space) is no blank here", "remove it (`fmt --fix` does it)"),
        ("\x0b", "`U+000B` (control character) is no blank here", "replace it by a blank (`fmt --fix` does it)"),
        ("\ud800", "`U+D800` (no character) is no blank here", "replace it by a blank (`fmt --fix` does it)"),
    ],
)
def test_an_invisible_character_is_named(sign: str, message: str, note: str):
    (problem,) = problems(f'rule "A" when{sign}always then x')
    assert (problem.code, problem.column, problem.message, problem.hint) == ("R007", 14, message, note)


def test_what_is_expected_is_the_hint_of_a_problem_without_one():
    (problem,) = problems("set x [1, 2")
    assert (problem.message, problem.hint) == ("`[` is never closed", "write `,` or `]`")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_is_counted_whatever_ends_it(end: str):
    text = 'rule "A"\n  when always\n  then x\n\nouput y\n'.replace("\n", end)
    assert told(text) == told('rule "A"\r\n  when always\n  then x\n\nouput y\n')


def test_a_byte_order_mark_moves_no_place():
    (problem,) = problems(b"\xef\xbb\xbfouput x")
    assert (problem.line, problem.column) == (1, 1)


def test_a_text_without_its_quote_is_told_on_its_line():
    lines = ["output x", ' say "a"', ' say "b', *[f' say "{number}"' for number in range(37)]]
    (problem,) = problems("\n".join(lines))
    assert (problem.line, problem.column) == (3, 6)


def test_what_is_not_utf_8_is_a_problem():
    assert told("rule".encode("utf-16")).startswith("a.turnout: error[J001]: the text is UTF-16")


# One error an item, and all items without one

THREE = """\
rule "A"
  whn always
  then x y

output x
  say "a"

rule "B"
  when always
  then x y z,

output y
  say "b"
"""


def test_every_item_has_its_error_and_the_others_are_read():
    assert [(one.line, one.column) for one in problems(THREE)] == [(2, 3), (10, 10)]
    assert heads(THREE) == ["output x", "output y"]


def test_an_item_that_was_complete_before_the_error_is_read():
    assert heads('rule "A" when always then x\nouput y\n  say "a"\noutput z say "b"') == ["rule A", "output z"]


@pytest.mark.parametrize(
    "text",
    [
        'rule "A"\n when actoin a and\nrule "X" never fired\n then x',
        'rule "A"\n when actoin a and\n not\nrule "X" never fired\n then x',
        'check "c"\n turn "x"\n  expct\n  expect\n rule "X" fires',
        "steps a b,\noutput\n",
    ],
)
def test_an_item_word_inside_an_item_begins_no_other(text: str):
    assert len(problems(text)) == 1


@pytest.mark.parametrize("lacking", ["then", "then x,", "when", "when action a and", "when action"])
def test_an_item_behind_one_that_ends_too_early_is_read(lacking: str):
    text = f'rule "A" when always\n{lacking}\nrule "B"\n  when always then b c'
    assert [one.line for one in problems(text)][-1] == 4


def test_reading_stops_after_many_errors():
    text = 'rule "A"\n  whn always\n  then x\n' * (MOST_ERRORS + 20)
    found = problems(text)
    assert len(found) == MOST_ERRORS + 1
    assert str(found[-1]) == f"a.turnout:301:1: note[R013]: reading stopped after {MOST_ERRORS} errors"


def test_what_a_callback_rejects_is_a_problem_of_its_item():
    text = """\
rule "a" when always then x
rule "no" with x 1, x 2
  when rule "b" never fired
  then x
# c
rule "ne\\ver"
  when always then y
rule "c" when always then z
"""
    assert [(one.code, one.line, one.column, one.hint) for one in problems(text)] == [
        ("R009", 2, 21, "leave one of them out"),
        ("J003", 6, 6, "write `\\\\` for the backslash itself"),
    ]
    assert heads(text) == ["rule a", "rule c"]


# What could break a reader

HUGE = 20_000


@pytest.mark.parametrize(
    "text",
    [
        'rule "A" when ' + "any of ( " * HUGE,
        'rule "A" when ' + "not " * HUGE,
        'rule "A" when user says ' + "a(" * HUGE,
        "set x " + "[" * 5 * HUGE,
        "set x " + '{"a":' * HUGE,
        ")" * 5 * HUGE,
        'rule "A" when action a' + " or action a" * HUGE,
        "x" * 50 * HUGE,
        'rule "' + "x" * 50 * HUGE,
        'rule "' + "\\" * 50 * HUGE,
        '"' * HUGE,
        "output x from the " + "1" * HUGE + " time",
        "rule\n" * HUGE,
    ],
    ids=lambda text: text[:24],
)
def test_a_monstrous_text_is_an_error_of_ordinary_size(text: str):
    assert all(len(line) < 300 for line in told(text).splitlines())
    assert problems(text)


PROGRAM = """\
policy on failure digest
group "G" first match
rule "A" with x {"y": [1, null]}
  when task w failed 3 times in a row
   and any of ( action a or not user says hi(*, 2) previous turn )
   and rule "B" never fired
  then a, "b c"
output a from the 2nd time
  say "x" or "y" after 5 ms
  quick reply "z" means yes(no)
check "c"
  turn "x"
    task w fails status 503
    expect say "x"
"""
PIECES = re.findall(r'\s+|"[^"]*"|\w+|.', PROGRAM)
EDITS = st.tuples(
    st.integers(0, len(PROGRAM)),
    st.integers(0, 12),
    st.sampled_from([*PIECES, "", "“", '"', "\\", "\r", "\u2028", "{", "#"]),
)
JUMBLE = st.lists(st.sampled_from([*PIECES, "(", ")", "and", "or", "rule", "when", "then", "\n"]), max_size=30).map(
    " ".join
)


def sound(text: str | bytes) -> None:
    """Holds for every text: no traceback, no terminal's name, a place inside the text, one error an item."""
    items, found = read(text, "f")
    assert all(isinstance(item, Item) for item in items)
    for problem in found:
        assert problem.file == "f"
        if isinstance(problem, MarkedProblem):
            assert problem.line > 0
            assert problem.column > 0
            words_of_ours = re.sub(r"[`\"].*[`\"]|U\+\w+|JSON", "", problem.message + problem.hint)
            assert not re.search(r"__|\b[A-Z]{3,}\b|[\n\r]", words_of_ours)
    places = [(one.line, one.column) for one in found]
    assert places == sorted(places)


BEGINNINGS = (
    *('rule "A" when user says hi or', 'rule "A" when context c is "x" and', 'check "c" turn expect'),
    *("steps parser", 'output x say "a" after 1', 'output x quick reply "a"'),
)
BEGUN = st.tuples(st.sampled_from(BEGINNINGS), JUMBLE).map(" ".join)


@given(st.binary(max_size=60) | st.text(max_size=60) | JUMBLE | BEGUN)
@settings(max_examples=150)
def test_any_bytes_are_read_or_told(text: str | bytes):
    sound(text)


def edited(changes: list[tuple[int, int, str]]) -> str:
    text = PROGRAM
    for at, length, new in changes:
        text = text[:at] + new + text[at + length :]
    return text


@given(st.lists(EDITS, min_size=1, max_size=4).map(edited))
@settings(max_examples=150)
def test_any_edit_of_a_program_is_read_or_told(text: str):
    sound(text)


@pytest.mark.soak
@given(
    st.binary(max_size=200)
    | st.text(max_size=200)
    | JUMBLE
    | BEGUN
    | st.lists(EDITS, min_size=1, max_size=8).map(edited)
)
@settings(max_examples=20_000)
def test_any_text_is_read_or_told(text: str | bytes):
    sound(text)


# Rendering


def test_the_caret_stands_below_wide_letters_tabs_and_accents():
    text = "\t你好 e\u0301x"
    one = mark(source(text), text.index("x"), text.index("x") + 1)
    assert (one.indent, one.width) == (1 + 4 + 1 + 1, 1)
    assert one.shown == " 你好 e\u0301x"


def test_a_long_line_is_shown_around_the_mark():
    text = "a" * 500 + "b" + "c" * 500
    one = mark(source(text), 500, 501)
    assert one.shown[one.indent] == "b"
    assert (one.shown[0], one.shown[-1], len(one.shown)) == ("…", "…", 102)


def test_a_mark_ends_with_its_line_and_has_a_width_behind_it():
    read = source("ab\ncd")
    assert (mark(read, 1, 5).width, mark(read, 5, 6).width, mark(read, 5, 6).indent) == (1, 1, 2)


def test_a_word_is_shown_short_and_visible():
    assert shown("a\u200b\n" + "x" * 100) == "a\\u200b\\n" + "x" * 37 + "…"


def test_lines_between_marks_are_left_out():
    read = source("a\nb\nc\nd")
    also = (mark(read, 0, 1, "here"),)
    problem = marked(read, 6, 7, code="X", message="m", note="there", hint="do", also=also)
    expected = "4:1: error[X]: m\n  1 | a\n    | - here\n  ...\n  4 | d\n    | ^ there\n  help: do"
    assert str(problem) == expected


# Words


@given(st.text('ab"\\# \n\r(9.-', max_size=40))
def test_words_are_the_text_without_blanks_and_comments(text: str):
    found = list(words(text))
    assert all(text[one.start : one.end] == one.text for one in found)
    assert [word_at(text, one.start).first for one in found] == [one.first for one in found]


def test_an_item_word_in_a_text_or_comment_begins_no_item():
    text = 'rule x\n"\nrule # output\n# rule\n"rule\noutput" "\n rule'
    assert next_item(text, 0, 1) == text.index("rule # output")
    assert next_item("rule # \noutput", 0, 1) == 8
    assert next_item('rule\n say "\\\n"', 0, 1) is None


def test_an_unclosed_text_is_known():
    assert [Word(text, 0, 0).is_open for text in ('"a"', '"a', '"', '"a\\"', '""')] == [False, True, True, True, False]
