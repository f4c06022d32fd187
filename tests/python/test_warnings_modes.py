"""Warnings of several levels: within processes and between them, and how often chance alone brings one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from simulated_samples import autoregression
from warned_runs import process, result, run

from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.run_file import Result
from fastrnns_rs.machine.warnings import check_samples
from fastrnns_rs.machine.warnings.timed_samples import timed_runners

MILLISECOND = 1e6


def about(code: str, *results: Result) -> RunWarning | None:
    return next((one for one in check_samples(run(*results)) if one.code == code), None)


def two_levels(generator: np.random.Generator, distance: float, share: float = 0.4, n: int = 100) -> np.ndarray:
    levels = np.where(generator.random(n) < share, 1 + distance, 1.0)
    return MILLISECOND * levels * np.exp(0.1 * distance * generator.standard_normal(n))


def one_level(generator: np.random.Generator, n: int = 100) -> np.ndarray:
    return MILLISECOND * np.exp(0.02 * generator.standard_normal(n))


def of_processes(name: str, draws: list[np.ndarray]) -> Result:
    return result(name, [process(order, draw) for order, draw in enumerate(draws)])


def test_levels_within_most_processes() -> None:
    generator = np.random.default_rng(1)
    jit = of_processes("jit", [two_levels(generator, 0.1) for _ in range(4)] + [one_level(generator)])
    found = about("several_modes", jit, of_processes("py", [one_level(generator) for _ in range(5)]))
    assert found is not None
    assert found.evidence == "996 µs (53 % of samples) and 1.1 ms (47 %) in 4 of 5 processes"
    assert "forward median of jit" in found.message
    assert found.rows == ["jit/forward"]


def test_levels_of_several_rows_are_one_warning() -> None:
    generator = np.random.default_rng(1)
    both = [of_processes(name, [two_levels(generator, 0.1, n=1000) for _ in range(5)]) for name in ("jit", "py")]
    found = about("several_modes", *both)
    assert found is not None
    assert found.rows == ["jit/forward", "py/forward"]
    assert found.evidence.count(" in 5 of 5 processes") == 2


@pytest.mark.parametrize(("several", "told"), [(0, False), (2, False), (3, True), (5, True)])
def test_levels_within_a_few_processes_are_theirs(several: int, told: bool) -> None:
    generator = np.random.default_rng(2)
    draws = [two_levels(generator, 0.1, n=1000) for _ in range(several)]
    jit = of_processes("jit", draws + [one_level(generator) for _ in range(5 - several)])
    assert (about("several_modes", jit) is not None) is told


@pytest.mark.parametrize(("distance", "share", "told"), [(0.02, 0.4, True), (0.008, 0.4, False), (0.1, 0.02, False)])
def test_levels_that_are_close_or_rare_do_not_matter(distance: float, share: float, told: bool) -> None:
    generator = np.random.default_rng(3)
    jit = of_processes("jit", [two_levels(generator, distance, share, n=1000) for _ in range(5)])
    assert (about("several_modes", jit) is not None) is told


def test_each_phase_is_looked_at_and_one_process_must_be_sure() -> None:
    generator = np.random.default_rng(4)
    one = result("jit", [process(0, one_level(generator), two_levels(generator, 0.1, n=1000))])
    found = about("several_modes", one)
    assert found is not None
    assert found.evidence.startswith("1 ms (")
    assert found.evidence.endswith(" %)")
    assert found.rows == ["jit/backward"]


def test_levels_within_most_of_many_processes() -> None:
    generator = np.random.default_rng(0)
    # Several levels, of which no process is sure.
    jit = of_processes("jit", [two_levels(generator, 0.1, n=25)] * 700 + [one_level(generator, 25)] * 400)
    found = about("several_modes", jit)
    assert found is not None
    assert found.evidence.endswith(" in 700 of 1100 processes")


@pytest.mark.parametrize(("several", "count"), [(1, 1), (3, 5), (5, 5), (11, 20), (60, 100)])
def test_chance_of_levels_within_processes(several: int, count: int) -> None:
    from fastrnns_rs.machine.warnings.modes import _tail

    weights = [math.comb(count, one) * 7**one * 93 ** (count - one) for one in range(several, count + 1)]
    assert _tail(several, count) == pytest.approx(sum(weights) / 100**count, rel=1e-11, abs=0)


def test_only_timed_samples_count() -> None:
    generator = np.random.default_rng(5)
    cold = 3 * one_level(generator, 60)
    draws = [np.concatenate([cold, one_level(generator, 60)]) for _ in range(5)]
    assert about("several_modes", result("jit", [process(i, draw) for i, draw in enumerate(draws)]))
    assert not about("several_modes", result("jit", [process(i, draw, steady_from=60) for i, draw in enumerate(draws)]))


def test_processes_in_two_groups() -> None:
    generator = np.random.default_rng(6)
    draws = [one_level(generator) * (1.1 if index % 3 == 0 else 1.0) for index in range(20)]
    found = about("process_modes", of_processes("jit", draws))
    assert found is not None
    assert found.evidence == "jit/forward: 13 processes around 1 ms and 7 processes around 1.1 ms"
    assert not about("several_modes", of_processes("jit", draws))


def test_live_processes_have_the_times_of_tables() -> None:
    """The median of all samples jumps between the levels of turns, and their geometric mean does not."""
    turns = [
        [MILLISECOND * (1 + 1e-4 * order)] * 20 + [1.1 * MILLISECOND] * (19 + 2 * (order % 2)) for order in range(8)
    ]
    assert about("process_modes", of_processes("jit", [np.array(one) for one in turns])) is not None
    live = [process(order, one, slices=[0, 20]) for order, one in enumerate(turns)]
    assert about("process_modes", result("jit", live)) is None
    [runner] = timed_runners(run(result("jit", live)))
    assert [one.medians_ns["forward"] for one in runner.processes] == [one.median_ns("forward") for one in live]


@pytest.mark.parametrize(
    ("count", "high", "factor", "told"),
    [
        *((20, 7, 1.1, True), (8, 4, 1.1, True), (5, 2, 1.1, True), (6, 2, 1.1, True), (7, 3, 1.1, True)),
        *((4, 2, 1.1, False), (5, 1, 1.1, False), (20, 1, 1.1, False), (20, 7, 1.009, False)),
    ],
)
def test_groups_that_are_small_or_close_are_none(count: int, high: int, factor: float, told: bool) -> None:
    levels = 1 + 1e-4 * np.random.default_rng(7).standard_normal(count)
    levels[:high] *= factor
    jit = of_processes("jit", [np.full(20, MILLISECOND * level) for level in levels])
    assert (about("process_modes", jit) is not None) is told


def test_a_run_with_few_rows_finds_closer_groups() -> None:
    levels = [1.0, 1.003, 0.997, 1.1, 1.103]
    one = of_processes("jit", [np.full(20, MILLISECOND * level) for level in levels])
    others = [of_processes(f"r{index}", [np.full(20, MILLISECOND)] * 5) for index in range(11)]
    assert about("process_modes", one) is not None
    assert about("process_modes", one, *others) is None


def test_ticks_of_a_coarse_clock_are_no_groups() -> None:
    processes = [process(order, [10_000 + 500 * (order % 2)] * 20) for order in range(20)]
    assert not about("process_modes", result("jit", processes, timer_resolution_ns=500))
    assert about("process_modes", result("jit", processes, timer_resolution_ns=1))


NOISES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "normal": one_level,
    "like its neighbours": lambda generator: MILLISECOND * np.exp(0.02 * autoregression(generator, (100,), 0.8)),
    "Pareto": lambda generator: MILLISECOND * (1 + 0.02 * generator.pareto(2, 100)),
    "uniform": lambda generator: MILLISECOND * (1 + 0.1 * generator.random(100)),
}


@pytest.mark.parametrize("noise", NOISES)
def test_chance_seldom_makes_levels(noise: str) -> None:
    """Twelve runners of five processes: of 60 runs not more than two are warned of, and one is expected at most."""
    generator = np.random.default_rng(8)
    trials, warned = 60, 0
    for _ in range(trials):
        results = [of_processes(f"r{index}", [NOISES[noise](generator) for _ in range(5)]) for index in range(12)]
        warned += any(one.code in {"several_modes", "process_modes"} for one in check_samples(run(*results)))
    assert warned <= 2


@pytest.mark.parametrize("law", ["normal", "uniform", "exponential"])
@pytest.mark.parametrize("count", [5, 6, 7, 8, 10, 20, 40])
def test_chance_seldom_makes_groups(law: str, count: int) -> None:
    """At most 1 % of runs: one row of 2400 with 24 rows, and one of 200 with two rows."""
    from fastrnns_rs.machine.warnings.modes import _border

    generator = np.random.default_rng([9, count])
    trials = 2400
    spread = {
        "normal": generator.standard_normal((trials, count)),
        "uniform": generator.random((trials, count)),
        "exponential": generator.exponential(size=(trials, count)),
    }[law]
    medians = np.sort(MILLISECOND * np.exp(0.05 * spread), axis=1).tolist()
    # One or 12 are expected where it is worst; more than that comes once in several hundred.
    for phases, most in ((24, 4), (2, 22)):
        assert sum(_border(row, 1, phases) is not None for row in medians) <= most
