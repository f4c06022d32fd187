"""Reports of Inductor whose times contradict their samples, or shares their kernels: readers refuse them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from summary_documents import fit_view, inductor_of

from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.bench.phase_summary import summary


def measure(module: Any, samples: list[list[int]], **changes: object) -> None:
    """Gives a module the samples of several processes, and changes their statistics."""
    module["samples_ns"] = samples
    module["wall"] = to_plain(summary([[one] for one in samples])) | changes
    module["profile"]["wall_time_ns"] = module["wall"]["median_ns"]
    fit_view(module["profile"])


#: Changes of a module, and the messages.
CHANGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "failed for no reason": (lambda one: one.update(status="failed"), r"\] is failed, and its reason is null$"),
    "another time": (
        lambda one: one["wall"].update(estimate_ns=1.0),
        r"wall\.estimate_ns is 1, and samples are from 4",
    ),
    "a time between the samples": (
        lambda one: one.update(samples_ns=[[3, 4, 8]], wall={**to_plain(summary([[[3, 4, 8]]])), "estimate_ns": 5.0}),
        r"wall\.estimate_ns is 5, and process medians are from 4 to 4$",
    ),
    # The estimate is the geometric mean of the medians 2, 3 and 4.
    "another time of several processes": (
        lambda one: measure(one, [[2], [3], [4]], estimate_ns=2.5, ci_low_ns=2.0),
        r"wall\.estimate_ns is 2\.5, and that of the samples is 2\.88449914$",
    ),
    "a narrower interval": (
        lambda one: measure(one, [[2], [3], [4]], ci_low_ns=2.8),
        r"wall\.ci_low_ns is 2\.8, and that of the samples is 1\.",
    ),
    "a narrower range": (
        lambda one: measure(one, [[2], [4]], ci_high_ns=3.0),
        r"wall\.ci_high_ns is 3, and that of the samples is 4$",
    ),
    "an interval of sessions": (
        lambda one: measure(one, [[2], [3], [4]], ci_method="t_log_sessions"),
        r"wall\.ci_method is 't_log_sessions', not that of several processes$",
    ),
    "another mean": (lambda one: one.update(samples_ns=[[3, 4, 6]]), r"wall\.mean_ns is 4, and that of the samples"),
    "more processes": (lambda one: one["wall"].update(n_processes=5), r"wall\.n_processes is 5, and the result has 1"),
    "more samples": (lambda one: one["wall"].update(n_samples=9), r"wall\.n_samples is 9, and the result has 3"),
    "no samples": (lambda one: one.update(samples_ns=[]), r"\] has a wall time, and a process or all of them have no"),
    "a process without samples": (
        lambda one: one["samples_ns"].append([]),
        r"a process or all of them have no samples",
    ),
    "a wait for launches without a time on the host": (
        lambda one: one["wall"].update(host_ns=None, launch_bound=True),
        r"\]\.wall\.launch_bound is true, and host_ns is None and median_ns 4$",
    ),
    # `verbs/inductor` computes the wall time of any samples, and of a module that is `ok` there are some.
    "samples without a wall time": (
        lambda one: one.update(wall=None, profile=None),
        r"\] has samples_ns, and its wall time is null$",
    ),
    "nothing that was measured": (
        lambda one: one.update(wall=None, profile=None, samples_ns=[]),
        r"\] is ok, and its wall time is null$",
    ),
    "a reason of no failure": (
        lambda one: one.update(reason="it died"),
        r"\] is ok, and its reason is 'it died'$",
    ),
    "two configurations that were chosen": (
        lambda one: one["kernels"].append({**one["kernels"][0], "config": "other"}),
        r"\.kernels has 2 configurations of 'x' that were chosen$",
    ),
    # The calls that are profiled are as many as those that are timed.
    "a profile of other calls": (
        lambda one: (one["profile"].update(runs=8), fit_view(one["profile"])),
        r"profile\.runs is 8, and times and repeat give 16$",
    ),
    "a kernel beyond its times": (
        lambda one: one["kernels"][0]["time"].update(median_ns=9.0),
        r"kernels\[0\]\.time\.median_ns is 9, and samples are from 4",
    ),
    "a faster memory": (
        lambda one: one["kernels"][0].update(bandwidth_gb_per_s=9e3),
        r"kernels\[0\]\.bandwidth_gb_per_s is 9000, and that of num_gb and the median time is ",
    ),
    "a bandwidth without a time": (
        lambda one: one["kernels"][0].update(time=None),
        r"kernels\[0\]\.bandwidth_gb_per_s is 0\.25, and that of num_gb and the median time is null",
    ),
    "a busier GPU": (
        lambda one: one["profile"].update(busy_fraction=41.5),
        r"profile\.busy_fraction is 41\.5, and that of its categories is",
    ),
    "another line": (
        lambda one: one["profile"].update(tabulate_line="Output for tabulate: x, 1.00%, 2.00%, 0.005ms"),
        r"profile\.tabulate_line has other shares than",
    ),
    "another share in the line": (
        lambda one: one["profile"].update(tabulate_line=one["profile"]["tabulate_line"].replace("0.00%", "50.00%", 1)),
        r"profile\.tabulate_line has other shares than",
    ),
    "another time in the line": (
        lambda one: one["profile"].update(tabulate_line=one["profile"]["tabulate_line"].replace("0.000ms", "1.000ms")),
        r"profile\.tabulate_line has another time than 0\.000 ms",
    ),
    # The time of a run without the profiler is always the median of the samples.
    "a profile of slower calls": (
        lambda one: (one["profile"].update(wall_time_ns=40.0), fit_view(one["profile"])),
        r"profile\.wall_time_ns is 40, and that of wall is 4$",
    ),
    "a profile without a wall time": (
        lambda one: one.update(status="failed", reason="x", wall=None, samples_ns=[]),
        r"profile\.wall_time_ns is 4, and that of wall is null$",
    ),
    "a larger share of a category": (
        lambda one: one["categories"][0].update(kernel_time_fraction=0.5),
        r"categories\[0\]\.kernel_time_fraction is 0\.5, and that of all categories is 1$",
    ),
    # On a CPU, both are made from the same operations.
    "other categories than the profile of a CPU": (
        lambda one: (one.update(device="cpu"), one["categories"][0].update(total_ns=5)),
        r"\]\.categories are not those of its profile$",
    ),
    # `profiled_calls` sorts them; rounding to nanoseconds keeps the order.
    "a longer row below another": (
        lambda one: one["top"].append({**one["top"][0], "self_device_ns": 5}),
        r"top\[1\]\.self_device_ns is 5, above that of the row before, 4$",
    ),
    "a longer row below another on a CPU": (
        lambda one: (one.update(device="cpu"), one["top"].append({**one["top"][0], "self_cpu_ns": 5})),
        r"top\[1\]\.self_cpu_ns is 5, above that of the row before, 4$",
    ),
    # Only the first process of a module times kernels, and the estimate of one process is its median.
    "a kernel in several processes": (
        lambda one: one["kernels"][0]["time"].update(n_processes=2),
        r"kernels\[0\]\.time\.n_processes is 2, and kernels are timed in one process$",
    ),
    "another estimate of a kernel": (
        lambda one: one["kernels"][0]["time"].update(estimate_ns=5.0, max_ns=6.0, ci_high_ns=6.0),
        r"kernels\[0\]\.time\.estimate_ns is 5, and that of median_ns is 4$",
    ),
    # A share is the bandwidth over that of the device.
    "a share without a bandwidth": (
        lambda one: one["kernels"][0].update(bandwidth_gb_per_s=None),
        r"kernels\[0\]\.bandwidth_fraction is 0\.5, and bandwidth_gb_per_s is null$",
    ),
    "a share below 0": (
        lambda one: one["kernels"][0].update(bandwidth_fraction=-5.0),
        r"kernels\[0\]\.bandwidth_fraction is -5, and bandwidth_gb_per_s is 0\.25$",
    ),
    "more kernels than a category has": (
        lambda one: one["profile"]["categories"][0]["kernels"][0].update(count=99),
        r"profile\.categories\[0\]\.count is \d+, and its kernels add up to 99",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_no_module_has_is_refused_by_its_path(name: str) -> None:
    change, message = CHANGES[name]
    plain = inductor_of(lambda: "x")
    InductorReport.from_dict(plain)
    change(plain["modules"][0])
    with pytest.raises(UsageError, match=rf"^modules\[0.*{message}"):
        InductorReport.from_dict(plain)


def test_large_shares_may_differ_in_their_last_digits() -> None:
    """Another build may add times in another order."""
    plain = inductor_of(lambda: "x")
    view = plain["modules"][0]["profile"]
    [category] = view["categories"]
    category["total_ns"] = category["kernels"][0]["total_ns"] = 10**12
    fit_view(view)
    assert "00000.00%" in view["tabulate_line"]
    view["tabulate_line"] = view["tabulate_line"].replace("00000.00%", "00000.50%")
    InductorReport.from_dict(plain)


@pytest.mark.parametrize("samples", [[[5]], [[2, 9], [4]], [[0], [4]], [[0], [3], [5]], [[3], [4], [4, 5, 9], [70]]])
@pytest.mark.parametrize("status", ["ok", "failed", "interrupted"])
def test_statistics_of_any_processes_are_read(samples: list[list[int]], status: str) -> None:
    """Also those of a module that failed or was interrupted after some processes."""
    plain = inductor_of(lambda: "x")
    [module] = plain["modules"]
    measure(module, samples)
    module |= {"status": status, "reason": None if status == "ok" else "it died"}
    assert InductorReport.from_dict(plain).modules[0].samples_ns == samples


@pytest.mark.parametrize(("key", "value"), [("runs", 0), ("wall_time_ns", 0), ("wall_time_ns", 5e-324)])
def test_what_others_are_divided_by_is_above_0(key: str, value: float) -> None:
    plain = inductor_of(lambda: "x")
    plain["modules"][0]["profile"][key] = value
    with pytest.raises(UsageError, match=rf"^modules\[0\].profile.{key} is {value}, not a \w+ above 0"):
        InductorReport.from_dict(plain)
