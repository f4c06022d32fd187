"""Health checks of the GPUs, from the output of `nvidia-smi`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.diagnosis import Check
from fastrnns_rs.documents.warning_table import ROWS
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.machine import nvidia
from fastrnns_rs.machine.health.outcome import judged

if TYPE_CHECKING:
    from fastrnns_rs.documents.diagnosis import CheckId
    from fastrnns_rs.machine.facts import Facts


def checks(facts: Facts | None) -> list[Check]:
    """Runs all checks of the GPUs."""
    problem = "nvidia-smi lists no GPU"
    try:
        states = nvidia.states()
    except FastrnnsError as error:
        states, problem = [], error.message
    names = [state.name for state in states] or [str(one["name"]) for one in (facts.gpus if facts else [])]
    if not names and not nvidia.has_device():
        ids: tuple[CheckId, ...] = ("gpu.present", "gpu.clocks", "gpu.throttle", "gpu.other_processes")
        return [Check(id=one, status="skipped", message="no GPU") for one in ids]
    shown = ", ".join(names) or "the driver has a device"
    present = Check(id="gpu.present", status="ok", value=len(names) or None, message=shown)
    if not states:
        rest: tuple[CheckId, ...] = ("gpu.clocks", "gpu.throttle", "gpu.other_processes")
        return [present, *(Check(id=one, status="skipped", message=problem) for one in rest)]
    return [present, clocks(states), throttle(states), other_processes()]


def clocks(states: list[nvidia.State]) -> Check:
    """Checks that the GPUs stay initialised between processes.

    The value is the lowest SM clock in MHz.
    """
    known = [state.sm_clock_mhz for state in states if state.sm_clock_mhz is not None]
    modes = {True: "on", False: "off", None: "unknown"}
    asleep = any(state.persistent is False for state in states)
    message = _each([f"SM clock {_mhz(state)}, persistence mode {modes[state.persistent]}" for state in states])
    if not known and not asleep:
        return Check(id="gpu.clocks", status="skipped", message=message)
    hint, unit = ROWS["gpu_persistence"].hint, "MHz" if known else None
    return judged("gpu.clocks", asleep, min(known, default=None), message, hint, unit=unit)


def throttle(states: list[nvidia.State]) -> Check:
    """Checks that the GPUs are not slowed down at present."""
    if any(state.slowdowns is None for state in states):
        return Check(id="gpu.throttle", status="skipped", message="the driver does not report slowdowns")
    slowed = sorted({reason for state in states for reason in state.slowdowns or []})
    message = _each([" ".join(state.slowdowns or []) or "no slowdown" for state in states])
    return judged("gpu.throttle", bool(slowed), " ".join(slowed) or "none", message, ROWS["gpu_throttled"].hint)


def other_processes(uuid: str | None = None) -> Check:
    """Checks that no other process computes on the GPUs, or on the GPU of a UUID."""
    try:
        others = nvidia.processes(uuid)
    except FastrnnsError as error:
        return Check(id="gpu.other_processes", status="skipped", message=error.message)
    message = ", ".join(others) or "no other processes"
    return judged("gpu.other_processes", bool(others), len(others), message, ROWS["gpu_busy"].hint)


def _mhz(state: nvidia.State) -> str:
    known = state.sm_clock_mhz is not None and state.max_sm_clock_mhz is not None
    return f"{state.sm_clock_mhz:g} of {state.max_sm_clock_mhz:g} MHz" if known else "unknown"


def _each(texts: list[str]) -> str:
    """Joins the texts of all GPUs, numbered if there are several."""
    return texts[0] if len(texts) == 1 else "; ".join(f"GPU {index}: {text}" for index, text in enumerate(texts))
