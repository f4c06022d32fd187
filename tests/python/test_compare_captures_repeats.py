"""Repeats of captures: iterations of one process, rounding, and how often no difference is called one."""

from __future__ import annotations

import json
import math
import random
import statistics
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from captured_sides import Told
from kineto_traces import annotation, call, document, kernel, write

from fastrnns_rs import compare
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.verbs.compare.captures import capture_side
from fastrnns_rs.verbs.compare.captures.capture_comparison import compare_captures
from fastrnns_rs.verbs.compare.captures.rounded_shares import divide_and_round


@pytest.fixture
def compare_sides(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compares captures that were never files."""

    def compared(baseline: list[Told], candidate: list[Told], margin: float = 0.01) -> Comparison:
        known = {
            f"{side}{place}": one
            for side, every in (("b", baseline), ("c", candidate))
            for place, one in enumerate(every)
        }
        monkeypatch.setattr(capture_side, "opened", lambda path, **_: known[path])
        names = [[name for name in known if name.startswith(side)] for side in "bc"]
        found = compare_captures(*names, margin=margin).comparison
        assert found.device_time is not None
        assert sum(one.delta_ns for one in found.kernels) == found.device_time.delta_ns
        return found

    return compared


def times(dice: random.Random, count: int, mean: float = 1e6) -> list[int]:
    """Times of iterations."""
    return [round(mean * math.exp(dice.gauss(0, 0.02))) for _ in range(count)]


def test_iterations_of_one_process_are_no_replicates(compare_sides: Any) -> None:
    """Differences per iteration, without what ran outside, and no verdict."""
    dice = random.Random(1)
    before = Told({"f": times(dice, 20), "g": times(dice, 20)}, outside={"f": 500_000})
    after = Told({"f": times(dice, 40, mean=1.1e6), "g": times(dice, 40)})
    found = compare_sides([before], [after])
    assert (found.basis, found.method.name) == ("per_iteration", "totals")
    assert (found.baseline.iterations, found.candidate.iterations) == (20, 40)
    assert {(one.verdict, one.ratio_ci_low, one.reason) for one in found.kernels} == {
        (None, None, "fewer than 3 independent captures per side: no verdict")
    }
    first = found.kernels[0]
    assert first.baseline.total_ns == pytest.approx(sum(before.times["f"]) / 20, abs=1)
    assert first.ratio == first.candidate.total_ns / first.baseline.total_ns
    assert found.baseline.gpu_time_median_ns == statistics.median(map(sum, zip(*before.times.values(), strict=True)))
    assert [one.code for one in found.warnings] == ["outside_iterations"]


def test_captures_without_a_kernel_take_little_memory(compare_sides: Any) -> None:
    def side(name: str) -> list[Told]:
        return [Told({f"{name}{place}_{number}": [1000 + place] for number in range(10)}) for place in range(100)]

    sides = [side("a"), side("b")]
    tracemalloc.start()
    try:
        assert len(compare_sides(*sides).kernels) == 2000
        # A number for each kernel and capture alone takes 24 bytes.
        assert tracemalloc.get_traced_memory()[1] < 24 * 2000 * 100 * 2
    finally:
        tracemalloc.stop()


def test_captures_go_before_iterations(compare_sides: Any) -> None:
    dice = random.Random(3)
    sides = [[Told({"f": times(dice, 10)}) for _ in range(3)] for _ in range(2)]
    found = compare_sides(*sides)
    assert (found.method.name, found.basis) == ("welch_log_captures", "per_iteration")
    [row] = found.kernels
    assert row.baseline.n_repeats == 3
    # The ratio is that of the times that are shown.
    assert row.ratio == row.candidate.total_ns / row.baseline.total_ns


def test_iterations_that_hold_little_are_not_the_basis(compare_sides: Any) -> None:
    outside = Told({"f": [10] * 10}, outside={"f": 1000})
    assert compare_sides([outside], [Told({"f": [10] * 10})]).basis == "total"


def test_captures_with_more_iterations_have_a_warning_of_different_work(compare_sides: Any) -> None:
    """Kernels outside the iterations, launched equally often on both sides, hide the factor of the others."""
    dice = random.Random(9)
    sides = [
        [
            Told({"k": times(dice, count, 1e3), "f": [0] * count}, outside={"f": round(dice.gauss(1e6, 1e4))})
            for _ in range(3)
        ]
        for count in (10, 20)
    ]
    found = compare_sides(*sides)
    assert found.basis == "per_capture"
    assert {one.name: one.verdict for one in found.kernels}["k"] == "slower"
    [warning] = [one for one in found.warnings if one.code == "different_work"]
    assert warning.evidence == "iterations per capture: 10 and 20"
    assert not [one for one in compare_sides(*[sides[0]] * 2).warnings if one.code == "different_work"]


def test_a_kernel_without_time_in_a_capture_has_no_verdict(compare_sides: Any) -> None:
    before = [Told({"f": [10], "g": [5]}), Told({"f": [12], "g": [5]}), Told({"f": [11]})]
    after = [Told({"f": [10], "g": [5]}), Told({"f": [12], "g": [6]}), Told({"f": [11], "g": [5]})]
    row = {one.name: one for one in compare_sides(before, after).kernels}["g"]
    assert row.reason == "takes no time in 1 of 3 captures of the baseline: no verdict"
    assert row.ratio == pytest.approx(5 / 3)


def test_equal_times_without_spread_are_equivalent(compare_sides: Any) -> None:
    same = [Told({"f": [1000] * 10}) for _ in range(6)]
    found = compare_sides(same[:3], same[3:])
    assert found.kernels[0].verdict == "equivalent"
    assert found.device_time.contribution is None


def test_a_difference_without_spread_has_no_verdict(compare_sides: Any) -> None:
    """As of a clock of whole microseconds: two times on either side of one of its steps are no certainty."""
    found = compare_sides([Told({"f": [2000]}) for _ in range(3)], [Told({"f": [3000]}) for _ in range(3)])
    [row] = found.kernels
    assert (row.verdict, row.p_value, row.ratio) == (None, None, 1.5)
    assert row.reason == "neither side has any spread: no verdict"


def test_many_kernels_are_looked_at_together(compare_sides: Any) -> None:
    """Of forty kernels without a difference, one comparison in twenty has one that is called different, and no more."""
    dice, wrong, comparisons = random.Random(6), 0, 40
    for _ in range(comparisons):
        sides = [[Told({f"k{name}": times(dice, 1) for name in range(40)}) for _ in range(5)] for _ in range(2)]
        wrong += any(one.verdict in {"faster", "slower"} for one in compare_sides(*sides, margin=0.0).kernels)
    assert wrong / comparisons <= 0.15


@pytest.mark.parametrize("by", [1, 2, 3, 7, 64])
def test_shares_add_up_to_the_whole(by: int) -> None:
    dice = random.Random(by)
    for _ in range(50):
        totals = {(f"k{place}", True): dice.choice([0, 1, dice.randrange(10**6), 2**62 // 20]) for place in range(20)}
        found = divide_and_round(totals, by)
        assert sum(found.values()) == (2 * sum(totals.values()) + by) // (2 * by)
        assert all(total // by <= found[name] <= total // by + 1 for name, total in totals.items())


def test_steps_of_a_trace_are_iterations(tmp_path: Path) -> None:
    """Steps that torch's profiler marks: kernels belong to the step in which they were launched."""

    def steps(path: Path, seed: int, slower: float) -> Path:
        dice, events = random.Random(seed), []
        for step in range(12):
            begin = step * 1000.0
            events.append(annotation(f"ProfilerStep#{step}", begin, 900))
            for place, (name, duration) in enumerate((("f", 40 * slower), ("g", 100))):
                number = step * 10 + place + 1
                events.append({**call(start=begin + 10 * place, duration=2), "args": {"correlation": number}})
                # Runs after its step has ended.
                took = round(duration * dice.lognormvariate(0, 0.01), 3)
                events.append(kernel(name, begin + 950 + 200 * place, took, correlation=number))
        return write(path, document(events))

    found = compare(steps(tmp_path / "a.json", 1, 1.0), steps(tmp_path / "b.json", 2, 1.3))
    assert (found.basis, found.baseline.iterations) == ("per_iteration", 12)
    assert (found.kernels[0].name, found.kernels[0].verdict) == ("f", None)
    assert found.kernels[0].delta_ns == pytest.approx(12_000, rel=0.1)
    medians = (found.baseline.host_median_ns, found.baseline.gpu_busy_median_ns)
    assert medians == (900_000, pytest.approx(140_000, rel=0.02))


def process(path: Path, level: float, *, pid: int, first: int = 0, rank: int | None = None, gpus: int = 1) -> Path:
    """A trace of ten steps of a process, from a number on; the kernels of a process take about the same."""
    dice, events = random.Random(f"{path.name} {level}"), []
    for step in range(first, first + 10):
        start = 1000.0 * step
        events.append({**annotation(f"ProfilerStep#{step}", start, 900), "pid": pid})
        for gpu in range(gpus):
            number = 10 * step + gpu
            launch = {**call(start=start + 10, process=pid), "args": {"correlation": number}}
            took = round(level * dice.gauss(1, 0.01), 3)
            events += [launch, kernel("gemm", start + 30, took, correlation=number, device=gpu)]
    job = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 4}}
    gpus_of_one_model = [{"id": gpu, "name": "GPU"} for gpu in range(gpus)]
    return write(path, document(events, host_name="node", deviceProperties=gpus_of_one_model, **job))


#: Captures of each side as (process, first step, rank), how many they count as, and the warning.
GROUPS = {
    "processes": ([(pid, 0, None) for pid in (1, 2, 3, 4)], 4),
    "cycles of one process": ([(1, first, None) for first in (0, 10, 20, 30)], 1),
    "cycles of three processes": ([(pid, first, None) for pid in (1, 2, 3) for first in (0, 10)], 3),
    "profilers of one process": ([(1, 0, None)] * 4, 1),
    "ranks of one job": ([(10 + rank, 0, rank) for rank in (0, 1)], 1),
    "ranks of three jobs": ([(10 * job + rank, 0, rank) for rank in (0, 1) for job in (1, 2, 3)], 3),
    "cycles of ranks": ([(10 + rank, first, rank) for rank in (0, 1) for first in (0, 10, 20)], 1),
}


@pytest.mark.parametrize("kind", GROUPS)
def test_captures_of_one_process_or_job_count_as_one(kind: str, tmp_path: Path) -> None:
    captures, count = GROUPS[kind]
    sides = [
        [
            process(tmp_path / f"{side}{place}.json", level, pid=100 * place_of_side + pid, first=first, rank=rank)
            for place, (pid, first, rank) in enumerate(captures)
        ]
        for place_of_side, (side, level) in enumerate((("before", 100.0), ("after", 150.0)), 1)
    ]
    found = compare(*sides)
    assert found.device_time is not None
    assert found.device_time.verdict == ("slower" if count >= 3 else None)
    assert found.device_time.ratio == pytest.approx(1.5, rel=0.02)
    evidence = [one.evidence for one in found.warnings if one.code == "dependent_captures"]
    counts = "; ".join(f"{len(captures)} captures of the {side} count as {count}" for side in ("baseline", "candidate"))
    assert evidence == [counts] * (count < len(captures))


def test_a_folder_of_several_processes_is_one_capture_and_its_files_are_to_be_named(tmp_path: Path) -> None:
    folders = [tmp_path / "before", tmp_path / "after"]
    for place, folder in enumerate(folders):
        folder.mkdir()
        for pid in range(3):
            process(folder / f"{pid}.json", 100.0, pid=10 * place + pid)
    found = compare(*folders)
    [warning] = [one for one in found.warnings if one.code == "dependent_captures"]
    assert warning.evidence == "; ".join(f"{folder}: 3 processes" for folder in folders)
    assert "--baseline DIR/*.json" in (warning.hint or "")
    text = found.render("table")
    assert "No verdict: one capture per side." in text
    assert "one process per side" not in text
    named = compare(*(sorted(folder.iterdir()) for folder in folders))
    assert named.device_time is not None
    assert named.device_time.verdict is not None
    assert not [one for one in named.warnings if one.code == "dependent_captures"]


def test_processes_of_unknown_hosts_are_not_known_to_be_one(tmp_path: Path) -> None:
    """In containers each is process 1."""
    sides = []
    for side, level in (("before", 100.0), ("after", 150.0)):
        paths = [process(tmp_path / f"{side}{place}.json", level, pid=1) for place in range(3)]
        for path in paths:
            write(path, {key: value for key, value in json.loads(path.read_text()).items() if key != "host_name"})
        sides.append(paths)
    found = compare(*sides)
    assert found.device_time is not None
    assert found.device_time.verdict == "slower"
    assert not [one for one in found.warnings if one.code == "dependent_captures"]


def test_other_numbers_of_gpus_are_other_work(tmp_path: Path) -> None:
    sides = [
        [process(tmp_path / f"{gpus}{pid}.json", 100.0, pid=10 * gpus + pid, gpus=gpus) for pid in range(3)]
        for gpus in (1, 2)
    ]
    found = compare(*sides)
    assert [one.evidence for one in found.warnings if one.code == "different_work"] == ["GPUs: 1 and 2"]


def test_other_world_sizes_are_other_work(tmp_path: Path) -> None:
    sides = []
    for size in (2, 8):
        path = process(tmp_path / f"{size}.json", 100.0, pid=size)
        job = json.loads(path.read_text()) | {"distributedInfo": {"rank": 0, "world_size": size}}
        sides.append(write(path, job))
    found = compare(*sides)
    assert [one.evidence for one in found.warnings if one.code == "different_work"] == ["ranks: 2 and 8"]


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (((0, 1), (0, 1)), []),
        (((0,), (0,)), ["numbers of the captured ranks: 0 | 1 and 0"]),
        (((2, 3), (2, 3)), ["numbers of the captured ranks: 0 | 1 and 2 | 3"]),
        (((0, 1), (0,)), ["1 of 2 runs of the candidate without all ranks"]),
    ],
)
def test_a_rank_that_was_not_captured_is_other_work(
    candidate: Sequence[Sequence[int]], expected: list[str], tmp_path: Path
) -> None:
    sides = []
    for side, runs in enumerate((((0, 1), (0, 1)), candidate)):
        sides.append([])
        for number, rank in ((number, rank) for number, ranks in enumerate(runs) for rank in ranks):
            name, pid = tmp_path / f"{side}{number}{rank}.json", 100 * side + 10 * number + rank
            path = process(name, 100.0 + pid, pid=pid)
            job = json.loads(path.read_text()) | {"distributedInfo": {"rank": rank, "world_size": 2}}
            sides[-1].append(write(path, job))
    found = compare(*sides)
    assert [one.evidence for one in found.warnings if one.code == "different_work"] == expected


@pytest.mark.parametrize(("count", "expected"), [(10, []), (30, ["launches of every kernel: 3 times as many"])])
def test_more_steps_without_iterations_are_more_work(count: int, expected: list[str], tmp_path: Path) -> None:
    sides = [
        write(
            tmp_path / f"{side}.json",
            [kernel(name, 10 * step + at, 4) for step in range(launches) for at, name in ((0, "f"), (5, "g"))],
        )
        for side, launches in (("before", 10), ("after", count))
    ]
    found = compare(*sides)
    assert [one.evidence for one in found.warnings if one.code == "different_work"] == expected


def test_more_overlap_is_reported(tmp_path: Path) -> None:
    """Two kernels one after the other, and at once: each takes longer, both end earlier."""
    before = [kernel("f", 20 * step + 10 * half, 10) for step in range(9) for half in (0, 1)]
    after = [kernel("f", 13 * step, 13, stream=7 + half) for step in range(9) for half in (0, 1)]
    found = compare(write(tmp_path / "before.json", before), write(tmp_path / "after.json", after))
    assert found.device_time is not None
    assert found.device_time.ratio == pytest.approx(1.3)
    [warning] = [one for one in found.warnings if one.code == "overlap_differs"]
    assert warning.evidence == "sum of durations / busy time: 1.00 and 2.00"


def test_a_slow_iteration_of_one_side_is_reported(tmp_path: Path) -> None:
    """As one with autotuning: the mean iteration became faster, and all others slower."""
    sides = []
    for side, took in (("before", [60.0, 2.0, 2.0, 2.0]), ("after", [2.2] * 4)):
        events = []
        for step, each in enumerate(took):
            launch = {**call(start=100 * step + 1), "args": {"correlation": step + 1}}
            events += [annotation(f"ProfilerStep#{step}", 100 * step, 90), launch]
            events.append(kernel("k", 100 * step + 5, each, correlation=step + 1))
        sides.append(write(tmp_path / f"{side}.json", events))
    found = compare(*sides)
    assert [one.evidence for one in found.warnings if one.code == "median_differs"] == ["mean × 0.133, median × 1.1"]


@pytest.mark.parametrize(("same", "expected"), [(0, ["grids of all 2 kernels"]), (1, [])])
def test_other_grids_of_all_kernels_are_other_work(same: int, expected: list[str], tmp_path: Path) -> None:
    sides = [
        write(
            tmp_path / f"{size}.json",
            [kernel("f", 0, size, grid=[size, 1, 1]), kernel("g", 100, size, grid=[4 if same else size, 1, 1])],
        )
        for size in (32, 64)
    ]
    assert [one.evidence for one in compare(*sides).warnings if one.code == "different_work"] == expected


@pytest.mark.parametrize("seed", range(60))
def test_what_we_compare_of_captures_is_sound(compare_sides: Any, seed: int) -> None:
    """Iterations differ in number, and kernels in everything; some take no time, some always the same."""
    dice = random.Random(seed)
    levels = {name: dice.choice([0.4, 3, 1e3, 1e9]) for name in "fghijk"[: dice.randint(1, 6)]}
    spreads = {name: dice.choice([0, 0.01, 0.3, 2]) for name in levels}

    def side() -> list[Told]:
        change = {name: dice.choice([1, 1, 1.005, 1.2]) for name in levels}
        counts = [dice.randint(1, 5) for _ in range(dice.randint(1, 6))]
        return [
            Told(
                {
                    name: [round(level * change[name] * dice.lognormvariate(0, spreads[name])) for _ in range(count)]
                    for name, level in levels.items()
                }
            )
            for count in counts
        ]

    found = compare_sides(side(), side(), margin=dice.choice([0.001, 0.01, 0.3]))
    assert Comparison.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(("gpus", "is_known"), [(1, True), (3, True), (11, False)])
def test_spans_of_decades_are_read_again(gpus: int, is_known: bool, tmp_path: Path) -> None:
    """A kernel at time 0 among times of today, on each GPU: the span of eleven has no number of 64 bits."""
    today = 1.7e15
    sides = [
        write(
            tmp_path / f"{duration}.json",
            [{**kernel("k", 0, duration, device=gpu), "ts": start} for gpu in range(gpus) for start in (0, today)],
        )
        for duration in (10, 11)
    ]
    found = compare(*sides)
    assert Comparison.from_dict(found.to_dict()) == found
    assert found.baseline.span_ns == (gpus * (round(today) + 10) * 1000 if is_known else None)
    assert bool(found.baseline.idle_times) is is_known
