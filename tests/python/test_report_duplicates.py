"""Activities that a file contains twice are told of."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import captures
from kineto_traces import copy, fill, kernel, write

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


@pytest.mark.parametrize("path", captures("kineto/*") + captures("nsys/*"))
def test_no_capture_of_the_field_contains_any_twice(path: Path) -> None:
    assert evidence(path) == []
