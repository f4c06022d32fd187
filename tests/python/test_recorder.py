"""The recorder that the timed loop calls."""

from __future__ import annotations

import gc
import sys
import threading
import time

import pytest

from fastrnns_rs._core import Recorder, clock_resolution_ns


def test_durations_agree_with_the_system_clock() -> None:
    recorder = Recorder(20, edges=2)
    expected = []
    for _ in range(20):
        begin = time.perf_counter_ns()
        recorder.mark()
        time.sleep(0.002)
        recorder.mark()
        expected.append(time.perf_counter_ns() - begin)
    found = recorder.durations_ns()
    # Ours lie inside; the machine may take the processor away between two clocks, but not twenty times.
    assert all(ours <= theirs for ours, theirs in zip(found, expected, strict=True))
    ratios = sorted(ours / theirs for ours, theirs in zip(found, expected, strict=True))
    assert ratios[10] > 0.98
    assert recorder.elapsed_ns() >= sum(found)


def test_only_complete_iterations_count() -> None:
    recorder = Recorder(2)
    for done in (0, 0, 0, 0, 1, 1, 1, 1):
        assert recorder.iterations == done
        recorder.mark()
    assert recorder.iterations == 2
    assert len(recorder.durations_ns(0, 1)) == len(recorder.durations_ns(2, 3)) == 2


def test_too_many_marks_are_an_error_not_a_loss() -> None:
    recorder = Recorder(1, edges=2)
    for _ in range(5):
        recorder.mark()
    with pytest.raises(ValueError, match="recorder is full: 5 edges"):
        recorder.durations_ns()


@pytest.mark.parametrize(("iterations", "edges"), [(0, 4), (1, 1), (1, 0), (2**62, 4), (2**45, 4)])
def test_impossible_sizes_are_refused(iterations: int, edges: int) -> None:
    with pytest.raises(ValueError, match="it must be"):
        Recorder(iterations, edges)
    with pytest.raises(OverflowError):
        Recorder(-1)


def test_missing_edges_and_iterations_are_named() -> None:
    recorder = Recorder(3)
    with pytest.raises(ValueError, match="edge 4 does not exist; the recorder has 4"):
        recorder.durations_ns(0, 4)
    with pytest.raises(ValueError, match="from_edge is 2; it must be below to_edge"):
        recorder.durations_ns(2, 1)
    with pytest.raises(ValueError, match="iteration 0 does not exist; the recorder has 0"):
        recorder.elapsed_ns()
    assert recorder.durations_ns() == []


def test_another_thread_may_read_while_one_marks() -> None:
    recorder = Recorder(200_000, edges=2)
    seen: list[int] = []

    def read() -> None:
        while recorder.iterations < 200_000:
            count = recorder.iterations
            seen.append(len(recorder.durations_ns()) - count)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(400_000):
        recorder.mark()
    reader.join()
    assert all(extra >= 0 for extra in seen)


def test_marking_leaves_nothing_behind() -> None:
    recorder = Recorder(100_000)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(400_000):
        recorder.mark()
    assert sys.getallocatedblocks() - before < 20


def test_the_clock_resolves_well_below_a_microsecond() -> None:
    assert 1 <= clock_resolution_ns() < 1000
