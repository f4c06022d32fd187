"""Intervals hold the truth as often as they say, by simulation; stopping on their width does not spoil that."""

from __future__ import annotations

import pytest
from parts import few
from validating_intervals import median_coverage, precision_stopping, process_coverage, two_kinds_coverage
from validation_tables import trials


def test_processes_are_covered() -> None:
    table, found = process_coverage(trials(2_000, 20_000))
    table.publish("process intervals")
    for (kind, count), held in found.items():
        if kind == "hierarchical":
            assert 0.93 <= held <= 0.97, table.markdown()
        elif kind == "linear drift":
            assert held >= 0.93, table.markdown()
        else:
            # No interval can follow a machine that wanders; shown so that nobody believes it.
            assert held <= 0.93, (kind, count, table.markdown())


def test_few_processes_do_not_cover_two_kinds() -> None:
    """The coverage behind `may_miss_a_kind`, which the documentation shows."""
    table, found = two_kinds_coverage(trials(1_000, 20_000))
    table.publish("two kinds")
    assert found[5] < 0.75 < found[10] < found[20], table.markdown()
    assert found[20] >= 0.9, table.markdown()


@pytest.mark.parametrize("independent", few([True], [False, True], "simulations"))
def test_medians_are_covered(independent: bool) -> None:
    table, found = median_coverage(trials(2_000, 20_000), independent=independent)
    if not independent:
        table.publish("median intervals")
    assert len(found) == (25 if independent else 25 + 12)
    for (kind, count), one in found.items():
        if kind == "quantised":
            assert one.held >= 0.93, table.markdown()
        elif not kind.startswith("AR"):
            assert 0.93 <= one.held <= 0.985, table.markdown()
        elif kind != "AR(0.95)":
            assert one.held >= 0.88, table.markdown()
            assert one.ranges <= 0.03, table.markdown()
        if not kind.startswith("AR"):
            # A few samples sometimes look as if they depended on one another so much that they say nothing.
            assert one.ranges <= ({10: 0.12, 30: 0.005}.get(count, 0) if not independent else 0), table.markdown()


@pytest.mark.long("simulations")
def test_stopping_on_precision_keeps_the_coverage() -> None:
    count = trials(1_000, 15_000)
    table, found = precision_stopping(count)
    table.publish("precision")
    naive = min(one.naive_chance for one in found.values())
    assert naive < 0.93, "the cases are too easy to tell the rules apart"
    for (spread, target), one in found.items():
        assert one.chance >= 0.94, table.markdown()
        # Counted, it is the same number within four of its standard errors.
        assert abs(one.held - one.chance) <= 4 * (0.95 * 0.05 / count) ** 0.5, table.markdown()
        assert one.capped == 0 or spread / target > 4, table.markdown()
        assert one.processes - one.naive_processes <= 10, table.markdown()
