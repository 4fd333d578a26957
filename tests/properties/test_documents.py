"""Documents made at random: what loads comes back as it was, what does not is a `LoadError`."""

import json

from hypothesis import given
from hypothesis import strategies as st

from turnout.rules.errors import LoadError
from turnout.rules.outputs import OutputSet
from turnout.rules.reading import read, read_output_set, read_rule_set
from turnout.rules.rulesets import RuleSet

Entries = dict[str, object]

texts = st.text(max_size=8)
names = st.text("abc .", max_size=6)
occurrences = st.sampled_from(["currentStep", "lastStep", "anyStep", "never"])
filled = st.text(max_size=6).map(lambda text: f"{text}x")
task_ids = filled.map(lambda text: "".join(text.replace(",", "").split()))


def entries(
    required: dict[str, st.SearchStrategy[object]], **optional: st.SearchStrategy[object]
) -> st.SearchStrategy[Entries]:
    return st.fixed_dictionaries(required, optional=optional)  # type: ignore[arg-type]


def condition_of(kind: str, configs: st.SearchStrategy[object]) -> st.SearchStrategy[Entries]:
    return entries({"type": st.just(kind), "configs": configs})


leaves = st.one_of(
    condition_of("inputmatcher", entries({"expressions": filled}, occurrence=occurrences)),
    condition_of("actionmatcher", entries({"actions": filled}, occurrence=occurrences)),
    condition_of("contextmatcher", entries({"contextKey": filled, "contextType": st.just("string"), "string": texts})),
    condition_of("occurrence", entries({"behaviorRuleName": filled, "maxTimesOccurred": st.integers(0, 9).map(str)})),
    condition_of("dynamicvaluematcher", entries({}, valuePath=texts, equals=texts, contains=texts)),
    condition_of("sizematcher", entries({}, valuePath=texts, min=st.integers(-1, 99).map(str))),
    condition_of("outcomematcher", entries({"taskId": task_ids}, errorType=st.sampled_from(["timeout", "http"]))),
    entries({"type": st.just("deploymentContext")}),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        entries({"type": st.just("negation"), "conditions": st.lists(inner, min_size=1, max_size=3)}),
        entries(
            {"type": st.just("connector"), "conditions": st.lists(inner, min_size=1, max_size=3)},
            configs=entries({}, operator=st.sampled_from(["AND", "OR", "and"])),
        ),
    ),
    max_leaves=6,
)
rule_sets = entries(
    {},
    appendActions=st.booleans(),
    behaviorGroups=st.lists(
        entries(
            {},
            name=texts,
            executionStrategy=st.sampled_from(["", "executeAll", "executeUntilFirstSuccess"]),
            rules=st.lists(
                entries(
                    {},
                    name=texts,
                    actions=st.lists(texts, max_size=2),
                    conditions=st.lists(conditions, max_size=2),
                ),
                max_size=3,
            ),
        ),
        max_size=3,
    ),
)
items = st.one_of(
    entries({"type": st.just("text")}, text=texts, delay=st.integers(0, 9)),
    entries({"type": st.just("image")}, uri=texts, alt=texts),
    entries(
        {"type": st.just("button")},
        label=texts,
        onPress=st.dictionaries(texts, texts | st.integers(), max_size=2),
    ),
    entries({"type": st.just("other")}, anything=texts),
)
output_sets = entries(
    {},
    lang=texts,
    outputSet=st.lists(
        entries(
            {"action": texts},
            timesOccurred=st.integers(0, 5),
            outputs=st.lists(entries({}, valueAlternatives=st.lists(items, max_size=2)), max_size=2),
            quickReplies=st.lists(entries({}, value=texts, expressions=texts, isDefault=st.booleans()), max_size=2),
        ),
        max_size=3,
    ),
)


@given(rule_sets)
def test_a_rule_set_that_was_read_is_read_again_from_what_it_writes(document: Entries) -> None:
    model = read_rule_set(json.dumps(document)).model
    written = json.dumps(model.model_dump(by_alias=True, exclude_unset=True))
    again = read_rule_set(written)
    assert again.model == model
    assert json.loads(written) == document


@given(output_sets)
def test_an_output_set_that_was_read_is_read_again_from_what_it_writes(document: Entries) -> None:
    model = read_output_set(json.dumps(document)).model
    written = json.dumps(model.model_dump(by_alias=True, exclude_unset=True))
    assert read_output_set(written).model == model
    assert json.loads(written) == document


def errors(source: bytes | str) -> list[LoadError]:
    """What either kind of document says of a source; anything but a `LoadError` goes on."""
    found = []
    for model in (RuleSet, OutputSet):
        try:
            read(model, source, "x.json")
        except LoadError as error:
            found.append(error)
    return found


@given(st.binary() | st.text())
def test_anything_at_all_is_a_load_error_at_worst(source: bytes | str) -> None:
    assert all(str(error) for error in errors(source))


KEYS = """type configs conditions children values rules behaviorRules behaviorGroups name actions outputs
outputSet valueAlternatives outputValues action timesOccurred quickReplies expressions contextType x"""
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
hostile = st.recursive(
    scalars | st.sampled_from(["negation", "connector", "text", "current"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=4),
    max_leaves=20,
)


@given(rule_sets | output_sets, st.data())
def test_a_document_with_something_else_in_it_is_a_load_error_at_worst(document: Entries, data: st.DataObject) -> None:
    place: object = document
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.booleans()) or not isinstance(place[key], dict | list):
            place[key] = data.draw(hostile)
            break
        place = place[key]
    for error in errors(json.dumps(document)):
        assert all(problem.line for problem in error.problems)


@given(hostile, st.sampled_from(["behaviorGroups", "behaviorRules", "outputSet", "outputs"]))
def test_any_json_is_a_load_error_at_worst(document: object, key: str) -> None:
    for error in errors(json.dumps({key: [document]})):
        assert all(problem.line for problem in error.problems)
