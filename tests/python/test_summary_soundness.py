"""Values that no build writes into a summary: they are refused by their path, and what shows one does without them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from captured_sides import capture
from conftest import ROOT
from kineto_traces import kernel, write
from summary_documents import sound_summary

from fastrnns_rs import load
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.errors import DocumentWarning, UsageError

#: Changes of a summary, and the messages.
CHANGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "a histogram with a bound too few": (
        lambda found: found["launches"]["latency_histogram"].update(bounds_ns=[1, 2, 3]),
        "launches.latency_histogram has 3 bounds_ns and 3 counts",
    ),
    "bounds without counts": (
        lambda found: found["launches"]["queue_histogram"].update(counts=[]),
        "launches.queue_histogram has 4 bounds_ns and 0 counts",
    ),
    "bounds that fall": (
        lambda found: found["launches"]["queue_histogram"].update(bounds_ns=[1, 2, 2, 3]),
        "launches.queue_histogram.bounds_ns[2] is 2, not above the bound before it, 2",
    ),
    "half of the histograms": (
        lambda found: found["launches"].update(queue_histogram=None),
        "launches has a histogram of latencies or of queue times, not both",
    ),
    "a category with fewer bins": (
        lambda found: found["devices"][0]["activity"]["kernels"][0].update(bins_ns=[4]),
        "devices[0].activity.kernels[0].bins_ns has 1 bins, and busy_ns 3",
    ),
    "copies without bins": (
        lambda found: found["devices"][0]["activity"]["copies"][0].update(bins_ns=[]),
        "devices[0].activity.copies[0].bins_ns has 0 bins, and busy_ns 3",
    ),
    "bins of other work": (
        lambda found: found["devices"][0]["activity"].update(busy_ns=[1, 1, 1]),
        "devices[0].activity.busy_ns adds up to 3, and busy_ns is 4",
    ),
    "more time of kernels than of the device": (
        lambda found: found["devices"][0].update(kernel_total_ns=1),
        "total_ns of streams of devices[0] adds up to 100004, not 5",
    ),
    "communication without its kernels": (
        lambda found: found["devices"][0].update(exposed_communication_ns=1),
        "devices[0].exposed_communication_ns is 1, and its kernels of communication add up to 0 ns",
    ),
    "a negative overlap": (
        lambda found: found["devices"][0].update(overlap_ns=-1),
        "devices[0].overlap_ns is -1, not a time from 0 to 2⁶² ns",
    ),
    "a range with more work than devices": (
        lambda found: found["ranges"][0].update(gpu_inclusive_ns=10**9),
        "ranges[0].gpu_inclusive_ns is 1000000000, and kernels and copies of devices take ",
    ),
    "more overlap than work": (
        lambda found: found["devices"][0].update(overlap_ns=9),
        "devices[0].overlap_ns is 9, above busy_ns, 4",
    ),
    "more work than time": (
        lambda found: found["devices"][0].update(span_ns=1),
        "devices[0].span_ns is 1, not the sum of busy_ns, 4, and idle_ns, 4",
    ),
    "more idle time by cause than in all": (
        lambda found: found["devices"][0]["budget"]["idle"][0].update(total_ns=9),
        "devices[0].budget.idle adds up to 9 ns, and idle_ns is 4",
    ),
    "a budget of other kernels": (
        lambda found: found["devices"][0]["budget"].update(counted_twice_ns=0),
        "kernels and copies of devices[0].budget add up to 100004 ns, and busy_ns is 4",
    ),
    "categories of other kernels": (
        lambda found: found["categories"][0].update(total_ns=1),
        "categories add up to 1 ns, and kernels to 100000 ns",
    ),
    "a range within a later one": (
        lambda found: found["nested_ranges"][0].update(parent=0),
        "nested_ranges[0].parent is 0, not an earlier row",
    ),
    "a median beside its histogram": (
        lambda found: found["launches"].update(latency_median_ns=-500.0),
        "launches.latency_median_ns is -500, and the bins of its histogram are from 1 to 4",
    ),
    "a 95th percentile beside its histogram": (
        lambda found: found["launches"].update(queue_p95_ns=9e12),
        "launches.queue_p95_ns is 9e+12, and the bins of its histogram are from 1 to 4",
    ),
    "a range of more kernels than there are": (
        lambda found: found["ranges"][0].update(kernel_count=1_000_000_000),
        "ranges[0].kernel_count is 1000000000, and devices have ",
    ),
    "a GPU span that is missing": (
        lambda found: found["iteration_statistics"][0].update(measure="gpu_ns", gpu_median_ns=None),
        "iteration_statistics[0] has no host_median_ns or no gpu_median_ns",
    ),
}


def first(key: str, **changes: Any) -> Callable[[Any], object]:
    """A change of the first row of a list."""
    return lambda found: found[key][0].update(changes)


#: Numbers that others give, and the messages.
FIGURES: dict[str, tuple[Callable[[Any], object], str]] = {
    "a busy share above 1": (first("devices", utilization=41.5), "devices[0].utilization is 41.5, not 4 / 8"),
    "a device that was used for less": (
        first("devices", end_ns=7),
        "devices[0].span_ns is 8, and the device was used from 0 to 7",
    ),
    "another idle time": (
        first("idle_causes", total_ns=5),
        "total_ns of idle_causes of devices[0] adds up to 5, not 4",
    ),
    "another number of gaps": (
        first("idle_causes", count=8),
        "count of 'host' of idle causes in the budget of devices[0] adds up to 7, not 8",
    ),
    "a kernel of another GPU": (
        first("kernels", device_id=5),
        "kernels[0].device_id is 5, and that of devices[0] is 4",
    ),
    "idle time of another GPU": (
        first("idle_causes", device_id=None),
        "idle_causes[0].device_id is None, and that of devices[0] is 4",
    ),
    "copies of another GPU": (
        first("memory_operations", device=0, device_id=5),
        "memory_operations[0].device_id is 5, and that of devices[0] is 4",
    ),
    "bins without length": (
        lambda found: found["devices"][0]["activity"].update(bin_ns=0),
        "devices[0].activity.bin_ns is 0, not above 0",
    ),
    "bins of three times the span": (
        lambda found: found["devices"][0]["activity"].update(bin_ns=9),
        "devices[0].activity.bin_ns is 9, and the 8 ns of the device are 1 of them, not 3",
    ),
    "a bin that is busy for longer than it is": (
        lambda found: found["devices"][0]["activity"].update(busy_ns=[4, 0, 0]),
        "devices[0].activity.busy_ns has 4 in a bin of 3",
    ),
    "a mean of other launches": (first("kernels", mean_ns=9.0), "kernels[0].mean_ns is 9, not 100000 / 4"),
    "no calls": (first("api_calls", count=0), "api_calls[0].mean_ns is 1, not 4 / 0"),
    "a least time above the median": (
        first("kernels", min_ns=10**9),
        "kernels[0].min_ns is 1e+09, above median_ns, 25000",
    ),
    "a median above the greatest time": (
        first("api_calls", max_ns=0),
        "api_calls[0].median_ns is 1, above max_ns, 0",
    ),
    "a mean outside": (
        first("api_calls", mean_ns=9.0, total_ns=36),
        "api_calls[0].total_ns is 36, and 4 values from 1 to 1 are 4 to 4",
    ),
    "a longest kernel that is longer than all": (
        first("kernels", max_ns=200_000),
        "kernels[0].total_ns is 100000, and 4 values from 25000 to 200000 are 275000 to 625000",
    ),
    "more overlap than work": (
        lambda found: found["devices"][0].update(overlap_ns=5),
        "devices[0].overlap_ns is 5, above busy_ns, 4",
    ),
    "a spread of equal times": (
        first("kernels", stddev_ns=1.0),
        "kernels[0].stddev_ns is 1, and 4 values from 25000 to 25000 with this mean have 0 to 0",
    ),
    "another share": (
        first("kernels", kernel_time_fraction=0.5),
        "kernels[0].kernel_time_fraction is 0.5, not 100000 / 100000",
    ),
    "another share of the span": (
        first("kernels", span_fraction=0.5),
        "kernels[0].span_fraction is 0.5, not 100000 / 8",
    ),
    "another device": (first("kernels", device=1), "kernels[0].device is 1, and there are 1 devices"),
    "a device before the first": (first("kernels", device=-2), "kernels[0].device is -2, not a place in devices"),
    "launches of other categories": (
        first("categories", count=5),
        "count of 'cudnn_rnn_persistent' of categories is 5, and that of the budgets 4",
    ),
    "another mean of operators": (first("cpu_operators", mean_ns=2.0), "cpu_operators[0].mean_ns is 2, not 4 / 4"),
    "another bandwidth": (
        first("memory_operations", bandwidth_gb_per_s=900.0),
        "memory_operations[0].bandwidth_gb_per_s is 900, not 4 / 4",
    ),
    "a stream with more work than time": (
        first("streams", busy_ns=100_005),
        "streams[0].busy_ns is 100005, above total_ns, 100004",
    ),
    "more launches than kernels": (
        lambda found: found["launches"].update(unmatched_kernel_count=3),
        "launches has 5 kernels, and devices 4",
    ),
    "more launches than a histogram has": (
        lambda found: found["launches"].update(matched_count=3),
        "launches.latency_histogram counts 2 kernels, and matched_count is 3",
    ),
    "a median above the 95th percentile": (
        lambda found: found["launches"].update(queue_median_ns=3.75),
        "launches.queue_median_ns is 3.75, above queue_p95_ns, 3.5",
    ),
    "a histogram of other kernels": (
        lambda found: found["launches"]["queue_histogram"].update(negative_count=1),
        "launches.queue_histogram counts 3 kernels, and matched_count is 2",
    ),
    "a range with less than its own time": (
        lambda found: (found["nested_ranges"].clear(), first("ranges", gpu_inclusive_ns=3)(found)),
        "ranges[0].gpu_exclusive_ns is 4, above gpu_inclusive_ns, 3",
    ),
    "ranges in less time": (
        first("nested_ranges", gpu_inclusive_ns=9),
        "nested_ranges[0].gpu_inclusive_ns is 9, and its parts add up to 4",
    ),
    "ranges with fewer kernels than their parts": (
        lambda found: found["nested_ranges"].append(
            {**found["nested_ranges"][0], "parent": 0, "gpu_inclusive_ns": 0, "gpu_exclusive_ns": 0, "kernel_count": 5}
        ),
        "nested_ranges[0].kernel_count is 4, and its parts have 5 kernels",
    ),
    "more iterations": (
        first("iteration_statistics", count=10, total_ns=40, stddev_ns=0.0),
        "iteration_statistics[0].count is 10, and iterations have 1",
    ),
    "more outliers": (
        first("iteration_statistics", outlier_count=10**12),
        "iteration_statistics[0].outlier_count is 1000000000000, and iterations have 0",
    ),
    "another time on the host": (
        first("iteration_statistics", host_median_ns=1e15),
        "iteration_statistics[0].host_median_ns is 1e+15, and that of its iterations is 1000000",
    ),
    "an iteration that is busy for longer": (
        first("iterations", gpu_busy_ns=10**9),
        "iterations[0].gpu_busy_ns is 1000000000, above gpu_ns, 4",
    ),
    "two times on the host": (
        first("iterations", host_ns=5),
        "iterations[0].host_ns is 5, and duration_ns is 1000000",
    ),
    "another ratio of ranks": (first("ranks", busy_ratio=2.0), "ranks[0].busy_ratio is 2, not 4 / 4"),
    "a rank with more work than time": (first("ranks", busy_ns=9), "ranks[0].busy_ns is 9, above span_ns, 8"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_number_that_contradicts_others_is_refused(name: str) -> None:
    """Tables and pages showed a GPU that is busy for 4150 % of the time."""
    change, message = FIGURES[name]
    plain = sound_summary("a kernel")
    change(plain)
    with pytest.raises(UsageError) as raised:
        SummaryDocument.from_dict(plain)
    assert raised.value.message == message


@pytest.mark.parametrize("name", CHANGES)
def test_what_no_report_writes_is_refused_by_its_path(name: str) -> None:
    change, message = CHANGES[name]
    plain = sound_summary("a kernel")
    SummaryDocument.from_dict(plain)
    change(changed := copy.deepcopy(plain))
    with pytest.raises(UsageError) as raised:
        SummaryDocument.from_dict(changed)
    assert message in raised.value.message


#: Changes of the summary of a capture, and the messages.
SUMS: dict[str, tuple[Callable[[Any], object], str]] = {
    "a stream with more work": (
        lambda found: found["streams"][0].update(total_ns=10**12),
        "total_ns of streams of devices[0] adds up to 10000",
    ),
    "a stream with more kernels": (
        lambda found: found["streams"][0].update(kernel_count=10**6),
        "kernel_count of streams of devices[0] adds up to 1000",
    ),
    "a stream that is idle while its device is busy": (
        lambda found: found["streams"][0].update(busy_ns=0),
        "busy_ns of streams of devices[0] adds up to 0, below busy_ns, ",
    ),
    "a budget with more copies": (
        lambda found: found["devices"][0]["budget"]["copies"][0].update(count=10**6),
        "of copies in the budget of devices[0] adds up to 1000",
    ),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_that_contradict_each_other_are_refused(tmp_path: Path, name: str) -> None:
    change, message = SUMS[name]
    plain = load(capture(tmp_path / "trace.json")).to_dict()
    SummaryDocument.from_dict(plain)
    change(plain)
    with pytest.raises(UsageError) as raised:
        SummaryDocument.from_dict(plain)
    assert message in raised.value.message


def test_a_summary_without_time_budgets_has_pages_lists_and_no_answer() -> None:
    early = SummaryDocument.load(ROOT / "tests" / "data" / "documents" / "summary_1_1db5985.json")
    for view in ("kernel", "launch", "device", "iteration"):
        assert early.render(view=view)
    assert early.render("html").startswith("<!doctype html>")
    with pytest.raises(UsageError, match="earlier version, without time budgets"):
        early.render()


def test_totals_of_nvprof_beside_a_timeline_are_read() -> None:
    """They are kernels without a device."""
    plain = sound_summary("a kernel")
    [kernel], [category] = plain["kernels"], plain["categories"]
    unknown = dict.fromkeys(("device", "span_fraction", "median_ns", "stddev_ns", "p95_ns"))
    times = dict.fromkeys(("total_ns", "mean_ns", "min_ns", "max_ns"), 1)
    plain["kernels"].append({**kernel, **unknown, **times, "name": "another", "count": 1})
    for row in (*plain["kernels"], category):
        row["kernel_time_fraction"] = row["total_ns"] / 100_001
    with pytest.raises(UsageError, match="kernels add up to 100001 ns"):
        SummaryDocument.from_dict(plain)
    plain["captures"][0]["format"] = "nvprof-csv"
    category |= {"total_ns": 100_001, "count": kernel["count"] + 1, "kernel_time_fraction": 1.0}
    SummaryDocument.from_dict(plain)
    kept = {"captures", "kernels", "categories"}
    empty = {key: [] for key, value in plain.items() if isinstance(value, list) and key not in kept}
    SummaryDocument.from_dict(
        {**plain, **empty, "launches": None, "inductor": None, "kernels": [{**kernel, **unknown}, plain["kernels"][1]]}
    )


def test_a_row_without_a_device_has_its_number() -> None:
    plain = sound_summary("a kernel") | {"launches": None}
    plain["devices"] = [plain["devices"][0], {**plain["devices"][0]}]
    kept = {"captures", "devices", "memory_operations"}
    plain |= {key: [] for key, value in plain.items() if isinstance(value, list) and key not in kept}
    for device in plain["devices"]:
        device |= {"kernel_total_ns": 0, "kernel_count": 0, "budget": None, "activity": None}
        device["exposed_communication_ns"] = None
    plain["memory_operations"][0] |= {"device": None, "device_id": 3}
    found = SummaryDocument.from_dict(plain).render(view="memory")
    assert found.splitlines()[-1].split()[-3:] == ["3", "a", "kernel"]


def test_kernels_before_their_launches_are_in_no_bin() -> None:
    """Clocks of a host and its device may disagree."""
    plain = sound_summary("a kernel")
    plain["launches"] |= {"matched_count": 3, "unmatched_kernel_count": plain["devices"][0]["kernel_count"] - 3}
    histogram = {"negative_count": 2, "bounds_ns": [1, 2], "counts": [1]}
    plain["launches"] |= {"latency_histogram": histogram, "latency_median_ns": -500.0, "latency_p95_ns": 1.0}
    plain["launches"]["queue_histogram"] |= {"counts": [1, 0, 2]}
    plain["launches"]["queue_median_ns"] = 3.5
    SummaryDocument.from_dict(plain)
    plain["launches"]["latency_median_ns"] = 1.0
    with pytest.raises(UsageError, match="latency_median_ns is 1, and the bins of its histogram are from -inf to 0"):
        SummaryDocument.from_dict(plain)


@pytest.mark.parametrize(("cut_short", "shown"), [(None, "4"), (False, "4"), (True, "≥ 4")])
def test_the_number_of_missing_events_is_a_lower_bound_in_a_capture_that_is_cut(
    cut_short: bool | None, shown: str
) -> None:
    plain = sound_summary("a kernel")
    plain["captures"][0]["cut_short"] = cut_short
    found = SummaryDocument.from_dict(plain)
    assert f">{shown}<" in found.render("html")
    assert ("at least 4 skipped" in repr(found.captures[0])) == (cut_short is True)


def test_spans_of_centuries_are_read_again(tmp_path: Path) -> None:
    """Those of several GPUs add up to more than a time may be."""
    events = [kernel(start=start, device=device) for device in (0, 1) for start in (-5e14, 3.4e15)]
    plain = load(write(tmp_path / "trace.json", events)).to_dict()
    assert sum(row.span_ns for row in SummaryDocument.from_dict(plain).devices) > 1 << 62


def test_unknown_keys_with_the_names_of_other_rows_are_not_shown() -> None:
    plain = sound_summary("a kernel")
    known = SummaryDocument.from_dict(copy.deepcopy(plain))
    others = {"short_name": 1, "mangled_name": 2, "total_bytes": "three", "device": None, "path": 4, "median_ns": None}
    for rows in (value for value in plain.values() if isinstance(value, list)):
        for row in rows:
            row.update({name: value for name, value in others.items() if name not in row})
    with pytest.warns(DocumentWarning, match="unknown keys are kept, but not used"):
        found = SummaryDocument.from_dict({**plain, "schema_version": "1.99"})
    assert found.to_dict()["api_calls"][0]["short_name"] == 1
    for view in ("overview", "kernel", "api", "memory", "device"):
        assert found.render(view=view) == known.render(view=view)
    assert (repr(found), found._repr_html_()) == (repr(known), known._repr_html_())
    assert found.render("html").startswith("<!doctype html>")
