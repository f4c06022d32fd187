"""`inductor` as a function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.api.arguments import fields_of, refuse_in_worker
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.inductor import module_files, module_runs
from fastrnns_rs.verbs.inductor.request import DEFAULT_REPEAT, DEFAULT_TIMEOUT_S, DEFAULT_TIMES, InductorOptions

if TYPE_CHECKING:
    import os

    from fastrnns_rs.documents.inductor_report import InductorReport


def benchmark_modules(
    *paths: str | os.PathLike[str],
    from_cache: bool = False,
    times: int = DEFAULT_TIMES,
    repeat: int = DEFAULT_REPEAT,
    processes: int = 1,
    kernels: bool = False,
    all_configs: bool = False,
    architectures: Sequence[str] = (),
    profile: bool = False,
    memory_snapshot: bool = False,
    ncu: bool = False,
    ncu_kernel_regex: str | None = None,
    ncu_metrics: str | None = None,
    ncu_path: str | None = None,
    output_dir: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    timeout: float = DEFAULT_TIMEOUT_S,
) -> InductorReport:
    """Times modules that `torch.compile`'s Inductor generated, as `fastrnns-rs inductor` does.

    Their code is executed, in processes of their own: measure only what you trust.

    Args:
        paths: Files of generated modules, or folders of them.
        from_cache: Whether to take the newest module in Inductor's cache too; of a backward graph also its forward.
        times: Calls in each repeat.
        repeat: Repeats, each of them a sample of the wall time.
        processes: Fresh processes that time each module; the first of them does all the rest.
        kernels: Whether each Triton kernel is timed too.
        all_configs: Whether each configuration of each Triton kernel is.
        architectures: Architectures that each of these kernels is assembled for too, such as `sm_90`.
        profile: Whether the module runs under torch's profiler too.
        memory_snapshot: Whether what the CUDA allocator does is written down.
        ncu: Whether it runs under Nsight Compute too.
        ncu_kernel_regex: The kernels that Nsight Compute looks at; None for all.
        ncu_metrics: What it collects, comma-separated; None for its set `full`.
        ncu_path: The program; None for the one on the path.
        output_dir: Where traces, snapshots and reports go; None for the user's folder of captures.
        threads: Threads of torch on the CPU; None for torch's own.
        timeout: How long each step of a module may take, in seconds.

    Returns:
        The report. A module that fails, crashes or hangs is a row with its reason; it raises nothing.

    Raises:
        UsageError: An argument makes no sense, or no module is named.
        FastrnnsError: A file holds no generated module.
        MissingError: A module's device, or Nsight Compute, is not there.
        KeyboardInterrupt: Ctrl-C.
    """
    given = {**locals(), "output_dir": None if output_dir is None else Path(output_dir)}
    refuse_in_worker("benchmark_modules")
    asked = InductorOptions(**fields_of(InductorOptions, given))
    if not paths and not from_cache:
        raise UsageError("no module is named", "give the path of at least one, or from_cache=True")
    newest = [one.path for one in module_files.newest()] if from_cache else []
    return module_runs.measure(module_files.find([*map(Path, paths), *newest]), asked)
