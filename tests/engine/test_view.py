"""What a model sees (decision 9)."""

from turnout.engine.steps import Digest, Step
from turnout.engine.view import Message, view


def said(text: str, *answers: object, digests: tuple[Digest, ...] = ()) -> Step:
    return Step(input=text, output={"output": list(answers)}, digests=digests)  # type: ignore[arg-type]


def test_a_digest_is_a_line_at_the_end_of_the_users_message() -> None:
    assert view([said("hi", "yes", digests=(Digest("llm", "Task 'llm' failed: x"),))]) == [
        Message("user", "hi\n[errorDigest llm] Task 'llm' failed: x"),
        Message("assistant", "yes"),
    ]


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
