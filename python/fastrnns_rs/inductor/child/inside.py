"""The job of the child process: one module, measured step by step; what is done is told at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.inductor.child import wall
from fastrnns_rs.inductor.child.loading import load

if TYPE_CHECKING:
    from fastrnns_rs.inductor.child.loading import Loaded
    from fastrnns_rs.worker import Channel


def measure(job: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """Measures the job's module. Each part that is sent holds keys of its row in the document.

    Args:
        job: `path`, `device`, `times`, `repeat`, `threads`; `upstream`, `kernels`, `all_configs`, `trace_path` and
            `memory_snapshot_path` for what is asked for besides.
        channel: Where the parts go.
    """
    if job["threads"] is not None:
        torch.set_num_threads(job["threads"])
    # From now on the module's time counts: importing torch may have taken long.
    channel.part({})
    channel.phase("load")
    if job["kernels"] or job["all_configs"]:
        from fastrnns_rs.inductor.child.triton_kernels import compile_here

        compile_here()
    loaded = load(job["path"], job["device"])
    with loaded.current:
        _steps(loaded, job, channel)
    return {"status": "ok"}


def _steps(loaded: Loaded, job: dict[str, Any], channel: Channel) -> None:
    channel.part(wall.warm_up(loaded, job["times"]))
    channel.phase("time")
    channel.part(wall.measure(loaded, job["times"], job["repeat"]))
    if job["upstream"]:
        channel.part(wall.by_upstream(loaded, job["times"], job["repeat"]))
    if job["trace_path"] is not None:
        from fastrnns_rs.inductor.child import profiling

        channel.phase("profile")
        channel.part(profiling.profile(loaded, job["times"], job["repeat"], job["trace_path"]))
    if job["memory_snapshot_path"] is not None:
        from fastrnns_rs.inductor.child import snapshot

        channel.phase("memory snapshot")
        channel.part(snapshot.write(loaded, job["memory_snapshot_path"]))
    # Last: a module without such kernels fails here.
    if job["kernels"] or job["all_configs"]:
        from fastrnns_rs.inductor.child import kernels

        channel.phase("kernels")
        for one in kernels.measure(loaded.device, all_configs=job["all_configs"]):
            channel.part({"kernel": one})
