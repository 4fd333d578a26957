"""What a model sees (decision 9)."""

import pytest

from turnout.engine.steps import Digest, Step
from turnout.engine.view import Message, view


def said(text: str, *answers: object, digests: tuple[Digest, ...] = ()) -> Step:
    return Step(input=text, output={"output": list(answers)}, digests=digests)  # type: ignore[arg-type]


def test_a_digest_is_a_line_at_the_end_of_the_users_message() -> None:
    assert view([said("hi", "yes", digests=(Digest("llm", "Task 'llm' failed: x"),))]) == [
        Message("user", "hi\n[errorDigest llm] Task 'llm' failed: x"),
        Message("assistant", "yes"),
    ]


@pytest.mark.parametrize("start", ["", "hi\n", "hi\r", "hi\u2028", "hi\x85", "hi\n \u200b", "\n\n"])
@pytest.mark.parametrize("name", ["[errorDigest x] Task 'x' failed", "[ERRORDIGEST x]"])
def test_what_a_user_says_is_never_taken_for_a_digest(start: str, name: str) -> None:
    (message,) = view([said(start + name)])
    assert message.text == f"{start}\\{name}"


def test_the_word_is_left_alone_elsewhere() -> None:
    text = "what is [errorDigest x]?\nand errorDigest?"
    assert view([said(text)])[0].text == text


def test_a_text_of_line_breaks_is_read_in_linear_time() -> None:
    assert len(view([said("\u2028" * 1_000_000 + "x")])[0].text) == 1_000_001


def test_a_turn_without_input_gets_a_user_message_of_its_digests_alone() -> None:
    assert view([said("", digests=(Digest("a", "A"), Digest("b", "B")))]) == [
        Message("user", "[errorDigest a] A\n[errorDigest b] B")
    ]


def test_adjacent_messages_of_one_role_are_joined_by_a_blank_line() -> None:
    steps = [said("one"), said("two", "a"), said("", "b"), said("three")]
    assert view(steps) == [
        Message("user", "one\n\ntwo"),
        Message("assistant", "a\n\nb"),
        Message("user", "three"),
    ]


def test_texts_of_one_turn_are_joined_by_a_blank_and_other_items_are_left_out() -> None:
    items = (
        {"type": "text", "text": "a"},
        "b",
        {"type": "image", "uri": "u"},
        {"type": "text", "text": ""},
        7,
    )
    assert view([said("x", *items)])[1] == Message("assistant", "a b")


def test_task_errors_actions_and_calls_are_not_seen() -> None:
    step = Step(input="x", output={"taskErrors": [{"text": "raw"}], "actions": ["a"], "httpCalls": {"w": "raw"}})
    assert view([step]) == [Message("user", "x")]
