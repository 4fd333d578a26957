"""The formatter: one layout, the author's order, every comment kept."""

import pytest

from turnout.grammar.comments import moved
from turnout.grammar.fmt import format_text, read_alike
from turnout.grammar.parser import source
from turnout.grammar.recover import read_items
from turnout.rules.errors import LoadError


def test_a_text_is_laid_out_in_the_one_way_there_is() -> None:
    text = 'set append_actions true set "x" [1,2] rule "A"with _a 1 when action "a"and user says "b(*)"then a'
    text += ' output a say"x"or say"y"'
    assert format_text(text) == (
        "set append_actions on\n"
        "set x [1, 2]\n"
        "\n"
        'rule "A" with _a 1\n'
        "  when action a\n"
        "   and user says b(*)\n"
        "  then a\n"
        "\n"
        "output a\n"
        '  say "x"\n'
        '   or "y"\n'
    )


def test_items_keep_the_order_of_their_author() -> None:
    text = format_text('output a rule "A" when always then a output b group rule "B" when always then b language "en"')
    heads = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert heads == ["output a", 'rule "A"', "output b", "group", 'rule "B"', 'language "en"']


def test_a_turn_has_first_what_is_given_then_what_fails_then_what_is_expected() -> None:
    text = 'check "c" turn "x" expect action a task t times out given attachment "image/png" expect say nothing'
    assert format_text(text).splitlines()[2:] == [
        '    given attachment "image/png"',
        "    task t times out",
        "    expect action a",
        "    expect say nothing",
    ]


COMMENTED = """# about the file

# about the rule
rule "A"  # behind its name
  # about the first
  when action a  # first
   and  # in the middle
     # and more
     action b
  then a,  # one
       b
# about the output
output a  # end
# the last
"""


def test_comments_stay_with_what_they_are_about() -> None:
    assert format_text(COMMENTED) == (
        "# about the file\n"
        "# about the rule\n"
        'rule "A"  # behind its name\n'
        "  # about the first\n"
        "  when action a  # first\n"
        "   and  # in the middle\n"
        "     # and more\n"
        "     action b\n"
        "  then a,  # one\n"
        "    b\n"
        "\n"
        "# about the output\n"
        "output a  # end\n"
        "# the last\n"
    )


@pytest.mark.parametrize(
    "item",
    [
        'check "c"\n  turn user says hi\n    task weather fails status 503  # why\n    given context a "1"\n',
        'rule "A" with n 1e4  # four\n  when always\n  then a\n',
        'rule "A" with n -2.5  # less\n  when always\n  then a\n',
        'set x [-1.5e-7,  # one\n  22, {"a":  # key\n  30}]\n',
        'output a from the 12th  # count\n  time\n  say "x" after 500  # a while\n  ms\n',
    ],
)
def test_a_comment_never_stands_inside_a_number(item: str) -> None:
    laid_out = format_text(item)
    comment = item[item.index("#") :].partition("\n")[0]
    assert comment in laid_out
    assert read_alike(read_items(source(item))[0], laid_out)
    assert format_text(laid_out) == laid_out


def test_texts_that_read_to_other_items_are_not_alike() -> None:
    """The formatter writes nothing that does not read back to the same items."""
    text = read_items(source('rule "A" when always then a, b'))[0]
    assert read_alike(text, 'rule "A"  # why\n  when always\n  then a, b\n')
    assert not read_alike(text, 'rule "A"\n  when always\n  then b, a\n')
    assert not read_alike(text, 'rule "A"\n  when always\n  then a b\n')


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_formatted_again_a_text_stays_as_it_is_whatever_ends_its_lines(end: str) -> None:
    once = format_text("\ufeff" + COMMENTED.replace("\n", end))
    assert once == format_text(COMMENTED)
    assert format_text(once) == once


def test_comments_of_a_text_without_items_are_kept() -> None:
    assert format_text("  # a\n\n# b") == "# a\n# b\n"
    assert format_text("") == ""


def test_a_sign_of_comments_in_a_text_begins_none() -> None:
    text = 'output a\n  say "# no" # yes\n'
    assert format_text(text) == 'output a\n  say "# no"  # yes\n'


def test_what_does_not_load_is_formatted_and_what_cannot_be_parsed_is_told() -> None:
    assert format_text('rule "A" when condition "nogood" then a').endswith("  then a\n")
    with pytest.raises(LoadError) as raised:
        format_text('rule "A" then a\nrule "B" then b', "a.turnout")
    assert [problem.line for problem in raised.value.problems] == [1, 2]


def test_with_fix_quotes_and_blanks_become_plain_ones() -> None:
    assert format_text('rule “A "x"”\u00a0when\u200b\u2028always then ‘two words’ # “stays”', fix=True) == (
        'rule "A \\"x\\""\n  when always\n  then "two words"  # “stays”\n'
    )


def test_comments_of_what_is_written_anew_never_overtake_each_other() -> None:
    """The map of gaps is total and rising, and what stands before the end stays before it."""
    old, new = ["a", "b", "c", "d", "e", "f"], ["a", "x", "d", "y"]
    comments = [(gap, trailing, f"{gap}{trailing}") for gap in range(7) for trailing in (True, False)][1:]
    made = moved(comments, old, new)
    assert [words for _, _, words in made] == [words for _, _, words in comments]
    gaps = [gap for gap, _, _ in made]
    assert gaps == sorted(gaps)
    assert all((gap == len(new)) == (was == len(old)) for gap, (was, _, _) in zip(gaps, comments, strict=True))
