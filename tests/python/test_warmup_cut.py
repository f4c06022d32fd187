"""One first timed iteration for all processes of a runner, and all that is computed from it."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import run_files
from conftest import FACTS
from pretended_workers import each, measured
from run_files import restated

from fastrnns_rs.documents.run_file import Process, Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment
from fastrnns_rs.machine.warnings.timed_samples import timed_runners
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.bench.bench_plan import plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import execute
from fastrnns_rs.verbs.bench.run_init import new_run
from fastrnns_rs.verbs.bench.warmup_cut import set_common_cut
from fastrnns_rs.verbs.compare.run_side import side_of_run

#: First iteration of the steady part, and class, of each process in turn.
PARTS = [(3, "flat"), (40, "warmup"), (12, "warmup"), (25, "warmup"), (50, "no_steady_state")]


def process(number: int, steady_from: int, warmup_class: str, count: int = 100, **changes: Any) -> Process:
    made = run_files.process(number, [1000] * count, None, warmup=0)
    return replace(made, steady_from=steady_from, warmup_class=warmup_class, **changes)


def cuts(*parts: tuple[int, str], count: int = 100) -> list[int | None]:
    return [one.timed_from for one in set_common_cut([process(i, *part, count) for i, part in enumerate(parts)])]


@pytest.mark.parametrize(
    ("parts", "first"),
    [
        (PARTS, 40),
        ([(1, "flat")] * 3, 1),
        ([(1, "flat"), (2, "flat"), (1, "flat")], 2),
        # A change in fewer than half of the processes is not typical.
        ([(1, "flat")] * 3 + [(60, "warmup"), (70, "slowdown")], 1),
        ([(1, "flat"), (60, "warmup")], 60),
        ([(30, "slowdown"), (60, "slowdown"), (50, "no_steady_state")], 60),
        # No process shows where a warm-up ends: the middle, which each of them has, is no change point.
        ([(50, "no_steady_state")] * 5, 1),
        ([(30, "warmup"), (30, "slowdown"), (50, "no_steady_state")], 1),
        ([(1, "too_few")], 1),
        ([(33, "warmup")], 33),
    ],
)
def test_the_cut_is_the_latest_of_the_common_classes(parts: list[tuple[int, str]], first: int) -> None:
    assert cuts(*parts) == [first] * len(parts)


def test_short_processes_keep_their_own() -> None:
    long, short = process(0, 60, "warmup", 100), process(1, 10, "warmup", 70)
    assert [one.timed_from for one in set_common_cut([long, short])] == [60, 10]
    assert cuts((75, "warmup"), (10, "warmup")) == [75, 75]
    assert cuts((76, "warmup"), (10, "warmup")) == [76, 10]
    # No process is left without samples.
    assert set_common_cut([process(0, 0, "too_few", 1)])[0].first_timed == 0


@pytest.mark.parametrize(
    ("slices", "first"),
    [([0], 3), ([0, 40], 40), ([0, 100], 3), ([0, 10, 20, 30, 40, 50], 10), ([0, 10, 20, 30, 40, 50, 60], 20)],
)
def test_turns_of_a_live_process_begin_after_the_first_iteration(slices: list[int], first: int) -> None:
    assert set_common_cut([process(0, 3, "flat", slices=slices)])[0].timed_from == first


def test_processes_that_failed_do_not_count() -> None:
    failed = process(1, 90, "warmup", status="interrupted")
    assert set_common_cut([process(0, 5, "warmup"), failed]) == [process(0, 5, "warmup", timed_from=5), failed]
    assert set_common_cut([]) == []


def test_processes_that_have_the_cut_are_the_same_objects() -> None:
    """A saver keeps the text of each, which a copy would make again after every process."""
    cut = set_common_cut([process(index, 5, "warmup") for index in range(3)])
    again = set_common_cut([*cut, process(3, 5, "warmup")])
    assert all(one is other for one, other in zip(cut, again[:3], strict=True))


def run_of(parts: list[tuple[int, str]], **options: Any) -> Run:
    """A run whose workers answer with these steady parts and levels that differ before and after."""
    generator, count = np.random.default_rng(4), iter(range(len(parts)))

    def worker(_job: dict[str, Any]) -> Answer:
        steady_from, warmup_class = parts[next(count)]
        forward = [int(one) for one in generator.normal(1e6, 1e5, 100)]
        answer = measured(forward, [2 * one for one in forward], steady_from=steady_from)
        return replace(answer, content={**answer.content, "warmup_class": warmup_class})

    effort = Effort(
        processes=len(parts), order_seed=5, **{key: options.pop(key) for key in [*options] if key == "stop"}
    )
    setting = Setting()
    chosen = Options(choice=Choice(groups=(), names=["py"]), device="cpu", **options)
    plan = plan_bench(chosen, effort, FACTS, setting)
    return execute(plan, new_run(plan, environment.describe(FACTS, setting), ["test"]), executor=each(worker))


def test_the_estimate_and_what_reads_it_have_the_common_cut() -> None:
    run = run_of(PARTS)
    row = run["py"]
    assert [(one.steady_from, one.timed_from) for one in row.processes] == [(first, 40) for first, _ in PARTS]
    medians = [statistics.median(one.forward_ns[40:]) for one in row.processes]
    assert row.forward.n_samples == row.backward.n_samples == 60 * len(PARTS)
    assert row.forward.estimate_ns == pytest.approx(statistics.geometric_mean(medians))
    # compare, warnings and the document read the same samples.
    assert side_of_run(run, label="a", file="f").series[0].medians_ns == medians
    assert [one.medians_ns["forward"] for one in timed_runners(run)[0].processes] == medians
    assert [one.median_ns("forward") for one in row.processes] == medians
    again = Run.from_dict(run.to_dict())
    assert again == run


def test_older_files_keep_their_estimates() -> None:
    run = run_of(PARTS)
    plain = run.to_dict()
    for one in plain["results"][0]["processes"]:
        del one["timed_from"]
    # Those builds had other statistics, of more samples.
    plain["results"][0] = restated(plain["results"][0])
    old = Run.from_dict(plain)
    own = [
        statistics.median(one.forward_ns[first:]) for one, (first, _) in zip(old["py"].processes, PARTS, strict=True)
    ]
    assert [one.median_ns("forward") for one in old["py"].processes] == own
    assert side_of_run(old, label="a", file="f").series[0].medians_ns == own


@pytest.mark.parametrize("options", [{"warmup": 5, "nloops": 50}, {"nloops": 50}, {"stop": "count:50"}])
def test_counts_that_were_given_are_kept(options: dict[str, Any]) -> None:
    assert [one.timed_from for one in run_of(PARTS, **options)["py"].processes] == [None] * len(PARTS)


@pytest.mark.parametrize("first", [-1, 100])
def test_a_cut_outside_the_samples_is_refused(first: int) -> None:
    plain = run_of(PARTS[:1]).to_dict()
    plain["results"][0]["processes"][0]["timed_from"] = first
    with pytest.raises(UsageError, match=rf"timed_from is {first}, and forward_ns has 100 samples"):
        Run.from_dict(plain)
