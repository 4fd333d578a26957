"""Agents that others wrote: they stand beside the project, or their tests are skipped."""

from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
NAMES = sorted(folder.name for folder in CORPUS.glob("*-20*")) or ["none"]


def folder(name: str = "") -> Path:
    """The folder of one of them, or of them all."""
    if not (CORPUS / name).is_dir():
        pytest.skip("the corpus is not beside the project")
    return CORPUS / name
