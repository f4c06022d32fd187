"""Settings that a run records before its processes build their models."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from fastrnns_rs.errors import RunnerError
from fastrnns_rs.worker.torch_settings import (
    DETERMINISTIC_WARNING,
    lower_precisions_on_cpu,
    restore_threads,
    run_settings,
    tf32_uses,
    torch_modes,
)
from fastrnns_rs.worker.torch_switches import switches_restored

if TYPE_CHECKING:
    from fastrnns_rs.problem.jit_settings import JitSettings
    from fastrnns_rs.problem.problem import Problem

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
        self._before, self._modes = _read(device), _read_modes(device)

    def check(self) -> None:
        """Rejects a changed setting or mode of torch.

        Raises:
            RunnerError: If the runner changed a setting or a mode.
        """
        self.check_in_context()
        _compare(self._modes, _read_modes(self._device))

    def check_in_context(self) -> None:
        """Rejects a changed setting inside a model's context.

        The context may have modes of its own, such as `torch.no_grad`.

        Raises:
            RunnerError: If the runner changed a setting.
        """
        _compare(self._before, _read(self._device))


@contextmanager
def settings_of_one(jit: JitSettings, problem: Problem) -> Iterator[RecordedSettings]:
    """Applies the settings of a run inside the block, for one runner of several.

    Settings that the runner changes are restored for the next runner.

    Raises:
        RunnerError: If the runner has changed a setting or a mode at the end of the block.
    """
    threads, cpus = torch.get_num_threads(), os.sched_getaffinity(0)
    try:
        with switches_restored(), run_settings(jit, problem):
            recorded = RecordedSettings(problem.device)
            yield recorded
            recorded.check()
    finally:
        restore_threads(threads)
        if _BINDING.isdisjoint(os.environ) and os.sched_getaffinity(0) != cpus:
            # Threads that torch has started meanwhile have the other CPUs too.
            for thread in Path("/proc/self/task").iterdir():
                # It may have ended, and a container may have lost CPUs.
                with suppress(OSError):
                    os.sched_setaffinity(int(thread.name), cpus)


@contextmanager
def cpus_recorded() -> Iterator[None]:
    """Rejects a change of the process's CPUs in the block, which loads a runner.

    Raises:
        RunnerError: If the CPUs changed.
    """
    before = _read_cpus()
    yield
    _compare(before, _read_cpus())


def _compare(before: list[_Setting], after: list[_Setting]) -> None:
    found = {one.change: one for one in after}
    for one in before:
        now = found.get(one.change, one)
        if now.value != one.value:
            raise RunnerError(f"{now.change} from {one.value} to {now.value}: {now.instead}")


def _read(device: str) -> list[_Setting]:
    threads, mode = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    shown = "warnings only" if mode == DETERMINISTIC_WARNING else None
    found = [
        _Setting(
            "the runner changed the number of torch's threads",
            threads,
            f"set the number before, as --threads {threads} does",
        ),
        _switch("deterministic algorithms", mode > 0, "deterministic", shown),
    ]
    found += _read_cpus()
    if torch.device(device).type == "cuda":
        cudnn = torch.backends.cudnn.deterministic
        found.append(_switch("deterministic algorithms of cuDNN", cudnn, "deterministic"))
        found.append(_switch("cuDNN's benchmark mode", torch.backends.cudnn.benchmark, "cudnn-benchmark"))
        found += [_switch(f"TF32 of {kind}", allowed, "allow-tf32") for kind, allowed in tf32_uses().items()]
    else:
        precisions = ", ".join(dict.fromkeys(lower_precisions_on_cpu().values())) or "float32"
        found.append(_Setting("the runner changed the precision of float32 on CPUs", precisions, "leave it as it is"))
    return found


def _read_modes(device: str) -> list[_Setting]:
    found = {name: read() for name, (_, read, _) in torch_modes(device).items()}
    return [
        _Setting(
            f"the runner changed {name}",
            ("off", "on")[value] if isinstance(value, bool) else value,
            "restore it, as a `with` block does",
        )
        for name, value in found.items()
    ]


def _read_cpus() -> list[_Setting]:
    """Returns the CPUs, unless OpenMP binds threads to them itself."""
    if not _BINDING.isdisjoint(os.environ):
        return []
    cpus = _as_ranges(sorted(os.sched_getaffinity(0)))
    # A container's CPUs may change too.
    return [
        _Setting(
            "the CPUs of the process changed",
            cpus,
            f"set the CPUs before, as --affinity {cpus} does (profile: taskset)",
        )
    ]


def _as_ranges(numbers: list[int]) -> str:
    """Returns ascending numbers as a text such as `0-2,5`."""
    ranges: list[list[int]] = []
    for one in numbers:
        if ranges and ranges[-1][-1] == one - 1:
            ranges[-1] = [ranges[-1][0], one]
        else:
            ranges.append([one])
    return ",".join("-".join(map(str, one)) for one in ranges)


def _switch(name: str, value: bool, option: str, shown: str | None = None) -> _Setting:
    instead = f"set it before, as --{option if value else f'no-{option}'} does"
    return _Setting(f"the runner changed {name}", shown or ("on" if value else "off"), instead)
