"""Times in whole microseconds: they are read as they are, with a warning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kineto_traces import document, kernel, write

import fastrnns_rs


def trace(path: Path, count: int, duration: float, start: float = 0.0) -> Path:
    events = [kernel(f"k{at % 3}", start + 10 * at, duration) for at in range(count)]
    return write(path, json.dumps(document(events)))


@pytest.mark.parametrize(
    ("count", "duration", "start", "is_told"),
    [(20, 2, 0, True), (20, 2.001, 0, False), (20, 2, 0.5, False), (19, 2, 0, False)],
)
def test_a_trace_in_whole_microseconds_is_told(
    count: int, duration: float, start: float, is_told: bool, tmp_path: Path
) -> None:
    """As torch before 2.4 wrote them. A few may be of whole microseconds by chance."""
    path = trace(tmp_path / "x.json", count, duration, start)
    found = [warning for warning in fastrnns_rs.read(path).warnings if warning.code == "rounded_times"]
    assert len(found) == is_told
    for warning in found:
        assert warning.evidence == f"{path}: 20 events"


def test_a_comparison_with_such_a_trace_is_told(tmp_path: Path) -> None:
    """A kernel of 2.6 µs is one of 2 µs in the trace of an older torch: that is not a change of the program."""
    old = [trace(tmp_path / f"old{at}.json", 30 + at, 2) for at in range(3)]
    new = [trace(tmp_path / f"new{at}.json", 30 + at, 2.6) for at in range(3)]
    found = fastrnns_rs.compare(list(map(str, old)), list(map(str, new)))
    assert "rounded_times" in {warning.code for warning in found.warnings}


@pytest.mark.parametrize("units", ["s,us", "us,s"])
def test_a_printed_trace_in_seconds_is_told(units: str, tmp_path: Path) -> None:
    """Each column has a unit of its own."""
    text = (
        "==1== NVPROF is profiling process 1, command: x\n==1== Profiling result:\n"
        f'"Start","Duration","Device","Stream","Name"\n{units},,,\n1.5,2.5,"GPU (0)","7","k"\n'
    )
    warnings = fastrnns_rs.read(write(tmp_path / "x.csv", text)).warnings
    assert [warning.code for warning in warnings] == ["rounded_times"]
