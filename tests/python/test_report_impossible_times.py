"""Warnings of impossible times: activities twice in a file, and kernels that start before their launches."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import captures
from kineto_traces import call, copy, fill, kernel, write

import fastrnns_rs

CODE = "activities_repeated"


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
