"""`--trace`: one timeline of all that counts, which keeps the rules of its format and reads back as what it was."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import chrome_traces as chrome
import kineto_reference as reference
import pytest
from conftest import run_cli
from corpus import captures
from kineto_traces import Event, annotation, by_dice, call, copy, document, fill, kernel, operator, write
from nsys_exports import Export, thread
from test_report_merging import assert_alike

import fastrnns_rs
from fastrnns_rs.errors import FastrnnsError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

#: Of a summary what does not change when a capture is drawn and read back; times change by what they are counted from.
KEPT = ("kernels", "categories", "memory_operations", "streams", "api_calls", "ranges", "launches", "idle_causes")


def drawn(out: Path, *paths: Path, **options: Any) -> tuple[Any, list[Event], Any]:
    """The summary of captures, the events of their timeline, and the summary of that."""
    before = fastrnns_rs.read(*paths, trace_output=out, **options).to_dict()
    events = chrome.check(chrome.load(out))
    return before, events, fastrnns_rs.read(out).to_dict()


def assert_same(before: Any, after: Any) -> None:
    for key in KEPT:
        # What only exports of nsys have.
        for row in (*before[key], *after[key]) if key == "kernels" else ():
            row["mangled_name"] = row["short_name"] = None
        assert_alike(after[key], before[key])
    shifts = set()
    for found, expected in zip(after["devices"], before["devices"], strict=True):
        for one, other in ((expected, found), (expected["activity"], found["activity"])):
            if one is not None:
                shifts.add(one.pop("start_ns") - other.pop("start_ns"))
        shifts.add(expected.pop("end_ns") - found.pop("end_ns"))
        assert_alike(found, expected)
    assert len(shifts) <= 1


def assert_drawn_whole(before: Any, events: list[Event]) -> None:
    kernels = chrome.slices(events, "kernel")
    assert len(kernels) == sum(row["count"] for row in before["kernels"])
    flows = sum(event["ph"] == "s" for event in events)
    assert flows >= before["launches"]["matched_count"]
    assert min((event["ts"] for event in chrome.slices(events)), default=0) == 0


@pytest.mark.parametrize("path", captures("nsys/*.sqlite"))
def test_an_export_of_the_field_reads_back(path: Path, tmp_path: Path) -> None:
    before, events, after = drawn(tmp_path / "out.json.gz", path)
    assert_drawn_whole(before, events)
    assert_same(before, after)


@pytest.mark.parametrize("path", captures("kineto/*.json*"))
def test_a_trace_of_the_field_reads_back(path: Path, tmp_path: Path) -> None:
    """And its launches and annotations are those of the definitions."""
    out = tmp_path / "out.json.gz"
    before = fastrnns_rs.read(path, trace_output=out).to_dict()
    merged, original = chrome.load(out), reference.load(path)["traceEvents"]
    events = chrome.check(merged)
    assert_drawn_whole(before, events)
    launches = before["launches"]
    assert (launches["matched_count"], launches["unmatched_kernel_count"]) == reference.launches(original)
    found = chrome.slices(events, "user_annotation")
    base = merged["baseTimeNanoseconds"]
    times = [(base + chrome.nanoseconds(event["ts"]), chrome.nanoseconds(event["dur"])) for event in found]
    assert sorted((event["name"], *at) for event, at in zip(found, times, strict=True)) == reference.named_spans(
        original
    )
    # They can be joined with calls: each annotation's process calls, and so does the thread of the profiler's steps.
    calls = [event for event in chrome.slices(events) if event["cat"].startswith("cuda_")]
    callers, threads = {event["pid"] for event in calls}, {event["tid"] for event in calls}
    for event in found if callers else []:
        assert event["pid"] in callers
        assert not event["name"].startswith("ProfilerStep#") or event["args"]["range thread"] in threads
    assert_same(before, fastrnns_rs.read(out).to_dict())


@pytest.mark.parametrize("seed", range(6))
def test_a_trace_by_dice_reads_back(seed: int, tmp_path: Path) -> None:
    """With operations that overlap on their queue, which are drawn on lanes of their own."""
    events = [event for event in by_dice(seed) if not event["cat"].startswith("cuda_")]
    events += [kernel("first", 5000, 50), kernel("second", 5020, 50), kernel("third", 5060, 5)]
    for correlation, event in enumerate(events, 1):
        event["args"]["correlation"] = correlation
    calls = [call(start=5 * place, duration=3) for place in range(len(events) // 2)]
    for correlation, event in enumerate(calls, 1):
        event["args"]["correlation"] = correlation
    path = write(tmp_path / "x.json.gz", events + calls)
    before, found, after = drawn(tmp_path / "out.json", path)
    assert_same(before, after)
    names = Counter(event["args"]["name"] for event in found if event["name"] == "thread_name")
    assert names["stream 7 (2)"] >= 1
    assert names["thread 100"] == 1


def ordinary() -> list[Event]:
    """A kernel and a copy, the calls that launched them, and what the program named."""
    work = [kernel("k", 20, 5, correlation=7), copy("HtoD", 26, 2, 4096, correlation=8), fill(30, 1, 64)]
    calls = [call("cudaLaunchKernel", 10, 2), call("cuMemcpyAsync", 13, 2)]
    for event, correlation in zip(calls, (7, "8"), strict=True):
        event["args"]["correlation"] = correlation
    named = [annotation("outer", 1, 20), annotation("inner", 9, 5), annotation("crossing", 12, 15)]
    return [*work, *calls, *named, annotation("## backward ##", 5, 25), operator("ProfilerStep#1", 0, 50)]


def test_what_is_drawn(tmp_path: Path) -> None:
    _, events, _ = drawn(tmp_path / "out.json.gz", write(tmp_path / "x.json", ordinary()))
    tracks = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    found = {event["name"]: (tracks[event["pid"], event["tid"]], event["cat"]) for event in chrome.slices(events)}
    assert found == {
        "k": ("stream 7", "kernel"),
        "Memcpy HtoD (Pinned -> Device)": ("stream 7", "gpu_memcpy"),
        "Memset (Device)": ("stream 7", "gpu_memset"),
        "cudaLaunchKernel": ("thread 100", "cuda_runtime"),
        "cuMemcpyAsync": ("thread 100", "cuda_driver"),
        "ProfilerStep#1": ("ranges of thread 100", "user_annotation"),
        "outer": ("ranges of thread 100", "user_annotation"),
        "inner": ("ranges of thread 100", "user_annotation"),
        "crossing": ("ranges of thread 100 (2)", "user_annotation"),
        "## backward ##": ("ranges of the process", "user_annotation"),
    } | {name: at for name, at in found.items() if at[1] == "idle"}
    processes = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert processes == {"process 100", "device 0 (GPU zero), process 100"}
    arrows = {event["ts"]: event["ph"] for event in events if event["ph"] in "sf"}
    assert {float(at): phase for at, phase in arrows.items()} == {10: "s", 13: "s", 20: "f", 26: "f"}


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"pattern": "^k$"}, {"k"}),
        ({"devices": [1]}, {"cudaLaunchKernel", "cuMemcpyAsync"}),
        ({"processes": [5]}, set()),
        ({"since_ns": 5_500}, {"Memcpy HtoD (Pinned -> Device)", "Memset (Device)"}),
    ],
)
def test_only_what_counts_is_drawn(options: dict[str, Any], left: set[str], tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", ordinary())
    _, events, _ = drawn(tmp_path / "out.json", path, **options)
    skipped = {"idle", "user_annotation"}
    assert {event["name"] for event in chrome.slices(events) if event["cat"] not in skipped} == left


def test_captures_of_other_clocks_are_drawn_apart(tmp_path: Path) -> None:
    """Though their processes and devices are called the same: each begins at zero, and sums stay what they were."""
    paths = [
        write(
            tmp_path / f"{rank}.json",
            document(ordinary(), baseTimeNanoseconds=rank + 1, distributedInfo={"rank": rank}),
        )
        for rank in range(2)
    ]
    before, events, after = drawn(tmp_path / "out.json.gz", *paths)
    # The drawing is one session.
    for key in ("count", "total_ns"):
        assert sum(row[key] for row in after["kernels"]) == sum(row[key] for row in before["kernels"])
    assert_alike(after["launches"], before["launches"])
    assert [row["busy_ns"] for row in after["devices"]] == [row["busy_ns"] for row in before["devices"]] == [8000, 8000]
    processes = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert {name.split(":")[0] for name in processes} == {"capture 1", "capture 2"}
    assert len(processes) == 4
    assert sum(event["ts"] == 0 for event in chrome.slices(events)) == 2


def test_steps_stay_with_their_process(tmp_path: Path) -> None:
    """Though only another process calls, which has no steps."""
    step = {**annotation("ProfilerStep#1", 0, 50, 300), "pid": 300}
    works = [event for event in ordinary() if event["name"] != "ProfilerStep#1"]
    paths = [write(tmp_path / f"{place}.json", events) for place, events in enumerate([works, [step]])]
    before, _, after = drawn(tmp_path / "out.json.gz", *paths)
    assert [row["gpu_time_ns"] for row in before["iterations"]] == [0]
    assert after["iterations"] == before["iterations"]


def test_launches_are_not_those_of_another_capture(tmp_path: Path) -> None:
    """Though both count from 1, and one lacks its calls: nothing tells the process of its kernels."""
    works, later = ordinary(), [kernel("k", 22, 5, correlation=7), kernel("k", 50, 5, correlation=8)]
    paths = [write(tmp_path / f"{place}.json", events) for place, events in enumerate([works, later])]
    before, events, after = drawn(tmp_path / "out.json.gz", *paths)
    assert before["launches"]["unmatched_kernel_count"] == 2
    assert_alike(after["launches"], before["launches"])
    assert [row["gpu_time_ns"] for row in after["iterations"]] == [7000]
    # Nor are their devices one.
    idle: list[Counter[str]] = []
    for summary in (before, after):
        assert sorted(row["busy_ns"] for row in summary["devices"]) == [8000, 10000]
        idle.append(Counter())
        for row in summary["idle_causes"]:
            idle[-1][row["cause"]] += row["total_ns"]
    assert idle[0] == idle[1]
    numbers = [event["args"]["correlation"] for event in chrome.slices(events) if "correlation" in event["args"]]
    assert Counter(numbers) == {7: 2, 8: 2, 15: 1, 16: 1}


def test_an_unnamed_device_takes_no_name_of_another_capture(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / f"{rank}.json", document(ordinary(), distributedInfo={"rank": rank}, deviceProperties=known))
        for rank, known in enumerate([[], [{"id": 0, "name": "GPU zero"}]])
    ]
    before, _, after = drawn(tmp_path / "out.json.gz", *paths)
    assert [row["name"] for row in before["devices"]] == [None, "GPU zero"]
    assert [row["name"] for row in after["devices"]] == [None, None]


def test_a_pushed_range_that_is_called_like_a_phase_stays_one_of_its_thread(tmp_path: Path) -> None:
    export = Export(tmp_path / "x.sqlite")
    export.range("## backward ##", 0, 100, thread(5, 1))
    export.call(10, 11, thread(5, 2), 1)
    export.kernel(50, 60, thread(5, 2), 1)
    before, _, after = drawn(tmp_path / "out.json.gz", export.written())
    assert [row["kernel_count"] for row in before["ranges"]] == [0]
    assert after["ranges"] == before["ranges"]


def test_operators_of_a_cpu_are_drawn(tmp_path: Path) -> None:
    """The drawing was empty. `crossing` overlaps another without calling it or being called."""
    inside = [operator("inner", 1012, 3), operator("outer", 1010, 20), operator("inner", 1010, 2)]
    other = [{**operator("outer", 1011, 4), "tid": 101}, {**operator("other", 1000, 9), "pid": 200}]
    path = write(tmp_path / "x.json", [*inside, *other, annotation("step", 1005, 30)])
    before, events, after = drawn(tmp_path / "out.json", path)
    assert [(row["name"], row["count"], row["self_ns"]) for row in before["cpu_operators"]] == [
        ("outer", 2, 19_000),
        ("other", 1, 9_000),
        ("inner", 2, 5_000),
    ]
    assert_alike(after["cpu_operators"], before["cpu_operators"])
    assert_same(before, after)
    tracks = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert {"operators of thread 100", "operators of thread 101"} <= tracks
    # Of slices that cross, one is on another lane, and of selected operators only these are drawn.
    write(path, [*inside, operator("crossing", 1025, 10)])
    _, events, _ = drawn(tmp_path / "out.json", path)
    assert "operators of thread 100 (2)" in {event["args"].get("name") for event in events}
    _, events, _ = drawn(tmp_path / "out.json", path, pattern="inner")
    assert [event["name"] for event in chrome.slices(events)] == ["inner", "inner"]
    # Beside GPU activity no report lists operators.
    _, events, _ = drawn(tmp_path / "out.json", path, write(tmp_path / "gpu.json", ordinary()))
    assert not chrome.slices(events, "cpu_op")


def test_the_command_writes_it(tmp_path: Path) -> None:
    path, out = write(tmp_path / "x.json", ordinary()), tmp_path / "out.json.gz"
    out.write_text("what was there before")
    done = run_cli("report", path, "--trace", out, "--json")
    assert (done.status, json.loads(done.stdout)["schema"]) == (0, "fastrnns-rs/summary")
    chrome.check(chrome.load(out))
    assert not out.stat().st_mode & 0o111
    assert {one.name for one in tmp_path.iterdir()} == {"x.json", "out.json.gz"}


def test_names_are_no_text_of_the_file(tmp_path: Path) -> None:
    name = 'a "quoted" \\ name\n\x1b[31m \u202e, {}]'
    path = write(tmp_path / "x.json", [kernel(name), annotation(name, 0, 1)])
    before, _, after = drawn(tmp_path / "out.json", path)
    assert after["kernels"][0]["name"] == before["kernels"][0]["name"] == name
    assert not set((tmp_path / "out.json").read_text()) & {"\x1b", "\u202e"}


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", ordinary())
    before = path.read_bytes()
    os.link(path, tmp_path / "other.json")
    for out, message in {
        path: "is one of the captures",
        tmp_path / "other.json": "is one of the captures",
        tmp_path: "is a folder",
        tmp_path / "none" / "x.json": "cannot write file",
    }.items():
        with pytest.raises(UsageError, match=message):
            fastrnns_rs.read(path, trace_output=out)
    assert path.read_bytes() == before


def test_what_was_there_stays_where_nothing_is_written(tmp_path: Path) -> None:
    path, out = write(tmp_path / "x.json", json.dumps(document(ordinary()))[:-300]), tmp_path / "out.json"
    out.write_text("before")
    with pytest.raises(FastrnnsError):
        fastrnns_rs.read(path, trace_output=out, strict=True)
    assert out.read_text() == "before"
    assert len([*tmp_path.iterdir()]) == 2


def test_a_drawing_beside_its_capture_is_told(tmp_path: Path) -> None:
    """Its times are others, so that nothing else shows that they are the same."""
    path = write(tmp_path / "x.json", [event | {"ts": event.get("ts", 0) + 1000} for event in ordinary()])
    out, second = tmp_path / "out.json", tmp_path / "second.json.gz"
    for one in (out, second):
        fastrnns_rs.read(path, trace_output=one)
    for files, expected in (([path, out], [str(out)]), ([path, second], [str(second)]), ([out, path], [str(out)])):
        found = [one.evidence for one in fastrnns_rs.read(*files).warnings if one.code == "same_capture_twice"]
        assert found == expected
    for alone in ([path], [out]):
        assert "same_capture_twice" not in {one.code for one in fastrnns_rs.read(*alone).warnings}
