"""Values that no build writes into a summary: they are refused by their path, and what shows one does without them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from conftest import ROOT
from summary_documents import summary_of

from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.errors import UsageError

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
        lambda found: found["kernels"][0].update(total_ns=1),
        "kernels add up to 1 ns, and kernel_total_ns of devices to 100000 ns",
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
        lambda found: found["devices"][0]["budget"]["kernels"][0].update(total_ns=9),
        "kernels and copies of devices[0].budget add up to 9 ns, and busy_ns is 4",
    ),
    "categories of other kernels": (
        lambda found: found["categories"][0].update(total_ns=1),
        "categories add up to 1 ns, and kernels to 100000 ns",
    ),
    "a range within a later one": (
        lambda found: found["nested_ranges"][0].update(parent=0),
        "nested_ranges[0].parent is 0, not an earlier row",
    ),
    "a GPU span that is missing": (
        lambda found: found["iteration_statistics"][0].update(measure="gpu_ns", gpu_median_ns=None),
        "iteration_statistics[0] has no host_median_ns or no gpu_median_ns",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_no_report_writes_is_refused_by_its_path(name: str) -> None:
    change, message = CHANGES[name]
    plain = summary_of("a kernel")
    SummaryDocument.from_dict(plain)
    change(changed := copy.deepcopy(plain))
    with pytest.raises(UsageError) as raised:
        SummaryDocument.from_dict(changed)
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
    plain = summary_of("a kernel")
    plain["kernels"].append({**plain["kernels"][0], "name": "another", "total_ns": 1})
    with pytest.raises(UsageError, match="kernels add up to 100001 ns"):
        SummaryDocument.from_dict(plain)
    plain["captures"][0]["format"] = "nvprof-csv"
    plain["categories"][0]["total_ns"] += 1
    SummaryDocument.from_dict(plain)
    plain["devices"] = []
    SummaryDocument.from_dict(plain)
