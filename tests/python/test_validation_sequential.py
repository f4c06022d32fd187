"""Gates of `ab --until decided`: errors over all pairs together, and pairs until a verdict."""

from __future__ import annotations

import pytest
import validating_sequential as validating
from validation_tables import trials


@pytest.mark.long("simulations")
def test_looking_after_each_pair_keeps_the_error_rates() -> None:
    table, found = validating.sequential(trials(30, 2000))
    table.publish("sequential")
    # The error of 30 trials is about 4 points.
    slack = trials(9, 0) / 100
    assert found["no difference"].different <= 0.05 + slack, table.markdown()
    assert found["no difference, heavy tails"].different <= 0.05 + slack, table.markdown()
    assert found["at the margin, 1 %"].equivalent <= 0.05 + slack, table.markdown()
    assert min(one.covered for one in found.values()) >= 0.95 - slack, table.markdown()
    for effect in ("2 %", "-2 %"):
        assert found[effect].different >= 0.99 - slack, table.markdown()
        assert found[effect].pairs <= 10 + trials(2, 0), table.markdown()
    # The fault that this is held against must show.
    assert found["no difference"].peeking > 0.1, table.markdown()
