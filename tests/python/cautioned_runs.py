"""Run files made of samples whose truth is known, for the warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fastrnns_rs.documents.run_file import (
    Compile,
    Environment,
    Git,
    Gpu,
    Jit,
    PhaseSummary,
    PlanRecord,
    Process,
    Result,
    Run,
    Stop,
    Tool,
    Warmup,
)
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.stats import summarize

ENVIRONMENT = Environment(
    python_version="3.11",
    torch_version="2.15.0",
    torchvision_version=None,
    cuda_version=None,
    cudnn_version=None,
    driver_version=None,
    os="Linux",
    cpu_model=None,
    cpu_count=4,
    cpu_affinity=[0, 1],
    cpu_governor=None,
    num_threads=2,
    load_average_1m=0.1,
    gpus=[],
    variables={},
    git=Git(commit=None, dirty=None),
)


def gpu(uuid: str | None, index: int = 0) -> Gpu:
    return Gpu(
        index=index,
        name="NVIDIA H200",
        uuid=uuid,
        compute_capability="9.0",
        memory_total_bytes=None,
        sm_clock_mhz=None,
        power_limit_w=None,
        temperature_c=None,
    )


def process(
    order: int, forward: Sequence[float], backward: Sequence[float] | None = None, steady_from: int = 0, **other: Any
) -> Process:
    known = {"index": 0, "rank": None, "status": "ok", "reason": None, "warmup_class": "flat", "first_call": None}
    known |= {"peak_memory_bytes": None, "peak_reserved_bytes": None, "timed_loop_ns": None}
    return Process(
        order=order,
        steady_from=steady_from,
        forward_ns=[int(one) for one in forward],
        backward_ns=None if backward is None else [int(one) for one in backward],
        compile=Compile(cold_ns=None, warm_ns=None, graph_breaks=None, recompilations=None),
        **{**known, **other},
    )


def result(name: str, processes: list[Process], **other: Any) -> Result:
    timed = [one for one in processes if one.status == "ok"]
    known = {"side": None, "group": "lstm", "mode": "train", "timing_mode": "cpu_wall", "timer_resolution_ns": 1}
    known |= {"status": "ok", "reason": None, "note": None, "warmup_class": "flat"}
    return Result(
        runner=name,
        problem=Problem(mini_batch=1, dtype="float32", device="cpu", seed=0, allow_tf32=False),
        forward=summary([one.forward_ns for one in timed]),
        backward=summary([one.backward_ns or [] for one in timed]),
        processes=processes,
        **{**known, **other},
    )


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
    jit = Jit(
        fuser="te",
        executor=None,
        cuda_pointwise_loop_level=None,
        cuda_pointwise_block_count=None,
        cuda_pointwise_block_size=None,
    )
    return Run(
        run_id="0",
        created_utc="2026-01-01T00:00:00Z",
        status="complete",
        command=[],
        warnings=[],
        tool=Tool(name="fastrnns-rs", version="0", build_profile="release"),
        environment=ENVIRONMENT,
        sides=[],
        plan=PlanRecord(
            preset="cpu",
            processes=5,
            order_seed=0,
            warmup=Warmup(mode="detect" if fixed is None else "fixed", iterations=fixed),
            stop=Stop(rule=rule, parameters={}),
            stopped_by=None,
            precision=None,
            jit=jit,
            threads=None,
            affinity=None,
            timeout_s=60.0,
            runners=[],
        ),
        results=list(results),
    )


def environment(**changes: Any) -> Environment:
    return replace(ENVIRONMENT, **changes)
