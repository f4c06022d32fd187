"""The gates of means and 95th percentiles: rare slow iterations are found, and nothing is found in equal programs."""

from __future__ import annotations

import statistics

import pytest
import validating_statistics as validating
from validation_tables import is_long, trials


def test_rare_slow_iterations_cause_the_warning() -> None:
    table, shares = validating.pauses(trials(60, 4000))
    table.publish("rare slow iterations")
    usual = [found for (_, processes, iterations), found in shares.items() if processes >= 10 and iterations >= 100]
    assert len(usual) == 5
    assert min(found.warned for found in usual) >= 0.95, table.markdown()
    assert min(found.mean for found in usual) >= 0.95, table.markdown()
    # The fault that this is held against must show.
    assert max(found.median for found in shares.values()) <= 0.15, table.markdown()
    assert shares["processes", 20, 100].median_equivalent > 0.5, table.markdown()


@pytest.mark.long("simulations")
def test_equal_programs_have_equal_means() -> None:
    table, alarms = validating.null(trials(120, 4000), trials(9, 500))
    table.publish("equal means")
    assert len(alarms) == len(validating.NOISES) * len(validating.DESIGNS)
    shares = [(one.mean, one.p95, one.added, one.warned) for one in alarms.values()]
    if is_long():
        assert max(map(max, shares)) <= 0.06, table.markdown()
        assert max(one.table_added for one in alarms.values()) <= 0.06, table.markdown()
        assert max(max(one.warned, one.table_warned) for one in alarms.values()) <= 0.03, table.markdown()
    else:
        # A cell has too few trials for a limit of its own.
        assert max(statistics.fmean(column) for column in zip(*shares, strict=True)) <= 0.075, table.markdown()
