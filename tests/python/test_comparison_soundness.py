"""Values that no build writes into a comparison: they are refused by their path."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from conftest import ROOT

from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.errors import UsageError


def kept(name: str) -> dict[str, Any]:
    """A comparison of the tests' data."""
    plain: dict[str, Any] = json.loads((ROOT / "tests" / "data" / "views" / f"{name}.json").read_text(encoding="utf-8"))
    return plain


def deciles(last: dict[str, float] | None = None) -> list[dict[str, float]]:
    """Nine equal deciles of each side; `last` changes the last."""
    found = [{"level": one / 10, "baseline_ns": 10.0, "candidate_ns": 10.0, "shift_ns": 0.0} for one in range(1, 10)]
    found[-1] |= last or {}
    return found


def idle(span_fraction: float = 0.5) -> dict[str, Any]:
    """The keys of a side that is idle for half of its time."""
    times = [{"cause": "host", "total_ns": 50, "span_fraction": span_fraction}]
    return {"span_ns": 100, "idle_ns": 50, "idle_times": times}


def mean(**changes: float) -> dict[str, float]:
    """The change of a mean by half."""
    times = {"baseline_ns": 100.0, "candidate_ns": 150.0, "ratio": 1.5, "ratio_ci_low": 1.25, "ratio_ci_high": 1.75}
    return {**times, "p_value": 0.01, "p_value_adjusted": 0.02, **changes}


#: A row of a comparison without an interval.
NO_INTERVAL = {"ratio_ci_low": None, "ratio_ci_high": None, "p_value": None, "p_value_adjusted": None}
#: Changes of a comparison of runs and of one of captures, and the messages.
COMPARISONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "an interval upside down": (
        lambda found: found["rows"][0].update(ratio_ci_low=1.2, ratio_ci_high=1.1),
        "rows[0].ratio_ci_low is 1.2, above ratio_ci_high, 1.1",
    ),
    "an interval below 0": (
        lambda found: found["rows"][0].update(ratio_ci_low=-0.5),
        "rows[0].ratio_ci_low is -0.5, below 0",
    ),
    "sessions that vary by less than nothing": (
        lambda found: found["rows"][0].update(session_stddev=-0.5),
        "rows[0].session_stddev is -0.5, not a number from 0 to 1e200",
    ),
    "less than no sessions": (
        lambda found: found["rows"][0].update(history_sessions=-26),
        "rows[0].history_sessions is -26, not a count",
    ),
    "no confidence": (
        lambda found: found["method"].update(confidence_level=0),
        "method.confidence_level is 0, not a level between 0 and 1",
    ),
    "a ratio beside its interval": (
        lambda found: found["rows"][0].update(ratio=1.1),
        "rows[0].ratio is 1.1, outside of its interval from 1.01803575 to 1.0461558",
    ),
    "no ratio": (
        lambda found: found["rows"][9].update(ratio=0),
        "rows[9].ratio is 0, not above 0",
    ),
    "slower, by less": (
        lambda found: found["rows"][1].update(verdict="slower"),
        "rows[1].verdict is slower, and ratio_ci_low is 0.940232, below 1",
    ),
    "faster, by more": (
        lambda found: found["rows"][0].update(verdict="faster"),
        "rows[0].verdict is faster, and ratio_ci_high is 1.04616, above 1",
    ),
    "equivalent, beyond the margin": (
        lambda found: found["rows"][0].update(verdict="equivalent"),
        "rows[0] is equivalent, and its interval from 1.01804 to 1.04616 is too far outside of the margin, 0.01",
    ),
    "slower, by chance": (
        lambda found: found["rows"][0].update(p_value_adjusted=0.9),
        "rows[0].verdict is slower, and p_value_adjusted is 0.9, above 0.05",
    ),
    "no probability": (
        lambda found: found["rows"][0].update(p_value=-5),
        "rows[0].p_value is -5, not a share from 0 to 1",
    ),
    "a ratio of other times": (
        lambda found: found["rows"][0]["candidate"].update(estimate_ns=2.4e6, ci_low_ns=None, ci_high_ns=None),
        "rows[0].ratio is 1.032, and that of the estimates is 2",
    ),
    "a time beside its interval": (
        lambda found: found["rows"][0]["baseline"].update(ci_low_ns=1.3e6, ci_high_ns=1.4e6),
        "rows[0].baseline.estimate_ns is 1200000, outside of its interval from 1300000 to 1400000",
    ),
    "a row that is repeated": (
        lambda found: found["rows"].append(found["rows"][0]),
        "rows[13]",
    ),
    "other counts": (
        lambda found: found["counts"].update(slower=1, none=5),
        "counts.slower is 1, and 2 rows ",
    ),
    "a process without its median": (
        lambda found: found["rows"][0]["baseline"].update(process_medians_ns=[1.2e6] * 9),
        "rows[0].baseline.process_medians_ns has 9 numbers, not n_processes, 10",
    ),
    "rows without processes": (
        lambda found: [
            side.update(process_medians_ns=[])
            for row in found["rows"]
            for side in (row["baseline"], row["candidate"])
            if side is not None
        ],
        "rows[0].baseline.process_medians_ns has 0 numbers, not n_processes, 10",
    ),
    "eight deciles": (
        lambda found: found["rows"][0].update(deciles=deciles()[:8]),
        "rows[0].deciles does not have the levels 0.1 to 0.9",
    ),
    "deciles that fall": (
        lambda found: found["rows"][0].update(deciles=deciles(last={"baseline_ns": 8.0, "shift_ns": 2.0})),
        "rows[0].deciles[8] is below the decile before it",
    ),
    "a shift of other deciles": (
        lambda found: found["rows"][0].update(deciles=deciles(last={"shift_ns": 2.0})),
        "rows[0].deciles[8].shift_ns is 2, not the difference, 0",
    ),
    "equivalent, by the middle of an interval": (
        lambda found: found["rows"][0].update(
            verdict="equivalent", ratio_ci_low=0.9, ratio_ci_high=1.13, p_value=0.9, p_value_adjusted=1
        ),
        "rows[0] is equivalent, and its interval from 0.9 to 1.13 is too far outside of the margin, 0.01",
    ),
    "faster, without an interval": (
        lambda found: found["rows"][0].update(NO_INTERVAL, verdict="faster"),
        "rows[0].verdict is faster, and the row has no interval",
    ),
    "equivalent, by a wide interval": (
        lambda found: found["rows"][0].update(verdict="equivalent", ratio_ci_low=0.9, p_value=0.9, p_value_adjusted=1),
        "rows[0] is equivalent, and its interval from 0.9 to 1.04616 is too far outside of the margin, 0.01",
    ),
    "inconclusive, but certain": (
        lambda found: found["rows"][0].update(verdict="inconclusive"),
        "rows[0] is inconclusive, and its interval from 1.01804 to 1.04616 excludes 1",
    ),
    "less probable than adjusted": (
        lambda found: found["rows"][0].update(p_value=0.9),
        "rows[0].p_value is 0.9, above p_value_adjusted, 0.000284656",
    ),
    "slower within the margin": (
        lambda found: found["method"].update(margin=0.05),
        "rows[0] is slower, and its interval from 1.01804 to 1.04616 is inside of the margin, 0.05",
    ),
    "a delta above 1": (
        lambda found: found["rows"][0].update(cliffs_delta=5.0),
        "rows[0].cliffs_delta is 5, not from -1 to 1",
    ),
    "a ratio of other pairs": (
        lambda found: found["rows"][0].update(basis="interleaved", ratio=1.04),
        "rows[0].ratio is 1.04, and that of the estimates is ",
    ),
    "an estimate of no process": (
        lambda found: found["rows"][0]["baseline"].update(process_medians_ns=[1.3e6] * 10),
        "rows[0].baseline.estimate_ns is 1200000, and its processes are from 1300000 to 1300000",
    ),
    "a mean of no rows": (
        lambda found: found["geometric_mean"].update(ratio=1e9, ratio_ci_high=1e9),
        "geometric_mean.ratio is 1e+09, not among the ratios of the rows",
    ),
    "a mean of more rows": (
        lambda found: found["geometric_mean"].update(n=14),
        "geometric_mean.n is 14, and 11 rows have a ratio",
    ),
    "slower than nothing": (
        lambda found: found["rows"][0].update(baseline=None),
        "rows[0] is slower, and its baseline is null",
    ),
    "slower by no ratio": (
        lambda found: found["rows"][0].update(ratio=None),
        "rows[0] is slower, and its ratio is null",
    ),
    "slower, by no process": (
        lambda found: found["rows"][0]["candidate"].update(n_processes=0),
        "rows[0] is slower, and rows[0].candidate.n_processes is 0",
    ),
    "a ratio to no time": (
        lambda found: found["rows"][0]["baseline"].update(estimate_ns=0, ci_low_ns=None, ci_high_ns=None),
        "rows[0].ratio is 1.032, and that of the estimates is null",
    ),
    "a mean of other times": (
        lambda found: found["rows"][0].update(mean=mean(ratio=2.0, ratio_ci_high=3.0)),
        "rows[0].mean.ratio is 2, and that of the times is 1.5",
    ),
    "a mean, less probable than adjusted": (
        lambda found: found["rows"][0].update(mean=mean(p_value=0.5)),
        "rows[0].mean.p_value is 0.5, above p_value_adjusted, 0.02",
    ),
    "an interval of other processes": (
        lambda found: found["rows"][0]["baseline"].update(
            process_medians_ns=[1e6] * 5 + [1.44e6] * 5, ci_low_ns=1.199e6
        ),
        "rows[0].baseline.ci_low_ns is 1199000, and that of its processes is 104",
    ),
    "an exit code of no command": (lambda found: found.update(exit_code=7), "exit_code is 7, and no row is the cause"),
    "a mean beside its interval": (
        lambda found: found["geometric_mean"].update(ratio=0.9),
        "geometric_mean.ratio is 0.9, outside of its interval from 1.05090127 to 1.24956998",
    ),
}
CAPTURES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a change of other times": (
        lambda found: found["kernels"][0].update(delta_ns=-1000),
        "kernels[0].delta_ns is -1000, not the difference, 1000000",
    ),
    "launches of other captures": (
        lambda found: found["kernels"][0]["candidate"].update(launches=1e6),
        "kernels[0].candidate.launches is 1000000, and that of count is 4",
    ),
    "a ratio of other kernels": (
        lambda found: found["kernels"][0].update(ratio=3.0),
        "kernels[0].ratio is 3, and that of the times is 1.5",
    ),
    "a kernel that appeared before": (
        lambda found: found["kernels"][0].update(presence="appeared"),
        "kernels[0].presence is appeared, not both",
    ),
    "a kernel that was judged alone": (
        lambda found: found["kernels"][0].update(baseline=None),
        "kernels[0] is slower, and its baseline is null",
    ),
    "a kernel, faster by more": (
        lambda found: found["kernels"][0].update(verdict="faster"),
        "kernels[0].verdict is faster, and ratio_ci_high is 1.6, above 1",
    ),
    "a kernel that is slower, called inconclusive": (
        lambda found: found["kernels"][0].update(verdict="inconclusive"),
        "kernels[0] is inconclusive, and its interval from 1.4 to 1.6 excludes 1",
    ),
    "a share of another change": (
        lambda found: found["categories"][0].update(contribution=4.87),
        "categories[0].contribution is 4.87, and that of delta_ns is 1",
    ),
    "more captures than files": (
        lambda found: found["baseline"].update(captures=31),
        "baseline.captures is 31, and files has 4",
    ),
    "more repeats than captures": (
        lambda found: found["kernels"][0]["baseline"].update(n_repeats=5),
        "kernels[0].baseline.n_repeats is 5, and the side has captures 4",
    ),
    "a kernel of no repeats": (
        lambda found: found["kernels"][0]["baseline"].update(n_repeats=0),
        "kernels[0] is slower, and kernels[0].baseline.n_repeats is 0",
    ),
    "a kernel of two repeats": (
        lambda found: found["kernels"][0]["candidate"].update(n_repeats=2),
        "kernels[0] is slower, and kernels[0].candidate.n_repeats is 2",
    ),
    "a kernel that is adjusted for fewer kernels": (
        lambda found: (
            found["kernels"][1]["baseline"].update(n_repeats=3)
            or found["kernels"][1]["candidate"].update(n_repeats=3)
            or found["kernels"][1].update(
                verdict="inconclusive",
                ratio=0.8,
                ratio_ci_low=0.5,
                ratio_ci_high=1.3,
                p_value=0.5,
                p_value_adjusted=0.5,
            )
            or found["counts"].update(inconclusive=1, none=20)
        ),
        "kernels[0].p_value_adjusted is 0.001, and that of all kernels is 0.002",
    ),
    "a kernel, faster in other captures": (
        lambda found: (
            found["kernels"][0].update(verdict="faster", ratio_ci_low=0.7, ratio_ci_high=0.8)
            or found["counts"].update(faster=1, slower=0)
        ),
        "kernels[0].ratio is 1.5, and its interval from 0.7 to 0.8 is that of other times",
    ),
    "a kernel that is equivalent by a wide interval": (
        lambda found: found["kernels"][0].update(verdict="equivalent", ratio_ci_low=1.005),
        "kernels[0] is equivalent, and its interval from 1.005 to 1.6 is too far outside of the margin, 0.0235",
    ),
    "an interval alone": (
        lambda found: found["kernels"][1].update(delta_ci_low_ns=1.0, delta_ci_high_ns=2.0),
        "kernels[1] has an interval and no p_value",
    ),
    "device time without a verdict": (
        lambda found: found["device_time"].update(verdict=None),
        "device_time has a p_value, 0.001, and no verdict",
    ),
    "a margin with a kernel that is slower": (
        lambda found: found["method"].update(margin=0.7),
        "kernels[0] is slower, and its interval from 1.4 to 1.6 is inside of the margin, 0.7",
    ),
    "a category upside down": (
        lambda found: found["categories"][0].update(ratio_ci_low=1.7),
        "categories[0].ratio_ci_low is 1.7, above ratio_ci_high, 1.6",
    ),
    "device time without a ratio": (
        lambda found: found["device_time"].update(ratio=-1),
        "device_time.ratio is -1, not above 0",
    ),
    "a change upside down": (
        lambda found: found["kernels"][0].update(delta_ci_low_ns=5.0, delta_ci_high_ns=4.0),
        "kernels[0].delta_ci_low_ns is 5, above delta_ci_high_ns, 4",
    ),
    "idle time without a cause": (
        lambda found: found["candidate"].update(idle(), idle_ns=60),
        "candidate.idle_times add up to 50, and idle_ns is 60",
    ),
    "more idle time than time": (
        lambda found: found["baseline"].update(idle(), span_ns=40),
        "baseline.idle_ns is 50, above span_ns, 40",
    ),
    "a share above all": (
        lambda found: found["baseline"].update(idle(span_fraction=1.5)),
        "baseline.idle_times[0].span_fraction is 1.5, not a share",
    ),
    "a share of another time": (
        lambda found: found["candidate"].update(idle(span_fraction=0.9)),
        "candidate.idle_times[0].span_fraction is 0.9, and that of total_ns and span_ns is 0.5",
    ),
    "an exit code for a regression": (
        lambda found: found["method"].update(margin=0.49) or found.update(exit_code=3),
        "exit_code is 3, and no row is the cause",
    ),
    "an exit code for failed runners": (
        lambda found: found.update(exit_code=1),
        "exit_code is 1, and no row is the cause",
    ),
    "a negative median": (
        lambda found: found["baseline"].update(host_median_ns=-3.0),
        "baseline.host_median_ns is -3.0, not a time from 0 to 2⁶² ns",
    ),
    "busy for longer than its span": (
        lambda found: found["baseline"].update(gpu_median_ns=263.0, gpu_busy_median_ns=51_000.0),
        "baseline.gpu_busy_median_ns is 51000, above gpu_median_ns, 263",
    ),
    "times of no capture": (
        lambda found: found["candidate"].update(captures=0),
        "candidate.captures is 0, and the side has times",
    ),
    "kernels that are not counted": (
        lambda found: found["kernels"].pop(),
        "counts.none is 21, and 20 rows ",
    ),
}


@pytest.mark.parametrize("name", [*COMPARISONS, *CAPTURES])
def test_what_no_comparison_finds_is_refused_by_its_path(name: str) -> None:
    change, message = {**COMPARISONS, **CAPTURES}[name]
    plain = kept("comparison" if name in COMPARISONS else "captures")
    Comparison.from_dict(plain)
    change(plain)
    with pytest.raises(UsageError) as raised:
        Comparison.from_dict(plain)
    assert message in raised.value.message


def test_deciles_and_idle_times_are_read() -> None:
    """The documents that the tests above damage are sound without the damage."""
    for file, change in (
        ("comparison", lambda found: found["rows"][0].update(deciles=deciles(), mean=mean())),
        ("captures", lambda found: found["baseline"].update(idle())),
    ):
        plain = kept(file)
        change(plain)
        found = Comparison.from_dict(plain)
        assert found.rows[0].deciles if file == "comparison" else found.baseline.idle_times


def test_the_ratio_of_captures_may_be_beside_its_interval() -> None:
    """It is that of the times that are shown; the interval is that of the ratio of geometric means."""
    plain = kept("captures")
    kernel = plain["kernels"][0]
    kernel["ratio_ci_low"] = 1.55
    for name in ("baseline", "candidate"):
        kernel[name]["n_repeats"] = plain[name]["captures"]
    assert Comparison.from_dict(plain).kernels[0].ratio == 1.5
