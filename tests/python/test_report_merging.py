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


def figures_only(summary: Summary) -> SummaryDocument:
    """A summary without what depends on the files."""
    devices = [replace(device, rank=None) for device in summary.document.devices]
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


@pytest.mark.parametrize("dealt", [True, False], ids=["dealt", "in stretches"])
@pytest.mark.parametrize("path", captures("kineto/tl_*.json*") + captures("kineto/hta_ns*.json*"))
def test_parts_of_a_file_of_the_field_make_the_whole(path: Path, tmp_path: Path, *, dealt: bool) -> None:
    # Numbers stay as they are written: a float would not hold them.
    trace = json.loads(gzip.decompress(path.read_bytes()), parse_float=str)
    parts = parts_of(trace, tmp_path, 3, dealt=dealt)
    assert_alike(to_plain(figures_only(fastrnns_rs.read(*parts))), to_plain(figures_only(fastrnns_rs.read(path))))


def test_a_part_without_calls_belongs_to_the_whole(tmp_path: Path) -> None:
    """Nothing in it says which process used the device, but no other of its host did."""
    base = {"baseTimeNanoseconds": 1_700_000_000_000_000_000, "host_name": "host"}
    events = [call(), kernel("a", 1), kernel("b", 5)]
    whole = fastrnns_rs.read(write(tmp_path / "x.json", document(events, **base)))
    first = write(tmp_path / "a.json", document(events[:2], **base))
    second = write(tmp_path / "b.json", document(events[2:], **base))
    assert figures_only(fastrnns_rs.read(first, second)) == figures_only(whole)


def test_a_device_of_neither_a_host_nor_a_process_is_of_its_file(tmp_path: Path) -> None:
    """Device 0 of two files: that number is all that they share."""
    paths = [write(tmp_path / name, document([kernel("a", 1), kernel("b", 5)])) for name in ("a.json", "b.json")]
    assert [row.device_id for row in fastrnns_rs.read(*paths).devices] == [0, 0]
    paths = [write(path, document([call(), kernel("a", 1), kernel("b", 5)])) for path in paths]
    assert [row.device_id for row in fastrnns_rs.read(*paths).devices] == [0]


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
    screen = summary.render("table", by="device", width=80)
    assert [line.split()[-3] for line in screen.splitlines() if line.endswith(" a")] == ["#0", "#1"]
    assert [line[:4] for line in screen.splitlines() if line.endswith("GPU zero")] == ["0, #"] * 2
    # One row of both says of neither that it is its own.
    screen = fastrnns_rs.read(*paths, kernels_by="name").render("table", by="kernel", width=80)
    assert [line.split()[-3] for line in screen.splitlines() if line.endswith(" a")] == ["-"]
