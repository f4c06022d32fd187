"""`detection_power` and `required_processes` against scipy's noncentral t."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from fastrnns_rs import stats

PLANS = [(3, 3), (4, 4), (10, 10), (5, 10), (10, 5), (3, 10), (20, 60)]


def degrees(share: np.ndarray, processes: tuple[int, int]) -> np.ndarray:
    """Welch's, given the baseline's share in the squared standard error."""
    found = 1 / (share**2 / (processes[0] - 1) + (1 - share) ** 2 / (processes[1] - 1))
    fewer = min(processes)
    return np.minimum(found, 2 * (fewer - 1)) if fewer < 5 else found


def by_noncentral_t(
    processes: tuple[int, int], spreads: tuple[float, float], difference: float, level: float = 0.95
) -> tuple[float, float]:
    """P(faster), P(slower) without a margin: noncentral t, given a share, over the law of that share."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    shapes = [(count - 1) / 2 for count in processes]
    squares = [spread**2 / count for spread, count in zip(spreads, processes, strict=True)]
    drawn = scipy.stats.beta.ppf((nodes + 1) / 2, *shapes)
    parts = squares[0] / shapes[0] * drawn, squares[1] / shapes[1] * (1 - drawn)
    share = parts[0] / (parts[0] + parts[1])
    freedom = sum(processes) - 2
    limit = scipy.stats.t.isf((1 - level) / 2, degrees(share, processes))
    # The standard error that is observed is the true one times a chi with all degrees of freedom, times this.
    limit *= np.sqrt((parts[0] + parts[1]) * freedom / 2 / sum(squares))
    shift = math.log1p(difference) / math.sqrt(sum(squares))
    faster = scipy.stats.nct.sf(limit, freedom, -shift)
    slower = scipy.stats.nct.sf(limit, freedom, shift)
    return float(weights @ faster / 2), float(weights @ slower / 2)


@pytest.mark.parametrize("processes", PLANS)
@pytest.mark.parametrize("difference", [0.0, 0.005, -0.02])
@pytest.mark.parametrize("spreads", [(0.01, 0.01), (0.005, 0.02)])
def test_agrees_with_the_noncentral_t(
    processes: tuple[int, int], difference: float, spreads: tuple[float, float]
) -> None:
    found = stats.detection_power(
        spreads[0],
        processes[0],
        difference=difference,
        candidate_spread=spreads[1],
        candidate_processes=processes[1],
        margin=0.0,
    )
    faster, slower = by_noncentral_t(processes, spreads, difference)
    assert (found.faster, found.slower) == pytest.approx((faster, slower), rel=1e-5, abs=1e-6)
    assert found.equivalent == 0.0


@pytest.mark.parametrize("processes", [3, 10, 30])
def test_agrees_with_a_brute_force_integral_over_both_spreads(processes: int) -> None:
    difference, margin, spread = 0.008, 0.01, 0.008
    found = stats.detection_power(spread, processes, difference=difference, margin=margin)
    middles = (np.arange(250) + 0.5) / 250
    chi = scipy.stats.chi2.ppf(middles, processes - 1) / (processes - 1)
    squares = spread**2 / processes * chi
    one, other = squares[:, None], squares[None, :]
    error = np.sqrt(one + other)
    freedom = degrees(one / (one + other), (processes, processes))
    true_error, shift = spread * math.sqrt(2 / processes), math.log1p(difference)
    inside = math.log1p(margin) - scipy.stats.t.isf(0.05, freedom) * error
    outside = np.maximum(scipy.stats.t.isf(0.025, freedom) * error, inside)
    cdf = lambda z: scipy.stats.norm.cdf((z - shift) / true_error)  # noqa: E731
    equivalent = np.maximum(cdf(inside) - cdf(-inside), 0).mean()
    expected = (cdf(-outside).mean(), (1 - cdf(outside)).mean(), equivalent)
    assert (found.faster, found.slower, found.equivalent) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("difference", [0.02, -0.02, 0.05, 0.0, 0.004])
@pytest.mark.parametrize("spread", [0.004, 0.01, 0.03])
@pytest.mark.parametrize("power", [0.5, 0.9])
def test_required_is_the_smallest_number(spread: float, difference: float, power: float) -> None:
    found = stats.required_processes(spread, difference=difference, power=power)
    words = {True: "equivalent", False: "slower" if difference > 0 else "faster"}
    assert found.verdict == words[abs(difference) < 0.01]
    count = found.processes
    assert count is not None
    fewer = {*range(3, min(count, 12)), *range(12, count, 1 + count // 8), count - 1} - {2}
    for processes in fewer:
        assert getattr(stats.detection_power(spread, processes, difference=difference), found.verdict) < power
    assert found.power >= power
    assert found.power == getattr(stats.detection_power(spread, count, difference=difference), found.verdict)
