"""Noise floors that contradict themselves: they are refused, since margins are made from them."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from noise_floors import detecting
from run_files import ENVIRONMENT

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.noise_floor import NoiseFloorDocument
from fastrnns_rs.documents.self_check import SelfCheck
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine.noise import measure_floor
from fastrnns_rs.machine.noise.process_pairs import ProcessPair

SIDES: dict[str, Any] = to_plain(SelfCheck(check="sides", finding="none"))
SESSION: dict[str, Any] = to_plain(
    SelfCheck(check="session", finding="none", ratio=1.0, ratio_ci_low=0.95, ratio_ci_high=1.05, n_sessions=8)
)
INTERVAL = {"ratio": 1.0, "ratio_ci_low": 0.99, "ratio_ci_high": 1.01}


def document() -> dict[str, Any]:
    """The noise floor of 20 pairs that vary by 2 %."""
    generator = random.Random(0)
    times = [(1e6 * math.exp(generator.gauss(0, 0.02)), 1e6 * math.exp(generator.gauss(0, 0.02))) for _ in range(20)]
    pairs = [ProcessPair(baseline_ns=one, candidate_ns=other, baseline_first=True) for one, other in times]
    floor = measure_floor(pairs, None, device="cpu", runner="lstm", environment=ENVIRONMENT, draws=50)
    return NoiseFloorDocument(noise_floor=floor).to_dict()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"finding": "drift", "ratio": 1.1}, "sides has a drift, which it cannot have"),
        ({"check": "time", "finding": "difference", "ratio": 1.1}, "time has a difference, which it cannot have"),
        (INTERVAL | {"ratio": 2.0}, "ratio is 2, outside of its interval from 0.99 to 1.01"),
        (INTERVAL | {"ratio_ci_low": 1.5}, "ratio_ci_low is 1.5, above ratio_ci_high, 1.01"),
        (
            INTERVAL | {"finding": "difference"},
            "sides has the finding difference, and its interval is from 0.99 to 1.01",
        ),
        (
            INTERVAL | {"ratio": 1.25, "ratio_ci_low": 1.125, "ratio_ci_high": 1.5},
            "sides has the finding none, and its interval is from 1.125 to 1.5",
        ),
        ({"check": "time", "ratio": 1.1}, "time has the finding none, and ratio is 1.1"),
        ({"check": "time", "after_process": 20}, "time has the finding none, and after_process is 20"),
        ({"check": "time", "n_jumps": 1}, "time has the finding none, and n_jumps is 1"),
        ({"check": "time", "finding": "drift", "ratio": 1.1, "n_jumps": 1}, "the finding drift, and n_jumps is 1"),
        (
            {"check": "time", "finding": "jump", "ratio": 1.1, "after_process": 20},
            "time has the finding jump, and n_jumps is 0",
        ),
        ({"ratio": 1.1, "p_value": 0.001}, "sides has the finding none, and p_value is 0.001"),
        ({"p_value": 0.025}, "sides has the finding none, and p_value is 0.025"),
        (INTERVAL | {"ratio": 1.001, "p_value": 0.0}, "sides has the finding none, and p_value is 0"),
        ({"check": "session", "finding": "unknown", "ratio": 1.1}, "session has the finding unknown, and ratio is 1.1"),
        (
            {"check": "session", "finding": "unknown", "p_value": 0.001},
            "session has the finding unknown, and p_value is 0.001",
        ),
    ],
)
def test_a_check_that_contradicts_its_interval_is_refused(changes: dict[str, Any], message: str) -> None:
    """The answer of `ab --same` is made from findings and intervals."""
    plain = document()
    NoiseFloorDocument.from_dict(plain)
    plain["noise_floor"]["checks"] = [SIDES | changes]
    with pytest.raises(UsageError) as raised:
        NoiseFloorDocument.from_dict(plain)
    assert raised.value.message.endswith(message)


def test_equal_times_have_no_difference_whatever_their_p_value() -> None:
    """A comparison without a spread has a p-value of 0 from a rounding error."""
    plain = document()
    plain["noise_floor"]["checks"] = [SIDES | {"ratio": 1.0, "p_value": 0.0}]
    assert NoiseFloorDocument.from_dict(plain).noise_floor.checks[0].finding == "none"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"checks": [SIDES, SIDES]}, "duplicate check: sides"),
        ({"processes_per_side": 21}, "processes_per_side is 21, and n_processes is 40"),
        ({"pair_log_stddev": 0.5}, "and that of the standard deviation is 0.6462"),
        ({"minimum_detectable_change": 0.46}, "is 0.46, and that of the standard deviation is 0.04115"),
        ({"minimum_detectable_change": 0.04}, "is 0.04, and that of the standard deviation is 0.04115"),
        # Without the spread of pairs, the processes are independent.
        ({"pair_log_stddev": None}, "is 0.04115, and that of the standard deviation is 0.03013"),
        ({"processes_per_side": 2}, "cannot be computed: processes is 2; it must be from 3 to 1000000"),
        ({"log_stddev": 0.01}, "log_stddev is 0.01, and that of pairs gives 0.0199630943 or more"),
        ({"false_alarm_rate": 0.0512345}, "false_alarm_rate is 0.0512345, not a share of 50"),
        ({"false_alarm_rate": 0.5, "false_alarm_ci_high": 1.0}, "and that of the rate is 0.366445143"),
        ({"false_alarm_ci_low": 0.0}, "and that of the rate is 0.0434757649"),
        ({"false_alarm_ci_high": 0.0}, "and that of the rate is 0.213602314"),
        (
            {"between_sessions_change": 0.001, "session_log_stddev": 0.02, "n_sessions": 9},
            "between_sessions_change is 0.001, and its standard deviation gives 0.0824164 or more",
        ),
        (
            {"between_sessions_change": 0.5, "session_log_stddev": 0.02, "n_sessions": 7},
            "between_sessions_change is 0.5, and session_log_stddev is 0.02 and n_sessions 7",
        ),
        (
            {"between_sessions_change": 0.5, "session_log_stddev": 0.02, "n_sessions": 9, "checks": [SESSION]},
            "the interval of session from 0.95 to 1.05 gives 0.1562 or less",
        ),
        ({"n_sessions": 8, "checks": [SESSION]}, "n_sessions is 8, and the check of the session gives 9"),
    ],
)
def test_an_effect_that_contradicts_its_spread_is_refused(changes: dict[str, Any], message: str) -> None:
    """`--margin noise-floor` would call every difference real, or each equivalent."""
    plain = document()
    plain["noise_floor"] |= changes
    with pytest.raises(UsageError) as raised:
        NoiseFloorDocument.from_dict(plain)
    assert raised.value.message.endswith(message)


def test_pairs_that_vary_more_than_their_interval_are_refused() -> None:
    """Their effect is a margin: a regression became equivalent."""
    made = document()
    floor = made["noise_floor"]
    floor |= detecting(0.2)
    with pytest.raises(UsageError, match=r"^pair_log_stddev is .*, and the interval of sides from "):
        NoiseFloorDocument.from_dict(made)
    floor |= {"pair_log_stddev": None, "minimum_detectable_change": 0.2}
    with pytest.raises(UsageError):
        NoiseFloorDocument.from_dict(made)
    floor["checks"] = []
    floor |= detecting(0.2)
    NoiseFloorDocument.from_dict(made)
