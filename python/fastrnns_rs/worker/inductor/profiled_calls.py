"""Calls of a module under torch's profiler.

Inductor's C++ kernels have names in the trace, which are given here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.profiler

# Inductor marks its Triton kernels with it. torch's documented `record_function` costs some microseconds a call, which
# would count as the kernel's own time; this one costs a fraction of one.
from torch._C._profiler import _RecordFunctionFast
from torch.autograd import DeviceType  # type: ignore[attr-defined]  # torch exports it without saying so
from torch.profiler import ProfilerActivity

from fastrnns_rs.documents.inductor_upstream import CPP, OPERATOR, choose_category
from fastrnns_rs.worker.inductor.loader import SEED
from fastrnns_rs.worker.profile.torch_files import export, report_write_errors
from fastrnns_rs.worker.timed_loop import garbage_collection_off

if TYPE_CHECKING:
    from types import ModuleType

    from fastrnns_rs.worker.inductor.loader import Loaded

#: Number of rows by input shape, as upstream shows.
_TOP = 10


def profile(loaded: Loaded, times: int, repeat: int, trace_path: str) -> dict[str, Any]:
    """Runs a module `times * repeat` times under torch's profiler.

    The trace is written to a file.

    Args:
        loaded: Module.
        times: Number of calls after each setting of the seed.
        repeat: Number of settings.
        trace_path: Path of the compressed trace.

    Returns:
        `runs`, the number of calls in the trace; `top`, the rows by name and input shape that took most own time on the
        module's device; `operations`, all activities there, as upstream counts them, the longest first.

    Raises:
        FastrnnsError: If the trace cannot be written.
    """
    on_cpu = loaded.device.type == "cpu"
    with named_kernels(loaded.module):
        # The first profiler of a process loads CUPTI, which takes a second of what it records.
        _profiled(loaded, 1, 1)
        profiler = _profiled(loaded, times, repeat)
    with report_write_errors():
        export(profiler, Path(trace_path), Path(trace_path).name)
    by_shape = profiler.key_averages(group_by_input_shape=True)
    own = "self_cpu_time_total" if on_cpu else "self_device_time_total"
    top = sorted(by_shape, key=lambda one: getattr(one, own), reverse=True)[:_TOP]
    return {
        "runs": times * repeat,
        "top": [_top_row(one) for one in top],
        "operations": _list_cpu_operations(profiler.key_averages()) if on_cpu else _list_device_operations(by_shape),
    }


def _profiled(loaded: Loaded, times: int, repeat: int) -> torch.profiler.profile:
    """Returns a profiler that recorded the calls completely."""
    run, wait = loaded.run, loaded.wait
    activities = [ProfilerActivity.CPU]
    if loaded.device.type == "cuda":
        activities.append(ProfilerActivity.CUDA)
    profiler = torch.profiler.profile(activities=activities, record_shapes=True)
    wait()
    with garbage_collection_off(), profiler:
        for _ in range(repeat):
            torch.manual_seed(SEED)
            for _ in range(times):
                run()
                wait()
    return profiler


def ran_on_cpu(one: Any) -> bool:
    """Returns True if an event of torch's profiler took time on the CPU."""
    return bool(one.device_type == DeviceType.CPU and one.self_cpu_time_total > 0)


def cpu_category(name: str) -> str:
    """Returns the category of a CPU event, by its name."""
    return CPP if _CPP.match(name) else OPERATOR


def _list_cpu_operations(events: Iterable[Any]) -> list[dict[str, Any]]:
    found = sorted(filter(ran_on_cpu, events), key=lambda one: -one.self_cpu_time_total)
    return [_operation(one, cpu_category(one.key), one.self_cpu_time_total) for one in found]


def _list_device_operations(events: Iterable[Any]) -> list[dict[str, Any]]:
    """Returns kernels, copies, sets and other entries on the device.

    Other entries are, for example, annotations.
    """
    ran = [one for one in events if one.device_type != DeviceType.CPU]
    found = sorted(ran, key=lambda one: -one.self_device_time_total)
    return [_operation(one, choose_category(one.key), one.self_device_time_total) for one in found]


def _operation(one: Any, category: str, took_us: float) -> dict[str, Any]:
    return {"name": one.key, "category": category, "count": one.count, "total_ns": round(took_us * 1e3)}


def _top_row(one: Any) -> dict[str, Any]:
    shapes = one.input_shapes
    return {
        "name": one.key,
        "input_shapes": str(shapes) if shapes else "",
        "count": one.count,
        "self_device_ns": round(one.self_device_time_total * 1e3),
        "self_cpu_ns": round(one.self_cpu_time_total * 1e3),
    }


#: Inductor's names of kernels; with `torch._inductor.config.cpp.enable_kernel_profile` the graph comes first.
_CPP = re.compile(r"(?:graph_\d+_(?:\w+?_)?)?cpp_")
#: Start of kernels that were generated with this setting: they have records of their own.
_OWN_RECORDS = "RAIIAtenRecordFunctionHandle"


@contextmanager
def named_kernels(module: ModuleType) -> Iterator[None]:
    """Names the C++ kernels of a generated module for the profiler inside the block."""
    path = getattr(module, "__file__", None)
    records_itself = path is not None and _OWN_RECORDS in Path(path).read_text(encoding="utf-8")
    kernels = {} if records_itself else _kernels(module)
    for name, kernel in kernels.items():
        setattr(module, name, _record_calls(name, kernel))
    try:
        yield
    finally:
        for name, kernel in kernels.items():
            setattr(module, name, kernel)


def _kernels(module: ModuleType) -> dict[str, Callable[..., Any]]:
    found = vars(module).items()
    return {name: one for name, one in found if name.startswith("cpp_") and callable(one)}


def _record_calls(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        # It accepts only 64-bit numbers, and only shapes are needed.
        with _RecordFunctionFast(name, [one for one in arguments if isinstance(one, torch.Tensor)]):
            return kernel(*arguments)

    return run
