"""Captures of several processes: on one GPU, with the same correlations, and with the same numbers of iterations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import run_cli
from kineto_traces import Event, call, document, kernel, write
from nsys_exports import STARTED, Export, thread

from fastrnns_rs import compare, read

PROCESSES = (100, 200)


def launches(processes: tuple[int, ...], *, correlations: int = 0) -> list[Event]:
    """Three kernels of each process, each 8 µs behind its launch, on a GPU of its own.

    Each process adds `correlations` to those of the one before it.
    """
    events = []
    for place, process in enumerate(processes):
        for number in range(3):
            start, correlation = 1000.0 * place + 20 * number, 1 + number + correlations * place
            events.append({**call(start=start, process=process), "args": {"correlation": correlation}})
            events.append(kernel("k", start + 8, 4, device=place, correlation=correlation))
    return events


def test_correlations_of_two_processes_are_not_mixed(tmp_path: Path) -> None:
    [alone] = [read(write(tmp_path / "alone.json", launches((100,)))).launches]
    assert (alone.matched_count, alone.latency_median_ns) == (3, 8000.0)
    found = read(write(tmp_path / "both.json", launches(PROCESSES)))
    assert (found.launches.matched_count, found.launches.unmatched_kernel_count) == (0, 6)
    assert {row.cause for row in found.idle_causes} == {"unmatched"}


def test_correlations_that_no_process_shares_are_found(tmp_path: Path) -> None:
    found = read(write(tmp_path / "both.json", launches(PROCESSES, correlations=10))).launches
    assert (found.matched_count, found.latency_median_ns) == (6, 8000.0)


def export(path: Path, starts: dict[int, int], *, device: int = 0, stream: int = 7) -> Path:
    """Ten kernels of each process, each 50 µs in 100 µs; the first begins at the time of the process."""
    made = Export(path)
    for process, first in starts.items():
        main = thread(process, process)
        for number in range(10):
            start = first + 100_000 * number
            made.call(start, start + 10, main, number + 1)
            made.kernel(start + 20, start + 50_000, main, number + 1, device=device * (process == 200), stream=stream)
    return made.written()


@pytest.mark.parametrize(
    ("device", "second", "expected"),
    [(0, 50_000, ["GPU 0: 2 processes"]), (1, 50_000, []), (0, 5_000_000, [])],
)
def test_a_gpu_of_two_processes_is_told(device: int, second: int, expected: list[str], tmp_path: Path) -> None:
    path = export(tmp_path / "x.sqlite", {100: 0, 200: second}, device=device)
    found = read(path)
    assert [one.evidence for one in found.warnings if one.code == "gpu_shared"] == expected
    # Each process alone has no other beside it.
    assert not read(path, processes=[200]).warnings


def test_the_screen_tells_of_a_shared_gpu(tmp_path: Path) -> None:
    done = run_cli("report", export(tmp_path / "x.sqlite", {100: 0, 200: 50_000}))
    assert "GPU idle for 47." in done.stdout
    assert "warning[gpu_shared]" in done.stdout


def test_times_per_gpu_are_those_of_all_its_processes(tmp_path: Path) -> None:
    """Ten kernels of each process, of 49.98 µs."""
    one, two = (
        run_cli("report", export(tmp_path / f"{device}.sqlite", {100: 0, 200: 50_000}, device=device)).stdout
        for device in (0, 1)
    )
    assert "2 GPUs" not in one
    assert "per GPU" not in one
    assert re.search(r"^\S.* 999\.6 ", one, re.MULTILINE)
    assert "kernel, 2 GPUs" in two
    assert re.search(r"^\S.* 499\.8 ", two, re.MULTILINE)


def test_a_gpu_of_two_processes_in_two_files_is_one(tmp_path: Path) -> None:
    """Traces of one host share its clock."""
    files = []
    for place, process in enumerate(PROCESSES):
        events = []
        for number in range(3):
            start = 1000.0 * place + 20 * number
            events.append({**call(start=start, process=process), "args": {"correlation": number + 1}})
            events.append(kernel("k", start + 8, 10, correlation=number + 1))
        files.append(
            write(tmp_path / f"{process}.json", document(events, host_name="node", baseTimeNanoseconds=10**18))
        )
    found = read(*files)
    screen = found.render(width=80)
    assert "GPUs" not in screen
    assert "per GPU" not in screen
    assert re.search(r"^k .* 60\.00 ", screen, re.MULTILINE)
    assert "1 GPU" in repr(found)
    assert "per GPU" not in run_cli("report", *files, "--by", "kernel").stdout
    assert "means of 2 rows, one for each process of a GPU." in found.render("html")


def test_gpus_of_one_number_on_two_clocks_are_two(tmp_path: Path) -> None:
    """Exports of nsys have a clock of their own, and one of them has two processes."""
    files = [export(tmp_path / "a.sqlite", {100: 0, 200: 50_000}), export(tmp_path / "b.sqlite", {300: 7})]
    assert "kernel, 2 GPUs" in read(*files).render(width=80)
    # The streams of the second may have other numbers.
    for stream in (7, 13):
        files[1] = export(tmp_path / "c.sqlite", {300: 7, 400: 50_007}, stream=stream)
        screen = read(*files).render(width=80)
        assert "kernel, 2 GPUs" in screen
        assert re.search(r"^\S.* 999\.6 ", screen, re.MULTILINE)


@pytest.mark.parametrize(("hosts", "count"), [(("node", "node"), 1), (("node", "other"), 2)])
def test_gpus_of_one_number_on_two_hosts_are_two(hosts: tuple[str, str], count: int, tmp_path: Path) -> None:
    """Each host has traces of two processes, and they have other streams on each."""
    files = []
    for place, host in enumerate(hosts):
        for process in PROCESSES:
            number = 10 * place + process
            events = [{**call(process=number), "args": {"correlation": 1}}]
            events.append(kernel("k", 1008, 10, stream=7 + place, correlation=1))
            made = document(events, host_name=host, baseTimeNanoseconds=10**18)
            files.append(write(tmp_path / f"{number}.json", made))
    assert ("2 GPUs" in read(*files).render(width=80)) is (count == 2)


def iterations(path: Path, epochs: int, *, process: int = 100, seed: int = 0) -> Path:
    """Epochs of five iterations, which count from 0 in each; every phase has a kernel of 100 ns."""
    made, main = Export(path), thread(process, process)
    start = 1000 + seed
    for epoch in range(epochs):
        for number in range(5):
            for place, phase in enumerate(("forward", "backward")):
                correlation = 1 + 10 * epoch + 2 * number + place
                made.range(f"net/{phase}/{number}", start, start + 500, main, kind=STARTED)
                made.call(start + 1, start + 5, main, correlation)
                made.kernel(start + 10, start + 110, main, correlation)
                start += 1000
    path.parent.mkdir(exist_ok=True)
    return made.written()


def compared(*paths: Path) -> tuple[Any, ...]:
    found = compare(*paths)
    assert found.device_time is not None
    assert found.basis == "per_iteration"
    return (
        found.baseline.iterations,
        found.candidate.iterations,
        found.device_time.ratio,
        found.candidate.gpu_median_ns,
    )


def test_a_number_that_comes_again_is_another_iteration(tmp_path: Path) -> None:
    sides = [iterations(tmp_path / f"{epochs}.sqlite", epochs, seed=epochs) for epochs in (1, 3)]
    assert compared(*sides) == (5, 15, 1.0, 200.0)


def test_threads_with_ranges_of_one_iteration_add_up(tmp_path: Path) -> None:
    """Their work belongs to one iteration, which has twice as much of it."""
    paths = []
    for threads in (1, 2):
        made = Export(tmp_path / f"{threads}.sqlite")
        for number in range(5):
            for place in range(threads):
                start, own = 1000 * (number + 1) + 200 * place + threads, thread(1, 1 + place)
                made.range(f"net/forward/{number}", start, start + 500, own, kind=STARTED)
                correlation = 1 + 10 * number + place
                made.call(start + 1, start + 5, own, correlation)
                made.kernel(start + 10, start + 110, own, correlation)
        paths.append(made.written())
    assert compared(*paths)[:3] == (5, 5, 2.0)


def test_iterations_of_several_captures_of_a_folder_are_not_added_up(tmp_path: Path) -> None:
    for side, count in (("before", 2), ("after", 3)):
        for place in range(count):
            number = 10 * count + place
            iterations(tmp_path / side / f"{place}.sqlite", 1, process=100 + number, seed=number)
    assert compared(tmp_path / "before", tmp_path / "after") == (10, 15, 1.0, 200.0)
