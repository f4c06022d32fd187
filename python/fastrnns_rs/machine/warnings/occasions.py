"""Warnings of `bench`, before its first process and after its last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.machine.health import host
from fastrnns_rs.machine.warnings import clock, device_time, drift, few_processes, gpu, modes, recompilation, warmup
from fastrnns_rs.machine.warnings.timed_samples import timed_runners
from fastrnns_rs.machine.warnings.warning import of_check

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import Environment, Run


def before(environment: Environment, *, device: str, root: Path = Path("/")) -> list[Notice]:
    """Returns the warnings about the machine before a run.

    Args:
        environment: Machine, as in the run file.
        device: Device to measure: `cpu`, `cuda` or `cuda:N`.
        root: Folder that contains the kernel's `proc` and `sys`.
    """
    return [*_of_cpus(environment, device, root), *gpu.before(environment, device)]


def after(run: Run) -> list[Notice]:
    """Returns the warnings from the samples of a run.

    Several runners with the same problem share one warning.

    Args:
        run: Run with its results so far. Failed and interrupted processes are ignored.
    """
    runners = timed_runners(run)
    return [
        *few_processes.cautions(run.results),
        *warmup.cautions(run.plan, runners),
        *modes.cautions(runners),
        *drift.cautions(runners),
        *clock.cautions(run.results),
        *device_time.cautions(run.results),
        *recompilation.cautions(run.results),
    ]


def _of_cpus(environment: Environment, device: str, root: Path) -> list[Notice]:
    """Returns warnings about busy or slowed CPUs, by the limits of `doctor`.

    CPUs also launch the kernels of a GPU.
    """
    found: list[Notice] = []
    if not device.startswith("cuda"):
        # With a model on a GPU, torch's threads are idle.
        threads = host.threads(environment, len(environment.cpu_affinity))
        found += of_check("more_threads_than_cores", "more threads than CPUs: they wait for one another", threads)
    if environment.load_average_1m is not None:
        load = host.load(environment.load_average_1m, environment.cpu_count)
        found += of_check("machine_busy", "the machine does something else", load)
    found += of_check("governor", "how long things take depends on the CPUs' governor", host.governor(root))
    found += of_check("turbo", "how long things take depends on the CPUs' turbo", host.turbo(root))
    return found
