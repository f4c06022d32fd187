"""Warnings about a GPU: its state before a run, and slowdowns during the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.machine import nvidia
from fastrnns_rs.machine.health import gpu
from fastrnns_rs.machine.warnings.findings import format_share, report_check
from fastrnns_rs.machine.warnings.gpu_monitor import Poller

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.documents.run_file import Environment
    from fastrnns_rs.machine.warnings.gpu_monitor import Tally

#: A smaller share of slowed samples does not affect the median.
_LEAST_SLOWED = 0.01
#: The driver and the process that probed the device can cause this much utilisation.
_MOST_UTILIZATION = 10.0
#: Seconds between readings; the driver updates its values about as often.
_INTERVAL_S = 0.1


def check_device(environment: Environment, device: str) -> list[RunWarning]:
    """Returns warnings about the device to measure, from `nvidia-smi`."""
    uuid = find_uuid(environment, device)
    if uuid is None:
        return []
    try:
        states = nvidia.states(uuid)
    except FastrnnsError:
        return []
    found = [*_busy(uuid)]
    if states:
        clocks, throttle = gpu.clocks(states), gpu.throttle(states)
        found += report_check("gpu_persistence", clocks, clocks.message)
        found += report_check("gpu_throttled", throttle, f"before the measurement: {throttle.value}")
    return found


def find_uuid(environment: Environment, device: str) -> str | None:
    """Returns the UUID of the GPU that a device name stands for.

    torch counts the GPUs in CUDA_VISIBLE_DEVICES, NVML counts all GPUs.
    """
    kind, _, number = device.partition(":")
    index = int(number or 0)
    if kind != "cuda" or index >= len(environment.gpus):
        return None
    return environment.gpus[index].uuid


class Watch(Poller):
    """Monitor of the GPU during a run, in a thread.

    Without NVML there are no readings. The monitor never raises.

    Args:
        environment: Machine, as in the run file.
        device: Measured device. A CPU is not monitored.
        interval_s: Time between readings, in seconds.
    """

    def __init__(self, environment: Environment, device: str, *, interval_s: float = _INTERVAL_S) -> None:
        super().__init__(find_uuid(environment, device), interval_s)

    def warnings(self) -> list[RunWarning]:
        """Returns the warnings from the readings so far."""
        return _find_slowdowns(self.tally())


def _busy(uuid: str) -> list[RunWarning]:
    others = gpu.other_processes(uuid)
    found = report_check("gpu_busy", others, f"other processes: {others.message}")
    if found:
        return found
    # Processes of another container are not listed.
    utilization = nvidia.utilization(uuid)
    if utilization is None or utilization <= _MOST_UTILIZATION:
        return []
    evidence = f"{utilization:g} % utilization before the measurement, by a process that is not listed"
    return [make_warning("gpu_busy", evidence=evidence)]


def _find_slowdowns(tally: Tally) -> list[RunWarning]:
    found = []
    if tally.slowed and tally.slowed >= _LEAST_SLOWED * tally.working:
        shares = [(reason, format_share(count / tally.working)) for reason, count in tally.reasons.most_common()]
        reasons = ", ".join(f"{reason} {share}" for reason, share in shares)
        seen = [f"{tally.slowed} of {tally.working} readings of the working GPU ({reasons})", *_ranges(tally)]
        found.append(make_warning("gpu_throttled", evidence="; ".join(seen)))
    if tally.lost is not None:
        found.append(make_warning("gpu_lost", evidence=tally.lost))
    return found


def _ranges(tally: Tally) -> list[str]:
    named = [
        ("SM clock", tally.sm_clock_mhz, "MHz"),
        ("temperature", tally.temperature_c, "°C"),
        ("power", tally.power_w, "W"),
    ]
    return [f"{name} {min(seen):g} to {max(seen):g} {unit}" for name, seen, unit in named if seen]
