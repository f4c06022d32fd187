"""Ranks that ran at the same time are one replicate, wherever processes are counted."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import replace

import pytest
import run_files
from run_files import process

from fastrnns_rs import compare
from fastrnns_rs.documents.replicates import by_index, counted, level, levels
from fastrnns_rs.documents.run_file import PlanRecord, Process, Result, RunRank
from fastrnns_rs.machine import warnings
from fastrnns_rs.machine.warnings.timed_samples import timed_runners
from fastrnns_rs.verbs.bench.phase_summary import summary
from fastrnns_rs.verbs.compare.run_side import side_of_run


def ranked(index: int, rank: int, forward: list[int], **changes: object) -> Process:
    return replace(process(index, forward, None), rank=rank, order=2 * index + rank, **changes)


def two_ranks(count: int = 8) -> Result:
    """Ranks of which the second takes twice as long, and no two processes alike."""
    made = [
        ranked(index, rank, [(1 + rank) * (1_000_000 + 1000 * (index * 7 % 5) + jitter) for jitter in (-9, 0, 9)])
        for index in range(count)
        for rank in (0, 1)
    ]
    return replace(run_files.result(processes=0), processes=made)


def test_processes_of_one_index_belong_together_where_they_have_ranks() -> None:
    made = two_ranks(3).processes
    assert [[one.rank for one in ranks] for ranks in by_index(made)] == [[0, 1]] * 3
    # A file may number its processes as it likes.
    alone = [replace(one, rank=None, index=0) for one in made]
    assert [len(one) for one in by_index(alone)] == [1] * 6


def test_an_index_of_which_a_rank_failed_does_not_count() -> None:
    made = two_ranks(3).processes
    made[3] = replace(made[3], status="failed", reason="it did")
    assert [ranks[0].index for ranks in counted(made)] == [0, 2]


def test_the_number_of_a_replicate_is_the_geometric_mean_of_its_ranks() -> None:
    assert level([1e6]) == 1e6
    assert level([1e6, 4e6]) == pytest.approx(2e6, rel=1e-12)
    assert level([1e6, 0.0]) == 0.0


def test_a_summary_counts_indices_and_weighs_ranks_alike() -> None:
    # The quick rank has a hundred times as many samples.
    replicates = [[[100 + index] * 300, [400 + index] * 3] for index in range(5)]
    found = summary(replicates)
    expected = statistics.fmean(math.log(one) for index in range(5) for one in (100 + index, 400 + index))
    assert found.estimate_ns == pytest.approx(math.exp(expected), rel=1e-12)
    assert (found.n_processes, found.n_samples, found.ci_method) == (5, 1515, "t_log_process_medians")
    assert (found.min_ns, found.max_ns) == (100, 404)
    logs = [math.log(one) for one in levels(replicates)]
    half = 2.7764451051977987 * statistics.stdev(logs) / math.sqrt(5)
    assert found.ci_high_ns == pytest.approx(found.estimate_ns * math.exp(half), rel=1e-9)


def test_one_index_of_several_ranks_has_no_interval() -> None:
    found = summary([[[100] * 20, [400] * 20]])
    assert (found.n_processes, found.ci_low_ns, found.ci_method) == (1, None, None)
    assert found.estimate_ns == pytest.approx(200)


def test_compare_has_one_number_an_index() -> None:
    made = run_files.run([two_ranks()])
    (series,) = side_of_run(made, label="baseline", file="x").series
    assert len(series.medians_ns) == 8
    assert series.n_samples == 8 * 2 * 3
    assert series.medians_ns[0] == pytest.approx(math.sqrt(2) * 1_000_000)


def test_ranks_are_no_groups_of_processes_and_no_drift() -> None:
    made = run_files.run([two_ranks(12)])
    (runner,) = timed_runners(made)
    assert (len(runner.processes), len(runner.replicates())) == (24, 12)
    codes = {one.code for one in warnings.check_samples(made)}
    assert not codes & {"process_modes", "drift"}
    # The same processes without ranks are two groups.
    alone = [replace(one, rank=None, index=number) for number, one in enumerate(made.results[0].processes)]
    assert "process_modes" in {
        one.code for one in warnings.check_samples(run_files.run([replace(made.results[0], processes=alone)]))
    }


def plan_of(**changes: object) -> PlanRecord:
    return replace(run_files.run([]).plan, **changes)


def test_compare_warns_of_other_company() -> None:
    alone = run_files.run([run_files.result(seed=1)])
    beside = run_files.run([run_files.result(seed=2)], plan=plan_of(devices=["cuda:0", "cuda:1"], side_by_side=True))
    ranks = run_files.run(
        [run_files.result(seed=3)],
        ranks=[RunRank(rank=rank, local_rank=rank, node=0, device="cpu") for rank in range(3)],
    )
    one_by_one = run_files.run([run_files.result(seed=4)], plan=plan_of(devices=["cuda:0", "cuda:1"]))

    def counts(first: object, second: object) -> list[str]:
        evidence = [one.evidence for one in compare(first, second).warnings if one.code == "other_company"]
        return [" and ".join(re.findall(r"\d+", one or "")) for one in evidence]

    assert counts(alone, beside) == ["1 and 2"]
    assert counts(beside, ranks) == ["2 and 3"]
    assert counts(alone, one_by_one) == []
