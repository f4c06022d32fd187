"""`compare_samples` against its own rule, followed with scipy."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from fastrnns_rs import stats

#: Times around 1 that differ by some percent: every verdict comes up.
SIDE = st.lists(st.floats(0.97, 1.03) | st.sampled_from([0.99, 1.0, 1.01]), min_size=3, max_size=15)


def by_hand(baseline: list[float], candidate: list[float], margin: float, level: float) -> dict[str, Any]:
    """The rule of the documentation, step by step."""
    logs = np.log(baseline), np.log(candidate)
    variances = [side.var(ddof=1) / len(side) for side in logs]
    difference, error = logs[1].mean() - logs[0].mean(), math.sqrt(sum(variances))
    shares = sum(variance**2 / (len(side) - 1) for variance, side in zip(variances, logs, strict=True))
    degrees = sum(variances) ** 2 / shares
    fewer = min(len(baseline), len(candidate))
    if fewer < 5:
        degrees = min(degrees, 2 * (fewer - 1))

    def interval(level: float) -> tuple[float, float]:
        half_width = scipy.stats.t.ppf((1 + level) / 2, degrees) * error
        return math.exp(difference - half_width), math.exp(difference + half_width)

    narrow, wide = interval(1 - 2 * (1 - level)), interval(level)
    verdict = "inconclusive"
    if narrow[0] >= 1 / (1 + margin) and narrow[1] <= 1 + margin:
        verdict = "equivalent"
    elif wide[1] < 1:
        verdict = "faster"
    elif wide[0] > 1:
        verdict = "slower"
    p_value = 2 * scipy.stats.t.sf(abs(difference / error), degrees)
    return {"verdict": verdict, "narrow": narrow, "wide": wide, "degrees": degrees, "p_value": p_value, "error": error}


@settings(deadline=None, max_examples=300)
@given(SIDE, SIDE, st.sampled_from([0.0, 0.005, 0.01, 0.05]), st.sampled_from([0.8, 0.95, 0.99]))
def test_follows_its_rule(baseline: list[float], candidate: list[float], margin: float, level: float) -> None:
    if max(np.ptp(baseline), np.ptp(candidate)) < 1e-6:
        return
    found = stats.compare_samples(baseline, candidate, margin=margin, confidence_level=level)
    expected = by_hand(baseline, candidate, margin, level)
    assert (found.ratio_ci_low, found.ratio_ci_high) == pytest.approx(expected["wide"], rel=1e-11)
    assert (found.equivalence_ci_low, found.equivalence_ci_high) == pytest.approx(expected["narrow"], rel=1e-11)
    assert found.degrees_of_freedom == pytest.approx(expected["degrees"], rel=1e-8)
    assert found.log_standard_error == pytest.approx(expected["error"], rel=1e-8)
    assert found.p_value == pytest.approx(expected["p_value"], rel=1e-8)
    assert found.verdict == expected["verdict"]
    assert (found.log_stddev_baseline, found.log_stddev_candidate) == pytest.approx(
        (np.std(np.log(baseline), ddof=1), np.std(np.log(candidate), ddof=1)), abs=1e-12
    )
    assert found.equivalence_level == pytest.approx(2 * level - 1)


def test_estimates_and_effects() -> None:
    rng = np.random.default_rng(2)
    baseline, candidate = 3e6 * np.exp(rng.normal(0, 0.01, 10)), 3e6 * np.exp(rng.normal(-0.05, 0.01, 12))
    found = stats.compare_samples(baseline, candidate)
    assert (found.verdict, found.n_baseline, found.n_candidate) == ("faster", 10, 12)
    assert found.baseline == pytest.approx(scipy.stats.gmean(baseline), rel=1e-12)
    assert found.candidate == pytest.approx(scipy.stats.gmean(candidate), rel=1e-12)
    assert found.ratio == pytest.approx(found.candidate / found.baseline, rel=1e-12)
    differences = np.subtract.outer(candidate, baseline)
    assert found.shift == pytest.approx(np.median(differences), rel=1e-12)
    assert found.cliffs_delta == pytest.approx(np.sign(differences).mean())
    assert found.cliffs_delta < 0
    assert found.method == "welch_log_process_medians"


def test_samples_stand_for_their_median() -> None:
    rng = np.random.default_rng(4)
    sides = [rng.lognormal(0, 0.01, (6, 25)), [rng.lognormal(0, 0.01, count) for count in (9, 30, 31, 7, 8)]]
    medians = [[float(np.median(process)) for process in side] for side in sides]
    assert stats.compare_samples(*sides) == stats.compare_samples(*medians)
    # A time below the clock's resolution is no reason to refuse a process.
    assert stats.compare_samples([[0.0, 1.0, 2.0]] * 3, [1.0, 1.0, 1.0]).ratio == 1.0


def test_reasons_name_the_numbers_that_decided() -> None:
    rng = np.random.default_rng(5)
    seen = set()
    for _, spread, ratio in itertools.product(range(20), (0.001, 0.005, 0.02), (0.97, 0.99, 1.0, 1.01, 1.03)):
        baseline, candidate = np.exp(rng.normal(0, spread, 10)), ratio * np.exp(rng.normal(0, spread, 10))
        found = stats.compare_samples(baseline, candidate)
        seen.add(found.verdict)
        numbers = [float(word.strip(",")) for word in found.reason.split() if word[0].isdigit()]
        wide = [found.ratio_ci_low, found.ratio_ci_high]
        narrow = [found.equivalence_ci_low, found.equivalence_ci_high, 1 / 1.01, 1.01]
        expected = {
            "equivalent": [90, *narrow],
            "faster": [95, *wide, 1],
            "slower": [95, *wide, 1],
            "inconclusive": [95, *wide, 1, 90, *narrow],
        }[found.verdict]
        assert numbers == pytest.approx(expected, abs=1e-4), found.reason
        # What is printed decides as what was computed.
        if found.verdict == "faster":
            assert numbers[2] < 1
        assert (found.additional_processes is not None) == (found.verdict == "inconclusive")
    assert seen == {"faster", "slower", "equivalent", "inconclusive"}


@pytest.mark.parametrize("counts", [(1, 1), (2, 10), (10, 2), (1, 3)])
def test_fewer_than_three_processes_give_no_verdict(counts: tuple[int, int]) -> None:
    found = stats.compare_samples(np.linspace(1, 1.1, counts[0]), np.linspace(2, 2.1, counts[1]))
    assert (found.verdict, found.reason) == ("inconclusive", "fewer than 3 processes: no verdict")
    unknown = [field for field, value in found.to_dict().items() if value is None]
    assert unknown == [
        "ratio_ci_low", "ratio_ci_high", "equivalence_ci_low", "equivalence_ci_high", "p_value", "degrees_of_freedom",
        "log_standard_error", "log_stddev_baseline", "log_stddev_candidate", "additional_processes",
    ]  # fmt: skip
    assert found.ratio > 1.8
    assert found.shift > 0


def test_loads_no_scipy() -> None:
    compare = "from fastrnns_rs import stats; stats.compare_samples([1.0] * 3, [2.0] * 3)"
    code = f"import sys; {compare}; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
