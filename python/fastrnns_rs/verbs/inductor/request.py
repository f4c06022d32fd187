"""Options of `inductor`, and checks that this machine supports them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.problem.architecture import capability
from fastrnns_rs.problem.problem import check_count, check_seconds
from fastrnns_rs.runners.plan import MOST_THREADS

if TYPE_CHECKING:
    from fastrnns_rs.machine.facts import Facts
    from fastrnns_rs.verbs.inductor.module_files import Generated


#: Largest number of processes of a module.
_MOST_PROCESSES = 1000
#: Defaults of upstream.
DEFAULT_TIMES = DEFAULT_REPEAT = 10
DEFAULT_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InductorOptions:
    """Requested measurements of each module.

    Attributes:
        times: Calls in each repeat.
        repeat: Number of samples of the wall time, each of `times` calls.
        processes: Number of fresh processes with `repeat` samples each; the first also makes all other measurements.
        kernels: Time each Triton kernel.
        all_configs: Time each configuration of the kernels; implies `kernels`.
        architectures: Architectures that each timed Triton kernel is also assembled for, such as `sm_90`.
        profile: Run the module under torch's profiler too.
        memory_snapshot: Record the activity of the CUDA allocator.
        ncu: Run the module under Nsight Compute too.
        ncu_kernel_regex: Regular expression for the names of kernels that Nsight Compute profiles; None for all.
        ncu_metrics: Comma-separated metrics of Nsight Compute; None for its set `full`.
        ncu_path: Path of ncu; None for the ncu on PATH.
        output_dir: Folder of traces, snapshots and reports; None for the user's folder of captures.
        threads: Number of CPU threads of torch; None for torch's default.
        timeout: Time limit of each step of a module (import, timing, profile), in seconds.
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
        check_count("processes", self.processes, least=1, most=_MOST_PROCESSES)
        check_count("threads", self.threads, least=1, most=MOST_THREADS)
        check_seconds("timeout", self.timeout)
        for one in self.architectures:
            capability(one)
        if self.architectures and not (self.kernels or self.all_configs):
            raise UsageError("`architectures` needs `kernels`", "Add `kernels=True`.")
        if not self.ncu:
            for name in ("ncu_kernel_regex", "ncu_metrics", "ncu_path"):
                if getattr(self, name):
                    raise UsageError(f"`{name}` needs `ncu`", "Add `ncu=True`.")


def check_machine(modules: Iterable[Generated], facts: Facts, asked: InductorOptions) -> dict[Path, MissingError]:
    """Checks that the devices and the tools are available.

    Args:
        modules: Modules to measure.
        facts: Facts of torch and this machine.
        asked: Requested measurements of each module.

    Returns:
        The modules whose device is missing, by path.

    Raises:
        MissingError: If the devices of all modules or Nsight Compute are missing, or a CPU module is requested with an
            option that needs CUDA.
    """
    several = list(modules)
    for one in several:
        _check_options(one, asked)
    missing = {one.path: error for one in several if (error := _missing_device(one, facts)) is not None}
    if missing and len(missing) == len(several):
        raise missing[several[0].path]
    if asked.ncu:
        from fastrnns_rs.verbs.inductor import ncu

        ncu.find(asked)
    return missing


def _check_options(one: Generated, asked: InductorOptions) -> None:
    name = "memory_snapshot" if asked.memory_snapshot else "ncu" if asked.ncu else None
    if one.device == "cpu" and name is not None:
        message = f"`{name}` needs a CUDA device, and the module is for the CPU: {str(one.path)!r}"
        raise MissingError(message, f"Leave out `{name}`.")


def _missing_device(one: Generated, facts: Facts) -> MissingError | None:
    kind, _, number = one.device.partition(":")
    count, path = facts.cuda_device_count, str(one.path)
    if kind == "cpu":
        return None
    if kind != "cuda":
        hint = "Compile the model for the CPU or for CUDA."
        return MissingError(f"unsupported device of module: {path!r} is for {one.device}", hint, value=path)
    if int(number or 0) < count:
        return None
    reason = facts.no_cuda_reason or f"this machine has {counted(count, 'CUDA device')}"
    message = f"device not available: {one.device!r} of module {path!r}"
    return MissingError(message, "Compile the model for the CPU.", reason=reason, value=path)
