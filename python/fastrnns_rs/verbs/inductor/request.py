"""What is asked of generated modules, and what of it cannot be measured here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.problem.architecture import capability
from fastrnns_rs.problem.problem import check_count
from fastrnns_rs.runners.plan import MOST_THREADS

if TYPE_CHECKING:
    from fastrnns_rs.machine.environment import Facts
    from fastrnns_rs.verbs.inductor.module_files import Generated


#: Upstream's.
DEFAULT_TIMES = DEFAULT_REPEAT = 10
DEFAULT_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InductorOptions:
    """What is to be measured of each module.

    Attributes:
        times: Calls in each repeat.
        repeat: Samples of the wall time, each of `times` calls.
        processes: Fresh processes that each take so many samples; the first of them does all the rest.
        kernels: Whether each Triton kernel is timed.
        all_configs: Whether each of its configurations is; entails `kernels`.
        architectures: Architectures that each Triton kernel that is timed is assembled for too, such as `sm_90`.
        profile: Whether it runs under torch's profiler too.
        memory_snapshot: Whether what the CUDA allocator did is written down.
        ncu: Whether it runs under Nsight Compute too.
        ncu_kernel_regex: The kernels that Nsight Compute looks at, those whose names this matches; None for all.
        ncu_metrics: What it collects, comma-separated; None for its set `full`.
        ncu_path: The program; None for the one on the path.
        output_dir: Where traces, snapshots and reports go; None for the user's folder of captures.
        threads: Threads of torch on the CPU; None for torch's own.
        timeout: How long each step of a module may take, in seconds: to be imported, timed, profiled.
    """

    times: int = DEFAULT_TIMES
    repeat: int = DEFAULT_REPEAT
    processes: int = 1
    kernels: bool = False
    all_configs: bool = False
    architectures: Sequence[str] = ()
    profile: bool = False
    memory_snapshot: bool = False
    ncu: bool = False
    ncu_kernel_regex: str | None = None
    ncu_metrics: str | None = None
    ncu_path: str | None = None
    output_dir: Path | None = None
    threads: int | None = None
    timeout: float = DEFAULT_TIMEOUT_S

    def __post_init__(self) -> None:
        check_count("times", self.times, least=1)
        check_count("repeat", self.repeat, least=1)
        check_count("processes", self.processes, least=1)
        check_count("threads", self.threads, least=1, most=MOST_THREADS)
        if isinstance(self.timeout, bool) or not 0 < self.timeout < math.inf:
            raise UsageError(f"timeout is {self.timeout!r}", "give a number of seconds above 0")
        for one in self.architectures:
            capability(one)
        if self.architectures and not (self.kernels or self.all_configs):
            raise UsageError("architectures are given, but no kernels are timed (--arch)", "Add -k.")
        if (self.ncu_kernel_regex or self.ncu_metrics or self.ncu_path) and not self.ncu:
            raise UsageError(
                "kernels, metrics or the path of ncu are given, but ncu is not asked for", "give --ncu too"
            )


def check_machine(modules: Iterable[Generated], facts: Facts, asked: InductorOptions) -> None:
    """Looks whether the devices and the tools are there.

    Args:
        modules: What is to be measured.
        facts: What torch says of this machine.
        asked: What is asked of each.

    Raises:
        MissingError: A module's device or Nsight Compute is not there, or what is asked of a CPU's module needs CUDA.
    """
    for one in modules:
        _check_device(one, facts, asked)
    if asked.ncu:
        from fastrnns_rs.verbs.inductor import ncu

        ncu.find(asked)


def _check_device(one: Generated, facts: Facts, asked: InductorOptions) -> None:
    kind, _, number = one.device.partition(":")
    count = facts.cuda_device_count
    if kind == "cpu":
        flag = "--cuda-memory-snapshot" if asked.memory_snapshot else "--ncu" if asked.ncu else None
        if flag is not None:
            raise MissingError(f"{flag} needs a CUDA device, and {one.path} was generated for the CPU", "leave it out")
        return
    if kind != "cuda":
        message = f"{one.path} was generated for {one.device}, and only the CPU and CUDA are supported"
        raise MissingError(message, "compile the model for one of them")
    if int(number or 0) >= count:
        reason = facts.no_cuda_reason or f"this machine has {count} CUDA device{'s' if count > 1 else ''}"
        message = f"{one.path} was generated for {one.device}, and there is none: {reason}"
        raise MissingError(message, "measure it where there is one, or compile the model for the CPU")
