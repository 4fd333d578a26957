"""What the page asks: why turns went as they did, what is wrong with rules, and what other rules would change."""

from building import agent, on_action, rules
from serving import SECRET, answering, serving, started

TEXT = {"content-type": "text/plain"}


def test_agents_tell_their_tasks() -> None:
    with serving(answering()) as client:
        assert client.get("/api/agents").json() == [
            {"id": "a", "name": "test", "tasks": ["ai.labs.behavior", "weather", "ai.labs.output"]}
        ]


def test_the_trace_of_a_turn_has_the_reason_and_what_kept_rules_from_firing() -> None:
    with serving(answering()) as client:
        talk = started(client)
        client.post(f"/agents/{talk}", content="hi", headers=TEXT)
        answer = client.get(f"/api/conversations/{talk}/turns/1/trace")
    trace = answer.json()
    weather = trace["tasks"][1]
    assert (weather["task"], weather["type"], weather["status"]) == ("weather", "task", "failed")
    assert weather["reason"] == "it broke at https://internal.example/?key=sk-<REDACTED>"
    assert SECRET not in answer.text
    assert (trace["fired"], trace["rerouted"]) == (["sorry"], ["sorry"])
    assert trace["misses"] == [
        {
            "rule": "hello",
            "why": [
                "wanted action CONVERSATION_START",
                "seen actions this turn: task_failed_weather",
                "needed only that",
            ],
        }
    ]
    assert trace["facts"]["actions"] == ["task_failed_weather", "sorry"]
    assert trace["modelView"][-1] == {"role": "assistant", "text": "The weather is out."}


def test_in_a_trace_a_rule_is_asked_as_it_was_before_its_set_had_answered() -> None:
    chained = agent(rules([on_action("one", "CONVERSATION_START", "greet")], [on_action("two", "greet", "more")]))
    with serving(chained) as client:
        trace = client.get(f"/api/conversations/{started(client)}/turns/0/trace").json()
    assert trace["fired"] == ["one"]
    assert [miss["rule"] for miss in trace["misses"]] == ["two"]


def test_rules_come_as_text_that_loads_and_changes_nothing() -> None:
    with serving(answering()) as client:
        talk = started(client)
        text = client.get("/api/agents/a/rules").json()["text"]
        assert 'rule "sorry"' in text
        assert client.post("/api/check", json={"text": text}).json() == {"problems": []}
        assert client.post(f"/api/conversations/{talk}/try", json={"text": text}).json() == {"turns": []}


def test_what_is_wrong_with_a_text_has_its_place() -> None:
    with serving(answering()) as client:
        [problem] = client.post("/api/check", json={"text": 'rule "x"\n  when foo\n'}).json()["problems"]
    assert (problem["severity"], problem["line"], problem["column"]) == ("error", 2, 8)
    assert problem["message"] == "unexpected word `foo`"


def test_other_rules_are_tried_on_the_record_without_calling_anybody() -> None:
    with serving(answering()) as client:
        talk = started(client)
        client.post(f"/agents/{talk}", content="hi", headers=TEXT)
        text = client.get("/api/agents/a/rules").json()["text"].replace("then greet", "then welcome")
        before = client.get(f"/api/conversations/{talk}/turns").json()
        tried = client.post(f"/api/conversations/{talk}/try", json={"text": text + '\noutput welcome\n  say "Hi!"\n'})
        assert client.get(f"/api/conversations/{talk}/turns").json() == before
    [turn] = tried.json()["turns"]
    assert turn["turn"] == 0
    assert [item["text"] for item in turn["before"]["output"]] == ["Hello!", "The weather is out."]
    assert [item["text"] for item in turn["after"]["output"]] == ["Hi!", "The weather is out."]
    assert turn["rules"] == ["hello"]


def test_rules_that_do_not_load_cannot_be_tried() -> None:
    with serving(answering()) as client:
        answer = client.post(f"/api/conversations/{started(client)}/try", json={"text": 'rule "x"\n when'})
    assert answer.status_code == 422
    assert answer.json()["message"] == "this `rule` is not finished (line 2, column 6); write `always` or a condition"


def test_turns_tasks_and_failures_are_counted() -> None:
    with serving(answering()) as client:
        talk = started(client)
        client.post(f"/agents/{talk}", content="hi", headers=TEXT)
        client.post(f"/agents/{talk}/undo")
        client.post(f"/agents/{talk}/endConversation")
        answer = client.get("/metrics")
    lines = answer.text.splitlines()
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'turnout_turns_total{agent="a",state="READY"} 2.0' in lines
    assert 'turnout_task_seconds_count{agent="a",task="weather"} 2.0' in lines
    assert 'turnout_task_failures_total{agent="a",error_type="unknown",task="weather"} 2.0' in lines
    assert 'turnout_engine_refusals_total{agent="a"} 0.0' in lines
    assert any(line.startswith('turnout_remembered_answers{agent="a"} ') for line in lines)
