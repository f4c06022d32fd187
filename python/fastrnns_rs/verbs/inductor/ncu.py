"""Runs a module under Nsight Compute, in a process of its own that ncu starts."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs._core import run_command
from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.escaping import visible
from fastrnns_rs.processes.launcher import Setting
from fastrnns_rs.verbs.profile.attempt import end_of

if TYPE_CHECKING:
    from fastrnns_rs._core import Completed
    from fastrnns_rs.documents.inductor_report import ModuleRow
    from fastrnns_rs.verbs.inductor.request import InductorOptions

#: Where installers put it when they do not put it on the path.
_USUAL = ("usr/local/cuda*/bin/ncu", "opt/nvidia/nsight-compute/*/ncu")
_INSTALL = "install NVIDIA Nsight Compute, or name it with --ncu-path"
_SUFFIX = ".ncu-rep"
#: From being asked to end to being killed: time to give the GPU back.
_GRACE_S = 5.0
#: What the module's process and ncu itself write of what went wrong.
_OF_MODULE = re.compile(r"^error: (.+)$", re.MULTILINE)
_OF_NCU = re.compile(r"^==ERROR== (.+)$", re.MULTILINE)
_LONGEST_REASON = 300


def find(asked: InductorOptions, root: Path = Path("/")) -> str:
    """The ncu to run: the one that is asked for, or the one on the path, or the newest in the usual places.

    Args:
        asked: What names it, if anything does.
        root: Where the usual places are.

    Raises:
        MissingError: There is none, or what is named is no program.
    """
    if asked.ncu_path is not None:
        named = shutil.which(asked.ncu_path)
        if named is None:
            raise MissingError(f"there is no ncu that can be run: {asked.ncu_path}", _INSTALL)
        return named
    usual = [found for one in _USUAL for path in root.glob(one) if (found := shutil.which(str(path)))]
    found = shutil.which("ncu") or max(usual, key=_version, default=None)
    if found is None:
        raise MissingError("Nsight Compute is not installed: there is no ncu on the path", _INSTALL)
    return found


def run(row: ModuleRow, asked: InductorOptions, report: Path) -> str:
    """Runs a module under ncu.

    Args:
        row: The module.
        asked: Which kernels and metrics, and how long it may take.
        report: Where the report goes; an empty file that keeps the name free, which is gone when this fails.

    Returns:
        The path of the report.

    Raises:
        MissingError: There is no ncu.
        FastrnnsError: It failed, or took too long, or wrote no report; in one line.
    """
    try:
        _run(row, asked, report)
    except BaseException:
        report.unlink(missing_ok=True)
        _appended(report).unlink(missing_ok=True)
        raise
    return str(report)


def _run(row: ModuleRow, asked: InductorOptions, report: Path) -> None:
    completed = _started(_command(row, asked, report), asked)
    if not _is_there(report) or completed.exit_status != 0:
        raise FastrnnsError(*_why_not(completed, asked))


def _command(row: ModuleRow, asked: InductorOptions, report: Path) -> list[str]:
    kernels = ["--kernel-name", f"regex:{asked.ncu_kernel_regex}"] if asked.ncu_kernel_regex else []
    metrics = ["--metrics", asked.ncu_metrics] if asked.ncu_metrics else ["--set", "full"]
    return [
        find(asked),
        *("--target-processes", "all", "--replay-mode", "kernel", "--kernel-name-base", "function"),
        # What is called to tune and to warm up is not looked at; see the module that calls.
        *("--profile-from-start", "off"),
        *("--print-units", "base", "--import-source", "yes", "--force-overwrite"),
        # A percent sign would begin a placeholder.
        *("--export", str(report).replace("%", "%%")),
        *kernels,
        *metrics,
        *(sys.executable, "-P", "-m", "fastrnns_rs.worker.inductor.single_call", row.path, row.device),
    ]


def _started(command: list[str], asked: InductorOptions) -> Completed:
    variables = {
        **Setting(threads=asked.threads).environment(),
        # This package may be where only this process knows to look.
        "PYTHONPATH": os.pathsep.join(one for one in sys.path if one),
    }
    try:
        return run_command(command, timeout=asked.timeout, env=variables, grace=_GRACE_S)
    except RuntimeError as error:
        raise FastrnnsError(f"ncu failed: {error}") from None
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise FastrnnsError(
            f"{command[0]} cannot be started: {why}", "name an ncu that works with --ncu-path"
        ) from None


def _is_there(report: Path) -> bool:
    """Whether there is a report at the place that was kept for it."""
    if _appended(report).is_file():
        # There are versions that add the suffix to any name.
        _appended(report).replace(report)
    return report.is_file() and report.stat().st_size > 0


def _why_not(completed: Completed, asked: InductorOptions) -> tuple[str, str]:
    """Why there is no report, or none to be trusted, and what to do."""
    said = f"{completed.stdout_tail}\n{completed.stderr_tail}"
    if completed.timed_out:
        hint = "give it more time with --timeout, or less to do with --ncu-kernel-regex or --ncu-metrics"
        return f"ncu was not done after {asked.timeout:g} s", hint
    if "ERR_NVGPUCTRPERM" in said:
        # There are versions that end well all the same.
        return (
            "ncu may not read the GPU's performance counters (ERR_NVGPUCTRPERM)",
            "run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0",
        )
    if completed.exit_status != 0:
        told = _OF_MODULE.findall(said) or _OF_NCU.findall(said) or [end_of(completed)]
        return f"ncu failed: {visible(told[-1].strip())[:_LONGEST_REASON]}", ""
    if asked.ncu_kernel_regex:
        which = visible(f"ncu wrote no report: no kernel's name matches {asked.ncu_kernel_regex}")
        return which, "it is matched with names of functions, such as triton_poi_fused_add_0"
    return "ncu wrote no report: it saw no kernel", "see whether the module has any with --profile"


def _appended(report: Path) -> Path:
    return report.with_name(report.name + _SUFFIX)


def _version(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path)]
