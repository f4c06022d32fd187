"""List of all health checks of `fastrnns-rs doctor`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fastrnns_rs._core import BUILD_PROFILE, clock_resolution_ns
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.machine.cpu_quota import cpu_quota
from fastrnns_rs.machine.health import gpu, host, software

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.documents.diagnosis import Check
    from fastrnns_rs.machine.facts import Facts


def check_all(torch: Facts | FastrnnsError, captures: Path) -> list[Check]:
    """Runs all checks, in the order of `CheckId`.

    Args:
        torch: Facts from the child process, or the reason why it found none.
        captures: Folder for captures.
    """
    facts = None if isinstance(torch, FastrnnsError) else torch
    return [
        software.build_profile(BUILD_PROFILE),
        software.torch_import(torch),
        software.torch_cuda(facts),
        host.clock_resolution(clock_resolution_ns()),
        host.governor(os.sched_getaffinity(0)),
        host.turbo(),
        host.load(os.getloadavg()[0], os.cpu_count() or 1),
        host.threads(facts, len(os.sched_getaffinity(0)), cpu_quota()),
        *gpu.checks(facts),
        host.perf_paranoid(),
        host.disk(captures),
    ]
