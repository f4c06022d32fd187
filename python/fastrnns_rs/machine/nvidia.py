"""State of the GPUs from driver files and `nvidia-smi`, without torch."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

from fastrnns_rs._core import run_command
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.processes.programs import absolute_environment, program_path

#: With persistence mode off, the driver initialises the GPU for each process, which takes seconds.
_TIMEOUT_S = 10
#: Bit of an idle GPU.
_IDLE = 0x01
#: Slowdowns of a GPU, by bit. The other bits (idle, clocks set by a user) are not faults.
_SLOWDOWNS = {
    0x04: "sw_power_cap",
    0x08: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x200: "board_limit",
    0x400: "reliability",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Current state of a GPU; values that its driver does not report are None.

    Attributes:
        slowdowns: Names of the active slowdowns; empty if the GPU is not slowed down.
    """

    name: str
    sm_clock_mhz: float | None
    max_sm_clock_mhz: float | None
    persistent: bool | None
    slowdowns: list[str] | None


def has_device(root: Path = Path("/")) -> bool:
    """Returns True if the driver has a GPU.

    The driver's library alone is not evidence, because packages install it on any machine.
    """
    return any((root / "proc/driver/nvidia/gpus").glob("*")) or any((root / "dev").glob("nvidia[0-9]*"))


def is_loaded(root: Path = Path("/")) -> bool:
    """Returns True if the driver is loaded, with or without a GPU."""
    return (root / "proc/driver/nvidia/version").exists()


def is_hidden() -> bool:
    """Returns True if the user hides all GPUs from CUDA."""
    return os.environ.get("CUDA_VISIBLE_DEVICES") in {"", "-1"}


def slowdowns(bits: int) -> list[str]:
    """Returns the slowdowns of a GPU, from the bits of its clocks event reasons."""
    return [name for bit, name in _SLOWDOWNS.items() if bits & bit]


def is_idle(bits: int) -> bool:
    """Returns True if the bits report that the GPU is idle."""
    return bool(bits & _IDLE)


def states(uuid: str | None = None) -> list[State]:
    """Returns the state of each GPU, or of the GPU with a UUID.

    Raises:
        FastrnnsError: If `nvidia-smi` is not installed, or fails.
    """
    query = "name,clocks.sm,clocks.max.sm,persistence_mode,"
    try:
        rows = ask(f"--query-gpu={query}clocks_event_reasons.active", fields=5, uuid=uuid)
    except FastrnnsError as error:
        if "not a valid field" not in error.message:
            raise
        # Drivers before 535 use this name for the field.
        rows = ask(f"--query-gpu={query}clocks_throttle_reasons.active", fields=5, uuid=uuid)
    return [
        State(
            name=name,
            sm_clock_mhz=number(clock),
            max_sm_clock_mhz=number(most),
            persistent={"Enabled": True, "Disabled": False}.get(persistence),
            slowdowns=_slowdowns(reasons),
        )
        for name, clock, most, persistence, reasons in rows
    ]


def processes(uuid: str | None = None) -> list[str]:
    """Returns the processes that compute on GPUs, or on the GPU of a UUID, as text.

    Raises:
        FastrnnsError: If `nvidia-smi` is not installed, or fails.
    """
    # The name is last, because it may contain commas.
    rows = ask("--query-compute-apps=pid,name", fields=2, uuid=uuid)
    return list(dict.fromkeys(f"{pid} ({name})" for pid, name in rows if pid.isdecimal()))


def utilization(uuid: str) -> float | None:
    """Returns the recent GPU utilisation in percent; None if unknown.

    The utilisation is the share of recent time in which a kernel ran.
    """
    try:
        rows = ask("--query-gpu=utilization.gpu", fields=1, uuid=uuid)
    except FastrnnsError:
        return None
    return number(rows[0][0]) if rows else None


def ask(query: str, *, fields: int, uuid: str | None = None) -> list[list[str]]:
    """Returns the rows that `nvidia-smi` prints, one for each GPU or process.

    Args:
        query: Query flag of `nvidia-smi`.
        fields: Number of fields of a row. Rows with another number are skipped; the last field may contain commas.
        uuid: UUID of a GPU; None for all GPUs.

    Raises:
        FastrnnsError: If `nvidia-smi` is not installed, or fails.
    """
    which = [] if uuid is None else [f"--id={uuid}"]
    words = [query, "--format=csv,noheader,nounits", *which]
    try:
        done = run_command([program_path("nvidia-smi"), *words], env=absolute_environment(), timeout=_TIMEOUT_S)
    except (OSError, RuntimeError) as error:
        raise FastrnnsError(f"cannot run nvidia-smi: {getattr(error, 'strerror', error)}") from error
    if done.timed_out:
        raise FastrnnsError(f"nvidia-smi timed out: {_TIMEOUT_S} s")
    if done.exit_status != 0:
        output = (done.stdout_tail + done.stderr_tail).strip().splitlines() or ["it says nothing"]
        how = f"was ended by signal {done.signal}" if done.signal else f"failed with status {done.exit_status}"
        raise FastrnnsError(f"nvidia-smi {how}: {output[0]}")
    rows = [[field.strip() for field in line.split(",", fields - 1)] for line in done.stdout_tail.splitlines()]
    return [row for row in rows if len(row) == fields]


def _slowdowns(mask: str) -> list[str] | None:
    try:
        return slowdowns(int(mask, 16))
    except ValueError:
        return None


def number(text: str) -> float | None:
    """Returns a finite number; None for texts such as `[N/A]`."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
