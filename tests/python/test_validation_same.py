"""Gates of `ab --same`: faults that it must report, and how often it reports one that is not there."""

from __future__ import annotations

import validating_same as validating
from validation_tables import is_long, trials


def test_faults_are_reported_as_what_they_are() -> None:
    table, shares = validating.faults(trials(100, 4000))
    table.publish("same")
    # The error of 100 trials is about 2 points.
    slack = 0 if is_long() else 0.04
    for spread in validating.SPREADS:
        sound = shares["none", spread]
        assert max(sound.sides, sound.order, sound.drift + sound.jump) <= 0.03 + slack, table.markdown()
        assert sound.anything <= 0.09 + slack, table.markdown()
        assert shares["side b 3 % slower", spread].sides >= 0.95 - slack, table.markdown()
        assert shares["second of a pair 3 % slower", spread].order >= 0.95 - slack, table.markdown()
        for fault in validating.FAULTS[3:]:
            assert max(shares[fault, spread].sides, shares[fault, spread].order) <= 0.06 + slack, table.markdown()
    assert shares["drift of 10 %", 0.01].drift >= 0.95 - slack, table.markdown()
    assert shares["jump of 5 %", 0.01].jump >= 0.95 - slack, table.markdown()
    # At a spread of 2 %, the name may be wrong, but something is reported.
    for fault in ("drift of 10 %", "jump of 5 %"):
        found = shares[fault, 0.02]
        assert found.drift + found.jump >= 0.9 - slack, table.markdown()


def test_sessions_are_held_against_earlier_ones() -> None:
    table, shares = validating.sessions(trials(100, 4000))
    table.publish("same sessions")
    slack = 0 if is_long() else 0.03
    assert max(share for (_, shift), share in shares.items() if not shift) <= 0.03 + slack, table.markdown()
    assert shares[20, 0.05] >= 0.95 - slack, table.markdown()
    # Three sessions show little: their spread is hardly known.
    assert shares[3, 0.05] < 0.5, table.markdown()
