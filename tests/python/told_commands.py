"""`fastrnns-rs` in a process of its own that is told what it would ask torch: for tests of anything else.

Each process that imports torch takes seconds. Told, a command starts none to learn what is here, and with pretended
workers none at all: those are for tests of what comes before and after a measurement.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from conftest import FACTS, Done

from fastrnns_rs.environment import Facts

_TOLD = """
import sys
from fastrnns_rs import cli, environment
environment.probe = lambda *_: environment.Facts(**FACTS)
"""
#: The first sample is the warm-up; of the others no two are alike.
_PRETENDED = """
from fastrnns_rs.benchmarking import execution
from fastrnns_rs.listening import Answer
WITHOUT_BACKWARD = {"cudnn_layernorm"}
def answer(job):
    forward = [9000, *range(1000, 1000 + (job["loop"]["nloops"] or 10))]
    backward = None if job["runner"] in WITHOUT_BACKWARD else [2 * one for one in forward]
    timed = sum(forward[1:]) + sum((backward or [])[1:])
    return Answer({"status": "ok", "forward_ns": forward, "backward_ns": backward, "steady_from": 1,
        "warmup_class": "flat", "timing_mode": "cpu_wall", "timer_resolution_ns": 1, "timed_loop_ns": timed,
        "peak_memory_bytes": 1 << 20, "peak_reserved_bytes": None}, "answered", None, "")
execution.launch_together = lambda starts: [answer(start.job) for start in starts]
"""
_RUN = "cli.main(sys.argv[1:])\n"


def told(*arguments: object, facts: Facts = FACTS, workers: bool = True) -> list[str]:
    """The command line; without workers these are pretended too."""
    code = _TOLD.replace("FACTS", repr(asdict(facts))) + ("" if workers else _PRETENDED) + _RUN
    return [sys.executable, "-c", code, *map(str, arguments)]


def run_told(*arguments: str | Path, cwd: Path | None = None, **variables: str | Path) -> Done:
    """What `conftest.run_cli` does, of a command that is told what is here. Its workers are real."""
    return _run(told(*arguments), cwd, variables)


def run_pretended(*arguments: str | Path, cwd: Path | None = None, **variables: str | Path) -> Done:
    """The same with workers that only pretend."""
    return _run(told(*arguments, workers=False), cwd, variables)


def _run(command: Sequence[str], cwd: Path | None, variables: dict[str, str | Path]) -> Done:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **variables},
        timeout=600,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)
