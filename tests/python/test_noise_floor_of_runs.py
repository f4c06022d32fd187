"""The noise floor of a run of `ab --same`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from run_files import process, result, run
from test_noise_floor import MACHINE, measured, medians

from fastrnns_rs.documents.run_file import Process, Result, Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine.noise import compute_run_floor
from fastrnns_rs.machine.noise.process_pairs import find_pairs


def run_of(*runners: str, count: int = 22, backward: bool = True) -> Run:
    """A run of `ab --same`: a slow warm-up, and on each side a process that failed."""

    def steady(index: int, median: float) -> Process:
        times = [round(median), round(median) - 9, round(median) + 8]
        return process(index, times, [2 * one for one in times] if backward else None)

    def side(seed: int, runner: str) -> Result:
        made = [steady(*one) for one in enumerate(medians(0.02, count - 1, seed=seed))]
        broken = replace(steady(count, 1.0), status="failed", steady_from=None)
        # Side `a` is first in even pairs.
        placed = [replace(one, order=2 * one.index + (one.index + seed) % 2) for one in [*made, broken]]
        return replace(result(runner, processes=0), side="ab"[seed], processes=placed)

    plan = replace(run([]).plan, order_seed=7)
    return run([side(*one) for one in enumerate(runners)], environment=MACHINE, plan=plan)


@pytest.mark.parametrize("backward", [True, False])
def test_processes_of_one_index_are_a_pair(backward: bool) -> None:
    floor = compute_run_floor(run_of("lstm", "lstm", backward=backward))
    sides = zip(medians(0.02, 21, seed=0), medians(0.02, 21, seed=1), strict=True)
    pool = [float(round(one)) for pair in sides for one in pair]
    expected = measured(pool, [2 * one for one in pool] if backward else None, seed=7, draws=1000)
    assert replace(floor, measured_utc="") == replace(expected, measured_utc="")
    assert (floor.n_processes, floor.runner, floor.device) == (42, "lstm", "cpu")


def test_live_pairs_have_the_times_of_tables() -> None:
    """The median of all samples depends on the number of samples of each turn."""
    times = {"forward_ns": [100, 100, 400], "backward_ns": None, "steady_from": 0, "slices": [0, 2]}
    live = [replace(process(index, [1], None), **times) for index in range(2)]
    sides = [replace(result("lstm", processes=0), side=side, processes=live) for side in "ab"]
    [pair, _] = find_pairs(run(sides))["forward"]
    assert pair.baseline_ns == pair.candidate_ns == live[0].median_ns("forward") == pytest.approx(200.0)


def test_a_run_of_something_else_has_no_floor() -> None:
    with pytest.raises(UsageError, match="jit, lstm"):
        compute_run_floor(run_of("lstm", "jit"))
    with pytest.raises(UsageError, match="none"):
        compute_run_floor(run_of())
    with pytest.raises(UsageError, match=r": 38 of forward\b.* 40\b"):
        compute_run_floor(run_of("lstm", "lstm", count=20))
