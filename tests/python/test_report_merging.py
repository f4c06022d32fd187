"""Several traces read together, and one trace in several parts or compressed: the figures are those of the whole."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus import captures
from kineto_traces import call, document, kernel, write

import fastrnns_rs
from fastrnns_rs import Summary
from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.summary import SummaryDocument

#: Captures of one process name it, and its host.
HOST = {"host_name": "host"}


def figures_only(summary: Summary) -> SummaryDocument:
    """A summary without what depends on the files."""
    devices = [replace(device, rank=None, path=None) for device in summary.document.devices]
    return replace(summary.document, captures=[], warnings=[], ranks=[], devices=devices)


def assert_alike(found: object, expected: object, path: str = "") -> None:
    """Equal, but for how floats that were added up in another order are rounded."""
    if isinstance(expected, dict) and isinstance(found, dict):
        assert found.keys() == expected.keys(), path
        for key, value in expected.items():
            assert_alike(found[key], value, f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        assert len(found) == len(expected), path
        for place, value in enumerate(expected):
            assert_alike(found[place], value, f"{path}[{place}]")
    else:
        assert found == (pytest.approx(expected, rel=1e-12, abs=0) if isinstance(expected, float) else expected), path


def parts_of(trace: dict[str, Any], folder: Path, count: int, *, dealt: bool) -> list[Path]:
    """Files that hold a trace's events among them, dealt out one by one or in stretches, each with all metadata."""
    events = trace["traceEvents"]
    size = -(-len(events) // count)
    paths = []
    for place in range(count):
        part = events[place::count] if dealt else events[place * size : (place + 1) * size]
        # A part without calls is known by its host alone.
        members = {"host_name": "host", **trace, "traceEvents": part}
        paths.append(write(folder / f"part{place}.json", members))
    return paths


def without_spans(plain: dict[str, Any]) -> dict[str, Any]:
    """A document without what depends on how long a device was covered."""
    devices = [row for row in plain["devices"] if row.pop("budget") and row.pop("span_ns") >= row.pop("idle_ns")]
    kernels = [{key: value for key, value in row.items() if key != "span_fraction"} for row in plain["kernels"]]
    for row in devices:
        del row["utilization"]
    return {**plain, "devices": devices, "kernels": kernels, "idle_causes": []}


@pytest.mark.parametrize("dealt", [True, False], ids=["dealt", "in stretches"])
@pytest.mark.parametrize("path", captures("kineto/tl_*.json*") + captures("kineto/hta_ns*.json*"))
def test_parts_of_a_file_of_the_field_make_the_whole(path: Path, tmp_path: Path, *, dealt: bool) -> None:
    # Numbers stay as they are written: a float would not hold them.
    trace = json.loads(gzip.decompress(path.read_bytes()), parse_float=str)
    parts = parts_of(trace, tmp_path, 3, dealt=dealt)
    found, expected = (to_plain(figures_only(fastrnns_rs.read(*paths))) for paths in (parts, [path]))
    if not dealt:
        # No part covers the time between the last activity of one and the first of the next.
        assert all(
            one["span_ns"] <= whole["span_ns"] for one, whole in zip(found["devices"], expected["devices"], strict=True)
        )
        found, expected = without_spans(found), without_spans(expected)
    assert_alike(found, expected)


def test_time_between_two_traces_of_a_process_is_not_idle(tmp_path: Path) -> None:
    """The profiler was off, and nobody knows what the device did."""
    traces = [[call(), kernel("a", 10, 2), kernel("a", 15, 2)], [call(start=1000), kernel("a", 1010, 4)]]
    paths = [write(tmp_path / f"{place}.json", document(events, **HOST)) for place, events in enumerate(traces)]
    [whole] = fastrnns_rs.read(*paths).devices
    alone = [device for path in paths for device in fastrnns_rs.read(path).devices]
    for key in ("span_ns", "busy_ns", "idle_ns", "kernel_count"):
        assert getattr(whole, key) == sum(getattr(one, key) for one in alone), key
    assert (whole.start_ns, whole.end_ns) == (alone[0].start_ns, alone[1].end_ns)
    assert (whole.idle_ns, whole.utilization) == (3_000, 8 / 11)
    assert sum(row.total_ns for row in fastrnns_rs.read(*paths).idle_causes) == whole.idle_ns
    assert fastrnns_rs.read(*paths).render(width=80).splitlines()[1].startswith("GPU idle for 27.3 % of 11.00 µs")
    # The order in which the files are given does not matter.
    [other] = fastrnns_rs.read(*reversed(paths)).devices
    assert (other.start_ns, other.span_ns, other.idle_ns) == (whole.start_ns, whole.span_ns, whole.idle_ns)


def test_time_that_another_trace_of_the_process_covers_is_idle(tmp_path: Path) -> None:
    traces = [[call(), kernel("a", 10, 2), kernel("a", 90, 2)], [call(), kernel("b", 50, 1)]]
    paths = [write(tmp_path / f"{place}.json", document(events, **HOST)) for place, events in enumerate(traces)]
    [row] = fastrnns_rs.read(*paths).devices
    assert (row.span_ns, row.idle_ns) == (82_000, 77_000)


def test_a_part_without_calls_belongs_to_the_whole(tmp_path: Path) -> None:
    """Nothing in it says which process used the device, but no other of its host did."""
    base = {"baseTimeNanoseconds": 1_700_000_000_000_000_000, "host_name": "host"}
    events = [call(), kernel("a", 1), kernel("a", 9), kernel("b", 5)]
    whole = fastrnns_rs.read(write(tmp_path / "x.json", document(events, **base)))
    first = write(tmp_path / "a.json", document(events[:3], **base))
    second = write(tmp_path / "b.json", document(events[3:], **base))
    assert figures_only(fastrnns_rs.read(first, second)) == figures_only(whole)


def test_a_process_of_an_unknown_host_is_of_its_file(tmp_path: Path) -> None:
    """In containers, two processes have the same number, and so have their launches."""
    events = [call(), kernel("a", 1), kernel("b", 5)]
    paths = [write(tmp_path / name, document(events)) for name in ("a.json", "b.json")]
    assert [row.device_id for row in fastrnns_rs.read(*paths).devices] == [0, 0]
    paths = [write(path, document(events, **HOST)) for path in paths]
    assert [row.device_id for row in fastrnns_rs.read(*paths).devices] == [0]


def test_launches_of_one_container_are_not_those_of_another(tmp_path: Path) -> None:
    """Process 1 of each, an hour apart."""
    paths = [
        write(tmp_path / f"{start}.json", document([call(start=start, process=1), kernel("a", start + 9, 2)]))
        for start in (0, 3_600_000_000)
    ]
    found = fastrnns_rs.read(*paths)
    assert (found.launches.matched_count, found.launches.latency_median_ns) == (2, 9000.0)


def test_traces_of_different_clocks_stay_apart(tmp_path: Path) -> None:
    """Two captures of one machine hours apart: the time between them is nobody's idle time."""
    events = [call(), kernel("a", 10, 2), kernel("a", 13, 2)]
    paths = [
        write(tmp_path / f"{base}.json", document(events, baseTimeNanoseconds=base))
        for base in (1_700_000_000_000_000_000, 1_700_000_001_000_000_000)
    ]
    summary = fastrnns_rs.read(*paths)
    assert [(row.span_ns, row.busy_ns, row.idle_ns) for row in summary.devices] == [(5_000, 4_000, 1_000)] * 2
    rows = [(row.device, row.count, row.total_ns, row.span_fraction) for row in summary.kernels]
    assert rows == [(0, 2, 4_000, 0.8), (1, 2, 4_000, 0.8)]
    [row] = fastrnns_rs.read(*paths, kernels_by="name").kernels
    assert (row.device_id, row.device, row.count, row.span_fraction) == (0, None, 4, None)
    screen = summary.render("table", view="device", width=80)
    assert [line.split()[-3] for line in screen.splitlines() if line.endswith(" a")] == ["#0", "#1"]
    assert [line[:4] for line in screen.splitlines() if line.endswith("GPU zero")] == ["0, #"] * 2
    # One row of both says of neither that it is its own.
    screen = fastrnns_rs.read(*paths, kernels_by="name").render("table", view="kernel", width=80)
    assert ["0, sum of 2" in line for line in screen.splitlines() if line.endswith(" a")] == [True]


def test_sums_of_processes_on_several_clocks_name_no_number_of_gpus(tmp_path: Path) -> None:
    """Each said that it was a sum of all four, and half of the idle time was each one's whole."""

    def by_process(number: int) -> list[dict[str, Any]]:
        return [call(process=number), kernel("a", 10, 2), kernel("a", 20, 2)]

    paths = [
        write(
            tmp_path / f"{base}_{process}.json",
            document(by_process(process), baseTimeNanoseconds=base, **HOST),
        )
        for base in (1_700_000_000_000_000_000, 1_700_000_001_000_000_000)
        for process in (100, 200)
    ]
    both = fastrnns_rs.read(*paths[:2])
    screen = both.render("table", view="kernel", width=80)
    assert ["0, sum of 2" in line for line in screen.splitlines() if line.endswith(" a")] == [True]
    assert " 100" in both.render("table", view="idle", width=80)
    found = fastrnns_rs.read(*paths)
    screen = found.render("table", view="kernel", width=80)
    lines = [line for line in screen.splitlines() if line.endswith(" a")]
    assert ["0, sum " in line and "sum of" not in line for line in lines] == [True, True]
    screen = found.render("table", view="idle", width=80)
    assert [line.split()[0] for line in screen.splitlines() if " dependency " in line] == ["-", "-"]


def test_a_kernel_of_gpus_of_different_numbers_has_no_number(tmp_path: Path) -> None:
    events = [kernel("a", 10, 2), kernel("a", 13, 2, device=1)]
    paths = [
        write(tmp_path / f"{base}.json", document(events, baseTimeNanoseconds=base))
        for base in (1_700_000_000_000_000_000, 1_700_000_001_000_000_000)
    ]
    screen = fastrnns_rs.read(*paths, kernels_by="name").render("table", view="kernel", width=80)
    assert [line.split()[-3] for line in screen.splitlines() if line.endswith(" a")] == ["-"]
