"""The pytest plugin: checks of texts are collected as test items."""

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points

import pytest

from doors import ROOT

pytest_plugins = ["pytester"]

MODULE = "turnout.app.pytest_plugin"
# Installed, it is loaded by its entry point; to be found twice under two names is an error.
LOADED = any(point.value == MODULE for point in entry_points(group="pytest11"))
OPTIONS = ["-p", "no:cacheprovider", *([] if LOADED else ["-p", MODULE])]

GOOD = 'rule "A" when always then a\ncheck "good one"\n  turn "x"\n    expect action a\n'
BAD = f'{GOOD}check "bad one"\n  turn "x"\n    expect rule "A" stays silent\n'


def test_the_plugin_is_an_entry_point_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"turnout": MODULE}


def test_each_check_is_an_item_by_its_name(pytester: pytest.Pytester) -> None:
    pytester.makefile(".turnout", desk=BAD)
    result = pytester.runpytest_inprocess(*OPTIONS, "--collect-only", "-q")
    result.stdout.fnmatch_lines(["desk.turnout::good one", "desk.turnout::bad one"])


def test_a_failure_says_what_was_expected_and_why_it_was_not_so(pytester: pytest.Pytester) -> None:
    pytester.makefile(".turnout", desk=BAD)
    result = pytester.runpytest_inprocess(*OPTIONS)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            '*check "bad one"*',
            "*desk.turnout:7:5: turn 1",
            '  expected  rule "A" stays silent',
            '  actual    rule "A"',
            '  why       rule "A" fired, for it has no conditions',
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "testing.py" not in result.stdout.str()


def test_a_text_that_does_not_load_is_an_error_with_its_problems(pytester: pytest.Pytester) -> None:
    pytester.makefile(".turnout", desk='rule "A"\n  when task weather faild\n  then a\n')
    result = pytester.runpytest_inprocess(*OPTIONS)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*desk.turnout:2:21: error*R001*: unexpected word `faild`"])
    assert "Traceback" not in result.stdout.str()


def test_checks_of_one_name_are_told_apart(pytester: pytest.Pytester) -> None:
    pytester.makefile(".turnout", desk=f'{GOOD}check "good one"\n  turn "x"\n    expect action b\n')
    result = pytester.runpytest_inprocess(*OPTIONS, "desk.turnout::good one [2]")
    result.assert_outcomes(failed=1)


def test_what_cannot_be_printed_is_escaped(pytester: pytest.Pytester) -> None:
    """A lone surrogate in a name or in what was expected ends no run of pytest."""
    check = GOOD.replace("good one", "bad \\ud800 name") + '    expect say "\\ud801"\n'
    pytester.makefile(".turnout", desk=check)
    result = pytester.runpytest_subprocess(*OPTIONS, "-v")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*bad *ud800 name*", "*expected *ud801*"])


def test_python_tests_stand_beside_checks(pytester: pytest.Pytester) -> None:
    pytester.makefile(".turnout", desk=GOOD)
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest_inprocess(*OPTIONS).assert_outcomes(passed=2)


def test_several_processes_share_the_checks(pytester: pytest.Pytester) -> None:
    pytester.makefile(".turnout", desk=BAD)
    pytester.runpytest_subprocess(*OPTIONS, "-n", "2").assert_outcomes(passed=1, failed=1)


def test_without_a_text_nothing_but_the_plugin_itself_is_imported() -> None:
    program = f"import sys, {MODULE}; print([name for name in sys.modules if name.startswith('turnout.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"['turnout.app', '{MODULE}']"
