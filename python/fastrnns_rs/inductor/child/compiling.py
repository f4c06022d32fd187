"""The job of a child process that compiles a runner, and tells which modules Inductor generated for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.compiling import Compiling
from fastrnns_rs.context import JitSettings, prepare_cublas
from fastrnns_rs.measuring import Measurement, measure
from fastrnns_rs.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastrnns_rs.runners import Runner
    from fastrnns_rs.worker import Channel


def compile_runner(job: dict[str, Any], channel: Channel, find: Callable[[dict[str, Any]], Runner]) -> dict[str, Any]:
    """Runs the job's runner once, forward and backward, and lists the files of its modules in the order of their use.

    Args:
        job: `runner`, `source`, `problem`, `jit` and `threads`.
        channel: Where it says how far it is.
        find: The job's runner.
    """
    if job["threads"] is not None:
        torch.set_num_threads(job["threads"])
    problem = Problem(**job["problem"])
    prepare_cublas(deterministic=problem.deterministic)
    runner = find(job)
    # From now on compiling counts: importing torch may have taken long.
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
    return {"status": "ok", "modules": [*_modules()]}


def _modules() -> Iterator[str]:
    """The files of whole modules among all that Inductor loaded, each once."""
    from torch._inductor.codecache import PyCodeCache

    files = (one.__file__ for one in PyCodeCache.modules if hasattr(one, "benchmark_compiled_module"))
    yield from dict.fromkeys(file for file in files if file is not None)
