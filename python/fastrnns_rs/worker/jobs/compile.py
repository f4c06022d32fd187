"""Job `compile`: compiles a runner and lists the modules that Inductor generated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.runner import Source
from fastrnns_rs.worker.compile_cost import Compiling
from fastrnns_rs.worker.timed_loop import Measurement, measure
from fastrnns_rs.worker.torch_settings import prepare_cublas

if TYPE_CHECKING:
    from fastrnns_rs.worker.channel import Channel, Progress


def answer(job: dict[str, Any], channel: Channel, _progress: Progress) -> dict[str, Any]:
    """Runs the job's runner once, forward and backward, and returns its modules.

    The files of the modules are in the order of their use.

    Args:
        job: `runner`, `source`, `problem`, `jit` and `threads`.
        channel: Receives the progress.
    """
    if job["threads"] is not None:
        torch.set_num_threads(job["threads"])
    problem = Problem(**job["problem"])
    prepare_cublas(deterministic=problem.deterministic)
    runner = registry.obtain(job["runner"], Source(**job["source"]))
    from torch._inductor.codecache import PyCodeCache

    # The time limit of compiling begins here: importing torch may have taken long.
    channel.part({})
    compiling = Compiling(problem.device, channel.phase, shared=True)
    measure(
        runner.creator,
        problem,
        JitSettings(**job["jit"]),
        Measurement(1),
        lambda _count, _phases: 0,
        channel.phase,
        compiling.once,
    )
    # Inductor also loads files that are not whole modules.
    files = (one.__file__ for one in PyCodeCache.modules if hasattr(one, "benchmark_compiled_module"))
    return {"status": "ok", "modules": [*dict.fromkeys(file for file in files if file is not None)]}
