"""Plots of a summary hold the numbers of the document."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from kineto_traces import by_dice, document, kernel, operator, write
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.patches import Rectangle, StepPatch
from plotted_captures import HOSTILE, NAMES, ranks, summary

import fastrnns_rs
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.errors import UsageError
from fastrnns_rs.views.plots.figure import draw
from fastrnns_rs.views.summary.plain import PlainSummary

mpl.use("Agg")

MS, US = 1e6, 1e3
#: Places of the colour and the hatch of an unknown category, from its CRC-32.
UNKNOWN = (5, 1)


def axes_of(found: Any, kind: str, **more: Any) -> Axes:
    [axes] = found.plot(kind, **more).figure.axes
    return axes


def labels(axes: Axes) -> list[str]:
    return [one.get_text() for one in axes.get_yticklabels()]


def bars(axes: Axes) -> list[Rectangle]:
    return [one for one in axes.patches if isinstance(one, Rectangle)]


def test_the_bins_add_up_to_the_nanosecond(tmp_path: Path) -> None:
    for seed in range(4):
        found = fastrnns_rs.read(write(tmp_path / "trace.json", by_dice(seed)))
        for device in found.devices:
            activity = device.activity
            assert activity is not None
            assert 200 <= len(activity.busy_ns) <= 400
            assert sum(activity.busy_ns) == device.busy_ns
            assert max(activity.busy_ns) <= activity.bin_ns
            for rows, budget in ((activity.kernels, device.budget.kernels), (activity.copies, device.budget.copies)):
                assert [(one.name, sum(one.bins_ns)) for one in rows] == [(one.name, one.total_ns) for one in budget]
        launches = found.launches
        for histogram in (launches.latency_histogram, launches.queue_histogram):
            assert sum(histogram.counts) + histogram.negative_count == launches.matched_count
            assert len(histogram.bounds_ns) == len(histogram.counts) + 1


def test_nested_ranges_add_up_to_the_ranges(tmp_path: Path) -> None:
    found = summary(tmp_path)
    nested = {one.name: one for one in found.nested_ranges}
    assert [one.name for one in found.nested_ranges] == ["ProfilerStep", "forward", "matmul"]
    assert [one.parent for one in found.nested_ranges] == [None, 0, 1]
    for row in found.ranges:
        one = nested[row.name]
        assert (one.gpu_inclusive_ns, one.gpu_exclusive_ns) == (row.gpu_inclusive_ns, row.gpu_exclusive_ns)
        assert (one.count, one.kernel_count) == (row.count, row.kernel_count)


def test_data_of_plots_can_be_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.json", by_dice(1))
    whole, brief = fastrnns_rs.read(path).to_dict(), fastrnns_rs.read(path, plot_data=False).to_dict()
    assert (brief["nested_ranges"], brief["launches"]["latency_histogram"]) == ([], None)
    assert all(one["activity"] is None for one in brief["devices"])
    for found in (whole, brief):
        for key in ("latency_histogram", "queue_histogram"):
            found["launches"].pop(key)
        found.pop("nested_ranges")
        found["devices"] = [{**one, "activity": None} for one in found["devices"]]
    assert whole == brief


@pytest.mark.parametrize("devices", [1, 3])
def test_a_budget_has_a_bar_for_each_gpu(tmp_path: Path, devices: int) -> None:
    found = summary(tmp_path, devices=devices)
    axes = axes_of(found, "budget")
    assert len(labels(axes)) == devices
    for place, device in enumerate(found.devices):
        budget = device.budget
        row = [one for one in bars(axes) if round(one.get_y() + one.get_height() / 2) == place]
        times = [one.total_ns for one in (*budget.kernels, *budget.copies, *budget.idle)]
        widths = [round(one.get_width() * MS) for one in row]
        assert sorted(widths) == sorted(times)
        assert sum(widths) == device.span_ns + budget.counted_twice_ns
        # Each part begins where another ends.
        starts, ends = (
            {round(edge * MS) for edge in edges}
            for edges in zip(*((one.get_x(), one.get_x() + one.get_width()) for one in row), strict=True)
        )
        assert starts - {0} == ends - {max(ends)}
    assert axes.get_xlabel() == "time, ms"


def test_of_many_gpus_three_are_shown(tmp_path: Path) -> None:
    made = [kernel("k", 10, 1 + device, device=device) for device in range(20)]
    made += [kernel("k", 100, 1, device=device) for device in range(20)]
    found = fastrnns_rs.read(write(tmp_path / "trace.json", made))
    drawn = draw(PlainSummary(found.to_dict()), "budget")
    assert [one.split(" (")[1] for one in labels(drawn.canvas.axes)] == ["slowest)", "median)", "fastest)"]
    assert "Of 20 GPUs" in drawn.canvas.note
    assert len(labels(axes_of(found, "utilization"))) == 3
    assert axes_of(found, "timeline", row="GPU 7").patches


def test_utilization_and_timeline_have_the_bins(tmp_path: Path) -> None:
    found = summary(tmp_path, devices=2)
    axes = axes_of(found, "utilization")
    steps = [one for one in axes.patches if isinstance(one, StepPatch)]
    for place, (device, step) in enumerate(zip(found.devices, steps, strict=True)):
        values, edges, base = step.get_data()
        activity = device.activity
        assert base == pytest.approx(place + 0.43)
        assert (base - values) / 0.86 * activity.bin_ns == pytest.approx(activity.busy_ns)
        assert np.diff(edges) * MS == pytest.approx(activity.bin_ns)
    axes = axes_of(found, "timeline", row="GPU 1")
    activity = found.devices[1].activity
    rows = [*activity.kernels, *activity.copies]
    assert labels(axes) == [one.name for one in rows]
    for row, step in zip(rows, [one for one in axes.patches if isinstance(one, StepPatch)], strict=True):
        values, _, base = step.get_data()
        assert (base - values) / 0.86 * max(activity.bin_ns, *row.bins_ns) == pytest.approx(row.bins_ns)


def test_time_between_the_files_of_a_process_is_named(tmp_path: Path) -> None:
    """It is drawn as time without activity."""
    paths = []
    for at, start in enumerate((0, 60e6)):
        events = document([kernel(f"k{at}", start, 10_000)])
        paths.append(write(tmp_path / f"{at}.json", {"baseTimeNanoseconds": 5, "host_name": "a", **events}))
    found = fastrnns_rs.read(*paths)
    for kind, rows in (("utilization", None), ("timeline", "GPU 0")):
        note = draw(found.document, kind, row=rows).canvas.note
        assert "No file contains 59.99 s of this time." in note, note
    assert "No file" not in draw(fastrnns_rs.read(paths[0]).document, "utilization").canvas.note
    # A GPU whose time one file contains is not named.
    for gpus, ends in (((0,), "59.99 s of the time of GPU 0."), ((0, 1), "59.99 s of this time.")):
        made = [kernel("k", start, 10_000, device=device) for start in (0, 60e6) for device in (0, 1)]
        parts = [made[:2], [one for one in made[2:] if one["args"]["device"] in gpus]]
        for path, events in zip(paths, parts, strict=True):
            write(path, {"baseTimeNanoseconds": 5, "host_name": "a", **document(events)})
        note = draw(fastrnns_rs.read(*paths).document, "utilization").canvas.note
        assert f" No file contains {ends}" in note, note


def test_lanes_with_overlaps_name_their_full_height(tmp_path: Path) -> None:
    made = [kernel("gemm", 0, 100, stream=stream) for stream in (7, 8)]
    found = fastrnns_rs.read(write(tmp_path / "trace.json", made))
    drawn = draw(PlainSummary(found.to_dict()), "timeline")
    assert drawn.canvas.note.endswith("so that full height is more: gemm 512 ns.")
    assert found.devices[0].activity.bin_ns == 256


def test_ranges_are_as_wide_as_their_time(tmp_path: Path) -> None:
    found = summary(tmp_path)
    axes = axes_of(found, "ranges")
    assert axes.get_xlabel() == "GPU time, µs"
    boxes, hatched = (one for one in axes.collections if isinstance(one, PolyCollection))

    def widths(collection: PolyCollection) -> list[float]:
        return [np.ptp(path.vertices[:, 0]) * US for path in collection.get_paths()]

    assert widths(boxes) == pytest.approx([one.gpu_inclusive_ns for one in found.nested_ranges])
    alone = [one.gpu_exclusive_ns for one in found.nested_ranges if one.gpu_exclusive_ns]
    assert widths(hatched) == pytest.approx(alone)
    # Nothing lies outside the range that encloses it.
    edges = [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in boxes.get_paths()]
    for (left, right), one in zip(edges, found.nested_ranges, strict=True):
        if one.parent is not None:
            assert edges[one.parent][0] <= left < right <= edges[one.parent][1] + 1e-12


def test_kernels_have_shares_that_add_up(tmp_path: Path) -> None:
    found = summary(tmp_path)
    axes = axes_of(found, "kernels")
    shares = [100 * one.kernel_time_fraction for one in found.kernels]
    assert [one.get_width() for one in bars(axes)] == pytest.approx(shares)
    [line] = axes.get_lines()
    assert [*line.get_xdata()] == pytest.approx([*np.cumsum(shares)])


def test_categories_and_causes_look_the_same_on_every_picture(tmp_path: Path) -> None:
    gemms = [kernel("ampere_sgemm_128x64_tn", 100 * place, 50) for place in range(3)]
    adds = [kernel("vectorized_elementwise_kernel", 60 + 100 * place, 10 + 80 * place) for place in range(3)]
    few = fastrnns_rs.read(write(tmp_path / "few.json", [*gemms, *adds]))
    found: dict[str, set[tuple[Any, Any]]] = {}
    colors: dict[str, set[Any]] = {}
    for one in (few, summary(tmp_path), summary(tmp_path, devices=2)):
        axes = axes_of(one, "budget")
        legend = axes.get_legend()
        assert legend is not None
        for text, patch in zip(legend.get_texts(), legend.get_patches(), strict=True):
            found.setdefault(text.get_text(), set()).add((patch.get_facecolor(), patch.get_hatch()))
        lanes = axes_of(one, "timeline")
        for name, step in zip(labels(lanes), lanes.patches, strict=True):
            colors.setdefault(name, set()).add(step.get_facecolor())
    assert {"gemm", "elementwise", "copies and sets"} <= {*found}
    assert any(name.startswith("idle: ") for name in found)
    assert all(len(looks) == 1 for looks in found.values())
    assert len({look for looks in found.values() for look in looks}) == len(found)
    for name, seen in colors.items():
        [(color, _)] = found["copies and sets" if name.startswith("mem") else name]
        assert seen == {color}


def test_every_known_category_and_cause_has_a_look_of_its_own() -> None:
    from fastrnns_rs.views.plots import looks
    from fastrnns_rs.views.plots.style import HATCHES, LIGHT

    root = Path(__file__).resolve().parents[2] / "src" / "trace"
    words = re.findall(r'^    "(\w+)",$', (root / "categories" / "mod.rs").read_text(), re.MULTILINE)
    names = [*words, "other", "unknown", "other kernels", "copies and sets"]
    assert len(words) >= 18
    assert {*names} == {*looks._CATEGORIES}
    assert len({looks.category(one, LIGHT) for one in names}) == len(names)
    causes = re.findall(
        r'^        \w+ = "(\w+)",$', (root / "aggregate" / "idle" / "cause.rs").read_text(), re.MULTILINE
    )
    assert {*causes, "other"} == {*looks._CAUSES}
    assert len({looks.idle_cause(one, LIGHT) for one in looks._CAUSES}) == len(causes) + 1
    # An unknown name has the same look in every process.
    assert looks.category("my_category", LIGHT) == looks.Look(LIGHT.series[UNKNOWN[0]], HATCHES[UNKNOWN[1]])


def test_ranges_of_several_gpus_are_named_a_sum(tmp_path: Path) -> None:
    assert axes_of(summary(tmp_path), "ranges").get_xlabel() == "GPU time, µs"
    assert "GPU time, sum of 2 GPUs, " in axes_of(summary(tmp_path, devices=2), "ranges").get_xlabel()


def test_iterations_have_the_numbers_of_the_table_and_one_has_no_plot(tmp_path: Path) -> None:
    found = summary(tmp_path)
    document = found.to_dict()
    for one in document["iterations"]:
        one["index"] += 551
    [line, *_] = draw(PlainSummary(document), "iterations").canvas.axes.get_lines()
    assert [*line.get_xdata()] == [one["index"] for one in document["iterations"]]
    single = summary(tmp_path, steps=1)
    assert len(single.iterations) == 1
    with pytest.raises(UsageError, match=r"invalid value: 'iterations' \(kind\)"):
        single.plot("iterations")


def test_labels_of_kernels_keep_the_part_that_differs(tmp_path: Path) -> None:
    functors = (
        "CUDAFunctor_add<c10::BFloat16>",
        "GeluCUDAKernelImpl<c10::BFloat16>",
        "AUnaryFunctor<long, long, bool>",
    )
    begin = "void at::native::vectorized_elementwise_kernel<4, at::native::"
    made = [f"{begin}{one}, std::array<char*, 3ul> >(int, float)" for one in functors]
    begin = "void split_embedding_backward_codegen_rowwise_adagrad_"
    made += [
        f"{begin}{weighted}_kernel_{unit}_per_row_1<float, float, float, {size}ul>(int)"
        for unit in ("cta", "warp")
        for weighted, size in (("unweighted", 2), ("unweighted", 5), ("weighted", 1))
    ]
    found = fastrnns_rs.read(write(tmp_path / "t.json", [kernel(one, 10 * at, 5) for at, one in enumerate(made)]))
    texts = labels(axes_of(found, "kernels"))
    assert len({*texts}) == len(texts) == 9
    assert not any("#" in one for one in texts)
    for part in ("CUDAFunctor", "GeluCUDA", "AUnaryFunctor"):
        assert len([one for one in texts if part in one]) == 1
    for parts in (("unweighted", "cta", "2"), ("unweighted", "warp", "5"), ("…weighted", "warp", "1")):
        assert len([one for one in texts if all(part in one for part in parts)]) == 1


def test_two_thousand_kernels_have_twenty_bars(tmp_path: Path) -> None:
    made = [kernel(f"kernel_{place}", 10 * place, 1 + place / 1000) for place in range(2000)]
    drawn = draw(PlainSummary(fastrnns_rs.read(write(tmp_path / "trace.json", made)).to_dict()), "kernels")
    assert len(bars(drawn.canvas.axes)) == 20
    assert drawn.canvas.note == "The 20 longest of 2,000 kernels."


def test_outliers_of_iterations_are_marked(tmp_path: Path) -> None:
    found = summary(tmp_path)
    axes = axes_of(found, "iterations")
    line, median = axes.get_lines()
    [statistics] = found.iteration_statistics
    assert statistics.measure == "gpu_ns"
    scale = found.iterations[0].gpu_ns / line.get_ydata()[0]
    assert [one * scale for one in line.get_ydata()] == pytest.approx([one.gpu_ns for one in found.iterations])
    assert median.get_ydata()[0] * scale == pytest.approx(statistics.median_ns)
    [marks] = [one for one in axes.collections if isinstance(one, PathCollection)]
    outliers = [place for place, one in enumerate(found.iterations) if one.outlier]
    assert outliers
    assert [one[0] for one in marks.get_offsets()] == outliers


def test_launches_have_the_bins_of_the_document(tmp_path: Path) -> None:
    found = summary(tmp_path)
    latency, queue = (one for one in axes_of(found, "launches").patches if isinstance(one, StepPatch))
    for step, histogram in ((latency, found.launches.latency_histogram), (queue, found.launches.queue_histogram)):
        values, edges, _ = step.get_data()
        assert [*values] == histogram.counts
        assert [*edges] == pytest.approx([max(one, 0.5) / US for one in histogram.bounds_ns])


@pytest.mark.parametrize(("count", "shown"), [(3, 3), (12, 3)])
def test_the_slowest_rank_is_marked(tmp_path: Path, count: int, shown: int) -> None:
    found = ranks(tmp_path, count)
    axes = axes_of(found, "ranks")
    assert len(bars(axes)) == shown
    slowest = [row for row in found.ranks if row.slowest]
    [place] = [place for place, one in enumerate(bars(axes)) if one.get_hatch()]
    assert [f"rank {row.rank}" in labels(axes)[place] for row in slowest] == [True]
    [text] = [one.get_text() for one in axes.texts]
    assert text.strip() == "slowest"


@pytest.mark.parametrize("dark", [False, True])
def test_hostile_names_are_drawn(tmp_path: Path, dark: bool) -> None:
    found = summary(tmp_path, names=HOSTILE)
    for kind in ("budget", "utilization", "timeline", "ranges", "kernels", "iterations", "launches"):
        figure = found.plot(kind, dark=dark)
        figure.canvas.draw()
        texts = " ".join(one.get_text() for axes in figure.axes for one in axes.get_yticklabels())
        assert "\x1b" not in texts
        assert "\u202e" not in texts


def test_kinds_without_data_are_errors(tmp_path: Path) -> None:
    host = fastrnns_rs.read(write(tmp_path / "host.json", [operator(start=10 * place) for place in range(5)]))
    with pytest.raises(UsageError) as error:
        host.plot("budget")
    assert "operators" in error.value.hint
    device = fastrnns_rs.read(write(tmp_path / "device.json", [kernel()]))
    with pytest.raises(UsageError) as error:
        device.plot("ranks")
    assert "budget" in error.value.hint
    with pytest.raises(UsageError):
        device.plot("timeline", row="GPU 9")
    none = fastrnns_rs.read(write(tmp_path / "none.json", []))
    with pytest.raises(UsageError, match="no data to plot"):
        none.plot()


def test_operators_of_the_cpu_have_their_own_time(tmp_path: Path) -> None:
    made = [operator(f"aten::op{place}", 100 * place, 10 + place) for place in range(4)]
    found = fastrnns_rs.read(write(tmp_path / "host.json", made))
    whole = sum(one.self_ns for one in found.cpu_operators)
    expected = [100 * one.self_ns / whole for one in found.cpu_operators]
    assert [one.get_width() for one in bars(axes_of(found, "operators"))] == pytest.approx(expected)


def test_the_document_is_drawn_as_the_summary(tmp_path: Path) -> None:
    found = summary(tmp_path)
    document = SummaryDocument.from_dict(found.to_dict())
    for kind in ("budget", "kernels"):
        widths = [[one.get_width() for one in bars(axes_of(each, kind))] for each in (found, document)]
        assert widths[0] == widths[1]
    assert len(NAMES) == len(bars(axes_of(document, "kernels")))
