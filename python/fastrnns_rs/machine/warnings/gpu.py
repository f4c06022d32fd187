"""Warnings from a GPU: as it is before a run, and what slowed it down meanwhile."""

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

#: The median of the samples does not feel fewer.
_LEAST_SLOWED = 0.01
#: What the driver itself and the process that looked for the device leave behind.
_MOST_UTILIZATION = 10.0
#: Readings a second: the driver renews them about as often.
_INTERVAL_S = 0.1


def before(environment: Environment, device: str) -> list[Notice]:
    """What `nvidia-smi` says of the device that is going to be measured; nothing of others."""
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
    """The GPU that a device name stands for; torch counts those that CUDA_VISIBLE_DEVICES leaves, NVML counts all."""
    kind, _, number = device.partition(":")
    index = int(number or 0)
    if kind != "cuda" or index >= len(environment.gpus):
        return None
    return environment.gpus[index].uuid


class Watch(Poller):
    """Looks at the GPU while a run goes on, from a thread. Without NVML it sees nothing; it never raises.

    Args:
        environment: The machine as the run file has it.
        device: The device that is measured; on a CPU there is nothing to look at.
        interval_s: From one look to the next, in seconds.
    """

    def __init__(self, environment: Environment, device: str, *, interval_s: float = _INTERVAL_S) -> None:
        super().__init__(uuid_of(environment, device), interval_s)

    def notices(self) -> list[Notice]:
        """What was seen until now."""
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
