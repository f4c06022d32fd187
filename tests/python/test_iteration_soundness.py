"""Iterations and ranks of summaries have the activities of the devices, and outliers are those of their times."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import plotted_captures
import pytest
from kineto_traces import annotation, call, kernel, write
from summary_documents import check_refusal

from fastrnns_rs import load
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.errors import UsageError

HOUR = 3600 * 10**9


def iteration(place: int, **changes: Any) -> Callable[[Any], object]:
    """A change of an iteration."""
    return lambda found: found["iterations"][place].update(changes)


def part(**changes: Any) -> Callable[[Any], object]:
    """A change of the phase of the first iteration."""
    return lambda found: found["iterations"][0]["parts"][0].update(changes)


def mark(place: int, *, outlier: bool, count: int, **changes: Any) -> Callable[[Any], object]:
    """Marks an iteration, and counts it."""
    return lambda found: (
        found["iterations"][place].update(outlier=outlier, **changes),
        found["iteration_statistics"][0].update(outlier_count=count),
    )


#: Changes of a summary whose last iteration of twelve is an outlier, and the messages.
CHANGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "a span beyond that of the devices": (
        iteration(0, gpu_ns=HOUR, gpu_time_ns=HOUR),
        f"iterations[0].gpu_ns is {HOUR}, and devices were used for ",
    ),
    "no group": (
        lambda found: found["iteration_statistics"].clear(),
        "iterations[0] has a runner and a phase that iteration_statistics do not have",
    ),
    "another order": (
        iteration(2, start_ns=0),
        "iterations[2].start_ns is 0, before that of the iteration before it, ",
    ),
    "a group twice": (
        lambda found: found["iteration_statistics"].append(found["iteration_statistics"][0]),
        "iteration_statistics has a runner and a phase twice",
    ),
    "more work than that of the devices": (
        iteration(0, gpu_time_ns=HOUR),
        f"iterations[0].gpu_time_ns is {HOUR}, and kernels and copies of devices take ",
    ),
    "another 95th percentile": (
        lambda found: found["iteration_statistics"][0].update(p95_ns=found["iteration_statistics"][0]["max_ns"]),
        "iteration_statistics[0].p95_ns is ",
    ),
    "another standard deviation": (
        lambda found: found["iteration_statistics"][0].update(
            stddev_ns=found["iteration_statistics"][0]["stddev_ns"] * 1.00001
        ),
        "iteration_statistics[0].stddev_ns is ",
    ),
    "no standard deviation": (
        lambda found: found["iteration_statistics"][0].update(stddev_ns=None),
        "iteration_statistics[0].stddev_ns is null, and the row has 12 values",
    ),
    "a time on the host that is missing": (
        iteration(0, host_ns=None),
        "host_ns of iterations or host_median_ns of iteration_statistics is null in some rows only",
    ),
    "a GPU span that is missing": (
        iteration(0, gpu_ns=None),
        "gpu_ns of iterations or gpu_median_ns of iteration_statistics is null in some rows only",
    ),
    "work that is missing": (
        iteration(0, gpu_time_ns=None),
        "gpu_time_ns of iterations or gpu_time_median_ns of iteration_statistics is null in some rows only",
    ),
    "work that is missing everywhere": (
        lambda found: [
            row.update(dict.fromkeys({"gpu_time_ns", "gpu_time_median_ns"} & row.keys()))
            for row in (*found["iterations"], *found["iteration_statistics"])
        ],
        "iterations[0].gpu_time_ns is null, and each build with exposed_communication_ns writes it",
    ),
    "medians of no times": (
        lambda found: [row.update(host_ns=None) for row in found["iterations"]],
        "host_ns of iterations or host_median_ns of iteration_statistics is null in some rows only",
    ),
    "ranges without time of their own": (
        lambda found: [row.update(gpu_exclusive_ns=0) for row in found["ranges"]],
        "gpu_exclusive_ns of ranges adds up to 0, and that of nested_ranges to ",
    ),
    "ranges with less time than they have within others": (
        lambda found: [row.update(gpu_inclusive_ns=row["gpu_exclusive_ns"]) for row in found["ranges"]],
        "nested_ranges[0].gpu_inclusive_ns is ",
    ),
    "ranges with fewer kernels than they have within others": (
        lambda found: [row.update(kernel_count=0) for row in found["ranges"]],
        "nested_ranges[0].kernel_count is ",
    ),
    "a phase that is busy for longer": (
        part(gpu_busy_ns=HOUR),
        f"iterations[0].parts[0].gpu_busy_ns is {HOUR}, above ",
    ),
    "a phase beyond the devices": (
        part(gpu_ns=HOUR),
        f"iterations[0].parts[0].gpu_ns is {HOUR}, and devices were used for ",
    ),
    "a phase with more work": (
        part(gpu_time_ns=HOUR),
        f"iterations[0].parts[0].gpu_time_ns is {HOUR}, and kernels and copies of devices take ",
    ),
    "differences of an ordinary iteration": (
        iteration(0, differences=[{"category": "gemm", "delta_ns": 1}]),
        "iterations[0] has differences, and is no outlier",
    ),
    "an ordinary iteration as an outlier": (
        mark(0, outlier=True, count=2),
        "iterations[0] is an outlier of 12 iterations, and their fences are ",
    ),
    "an outlier as an ordinary iteration": (
        mark(11, outlier=False, count=0, differences=[]),
        "iterations[11] is no outlier of 12 iterations, and their fences are ",
    ),
    "an outlier with another difference": (
        lambda found: found["iterations"][11]["differences"][0].update(delta_ns=5),
        "iterations[11].differences add up to 5 ns, and its gpu_time_ns differs from that of the median iteration by ",
    ),
    "an outlier without differences": (
        iteration(11, differences=[]),
        "iterations[11].differences add up to 0 ns, and its gpu_time_ns differs",
    ),
}


@pytest.fixture
def summary(tmp_path: Path) -> dict[str, Any]:
    """Twelve steps with a phase each. The last one takes far longer."""
    events = plotted_captures.events()
    events += [{**annotation("## forward ##", 1000 * step + 1, 800), "pid": 100, "tid": 100} for step in range(12)]
    found: dict[str, Any] = load(write(tmp_path / "trace.json", events)).to_dict()
    assert [row["outlier"] for row in found["iterations"]] == [False] * 11 + [True]
    assert len(found["iterations"][11]["differences"]) == 1
    return found


@pytest.mark.parametrize("what", CHANGES)
def test_iterations_that_contradict_devices_or_each_other_are_refused(what: str, summary: dict[str, Any]) -> None:
    check_refusal(summary, *CHANGES[what])


@pytest.mark.parametrize("key", ["activity", "exposed_communication_ns"])
def test_a_key_that_is_null_in_one_of_several_devices_is_refused(key: str, tmp_path: Path) -> None:
    plain = plotted_captures.ranks(tmp_path, 2).to_dict()
    SummaryDocument.from_dict(deepcopy(plain))
    plain["devices"][1][key] = None
    with pytest.raises(UsageError, match=f"{key} is null"):
        SummaryDocument.from_dict(plain)


def test_few_iterations_have_no_outliers(tmp_path: Path) -> None:
    plain = plotted_captures.summary(tmp_path, steps=6).to_dict()
    SummaryDocument.from_dict(deepcopy(plain))
    mark(5, outlier=True, count=1)(plain)
    with pytest.raises(UsageError, match=r"iterations\[5\] is an outlier of 6 iterations"):
        SummaryDocument.from_dict(plain)


def test_a_phase_that_ends_after_its_step_may_have_more_work(tmp_path: Path) -> None:
    events = [annotation("ProfilerStep#0", 0, 10), annotation("## forward ##", 5, 90)]
    for number, start in enumerate((6, 50), 1):
        events.append({**call(start=start), "args": {"correlation": number}})
        events.append(kernel(start=start + 2, duration=20, correlation=number))
    [row] = SummaryDocument.from_dict(load(write(tmp_path / "trace.json", events)).to_dict()).iterations
    assert (row.gpu_time_ns, row.parts[0].gpu_time_ns) == (20_000, 40_000)
    assert (row.host_ns, row.parts[0].host_ns) == (10_000, 90_000)


def swap(rows: Any, *keys: str) -> None:
    """Exchanges values of the first two ranks."""
    for key in keys:
        rows[0][key], rows[1][key] = rows[1][key], rows[0][key]


#: Changes of the ranks of a summary of three files, and the messages.
RANKS: dict[str, tuple[Callable[[Any], object], str]] = {
    "kernels that no device has": (
        lambda rows: rows[0].update(kernel_count=777_777),
        "kernel_count of ranks adds up to 777787, and that of devices to 15",
    ),
    "time that no device has": (
        lambda rows: rows[0].update(kernel_total_ns=HOUR),
        f"kernel_total_ns of ranks adds up to {HOUR + 20_150}, and that of devices to 30150",
    ),
    "kernels of another rank": (
        lambda rows: swap(rows, "kernel_count", "kernel_total_ns"),
        "ranks[1].kernel_total_ns is 10000, and devices of its path have 10050",
    ),
    "the slowest rank that is not": (
        lambda rows: [row.update(slowest=row is rows[0]) for row in rows],
        "ranks[0] is the slowest, and another rank was busy for 10100 ns",
    ),
    "less work than its device has": (
        lambda rows: rows[0].update(work_ns=9999),
        "ranks[0].work_ns is 9999, and its devices have from 10000 to 10000 ns",
    ),
    "less time than its device was busy": (
        lambda rows: rows[0].update(busy_ns=9999, work_ns=9999, busy_ratio=9999 / 10050),
        "ranks[0].busy_ns is 9999, and its devices have from 10000 to 10000 ns",
    ),
    "more time than its devices were busy": (
        lambda rows: rows[2].update(busy_ns=10101, busy_ratio=10101 / 10050),
        "ranks[2].busy_ns is 10101, and its devices have from 10100 to 10100 ns",
    ),
    "files in another order": (
        lambda rows: swap(rows, "path"),
        "ranks are not the files of the 3 captures",
    ),
    "no ranks": (lambda rows: rows.clear(), "ranks are not the files of the 3 captures"),
    "another rank": (lambda rows: rows[1].update(rank=2), "ranks[1].rank is 2, and that of its capture 1"),
    "a longer span": (
        lambda rows: rows[1].update(span_ns=HOUR),
        f"ranks[1].span_ns is {HOUR}, and its devices were used for 42010 ns",
    ),
    "work that is unknown": (
        lambda rows: rows[1].update(work_ns=None),
        "ranks[1].work_ns is null, and each build with exposed_communication_ns writes it",
    ),
    "no slowest rank": (
        lambda rows: rows[2].update(slowest=False),
        "0 of ranks are the slowest, and their work_ns differ",
    ),
}


@pytest.mark.parametrize("what", RANKS)
def test_ranks_that_contradict_devices_or_each_other_are_refused(what: str, tmp_path: Path) -> None:
    change, message = RANKS[what]
    plain = plotted_captures.ranks(tmp_path, 3).to_dict()
    SummaryDocument.from_dict(deepcopy(plain))
    change(plain["ranks"])
    with pytest.raises(UsageError) as raised:
        SummaryDocument.from_dict(plain)
    assert raised.value.message == message
