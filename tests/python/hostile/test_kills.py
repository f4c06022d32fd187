"""Commands that are killed at random moments: nothing survives, and nothing that was measured is lost or damaged."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from killed_runs import Laboratory

#: They hold how soon something has ended.
pytestmark = pytest.mark.alone

#: Number of kills of the long test, and the seed of the first.
KILLS = int(os.environ.get("FASTRNNS_KILLS", "1000"))
FIRST = int(os.environ.get("FASTRNNS_KILLS_SEED", "12"))


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    return Laboratory(tmp_path_factory.mktemp("kills"))


def troubles(laboratory: Laboratory, seeds: range) -> list[str]:
    # Most of the time of each is that of its processes.
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        return [one for found in pool.map(laboratory.attempt, seeds) for one in found]


def test_a_dozen_kills_at_random_moments(laboratory: Laboratory) -> None:
    assert troubles(laboratory, range(12)) == []


@pytest.mark.long("kills")
def test_a_thousand_kills_at_random_moments(laboratory: Laboratory) -> None:
    assert troubles(laboratory, range(FIRST, FIRST + KILLS)) == []
