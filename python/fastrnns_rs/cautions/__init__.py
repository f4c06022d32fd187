"""The warnings of a bench: what makes its numbers doubtful, each with its cause, evidence and next step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.cautions import clock, compiling, drift, gpu, groups, machine, modes, replicates, warming
from fastrnns_rs.cautions.timed import timed_runners

if TYPE_CHECKING:
    from fastrnns_rs.documents import Notice
    from fastrnns_rs.results import Environment, Run


def before(environment: Environment, *, device: str, root: Path = Path("/")) -> list[Notice]:
    """What the machine says before a run.

    Args:
        environment: The machine as the run file has it.
        device: The device that is going to be measured: `cpu`, `cuda` or `cuda:N`.
        root: Where the kernel's files are.
    """
    return [*machine.cautions(environment, device, root), *gpu.before(environment, device)]


def after(run: Run) -> list[Notice]:
    """What the samples say after a run. Of several runners with one trouble there is one notice.

    Args:
        run: With the results that it has so far; processes that did not end well are left out.
    """
    runners = timed_runners(run)
    return [
        *replicates.cautions(run.results),
        *warming.cautions(run.plan, runners),
        *modes.cautions(runners),
        *groups.cautions(runners),
        *drift.cautions(runners),
        *clock.cautions(run.results),
        *compiling.cautions(run.results),
    ]
