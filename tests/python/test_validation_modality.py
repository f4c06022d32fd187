"""Samples of one mode show one, also through a clock's ticks; those of two that lie apart show both."""

from __future__ import annotations

import numpy as np
import pytest
import validating_groups
from validating_modality import SHAPES, table, two
from validation_tables import is_long, trials

from fastrnns_rs import stats

SIZES = [30, 50, 100, 300, 1000, 10_000]


def how_many(n: int) -> int:
    return trials(1000, 20_000) if n <= 100 else trials(200, 4000) if n <= 1000 else trials(100, 1000)


@pytest.mark.long("simulations")
def test_the_modes_that_there_are_are_found() -> None:
    shown, found = table(SIZES, how_many)
    shown.publish("modes")
    gates = {shape.name: shape.gate for shape in SHAPES}
    short = {key: share for key, share in found.items() if (gate := gates[key[0]]) is not None and share < gate}
    assert not short


def test_groups_of_processes_are_found_from_five_on() -> None:
    shown, found = validating_groups.table(trials(1000, 20_000))
    shown.publish("groups")
    # One false alarm among 1000 rows is 2.4 % of the runs with 24 rows.
    slack = 0 if is_long() else 0.06
    for name in ("normal", "uniform", "exponential"):
        alarms = [found[name, count, phases] for count in validating_groups.COUNTS for phases in (2, 24)]
        assert max(alarms) <= 0.02 + slack, shown.markdown()
    half = "50% are 8 % slower, spread 0.3%"
    assert found[half, 5, 2] >= (0.4 if is_long() else 0.3), shown.markdown()
    # A second kind of a single process is an outlier, so that no test finds more.
    assert found["20% are 8 % slower, spread 0.1%", 5, 2] <= (0.28 if is_long() else 0.36), shown.markdown()


@pytest.mark.parametrize("size", [100, 1000])
def test_modes_lie_where_they_are_with_the_share_they_have(size: int) -> None:
    generator = np.random.default_rng(size)
    modes = np.array(
        [
            [(mode.position, mode.share) for mode in found.modes]
            for _ in range(200)
            if len((found := stats.modality(two(generator, size))).modes) == 2
        ]
    )
    assert len(modes) > 190
    # A mode is located to about n^(-1/3); what is tested is that nothing pulls it aside.
    assert np.median(modes[:, :, 0], axis=0) == pytest.approx([0, 6], abs=0.15)
    assert np.abs(modes[:, :, 0] - [0, 6]).max() < 1.5
    assert modes[:, :, 1].mean(axis=0) == pytest.approx([0.7, 0.3], abs=0.02)
