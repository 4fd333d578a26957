"""What is said of a dictionary, and of the dictionaries and corrections of a parser step."""

import json
from pathlib import Path
from typing import Any

import pytest

from building import problems_of
from turnout.rules.agents import AgentDefinition, ParserSettings
from turnout.rules.dictionaries import KINDS, Dictionary
from turnout.rules.errors import LoadError, Problem
from turnout.rules.folders import read_agent


def said(file: dict[str, Any]) -> tuple[Problem, ...]:
    """All that is said of a dictionary, of which each key and value has a line."""
    return problems_of(Dictionary, file)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[A-Za-z0-9,.@_-]*$",
        r"(?<year>\d{4})-\d{2}",
        r"(?i)\p{L}++|\p{IsLatin}*",
        "[a-z&&[^aeiou]]{1,5000}",
        r"\(\w{5000}\)",
        "(?:a{99999}){1,1}",
        "(?P<all>(?=(?<!b)a{99997}))",
    ],
)
def test_a_pattern_that_can_be_read_is_said_nothing_of(pattern: str) -> None:
    assert said({"regExs": [{"regEx": pattern, "expressions": "x"}]}) == ()


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a", "missing ), near character 3 of it"),
        ("a)", "unbalanced parenthesis, near character 2 of it"),
        ("[a-", "unterminated character set, near character 4 of it"),
        (r"\Qa\E", "bad escape \\Q, near character 3 of it"),
        ("(" * 5000 + ")" * 5000, "it is nested too deep"),
        ("(?:a{9999}){9999}", "it asks for more than 100,000 characters"),
        ("((((a{99}){99}){99}){99})", "it asks for more than 100,000 characters"),
        ("a{999999999}", "it asks for more than 100,000 characters"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_an_error_at_its_place(pattern: str, why: str) -> None:
    (problem,) = said({"words": [], "regExs": [{"regEx": pattern, "expressions": "x"}]})
    assert (problem.code, problem.severity, problem.line, problem.column) == ("V007", "error", 5, 13)
    assert problem.message.startswith("regular expression `")
    assert problem.message.endswith(f"` cannot be read: {why}")


def test_a_pattern_under_its_older_key_is_found_there() -> None:
    problem = next(each for each in said({"regExs": [{"regex": "(a", "exp": "x"}]}) if each.severity == "error")
    assert (problem.code, problem.line, problem.column) == ("V007", 4, 13)


@pytest.mark.parametrize("expressions", [None, "", " "])
def test_a_pattern_without_expressions_is_a_warning(expressions: str | None) -> None:
    (problem,) = said({"regExs": [{"regEx": "a", "expressions": expressions}]})
    assert (problem.code, problem.severity, problem.line) == ("V001", "warning", 3)
    assert problem.message == "regular expression `a` has no `expressions`, and means nothing"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ({"words": [{"word": "?!"}]}, "word `?!` has nothing but punctuation in it, and is never found"),
        ({"words": [{"word": "a"}, {"word": ""}]}, "word 2 is blank, and is never found"),
        ({"regExs": [{"regEx": "", "expressions": "x"}]}, "regular expression 1 is blank, and is never found"),
        ({"phrases": [{"phrase": " \n"}]}, "phrase 1 is blank, and is never found"),
        ({"phrases": [{"phrase": "- -"}]}, "phrase `- -` has nothing but punctuation in it, and is never found"),
    ],
)
def test_an_entry_that_is_never_found_is_a_warning(file: dict[str, Any], message: str) -> None:
    (problem,) = said(file)
    assert (problem.severity, problem.message) == ("warning", message)


@pytest.mark.parametrize("expressions", ["greeting(hello", "greeting hello)", "a(b))", ")a("])
@pytest.mark.parametrize(
    ("key", "name"), [("words", "word"), ("phrases", "phrase"), ("regExs", "regEx")], ids=["word", "phrase", "pattern"]
)
def test_brackets_that_do_not_match_are_a_warning(key: str, name: str, expressions: str) -> None:
    (problem,) = said({key: [{name: "hello", "expressions": expressions}]})
    assert (problem.code, problem.severity, problem.line, problem.column) == ("V007", "warning", 5, 19)
    assert problem.message.endswith(f"`hello`: the brackets of `{expressions}` do not match")


def test_entries_of_any_script_are_said_nothing_of() -> None:
    words = [{"word": "👍", "expressions": "yes(x), a(b(c))"}, {"word": "$5"}, {"word": "日本"}]
    assert said({"words": words, "phrases": [{"phrase": "Yes, please!"}]}) == ()


def loaded(folder: Path, **extensions: Any) -> AgentDefinition:
    """The agent with a parser step of these extensions, in a folder with the dictionary `own`."""
    step = {"type": "eddi://ai.labs.parser", "extensions": extensions}
    own = {"words": [{"word": "hello", "expressions": "greeting(hello)"}]}
    (folder / "a.agent.json").write_text('{"workflows": ["w.workflow.json"]}', encoding="utf-8")
    (folder / "w.workflow.json").write_text(json.dumps({"workflowSteps": [step]}), encoding="utf-8")
    (folder / "own.regulardictionary.json").write_text(json.dumps(own), encoding="utf-8")
    return read_agent(folder)


def settings(agent: AgentDefinition) -> ParserSettings:
    (step,) = agent.steps
    assert isinstance(step.settings, ParserSettings)
    return step.settings


REGULAR = "eddi://ai.labs.parser.dictionaries.regular"
OWN = {"type": REGULAR, "config": {"uri": "own.regulardictionary.json"}}
LEVENSHTEIN = "eddi://ai.labs.parser.corrections.levenshtein"


def test_built_in_dictionaries_need_no_file_and_keep_their_place(tmp_path: Path) -> None:
    first, *others = [{"type": f"eddi://{address}"} for address in KINDS]
    agent = loaded(tmp_path, dictionaries=[first, OWN, *others])
    kinds = [kind for kind in settings(agent).dictionaries if isinstance(kind, str)]
    assert kinds == ["integer", "decimal", "ordinalNumber", "email", "time", "punctuation"]
    assert isinstance(settings(agent).dictionaries[1], Dictionary)
    assert agent.notes == ()


@pytest.mark.parametrize(
    ("type", "hint"),
    [
        ("eddi://ai.labs.parser.dictionaries.intger", "did you mean `eddi://ai.labs.parser.dictionaries.integer`?"),
        ("ai.labs.parser.dictionaries.emails", "did you mean `eddi://ai.labs.parser.dictionaries.email`?"),
        ("integer", "did you mean `eddi://ai.labs.parser.dictionaries.integer`?"),
        ("eddi://ai.labs.parser.dictionaries.french", "leave it out"),
    ],
)
def test_a_dictionary_of_another_type_is_a_warning(tmp_path: Path, type: str, hint: str) -> None:
    agent = loaded(tmp_path, dictionaries=[{"type": type}, OWN])
    problem = agent.notes[0]
    assert (problem.code, problem.severity, problem.hint) == ("A010", "warning", hint)
    assert problem.message == f"the dictionary `{type}` is not used here"
    assert len(settings(agent).dictionaries) == 1


def test_a_dictionary_of_ones_own_without_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="a dictionary of this type needs a file"):
        loaded(tmp_path, dictionaries=[{"type": REGULAR, "config": {}}])


def test_a_correction_of_an_old_file_writes_its_numbers_as_texts(tmp_path: Path) -> None:
    config = {"distance": "1", "lookupIfKnown": "false"}
    agent = loaded(tmp_path, dictionaries=[OWN], corrections=[{"type": LEVENSHTEIN, "config": config}])
    (correction,) = settings(agent).corrections
    assert correction.config.distance == 1
    assert [(note.code, note.severity) for note in agent.notes] == [("M003", "note"), ("K003", "note")]


def test_a_correction_corrects_two_letters_unless_said_otherwise(tmp_path: Path) -> None:
    agent = loaded(tmp_path, dictionaries=[OWN], corrections=[{"type": LEVENSHTEIN}])
    assert settings(agent).corrections[0].config.distance == 2
    assert agent.notes == ()


@pytest.mark.parametrize("kind", ["stemming", "phonetic", "mergedTerms", "levenstein"])
def test_a_correction_of_another_type_is_a_warning(tmp_path: Path, kind: str) -> None:
    written = f"eddi://ai.labs.parser.corrections.{kind}"
    agent = loaded(tmp_path, dictionaries=[OWN], corrections=[{"type": written}, {"type": LEVENSHTEIN}])
    (problem,) = agent.notes
    assert (problem.code, problem.severity, problem.line) == ("A010", "warning", 1)
    assert problem.message == f"the correction `{written}` is not used here"
    assert len(settings(agent).corrections) == 1


@pytest.mark.parametrize(("asks", "severity"), [(True, "warning"), ("true", "warning"), (False, "note")])
def test_known_words_are_never_corrected_and_who_asks_for_it_is_told(
    tmp_path: Path, asks: object, severity: str
) -> None:
    config = {"lookupIfKnown": asks}
    (problem,) = loaded(tmp_path, dictionaries=[OWN], corrections=[{"type": LEVENSHTEIN, "config": config}]).notes
    assert (problem.code, problem.severity) == ("K003", severity)
    assert problem.message.endswith("`lookupIfKnown` is kept and not used here")
