"""Warnings about a GPU: its state before a run, and slowdowns during the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.machine import nvidia
from fastrnns_rs.machine.health import gpu
from fastrnns_rs.machine.warnings.gpu_monitor import Poller
from fastrnns_rs.machine.warnings.warning import caution, of_check

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import Notice
    from fastrnns_rs.documents.run_file import Environment
    from fastrnns_rs.machine.warnings.gpu_monitor import Tally

#: A smaller share of slowed samples does not affect the median.
_LEAST_SLOWED = 0.01
#: The driver and the process that probed the device can cause this much utilisation.
_MOST_UTILIZATION = 10.0
#: Seconds between readings; the driver updates its values about as often.
_INTERVAL_S = 0.1


def before(environment: Environment, device: str) -> list[Notice]:
    """Returns warnings about the device to measure, from `nvidia-smi`."""
    uuid = uuid_of(environment, device)
    if uuid is None:
        return []
    try:
        states = nvidia.states(uuid)
    except FastrnnsError:
        return []
    found = [*_busy(uuid)]
    if states:
        found += of_check("gpu_persistence", "the driver starts the GPU anew for each process", gpu.clocks(states))
        found += of_check("gpu_throttled", "something slows the GPU down before the run", gpu.throttle(states))
    return found


def uuid_of(environment: Environment, device: str) -> str | None:
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
        super().__init__(uuid_of(environment, device), interval_s)

    def notices(self) -> list[Notice]:
        """Returns the warnings from the readings so far."""
        return _of_tally(self.tally())


def _busy(uuid: str) -> list[Notice]:
    message = "the GPU does something else"
    found = of_check("gpu_busy", message, gpu.other_processes(uuid))
    if found:
        return found
    # Processes of another container are not listed.
    utilization = nvidia.utilization(uuid)
    if utilization is None or utilization <= _MOST_UTILIZATION:
        return []
    evidence = f"{utilization:g} % of the time before the run a kernel ran, of a process that is not listed"
    return [caution("gpu_busy", message, evidence=evidence, hint="wait, or choose another device with --device cuda:N")]


def _of_tally(tally: Tally) -> list[Notice]:
    found = []
    if tally.slowed and tally.slowed >= _LEAST_SLOWED * tally.working:
        reasons = ", ".join(f"{reason} {count / tally.working:.0%}" for reason, count in tally.reasons.most_common())
        seen = [f"in {tally.slowed} of {tally.working} looks at the GPU at work ({reasons})", *_ranges(tally)]
        found.append(
            caution(
                "gpu_throttled",
                "something slowed the GPU down during the run",
                evidence="; ".join(seen),
                hint="let it cool, or look at its power limit: nvidia-smi -q -d PERFORMANCE",
            )
        )
    if tally.lost is not None:
        found.append(
            caution(
                "gpu_lost",
                "the driver lost the GPU during the run",
                evidence=tally.lost,
                hint="sudo dmesg | grep -i xid says why; then reset the GPU, or restart the machine",
            )
        )
    return found


def _ranges(tally: Tally) -> list[str]:
    named = [
        ("SM clock", tally.sm_clock_mhz, "MHz"),
        ("temperature", tally.temperature_c, "°C"),
        ("power", tally.power_w, "W"),
    ]
    return [f"{name} {min(seen):g} to {max(seen):g} {unit}" for name, seen, unit in named if seen]
