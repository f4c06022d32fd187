"""The warnings of a bench: what makes its numbers doubtful, each with its cause, evidence and next step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.machine.warnings import (
    clock,
    cpu,
    drift,
    few_processes,
    gpu,
    groups,
    recompilation,
    time_modes,
    warmup,
)
from fastrnns_rs.machine.warnings.timed_samples import timed_runners

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import Environment, Run


def before(environment: Environment, *, device: str, root: Path = Path("/")) -> list[Notice]:
    """What the machine says before a run.

    Args:
        environment: The machine as the run file has it.
        device: The device that is going to be measured: `cpu`, `cuda` or `cuda:N`.
        root: Where the kernel's files are.
    """
    return [*cpu.cautions(environment, device, root), *gpu.before(environment, device)]


def after(run: Run) -> list[Notice]:
    """What the samples say after a run. Of several runners with one trouble there is one notice.

    Args:
        run: With the results that it has so far; processes that did not end well are left out.
    """
    runners = timed_runners(run)
    return [
        *few_processes.cautions(run.results),
        *warmup.cautions(run.plan, runners),
        *time_modes.cautions(runners),
        *groups.cautions(runners),
        *drift.cautions(runners),
        *clock.cautions(run.results),
        *recompilation.cautions(run.results),
    ]
