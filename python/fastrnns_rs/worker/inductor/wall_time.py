"""Wall time of a module's calls, measured here and by the module's own benchmark."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.errors import FastrnnsError, first_line
from fastrnns_rs.worker import memory
from fastrnns_rs.worker.inductor.loader import SEED
from fastrnns_rs.worker.stopwatch import FORWARD, CpuWallClock
from fastrnns_rs.worker.timed_loop import garbage_collection_off

if TYPE_CHECKING:
    from fastrnns_rs.worker.inductor.loader import Loaded

#: No call takes a century.
_LONGEST_S = 3e9

#: Wall time with a synchronisation after each call, as in upstream's benchmark.
MODE = "cpu_wall_per_call"


def warm_up(loaded: Loaded, times: int) -> dict[str, Any]:
    """Runs a module once, and then as often as a repeat does.

    The first run compiles and tunes the rest.
    """
    begin = time.perf_counter_ns()
    loaded.run()
    loaded.wait()
    first = time.perf_counter_ns() - begin
    _sampled(loaded, times, 1)
    return {"first_call_ns": first}


def measure(loaded: Loaded, times: int, repeat: int) -> dict[str, Any]:
    """Times a module.

    Returns:
        Keys of a row of the document for the wall time; `samples_ns` have no statistics yet.
    """
    if loaded.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(loaded.device)
    samples = _sampled(loaded, times, repeat)
    used = memory.peak(str(loaded.device))["peak_memory_bytes"]
    return {"timing_mode": MODE, "samples_ns": samples, "peak_memory_bytes": used}


def by_upstream(loaded: Loaded, times: int, repeat: int) -> dict[str, Any]:
    """Returns the median that the module's own benchmark reports.

    Raises:
        FastrnnsError: If the benchmark fails, or reports no time.
    """
    try:
        returned = loaded.module.benchmark_compiled_module(loaded.arguments, times=times, repeat=repeat)
    except Exception as error:
        raise FastrnnsError(f"its benchmark_compiled_module failed: {first_line(error)}") from error
    return {"upstream_ms": seconds(returned) * 1e3}


def seconds(returned: Any) -> float:
    """Returns the result of a module's benchmark, if it is a time.

    Raises:
        FastrnnsError: If it is not a time.
    """
    if isinstance(returned, bool) or not isinstance(returned, int | float) or not 0 <= returned < _LONGEST_S:
        message = f"the function that benchmarks the module returned {returned!r}"[:200]
        raise FastrnnsError(message, "Return the time of a call in seconds.")
    return returned


def _sampled(loaded: Loaded, times: int, repeat: int) -> list[int]:
    """Returns the time of a call in each repeat, in nanoseconds."""
    run, wait = loaded.run, loaded.wait
    watch = CpuWallClock(repeat, 2)
    mark, end_iteration = watch.mark, watch.end_iteration
    with garbage_collection_off():
        for _ in range(repeat):
            torch.manual_seed(SEED)
            wait()
            mark()
            for _ in range(times):
                run()
                wait()
            mark()
            end_iteration()
    return [round(one / times) for one in watch.durations_ns(*FORWARD)]
