"""Search and selection of profilers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fastrnns_rs._core import Profiler
from fastrnns_rs.documents.diagnosis import ProfilerEntry
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.processes.programs import program_path

if TYPE_CHECKING:
    from pathlib import Path

    from fastrnns_rs.machine.facts import Facts

#: Profilers that are programs, each with an installation hint.
PROGRAMS = {
    "nsys": "Install NVIDIA Nsight Systems, or use `nsys_path`.",
    "nvprof": "Install a CUDA toolkit before 13, or use `nvprof_path`.",
}
#: Folder in which nsys and ncu start. The Python inside nsys searches the working directory and all folders above it
#: for modules; in this one, only root can put them.
SAFE_FOLDER = "/"
#: First compute capability that nvprof does not support.
_TOO_NEW_FOR_NVPROF = 8


@dataclass(frozen=True, slots=True)
class Found:
    """A program that was found.

    Attributes:
        path: Path of the program.
        tool: Opened profiler; None if it does not work.
        problem: Reason why the profiler does not work; None otherwise.
    """

    path: str
    tool: Profiler | None
    problem: str | None


def start_folder(name: str | None) -> str | None:
    """Returns the folder in which a profiler starts; None for the working directory.

    Args:
        name: Name of the profiler; None for none.
    """
    return SAFE_FOLDER if name == "nsys" else None


def module_words(module: str) -> list[str]:
    """Returns the words after `python -m` for a profiler in `SAFE_FOLDER`.

    They run a module of this package in the working directory.
    """
    try:
        folder = os.getcwd()  # noqa: PTH109
    except OSError:
        # The working directory was removed.
        folder = SAFE_FOLDER
    return ["fastrnns_rs.worker.start_in", folder, module]


def search(name: str, path: str | None = None) -> list[Found]:
    """Returns the programs of a profiler, the preferred one first.

    The newest is preferred, but one without its importer cannot write a report: Nsight Compute contains such an nsys.
    Unusable ones come last.

    Args:
        name: `nsys` or `nvprof`.
        path: Only program to check; None for `FASTRNNS_PROFILE_NSYS_PATH`, `PATH` and the usual folders.
    """
    only = path or os.environ.get(f"FASTRNNS_PROFILE_{name.upper()}_PATH")
    found = [_open(name, one) for one in ([only] if only else Profiler.find(name))]
    return sorted(found, key=_preference, reverse=True)


def _preference(found: Found) -> tuple[bool, bool, list[int]]:
    if found.tool is None:
        return False, False, []
    return True, found.tool.importer_path is not None, found.tool.version_numbers


def _open(name: str, path: str | Path) -> Found:
    try:
        # The working directory may be a folder of `PATH`, and contain a program of others.
        return Found(str(path), Profiler(name, path if "/" in str(path) else program_path(str(path))), None)
    except BlockingIOError:
        # The system cannot start another process, whatever the program.
        raise
    except OSError as error:
        return Found(str(path), None, f"{path}: {error.strerror}")
    except (RuntimeError, ValueError) as error:
        return Found(str(path), None, str(error))


def choose(name: str, path: str | None = None) -> Profiler:
    """Returns the profiler to use.

    Raises:
        MissingError: If the profiler is not installed, or does not work.
    """
    if name not in PROGRAMS:
        return Profiler(name)
    found = search(name, path)
    if not found:
        raise MissingError(f"profiler not installed: {name!r}", PROGRAMS[name])
    if found[0].tool is None:
        message, reason = f"profiler fails: {name!r}", found[0].problem or ""
        raise MissingError(message, PROGRAMS[name], reason=reason)
    return found[0].tool


def best(facts: Facts) -> str:
    """Returns the profiler that records most about the device of this machine."""
    return "nsys" if _has_cuda(facts) and any(one.tool for one in search("nsys")) else "torch"


def check_usable(name: str, facts: Facts) -> None:
    """Checks that a profiler can record anything on this machine and device.

    Raises:
        MissingError: If nvprof has no GPU that it can profile.
        UsageError: If the device of nvprof is a CPU. It writes nothing about programs without CUDA.
    """
    if name != "nvprof":
        return
    hint, reason = "Use nsys or torch.profiler.", _nvprof_problem(facts)
    if reason is not None:
        raise MissingError("profiler not usable: 'nvprof'", hint, reason=reason)
    if facts.device == "cpu":
        raise UsageError("nvprof needs a CUDA device, and the device is cpu", hint)


def describe_all(facts: Facts | None) -> list[ProfilerEntry]:
    """Returns the description of each profiler, for `doctor`.

    Args:
        facts: Facts of torch and the device; None if torch does not work.
    """
    return [*(_describe(name, facts) for name in PROGRAMS), _describe_torch(facts)]


def _describe(name: str, facts: Facts | None) -> ProfilerEntry:
    found = search(name)
    first = found[0] if found else None
    tool = first.tool if first else None
    if tool is None:
        return ProfilerEntry(
            name=name,
            path=first.path if first else None,
            status="unusable" if first else "missing",
            reason=first.problem if first else PROGRAMS[name],
        )
    reason, status = _limit(name, facts)
    return ProfilerEntry(
        name=name,
        path=str(tool.path),
        version=tool.version,
        status=status,
        capabilities=tool.capabilities,
        importer_path=str(tool.importer_path) if tool.importer_path else None,
        reason=reason,
    )


def _limit(name: str, facts: Facts | None) -> tuple[str | None, Literal["usable", "limited", "unusable"]]:
    """Returns the reason why a working program is limited, and its status."""
    if name == "nvprof":
        reason = "torch does not work here" if facts is None else _nvprof_problem(facts)
        return reason, "usable" if reason is None else "unusable"
    if facts is None or not _has_cuda(facts):
        return f"no GPU: {name} records NVTX ranges, but no kernels", "limited"
    return None, "usable"


def _describe_torch(facts: Facts | None) -> ProfilerEntry:
    return ProfilerEntry(
        name="torch",
        version=facts.torch_version if facts else None,
        status="usable" if facts else "missing",
        capabilities=Profiler("torch").capabilities,
        reason=None if facts else "torch does not work here",
    )


def _has_cuda(facts: Facts) -> bool:
    return facts.cuda_device_count > 0


def _nvprof_problem(facts: Facts) -> str | None:
    if not _has_cuda(facts):
        return facts.no_cuda_reason or "there is no GPU"
    if facts.cuda_version is None:
        return "it is NVIDIA's, and this torch is built for ROCm"
    capabilities = [str(gpu.get("compute_capability") or "0") for gpu in facts.gpus]
    if all(int(one.partition(".")[0]) >= _TOO_NEW_FOR_NVPROF for one in capabilities):
        return f"it ends at compute capability 7.5, and this GPU has {capabilities[0]}"
    return None
