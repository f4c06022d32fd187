"""A power law is seldom called not straight, whatever the variances of its sizes, and a bend is found."""

from __future__ import annotations

from validating_growth import BEND, COUNTS, NOISES, table
from validation_tables import is_long, trials


def test_lines_and_bends_are_told_apart_with_unequal_variances() -> None:
    shown, found = table(trials(100, 8000))
    shown.publish("growth")
    slack = 0 if is_long() else 0.1
    assert max(found[name, count, 0.0] for name in NOISES for count in COUNTS) <= 0.06 + slack, shown.markdown()
    assert max(found["2 % at all sizes", count, 0.0] for count in COUNTS) <= 0.055 + slack, shown.markdown()
    # The precise sizes show the bend although the small ones are noisy.
    noisy = "20 % at the two smallest, 1 % at the others"
    assert found[noisy, 5, BEND] >= 0.6 - slack, shown.markdown()
    assert found[noisy, 10, BEND] >= 0.95 - slack, shown.markdown()
