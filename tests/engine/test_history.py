"""What earlier steps amount to, where they are in a store and are read only if something asks."""

from collections.abc import Sequence
from typing import Any

import pytest

from building import action, condition
from turnout.engine.facts import Facts
from turnout.engine.history import CHUNK, MOST_RUNS, History, Stored
from turnout.engine.matcher import Matcher
from turnout.engine.memory import Memory
from turnout.engine.records import head_text, mark_kept, new_step_texts, restore
from turnout.engine.steps import Outcome, Step
from turnout.rules.reading import read_rule_set


class Shelf:
    """Where the texts of a memory's steps are kept; `reads` holds what was read again."""

    def __init__(self) -> None:
        self.head = ""
        self.texts: list[str] = []
        self.reads: list[tuple[int, int]] = []

    def save(self, memory: Memory) -> None:
        self.texts[memory.history.kept :] = new_step_texts(memory)
        self.head = head_text(memory)
        mark_kept(memory)

    def load(self) -> Memory:
        return restore(self.head, len(self.texts), self.texts[-10:], self._read)

    def _read(self, start: int, stop: int) -> Sequence[str]:
        self.reads.append((start, stop))
        return self.texts[start:stop]


def matcher(**rules: Any) -> Matcher:
    made = [{"name": name.replace("_", " "), "conditions": [asked]} for name, asked in rules.items()]
    return Matcher(read_rule_set({"behaviorGroups": [{"executionStrategy": "executeAll", "rules": made}]}).model)


def add(memory: Memory, *actions: str, **ends: Any) -> None:
    outcomes = [
        Outcome(task=task, status="failed" if status != "succeeded" else "succeeded", error_type=None)
        for task, status in ends.items()
    ]
    step = Step(actions=list(actions), outcomes=outcomes)
    memory.begin_step(step)
    memory.end_step()


def ask(rules: Matcher, memory: Memory) -> list[str]:
    """The rules that fire in a turn in which nothing happens."""
    return list(rules.decide(Facts(Step(), memory.history)).names)


EVER = {"ever_a": action("a", occurrence="anyStep"), "ever_b": action("b", occurrence="anyStep")}


def long_shelf(rules: Matcher | None = None) -> Shelf:
    """Three chunks of steps, action `a` in the first only; the rules were asked at the end."""
    memory, shelf = Memory(), Shelf()
    memory.history.steps = Stored(lambda start, stop: [], 0)
    add(memory, "a")
    for _ in range(3 * CHUNK):
        add(memory, "z", w="failed")
    if rules is not None:
        ask(rules, memory)
    shelf.save(memory)
    return shelf


def test_what_was_counted_is_kept_and_no_step_is_read_for_it() -> None:
    rules = matcher(**EVER)
    shelf = long_shelf(rules)
    memory = shelf.load()
    assert ask(rules, memory) == ["ever a"]
    add(memory, "b")
    assert ask(rules, memory) == ["ever a", "ever b"]
    assert shelf.reads == []


def test_edited_rules_find_the_counts_of_the_questions_they_still_ask() -> None:
    shelf = long_shelf(matcher(**EVER))
    renamed = matcher(new_name=condition("negation", EVER["ever_b"]), other=EVER["ever_a"])
    assert ask(renamed, shelf.load()) == ["new name", "other"]
    assert ask(matcher(ever_a=EVER["ever_a"]), shelf.load()) == ["ever a"]
    assert shelf.reads == []


def test_a_new_question_is_counted_once_from_all_steps_and_then_kept() -> None:
    shelf = long_shelf(matcher(**EVER))
    edited = matcher(**EVER, ever_z=action("z", occurrence="anyStep"))
    memory = shelf.load()
    assert ask(edited, memory) == ["ever a", "ever z"]
    assert len(shelf.reads) == 3
    shelf.save(memory)
    assert ask(edited, shelf.load()) == ["ever a", "ever z"]
    assert len(shelf.reads) == 3


def test_rules_without_questions_about_history_read_no_step() -> None:
    shelf = long_shelf()
    rules = matcher(now=action("a"), last=action("z", occurrence="lastStep"))
    assert ask(rules, shelf.load()) == ["last"]
    assert shelf.reads == []


def test_how_often_rules_fired_is_known_without_reading() -> None:
    memory, shelf = Memory(), Shelf()
    memory.history.steps = Stored(lambda start, stop: [], 0)
    for _ in range(30):
        memory.begin_step(Step(succeeded=["r"]))
        memory.end_step()
    shelf.save(memory)
    rules = matcher(
        often=condition("occurrence", behaviorRuleName="r", minTimesOccurred="30"),
        more=condition("occurrence", behaviorRuleName="r", minTimesOccurred="31"),
    )
    loaded = shelf.load()
    assert ask(rules, loaded) == ["often"]
    loaded.undo()
    assert ask(rules, loaded) == []
    assert shelf.reads == []


def test_undo_in_another_process_counts_out_what_the_agent_asks_and_forgets_what_nobody_knows() -> None:
    rules = matcher(**EVER)
    memory, shelf = Memory(), Shelf()
    memory.history.steps = Stored(lambda start, stop: [], 0)
    for _ in range(40):
        add(memory, "z")
    add(memory, "b")
    ask(rules, memory)
    shelf.save(memory)
    known, unknown = shelf.load(), shelf.load()
    known.history.adopt(rules.index)
    for each in (known, unknown):
        assert each.undo()
        assert ask(rules, each) == []
        assert each.redo()
        assert ask(rules, each) == ["ever b"]
        shelf.reads.append((-1, each is unknown))
    assert shelf.reads[0] == (-1, False)
    assert len(shelf.reads) > 2


def row(times: int, **configs: str) -> Any:
    return condition("outcomematcher", taskId="w", minConsecutive=str(times), occurrence="lastStep", **configs)


def test_rows_of_failures_are_known_without_reading_and_longer_ones_than_are_kept_are_read() -> None:
    rules = matcher(short=row(MOST_RUNS), well=row(2, status="succeeded"))
    shelf = long_shelf(rules)
    memory = shelf.load()
    for _ in range(20):
        add(memory)  # it did not run
    assert ask(rules, memory) == ["short"]
    assert shelf.reads == []
    assert len(memory.history.runs["w"].ends) <= 2 * MOST_RUNS
    assert ask(matcher(all=row(3 * CHUNK)), memory) == ["all"]
    assert ask(matcher(more=row(3 * CHUNK + 1)), memory) == []


@pytest.mark.parametrize("undone", [1, 5, MOST_RUNS + 3, 2 * MOST_RUNS + 10])
def test_rows_are_right_after_undo_however_far(undone: int) -> None:
    memory = Memory()
    for number in range(200):
        add(memory, w="failed" if number % 40 else "succeeded")
    rules = {times: matcher(down=row(times)) for times in (2, 3, 39, 40)}
    for each in rules.values():
        ask(each, memory)
    for _ in range(undone):
        memory.undo()
    add(memory, w="failed")
    add(memory)
    length = 0
    for step in reversed(memory.history.steps[:-1]):
        if step.outcomes[0].status != "failed":
            break
        length += 1
    assert {times: ask(each, memory) == ["down"] for times, each in rules.items()} == {
        times: times <= length for times in rules
    }


def test_a_stored_sequence_is_as_the_list_that_it_stands_for() -> None:
    whole = list(range(350))
    for older in (0, 3, 250, 350):
        made: Stored[int] = Stored(lambda start, stop: whole[start:stop], older, whole[older:])
        assert list(made) == whole
        assert (made[-1], made[0], made[120], len(made)) == (349, 0, 120, 350)
        for part in (slice(-10, None), slice(5), slice(None, -1), slice(300, 340), slice(None, None, 7), slice(0, 0)):
            assert list(made[part]) == whole[part]
        shorter: Any = made[:200]
        shorter.append(-1)
        assert (len(shorter), shorter[-1], shorter[199], len(made), made[200]) == (201, -1, 199, 350, 200)
        assert list(made.trimmed(4)) == whole
        assert made.trimmed(4).at_hand == min(4, 350 - older)
        with pytest.raises(IndexError):
            made[350]


def test_a_history_in_memory_is_a_plain_list() -> None:
    assert type(History([Step()]).steps) is list
    assert type(Memory().history.steps) is list


def test_to_take_back_step_after_step_reads_each_older_one_once() -> None:
    shelf = Shelf()
    memory = shelf.load()
    for number in range(3 * CHUNK):
        add(memory, f"a{number}")
    shelf.save(memory)
    loaded = shelf.load()
    while loaded.undo():
        pass
    # The steps, and what each of them changed.
    assert len(shelf.reads) <= 2 * 3
