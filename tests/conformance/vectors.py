"""The conformance vectors, which lie beside the project and not in it."""

import json
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).resolve().parents[2] / ".." / "shared" / "conformance"


def cases(name: str) -> list[dict[str, Any]]:
    """The vectors of `<name>.jsonl`; where they are absent, the module that asks is skipped."""
    file = _FOLDER / f"{name}.jsonl"
    if not file.exists():
        pytest.skip("the conformance vectors are not beside the project", allow_module_level=True)
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
