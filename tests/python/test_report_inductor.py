"""`report --by inductor` against the function of torch whose figures it shows."""

from __future__ import annotations

import random
import re
import sys
import types
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import kineto_reference as reference
import pytest
from kineto_traces import NAMES, by_dice, call, kernel, operator, write
from test_report_command import report, rows_of, validate

import fastrnns_rs
from fastrnns_rs.reporting.reading import Inductor

CATEGORIES = [
    "triton_pointwise",
    "triton_reduction",
    "triton_persistent_reduction",
    "triton_unknown",
    "unknown",
]


def oracle(
    path: Path, wall_time_ms: float, runs: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """What torch says of the same events: its line for tabulating and the percentage of busy time."""
    from torch._inductor.wrapper_benchmark import parse_profile_event_list
    from torch.autograd import DeviceType  # type: ignore[attr-defined]
    from torch.autograd.profiler_util import EventList

    if "tabulate" not in sys.modules:
        # It only draws what is not looked at here, and need not be installed.
        drawing = types.ModuleType("tabulate")
        drawing.tabulate = lambda rows, headers: f"{headers}{rows}"  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "tabulate", drawing)
    times: dict[str, list[int]] = defaultdict(list)
    hosts = reference.load(path)["traceEvents"]
    for event in hosts:
        if event["cat"] in reference.KERNELS | reference.MEMORY:
            times[event["name"]].append(reference.nanoseconds(event["dur"]))
    on_device = [
        SimpleNamespace(
            key=name,
            count=len(found),
            self_device_time_total=sum(found) / 1000,
            device_type=DeviceType.CUDA,
            is_legacy=False,
        )
        for name, found in times.items()
    ]
    host = SimpleNamespace(
        key="aten::mm", count=9, self_device_time_total=9e9, device_type=DeviceType.CPU, is_legacy=False
    )
    events = EventList([host, *on_device])  # type: ignore[no-untyped-call]
    parse_profile_event_list(path.name, events, wall_time_ms, runs, "cuda")
    said = capsys.readouterr().out
    [line] = re.findall(r"^Output for tabulate: .*$", said, re.MULTILINE)
    [busy] = re.findall(r"Percent of time when CUDA is busy: (.*)", said)
    return line, busy


@pytest.mark.parametrize("seed", range(6))
def test_the_line_for_tabulating_is_torchs_own(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    path = write(tmp_path / f"bench {seed}.json", by_dice(seed, dice.choice([1, 20, 500])))
    wall_time_ms, runs = dice.choice([0.001, 1.0005, 2.5, 333.3333]), dice.choice([1, 3, 10])
    line, busy = oracle(path, wall_time_ms, runs, capsys, monkeypatch)
    found = fastrnns_rs.read(path, inductor=Inductor(wall_time_ms=wall_time_ms, runs=runs, name=path.name)).inductor
    assert found.tabulate_line == line
    assert f"{found.busy_fraction * 100:.2f}%" == busy
    assert (found.wall_time_ns, found.runs) == (wall_time_ms * 1e6, runs)


def test_categories_hold_all_operations_under_inductors_names(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", by_dice(5))
    found = fastrnns_rs.read(path, inductor=Inductor(wall_time_ms=10)).inductor
    assert [category.name for category in found.categories] == CATEGORIES
    expected = reference.summarize(path)
    total = sum(figures["total"] for figures in expected["kernels"].values())
    total += sum(times["total"] for times, _ in expected["memory"].values())
    assert sum(category.total_ns for category in found.categories) == total
    assert found.busy_fraction == pytest.approx(total / 10e6)
    for category in found.categories:
        assert category.total_ns == sum(one.total_ns for one in category.kernels)
        assert category.count == sum(one.count for one in category.kernels)
        assert [one.total_ns for one in category.kernels] == sorted(
            (one.total_ns for one in category.kernels), reverse=True
        )
    by_name = {one.name for category in found.categories for one in category.kernels}
    assert set(NAMES) <= by_name
    assert "Memcpy HtoD (Pinned -> Device)" in by_name


def test_the_command_shows_the_line_and_the_categories(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [
        call(),
        operator("triton_poi_fused_0", 1, 90),
        kernel("triton_poi_fused_0", 10, 40),
        kernel("triton_red_fused_1", 60, 30),
        kernel("other", 95, 5),
    ]
    path = write(tmp_path / "model.json", events)
    words = ("--by", "inductor", "--wall-time-ms", "0.05", "--runs", "2")
    line, busy = oracle(path, 0.05, 2, capsys, monkeypatch)
    assert line == "Output for tabulate: model.json, 40.00%, 30.00%, 0.00%, 0.00%, 5.00%, 75.00%, 0.050ms"
    text = report(path, *words).stdout
    assert line in text
    assert busy.removesuffix("%") in text
    assert f"`{line}`" in report(path, *words, "--format", "markdown").stdout
    document = validate(report(path, *words, "--json").json())
    assert document.inductor is not None
    assert document.inductor.tabulate_line == line
    rows = rows_of(report(path, *words, "--format", "csv").stdout)
    assert [(row["name"], row["total_ns"], row["count"]) for row in rows] == [
        ("triton_pointwise", "40000", "1"),
        ("triton_reduction", "30000", "1"),
        ("unknown", "5000", "1"),
    ]
    # Without a wall time there is nothing to say.
    assert report(path, "--json").json()["inductor"] is None
    # With one, the document has it whatever the view is.
    assert report(path, *words[2:], "--json").json()["inductor"]["runs"] == 2
