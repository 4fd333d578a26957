"""The matcher, on durable_rules, and the evaluator, which walks the models, are two implementations of one meaning."""

from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from turnout.engine.evaluator import evaluate
from turnout.engine.facts import Facts
from turnout.engine.history import History
from turnout.engine.matcher import Matcher
from turnout.engine.steps import ContextEntry, Digest, Outcome, Step
from turnout.rules.agents import Capability, Surroundings
from turnout.rules.reading import read_rule_set
from turnout.rules.rulesets import RuleSet

ACTIONS = ["a", "b", "c", "empty", "task_failed_x", "*", "ü"]
EXPRESSIONS = [
    "hi",
    "hi(you)",
    "hi(*)",
    "*",
    "empty",
    "n(1)",
    "n(1.0)",
    "n(01)",
    "x(y(z))",
    "x(y(*))",
    "b",
    "42",
]
RULES = ["r0", "r1", "r2", "r3", "r4", "z gone"]
TASKS = ["x", "eddi://x", "ai.labs.llm"]
ERRORS = ["timeout", "http", "unknown"]
PATHS = [
    "memory.current.n",
    "memory.last.n",
    "properties.list",
    "properties.t",
    "context.k",
    "memory.past",
    "memory.past[0].n",
    "properties.list[1]",
    "properties.t+x",
    "properties.no-1",
    "k",
    "memory.current.actions",
    "properties.flag",
    "odd.",
]
OCCURRENCES = [None, "currentStep", "lastStep", "anyStep", "never", " never "]


def _configs(**configs: Any) -> dict[str, Any]:
    return {key: value for key, value in configs.items() if value is not None}


def runs(names: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(names), min_size=1, max_size=3).map(", ".join)


bounds = st.sampled_from(["-1", "0", "1", "2", "3", "-2", "7"])
occurrences = st.sampled_from(OCCURRENCES)
leaves = st.one_of(
    st.builds(
        lambda a, o: {"type": "actionmatcher", "configs": _configs(actions=a, occurrence=o)},
        runs(ACTIONS),
        occurrences,
    ),
    st.builds(
        lambda e, o: {"type": "inputmatcher", "configs": _configs(expressions=e, occurrence=o)},
        runs(EXPRESSIONS),
        occurrences,
    ),
    st.builds(
        lambda kind, o: {"type": kind[0], "configs": _configs(occurrence=o, **{kind[1]: "empty"})},
        st.sampled_from([("actionmatcher", "actions"), ("inputmatcher", "expressions")]),
        occurrences,
    ),
    st.builds(
        lambda text: {
            "type": "contextmatcher",
            "configs": {"contextKey": "k", "contextType": "string", "string": text},
        },
        st.sampled_from(["v", "", "1", "true"]),
    ),
    st.builds(
        lambda text: {
            "type": "contextmatcher",
            "configs": {"contextKey": "k", "contextType": "expressions", "expressions": text},
        },
        runs(EXPRESSIONS),
    ),
    st.builds(
        lambda path, value: {
            "type": "contextmatcher",
            "configs": _configs(contextKey="k", contextType="object", objectKeyPath=path, objectValue=value),
        },
        st.sampled_from(["a", "$.a.b", "list[0]", "list[*]"]),
        st.sampled_from([None, "1", "true", "v"]),
    ),
    st.builds(
        lambda rule, low, high: {
            "type": "occurrence",
            "configs": {"behaviorRuleName": rule, "minTimesOccurred": low, "maxTimesOccurred": high},
        },
        st.sampled_from(RULES),
        bounds,
        bounds.filter(lambda bound: bound != "-1"),
    ),
    st.builds(
        lambda path, equals, contains: {
            "type": "dynamicvaluematcher",
            "configs": _configs(valuePath=path, equals=equals, contains=contains),
        },
        st.sampled_from(PATHS),
        st.sampled_from([None, "1", "v", "true", ""]),
        st.sampled_from([None, "v", "1", ""]),
    ),
    st.builds(
        lambda path, low, high, equal: {
            "type": "sizematcher",
            "configs": {"valuePath": path, "min": low, "max": high, "equal": equal},
        },
        st.sampled_from(PATHS),
        bounds,
        bounds,
        bounds,
    ),
    st.builds(
        lambda kind, least: {
            "type": "contentTypeMatcher",
            "configs": _configs(mimeType=kind, minCount=least),
        },
        st.sampled_from([None, "*/*", "image/*", "image/png", "*/png"]),
        st.sampled_from([None, "1", "2", "0", "x"]),
    ),
    st.builds(
        lambda task, status, error, occurrence, row: {
            "type": "outcomematcher",
            "configs": _configs(taskId=task, status=status, errorType=error, occurrence=occurrence, minConsecutive=row),
        },
        st.sampled_from(TASKS),
        st.sampled_from([None, "failed", "succeeded"]),
        st.sampled_from([None, *ERRORS]),
        occurrences,
        st.sampled_from([None, "1", "2", "3"]),
    ),
    st.builds(
        lambda task, text, occurrence: {
            "type": "digestmatcher",
            "configs": _configs(taskId=task, contains=text, occurrence=occurrence),
        },
        st.sampled_from(TASKS),
        st.sampled_from([None, "503", "no"]),
        occurrences,
    ),
    st.builds(
        lambda skill, least: {"type": "capabilityMatch", "configs": {"skill": skill, "minResults": least}},
        st.sampled_from(["Cook", "sing", " "]),
        st.sampled_from(["0", "1", "2", "x"]),
    ),
    st.builds(
        lambda when, tag: {"type": "deploymentContext", "configs": _configs(when=when, tagMatches=tag)},
        st.sampled_from([None, "Production", "development", ""]),
        st.sampled_from([None, "Beta", "gone"]),
    ),
)


def _junctions(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(children, min_size=1, max_size=4)
    return st.one_of(
        st.builds(
            lambda operator, conditions: {
                "type": "connector",
                "configs": {"operator": operator},
                "conditions": conditions,
            },
            st.sampled_from(["AND", "OR", "or"]),
            several,
        ),
        st.builds(lambda conditions: {"type": "negation", "conditions": conditions}, several),
    )


conditions = st.recursive(leaves, _junctions, max_leaves=12)


@st.composite
def rule_sets(draw: st.DrawFn) -> RuleSet:
    """A rule set whose rules depend only on later ones, so that there is no circle; names may repeat."""
    groups = []
    count = draw(st.integers(1, 6))
    for _ in range(count):
        rules = []
        for number in range(draw(st.integers(0, 5))):
            parts = draw(st.lists(conditions, max_size=3))
            name = draw(st.sampled_from(RULES[:5]))
            later = [other for other in RULES if other > name]
            if draw(st.booleans()):
                reference = {"type": "dependency", "configs": {"reference": draw(st.sampled_from(later))}}
                parts = [
                    *parts,
                    {"type": "negation", "conditions": [reference]} if draw(st.booleans()) else reference,
                ]
            rules.append({"name": name, "actions": [f"out{number}"], "conditions": parts})
        strategy = draw(st.sampled_from([None, "executeAll", "executeUntilFirstSuccess"]))
        groups.append({"name": "g", "executionStrategy": strategy, "behaviorRules": rules})
    return read_rule_set({"behaviorGroups": groups}).model


json_values = st.sampled_from(
    [1, 0, -3, 1.5, True, False, "v", "", "12", None, [], ["v", "1", 3], {"b": 1}, {"b": {"v": 1}}]
)
contexts = st.one_of(
    st.just({}),
    st.builds(
        lambda kind, value: {"k": ContextEntry(kind, value)},
        st.sampled_from(["string", "expressions", "object", "array"]),
        st.one_of(json_values, st.sampled_from(["hi(you)", "*, b", {"a": 1}, {"a": {"b": True}, "list": ["v"]}])),
    ),
)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    actions = draw(st.lists(st.sampled_from(ACTIONS), max_size=4, unique=True))
    context = draw(contexts)
    output: dict[str, Any] = {"actions": actions} if actions else {}
    if draw(st.booleans()):
        output["n"] = draw(json_values)
    return Step(
        actions=actions,
        expressions=", ".join(draw(st.lists(st.sampled_from(EXPRESSIONS), max_size=3))),
        context=context,
        succeeded=draw(st.lists(st.sampled_from(RULES), max_size=3, unique=True)),
        output=output,
        attachments=draw(st.lists(st.sampled_from(["image/png", "image/gif", "text/plain"]), max_size=3)),
        outcomes=[
            Outcome(
                task=task,
                status=status,
                error_type=draw(st.sampled_from(ERRORS)) if status == "failed" else None,
            )
            for task, status in draw(
                st.lists(
                    st.tuples(st.sampled_from(["x", "ai.labs.llm"]), st.sampled_from(["failed", "succeeded"])),
                    max_size=3,
                )
            )
        ],
        digests=[
            Digest(task, text)
            for task, text in draw(st.lists(st.tuples(st.just("x"), st.sampled_from(["HTTP 503", "no"])), max_size=2))
        ],
    )


properties = st.fixed_dictionaries(
    {},
    optional={"list": st.just(["v", "1"]), "t": json_values, "no": st.integers(-2, 2), "flag": st.booleans()},
)
surroundings = st.builds(
    Surroundings,
    environment=st.sampled_from(["development", "production"]),
    tags=st.sampled_from([(), ("beta",)]),
    capabilities=st.sampled_from(
        [(), (Capability(skill="cook", agent_id="1"), Capability(skill=" COOK", agent_id="2"))]
    ),
)


def _agree(rule_set: RuleSet, matcher: Matcher, facts: Facts) -> None:
    answer = matcher.decide(facts)
    findings = evaluate(rule_set, facts)
    assert answer.true == tuple(number for number, finding in enumerate(findings) if finding.true)
    assert answer.fired == tuple(number for number, finding in enumerate(findings) if finding.verdict == "fired")
    assert answer.failed == tuple(number for number, finding in enumerate(findings) if finding.verdict == "failed")
    if answer.fired:
        event("fires")


@given(rule_sets(), st.lists(steps(), min_size=1, max_size=6), properties, surroundings)
@settings(max_examples=400)
def test_matcher_and_evaluator_agree_in_each_turn_of_a_conversation(
    rule_set: RuleSet, conversation: list[Step], values: dict[str, Any], around: Surroundings
) -> None:
    matcher = Matcher(rule_set)
    history = History()
    for step in conversation:
        _agree(rule_set, matcher, Facts(step, history, values, around))
        history.add(step)
    assert matcher.refused == 0
    matcher.close()


@given(rule_sets(), st.lists(steps(), min_size=2, max_size=6), st.data())
@settings(max_examples=150)
def test_they_agree_when_steps_are_undone_and_others_follow(
    rule_set: RuleSet, conversation: list[Step], data: st.DataObject
) -> None:
    matcher = Matcher(rule_set)
    history = History()
    for step in conversation:
        _agree(rule_set, matcher, Facts(step, history))
        history.add(step)
        while history.steps and data.draw(st.integers(0, 2)) == 0:
            history.drop()
            _agree(rule_set, matcher, Facts(step, history))
    matcher.close()


@given(rule_sets(), st.lists(steps(), min_size=1, max_size=5), rule_sets())
@settings(max_examples=80)
def test_rules_edited_in_a_running_conversation_see_the_steps_before(
    first: RuleSet, conversation: list[Step], second: RuleSet
) -> None:
    history = History()
    for step in conversation[:-1]:
        Matcher(first).decide(Facts(step, history))
        history.add(step)
    _agree(second, Matcher(second), Facts(conversation[-1], history))
