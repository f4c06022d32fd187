"""The warning of a drift: what it sees, and how often it accuses a run that stands still."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from parts import few
from warned_runs import process, result, run

from fastrnns_rs.documents.codec import RunWarning
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.machine.trend import fit_trend
from fastrnns_rs.machine.warnings import drift
from fastrnns_rs.machine.warnings.timed_samples import timed_runners

Level = Callable[[int, np.ndarray], np.ndarray]


def measured(generator: np.random.Generator, runners: int, processes: int, level: Level, spread: float = 0.01) -> Run:
    """A run of random order; `level` gives a runner's factor at each place of the run, 0 to 1."""
    orders = generator.permutation(runners * processes).reshape(runners, processes)
    results = []
    for index in range(runners):
        places = orders[index] / max(1, runners * processes - 1)
        noise = np.exp(spread * generator.standard_normal(processes))
        medians = 1e6 * (index + 1) * level(index, places) * noise
        results.append(
            result(f"r{index}", [process(int(o), [m], [2 * m]) for o, m in zip(orders[index], medians, strict=True)])
        )
    return run(*results)


def found(measured: Run) -> RunWarning | None:
    return next((one for one in drift.find_warnings(timed_runners(measured)) if one.code == "drift"), None)


def test_a_machine_that_gets_slower_is_told_with_how_much() -> None:
    told = found(measured(np.random.default_rng(1), 12, 5, lambda _, place: 1 + 0.05 * place))
    assert told is not None
    change, tau, p, rest = told.evidence.split(", ")
    assert 4 < float(change.removesuffix("% from first to last")) < 6
    assert float(tau.removeprefix("Kendall's tau ")) > 0.5
    assert float(p.removeprefix("p = ")) < 1e-6
    assert rest == "60 processes of 12 runners"


def test_one_that_gets_faster_too() -> None:
    told = found(measured(np.random.default_rng(2), 1, 20, lambda _, place: 1 - 0.05 * place))
    assert told is not None
    assert told.evidence.startswith("-")
    assert told.evidence.endswith("20 processes of 1 runner")


def test_one_runner_may_drift_alone() -> None:
    generator = np.random.default_rng(3)
    told = found(measured(generator, 12, 20, lambda index, place: 1 + 0.2 * place * (index == 7), spread=0.02))
    assert told is not None
    assert told.evidence.startswith("r7: +")
    assert "; " not in told.evidence


def test_less_than_one_per_cent_does_not_matter_however_sure_it_is() -> None:
    generator = np.random.default_rng(4)
    assert not found(measured(generator, 12, 20, lambda _, place: 1 + 0.008 * place, spread=0.0001))
    assert found(measured(generator, 12, 20, lambda _, place: 1 + 0.012 * place, spread=0.0001))


def test_runners_are_compared_with_themselves() -> None:
    """The slower the runner the later it runs, which is no drift."""
    results = [
        result(
            f"r{index}", [process(5 * index + one, [1e6 * (index + 1) * (1 + 0.01 * (one % 2))]) for one in range(5)]
        )
        for index in range(12)
    ]
    assert not found(run(*results))


@pytest.mark.parametrize(("runners", "processes"), [(0, 0), (1, 1), (1, 2), (1, 5), (12, 1)])
def test_too_few_processes_tell_nothing(runners: int, processes: int) -> None:
    assert not found(measured(np.random.default_rng(5), runners, processes, lambda _, place: 1 + place))


def test_the_correlation_is_kendalls() -> None:
    generator = np.random.default_rng(6)
    (runner,) = timed_runners(measured(generator, 1, 40, lambda _, place: 1 + 0.02 * place))
    trend = drift._trend(runner)
    orders = [one.record.order for one in runner.processes]
    medians = [one.medians_ns["forward"] for one in runner.processes]
    reference = scipy.stats.kendalltau(orders, medians, method="asymptotic")
    assert trend.tau == pytest.approx(reference.statistic)
    # scipy's has no correction for continuity.
    assert reference.pvalue < trend.p_value < 1.3 * reference.pvalue
    slope = scipy.stats.theilslopes(np.log(medians), orders).slope
    assert trend.change(39) == pytest.approx(np.expm1(39 * slope))


@pytest.mark.parametrize(
    ("runners", "processes", "trials"),
    few([(1, 10, 800), (12, 20, 100)], [(1, 10, 800), (1, 40, 300), (12, 5, 500), (12, 20, 100)], "simulations"),
)
@pytest.mark.parametrize("law", few(["heavy"], ["normal", "heavy"], "simulations"))
def test_a_run_that_stands_still_is_seldom_accused(runners: int, processes: int, trials: int, law: str) -> None:
    """In at most 1 %, though processes differ by so much that every change is larger than what matters."""
    generator = np.random.default_rng(7)

    def level(_: int, places: np.ndarray) -> np.ndarray:
        return np.ones_like(places) if law == "normal" else 1 + 0.1 * generator.pareto(2, len(places))

    accused = sum(found(measured(generator, runners, processes, level, spread=0.1)) is not None for _ in range(trials))
    assert accused <= 0.01 * trials


def test_thousands_of_levels_are_thinned() -> None:
    """There is a slope for each pair, so that time and memory would be quadratic."""
    trend = fit_trend(enumerate(0.001 * place for place in range(5_000)))
    assert trend.count == 500
    assert len(trend.slopes) == 500 * 499 // 2
    assert trend.tau == 1
    assert trend.change(1_000) == pytest.approx(np.expm1(1))
    assert fit_trend([]).count == 0
