"""`fastrnns-rs` with worker processes that do not import torch.

All is real but the probe of torch and the jobs of the workers: a worker starts in a twentieth of the time, sleeps where
a real one measures, and builds the runners of users' files, which may then do what they like. Run as a program, this
file is the command in a process of its own.
"""

from __future__ import annotations

import os
import runpy
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Done

    from fastrnns_rs.worker.channel import Channel, Progress

#: Seconds that a job takes.
SECONDS = "PRETENDED_SECONDS"


def command(*words: object) -> list[str]:
    """The command line of `fastrnns-rs` with these words."""
    return [sys.executable, __file__, *map(str, words)]


def run(*words: object, **variables: str | Path) -> Done:
    """Runs `fastrnns-rs` in this process, its workers in processes of their own."""
    import pytest
    from commands import run_with_facts

    from fastrnns_rs.processes import launcher

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launcher, "_command", _worker_command)
        return run_with_facts(*words, **variables)


def _worker_command(_setting: object) -> list[str]:
    return [sys.executable, __file__, "--worker"]


def _parent() -> None:
    from facts import FACTS
    from pretended_workers import facts_for

    from fastrnns_rs import cli
    from fastrnns_rs.machine import environment
    from fastrnns_rs.processes import launcher

    environment.probe = lambda device, *_, **__: facts_for(device, FACTS)  # type: ignore[assignment]
    launcher._command = _worker_command
    cli.main(sys.argv[1:])


def _worker() -> None:
    from fastrnns_rs.worker import __main__ as worker
    from fastrnns_rs.worker import jobs

    answers = {"bench": _bench, "verify": _verify, "inductor": _inductor}

    def find(kind: str) -> Callable[[dict[str, Any], Channel, Progress], dict[str, Any]]:
        return answers[kind]

    jobs.find = find
    worker.main()


def _bench(job: dict[str, Any], channel: Channel, _progress: Progress) -> dict[str, Any]:
    seconds = float(os.environ.get(SECONDS, "0"))
    channel.phase("build")
    time.sleep(seconds / 2)
    _build(job)
    channel.phase("measure")
    time.sleep(seconds / 2)
    # Different in each process, so that a sample which is lost or comes twice is seen.
    forward = [9000, *(1000 + (time.monotonic_ns() + one) % 1000 for one in range(job["loop"]["nloops"] or 10))]
    return {
        "status": "ok",
        "forward_ns": forward,
        "backward_ns": forward,
        "steady_from": 1,
        "warmup_class": "flat",
        "timing_mode": "cpu_wall",
        "timer_resolution_ns": 1,
        "timed_loop_ns": 2 * sum(forward[1:]),
        "peak_memory_bytes": 1 << 20,
        "peak_reserved_bytes": None,
    }


def _verify(job: dict[str, Any], channel: Channel, _progress: Progress) -> dict[str, Any]:
    seconds = float(os.environ.get(SECONDS, "0"))
    time.sleep(seconds / 2)
    for task in job["tasks"]:
        channel.phase(f"verify {task['runner']}")
        channel.phase("step forward")
        time.sleep(seconds / 2)
        _build(task)
        errors = dict.fromkeys(("max_absolute", "max_relative", "tolerance_absolute", "tolerance_relative"), 0.0)
        check = {"name": "output", "ok": True, "worst_index": [0], "shape": [1], "expected_shape": [1], **errors}
        row = {"runner": task["runner"], "reference": "x", "dtype": "float32", "status": "ok", "reason": None}
        channel.part({"index": task["index"], "row": {**row, "checks": [check]}})
    return {"status": "ok"}


def _inductor(job: dict[str, Any], channel: Channel, _progress: Progress) -> dict[str, Any]:
    runpy.run_path(job["path"])
    channel.part({"first_call_ns": 5_000_000})
    channel.part({"timing_mode": "cpu_wall_per_call", "samples_ns": [1000, 1010, 990], "peak_memory_bytes": 7_000_000})
    channel.part({"upstream_ms": 0.001} if job["upstream"] else {})
    return {"status": "ok"}


def _build(job: dict[str, Any]) -> None:
    """Calls a runner of a user's file as a real worker does."""
    from fastrnns_rs.problem.problem import Problem
    from fastrnns_rs.runners import registry
    from fastrnns_rs.runners.runner import Source

    if not job["source"]["module"].startswith("fastrnns_rs."):
        registry.obtain(job["runner"], Source(**job["source"])).creator(Problem(**job["problem"]))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    if sys.argv[1:] == ["--worker"]:
        _worker()
    else:
        _parent()
