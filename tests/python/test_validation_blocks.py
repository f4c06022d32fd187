"""Gates of `ab`: how often pairs are wrong where the machine changes, and what they find there."""

from __future__ import annotations

import pytest
import validating_blocks as validating
from validation_tables import trials


@pytest.mark.long("simulations")
def test_pairs_hold_their_level_and_find_what_drift_hides() -> None:
    table, shares = validating.blocks(trials(600, 20_000))
    table.publish("blocks")
    # The error of 600 trials is about 1 point.
    slack = trials(25, 0) / 1000
    assert max(shares[noise.name, False][1] for noise in validating.NOISES) <= 0.065 + slack, table.markdown()
    assert shares["drift of 4 %", True][1] >= 0.9, table.markdown()
    # The fault that this is held against must show.
    assert shares["drift of 4 %", True][0] < 0.4, table.markdown()
    welch, pairs = shares["white, 1 %", True]
    assert welch - pairs <= 0.05 + slack, table.markdown()
