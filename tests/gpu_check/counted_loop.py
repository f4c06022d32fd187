"""Child process of the comparison: the package's own timed loop on one model, first timed, then traced.

Arguments: model, iterations, file for the times, and a file for the trace where torch.profiler shall trace.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import torch
from emulated import device_runners

from fastrnns_rs import ModelDef, Problem
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.worker.timed_loop import Measurement, exactly, measure


def main(model: str, iterations: int, times: Path, trace: Path | None) -> None:
    """Runs the loop twice: its times are those without the profiler."""
    first = _measured(model, iterations)
    times.write_text(json.dumps(first), encoding="utf-8")
    profiler = nullcontext() if trace is None else _profiler()
    with profiler as profile:
        _measured(model, iterations, marked=True)
        torch.cuda.synchronize()
    if trace is not None:
        profile.export_chrome_trace(str(trace))


def _profiler() -> AbstractContextManager[Any]:
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    return torch.profiler.profile(activities=activities)


def _measured(model: str, iterations: int, *, marked: bool = False) -> dict[str, Any]:
    creator: Callable[[Problem], ModelDef] = _creator(model)
    measurement = Measurement(iterations)
    given = (lambda problem: _marked(creator(problem))) if marked else creator
    measure(given, Problem(mini_batch=1, device="cuda"), JitSettings(), measurement, exactly(iterations))
    found = measurement.samples()
    names = ("forward_ns", "backward_ns", "forward_host_ns", "backward_host_ns")
    # Neither the first iteration, which allocates, nor the last ones, which are checked.
    figures = {name: median(found[name][1:-2]) if found.get(name) else None for name in names}
    return {**figures, "timer_resolution_ns": found["timer_resolution_ns"], "unjoined_ns": found["unjoined_ns"]}


def _creator(model: str) -> Callable[[Problem], ModelDef]:
    found: Any = getattr(device_runners, model)
    creator: Callable[[Problem], ModelDef] = getattr(found, "creator", found)
    return creator


def _marked(model: ModelDef) -> ModelDef:
    """Returns a model whose forward begins with a query of its stream: see `iteration_counts.BEGIN`."""
    forward, stream = model.forward, torch.cuda.current_stream()

    def begin(*inputs: Any) -> Any:
        stream.query()
        return forward(*inputs)

    return replace(model, forward=begin)


if __name__ == "__main__":
    name, count, written, *traced = sys.argv[1:]
    main(name, int(count), Path(written), Path(traced[0]) if traced else None)
    # A thread of torch that wants the interpreter while it ends aborts the process, now and then.
    sys.stdout.flush()
    os._exit(0)
