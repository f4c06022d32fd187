"""Printing functions of `torch._inductor.wrapper_benchmark`, by the same names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.inductor_upstream import choose_category
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.inductor import module_rows
from fastrnns_rs.views.inductor_report import kernel_lines
from fastrnns_rs.views.inductor_upstream import Line, tables
from fastrnns_rs.worker.inductor import kernel_times
from fastrnns_rs.worker.inductor.profiled_calls import cpu_category, ran_on_cpu

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import KernelTiming


def benchmark_all_kernels(benchmark_name: str, benchmark_all_configs: bool | None) -> list[KernelTiming]:
    """Times the kernels of the loaded modules and prints a line for each.

    Upstream's function of this name does the same.

    Args:
        benchmark_name: Heading of the lines.
        benchmark_all_configs: True times each kernel in each of its configurations.

    Raises:
        FastrnnsError: If there are no kernels; the hint names the setting that is needed.
    """
    import torch

    device = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")
    rows = kernel_times.measure(device, all_configs=bool(benchmark_all_configs))
    found = [module_rows.kernel_timing(one) for one in rows]
    print(benchmark_name, *kernel_lines(found), sep="\n")  # noqa: T201  # printing is its purpose
    return found


def parse_profile_event_list(
    benchmark_name: str, event_list: Iterable[Any], wall_time_ms: float, nruns: int, device_name: str
) -> None:
    """Prints the time of a profiled benchmark by category, as torch's function does.

    The name and signature are those of torch's function. Without a device, the output is about the C++ kernels and the
    operators of the CPU; torch's function then prints nothing about them.

    Args:
        benchmark_name: Start of the tabulate line.
        event_list: Result of a profiler's `key_averages`.
        wall_time_ms: Duration of a run without the profiler, in milliseconds.
        nruns: Number of profiled runs.
        device_name: `cuda`; empty for the CPU.

    Raises:
        FastrnnsError: If the events are of the profiler that torch had before Kineto.
    """
    from torch.autograd import DeviceType  # type: ignore[attr-defined]  # torch exports it without declaring it

    categories: dict[str, list[Line]] = {}
    for event in event_list:
        if event.is_legacy:
            message = "unsupported events: torch's legacy profiler recorded the events"
            raise FastrnnsError(message, "Record with torch.profiler.profile.")
        if device_name and event.device_type != DeviceType.CPU:
            category, took_us = choose_category(event.key), event.self_device_time_total
        elif not device_name and ran_on_cpu(event):
            category, took_us = cpu_category(event.key), event.self_cpu_time_total
        else:
            continue
        line = Line(event.key, took_us / 1000 / nruns, event.count / nruns)
        categories.setdefault(category, []).append(line)
    print(tables(benchmark_name, categories, wall_time_ms, device_name or "cpu"))  # noqa: T201 - printing is its purpose
