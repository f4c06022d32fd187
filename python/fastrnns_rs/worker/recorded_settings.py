"""Settings that a run records before its processes build their models."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.worker.torch_settings import is_tf32_allowed, lower_precisions_on_cpu

#: Variables with which OpenMP binds threads to CPUs itself, at its first parallel region.
_BINDING = {"OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY"}


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting: words for its change, its value, and what to do instead."""

    change: str
    value: object
    instead: str


class RecordedSettings:
    """Settings as they are now, which a runner may not change.

    The run would record other settings than those that it measured.

    Args:
        device: Device of the problem.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._before = _read(device)

    def check(self) -> None:
        """Rejects a changed setting.

        Raises:
            RunnerError: If the runner changed a setting.
        """
        found = {one.change: one for one in _read(self._device)}
        for before in self._before:
            now = found.get(before.change, before)
            if now.value != before.value:
                raise RunnerError(f"{now.change} from {before.value} to {now.value}: {now.instead}")


def _read(device: str) -> list[_Setting]:
    threads = torch.get_num_threads()
    found = [
        _Setting(
            "the runner changed the number of torch's threads",
            threads,
            f"set the number before, as --threads {threads} does",
        ),
        _switch("deterministic algorithms", torch.are_deterministic_algorithms_enabled(), "deterministic"),
    ]
    if _BINDING.isdisjoint(os.environ):
        cpus = _as_ranges(sorted(os.sched_getaffinity(0)))
        # A container's CPUs may change too.
        instead = f"set the CPUs before, as --affinity {cpus} does"
        found.append(_Setting("the CPUs of the process changed", cpus, instead))
    if torch.device(device).type == "cuda":
        found.append(_switch("cuDNN's benchmark mode", torch.backends.cudnn.benchmark, "cudnn-benchmark"))
        found.append(_switch("TF32", is_tf32_allowed(), "allow-tf32"))
    else:
        precisions = ", ".join(dict.fromkeys(lower_precisions_on_cpu().values())) or "float32"
        found.append(_Setting("the runner changed the precision of float32 on CPUs", precisions, "leave it as it is"))
    return found


def _as_ranges(numbers: list[int]) -> str:
    """Returns ascending numbers as a text such as `0-2,5`."""
    ranges: list[list[int]] = []
    for one in numbers:
        if ranges and ranges[-1][-1] == one - 1:
            ranges[-1] = [ranges[-1][0], one]
        else:
            ranges.append([one])
    return ",".join("-".join(map(str, one)) for one in ranges)


def _switch(name: str, value: bool, option: str) -> _Setting:
    instead = f"set it before, as --{option if value else f'no-{option}'} does"
    return _Setting(f"the runner changed {name}", "on" if value else "off", instead)
