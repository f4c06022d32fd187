"""Job `bench`: builds and times one runner."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.loop import Loop
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.runner import Source
from fastrnns_rs.worker import memory
from fastrnns_rs.worker.load_meter import LoadMeter
from fastrnns_rs.worker.pacing import Pace, timed_part
from fastrnns_rs.worker.recorded_settings import cpus_recorded
from fastrnns_rs.worker.timed_loop import Measurement, measure
from fastrnns_rs.worker.torch_settings import prepare_cublas, restore_threads
from fastrnns_rs.worker.turns import Slices, Turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrnns_rs.worker.channel import Channel, Progress
    from fastrnns_rs.worker.timed_loop import More


def answer(job: dict[str, Any], channel: Channel, progress: Progress) -> dict[str, Any]:
    """Builds the job's runner and times it."""
    problem = Problem(**job["problem"])
    prepare_cublas(deterministic=problem.deterministic)
    threads = torch.get_num_threads() if job["threads"] is None else job["threads"]
    with cpus_recorded():
        runner = registry.obtain(job["runner"], Source(**job["source"]))
        progress.note = runner.note_on(problem)
    restore_threads(threads)
    loop = Loop(**job["loop"])
    measurement = Measurement(loop.capacity, partial(timed_part, loop))
    progress.measurement = measurement
    more: More = Pace(loop).next
    slices: Callable[[], list[int]] | None = None
    if job.get("slices") is not None:
        turns = Turns(Slices(**job["slices"]), loop.capacity, progress.words, channel.phase)
        measurement.left_out = turns.refilling
        more, slices = turns.next, turns.slice_starts
    if job.get("ranks") is not None:
        from fastrnns_rs.worker.ranks import Ranks

        more = Ranks(job["ranks"], job["patience_s"], channel.phase).together(more)
    settings: dict[str, Any] = {"sync": loop.sync}
    if runner.compiles:
        from fastrnns_rs.worker.compile_cost import Compiling

        progress.compiling = Compiling(problem.device, channel.phase, shared=job["shared_compile_cache"])
        settings["before_loop"] = progress.compiling.compile_model
    baseline = memory.in_use(problem.device)
    meter = LoadMeter()
    measure(runner.creator, problem, JitSettings(**job["jit"]), measurement, more, channel.phase, **settings)
    # The load is read before the samples are analysed, which takes time and memory too.
    load = meter.result()
    used = {**memory.peak(problem.device), "baseline_memory_bytes": baseline, "load": load}
    live = {} if slices is None else {"slices": slices()}
    version = {"torch_version": str(torch.__version__), "torchvision_version": _torchvision_version()}
    samples = {**measurement.samples(), **progress.compiled()}
    return {"status": "ok", "note": progress.note, **version, **samples, **used, **live}


def _torchvision_version() -> str | None:
    """Returns the version of torchvision; None without an import of it."""
    return getattr(sys.modules.get("torchvision"), "__version__", None)
