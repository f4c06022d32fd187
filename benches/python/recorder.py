"""One sample through the binding against the same with Python's own clock."""

from __future__ import annotations

import statistics
import time
from time import perf_counter_ns

from paired import in_turn, ratio, verdict

from fastrnns_rs._core import Recorder

COUNT = 100_000


def ours() -> float:
    """Start and stop on the recorder."""
    recorder = Recorder(COUNT, 2)
    mark = recorder.mark
    begin = time.perf_counter()
    for _ in range(COUNT):
        mark()
        mark()
    return (time.perf_counter() - begin) / COUNT


def python() -> float:
    """The idiom that everybody writes."""
    samples: list[int] = []
    append = samples.append
    begin = time.perf_counter()
    for _ in range(COUNT):
        t0 = perf_counter_ns()
        append(perf_counter_ns() - t0)
    return (time.perf_counter() - begin) / COUNT


def two_calls() -> float:
    """The floor: two calls of a C function that does nothing."""
    call = [].__len__
    begin = time.perf_counter()
    for _ in range(COUNT):
        call()
        call()
    return (time.perf_counter() - begin) / COUNT


def main() -> None:
    found = in_turn(40, ours=ours, python=python, floor=two_calls)
    for name, label in (("ours", "recorder.mark() twice"), ("python", "perf_counter_ns twice"), ("floor", "two calls")):
        print(f"{label}: {statistics.median(found[name]) * 1e9:.1f} ns a sample")
    print(f"two empty calls / Python's clock: {ratio(found['floor'], found['python']):.2f}x")
    verdict("recorder / Python's clock", ratio(found["ours"], found["python"]), 0.85)


if __name__ == "__main__":
    main()
