"""What the NVIDIA driver's files and `nvidia-smi` tell of the GPUs, without torch."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fastrnns_rs.errors import FastrnnsError

#: A driver whose persistence mode is off starts the GPU anew for each process, which takes seconds.
_TIMEOUT_S = 10
#: The bit of a GPU that has nothing to do.
_IDLE = 0x01
#: What slows a GPU down, by its bit. The others (idle, clocks that somebody set) are no fault.
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
    """A GPU as it is now; None for what its driver does not tell.

    Attributes:
        slowdowns: What slows it down; empty when nothing does.
    """

    name: str
    sm_clock_mhz: float | None
    max_sm_clock_mhz: float | None
    persistent: bool | None
    slowdowns: list[str] | None


def has_device(root: Path = Path("/")) -> bool:
    """Whether the driver has a GPU. Its library alone, which packages bring to any machine, is none."""
    return any((root / "proc/driver/nvidia/gpus").glob("*")) or any((root / "dev").glob("nvidia[0-9]*"))


def is_loaded(root: Path = Path("/")) -> bool:
    """Whether the driver is loaded, with a GPU or without."""
    return (root / "proc/driver/nvidia/version").exists()


def is_hidden() -> bool:
    """Whether the user hides every GPU from CUDA."""
    return os.environ.get("CUDA_VISIBLE_DEVICES") in {"", "-1"}


def slowdowns(bits: int) -> list[str]:
    """What slows a GPU down, by the bits of its clocks' event reasons."""
    return [name for bit, name in _SLOWDOWNS.items() if bits & bit]


def is_idle(bits: int) -> bool:
    """Whether these bits say that nothing runs on the GPU."""
    return bool(bits & _IDLE)


def states(uuid: str | None = None) -> list[State]:
    """How each GPU is, or the one of a uuid.

    Raises:
        FastrnnsError: `nvidia-smi` is not there, or fails.
    """
    query = "name,clocks.sm,clocks.max.sm,persistence_mode,"
    try:
        rows = ask(f"--query-gpu={query}clocks_event_reasons.active", fields=5, uuid=uuid)
    except FastrnnsError as error:
        if "not a valid field" not in error.message:
            raise
        # What the field was called before driver 535.
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
    """Each process that computes on a GPU, or on the one of a uuid, for a person.

    Raises:
        FastrnnsError: `nvidia-smi` is not there, or fails.
    """
    # The name comes last: it may hold commas.
    rows = ask("--query-compute-apps=pid,name", fields=2, uuid=uuid)
    return list(dict.fromkeys(f"{pid} ({name})" for pid, name in rows if pid.isdecimal()))


def utilization(uuid: str) -> float | None:
    """How much of the last moments a kernel ran on a GPU, in per cent; None where nobody tells."""
    try:
        rows = ask("--query-gpu=utilization.gpu", fields=1, uuid=uuid)
    except FastrnnsError:
        return None
    return number(rows[0][0]) if rows else None


def ask(query: str, *, fields: int, uuid: str | None = None) -> list[list[str]]:
    """What `nvidia-smi` answers: a row for each GPU or process.

    Args:
        query: Its flag that asks.
        fields: How many fields a row has; others are left out, and the last may hold commas.
        uuid: The GPU that is asked about; None for all.

    Raises:
        FastrnnsError: `nvidia-smi` is not there, or fails.
    """
    which = [] if uuid is None else [f"--id={uuid}"]
    try:
        done = subprocess.run(
            ["nvidia-smi", query, "--format=csv,noheader,nounits", *which],  # noqa: S607  # wherever the driver put it
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FastrnnsError(f"nvidia-smi did not answer within {_TIMEOUT_S} s") from error
    except OSError as error:
        raise FastrnnsError(f"nvidia-smi cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines() or ["it says nothing"]
        raise FastrnnsError(f"nvidia-smi failed with status {done.returncode}: {said[0]}")
    rows = [[field.strip() for field in line.split(",", fields - 1)] for line in done.stdout.splitlines()]
    return [row for row in rows if len(row) == fields]


def _slowdowns(mask: str) -> list[str] | None:
    try:
        return slowdowns(int(mask, 16))
    except ValueError:
        return None


def number(text: str) -> float | None:
    """A number, or None for the likes of `[N/A]`."""
    try:
        return float(text)
    except ValueError:
        return None
