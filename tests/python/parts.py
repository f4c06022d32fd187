"""The long tests, by the part of scripts/test that runs them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

#: CONTRIBUTING.md says what each holds.
PARTS = ("bench", "docs", "inductor", "kills", "models", "profilers", "reading", "setup", "simulations")


def few(kept: Iterable[Any], values: Iterable[Any], part: str) -> list[Any]:
    """Values of a parameter, of which every change is tested with those in `kept`; the others belong to a part."""
    kept = [*kept]
    values = [*values]
    assert all(one in values for one in kept), kept
    mark = pytest.mark.long(part)
    return [
        one if one in kept else pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=mark) for one in values
    ]
