"""Measurement of a module in its own process, by its own benchmark function."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import torch

from fastrnns_rs.errors import FastrnnsError, first_line
from fastrnns_rs.machine import environment
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.processes.listener import Answer
from fastrnns_rs.verbs.inductor.module_files import Generated, generated
from fastrnns_rs.verbs.inductor.module_rows import finished, interrupted, report, row
from fastrnns_rs.verbs.inductor.output_files import reserve_places
from fastrnns_rs.verbs.inductor.request import check_machine
from fastrnns_rs.worker import memory
from fastrnns_rs.worker.inductor import wall_time
from fastrnns_rs.worker.inductor.loader import Loaded, imported
from fastrnns_rs.worker.jobs.probe import probe
from fastrnns_rs.worker.timed_loop import garbage_collection_off

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import InductorReport, ModuleRow
    from fastrnns_rs.verbs.inductor.output_files import Places
    from fastrnns_rs.verbs.inductor.request import InductorOptions


class Benchmark(Protocol):
    """Benchmark function of a module."""

    def __call__(self, times: int, repeat: int) -> float:
        """Returns the median of `repeat` times of a call, in seconds.

        Each time comes from `times` calls.
        """


def measure(benchmark: Benchmark, asked: InductorOptions) -> InductorReport:
    """Measures the module that a function benchmarks.

    Args:
        benchmark: Function. If it is in no generated module it is measured as inference, on the first GPU or else on
            the CPU.
        asked: Requested parts.

    Raises:
        MissingError: If a requested part needs something that is missing. Nothing has run then.
        UsageError: If the output folder cannot be made.
    """
    facts = Facts(**probe("auto", "float32"))
    one = _module(benchmark, facts)
    check_machine([one], facts, asked)
    return report(environment.describe(facts), [_row(benchmark, one, asked)])


def _row(benchmark: Benchmark, one: Generated, asked: InductorOptions) -> ModuleRow:
    """Returns the row of a module.

    Results from before a failure or Ctrl-C are kept.
    """
    places = reserve_places(one, asked)
    found: dict[str, Any] = {"kernels": []}
    try:
        for part in _parts(benchmark, _loaded(benchmark, one.device), asked, places):
            found["kernels"] += [part.pop("kernel")] if "kernel" in part else []
            found.update(part)
        answer = Answer({"status": "ok"}, "answered", None, "")
    except KeyboardInterrupt:
        answer = Answer({}, "interrupted", None, "")
    except FastrnnsError as error:
        answer = Answer({}, "answered", str(error), "")
    except Exception as error:  # noqa: BLE001  # a module's code may raise anything
        answer = Answer({}, "answered", first_line(error), "")
    measured = row(one, asked, answer, [found])
    if answer.ended == "interrupted":
        places.drop_empty()
        return interrupted(measured)
    try:
        return finished(measured, asked, places, found)
    except KeyboardInterrupt:
        return interrupted(measured)


def _parts(benchmark: Benchmark, loaded: Loaded, asked: InductorOptions, places: Places) -> Iterator[dict[str, Any]]:
    """Yields the requested parts, as the child process of the command does."""
    with loaded.current:
        yield _timed(benchmark, loaded.device, asked.times, asked.repeat)
        if places.trace is not None:
            from fastrnns_rs.worker.inductor import profiled_calls

            # Kineto prints its inner state. It reads this variable when it starts.
            os.environ.setdefault("KINETO_LOG_LEVEL", "99")
            yield profiled_calls.profile(loaded, asked.times, asked.repeat, str(places.trace))
        if places.memory_snapshot is not None:
            from fastrnns_rs.worker.inductor import memory_snapshot

            yield memory_snapshot.write(loaded, str(places.memory_snapshot))
        if asked.kernels or asked.all_configs:
            from fastrnns_rs.worker.inductor import kernel_times

            _load_kernels(loaded)
            yield from ({"kernel": one} for one in kernel_times.measure(loaded.device, all_configs=asked.all_configs))


def _load_kernels(loaded: Loaded) -> None:
    """Loads the module again.

    This process has no Python module of a kernel that another process compiled.
    """
    path = getattr(loaded.module, "__file__", None)
    if path is None:
        return
    from torch._inductor.async_compile import CompiledTritonKernels
    from torch._inductor.codecache import PyCodeCache

    from fastrnns_rs.worker.inductor.triton_kernels import compile_here

    compile_here()
    # Otherwise cached kernels of other processes and finished autotuners would be used.
    CompiledTritonKernels.cache_clear()  # type: ignore[no-untyped-call]
    PyCodeCache.cache_clear()
    imported(path)


def _timed(benchmark: Benchmark, device: torch.device, times: int, repeat: int) -> dict[str, Any]:
    """Returns the wall time by the module's own benchmark.

    A sample is its result for one repeat.
    """
    first = _seconds(benchmark, 1, 1)
    _seconds(benchmark, times, 1)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    with garbage_collection_off():
        samples = [round(_seconds(benchmark, times, 1) * 1e9) for _ in range(repeat)]
    used = memory.peak(str(device))["peak_memory_bytes"]
    return {
        "timing_mode": wall_time.MODE,
        "first_call_ns": round(first * 1e9),
        "samples_ns": samples,
        "upstream_ms": _seconds(benchmark, times, repeat) * 1e3,
        "peak_memory_bytes": used,
    }


def _seconds(benchmark: Benchmark, times: int, repeat: int) -> float:
    """Returns the result of the benchmark, without its printed text."""
    with contextlib.redirect_stdout(io.StringIO()):
        returned: Any = benchmark(times=times, repeat=repeat)
    return wall_time.seconds(returned)


def _module(benchmark: Benchmark, facts: Facts) -> Generated:
    """Returns the module in whose file a function is.

    For another function it returns the facts that are known.
    """
    try:
        path = Path(inspect.getfile(benchmark)).absolute()
    except TypeError:
        path = Path(sys.argv[0]).absolute()
    try:
        return generated(path)
    except FastrnnsError:
        device = "cuda:0" if facts.cuda_device_count else "cpu"
        return Generated(path=path, graph="inference", device=device, compilation=None)


def _loaded(benchmark: Benchmark, device: str) -> Loaded:
    """Returns the loaded module with the inputs of its own benchmark.

    Without a module it returns the function in its place.
    """
    module = sys.modules.get(getattr(benchmark, "__module__", ""))
    if module is not None and callable(getattr(module, "call", None)) and callable(getattr(module, "get_args", None)):
        inputs = getattr(module, "args", None)
        return Loaded(module, torch.device(device), [*(inputs if isinstance(inputs, list) else module.get_args())])
    stand_in: Any = ModuleType("benchmark")
    stand_in.call = lambda _inputs: _seconds(benchmark, 1, 1)
    return Loaded(stand_in, torch.device(device), [])
