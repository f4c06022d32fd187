"""Settings that a run records before its processes build their models."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.worker.torch_settings import is_tf32_allowed

#: Variables with which OpenMP binds threads to CPUs itself, at its first parallel region.
_BINDING = {"OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY"}


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting with its value, and the option that sets it for a run."""

    name: str
    short: str
    value: object
    option: str


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
        for before, now in zip(self._before, _read(self._device), strict=True):
            if now.value != before.value:
                change = f"the runner changed {now.name} from {before.value} to {now.value}"
                raise RunnerError(f"{change}: set {now.short} before, as {now.option} does")


def _read(device: str) -> list[_Setting]:
    threads = torch.get_num_threads()
    found = [
        _Setting("the number of torch's threads", "the number", threads, f"--threads {threads}"),
        _switch("deterministic algorithms", torch.are_deterministic_algorithms_enabled(), "deterministic"),
    ]
    if _BINDING.isdisjoint(os.environ):
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        found.append(_Setting("the CPUs of its process", "the CPUs", cpus, f"--affinity {cpus}"))
    if torch.device(device).type == "cuda":
        found.append(_switch("the search of cuDNN", torch.backends.cudnn.benchmark, "cudnn-benchmark"))
        found.append(_switch("TF32", is_tf32_allowed(), "allow-tf32"))
    return found


def _switch(name: str, value: bool, option: str) -> _Setting:
    return _Setting(name, "it", "on" if value else "off", f"--{option}" if value else f"--no-{option}")
