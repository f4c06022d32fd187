"""Impossible times: activities twice in a file, kernels before their launches, and times of centuries."""

from __future__ import annotations

from pathlib import Path

import nvprof_files
import pytest
from corpus import captures
from kineto_traces import annotation, call, copy, fill, kernel, operator, write
from nsys_exports import STARTED, Export, thread

import fastrnns_rs

CODE = "activities_repeated"
TOO_LONG, TOO_FAR = "a duration of more than a week", "a time that no clock shows"
WEEK_NS = 7 * 24 * 3600 * 10**9
#: The first and the last time of a clock.
FIRST_NS, LAST_NS = -(1 << 59), 3 << 60
#: Of the last microseconds of 64 bits, and of times as far from zero as documents allow.
FAR_US = [9e15, 4.6e15, -4.6e15, -1e15]


def evidence(path: Path) -> list[str]:
    return [one.evidence for one in fastrnns_rs.read(path).warnings if one.code == CODE]


def test_events_and_lists_that_are_there_twice(tmp_path: Path) -> None:
    events = [kernel(start=0), copy(start=2), kernel(start=5), fill(start=7)]
    path = write(tmp_path / "events.json", events + events)
    assert evidence(path) == ["4 of 8 activities equal another one in name, stream, start and end"]
    once = write(tmp_path / "once.json", events)
    assert evidence(once) == []
    text = once.read_text().rstrip().removesuffix("}")
    lists = tmp_path / "lists.json"
    lists.write_text(f"{text}, {text.lstrip().removeprefix('{')}}}")
    assert evidence(lists) == ["4 of 8 activities equal another one in name, stream, start and end"]
    found = fastrnns_rs.compare(once, lists)
    assert [one.code for one in found.warnings if one.code == CODE] == [CODE]


def test_what_a_gpu_can_do_at_the_same_time_is_not(tmp_path: Path) -> None:
    events = [kernel(), kernel(stream=8), kernel("other"), kernel(duration=2), kernel(start=9, duration=0)] * 2
    distinct = [*events[:5], kernel(start=9, duration=0)]
    assert evidence(write(tmp_path / "x.json", distinct)) == []


def test_one_of_a_thousand_may_be_rounded(tmp_path: Path) -> None:
    events = [kernel(start=2 * one) for one in range(1000)]
    assert evidence(write(tmp_path / "x.json", [*events, kernel(start=20)])) == []
    assert evidence(write(tmp_path / "y.json", [*events, *events[:11]])) != []


def test_kernels_that_start_before_their_launches(tmp_path: Path) -> None:
    def clocks(*starts: float) -> list[str]:
        launches = [call(start=10 * one) | {"args": {"correlation": one}} for one in range(1, len(starts) + 1)]
        kernels = [kernel(start=start, correlation=one) for one, start in enumerate(starts, 1)]
        found = fastrnns_rs.read(write(tmp_path / "x.json", launches + kernels)).warnings
        return [one.evidence for one in found if one.code == "clocks_disagree"]

    assert clocks(5, 15, 25) == ["median of -5000 ns from launch to start; 3 launches"]
    # A few may be off by the error of the clocks.
    assert clocks(9.5, 20, 30) == []


@pytest.mark.parametrize("path", captures("kineto/*") + captures("nsys/*"))
def test_no_capture_of_the_field_contains_any_twice(path: Path) -> None:
    assert evidence(path) == []


def skipped(path: Path) -> dict[str, int]:
    """Why rows of a file are skipped, of which a summary can be written and read."""
    read = fastrnns_rs.read(path, plot_data=True)
    (path.parent / "summary.json").write_text(read.to_json())
    fastrnns_rs.load(path.parent / "summary.json")
    return {one.reason: one.count for one in read.captures[0].skipped}


@pytest.mark.parametrize("start", FAR_US)
def test_events_centuries_from_the_others_are_skipped(start: float, tmp_path: Path) -> None:
    for number, far in enumerate([kernel(start=start), copy(start=start), call(start=start)]):
        path = write(tmp_path / f"{number}.json", [call(start=3), kernel(start=5), far])
        assert skipped(path) == {TOO_FAR: 1}
    alone = [operator(start=1), operator(start=start)]
    [row] = fastrnns_rs.read(write(tmp_path / "cpu.json", alone)).cpu_operators
    assert row.count == 1


def test_rows_of_nsys_and_nvprof_centuries_from_the_others_are_skipped(tmp_path: Path) -> None:
    export = Export(tmp_path / "export.sqlite")
    for number, start in enumerate([1_000, LAST_NS, FIRST_NS - 1], 1):
        export.call(start, start + 10, thread(100, 1), number)
        export.kernel(start, start + 10, thread(100, 1), number)
    assert skipped(export.written()) == {TOO_FAR: 4}
    profile = nvprof_files.Profile(tmp_path / "profile.nvvp", 18)
    for number, start in enumerate([1_000, LAST_NS], 1):
        profile.kernel("k", start, 10, number)
    assert skipped(profile.save()) == {TOO_FAR: 1}
    header = '"Start","Duration","Device","Stream","Name"\nns,ns,,,\n'
    rows = "".join(f'{start},10,"A (0)","7","k"\n' for start in (1_000, LAST_NS, (1 << 63) - 100))
    (tmp_path / "trace.csv").write_text(f"==1== Profiling result:\n{header}{rows}")
    assert skipped(tmp_path / "trace.csv") == {TOO_FAR: 2}


def test_totals_of_nvprof_have_no_times_of_centuries(tmp_path: Path) -> None:
    header = '"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ns,,ns,ns,ns,\n'
    rows = "".join(f'"GPU activities",50,{time},1,{time},{time},{time},"k"\n' for time in (WEEK_NS, 1 << 63))
    (tmp_path / "summary.csv").write_text(f"==1== Profiling result:\n{header}{rows}")
    assert skipped(tmp_path / "summary.csv") == {TOO_LONG: 1}


def test_the_first_and_the_last_time_of_a_clock_are_written_and_read(tmp_path: Path) -> None:
    export = Export(tmp_path / "export.sqlite")
    export.call(FIRST_NS, FIRST_NS + 10, thread(100, 1), 1)
    export.kernel(FIRST_NS, FIRST_NS + 10, thread(100, 1), 2)
    export.kernel(LAST_NS - 10, LAST_NS, thread(100, 1), 1)
    assert skipped(export.written()) == {}


@pytest.mark.parametrize(
    ("start", "duration", "why"), [(0, 9e15, TOO_LONG), *((start, 1, TOO_FAR) for start in FAR_US)]
)
def test_annotations_without_sense_are_skipped(start: float, duration: float, why: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [annotation("a"), annotation("a", start, duration), kernel()])
    assert skipped(path) == {why: 1}
    [row] = fastrnns_rs.read(path).ranges
    assert (row.count, row.host_total_ns) == (1, 1_000)


def test_ranges_of_nsys_without_sense_are_skipped(tmp_path: Path) -> None:
    export = Export(tmp_path / "export.sqlite")
    of = thread(100, 1)
    export.call(10, 20, of, 1)
    export.kernel(30, 40, of, 1)
    for name, start, end, kind in [
        ("sound", 0, WEEK_NS, STARTED),
        ("far", (1 << 63) - 1, None, 59),
        ("far", LAST_NS, LAST_NS + 1, 59),
        ("far", -(1 << 63) + 808, -(1 << 63) + 809, STARTED),
        ("long", 0, WEEK_NS + 1, 59),
        ("long", -(1 << 63) + 808, (1 << 63) - 1, 59),
        ("open", 5, None, 59),
    ]:
        export.range(name, start, end, of, kind=kind)
    assert skipped(export.written()) == {TOO_FAR: 3, TOO_LONG: 2}
    rows = fastrnns_rs.read(export.path).ranges
    assert {row.name: (row.count, row.kernel_count) for row in rows} == {"sound": (1, 1), "open": (1, 1)}


def test_an_open_range_may_last_as_long_as_its_capture(tmp_path: Path) -> None:
    """Also in what was drawn of it, where it has an end."""
    export = Export(tmp_path / "export.sqlite")
    of = thread(100, 1)
    for number, start in enumerate([10, 2 * WEEK_NS], 1):
        export.call(start, start + 10, of, number)
        export.kernel(start, start + 10, of, number)
    export.range("open", 5, None, of)
    fastrnns_rs.read(export.written(), trace_output=tmp_path / "drawn.json")
    for path in (export.path, tmp_path / "drawn.json"):
        assert skipped(path) == {}
        [row] = fastrnns_rs.read(path).ranges
        assert (row.name, row.kernel_count) == ("open", 2)


def test_ranges_of_nvprof_without_sense_are_skipped(tmp_path: Path) -> None:
    epoch = nvprof_files.EPOCH
    profile = nvprof_files.Profile(tmp_path / "profile.nvvp", 18)
    profile.kernel("k", epoch, 10, 1)
    for number, (start, end) in enumerate([(epoch, epoch + 9), (0, epoch), (LAST_NS, LAST_NS + 1)], 1):
        profile.mark(2, start, number, "range")
        profile.mark(4, end, number, None)
    # A number may come again.
    profile.mark(2, epoch + 10, 2, "range")
    profile.mark(4, epoch + 20, 2, None)
    assert skipped(profile.save()) == {TOO_LONG: 2, TOO_FAR: 2}
    [row] = fastrnns_rs.read(profile.path).ranges
    assert (row.count, row.host_total_ns) == (2, 19)
