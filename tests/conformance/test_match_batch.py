"""The rule vectors through the door: one process, one line in and one line out for each."""

import json
import subprocess
import sys

from exemptions import CASES, expected

MAIN = "import sys; from turnout.app.command import main; sys.exit(main())"


def test_a_batch_of_all_vectors_agrees() -> None:
    lines = "".join(json.dumps(case) + "\n" for case in CASES)
    ended = subprocess.run(
        [sys.executable, "-c", MAIN, "match", "--batch", "-"],
        input=lines,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [case["id"] for case in CASES]
    wrong = []
    for case, answer in zip(CASES, answers, strict=True):
        wanted = expected(case)
        keys = ("error",) if wanted.get("error") else ("fired", "failed", "actions")
        if any(answer.get(key) != wanted[key] for key in keys):
            wrong.append((case["id"], answer, wanted))
    assert not wrong
