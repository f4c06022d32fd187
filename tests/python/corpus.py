"""Captures from the field, in the folder that FASTRNNS_CORPUS names; without it, tests of them are skipped by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest


def captures(pattern: str) -> list[Any]:
    """The files of a pattern, to be a test's parameters; those above 1 MiB belong to the part `reading`."""
    folder = os.environ.get("FASTRNNS_CORPUS")
    found = sorted(Path(folder).glob(pattern)) if folder else []
    missing = pytest.mark.skip(reason=f"FASTRNNS_CORPUS names no folder with {pattern}")
    large = pytest.mark.long("reading")
    params = [pytest.param(path, id=path.name, marks=[large] * (path.stat().st_size > 1 << 20)) for path in found]
    return params or [pytest.param(None, marks=missing, id=pattern)]


def capture(name: str) -> Path:
    """One file, by its path in the folder; skips the test that asks for it where it is not there."""
    path = Path(os.environ.get("FASTRNNS_CORPUS", "/nonexistent")) / name
    if not path.is_file():
        pytest.skip(f"FASTRNNS_CORPUS names no folder with {name}")
    return path
