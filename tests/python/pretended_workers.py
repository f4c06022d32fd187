"""Executors that start no process: they answer in place of workers, in no time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from facts import FACTS

from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine.facts import PACKAGE, Facts
from fastrnns_rs.problem.problem import Problem, resolve
from fastrnns_rs.processes.launcher import Executor, Start
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.runners import registry

_WITHOUT_BACKWARD = {"cudnn_layernorm"}


def each(worker: Callable[[dict[str, Any]], Answer], facts: Facts = FACTS) -> Executor:
    """An executor that calls a function with each job; questions about torch are answered with `facts`."""

    def run(starts: Sequence[Start]) -> list[Answer]:
        return [_probed(one.job, facts) if one.job["kind"] == "probe" else noted(one.job) for one in starts]

    def noted(job: dict[str, Any]) -> Answer:
        answer = worker(job)
        # The runner may be of a file that no test loads.
        with suppress(UsageError):
            answer.content.setdefault("note", registry.find(job["runner"]).note_on(Problem(**job["problem"])))
        return answer

    return run


def rising(job: dict[str, Any]) -> Answer:
    """The answer of a bench worker: the first sample is the warm-up, and no two of the others are equal."""
    forward = [9000, *range(1000, 1000 + (job["loop"]["nloops"] or 10))]
    return measured(forward, None if job["runner"] in _WITHOUT_BACKWARD else [2 * one for one in forward])


def measured(forward: list[int], backward: list[int] | None, *, steady_from: int = 1) -> Answer:
    """The answer of a bench worker with these samples."""
    timed = sum(forward[steady_from:]) + sum((backward or [])[steady_from:])
    content = {
        "status": "ok",
        "forward_ns": forward,
        "backward_ns": backward,
        "steady_from": steady_from,
        "warmup_class": "flat",
        "timing_mode": "cpu_wall",
        "timer_resolution_ns": 1,
        "timed_loop_ns": timed,
        "peak_memory_bytes": 1 << 20,
        "peak_reserved_bytes": None,
    }
    return Answer(content, "answered", None, "")


def facts_for(device: str, facts: Facts) -> Facts:
    """The facts that a probe finds for a device, which may be missing."""
    return facts if resolve(device, facts.cuda_device_count) else replace(facts, device=None)


def _probed(job: dict[str, Any], facts: Facts) -> Answer:
    known = {name: value for name, value in asdict(facts_for(job["device"], facts)).items() if name != "start_s"}
    return Answer({"status": "ok", "package": str(PACKAGE), "facts": known}, "answered", None, "")
