"""Streams of gzip: several are one trace, and none is lost without a word."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from kineto_traces import kernel, write

import fastrnns_rs
from fastrnns_rs import FastrnnsError


def packed_list(count: int) -> list[bytes]:
    """A trace in list form in two streams of gzip, as `cat` joins them."""
    events = [json.dumps(kernel(f"k{at}", 10 * at, 3)) for at in range(count)]
    halves = ("[" + ",\n".join(events[: count // 2]) + ",\n", ",\n".join(events[count // 2 :]) + "]")
    return [gzip.compress(half.encode()) for half in halves]


@pytest.mark.parametrize("zeros", [0, 3, 512, 2_000_000])
def test_streams_of_gzip_one_after_the_other_are_one_trace(zeros: int, tmp_path: Path) -> None:
    path = write(tmp_path / "x.bin", (b"\0" * zeros).join(packed_list(600)) + b"\0" * zeros)
    summary = fastrnns_rs.read(path, strict=True)
    assert sum(row.count for row in summary.kernels) == 600


@pytest.mark.parametrize("damaged", [0, 2, 3], ids=["magic", "method", "flags"])
def test_a_damaged_second_stream_is_told(damaged: int, tmp_path: Path) -> None:
    """A list may lack its closing bracket: what it lacks shows in the stream alone."""
    first, second = packed_list(600)
    second = second[:damaged] + b"\xff" + second[damaged + 1 :]
    assert_cut(write(tmp_path / "x.bin", first + second))


def test_a_list_that_is_cut_inside_a_stream_is_told(tmp_path: Path) -> None:
    whole = b"".join(packed_list(600))
    assert_cut(write(tmp_path / "x.bin", whole[: len(whole) * 2 // 3]))


def assert_cut(path: Path) -> None:
    (warning,) = (one for one in fastrnns_rs.read(path).warnings if one.code == "capture_incomplete")
    assert re.fullmatch(r"events after byte \d+ are missing", warning.message)
    with pytest.raises(FastrnnsError, match="damaged capture"):
        fastrnns_rs.read(path, strict=True)
