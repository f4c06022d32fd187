"""Statistics of kernels, copies and calls in summaries are those of values that can exist."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from kineto_traces import call, copy, kernel, write
from summary_documents import check_refusal

from fastrnns_rs import load, read
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.errors import UsageError

#: Changes of a row, and the messages.
KERNELS: dict[str, tuple[int, dict[str, Any], str]] = {
    "no median": (0, {"median_ns": None, "p95_ns": None, "stddev_ns": None}, ".median_ns is null, and only totals of "),
    "no 95th percentile": (0, {"p95_ns": None}, ".p95_ns is null, and the row has 5 values"),
    "no deviation": (0, {"stddev_ns": None}, ".stddev_ns is null, and the row has 5 values"),
    "a deviation of one launch": (2, {"stddev_ns": 0.0}, ".stddev_ns is 0, and the row has 1 values"),
    "no deviation of unequal times": (
        0,
        {"stddev_ns": 0.0},
        ".stddev_ns is 0, and 5 values from 10000 to 50000 with this mean have 14142.1356 to 22360.6798",
    ),
    "a deviation that is too large": (
        0,
        {"stddev_ns": 22_361.0},
        ".stddev_ns is 22361, and 5 values from 10000 to 50000 with this mean have 14142.1356 to 22360.6798",
    ),
    "a deviation of two": (
        1,
        {"stddev_ns": 2000.0},
        ".stddev_ns is 2000, and 2 values from 7000 to 9000 with this mean have 1414.21356 to 1414.21356",
    ),
    "a median of two": (1, {"median_ns": 8500.0}, ".median_ns is 8500, not that of 2 values of 16000 ns"),
    "a median of five": (0, {"median_ns": 46_000.0}, ".median_ns is 46000, not that of 5 values of 150000 ns"),
    "no share": (0, {"kernel_time_fraction": None}, ".kernel_time_fraction is null, not 150000 / 171000"),
    "no share of the span": (0, {"span_fraction": None}, ".span_fraction is null, not 150000 / "),
}
COPIES: dict[str, tuple[dict[str, Any], str]] = {
    "no total": ({"total_bytes": None}, ".total_bytes is null, and other sizes or the bandwidth are not"),
    "no total, and another bandwidth": (
        {"total_bytes": None, "bandwidth_gb_per_s": 3000.0},
        ".total_bytes is null, and other sizes or the bandwidth are not",
    ),
    "no median": ({"median_bytes": None}, ".median_bytes is null, and other sizes or the bandwidth are not"),
    "a bandwidth without sizes": (
        dict.fromkeys(f"{name}_bytes" for name in ("total", "mean", "median", "min", "max", "stddev")),
        ".total_bytes is null, and other sizes or the bandwidth are not",
    ),
    "no bandwidth": ({"bandwidth_gb_per_s": None}, ".bandwidth_gb_per_s is null, not 128 / 4000"),
    "a median above the largest": ({"median_bytes": 65.0}, ".median_bytes is 65, above max_bytes, 64"),
}


@pytest.fixture
def summary(tmp_path: Path) -> dict[str, Any]:
    """Three kernels with five, two and one launches, and two copies."""
    times = [("gemm", time) for time in (10, 20, 30, 40, 50)] + [("relu", 7), ("relu", 9), ("once", 5)]
    events = [event for place in range(2) for event in (call(start=place), copy("HtoD", 1000 + 10 * place, 2))]
    events += [kernel(name, 100 * place, time) for place, (name, time) in enumerate(times)]
    found: dict[str, Any] = load(write(tmp_path / "trace.json", events)).to_dict()
    assert [row["count"] for row in found["kernels"]] == [5, 2, 1]
    return found


@pytest.mark.parametrize("what", KERNELS)
def test_statistics_that_no_times_have_are_refused(what: str, summary: dict[str, Any]) -> None:
    place, changes, message = KERNELS[what]
    check_refusal(summary, lambda found: found["kernels"][place].update(changes), f"kernels[{place}]{message}")


@pytest.mark.parametrize("what", COPIES)
def test_sizes_that_are_null_alone_or_in_another_order_are_refused(what: str, summary: dict[str, Any]) -> None:
    changes, message = COPIES[what]
    check_refusal(
        summary, lambda found: found["memory_operations"][0].update(changes), f"memory_operations[0]{message}"
    )


def test_copies_without_sizes_are_read(tmp_path: Path) -> None:
    made = copy("HtoD", 10, 2)
    del made["args"]["bytes"]
    [row] = SummaryDocument.from_dict(load(write(tmp_path / "trace.json", [made])).to_dict()).memory_operations
    assert (row.total_bytes, row.bandwidth_gb_per_s) == (None, None)


#: Totals that nvprof printed, in seconds and with few digits: the mean is below the least time.
TOTALS = """\
==1== NVPROF is profiling process 1, command: python
==1== Profiling result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,s,,s,s,s,
"GPU activities",66.0,0.000019,2,0.000010,0.000010,0.000010,"gemm(float*)"
"GPU activities",34.0,0.000004,1,0.000004,0.000004,0.000004,"[CUDA memcpy HtoD]"
"API calls",100.0,0.000100,3,0.000033,0.000030,0.000040,"cudaLaunchKernel"
"""


def test_rounded_totals_beside_a_timeline_are_read(tmp_path: Path, summary: dict[str, Any]) -> None:
    del summary
    (tmp_path / "totals.csv").write_text(TOTALS, "utf-8")
    plain = read(tmp_path / "totals.csv", tmp_path / "trace.json").to_dict()
    SummaryDocument.from_dict(deepcopy(plain))
    place, row = next((place, row) for place, row in enumerate(plain["kernels"]) if row["median_ns"] is None)
    assert (row["min_ns"], row["mean_ns"]) == (10_000, 9500)
    for changes, message in (
        ({"min_ns": 12_000, "max_ns": 12_000}, "mean_ns is 9500, and values are from 12000 to 12000"),
        ({"max_ns": 9000}, "min_ns is 10000, above max_ns, 9000"),
        ({"stddev_ns": 4.0}, "stddev_ns is 4, and the row has 2 values without a median"),
    ):
        changed = deepcopy(plain)
        changed["kernels"][place].update(changes)
        with pytest.raises(UsageError) as raised:
            SummaryDocument.from_dict(changed)
        assert raised.value.message == f"kernels[{place}].{message}"
    [place] = [place for place, row in enumerate(plain["memory_operations"]) if row["median_ns"] is None]
    sized = next(row for row in plain["memory_operations"] if row["total_bytes"] is not None)
    of = plain["memory_operations"][place]
    of.update({key: value for key, value in sized.items() if key.endswith("_bytes")}, bandwidth_gb_per_s=1.0)
    with pytest.raises(UsageError, match="total_bytes is 128, and totals of nvprof have no sizes"):
        SummaryDocument.from_dict(plain)
