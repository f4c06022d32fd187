"""Run files made of samples whose truth is known, for the warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import run_files

from fastrnns_rs.documents.run_file import Environment, Gpu, PhaseSummary, Process, Result, Run, Stop, Warmup
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.stats import summarize


def environment(**changes: Any) -> Environment:
    """A quiet machine of four CPUs, of which this process may use two."""
    return replace(run_files.ENVIRONMENT, **{"cpu_count": 4, "load_average_1m": 0.1, **changes})


def gpu(uuid: str | None, index: int = 0) -> Gpu:
    return replace(run_files.CARD, uuid=uuid, index=index)


def process(
    order: int, forward: Sequence[float], backward: Sequence[float] | None = None, steady_from: int = 0, **other: Any
) -> Process:
    """A process with exactly these samples."""
    known = {
        "index": 0,
        "steady_from": steady_from,
        "warmup_class": "flat",
        "first_call": None,
        "forward_ns": [int(one) for one in forward],
        "backward_ns": None if backward is None else [int(one) for one in backward],
    }
    return replace(run_files.process(order, [1], None), **{**known, **other})


def result(name: str, processes: list[Process], **other: Any) -> Result:
    timed = [one for one in processes if one.status == "ok"]
    known = {
        "problem": Problem(mini_batch=1),
        "warmup_class": "flat",
        "forward": summary([one.forward_ns for one in timed]),
        "backward": summary([one.backward_ns or [] for one in timed]),
    }
    return replace(run_files.result(name, processes=0), processes=processes, **{**known, **other})


def summary(samples: list[list[int]]) -> PhaseSummary | None:
    """A summary of which the warnings read the number of processes and the estimate."""
    if not any(samples):
        return None
    level = summarize([one for process in samples for one in process]).median
    rest = ["ci_low_ns", "ci_high_ns", "ci_method", "n_effective", "stddev_ns"]
    numbers = ["mean_ns", "min_ns", "max_ns", "median_ns", "q1_ns", "q3_ns", "p95_ns", "p99_ns", "mad_ns"]
    return PhaseSummary(
        n_processes=len(samples),
        n_samples=sum(map(len, samples)),
        estimate_ns=level,
        confidence_level=0.95,
        **dict.fromkeys(rest),
        **dict.fromkeys(numbers, level),
    )


def run(*results: Result, fixed: int | None = None, rule: str = "time") -> Run:
    made = run_files.run(results)
    warmup = Warmup(mode="detect" if fixed is None else "fixed", iterations=fixed)
    return replace(made, plan=replace(made.plan, processes=5, warmup=warmup, stop=Stop(rule=rule, parameters={})))
