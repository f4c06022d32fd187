"""Health checks of the CPU, the kernel and the disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.diagnosis import Check
from fastrnns_rs.documents.warning_table import ROWS
from fastrnns_rs.machine.health.outcome import judged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrnns_rs.documents.run_file import Environment
    from fastrnns_rs.machine.facts import Facts

#: A phase of a tiny model takes a few microseconds, which a coarser clock distorts.
_COARSEST_CLOCK_NS = 100
#: With more than half of the CPUs busy, a benchmark on all CPUs is always disturbed.
_MOST_LOAD_PER_CPU = 0.5
#: Above this level, the kernel does not allow a user to sample the CPU.
_MOST_PARANOID = 2
#: Captures of a minute take hundreds of megabytes.
_LEAST_FREE_BYTES = 2 << 30


def clock_resolution(nanoseconds: int) -> Check:
    """Checks that the clock is fine enough for the shortest phases."""
    coarse = nanoseconds > _COARSEST_CLOCK_NS
    message = "resolution of the timer on a CPU"
    hint = "Choose sizes with phases of at least 1000 clock ticks: fastrnns-rs bench --hidden-size N RUNNER"
    return judged("clock.resolution", coarse, nanoseconds, message, hint, unit="ns")


def governor(cpus: Iterable[int], root: Path = Path("/")) -> Check:
    """Checks that the clocks of CPUs do not follow the load."""
    found = governors(cpus, root)
    if found is None:
        return Check(id="cpu.governor", status="skipped", message="the kernel reports no governor")
    follows = found != "performance"
    message = "the CPU clock follows the load" if follows else "the CPU clock stays up"
    return judged("cpu.governor", follows, found, message, ROWS["governor"].hint)


def governors(cpus: Iterable[int], root: Path = Path("/")) -> str | None:
    """Returns the frequency governors of CPUs, each once; None without governors."""
    files = (root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor" for cpu in cpus)
    return " ".join(sorted({text for text in map(_read, files) if text})) or None


def turbo(root: Path = Path("/")) -> Check:
    """Checks that turbo is off.

    With turbo, the CPU clock depends on heat and power.
    """
    folder = root / "sys/devices/system/cpu"
    switches = ((folder / "intel_pstate/no_turbo", "0", "1"), (folder / "cpufreq/boost", "1", "0"))
    for path, on, off in switches:
        if _read(path) == off:
            return Check(id="cpu.turbo", status="ok", value="off", message="the CPU clock has a fixed limit")
        if _read(path) == on:
            message = "the CPU clock depends on the temperature and on the number of busy CPUs"
            hint = f"Turn turbo off for more stable times: echo {off} | sudo tee {path}"
            return Check(id="cpu.turbo", status="warn", value="on", message=message, hint=hint)
    return Check(id="cpu.turbo", status="skipped", message="the kernel has no switch for turbo")


def load(average: float, cpus: int) -> Check:
    """Checks that the system is not busy with other work."""
    limit = quiet_load(cpus)
    message = f"load average of the last minute; limit {limit:g} on {cpus} CPUs"
    return judged("cpu.load", average > limit, round(average, 2), message, ROWS["machine_busy"].hint)


def quiet_load(cpus: int) -> float:
    """Returns the load average up to which the system is not busy."""
    return _MOST_LOAD_PER_CPU * cpus


def threads(facts: Facts | Environment | None, cpus: int, quota: float | None = None) -> Check:
    """Checks that each of torch's threads has its own CPU.

    Args:
        facts: Number of threads; None without torch.
        cpus: Number of CPUs that the process may use.
        quota: Number of CPUs whose time the process may use; None without a limit.
    """
    if facts is None:
        return Check(id="cpu.threads", status="skipped", message="torch cannot be imported")
    message = f"threads of torch, on {counted(cpus, 'CPU')} that this process may use{limited(quota)}"
    most = cpus if quota is None else min(cpus, quota)
    hint = ROWS["more_threads_than_cores"].filled_hint(N=str(int(most)))
    if most < 1:
        hint = "Raise the limit on CPU time, which is that of a container."
    return judged("cpu.threads", facts.num_threads > most, facts.num_threads, message, hint)


def limited(quota: float | None) -> str:
    """Returns the limit on CPU time as the end of a text; empty without a limit."""
    return "" if quota is None else f", with the time of {quota:.3g} CPUs"


def perf_paranoid(root: Path = Path("/")) -> Check:
    """Checks that a profiler may sample the CPU."""
    level = _read(root / "proc/sys/kernel/perf_event_paranoid")
    try:
        value = int(level or "")
    except ValueError:
        return Check(id="perf.paranoid", status="skipped", message="the kernel has no perf events")
    refused = value > _MOST_PARANOID
    message = "nsys cannot sample the CPU; tracing works" if refused else "nsys can sample the CPU"
    return judged(
        "perf.paranoid", refused, value, message, f"Allow it: sudo sysctl kernel.perf_event_paranoid={_MOST_PARANOID}"
    )


def disk(folder: Path) -> Check:
    """Checks the free space of the folder for captures."""
    existing = next(place for place in (folder, *folder.parents, Path()) if os.access(place, os.F_OK))
    hint = "Use a folder on another disk: fastrnns-rs profile --output-dir PATH RUNNER"
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        message = f"{existing} cannot be written to; captures go to {folder}"
        return Check(id="disk.output", status="fail", message=message, hint=hint)
    room = os.statvfs(existing)
    free = room.f_bavail * room.f_frsize
    message = f"free for captures: {folder}"
    return judged("disk.output", free < _LEAST_FREE_BYTES, free, message, hint, unit="bytes")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
