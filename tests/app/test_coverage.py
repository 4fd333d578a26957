"""`turnout test --coverage`: what the checks have seen of rules, conditions and outputs, and what they have not."""

from pathlib import Path
from typing import Any

import pytest

from doors import turnout

ALL = """\
policy continue after failure
rule "A" when user says a(*) then greet
rule "B" when always then explain
output greet say "Hi!"
output explain say "Hm."
"""


def covered(folder: Path, text: str, name: str = "x.turnout") -> Any:
    """The coverage of a text by its checks."""
    (folder / name).write_text(text, encoding="utf-8")
    return turnout("test", folder, "--coverage", "--json").data["coverage"]


def gaps(folder: Path, text: str) -> list[str]:
    """The gaps, as `line: gap: what`."""
    return [f"{gap['line']}: {gap['gap']}: {gap['what']}" for gap in covered(folder, text)["gaps"]]


def test_everything_seen_is_100_percent(tmp_path: Path) -> None:
    text = f'{ALL}check "C" turn user says a(x) turn user says b(x)\n'
    assert covered(tmp_path, text) == {"percent": 100.0, "seen": 6, "of": 6, "gaps": []}


def test_without_checks_everything_is_a_gap(tmp_path: Path) -> None:
    assert gaps(tmp_path, ALL) == [
        '2: never fired: rule "A"',
        "2: never true: user says a(*)",
        "2: never false: user says a(*)",
        '3: never fired: rule "B"',
        "4: never said: output greet",
        "5: never said: output explain",
    ]


def test_a_condition_has_to_be_seen_both_true_and_false(tmp_path: Path) -> None:
    text = f'{ALL}check "C" turn user says a(x)\n'
    assert "2: never false: user says a(*)" in gaps(tmp_path, text)
    text = f'{ALL}check "C" turn user says b(x)\n'
    assert "2: never true: user says a(*)" in gaps(tmp_path, text)


def test_conditions_are_seen_at_every_depth(tmp_path: Path) -> None:
    text = """\
rule "A" when any of ( user says a or not ( all of ( user says b and user says c ) ) ) then x
check "C"
  turn user says b
"""
    assert gaps(tmp_path, text) == [
        "1: never false: any of ( user says a or not ( all of ( user says b and user says c ) ) )",
        "1: never true: user says a",
        "1: never false: not ( all of ( user says b and user says c ) )",
        "1: never true: all of ( user says b and user says c )",
        "1: never false: user says b",
        "1: never true: user says c",
    ]


def test_a_condition_behind_one_that_decided_was_not_seen(tmp_path: Path) -> None:
    text = 'rule "A" when user says a and action x previous turn then x\ncheck "C" turn user says b\n'
    assert "1: never false: action x previous turn" in gaps(tmp_path, text)


def test_a_rule_that_was_not_reached_was_not_seen(tmp_path: Path) -> None:
    text = 'rule "A" when always then x\nrule "B" when user says b then x\ncheck "C" turn user says b turn "c"\n'
    assert gaps(tmp_path, text) == [
        '2: never fired: rule "B"',
        "2: never true: user says b",
        "2: never false: user says b",
    ]


def test_a_rule_that_a_failure_made_true_fired_even_behind_one_that_had_the_word(tmp_path: Path) -> None:
    text = """\
policy continue after failure
rule "A" when not task t failed then x
rule "B" when task t failed then y
check "C" turn user says b task t fails
"""
    assert '3: never fired: rule "B"' not in gaps(tmp_path, text)


def test_what_a_dependency_looks_at_is_not_seen_of_the_other_rule(tmp_path: Path) -> None:
    text = """\
rule "A" when rule "B" would fire then x
rule "B" when user says b then x
check "C" turn user says b
"""
    assert "2: never true: user says b" in gaps(tmp_path, text)


def test_an_output_is_said_when_its_count_comes(tmp_path: Path) -> None:
    text = """\
rule "A" when always then greet
output greet
  say "Hi!"
output greet from the 2nd time
  say "Again?"
output greet from the 3rd time
  say "And again?"
check "C" turn "a" turn "b"
"""
    assert gaps(tmp_path, text) == ["6: never said: output greet from the 3rd time"]


def test_an_output_whose_step_failed_was_not_said(tmp_path: Path) -> None:
    text = """\
policy continue after failure
rule "A" when always then greet
output greet say "Hi!"
check "C" turn "a" task ai.labs.output fails
"""
    assert gaps(tmp_path, text) == ["3: never said: output greet"]


def test_equal_outputs_of_two_agents_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "y.turnout").write_text(ALL, encoding="utf-8")
    found = covered(tmp_path, f'{ALL}check "C" turn user says a(x) turn user says b(x)\n')
    assert (found["seen"], found["of"]) == (6, 12)


def test_rules_that_two_agents_share_count_once(tmp_path: Path) -> None:
    steps = 'steps rules "shared.turnout"\ncheck "C" turn user says a(x) turn user says b(x)\n'
    (tmp_path / "shared.turnout").write_text('rule "A" when user says a(*) then greet\n', encoding="utf-8")
    assert covered(tmp_path, steps) == {"percent": 100.0, "seen": 3, "of": 3, "gaps": []}


@pytest.mark.parametrize(("least", "code"), [(0, 0), (66.6, 0), (66.7, 1), (100, 1)])
def test_less_than_is_asked_for_ends_with_1(tmp_path: Path, least: float, code: int) -> None:
    """Two of three were seen; the percentage is never rounded up."""
    text = 'rule "A" when user says a then x\ncheck "C" turn user says a\n'
    (tmp_path / "x.turnout").write_text(text, encoding="utf-8")
    assert turnout("test", tmp_path, "--fail-under", least).code == code


def test_the_gaps_are_printed_with_their_places(tmp_path: Path) -> None:
    file = tmp_path / "x.turnout"
    file.write_text(ALL, encoding="utf-8")
    ended = turnout("test", file, "--coverage")
    assert "0 % covered: 0 of 2 rules fired, 0 of 1 conditions true, 0 of 1 conditions false, 0 of 2" in ended.out
    assert f"  {file.as_posix()}:2:25: never true: user says a(*)\n" in ended.out


def test_what_is_asked_for_is_compared_exactly(tmp_path: Path) -> None:
    file = tmp_path / "x.turnout"
    text = 'rule "A" when user says a then x\ncheck "C" turn user says a expect action x\n'
    file.write_text(text, encoding="utf-8")
    data = turnout("test", file, "--coverage", "--json").data["coverage"]
    exact = 100 * data["seen"] / data["of"]
    assert data["percent"] < exact
    assert turnout("test", file, "--fail-under", f"{data['percent'] + 0.01:.2f}").code == 0
    assert turnout("test", file, "--fail-under", f"{data['percent'] + 0.1:.1f}").code == 1
