"""Comparisons of captures whose rows contradict each other are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from comparison_documents import of_captures
from conftest import ROOT

from fastrnns_rs import Comparison, UsageError

#: Keys of a row without a verdict.
SILENT = dict.fromkeys(("verdict", "ratio_ci_low", "ratio_ci_high", "p_value", "p_value_adjusted"))


def longer(row: dict[str, Any], by: int = 1_000_000) -> None:
    """Adds a constant to the times of both sides."""
    for side in ("baseline", "candidate"):
        row[side]["total_ns"] += by
    row["ratio"] = row["candidate"]["total_ns"] / row["baseline"]["total_ns"]


LIES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "device time, adjusted for others": (
        lambda found: found["device_time"].update(p_value_adjusted=0.2, verdict="inconclusive"),
        "device_time.p_value_adjusted is 0.2, and that of p_value is 0.001",
    ),
    "device time that is not adjusted": (
        lambda found: found["device_time"].update(p_value_adjusted=None),
        "device_time.p_value_adjusted is null, and that of p_value is 0.001",
    ),
    "the only kernel with a p-value, adjusted for others": (
        lambda found: (
            found["kernels"][0].update(p_value_adjusted=0.2, verdict="inconclusive")
            or found["counts"].update(slower=0, inconclusive=1)
        ),
        "kernels[0].p_value_adjusted is 0.2, and that of p_value is 0.001",
    ),
    "the only category with a p-value, adjusted for others": (
        lambda found: found["categories"][0].update(p_value_adjusted=0.2, verdict="inconclusive"),
        "categories[0].p_value_adjusted is 0.2, and that of p_value is 0.001",
    ),
    "device time without its verdict": (
        lambda found: found["device_time"].update(SILENT),
        "device_time has no p_value, and baseline.n_repeats is 3",
    ),
    "a kernel without its verdict": (
        lambda found: (
            found["kernels"][0].update(SILENT)
            or found["kernels"][0]["baseline"].update(n_repeats=0)
            or found["counts"].update(slower=0, none=22)
        ),
        "kernels[0] has no p_value, and candidate.n_repeats is 3",
    ),
    "longer device time": (
        lambda found: longer(found["device_time"]),
        "baseline.total_ns of kernels adds up to 2006810, and that of device_time is 3006810",
    ),
    "more launches on the device": (
        lambda found: found["device_time"]["candidate"].update(count=104, launches=26.0),
        "candidate.count of kernels adds up to 102, and that of device_time is 104",
    ),
    "a longer category": (
        lambda found: longer(found["categories"][0]),
        "baseline.total_ns of categories adds up to 3006810, and that of device_time is 2006810",
    ),
    "a kernel of another category": (
        lambda found: found["kernels"][1].update(category="elementwise"),
        "categories[0].candidate.total_ns is 3005810, and its kernels add up to 3001810",
    ),
    "a kernel of another name": (
        lambda found: found["kernels"][1].update(name="x"),
        r"kernels[1].name is 'x', and on the sides it is 'old\x1bname' and 'new|name'",
    ),
    "a kernel without a name": (
        lambda found: found["kernels"][1].update(baseline_name=None),
        "kernels[1].baseline_name is None, and presence is both",
    ),
    "a gain in the interval of a loss": (
        lambda found: found["kernels"][0].update(delta_ci_low_ns=-9e6, delta_ci_high_ns=-8e6),
        "kernels[0].delta_ns is 1000000, and its interval from -9e+06 to -8e+06 is that of other times",
    ),
    "no categories": (
        lambda found: found.update(categories=[]),
        "categories is missing, and baseline.captures is not",
    ),
    "no device time": (
        lambda found: found.update(device_time=None),
        "device_time is missing, and baseline.captures is not",
    ),
    "no captures": (
        lambda found: found["candidate"].update(captures=None),
        "candidate.captures is missing, and baseline.captures is not",
    ),
    "iterations of one side": (
        lambda found: found.update(basis="per_iteration"),
        "basis is per_iteration, and a side has no iterations",
    ),
    "idle time without causes": (
        lambda found: found["candidate"].update(span_ns=100, idle_ns=40),
        "candidate.idle_times add up to 0, and idle_ns is 40",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_rows_that_contradict_each_other_are_refused(name: str) -> None:
    change, message = LIES[name]
    plain = json.loads((ROOT / "tests" / "data" / "views" / "captures.json").read_text(encoding="utf-8"))
    Comparison.from_dict(plain)
    change(plain)
    with pytest.raises(UsageError) as raised:
        Comparison.from_dict(plain)
    assert raised.value.message == message


def test_an_interval_of_the_captures_may_leave_out_the_shown_change() -> None:
    """The mean that is shown counts every iteration, the interval every capture."""
    plain = json.loads((ROOT / "tests" / "data" / "views" / "captures.json").read_text(encoding="utf-8"))
    plain["kernels"][0].update(delta_ci_low_ns=1.1e6, delta_ci_high_ns=1.3e6)
    assert Comparison.from_dict(plain).kernels[0].delta_ci_low_ns == 1.1e6


def test_captures_of_the_first_version_have_kernels_alone() -> None:
    plain = json.loads((ROOT / "tests" / "data" / "views" / "captures.json").read_text(encoding="utf-8"))
    plain.update(basis=None, device_time=None, categories=[])
    for side in ("baseline", "candidate"):
        plain[side]["captures"] = None
    assert Comparison.from_dict(plain).kernels


def test_an_equivalent_row_may_not_be_adjusted() -> None:
    """Older builds wrote its own p-value."""
    plain = json.loads((ROOT / "tests" / "data" / "views" / "captures.json").read_text(encoding="utf-8"))
    equal: dict[str, Any] = {"verdict": "equivalent", "ratio_ci_low": 1.4, "ratio_ci_high": 1.6, "p_value": 0.001}
    plain["method"]["margin"] = 0.7
    for row in (plain["device_time"], plain["categories"][0], plain["kernels"][0]):
        row.update(equal)
    plain["counts"] |= {"slower": 0, "equivalent": 1}
    assert Comparison.from_dict(plain).device_time


def test_a_category_with_launches_of_another_is_refused(tmp_path: Path) -> None:
    plain = of_captures(tmp_path).to_dict()
    for row, count in zip(plain["categories"], (1, -1), strict=False):
        row["candidate"]["count"] += 4 * count
        row["candidate"]["launches"] += count
    with pytest.raises(UsageError, match=r"^categories\[0\]\.candidate\.count is 20, and its kernels add up to 16$"):
        Comparison.from_dict(plain)


def test_a_difference_of_captures_is_not_equivalent() -> None:
    """The interval for the margin has at least two thirds of the width, as there are three captures."""
    plain = json.loads((ROOT / "tests" / "data" / "views" / "captures.json").read_text(encoding="utf-8"))
    plain["method"] |= {"margin": 0.58, "confidence_level": 0.95}
    plain["device_time"]["verdict"] = "equivalent"
    Comparison.from_dict(plain)
    plain["method"]["margin"] = 0.55
    with pytest.raises(UsageError, match=r"^device_time is equivalent, and its interval from 1\.4 to 1\.6 is too far"):
        Comparison.from_dict(plain)
