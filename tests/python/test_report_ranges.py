"""What ran in ranges, across threads and phases: from exports and traces to rows."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

from kineto_traces import Event, call, kernel, write
from nsys_exports import STARTED, Export, thread

import fastrnns_rs
from fastrnns_rs import Summary

MAIN, AUTOGRAD = thread(100, 1), thread(100, 2)


def row(summary: Summary, name: str) -> Any:
    (found,) = [row for row in summary.document.ranges if row.name == name]
    return found


def launch(export: Export, number: int, at: int, on: int, ran: tuple[int, int]) -> None:
    export.call(at, at + 1, on, number)
    export.kernel(*ran, on, number)


def annotation(name: str, start: float, duration: float, thread_id: int) -> Event:
    event = {**call(name, start, duration), "cat": "user_annotation", "tid": thread_id}
    del event["args"]
    return event


def launched(number: int, at: float, on: int, start: float, duration: float) -> list[Event]:
    return [
        {**call(start=at, duration=0.5), "tid": on, "args": {"correlation": number}},
        kernel(start=start, duration=duration, correlation=number),
    ]


def test_kernels_of_autograds_thread_count_for_the_backward_phase(tmp_path: Path) -> None:
    export = Export(tmp_path / "capture.sqlite")
    for step in range(3):
        at = step * 1000
        export.range(f"cudnn/forward/{step}", at, at + 400, MAIN, kind=STARTED)
        export.range(f"cudnn/backward/{step}", at + 500, at + 900, MAIN, kind=STARTED)
        export.range("loss.backward()", at + 510, at + 890, MAIN)
        export.range(f"MmBackward0, op_id = {step}", at + 550, at + 650, AUTOGRAD)
        launch(export, 2 * step + 1, at + 10, MAIN, (at + 20, at + 120))
        # Runs when its ranges have long ended.
        launch(export, 2 * step + 2, at + 600, AUTOGRAD, (at + 950, at + 990))
    summary = fastrnns_rs.read(export.written())
    backward, forward = row(summary, "cudnn/backward"), row(summary, "cudnn/forward")
    assert (backward.gpu_inclusive_ns, backward.gpu_exclusive_ns, backward.kernel_count) == (120, 0, 3)
    assert (forward.gpu_inclusive_ns, forward.gpu_exclusive_ns, forward.count) == (300, 300, 3)
    assert (forward.runner, forward.phase, forward.host_total_ns) == ("cudnn", "forward", 1200)
    mm = row(summary, "MmBackward0")
    assert (mm.gpu_inclusive_ns, mm.gpu_exclusive_ns, mm.runner, mm.phase) == (120, 120, "cudnn", "backward")
    # Its thread launched nothing.
    waiting = row(summary, "loss.backward()")
    assert (waiting.gpu_inclusive_ns, waiting.phase) == (0, "backward")
    assert [found.name for found in summary.document.ranges][:2] == ["cudnn/forward", "MmBackward0"]


def test_annotations_of_torch_reach_their_thread_and_marks_their_process(tmp_path: Path) -> None:
    events = [
        annotation("## forward ##", 0, 40, 100),
        annotation("## backward ##", 50, 40, 100),
        annotation("cell", 5, 20, 100),
        annotation("cell", 55, 20, 100),
        *launched(1, 10, 100, 12, 3),
        *launched(2, 60, 101, 100, 5),
    ]
    summary = fastrnns_rs.read(write(tmp_path / "trace.json", events))
    cell, backward = row(summary, "cell"), row(summary, "## backward ##")
    assert (cell.kind, cell.count, cell.gpu_inclusive_ns, cell.phase) == ("record_function", 2, 3000, None)
    assert (backward.gpu_inclusive_ns, backward.gpu_exclusive_ns, backward.phase) == (5000, 5000, "backward")


def test_ranges_by_dice_are_those_of_a_plain_reading(tmp_path: Path) -> None:
    dice = random.Random(9)
    export = Export(tmp_path / "capture.sqlite")
    ranges, launches = [], []
    for _ in range(120):
        start, on = dice.randrange(900), dice.choice([MAIN, AUTOGRAD])
        end = dice.choice([None, start, start + dice.randrange(300)])
        whole = dice.random() < 0.3
        name = dice.choice("abcdef")
        export.range(name, start, end, on, **({"kind": STARTED} if whole else {}))
        ranges.append((name, start, 10**9 if end is None else end, None if whole else on))
    for number in range(1, 200):
        at, on, took = dice.randrange(1300), dice.choice([MAIN, AUTOGRAD]), dice.randrange(50)
        launch(export, number, at, on, (2000 + 60 * number, 2000 + 60 * number + took))
        launches.append((at, on, took))
    inclusive: dict[str, int] = defaultdict(int)
    exclusive: dict[str, int] = defaultdict(int)
    for at, on, took in launches:
        around = [one for one in ranges if one[1] <= at <= one[2] and one[3] in {None, on}]
        for name in {one[0] for one in around}:
            inclusive[name] += took
        if around:
            exclusive[max(around, key=lambda one: (one[1], -one[2]))[0]] += took
    found = fastrnns_rs.read(export.written()).document.ranges
    assert {row.name: row.gpu_inclusive_ns for row in found} == {**dict.fromkeys("abcdef", 0), **inclusive}
    # Where bounds are the same, the last in the file is innermost, which the sum over all does not show.
    assert sum(row.gpu_exclusive_ns for row in found) == sum(exclusive.values())
    same = {one[1:3] for one in ranges}
    if len(same) == len(ranges):
        assert {row.name: row.gpu_exclusive_ns for row in found} == {**dict.fromkeys("abcdef", 0), **exclusive}
