"""The most memory that a runner used, beside its times: what is measured, kept and shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import run_files
from conftest import FACTS, run_cli

from fastrnns_rs.documents.run_file import Result, Run
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import Choice, Options
from fastrnns_rs.verbs.bench.bench_plan import plan_bench
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.result_rows import Row
from fastrnns_rs.worker import memory

MEBIBYTE = 1 << 20
#: Two runners that differ by so many bytes, which exist during forward and nowhere else.
BYTES = 256 * MEBIBYTE
RUNNERS = f"""
from fastrnns_rs import ModelDef, runner

def model(problem, count):
    import torch

    weight = torch.ones(3, device=problem.device, requires_grad=True)

    def forward(x):
        torch.ones(count, dtype=torch.uint8, device=problem.device)
        return x * 2

    return ModelDef([weight], [weight], forward, lambda y: (y, y.detach()), lambda y, g: y.backward(g))

@runner("small")
def small(problem):
    return model(problem, 1)

@runner("large")
def large(problem):
    return model(problem, {BYTES})
"""
NEW = ("peak_memory_bytes", "peak_reserved_bytes")


def bench(tmp_path: Path, device: str) -> Any:
    path = tmp_path / "sized.py"
    path.write_text(RUNNERS)
    flags = ["--quick", "--processes", "1", "--warmup", "1", "--nloops", "3", "--device", device, "--json"]
    done = run_cli("bench", "--runner-file", path, "--group", "rnns", "--rnns", "small", "large", *flags)
    assert done.status == 0, done.stderr
    assert done.stderr.count("peak MiB") == 1
    small, large = done.json()["results"]
    for row in (small, large):
        (process,) = row["processes"]
        assert {key: row[key] for key in NEW} == {key: process[key] for key in NEW}
        shown = next(line for line in done.stderr.splitlines() if line.split()[:1] == [row["runner"]])
        assert float(shown.split()[-1].replace(",", "")) == pytest.approx(
            row["peak_memory_bytes"] / MEBIBYTE, abs=0.5, rel=1e-2
        )
    return small, large


@pytest.mark.long("bench")
def test_the_resident_size_has_what_a_forward_took_for_a_moment(tmp_path: Path) -> None:
    small, large = bench(tmp_path, "cpu")
    # Two processes load the same libraries, and differ by what their allocators and page tables make of it.
    assert large["peak_memory_bytes"] - small["peak_memory_bytes"] == pytest.approx(BYTES, abs=32 * MEBIBYTE)
    for row in (small, large):
        baseline = row["processes"][0]["baseline_memory_bytes"]
        assert 50 * MEBIBYTE < baseline <= row["peak_memory_bytes"]
        assert row["peak_reserved_bytes"] is None
    above = large["peak_memory_bytes"] - large["processes"][0]["baseline_memory_bytes"]
    assert above + MEBIBYTE > BYTES


@pytest.mark.gpu(emulated="quick")
def test_cuda_counts_what_was_allocated_and_what_was_reserved_for_it(tmp_path: Path) -> None:
    small, large = bench(tmp_path, "cuda")
    # torch rounds each of a handful of blocks up to 512 bytes, and reserves in pieces of 2 MiB.
    assert large["peak_memory_bytes"] - small["peak_memory_bytes"] == pytest.approx(BYTES, abs=4096)
    assert BYTES <= large["peak_reserved_bytes"] <= BYTES + 64 * MEBIBYTE
    assert [row["processes"][0]["baseline_memory_bytes"] for row in (small, large)] == [0, 0]


def test_a_peak_that_the_kernel_does_not_report_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status = tmp_path / "status"
    # As in gVisor.
    status.write_text("VmSize:\t9 kB\nVmRSS:\t7 kB\nThreads:\t1\n")
    monkeypatch.setattr(memory, "Path", lambda _: status)
    assert memory.in_use("cpu") == 7 * 1024
    assert memory.peak("cpu") == {"peak_memory_bytes": None, "peak_reserved_bytes": None}


def row_of(*peaks: tuple[int | None, int | None], last: str = "answered") -> Result:
    """The row of a runner whose processes used so much; the last may have ended otherwise."""
    plan = plan_bench(Options(choice=Choice(groups=(), names=("py",)), device="cpu"), Effort(), FACTS, Setting())
    row = Row(plan.tasks[0])
    for order, (allocated, reserved) in enumerate(peaks):
        content = {"status": "ok", "forward_ns": [5, 5], "backward_ns": None, "steady_from": 1, "warmup_class": "flat"}
        content |= {"peak_memory_bytes": allocated, "peak_reserved_bytes": reserved, "baseline_memory_bytes": 7}
        ended = last if order == len(peaks) - 1 else "answered"
        row.add(Answer(content, ended, None if ended == "answered" else ended, ""), order)
    return row.result()


def test_a_row_has_the_most_of_the_processes_that_count() -> None:
    found = row_of((10, None), (30, 40), (None, 50), (20, None))
    assert (found.peak_memory_bytes, found.peak_reserved_bytes) == (30, 50)
    assert [one.baseline_memory_bytes for one in found.processes] == [7] * 4
    found = row_of((10, None), (30, None), last="interrupted")
    assert (found.status, found.peak_memory_bytes, found.peak_reserved_bytes) == ("ok", 10, None)
    found = row_of((None, None))
    assert (found.peak_memory_bytes, found.peak_reserved_bytes) == (None, None)
    # Numbers of a runner that failed are no result.
    found = row_of((10, 20), (30, 40), last="timed_out")
    assert (found.status, found.peak_memory_bytes, found.peak_reserved_bytes) == ("timed_out", None, None)


def measured(*rows: Result) -> Run:
    phase = row_of((1, None)).forward
    return run_files.run([replace(row, forward=phase) for row in rows])


def test_numbers_that_no_machine_has_are_shown_or_refused() -> None:
    """What no machine has in memory, but a file may hold."""
    huge = measured(run_files.result("py", peak_memory_bytes=(1 << 64) - 1))
    assert huge.render("table").splitlines()[-1].split()[-1] == "17,592,186,044,416"
    with pytest.raises(ValueError, match="64 bits"):
        measured(run_files.result("py", peak_memory_bytes=1 << 64)).render("table")


def test_without_proc_it_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "Path", lambda _: tmp_path / "status")
    assert memory.in_use("cpu") is None
    assert memory.peak("cpu") == {"peak_memory_bytes": None, "peak_reserved_bytes": None}
