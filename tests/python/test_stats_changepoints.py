"""Change points, held against ruptures, a search of every partition, and what must hold for any series."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from parts import few

from fastrnns_rs import stats
from fastrnns_rs.stats import changepoints

COSTS = ("mean", "mean_variance")


def series(seed: int, most: int = 300) -> np.ndarray:
    """Noise alone, or with changes of level and spread; every seed another length."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, most + 1))
    if seed % 3 == 0:
        return rng.normal(rng.normal(0, 10), rng.uniform(0.1, 3), n)
    kinds = int(rng.integers(2, 7))
    segment = np.sort(rng.integers(0, kinds, n))
    return rng.normal(0, 3, kinds)[segment] + rng.normal(size=n) * rng.uniform(0.3, 2, kinds)[segment]


def ends(found: stats.ChangePoints) -> list[int]:
    return [end for _, end in found.segments]


def with_ruptures(
    samples: np.ndarray, cost: str, penalty: float, min_size: int, jump: int, *, diagonal: bool = True
) -> list[int]:
    ruptures = pytest.importorskip("ruptures")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CostNormal tells of its small diagonal
        costs = {
            "mean": ruptures.costs.CostL2,
            "mean_variance": lambda: ruptures.costs.CostNormal(add_small_diag=diagonal),
        }
        search = ruptures.Pelt(custom_cost=costs[cost](), min_size=min_size, jump=jump)
        return search.fit_predict(samples, penalty)


def cheapest(samples: np.ndarray, cost: str, penalty: float, min_size: int, jump: int = 1) -> tuple[list[int], float]:
    """Every partition, by a dynamic programme that leaves nothing out."""
    n = len(samples)
    table = np.full((n + 1, n + 1), np.inf)
    for begin in range(0, n, jump):
        for end in [*range(begin + min_size, n, 1), n]:
            part = samples[begin:end]
            if len(part) >= min_size:
                square = part.var() * len(part)
                table[begin, end] = square if cost == "mean" else len(part) * np.log(part.var() + 1e-6)
    best, back = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=int)
    best[0] = -penalty
    for end in [*range(jump, n, jump), n]:
        totals = best[:end] + table[:end, end] + penalty
        back[end] = np.argmin(totals)
        best[end] = totals[back[end]]
    found, end = [], n
    while end > 0:
        found.append(int(end))
        end = back[end]
    return found[::-1], float(best[n])


def options(seed: int) -> tuple[str, float, int, int]:
    """Cost, penalty, min_size and jump: every combination comes up."""
    rng = np.random.default_rng(seed + 10_000)
    penalty = float(rng.choice([0.5, 2.0, 5.0, 12.0, 40.0, 80.0]))
    return COSTS[seed % 2], penalty, int(rng.integers(2, 6)), int(rng.integers(1, 6))


@pytest.mark.parametrize("first", few([0], range(0, 240, 40), "simulations"))
def test_segments_are_those_of_ruptures(first: int) -> None:
    for seed in range(first, first + 40):
        cost, penalty, min_size, jump = options(seed)
        samples = series(seed, 150 if jump == 1 else 300)
        found = changepoints(samples, cost=cost, penalty=penalty, min_size=min_size, jump=jump)
        assert ends(found) == with_ruptures(samples, cost, penalty, min_size, jump), (seed, found)
        assert (found.cost, found.penalty, found.min_size, found.jump) == (cost, penalty, min_size, jump)


def test_segments_are_those_of_ruptures_with_the_defaults_and_without_the_diagonal() -> None:
    for seed in range(12):
        samples = series(seed, 120)
        for cost in COSTS:
            found = changepoints(samples, cost=cost)
            assert ends(found) == with_ruptures(samples, cost, found.penalty, 2, 1)
        found = changepoints(samples, added_variance=0.0, penalty=20.0)
        assert ends(found) == with_ruptures(samples, "mean_variance", 20.0, 2, 1, diagonal=False)


def test_the_optimum_is_that_of_a_search_of_every_partition() -> None:
    differing = 0
    for seed in range(60):
        cost, penalty, min_size, jump = options(seed)
        jump = 1 if seed % 4 else jump
        samples = series(seed, 70)
        expected, total = cheapest(samples, cost, penalty, min_size, jump)
        found = changepoints(samples, cost=cost, penalty=penalty, min_size=min_size, jump=jump, optimal=True)
        assert ends(found) == expected, seed
        assert found.total_cost == pytest.approx(total, rel=1e-10, abs=1e-9)
        hasty = changepoints(samples, cost=cost, penalty=penalty, min_size=min_size, jump=jump)
        assert hasty.total_cost >= found.total_cost - 1e-9
        differing += ends(hasty) != expected
    # As ruptures does: what is dropped at once may be missed. Without any such series this would test nothing.
    assert 0 < differing < 15


@pytest.mark.parametrize("cost", COSTS)
def test_ordinary_penalties_find_the_optimum_either_way(cost: str) -> None:
    for seed in range(30):
        samples = series(seed, 80)
        penalty = 15 * np.log(len(samples)) if cost == "mean_variance" else 2 * np.var(np.diff(samples)) * 4
        found = changepoints(samples, cost=cost, penalty=penalty)
        assert ends(found) == cheapest(samples, cost, penalty, 2)[0], seed


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12, 1e15, -1e15])
@pytest.mark.parametrize("cost", COSTS)
def test_a_large_offset_changes_nothing(cost: str, offset: float) -> None:
    samples = np.round(np.random.default_rng(3).normal(size=200) * 8)
    samples[120:] += 20
    found = changepoints(samples + offset, cost=cost)
    plain = changepoints(samples, cost=cost)
    assert found.positions == plain.positions == [120]
    assert found.total_cost == pytest.approx(plain.total_cost, rel=1e-6)


def test_a_quiet_part_keeps_its_digits_behind_a_loud_one() -> None:
    rng = np.random.default_rng(5)
    quiet = np.concatenate([rng.normal(0, 1e-2, 100), rng.normal(1, 1e-2, 100)])
    found = changepoints(np.concatenate([[1e9, -1e9, 1e9, -1e9], quiet]), penalty=20.0)
    assert found.positions == [4, 104]
    parts = [np.asarray([1e9, -1e9, 1e9, -1e9]), quiet[:100], quiet[100:]]
    assert found.total_cost == pytest.approx(sum(len(x) * np.log(x.var() + 1e-6) for x in parts) + 40, rel=1e-12)


@pytest.mark.parametrize("cost", COSTS)
def test_constants_and_ties(cost: str) -> None:
    for value in (0.0, -2.5, 1e-320, 1e300):
        found = changepoints(np.full(100, value), cost=cost, added_variance=0.0)
        assert (found.positions, found.segments) == ([], [(0, 100)])
        assert np.isfinite(found.total_cost)
    step = np.repeat([1.0, 2.0], 50)
    assert changepoints(step, cost=cost).positions == [50]
    assert changepoints(step, cost=cost, added_variance=0.0).positions == [50]


def test_default_penalties() -> None:
    samples = np.random.default_rng(1).normal(size=400)
    assert changepoints(samples).penalty == pytest.approx(15 * np.log(400), rel=1e-14)
    sigma = np.median(np.abs(np.diff(samples))) / 0.9538725524174894
    assert changepoints(samples, cost="mean").penalty == pytest.approx(2 * sigma**2 * np.log(400), rel=1e-12)
    coarse = np.where(np.arange(400) % 5 == 0, 3.0, 2.0)
    sigma = np.sqrt(np.mean(np.diff(coarse) ** 2) / 2)
    assert changepoints(coarse, cost="mean").penalty == pytest.approx(2 * sigma**2 * np.log(400), rel=1e-12)


def test_extreme_options_are_defined() -> None:
    samples = [1.0, 5.0, 1.0, 9.0]
    assert changepoints(samples, jump=2**40).segments == [(0, 4)]
    assert changepoints(samples, penalty=1e308).segments == [(0, 4)]
    assert changepoints(samples, cost="mean", min_size=1, penalty=0.0).positions == [1, 2, 3]
    assert changepoints([7.0], cost="mean", min_size=1).segments == [(0, 1)]
    assert changepoints(samples, min_size=1).min_size == 2
