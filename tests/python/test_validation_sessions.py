"""The gates of comparisons between sessions: how often two sessions of equal programs may be called different."""

from __future__ import annotations

import pytest
import validating_sessions as validating
from validation_tables import is_long, trials


def test_the_history_keeps_the_error_rate() -> None:
    table, errors = validating.history_errors(trials(100, 10_000), trials(4, 1500))
    table.publish("history")
    slack = 0 if is_long() else 0.06
    assert max(one.different for one in errors.values()) <= 0.06 + slack, table.markdown()
    assert min(one.coverage for one in errors.values()) >= 0.93 - slack, table.markdown()
    if is_long():
        # Where sessions do not differ, the larger of two estimates of one error counts.
        assert max(one.coverage for (between, _, _), one in errors.items() if between >= 0.01) <= 0.97, table.markdown()
        assert max(one.coverage for one in errors.values()) <= 0.985, table.markdown()
        assert max(one.fails for one in errors.values()) <= 0.03, table.markdown()
        assert max(one.mean_excludes for one in errors.values()) <= 0.06, table.markdown()


@pytest.mark.long("simulations")
def test_five_percent_are_found_with_several_sessions_of_the_baseline() -> None:
    table, shares = validating.history_power(trials(200, 10_000))
    table.publish("power with a history")
    slack = 0 if is_long() else 0.05
    assert min(share for (sessions, _, _), share in shares.items() if sessions == 8) >= 0.95 - slack, table.markdown()
    # Two single sessions cannot: not even with a spread that is known exactly.
    assert max(share for (sessions, _, _), share in shares.items() if sessions == 1) < 0.93, table.markdown()


def test_without_a_history_nothing_is_called_different() -> None:
    table, shares = validating.conditional_errors(trials(50, 10_000))
    table.publish("two sessions")
    assert max(different for different, _, _ in shares.values()) == 0, table.markdown()
    # The fault that this is held against must show.
    assert shares[0.02, 0.003, 5][1] > 0.7, table.markdown()
