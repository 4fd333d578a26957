"""The parser task: dictionaries, quick replies, and what nothing knows."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from building import agent
from turnout.engine.conversation import Conversation
from turnout.engine.journal import Journal, render
from turnout.engine.tasks import FunctionTask
from turnout.rules.agents import ParserSettings, StepDefinition
from turnout.rules.dictionaries import Dictionary, Phrase, Word
from turnout.rules.expressions import Expression, parse


def dictionary(words: Mapping[str, str | None] = {}, phrases: Mapping[str, str | None] = {}) -> Dictionary:
    return Dictionary(
        words=tuple(Word(word=text, expressions=means) for text, means in words.items()),
        phrases=tuple(Phrase(phrase=text, expressions=means) for text, means in phrases.items()),
    )


def conversation(*dictionaries: Dictionary, offers: Sequence[Any] = ()) -> Conversation:
    """A conversation that parses, and offers the quick replies in each turn."""

    async def offer(turn: Journal) -> None:
        render(turn, "quickReplies:any", list(offers), offered=True)

    parser = StepDefinition(task="ai.labs.parser", settings=ParserSettings(dictionaries=dictionaries))
    return agent(parser, StepDefinition(task="offer"), tasks=[FunctionTask("offer", offer)]).conversation()


def expressions(made: Conversation, text: str) -> str:
    turn = made.say_sync(text)
    assert turn.state == "READY", turn.errors
    return made.memory.history.steps[-1].expressions


WEATHER = dictionary(
    {
        "weather": "trigger(current_weather)",
        "Hello": "greeting(hello)",
        "new": "age(new)",
        "york": "house(york)",
    },
    {"what is the weather": "trigger(now)", "New York": "city(ny)", "new york times": "paper(nyt), news"},
)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        pytest.param("hello", "greeting(hello)", id="a word, in any case"),
        pytest.param("  HELLO!! ", "greeting(hello)", id="punctuation at its edges is ignored"),
        pytest.param("¿«hello»?", "greeting(hello)", id="so is that of other languages"),
        pytest.param("hello,weather", "greeting(hello), trigger(current_weather)", id="a comma stands between words"),
        pytest.param("What is - the weather?", "trigger(now)", id="a phrase, with punctuation between its words"),
        pytest.param("new york", "city(ny)", id="a phrase goes before its words"),
        pytest.param("new york times", "paper(nyt), news", id="a longer phrase goes before a shorter one"),
        pytest.param("new york new", "city(ny), age(new)", id="a phrase that breaks off leaves its words"),
        pytest.param("york new", "house(york), age(new)", id="words in another order are no phrase"),
        pytest.param("Hello Vienna?", "greeting(hello), unknown(Vienna)", id="what nothing knows stays as typed"),
        pytest.param("what's up", "unknown(what's), unknown(up)", id="an apostrophe inside a word stays"),
        pytest.param("C++ 👍 $5", "unknown(C++), unknown(👍), unknown($5)", id="symbols are no punctuation"),
    ],
)
def test_input_becomes_expressions(text: str, means: str) -> None:
    assert expressions(conversation(WEATHER), text) == means


@pytest.mark.parametrize("typed", ["whats the weather", "what's the weather?", "What’s the weather"])
@pytest.mark.parametrize("entry", ["whats the weather", "what's the weather", "What’s the Weather?"])
def test_apostrophes_count_on_neither_side(entry: str, typed: str) -> None:
    assert expressions(conversation(dictionary(phrases={entry: "trigger(w)"})), typed) == "trigger(w)"


def test_an_accent_counts_the_same_composed_or_not() -> None:
    assert expressions(conversation(dictionary({"Café": "place(cafe)"})), "CAFE\u0301!") == "place(cafe)"


@pytest.mark.parametrize("blank", [None, "", "  "])
def test_an_entry_without_expressions_means_its_text_as_a_name(blank: str | None) -> None:
    assert expressions(conversation(dictionary(phrases={"Yes, please!": blank})), "yes please") == "yes_please"


def test_of_two_entries_for_the_same_words_the_first_counts() -> None:
    made = conversation(dictionary({"tv": "trigger(menu)"}), dictionary({"TV!": "trigger(other)"}))
    assert expressions(made, "tv") == "trigger(menu)"


def test_an_entry_of_punctuation_alone_never_matches() -> None:
    assert expressions(conversation(dictionary({"?": "question(x)"})), "why?") == "unknown(why)"


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        pytest.param("Ja!", "yes(ja)", id="as it was offered"),
        pytest.param(" ja ", "yes(ja)", id="without regard to case and punctuation"),
        pytest.param("Ja, bitte", "unknown(Ja), unknown(bitte)", id="only as the whole input"),
        pytest.param("not at ALL", "not_at_all", id="a reply without expressions means its value"),
        pytest.param("maybe", "maybe", id="so does one with blank expressions"),
        pytest.param("?!", "question(help)", id="a value without words is compared as it stands"),
        pytest.param("!", "", id="another one without words is not"),
        pytest.param("hello", "chosen(hello)", id="a reply goes before the dictionaries"),
        pytest.param("👍", "unknown(👍)", id="a reply that means nothing leaves the input to the dictionaries"),
    ],
)
def test_a_quick_reply_of_the_turn_before_is_understood(typed: str, means: str) -> None:
    offers = [
        {"value": "Ja!", "expressions": "yes(ja)"},
        {"value": "Not at all..."},
        {"value": "Maybe", "expressions": " "},
        {"value": "?!", "expressions": "question(help)"},
        {"value": "Hello", "expressions": "chosen(hello)"},
        {"value": "👍"},
    ]
    made = conversation(WEATHER, offers=offers)
    expressions(made, "anything")
    assert expressions(made, typed) == means


def test_quick_replies_are_forgotten_after_one_turn() -> None:
    once = [{"value": "Ja!", "expressions": "yes(ja)"}]
    made = conversation(offers=once)
    expressions(made, "anything")
    once.clear()
    expressions(made, "something else")
    assert expressions(made, "Ja!") == "unknown(Ja)"


def test_a_quick_reply_of_any_other_shape_is_passed_over() -> None:
    odd = ["Ja!", {"value": 7}, {"expressions": "x"}, {"value": "Nein", "expressions": 3}]
    made = conversation(offers=odd)
    expressions(made, "anything")
    assert expressions(made, "nein") == "nein"


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_turn_without_input_gets_no_expressions(text: str) -> None:
    made = conversation(WEATHER)
    made.say_sync(text)
    assert "expressions" not in made.memory.history.steps[-1].output


def test_the_opening_turn_gets_no_expressions() -> None:
    made = conversation(WEATHER)
    made.start_sync()
    assert "expressions" not in made.memory.history.steps[-1].output


FORGING = st.text(st.sampled_from("*(),_ae'!\x00\x1f\x7f\u200b\u2028 \t-.8")) | st.text()


@given(FORGING)
@example("\x00*\x00")  # blank to the expression language alone
def test_what_a_user_types_is_never_an_expression_of_its_own(text: str) -> None:
    """Whatever is typed: `unknown` with one plain name each, which is never the wildcard."""
    for expression in parse(expressions(conversation(), text)):
        assert expression.name == "unknown"
        (word,) = expression.args
        assert word == Expression(word.name)
        assert word.name not in ("*", "")


def test_the_text_of_a_whole_book_is_understood_as_a_word_is() -> None:
    made = conversation(dictionary({f"word{number}": f"w({number})" for number in range(10_000)}))
    text = expressions(made, "word7 so, what?! " * 60_000 + "a" + "!" * 100_000 + "b")
    assert text.startswith("w(7), unknown(so), unknown(what), w(7), ")
    assert text.count("w(7)") == 60_000
