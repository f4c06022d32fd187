"""Job `inductor`: measures one generated module, and reports each step at once."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.worker.inductor import wall_time
from fastrnns_rs.worker.inductor.loader import load
from fastrnns_rs.worker.torch_settings import prepare_cublas, problem_settings

if TYPE_CHECKING:
    from fastrnns_rs.worker.channel import Channel, Progress
    from fastrnns_rs.worker.inductor.loader import Loaded


def answer(job: dict[str, Any], channel: Channel, _progress: Progress) -> dict[str, Any]:
    """Measures the job's module. Each sent part contains keys of its row.

    Args:
        job: `path`, `device`, `times`, `repeat`, `threads`; `problem`, whose settings torch has meanwhile, or None for
            torch's defaults; and `upstream`, `kernels`, `all_configs`, `architectures`, `trace_path` and
            `memory_snapshot_path` for optional parts.
        channel: Receives the parts.
    """
    if job["threads"] is not None:
        torch.set_num_threads(job["threads"])
    problem = None if job["problem"] is None else Problem(**job["problem"])
    prepare_cublas(deterministic=problem is not None and problem.deterministic)
    # The module's time limit begins here: importing torch may have taken long.
    channel.part({})
    channel.phase("load")
    if job["kernels"] or job["all_configs"]:
        from fastrnns_rs.worker.inductor.triton_kernels import compile_here

        compile_here()
    with nullcontext() if problem is None else problem_settings(problem):
        loaded = load(job["path"], job["device"])
        with loaded.current:
            _steps(loaded, job, channel)
    return {"status": "ok"}


def _steps(loaded: Loaded, job: dict[str, Any], channel: Channel) -> None:
    channel.part(wall_time.warm_up(loaded, job["times"]))
    channel.phase("time")
    channel.part(wall_time.measure(loaded, job["times"], job["repeat"]))
    if job["upstream"]:
        channel.part(wall_time.by_upstream(loaded, job["times"], job["repeat"]))
    if job["trace_path"] is not None:
        from fastrnns_rs.worker.inductor import profiled_calls

        channel.phase("profile")
        channel.part(profiled_calls.profile(loaded, job["times"], job["repeat"], job["trace_path"]))
    if job["memory_snapshot_path"] is not None:
        from fastrnns_rs.worker.inductor import memory_snapshot

        channel.phase("memory snapshot")
        channel.part(memory_snapshot.write(loaded, job["memory_snapshot_path"]))
    # This part is last, because a module without such kernels fails here.
    if job["kernels"] or job["all_configs"]:
        from fastrnns_rs.worker.inductor import kernel_times

        channel.phase("kernels")
        for one in kernel_times.measure(
            loaded.device, all_configs=job["all_configs"], architectures=job["architectures"]
        ):
            channel.part({"kernel": one})
