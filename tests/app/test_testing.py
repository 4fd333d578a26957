"""`turnout test`: what checks are given, what they expect, and how what failed is told."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from doors import RULES, turnout
from turnout.app.testing import Failure, read_suite, run_check
from turnout.rules.errors import LoadError

DESK = """\
policy
  on failure digest
  continue after failure

rule "Hello" when user says greeting(*) then greet
rule "Down" when task weather failed then apologise
rule "Leave" when user says bye then leave, CONVERSATION_END

output greet
  say "Hi!"
   or "Hello!"
  quick reply "Weather?" means weather(*)
output apologise
  say "It is down."
  show image with uri "cloud.png"

check "C"
  turn user says greeting(hello)
    task weather answers null
"""


def failures(folder: Path, text: str, number: int = 0) -> tuple[Failure, ...]:
    """What fails of a check in a text."""
    file = folder / "x.turnout"
    file.write_text(text, encoding="utf-8")
    suite = read_suite(file)
    return run_check(suite, suite.checks[number]).failures


def test_the_check_of_the_language_passes(tmp_path: Path) -> None:
    text = """\
policy
  on failure digest
  continue after failure
rule "Weather is down" when task weather failed this turn then fallback_response
output fallback_response from the 1st time
  say "Sorry, I can't reach the weather service right now."
   or "The weather service isn't answering. Please try again in a minute."
output fallback_response from the 2nd time
  say "Still no luck. I'll stop trying for now." after 500 ms
check "weather is down, twice"
  turn "What's the weather in Berlin?"
    task weather fails status 503 body "secret=abc"
    expect rule "Weather is down" fires
    expect action fallback_response
    expect say "Sorry, I can't reach the weather service right now."
            or "The weather service isn't answering. Please try again in a minute."
    expect model sees "API call to weather failed: HTTP 503"
    expect nobody sees "abc"
  turn user says weather(berlin)
    task weather times out
    expect no action greet
    expect say "Still no luck. I'll stop trying for now."
"""
    assert failures(tmp_path, text) == ()


@pytest.mark.parametrize(
    ("expectation", "actual"),
    [
        ("action greet", ""),
        ("action leave", "action greet"),
        ('action "leave now"', "action greet"),
        ("no action leave", ""),
        ("no action greet", "action greet"),
        ('say "Hi!" or "Hello!"', ""),
        ('say "Hi"', 'say "Hello!"'),
        ("say nothing", 'say "Hello!"'),
        ('quick reply "Weather?"', ""),
        ('quick reply "weather?"', 'quick reply "Weather?"'),
        ("state READY", ""),
        ("state ENDED", "state READY"),
        ('model sees "Hello"', ""),
        ('model sees "cloud"', 'model sees "Hello!"'),
        ('operator sees "Hello"', "operator sees nothing"),
        ('caller sees "weather(*)"', ""),
        ('caller sees "cloud"', 'caller sees "Hello!" and "Weather?" and "weather(*)"'),
        ('nobody sees "cloud"', ""),
        ('nobody sees "Hello"', "it stands in the reply, in what a model is sent and in the store"),
        ('rule "Hello" fires', ""),
        ('rule "Down" fires', 'rule "Hello"'),
        ('rule "Down" stays silent', ""),
        ('rule "Hello" stays silent', 'rule "Hello"'),
    ],
)
def test_an_expectation_that_is_not_met_says_what_there_was(tmp_path: Path, expectation: str, actual: str) -> None:
    found = failures(tmp_path, f"{DESK}    expect {expectation}\n")
    assert [failure.actual for failure in found] == ([actual] if actual else [])
    assert [failure.expected for failure in found] == ([expectation] if actual else [])


@pytest.mark.parametrize(
    ("expectation", "rule"),
    [('say "It is down."', "Down"), ("action apologise", "Down"), ('quick reply "Weather?"', "Hello")],
)
def test_what_is_missing_is_explained_by_the_rules_that_would_have_brought_it(
    tmp_path: Path, expectation: str, rule: str
) -> None:
    text = DESK.replace("greeting(hello)", "nothing_known")
    (failure,) = failures(tmp_path, f"{text}    expect {expectation}\n")
    assert failure.why[0] == f'rule "{rule}" did not fire'
    assert " did not hold: " in failure.why[1]


def test_what_should_not_be_is_explained_by_the_rules_that_fired(tmp_path: Path) -> None:
    (failure,) = failures(tmp_path, f"{DESK}    expect no action greet\n")
    assert failure.why == (
        'rule "Hello" fired',
        "  user says greeting(*) held: expressions this turn: greeting(hello)",
    )


def test_a_rule_that_was_not_reached_names_the_one_before_it(tmp_path: Path) -> None:
    text = DESK.replace('rule "Leave"', 'rule "Again" when user says greeting(*) then greet\nrule "Leave"')
    (failure,) = failures(tmp_path, f'{text}    expect rule "Again" fires\n')
    assert failure.why == ('rule "Again" was not reached, for rule "Hello" fired before it',)


@pytest.mark.parametrize(
    ("fault", "error_type"),
    [
        ("fails", "unknown"),
        ("fails status 503", "http"),
        ("fails status 429", "rate_limit"),
        ("fails status 504", "timeout"),
        ('fails error "too many requests"', "rate_limit"),
        ("times out", "timeout"),
    ],
)
def test_a_task_fails_with_the_type_of_its_error(tmp_path: Path, fault: str, error_type: str) -> None:
    types = ("timeout", "transport", "rate_limit", "http", "unknown")
    rules = "".join(f'rule "{one}" when task t failed due to {one} then {one}_seen\n' for one in types)
    expected = "".join(f"expect {'' if one == error_type else 'no '}action {one}_seen\n" for one in types)
    text = f'policy continue after failure\ngroup all matches\n{rules}check "C" turn task t {fault} {expected}'
    assert failures(tmp_path, text) == ()


def test_an_error_message_beside_a_status_lies_beneath_it(tmp_path: Path) -> None:
    turn = 'turn task weather fails status 502 error "it rains in" expect caller sees'
    text = f'{DESK}  {turn} "API call to weather failed: HTTP 502: it rains in"\n'
    assert failures(tmp_path, text) == ()


def test_a_secret_in_an_error_message_that_comes_through_is_caught_wherever_it_stands(tmp_path: Path) -> None:
    turn = 'turn task weather fails error "customer 4711 is unknown" expect nobody sees "4711"'
    (failure,) = failures(tmp_path, f"{DESK}  {turn}\n")
    for place in ("`taskErrors`", "what a model is sent", "the events", "the logs", "the store"):
        assert place in failure.actual


def test_what_a_task_answers_stands_where_rules_read_it(tmp_path: Path) -> None:
    text = """\
steps weather, httpcalls "calls.httpcalls.json", rules
group all matches
rule "Own" when value memory.current.httpCalls.weather.temp is "3" then a
rule "Call" when value memory.current.httpCalls.forecast is "rain" then a
rule "Succeeded" when task weather succeeded and task ai.labs.httpcalls succeeded then a
check "C"
  turn
    task weather answers {"temp": 3}
    task ai.labs.httpcalls answers {"forecast": "rain"}
    expect rule "Own" fires
    expect rule "Call" fires
    expect rule "Succeeded" fires
"""
    calls = '{"targetServerUrl": "http://127.0.0.1:9", "httpCalls": []}'
    (tmp_path / "calls.httpcalls.json").write_text(calls, encoding="utf-8")
    assert failures(tmp_path, text) == ()


def test_a_task_that_a_turn_does_not_name_does_nothing_there(tmp_path: Path) -> None:
    """Nothing listens at the address: if the call were made, it would fail."""
    text = """\
policy continue after failure
steps weather, httpcalls "calls.httpcalls.json", rules
group all matches
rule "Ran" when any of ( task weather succeeded or task ai.labs.httpcalls succeeded ) then a
rule "Failed" when any of ( task weather failed or task ai.labs.httpcalls failed ) then b
check "C"
  turn
    expect rule "Ran" stays silent
    expect rule "Failed" stays silent
"""
    call = '{"name": "c", "actions": ["*"], "request": {"path": "/"}}'
    calls = f'{{"targetServerUrl": "http://127.0.0.1:9", "httpCalls": [{call}]}}'
    (tmp_path / "calls.httpcalls.json").write_text(calls, encoding="utf-8")
    assert failures(tmp_path, text) == ()


def test_a_built_in_task_can_fail_as_well(tmp_path: Path) -> None:
    turn = "turn user says greeting(x) task ai.labs.output fails expect say nothing expect caller sees"
    assert failures(tmp_path, f"{DESK}  {turn} \"Task 'eddi://ai.labs.output' failed\"\n") == ()


def test_a_failed_task_of_one_turn_works_in_the_next(tmp_path: Path) -> None:
    text = f'{DESK}  turn task weather fails expect rule "Down" fires\n  turn "x" expect rule "Down" stays silent\n'
    assert failures(tmp_path, text) == ()


def test_what_is_given_is_there(tmp_path: Path) -> None:
    text = """\
group all matches
rule "Voice" when context channel is "voice" then a
rule "Lang" when value properties.lang is "de" then b
rule "Picture" when condition "contentTypeMatcher" with mimeType "image/*" then c
rule "Live" when condition "deploymentContext" with "when" "production" then d
rule "Gold" when context customer at tier is "gold" then e
check "all along"
  given context channel "voice"
  given property lang "de"
  given environment "production"
  given attachment "image/png"
  turn
    expect rule "Voice" fires expect rule "Lang" fires expect rule "Picture" fires expect rule "Live" fires
    expect rule "Gold" stays silent
  turn "x"
    given context channel "mail"
    given context customer {"tier": "gold"}
    given property lang "en"
    given environment "test"
    expect rule "Voice" stays silent expect rule "Lang" stays silent expect rule "Live" stays silent
    expect rule "Gold" fires
  turn "y"
    expect rule "Voice" fires expect rule "Gold" stays silent
check "in its own conversation"
  turn
    expect rule "Voice" stays silent expect rule "Lang" stays silent
"""
    assert failures(tmp_path, text) == ()
    assert failures(tmp_path, text, 1) == ()


def test_a_turn_is_typed_or_meant_or_the_opening_one(tmp_path: Path) -> None:
    text = """\
steps parser, rules
group all matches
rule "Typed" when user says unknown(Hello) then a
rule "Meant" when user says greeting(hello) then b
rule "Opening" when action CONVERSATION_START then c
check "C"
  turn "Hello" expect model sees "Hello"
    expect action a expect no action b
  turn user says greeting(hello)
    expect action b expect no action a expect no action c
  turn
    expect action c expect no action a
"""
    assert failures(tmp_path, text) == ()


def test_a_turn_after_the_end_fails_the_check(tmp_path: Path) -> None:
    (failure,) = failures(tmp_path, f'{DESK}  turn user says bye expect state ENDED\n  turn "more"\n  turn "more"\n')
    assert (failure.turn, failure.expected, failure.actual) == (3, "a turn", "the conversation has ended")


def test_a_check_of_alternatives_goes_the_same_in_each_run(tmp_path: Path) -> None:
    text = f'{DESK}    expect say "Hi!"\n'
    assert len({failures(tmp_path, text) for _ in range(5)}) == 1


@pytest.mark.parametrize(
    ("turn", "code", "hint"),
    [
        ('expect rule "Dwon" fires', "C002", "did you mean `Down`?"),
        ('expect rule "Dwon" stays silent', "C002", "did you mean `Down`?"),
        ("expect state REDY", "C003", "did you mean `READY`?"),
        ("task weather fails task weather times out", "C004", "leave one of them out"),
    ],
)
def test_a_check_that_could_never_fail_does_not_load(tmp_path: Path, turn: str, code: str, hint: str) -> None:
    text = f"{DESK}  turn {turn}\n"
    with pytest.raises(LoadError) as raised:
        failures(tmp_path, text)
    (problem,) = (one for one in raised.value.problems if one.severity == "error")
    assert (problem.code, problem.hint, problem.line) == (code, hint, text.count("\n"))


def test_a_check_names_the_tasks_of_its_agents_steps(tmp_path: Path) -> None:
    text = 'steps rules, weather\nrule "A" when always then a\ncheck "C"\n  turn\n    task wether fails\n'
    with pytest.raises(LoadError) as raised:
        failures(tmp_path, text)
    problem = next(one for one in raised.value.problems if one.severity == "error")
    assert (problem.code, problem.line, problem.column) == ("C001", 5, 10)
    assert problem.hint == "did you mean `weather`?"


def test_http_calls_answer_with_an_object(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="C005"):
        failures(tmp_path, f"{DESK}  turn task ai.labs.httpcalls answers 3\n")


def written(folder: Path, *expectations: str, name: str = "x.turnout") -> Path:
    """A text with one check for each expectation, of which the first is that of the file."""
    checks = (f'check "{number}" turn "x" expect {one}\n' for number, one in enumerate(expectations))
    file = folder / name
    file.write_text('rule "A" when always then a\n' + "".join(checks), encoding="utf-8")
    return file


def test_checks_that_pass_end_with_0_and_one_that_fails_with_1(tmp_path: Path) -> None:
    file = written(tmp_path, "action a")
    assert turnout("test", file).code == 0
    ended = turnout("test", written(tmp_path, "action a", "action b"))
    assert ended.code == 1
    assert f'{file.as_posix()}:3:20: failed: check "1", turn 1\n' in ended.out
    assert "  expected  action b\n  actual    action a\n" in ended.out
    assert ended.out.endswith(": 1 of 2 checks failed\n")


def test_where_nothing_loads_all_of_it_is_told_at_once(tmp_path: Path) -> None:
    for name in ("y", "z"):
        (tmp_path / f"{name}.turnout").write_text('rule "A"', encoding="utf-8")
    ended = turnout("test", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert "y.turnout" in ended.err
    assert "z.turnout" in ended.err


def test_a_file_that_does_not_load_keeps_no_other_from_being_run(tmp_path: Path) -> None:
    written(tmp_path, "action b")
    (tmp_path / "y.turnout").write_text('rule "A"', encoding="utf-8")
    ended = turnout("test", tmp_path, "--junit", tmp_path / "r.xml")
    assert ended.code == 2
    assert "y.turnout" in ended.err
    assert "1 of 1 check failed" in ended.out
    (problem,) = turnout("test", tmp_path, "--json").data["problems"]
    assert problem["severity"] == "error"
    suite, broken = ET.parse(tmp_path / "r.xml").getroot()
    assert (suite.get("errors"), broken.get("errors"), broken[0][0].tag) == ("0", "1", "error")


@pytest.mark.parametrize(
    ("turns", "code", "column"),
    [
        ('turn "x"', "C006", 1),
        ('turn "x" expect action a turn "x"', "C006", 36),
        ('turn "x" expect no action b', "C007", 20),
        ('turn "x" expect nobody sees ""', "C008", 20),
        ('turn "x" turn "x" expect no action a', None, 0),
        ('turn "x" task t fails expect no action b', None, 0),
        ('turn "x" expect no action task_failed_t expect no action CONVERSATION_END', None, 0),
    ],
)
def test_a_check_that_can_never_fail_is_told(tmp_path: Path, turns: str, code: str | None, column: int) -> None:
    file = tmp_path / "x.turnout"
    file.write_text(f'rule "A" when user says a then a\ncheck "C" {turns}\n', encoding="utf-8")
    found = [(one.code, one.severity, one.line, one.column) for one in read_suite(file).warnings]
    assert found == ([(code, "warning", 2, column)] if code else [])
    ended = turnout("test", file)
    assert (code is None) or f"warning[{code}]" in ended.err


def test_a_file_counts_once_by_whatever_paths_it_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, "action a")
    assert len(turnout("test", file, tmp_path / "." / ".." / tmp_path.name, "--json").data["checks"]) == 1


def test_the_total_is_told_of_several_files_only(tmp_path: Path) -> None:
    file = written(tmp_path, "action a")
    assert turnout("test", file).err == ""
    assert turnout("test", file, written(tmp_path, "action a", name="y.turnout")).err == "2 checks passed\n"


def test_the_logs_are_searched_and_not_shown(tmp_path: Path) -> None:
    text = f'{DESK}  turn task weather fails error "e-1" expect operator sees "e-2"\n'
    (failure,) = failures(tmp_path, text)
    assert "e-1" in failure.actual
    assert "failed" not in failure.actual.replace("failed:", "")


def test_a_folder_is_searched_but_for_hidden_folders(tmp_path: Path) -> None:
    inner, hidden = tmp_path / "inner", tmp_path / ".venv"
    inner.mkdir()
    hidden.mkdir()
    written(inner, "action a")
    written(hidden, "action b")
    ended = turnout("test", tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert "1 check passed" in ended.out


@pytest.mark.parametrize("name", ["", "none.turnout"])
def test_where_there_is_nothing_to_run_it_is_told_so(tmp_path: Path, name: str) -> None:
    ended = turnout("test", tmp_path / name)
    assert (ended.code, ended.out) == (2, "")
    assert "there is no" in ended.err


def test_a_file_that_is_no_text_of_rules_is_refused() -> None:
    ended = turnout("test", RULES)
    assert (ended.code, ended.out) == (2, "")
    assert "is no text of rules" in ended.err


def test_json_holds_each_check_with_what_failed(tmp_path: Path) -> None:
    file = written(tmp_path, "action a", "action b")
    ended = turnout("test", file, "--json")
    good, bad = ended.data["checks"]
    assert ended.code == 1
    assert (good["name"], good["passed"], good["failures"]) == ("0", True, [])
    (failure,) = bad["failures"]
    place = {"file": file.as_posix(), "line": 3, "column": 20, "turn": 1}
    assert failure == {**place, "expected": "action b", "actual": "action a", "why": []}


def test_junit_counts_the_checks_and_holds_what_failed(tmp_path: Path) -> None:
    target = tmp_path / "results.xml"
    written(tmp_path, "action a", "action b", 'say "\\u0001\\ud800<"')
    assert turnout("test", tmp_path, "--junit", target).code == 1
    (suite,) = ET.parse(target).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")
    good, bad, odd = suite
    assert len(good) == 0
    assert bad[0].get("message") == "expected action b, actual action a"
    assert "x.turnout:3:20" in str(bad[0].text)
    assert "<" in str(odd[0].get("message"))


def test_junit_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    written(tmp_path, "action a")
    ended = turnout("test", tmp_path, "--junit", tmp_path / "none" / "results.xml")
    assert ended.code == 2
    assert "cannot be written" in ended.err


def test_the_short_name_of_a_step_is_asked_about_in_faults(tmp_path: Path) -> None:
    text = 'steps parser, rules\nrule "A" when always then a\ncheck "C" turn task rules fails expect action a\n'
    with pytest.raises(LoadError, match=r"did you mean `ai\.labs\.behavior`\?"):
        failures(tmp_path, text)
