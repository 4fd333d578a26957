"""Documents made at random go to text and back, and comments stay where they belong."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import turnout.grammar.parser
from turnout.grammar.comments import tokens
from turnout.grammar.names import is_bare
from turnout.grammar.parser import RESERVED
from turnout.grammar.program import format_text, normal, read_program, to_json, write_program
from turnout.rules.conditions import MAX_NESTING
from turnout.rules.errors import LoadError
from turnout.rules.outputs import OutputSet
from turnout.rules.reading import read
from turnout.rules.rulesets import RuleSet

Entries = dict[str, object]
Strategy = st.SearchStrategy[object]

GRAMMAR = Path(turnout.grammar.parser.__file__).with_name("turnout.lark").read_text("utf-8")
WORDS = sorted(set(re.findall(r'"([a-z]+)"', GRAMMAR)) | RESERVED)

bare = st.sampled_from(["greet", "ai.labs.llm", "my-tool", "a_b", "grüßen", "நன்றி", "x1", "memory.current.httpCalls.x"])
names = st.one_of(
    bare, st.sampled_from(WORDS), st.text(max_size=6), st.sampled_from(["eddi://x", "two words", "é", ""])
)
filled = names.filter(lambda text: bool(text.strip("".join(map(chr, range(33))) + ",")))
texts = st.one_of(
    names, st.text(max_size=12), st.sampled_from(['"', "\\", "\\n", "#x", "\u2028", "\ud800", "\u200b", "🙂"])
)
numbers = st.integers(0, 20).map(str) | st.sampled_from(["-1", "+3", "007"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda one: st.lists(one, max_size=2) | st.dictionaries(texts, one, max_size=2), max_leaves=4
)
unknown = st.dictionaries(st.sampled_from(["_x", "_when", "zzzzzzz", "two wordy words"]), values, max_size=2)
expressions = st.one_of(
    st.recursive(
        bare | st.just("*"),
        lambda one: st.builds(lambda name, args: f"{name}({', '.join(args)})", bare, st.lists(one, max_size=2)),
        max_leaves=4,
    ),
    st.sampled_from(["greeting(*), name(john)", "a,b", "a(1, b(2))", "a (b)", "when(x)", "a(", "1", "*(a)", "a, "]),
    filled,
)
occurrences = st.sampled_from(["currentStep", "lastStep", "anyStep", "never"])


nothing: Strategy = st.just({})


def entries(
    required: dict[str, Strategy], more: Strategy = nothing, **optional: Strategy
) -> st.SearchStrategy[Entries]:
    whole = st.fixed_dictionaries(required, optional=optional)
    return st.builds(lambda one, other: {**other, **one}, whole, more)


rarely = st.integers(0, 9).flatmap(lambda roll: unknown if roll == 7 else st.just({}))


def condition(kind: str, required: dict[str, Strategy], **optional: Strategy) -> st.SearchStrategy[Entries]:
    configs = entries(required, rarely, **optional)
    return entries({"type": st.just(kind), "configs": configs}, rarely)


path = {"valuePath": names}
task = {"taskId": filled}
context = {"contextKey": filled}
leaves = st.one_of(
    condition("inputmatcher", {"expressions": expressions}, occurrence=occurrences),
    condition("actionmatcher", {"actions": filled | filled.map(lambda name: f"{name}, b")}, occurrence=occurrences),
    condition("actionmatcher", {"actions": filled.map(lambda name: f"task_failed_{name}")}, occurrence=occurrences),
    condition("contextmatcher", {**context, "contextType": st.just("string"), "string": texts}),
    condition("contextmatcher", {**context, "contextType": st.just("expressions"), "expressions": expressions}),
    condition(
        "contextmatcher", {**context, "contextType": st.just("object"), "objectKeyPath": bare}, objectValue=texts
    ),
    condition("occurrence", {"behaviorRuleName": filled, "minTimesOccurred": numbers}, maxTimesOccurred=numbers),
    condition("occurrence", {"behaviorRuleName": filled, "maxTimesOccurred": st.just("0") | numbers}),
    condition("dependency", {}, reference=texts),
    condition("dynamicvaluematcher", path, equals=texts, contains=texts),
    condition("sizematcher", path, min=numbers, max=numbers),
    condition("sizematcher", path, equal=numbers),
    condition("outcomematcher", {**task, "errorType": st.sampled_from(["timeout", "http"])}, occurrence=occurrences),
    condition("outcomematcher", {**task, "status": st.sampled_from(["succeeded", "failed"])}),
    condition("outcomematcher", {**task, "minConsecutive": numbers}),
    condition("digestmatcher", task, contains=texts, occurrence=occurrences),
    condition("contentTypeMatcher", {}, mimeType=texts, minCount=texts),
    condition("deploymentContext", {}, when=texts, tagMatches=texts),
)


def nested(inner: st.SearchStrategy[Entries]) -> st.SearchStrategy[Entries]:
    several = st.lists(inner, min_size=1, max_size=3)
    operators = entries({"operator": st.sampled_from(["AND", "OR", "and"])}, rarely)
    return st.one_of(
        entries({"type": st.just("negation"), "conditions": several}, rarely),
        entries({"type": st.just("connector"), "conditions": several, "configs": operators}, rarely),
    )


conditions: Strategy = st.just([]) | st.lists(st.recursive(leaves, nested, max_leaves=5), min_size=1, max_size=4)
rule = entries({"conditions": conditions}, rarely, name=texts, actions=st.lists(names, max_size=3))
rules: Strategy = st.just([]) | st.lists(rule, min_size=1, max_size=3)
strategies = st.sampled_from(["", "executeAll", "executeUntilFirstSuccess"])
group = entries({"rules": rules}, rarely, name=texts, executionStrategy=strategies)
groups: Strategy = st.just([]) | st.lists(group, min_size=1, max_size=3)
flags = st.none() | st.booleans()
rule_sets = entries({"behaviorGroups": groups}, rarely, appendActions=flags, expressionsAsActions=flags)
items = st.one_of(
    entries({"type": st.just("text")}, rarely, text=texts, delay=st.integers(0, 900)),
    entries({"type": st.just("image")}, rarely, uri=st.none() | texts, alt=texts),
    entries({"type": st.just("quickReply")}, value=texts, isDefault=st.booleans()),
    entries({"type": st.just("button")}, label=texts, onPress=st.dictionaries(texts, values, max_size=2)),
    entries({"type": st.just("other")}, when=values, anything=values),
)
pieces = st.lists(entries({}, rarely, valueAlternatives=st.lists(items, max_size=3)), max_size=3)
replies = entries({}, rarely, value=texts, expressions=st.none() | expressions, isDefault=st.booleans())
counts = st.none() | st.integers(0, 25)
outputs = st.lists(
    entries(
        {"action": names}, rarely, timesOccurred=counts, outputs=pieces, quickReplies=st.lists(replies, max_size=2)
    ),
    max_size=3,
)
output_sets = entries({}, rarely, lang=st.none() | texts, outputSet=outputs)
# Three of four are rule sets, for the phrases are what can go wrong.
documents = st.integers(0, 3).flatmap(
    lambda roll: st.tuples(st.just(RuleSet), rule_sets) if roll else st.tuples(st.just(OutputSet), output_sets)
)


def round_trip(kind: type[RuleSet] | type[OutputSet], document: Entries) -> str:
    """The text of a document that loads, after it was proved to say the same."""
    try:
        model = read(kind, document).model
    except LoadError:
        reject()
    text = write_program(model, None) if isinstance(model, RuleSet) else write_program(None, model)
    program = read_program(text)
    again = program.rule_set if kind is RuleSet else program.output_set
    assert normal(again) == normal(model)
    made = to_json(program)
    assert normal(read(kind, dict((made.rules if kind is RuleSet else made.outputs) or {})).model) == normal(model)
    written = write_program(again, None) if isinstance(again, RuleSet) else write_program(None, again)
    assert written == text == format_text(text)
    return text


PHRASES = re.compile(
    r"""\b(?: user[ ]says | directly[ ]followed[ ]by | failed | due[ ]to | in[ ]a[ ]row | mentioning | succeeded | has
    | context | never[ ]fired | at[ ]least | at[ ]most | between | exactly | would[ ]fire | value | contains | exists
    | either[ ]is | size[ ]of | any[ ]of | all[ ]of | not | turn | keeping | with | condition )\b""",
    re.VERBOSE,
)


def prove(examples: int) -> Counter[str]:
    """Round trips of so many documents; how often which phrase was written."""
    seen: Counter[str] = Counter()

    @settings(max_examples=examples, derandomize=examples < 1_000)  # few documents: always the same
    @given(documents)
    def every_document_comes_back(made: tuple[type[RuleSet] | type[OutputSet], Entries]) -> None:
        seen.update(PHRASES.findall(round_trip(*made)))

    every_document_comes_back()
    return seen


def test_what_loads_comes_back_from_its_text() -> None:
    """N(to_json(read(write(N(j))))) == N(j) and write(read(write(x))) == write(x); most conditions are phrases."""
    seen = prove(200)
    assert sum(seen.values()) > 50
    assert seen["condition"] < sum(seen.values()) / 4


@pytest.mark.soak
def test_what_loads_comes_back_from_its_text_for_very_many() -> None:
    seen = prove(5000)
    assert all(
        seen[phrase] > 20 for phrase in ("directly followed by", "in a row", "either is", "never fired", "succeeded")
    )
    assert seen["condition"] < sum(seen.values()) / 5


def commented(text: str, data: st.DataObject) -> tuple[str, list[str]]:
    """The text with comments at random places between its words, and the comments."""
    words = [found[0] for found in re.finditer(r'\s*(?:"(?:[^"\\]|\\.)*"|[^\s"(),]+|.)', text)]
    chosen = sorted(data.draw(st.lists(st.integers(0, len(words)), max_size=6)))
    wanted = [f"c{index}" for index in range(len(chosen))]
    for number, place in reversed(list(zip(wanted, chosen, strict=True))):
        words.insert(place, data.draw(st.sampled_from([f"\n# {number}\n", f" # {number}\n"])))
    return "".join(words), wanted


def comments(text: str) -> list[str]:
    return re.findall(r"# (c\d+)$", text, re.MULTILINE)


@given(rule_sets, st.data())
def test_a_comment_at_any_place_is_kept_once_and_the_layout_stays(document: Entries, data: st.DataObject) -> None:
    text = round_trip(RuleSet, document)
    source, wanted = commented(text, data)
    made = format_text(source)
    assert comments(made) == wanted
    assert tokens(made) == tokens(text)
    assert format_text(made) == made


@given(output_sets, st.data())
def test_comments_go_to_json_and_back(document: Entries, data: st.DataObject) -> None:
    source, wanted = commented(round_trip(OutputSet, document), data)
    made = to_json(read_program(source))
    assert ("comments" in made.dropped) == bool(wanted and not (made.outputs or {}).get("outputSet"))
    if "comments" not in made.dropped and made.outputs is not None:
        model = read(OutputSet, dict(made.outputs)).model
        text = write_program(None, model)
        assert comments(text) == wanted
        assert normal(read_program(text).output_set) == normal(read_program(source).output_set)
        again = to_json(read_program(text)).outputs
        assert again is not None
        assert normal(read(OutputSet, dict(again)).model) == normal(model)


@pytest.mark.parametrize("word", WORDS)
def test_any_word_can_be_a_name(word: str) -> None:
    configs = [
        {"type": "actionmatcher", "configs": {"actions": f"{word}, {word}", "occurrence": "never"}},
        {"type": "actionmatcher", "configs": {"actions": f"task_failed_{word}"}},
        {"type": "inputmatcher", "configs": {"expressions": f"{word}({word}), {word}"}},
        {"type": "contextmatcher", "configs": {"contextKey": word, "contextType": "object", "objectKeyPath": word}},
        {"type": "dynamicvaluematcher", "configs": {"valuePath": word, "contains": word, f"_{word}": word}},
        {"type": "sizematcher", "configs": {"valuePath": word, "max": "1"}},
        {"type": "outcomematcher", "configs": {"taskId": word, "status": "succeeded"}},
    ]
    rule = {"name": word, "actions": [word, word], "conditions": configs}
    round_trip(RuleSet, {"behaviorGroups": [{"name": word, "rules": [rule]}]})
    shown = {"type": "other", word: word} if word != "type" else {"type": "other"}
    reply = {"value": word, "expressions": f"{word}({word})"}
    output = {"action": word, "outputs": [{"valueAlternatives": [shown, shown]}], "quickReplies": [reply]}
    assert f"output {word if is_bare(word) else repr(word)}".replace("'", '"') in round_trip(
        OutputSet, {"lang": word, "outputSet": [output]}
    )


def test_conditions_as_deep_as_they_may_be_come_back() -> None:
    condition: Entries = {"type": "deploymentContext"}
    for depth in range(MAX_NESTING - 1):
        kind = {"type": "negation"} if depth % 2 else {"type": "connector", "configs": {"operator": "OR"}}
        condition = {**kind, "conditions": [condition]}
    round_trip(RuleSet, {"behaviorRules": [{"name": "deep", "conditions": [condition]}]})
