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
from turnout.engine.tasks.corrections import MOST_WORDS, Corrector
from turnout.engine.tasks.corrections import SECONDS as CORRECTING
from turnout.engine.tasks.recognition import SECONDS, Recognizer
from turnout.rules.agents import ParserSettings, StepDefinition
from turnout.rules.dictionaries import KINDS, Correction, CorrectionConfig, Dictionary, Kind, Phrase, RegEx, Word
from turnout.rules.expressions import Expression, parse


def dictionary(
    words: Mapping[str, str | None] = {},
    phrases: Mapping[str, str | None] = {},
    patterns: Mapping[str, str | None] = {},
) -> Dictionary:
    return Dictionary(
        words=tuple(Word(word=text, expressions=means) for text, means in words.items()),
        phrases=tuple(Phrase(phrase=text, expressions=means) for text, means in phrases.items()),
        reg_exs=tuple(RegEx(reg_ex=text, expressions=means) for text, means in patterns.items()),
    )


def conversation(*dictionaries: Dictionary | Kind, offers: Sequence[Any] = (), distance: int = 0) -> Conversation:
    """A conversation that parses, corrects by up to `distance` edits, and offers the quick replies in each turn."""

    async def offer(turn: Journal) -> None:
        render(turn, "quickReplies:any", list(offers), offered=True)

    by_distance = Correction(type="levenshtein", config=CorrectionConfig(distance=max(distance, 1)))
    settings = ParserSettings(dictionaries=dictionaries, corrections=(by_distance,) if distance else ())
    parser = StepDefinition(task="ai.labs.parser", settings=settings)
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


USERNAME = dictionary({"weather": "trigger(weather)"}, {"new york": "city(ny)"}, {"^[A-Za-z0-9,.@_-]*$": "valid"})


@pytest.mark.parametrize(
    ("text", "means"),
    [
        pytest.param("john.doe", "valid", id="all of an input without blanks"),
        pytest.param("a,b", "valid", id="as it was typed, commas and all"),
        pytest.param("john!", "unknown(john)", id="the punctuation counts"),
        pytest.param("x(a)", "unknown(x), unknown(a)", id="what matches in part only is unknown"),
        pytest.param(" john  döe jane\t", "valid, unknown(döe), valid", id="each piece between blanks is asked about"),
        pytest.param("Weather", "trigger(weather)", id="a word goes before it"),
        pytest.param("new york new", "city(ny), valid", id="so does a phrase, but not its words alone"),
        pytest.param("weather,a", "trigger(weather), unknown(a)", id="nothing is asked about the rest of a piece"),
        pytest.param("a,weather", "valid", id="a piece that it knows is taken whole"),
        pytest.param("...", "valid", id="a piece of punctuation is a piece"),
        pytest.param("new ... york", "city(ny)", id="but not inside of a phrase"),
    ],
)
def test_a_regular_expression_says_what_a_piece_of_the_input_means(text: str, means: str) -> None:
    assert expressions(conversation(USERNAME), text) == means


def test_the_first_pattern_or_built_in_dictionary_that_knows_a_piece_counts() -> None:
    digits, any_word = dictionary(patterns={r"\d+": "zip", r"\d{2}": "never"}), dictionary(patterns={".*": "word"})
    assert expressions(conversation(digits, "integer", any_word), "42 x") == "zip, word"
    assert expressions(conversation("integer", digits, any_word), "42 x") == "integer(42), word"


def test_a_pattern_without_expressions_means_nothing() -> None:
    assert expressions(conversation(dictionary(patterns={"a": None})), "a") == "unknown(a)"


ENDLESS = r"(a|aa)+"


def test_a_pattern_that_takes_too_long_fails_the_task_and_names_its_place() -> None:
    made = conversation("email", dictionary(patterns={"b": "x", ENDLESS: "y"}))
    typed = "a" * 60 + "!"
    turn = made.say_sync(typed)
    (outcome,) = [outcome for outcome in turn.outcomes if outcome.task == "ai.labs.parser"]
    assert (outcome.status, outcome.error_type) == ("failed", "timeout")
    assert "the regular expressions took longer than 0.2 s, at number 2 of dictionary 2" in (outcome.reason or "")
    assert "aaaa" not in str(turn.errors) + str(outcome)
    assert expressions(made, "b") == "x"


def test_all_patterns_of_one_input_share_their_time() -> None:
    ticks = iter(range(1000))
    recognizer = Recognizer([dictionary(patterns={"a": "x", "b": "y"})], clock=lambda: next(ticks) * SECONDS / 2.5)
    meaning = recognizer.one_input()
    assert meaning("b") == "y"
    assert [meaning("b") for _ in range(100)] == ["y"] * 100  # the same piece is asked about once
    with pytest.raises(TimeoutError, match="at number 2 of dictionary 1"):
        meaning("c")
    assert recognizer.one_input()("b") == "y"


def test_a_match_counts_even_if_the_time_is_used_up_with_it() -> None:
    ticks = iter(range(1000))
    recognizer = Recognizer([dictionary(patterns={"a": "x"})], clock=lambda: next(ticks) * SECONDS * 2)
    meaning = recognizer.one_input()
    assert meaning("a") == "x"
    with pytest.raises(TimeoutError):
        meaning("b")


@pytest.mark.parametrize(
    ("kind", "text", "means"),
    [
        ("integer", "42", "integer(42)"),
        ("integer", "007", "integer(007)"),
        ("integer", "3, (4) or “5”!", "integer(3), integer(4), unknown(or), integer(5)"),
        ("integer", "-42", "unknown(42)"),
        ("integer", "#42", "unknown(42)"),
        ("integer", "4.2", "unknown(4.2)"),
        ("integer", "4,2", "unknown(4), unknown(2)"),
        ("integer", "4²", "unknown(4²)"),
        ("decimal", "3.14", "decimal(3.14)"),
        ("decimal", "3,14!", "decimal(3.14)"),
        ("decimal", ".5", "decimal(.5)"),
        ("decimal", "1.2.3", "unknown(1.2.3)"),
        ("decimal", "5.", "unknown(5)"),
        ("ordinalNumber", "1st", "ordinal_number(1)"),
        ("ordinalNumber", "the 22ND.", "unknown(the), ordinal_number(22)"),
        ("ordinalNumber", "3xth", "unknown(3xth)"),
        ("email", "Jane.Doe+x@mail.example.com.", "email(Jane.Doe+x@mail.example.com)"),
        ("email", "a@b", "unknown(a@b)"),
        ("email", "a(b)@c.com", "unknown(a), unknown(b), unknown(c.com)"),
        ("time", "0:00", "time(0)"),
        ("time", "24:00", "time(0)"),
        ("time", "19:50!", "time(71400000)"),
        ("time", "7H", "time(25200000)"),
        ("time", "12h10", "time(43800000)"),
        ("time", "13:50:12", "time(49812000)"),
        ("time", "25:00", "unknown(25:00)"),
        ("time", "1:50:12", "unknown(1:50:12)"),
        ("punctuation", "?", "punctuation(question_mark)"),
        ("punctuation", "why, oh", "unknown(why), punctuation(comma), unknown(oh)"),
        ("punctuation", "oh?!?", "unknown(oh), punctuation(question_mark), punctuation(exclamation_mark)"),
        ("punctuation", "(?) a", "unknown(a)"),
        ("punctuation", "a-b", "unknown(a-b)"),
    ],
)
def test_a_built_in_dictionary_knows_its_kind(kind: Kind, text: str, means: str) -> None:
    assert expressions(conversation(kind), text) == means


def test_punctuation_within_a_phrase_is_not_told() -> None:
    made = conversation("punctuation", dictionary({"hi": "hi"}, {"new york": "city(ny)"}))
    assert (
        expressions(made, "Hi! New, york?") == "hi, punctuation(exclamation_mark), city(ny), punctuation(question_mark)"
    )


KNOWN = dictionary(
    {"weather": "trigger(weather)", "tv": "menu(tv)", "bye": "goodbye", "cold": "cold", "gold": "gold"},
    {"what is the forecast": "trigger(forecast)"},
)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        pytest.param("wether", "trigger(weather)", id="a letter is missing"),
        pytest.param("Waether!", "trigger(weather)", id="two are swapped, in any case"),
        pytest.param("weatherrr", "trigger(weather)", id="two are too many"),
        pytest.param("weatherrrr", "unknown(weatherrrr)", id="three are one too many"),
        pytest.param("waht is teh forcast", "trigger(forecast)", id="so are the words of a phrase"),
        pytest.param("waht", "unknown(waht)", id="a word that only phrases know stays as it was typed"),
        pytest.param("tw", "unknown(tw)", id="words of two letters are not corrected"),
        pytest.param("tvs", "unknown(tvs)", id="nor is anything corrected to one"),
        pytest.param("bya", "goodbye", id="of three letters one may be wrong"),
        pytest.param("bxx", "unknown(bxx)", id="not two"),
        pytest.param("bold", "cold", id="of equally near words the first counts"),
        pytest.param("gold", "gold", id="a known word stays as it is"),
        pytest.param("golds", "gold", id="the nearest word counts, not the first"),
    ],
)
def test_a_word_that_nothing_knows_is_taken_for_the_nearest(text: str, means: str) -> None:
    assert expressions(conversation(KNOWN, distance=2), text) == means


def test_what_a_pattern_or_a_built_in_dictionary_knows_is_not_corrected() -> None:
    made = conversation("integer", dictionary({"1234": "pin"}, patterns={"wether": "sheep"}), KNOWN, distance=2)
    assert expressions(made, "wether 1235 waether") == "sheep, integer(1235), trigger(weather)"


def test_only_so_many_words_of_one_input_are_corrected() -> None:
    wrong = " ".join(f"x{number:03}y" for number in range(MOST_WORDS - 1))
    made = conversation(KNOWN, distance=2)
    assert expressions(made, f"{wrong} {wrong} wether").endswith("trigger(weather)")
    assert expressions(made, f"{wrong} more wether").endswith("unknown(wether)")


@pytest.mark.parametrize("word", ["こんにちは世界", "สวัสดีครับโลก", "你好世界朋友"])
def test_a_word_of_a_script_without_blanks_is_not_corrected(word: str) -> None:
    """It may be a sentence, of which an edit would eat a word."""
    assert expressions(conversation(dictionary({word[:-2]: "greeting"}), distance=2), word) == f"unknown({word})"


def test_all_corrections_of_one_input_share_their_time() -> None:
    ticks = iter(range(1000))
    corrector = Corrector(["weather", "cold"], 2, clock=lambda: next(ticks) * CORRECTING / 3.5)
    assert corrector.corrected(["wether", "clod"], ()) == ("weather", "clod")
    assert corrector.corrected(["clod"], ()) == ("cold",)


def test_an_address_of_mail_has_at_most_254_characters() -> None:
    name = "a" * 64
    fits = f"{name}@{'b' * 63}.{'c' * 63}.{'d' * 57}.com"
    assert len(fits) == 254
    assert expressions(conversation("email"), fits) == f"email({fits})"
    assert expressions(conversation("email"), f"a{fits}").startswith("unknown")
    assert expressions(conversation("email"), "a@" + "a." * 250_000).startswith("unknown")


NAMES = ("unknown", "integer", "decimal", "ordinal_number", "email", "time", "punctuation")
TYPED = st.text(st.sampled_from("*(),_aeb@.:;!?'-0123456789hst \t\x00\x1f")) | FORGING


@given(TYPED)
@example("a@b.co(m")
@example("1,(2)")
@example("*")
def test_with_everything_on_there_are_only_the_expressions_of_dictionaries_and_one_name_each(text: str) -> None:
    """Whatever is typed, with patterns, built-in dictionaries and corrections."""
    own = dictionary({"abate": "own(word)"}, {"a e": "own(phrase)"}, {"[ab]*": "own(pattern)"})
    for expression in parse(expressions(conversation(*KINDS.values(), own, distance=2), text)):
        if expression.name == "own":
            assert str(expression) in ("own(word)", "own(phrase)", "own(pattern)")
        else:
            assert expression.name in NAMES
            (word,) = expression.args
            assert word == Expression(word.name)
            assert word.name not in ("*", "")


@given(TYPED)
def test_what_no_pattern_and_no_correction_touches_is_understood_as_without_them(text: str) -> None:
    plain = conversation(dictionary({"a": "x"}, {"a e": "y"}))
    more = conversation(dictionary({"a": "x"}, {"a e": "y"}, {"(?!)": "never"}), distance=1)
    assert expressions(plain, text) == expressions(more, text)


@pytest.mark.parametrize("text", ["9" * 1_000_000, "ab" * 500_000, "a@" * 500_000, ". " * 500_000, "(" * 1_000_000])
def test_a_megabyte_is_understood_with_everything_on(text: str) -> None:
    words = dictionary({f"word{number}": f"w({number})" for number in range(10_000)}, patterns={"[ab]*c": "x"})
    assert expressions(conversation(*KINDS.values(), words, distance=4), text).count("(") < 1_000_000
