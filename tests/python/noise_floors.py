"""Figures of noise floors that follow from each other."""

from __future__ import annotations

import math
from typing import Any

from fastrnns_rs.documents.noise_figures import minimum_detectable_change, wilson


def detecting(change: float) -> dict[str, Any]:
    """The figures of a floor of 10 pairs with this effect: without a margin, its logarithm is a multiple of theirs."""
    one = math.log1p(minimum_detectable_change(1.0, 10, margin=0.0, paired=True))
    spread = math.log1p(change) / one
    return {
        "minimum_detectable_change": change,
        "pair_log_stddev": spread,
        "log_stddev": spread,
        "processes_per_side": 10,
        "margin": 0.0,
    }


def alarming(hits: int, trials: int) -> dict[str, Any]:
    """The figures of a floor with this many false alarms."""
    low, high = wilson(hits, trials)
    return {
        "comparisons": trials,
        "false_alarm_rate": hits / trials,
        "false_alarm_ci_low": low,
        "false_alarm_ci_high": high,
    }
