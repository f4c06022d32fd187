"""Profiling of a module by Nsight Compute, in a process that ncu starts."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs._core import run_command
from fastrnns_rs.errors import FastrnnsError, MissingError
from fastrnns_rs.escaping import visible
from fastrnns_rs.processes.module_path import own_path
from fastrnns_rs.processes.programs import find_program, module_command
from fastrnns_rs.processes.worker_setting import Setting, python_path
from fastrnns_rs.verbs.profile.attempt import describe_end
from fastrnns_rs.verbs.profile.tools import SAFE_FOLDER, module_words

if TYPE_CHECKING:
    from fastrnns_rs._core import Completed
    from fastrnns_rs.documents.inductor_report import ModuleRow
    from fastrnns_rs.verbs.inductor.request import InductorOptions

#: Installation paths that may not be on PATH.
_USUAL = ("usr/local/cuda*/bin/ncu", "opt/nvidia/nsight-compute/*/ncu")
_INSTALL = "Install NVIDIA Nsight Compute, or use `ncu_path`."
_SUFFIX = ".ncu-rep"
#: Time between the request to end and the kill, in which the GPU can be released.
_GRACE_S = 5.0
#: Error messages of the module's process and of ncu.
_MODULE_ERROR = re.compile(r"^error: (.+)$", re.MULTILINE)
_NCU_ERROR = re.compile(r"^==ERROR== (.+)$", re.MULTILINE)
_LONGEST_REASON = 300


def find(asked: InductorOptions, root: Path = Path("/")) -> str:
    """Returns the ncu to run: requested, on PATH, or the newest in the usual paths.

    Args:
        asked: Options, which may name an ncu.
        root: Root of the usual paths.

    Raises:
        MissingError: If no ncu is found, or the named ncu is not a program.
    """
    if asked.ncu_path is not None:
        named = find_program(asked.ncu_path)
        if named is None:
            message = f"program not found: {asked.ncu_path!r}"
            raise MissingError(message, _INSTALL, where="ncu_path", value=asked.ncu_path)
        # It starts in another folder.
        return str(Path(named).absolute())
    usual = [found for one in _USUAL for path in root.glob(one) if (found := find_program(str(path)))]
    found = find_program("ncu") or max(usual, key=_version, default=None)
    if found is None:
        raise MissingError("program not found: 'ncu'", _INSTALL, where="PATH")
    return found


def run(row: ModuleRow, asked: InductorOptions, report: Path) -> str:
    """Runs a module under ncu.

    Args:
        row: Row of the module.
        asked: Options with kernels, metrics and timeout.
        report: Path of the report: an empty file that reserves the name, and is removed if ncu fails.

    Returns:
        The path of the report.

    Raises:
        MissingError: If ncu is not installed.
        FastrnnsError: If ncu failed, timed out, or wrote no report; the message has one line.
    """
    try:
        _run(row, asked, report)
    except BaseException:
        for one in (report, _appended(report)):
            # ncu may have put a folder there.
            with suppress(OSError):
                one.unlink()
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
        # Calls for autotuning and warm-up are not profiled; see the module `single_call`.
        *("--profile-from-start", "off"),
        *("--print-units", "base", "--import-source", "yes", "--force-overwrite"),
        # ncu treats a percent sign as the start of a placeholder.
        *("--export", str(report.absolute()).replace("%", "%%")),
        *kernels,
        *metrics,
        *module_command(*module_words("fastrnns_rs.worker.inductor.single_call"), row.path, row.device),
    ]


def _started(command: list[str], asked: InductorOptions) -> Completed:
    variables = {
        **Setting(threads=asked.threads).environment(),
        # The package may be importable only through the search path of this process.
        "PYTHONPATH": python_path(own_path()),
    }
    try:
        return run_command(command, timeout=asked.timeout, env=variables, grace=_GRACE_S, cwd=SAFE_FOLDER)
    except RuntimeError as error:
        raise FastrnnsError(f"ncu failed: {error}") from None
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        message, hint = f"cannot start program: {command[0]!r}", "Use another ncu program."
        raise FastrnnsError(message, hint, reason=str(why)) from None


def _is_there(report: Path) -> bool:
    """Returns True if the report exists at its reserved path."""
    if _appended(report).is_file():
        # Some versions of ncu add the suffix to any name.
        _appended(report).replace(report)
    return report.is_file() and report.stat().st_size > 0


def _why_not(completed: Completed, asked: InductorOptions) -> tuple[str, str]:
    """Returns an error message and a hint for a missing or unreliable report."""
    said = f"{completed.stdout_tail}\n{completed.stderr_tail}"
    if completed.timed_out:
        hint = "Use a longer time limit, or profile fewer kernels and metrics with ncu."
        return f"ncu timed out: {asked.timeout:g} s", hint
    if "ERR_NVGPUCTRPERM" in said:
        # Some versions of ncu exit with status 0 all the same.
        return (
            "no permission to read the GPU's performance counters: ERR_NVGPUCTRPERM (ncu)",
            "Run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0.",
        )
    if completed.exit_status != 0:
        messages = _MODULE_ERROR.findall(said) or _NCU_ERROR.findall(said) or [describe_end(completed)]
        return f"ncu failed: {visible(messages[-1].strip())[:_LONGEST_REASON]}", ""
    if asked.ncu_kernel_regex:
        which = visible(f"no kernel matches: {asked.ncu_kernel_regex!r}")
        return which, "Use a pattern of function names, such as triton_poi_fused_add_0."
    return "ncu wrote no report: the module ran no kernel", "List the kernels: fastrnns-rs inductor --profile MODULE.py"


def _appended(report: Path) -> Path:
    return report.with_name(report.name + _SUFFIX)


def _version(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path)]
