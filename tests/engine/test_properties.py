"""The property task: which properties a turn sets, what becomes of them, and who sees them."""

from collections.abc import Mapping
from typing import Any

import pytest

from building import CONTINUE, LENIENT, TEMPLATING, agent, failing, output, parser, rules
from calling import call, calls_step
from servers import Server
from turnout.engine.conversation import Conversation
from turnout.engine.journal import Journal
from turnout.engine.records import dump, load
from turnout.engine.tasks import FunctionTask
from turnout.rules.agents import Policy, StepDefinition
from turnout.rules.properties import PropertySetter
from turnout.rules.reading import read
from turnout.rules.values import JSON

CANARY = "canary" + "-4711-bird"


def setter(*properties: dict[str, Any], actions: tuple[str, ...] = ("set",)) -> dict[str, Any]:
    return {"actions": list(actions), "setProperties": list(properties)}


def property_step(*setters: dict[str, Any]) -> StepDefinition:
    model = read(PropertySetter, {"setOnActions": list(setters)}).model
    return StepDefinition(task="ai.labs.property", settings=model)


def emitting(*actions: str) -> StepDefinition:
    """A rules step that gives every turn these actions."""
    return rules([{"name": "always", "actions": list(actions)}])


def setting(*properties: dict[str, Any]) -> Conversation:
    """A conversation each turn of which sets properties."""
    return agent(emitting("set"), property_step(setter(*properties))).conversation()


def after(made: Conversation, *texts: str) -> Mapping[str, JSON]:
    """The properties after turns in which these texts are said."""
    for text in texts or ("hi",):
        made.say_sync(text)
    return made.memory.properties


# Values


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ({"valueString": "plain"}, "plain"),
        ({"valueString": "said {memory.current.input}{properties.none}!"}, "said hi!"),
        ({"valueString": "[[${memory.current.input}]]"}, "hi"),
        ({"valueString": "{#if x}a{/if}"}, "a"),
        ({"valueString": "{memory.nothing}"}, ""),
        ({"valueString": ""}, ""),
        ({"valueInt": 3}, 3),
        ({"valueFloat": 1.5}, 1.5),
        ({"valueBoolean": False}, False),
        ({"valueList": ["{memory.current.input}", 1]}, ["hi", 1]),
        ({"valueObject": {"{a}": {"b": ["<{memory.current.input}>", None, 2]}}}, {"{a}": {"b": ["<hi>", None, 2]}}),
        ({"value": True}, True),
        ({"value": "[[${memory.current.input}]]"}, "hi"),
        ({"valueString": "", "valueInt": 3}, 3),
        ({"valueString": "x", "valueInt": 3, "valueBoolean": True}, True),
        ({"valueString": "x", "fromObjectPath": "memory.current.input"}, "hi"),
        ({"fromObjectPath": "memory.current.actions"}, ["set"]),
        ({"fromObjectPath": "memory.current.actions[0]+'-it'"}, "set-it"),
    ],
)
def test_a_property_becomes_what_its_instruction_says(keys: dict[str, Any], value: JSON) -> None:
    assert after(setting({"name": "p", **keys})) == {"p": value}


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"fromObjectPath": "memory.nothing.there"},
        {"fromObjectPath": "memory.current.input != memory.last.input", "valueString": "not used"},
    ],
)
def test_what_is_not_found_changes_nothing(keys: dict[str, Any]) -> None:
    made = setting({"name": "p", "valueString": "kept"}, {"name": "p", **keys}, {"name": "q", **keys})
    assert after(made) == {"p": "kept"}


def test_what_a_path_finds_is_no_template() -> None:
    made = setting(
        {"name": "p", "fromObjectPath": "memory.current.input"}, {"name": "q", "valueString": "{properties.p}"}
    )
    assert after(made, "{properties.q} [[${properties.p}]]") == {
        "p": "{properties.q} [[${properties.p}]]",
        "q": "{properties.q} [[${properties.p}]]",
    }


def test_a_counter_counts() -> None:
    counting = {"name": "count", "fromObjectPath": "properties.count+1"}
    made = setting({"name": "count", "valueInt": 0, "override": False}, counting)
    assert after(made, "a", "b", "c") == {"count": 3}


def test_the_name_of_a_property_is_a_template_too() -> None:
    made = setting({"name": "likes_{memory.current.input}", "valueBoolean": True}, {"name": "{none}", "valueInt": 1})
    assert after(made, "rain") == {"likes_rain": True}


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ('{"a": [1]}', {"a": [1]}),
        (' {"a": 1} ', {"a": 1}),
        ("{broken", "{broken"),
        ('{"a": NaN}', '{"a": NaN}'),
        ("[1]", "[1]"),
        ("plain", "plain"),
    ],
)
@pytest.mark.parametrize("key", ["valueString", "fromObjectPath"])
def test_a_text_that_is_an_object_can_become_one(said: str, value: JSON, key: str) -> None:
    written = "{memory.current.input}" if key == "valueString" else "memory.current.input"
    assert after(setting({"name": "p", key: written, "convertToObject": True}), said) == {"p": value}


def test_without_override_a_property_that_is_there_stays() -> None:
    made = setting({"name": "p", "valueString": "{memory.current.input}", "override": False})
    assert after(made, "first", "second") == {"p": "first"}


# When


@pytest.mark.parametrize(
    ("waits_for", "emitted", "count"),
    [
        (("a",), ("a",), 1),
        (("a",), ("b",), None),
        (("a", "b"), ("a", "b"), 2),
        (("*",), ("a", "b", "c"), 3),
        (("*",), (), None),
        ((), ("a",), None),
    ],
)
def test_an_instruction_runs_once_for_each_action_it_waits_for(
    waits_for: tuple[str, ...], emitted: tuple[str, ...], count: int | None
) -> None:
    counting = setter({"name": "n", "fromObjectPath": "properties.n+1"}, actions=waits_for)
    zero = setter({"name": "n", "valueInt": 0, "override": False}, actions=waits_for)
    made = agent(emitting(*emitted), property_step(zero, counting)).conversation()
    assert after(made).get("n") == count


def test_one_instruction_of_two_setters_runs_once_for_an_action() -> None:
    counting = {"name": "n", "fromObjectPath": "properties.n+1"}
    zero = setter({"name": "n", "valueInt": 0})
    step = property_step(zero, setter(counting), setter(counting, actions=("*",)), setter(counting, counting))
    assert after(agent(emitting("set"), step).conversation()) == {"n": 1}


def test_a_turn_in_which_nothing_is_set_counts_neither_as_success_nor_as_failure() -> None:
    turn = agent(emitting("other"), property_step(setter({"name": "p"}))).conversation().say_sync("hi")
    assert turn.outcomes[-1].status == "skipped"


# What the input speaks of


@pytest.mark.parametrize(
    ("expressions", "properties"),
    [
        ("property(size(large))", {"size": "large"}),
        ("greeting(hello), property(coat(size(large))), x(property(a(b)))", {"coat.size": "large"}),
        (
            "property(age(42)), property(height(1.75)), property(zip(0123x))",
            {"age": 42, "height": 1.75, "zip": "0123x"},
        ),
        ("property(size(large), colour(red))", {"size": "large"}),
        ("property(size), property, property()", {}),
    ],
)
def test_an_expression_of_the_input_sets_a_property(expressions: str, properties: dict[str, JSON]) -> None:
    understand = FunctionTask("understand", lambda turn: turn.understand(expressions))
    made = agent(StepDefinition(task="understand"), property_step(), tasks=[understand]).conversation()
    assert after(made) == properties


def test_expressions_of_the_context_set_properties_and_those_of_the_input_win() -> None:
    understand = FunctionTask("understand", lambda turn: turn.understand("property(a(input))"))
    steps = (
        StepDefinition(task="understand"),
        emitting("set"),
        property_step(setter({"name": "b", "valueString": "set"})),
    )
    made = agent(*steps, tasks=[understand]).conversation()
    given = {"type": "expressions", "value": "property(a(context)), property(b(context)), property(c(context))"}
    text = {"type": "string", "value": "property(d(text))"}
    made.say_sync("hi", {"propertiesOfUser": given, "other": given, "properties2": text})
    assert made.memory.properties == {"a": "input", "b": "context", "c": "context"}


def test_what_is_said_after_the_action_that_catches_it_is_a_property() -> None:
    asking = rules([{"name": "ask", "actions": ["CATCH_ANY_INPUT_AS_PROPERTY"], "conditions": [
        {"type": "occurrence", "configs": {"behaviorRuleName": "ask", "maxTimesOccurred": "0"}}]}])  # fmt: skip
    made = agent(parser(), asking, property_step()).conversation()
    assert after(made, "hello") == {}
    assert after(made, "Ada {properties.x}, likes(all)") == {"user_input": "Ada {properties.x}, likes(all)"}
    assert after(made, "more") == {"user_input": "Ada {properties.x}, likes(all)"}


# Scopes


def test_a_property_of_scope_step_is_gone_when_the_turn_ends() -> None:
    seen: list[JSON] = []
    steps = (
        emitting("set"),
        property_step(
            setter(
                {"name": "s", "valueString": "{memory.current.input}", "scope": "step"},
                {"name": "c", "valueString": "{properties.s}"},
                {"name": "l", "valueInt": 1, "scope": "longTerm"},
            )
        ),
        StepDefinition(task="look"),
    )
    made = agent(*steps, tasks=[FunctionTask("look", lambda turn: seen.append(turn.properties))]).conversation()
    assert after(made, "hi") == {"c": "hi", "l": 1}
    assert seen == [{"s": "hi", "c": "hi", "l": 1}]
    assert made.memory.scopes == {"c": "conversation", "l": "longTerm"}


def test_rules_of_the_same_turn_see_a_property() -> None:
    value = {"type": "dynamicvaluematcher", "configs": {"valuePath": "properties.p", "equals": "3"}}
    steps = (
        emitting("set"),
        property_step(setter({"name": "p", "valueInt": 3})),
        rules([{"name": "three", "actions": ["three"], "conditions": [value]}]),
        output(three="It is three."),
    )
    assert agent(*steps).conversation().say_sync("hi").texts == ["It is three."]


# Failures, undo and redo


@pytest.mark.parametrize(("policy", "stay"), [(CONTINUE, False), (LENIENT, True)])
def test_properties_of_a_task_that_fails_go_with_it_where_writes_are_strict(policy: Policy, stay: bool) -> None:
    async def fail(turn: Journal) -> None:
        turn.set_property("p", "new")
        turn.set_property("key", CANARY, "secret")
        raise RuntimeError("broken")

    before = FunctionTask("before", lambda turn: turn.set_property("p", "old"))
    steps = (StepDefinition(task="before"), StepDefinition(task="broken"))
    made = agent(*steps, tasks=[before, FunctionTask("broken", fail)], policy=policy).conversation()
    assert after(made) == {"p": "new" if stay else "old"}
    assert made.memory.secrets == ({"key": CANARY} if stay else {})


def test_properties_set_before_another_task_fails_stay() -> None:
    steps = (emitting("set"), property_step(setter({"name": "p", "valueInt": 1})), StepDefinition(task="broken"))
    assert after(agent(*steps, tasks=[failing("broken")]).conversation()) == {"p": 1}


def test_undo_and_redo_take_properties_and_secrets_along() -> None:
    made = setting(
        {"name": "p", "valueString": "{memory.current.input}"},
        {"name": "key", "valueString": "key-{memory.current.input}", "scope": "secret"},
        {"name": "gone", "valueInt": 1, "scope": "step"},
    )

    def state() -> tuple[JSON, JSON]:
        return (dict(made.memory.properties), dict(made.memory.secrets))

    states = [state()]
    for text in ("one", "two"):
        made.say_sync(text)
        states.append(state())
    assert states == [({}, {}), ({"p": "one"}, {"key": "key-one"}), ({"p": "two"}, {"key": "key-two"})]
    for move, expected in ((made.undo, 1), (made.undo, 0), (made.redo, 1), (made.redo, 2), (made.undo, 1)):
        assert move()
        assert state() == states[expected]


def test_a_property_that_becomes_a_secret_and_one_again_is_never_both() -> None:
    def change(turn: Journal) -> None:
        turn.set_property("p", turn.input, "secret" if turn.input == "hidden" else "conversation")

    made = agent(StepDefinition(task="change"), tasks=[FunctionTask("change", change)]).conversation()
    for text in ("hidden", "open", "hidden", "open", "hidden"):
        made.say_sync(text)
        hidden, shown = ({"p": "hidden"}, {}) if text == "hidden" else ({}, {"p": "open"})
        assert (made.memory.secrets, made.memory.properties) == (hidden, shown)
    made.undo()
    assert (made.memory.secrets, made.memory.properties) == ({}, {"p": "open"})


# Secrets


def test_a_secret_is_seen_by_a_request_and_by_nobody_else(server: Server) -> None:
    """Not by tasks, rules, outputs, models, records, or whoever prints what there is."""
    seen: list[object] = []

    def look(turn: Journal) -> None:
        seen.extend(
            (turn.properties, turn.read("properties"), turn.read("properties.key"), turn.messages(), turn, str(turn))
        )

    secret = {"name": "key", "valueString": CANARY, "scope": "secret"}
    more = [
        {"name": "copy", "fromObjectPath": "properties.key"},
        {"name": "filled", "valueString": "<{properties.key}>"},
        {"name": "all", "fromObjectPath": "properties"},
        {"name": "derived", "valueString": "<{properties.key}>", "scope": "secret"},
        {"name": "plain", "valueInt": 1},
    ]
    there = {"type": "dynamicvaluematcher", "configs": {"valuePath": "properties.key"}}
    request = {"headers": {"Authorization": "Bearer {properties.key}"}}
    steps = (
        emitting("set", "ask"),
        property_step(setter(secret, *more)),
        rules([{"name": "leak", "actions": ["leak"], "conditions": [there]}]),
        calls_step(server.url, call(request=request)),
        StepDefinition(task="look"),
        output(set="Key: {properties.key}.", leak="leaked"),
        TEMPLATING,
    )
    made = agent(*steps, tasks=[FunctionTask("look", look)]).conversation(
        listeners=[seen.append], operators=[seen.append]
    )
    turn = made.say_sync("hi")
    assert server.requests[0].headers["Authorization"] == f"Bearer {CANARY}"
    assert turn.texts == ["Key: ."]
    assert made.memory.properties == {"filled": "<>", "all": {"filled": "<>"}, "plain": 1}
    assert made.memory.secrets == {"key": CANARY, "derived": "<>"}
    record = dump(made.memory)
    assert "key" not in load(record).properties
    told = f"{turn}{vars(turn)}{turn.output}{turn.outcomes}{turn.model_view}{turn.actions}{made!r}{made.memory!r}"
    assert CANARY not in f"{told}{made.memory.history.steps}{record}{seen}"


def test_a_secret_that_is_there_stays_without_override(server: Server) -> None:
    secret = {"name": "key", "valueString": "{memory.current.input}", "scope": "secret", "override": False}
    request = {"queryParams": {"k": "{properties.key}"}}
    steps = (emitting("set", "ask"), property_step(setter(secret)), calls_step(server.url, call(request=request)))
    made = agent(*steps).conversation()
    made.say_sync("first")
    made.say_sync("second")
    assert [seen.query for seen in server.requests] == [{"k": ["first"]}, {"k": ["first"]}]


def test_a_secret_may_be_any_value(server: Server) -> None:
    secret = {"name": "login", "valueObject": {"user": "ada", "pw": CANARY}, "scope": "secret"}
    request = {"method": "post", "contentType": "application/json", "body": '{"login": {properties.login}}'}
    steps = (emitting("set", "ask"), property_step(setter(secret)), calls_step(server.url, call(request=request)))
    made = agent(*steps).conversation()
    turn = made.say_sync("hi")
    assert CANARY in server.requests[0].body
    assert CANARY not in f"{turn.errors}{turn.outcomes}{dump(made.memory)}"
