"""Those functions of `torch._inductor.wrapper_benchmark` that print what they find, by the same names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.inductor_upstream import category_of
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.inductor import module_rows
from fastrnns_rs.views.inductor_report import kernel_lines
from fastrnns_rs.views.inductor_upstream import Line, tables
from fastrnns_rs.worker.inductor import kernel_times
from fastrnns_rs.worker.inductor.profiled_calls import cpu_category, ran_on_cpu

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import KernelTiming


def benchmark_all_kernels(benchmark_name: str, benchmark_all_configs: bool | None) -> list[KernelTiming]:
    """Times the kernels of the modules that were loaded and prints a line for each, as upstream's does.

    Args:
        benchmark_name: Stands above the lines.
        benchmark_all_configs: Whether each kernel is timed in each of its configurations.

    Raises:
        FastrnnsError: There is none; the hint says what to set.
    """
    import torch

    device = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")
    rows = kernel_times.measure(device, all_configs=bool(benchmark_all_configs))
    found = [module_rows.kernel_timing(one) for one in rows]
    print(benchmark_name, *kernel_lines(found), sep="\n")  # noqa: T201  # what it is for
    return found


def parse_profile_event_list(
    benchmark_name: str, event_list: Iterable[Any], wall_time_ms: float, nruns: int, device_name: str
) -> None:
    """Prints where the time of a profiled benchmark went, as torch's function of this name and signature does.

    Where there is no device, it tells of the C++ kernels and the operators of the CPU; torch's tells of nothing then.

    Args:
        benchmark_name: What the line for tabulating begins with.
        event_list: What `key_averages` of a profiler returns.
        wall_time_ms: How long a run took without the profiler, in milliseconds.
        nruns: How many runs were profiled.
        device_name: `cuda`; empty for the CPU.

    Raises:
        FastrnnsError: The events are of the profiler that torch had before Kineto.
    """
    from torch.autograd import DeviceType  # type: ignore[attr-defined]  # torch exports it without saying so

    categories: dict[str, list[Line]] = {}
    for event in event_list:
        if event.is_legacy:
            message = "the events are of torch's legacy profiler"
            raise FastrnnsError(message, "record them with torch.profiler.profile")
        if device_name and event.device_type != DeviceType.CPU:
            category, took_us = category_of(event.key), event.self_device_time_total
        elif not device_name and ran_on_cpu(event):
            category, took_us = cpu_category(event.key), event.self_cpu_time_total
        else:
            continue
        line = Line(event.key, took_us / 1000 / nruns, event.count / nruns)
        categories.setdefault(category, []).append(line)
    print(tables(benchmark_name, categories, wall_time_ms, device_name or "cpu"))  # noqa: T201 - what it is for
