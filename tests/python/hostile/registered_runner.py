"""A file with a runner, which a test registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastrnns_rs.runners import registry

CODE = """
from fastrnns_rs import runner

@runner("mine")
def mine(problem):
    raise NotImplementedError
"""


def write_runner(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a runner; what it registers ends with the test."""
    monkeypatch.setattr(registry, "_runners", dict(registry.all_runners()))
    found = folder / "mine.py"
    found.write_text(CODE)
    return found
