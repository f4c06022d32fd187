"""Warnings of `bench`, before its first process and after its last."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.machine.cpu_quota import cpu_quota
from fastrnns_rs.machine.health import host
from fastrnns_rs.machine.warnings import (
    clock_tick,
    device_time,
    drift,
    few_processes,
    gpu,
    modes,
    recompilation,
    steady_state,
)
from fastrnns_rs.machine.warnings.findings import report_check
from fastrnns_rs.machine.warnings.timed_samples import timed_runners

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import Environment, Run


def check_machine(environment: Environment, *, device: str, root: Path = Path("/")) -> list[RunWarning]:
    """Returns the warnings about the machine before a run.

    Args:
        environment: Machine, as in the run file.
        device: Device to measure: `cpu`, `cuda` or `cuda:N`.
        root: Folder that contains the kernel's `proc` and `sys`.
    """
    return [*_check_cpus(environment, device, root), *gpu.check_device(environment, device)]


def check_devices(environment: Environment, devices: Iterable[str]) -> list[RunWarning]:
    """Returns the warnings about the machine and several devices, each once."""
    found = [one for device in devices for one in check_machine(environment, device=device)]
    return [one for at, one in enumerate(found) if one not in found[:at]]


def check_samples(run: Run) -> list[RunWarning]:
    """Returns the warnings from the samples of a run.

    Several runners with the same problem share one warning.

    Args:
        run: Run with its results so far. Failed and interrupted processes are ignored.
    """
    runners = timed_runners(run)
    return [
        *few_processes.find_warnings(run),
        *steady_state.find_warnings(run.plan, runners),
        *modes.find_warnings(runners),
        *drift.find_warnings(runners),
        *clock_tick.find_warnings(run.results),
        *device_time.find_warnings(run.results),
        *recompilation.find_warnings(run.results),
    ]


def _check_cpus(environment: Environment, device: str, root: Path) -> list[RunWarning]:
    """Returns warnings about busy or slowed CPUs, by the limits of `doctor`.

    CPUs also launch the kernels of a GPU.
    """
    found: list[RunWarning] = []
    if not device.startswith("cuda"):
        # With a model on a GPU, torch's threads are idle.
        cpus = len(environment.cpu_affinity)
        quota = cpu_quota(root)
        threads = host.threads(environment, cpus, quota)
        evidence = f"{counted(environment.num_threads, 'thread')} on {counted(cpus, 'CPU')}{host.limited(quota)}"
        found += report_check("more_threads_than_cores", threads, evidence)
    if environment.load_average_1m is not None:
        load = host.load(environment.load_average_1m, environment.cpu_count)
        limit = host.quiet_load(environment.cpu_count)
        evidence = f"load average {load.value} on {environment.cpu_count} CPUs (limit {limit:g})"
        found += report_check("machine_busy", load, evidence)
    governor, turbo = host.governor(environment.cpu_affinity, root), host.turbo(root)
    found += report_check("governor", governor, f"governor {governor.value}")
    found += report_check("turbo", turbo, f"turbo {turbo.value}")
    return found
