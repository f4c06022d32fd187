"""Warnings from the CPUs, before a run. Their limits are those of `fastrnns-rs doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.machine.health import host
from fastrnns_rs.machine.warnings.warning import of_check

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import Environment


def cautions(environment: Environment, device: str, root: Path) -> list[Notice]:
    """What the CPUs say; they launch a GPU's kernels too."""
    found: list[Notice] = []
    if not device.startswith("cuda"):
        # A model on a GPU leaves torch's threads idle.
        threads = host.threads(environment, len(environment.cpu_affinity))
        found += of_check("more_threads_than_cores", "more threads than CPUs: they wait for one another", threads)
    if environment.load_average_1m is not None:
        load = host.load(environment.load_average_1m, environment.cpu_count)
        found += of_check("machine_busy", "the machine does something else", load)
    found += of_check("governor", "how long things take depends on the CPUs' governor", host.governor(root))
    found += of_check("turbo", "how long things take depends on the CPUs' turbo", host.turbo(root))
    return found
