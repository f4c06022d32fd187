"""Machine and software of a run.

A child process reads the facts that need torch.
"""

from __future__ import annotations

import errno
import os
import platform
import shlex
import time
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from fastrnns_rs.documents.codec import from_plain, shown
from fastrnns_rs.documents.run_file import Environment, Git, Gpu
from fastrnns_rs.documents.soundness import check_numbers
from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError, make_system_error
from fastrnns_rs.machine import checkout, nvidia
from fastrnns_rs.machine.facts import PACKAGE, Facts
from fastrnns_rs.machine.health import host
from fastrnns_rs.processes.launcher import Executor, Start, launch_together
from fastrnns_rs.processes.listener import Terms
from fastrnns_rs.processes.worker_setting import MARK, Setting

#: Prefixes of variables that change the speed of models; a run file contains other variables only if they are named.
_VARIABLES = (
    *("OMP_", "MKL_", "KMP_", "GOMP_", "DNNL_", "ONEDNN_", "CUDA_", "PYTORCH_", "TORCH", "ATEN_CPU_CAPABILITY"),
    *("CUBLAS_", "CUDNN_", "NCCL_", "NVIDIA_TF32_OVERRIDE", "OPENBLAS_", "LD_PRELOAD", "FASTRNNS_"),
    *("TRITON_", "GLIBC_TUNABLES", "MALLOC_", "TCMALLOC_", "PYTHONHASHSEED", "PYTHONMALLOC", "PYTHONTRACEMALLOC"),
    *("PYTHONDEVMODE", "PYTHONOPTIMIZE", "PYTHONPERFSUPPORT", "PYTHON_GIL", "PYTHON_JIT"),
)
#: Variables of these prefixes that change no speed: marks of our processes, and names of a rank and of files, which
#: differ in each run, or in each job of a cluster.
_WITHOUT_EFFECT = (
    *(MARK, "FASTRNNS_COMMAND", "TORCHELASTIC_", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_DUMP_DIR"),
    *("TRITON_HOME", "TORCH_HOME", "TORCH_EXTENSIONS_DIR", "TORCH_COMPILE_DEBUG_DIR", "PYTORCH_KERNEL_CACHE_PATH"),
    *("CUDA_CACHE_PATH", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "NCCL_DEBUG_FILE"),
)
#: Replaces a value that is not recorded.
_ANOTHER = "another value"
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"
#: Software facts that a child process reports, by their names in a run file.
_VERSIONS = (
    "python_executable",
    "python_version",
    "torch_version",
    "torchvision_version",
    "cuda_version",
    "cudnn_version",
)
#: Importing torch from a cold disk can take most of a minute.
_PROBE_TIMEOUT_S = 300.0
#: Python's message if the system refuses a thread.
_NO_THREAD = "can't start new thread"


def probe(
    device: str,
    dtype: str,
    setting: Setting | None = None,
    *,
    local_rank: int | None = None,
    executor: Executor = launch_together,
) -> Facts:
    """Runs a child process that reports facts about torch, `device` and `dtype`.

    Args:
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        dtype: Name of a torch dtype.
        setting: Setting of the child process. None uses the setting of this process.
        local_rank: Local rank, if there are several ranks on this machine. None without ranks.
        executor: Function that runs the child process.

    Raises:
        MissingError: If torch is not installed.
        FastrnnsError: If torch cannot be imported, or the child process died or has another copy of this package.
        KeyboardInterrupt: If Ctrl-C was pressed; the child process has ended.
    """
    begin = time.monotonic()
    job = {"kind": "probe", "device": device, "dtype": dtype, "local_rank": local_rank}
    [answer] = executor([Start(job=job, terms=Terms(timeout=_PROBE_TIMEOUT_S), setting=setting or Setting())])
    if answer.ended == "interrupted":
        raise KeyboardInterrupt
    if answer.content.get("status") != "ok":
        if str(answer.reason).startswith("ModuleNotFoundError: No module named 'torch'"):
            raise MissingError("package not installed: 'torch'", f"Run: {_pip(setting)} install torch torchvision")
        if str(answer.reason).endswith(_NO_THREAD):
            raise make_system_error(OSError(errno.EAGAIN, _NO_THREAD))
        raise FastrnnsError("torch fails", f"Run: {_python(setting)} -c 'import torch'", reason=answer.reason or "")
    _check_package(answer.content.get("package"))
    try:
        found = _checked_facts(answer.content.get("facts"))
    except UsageError as error:
        reason = f"the result of its worker is damaged: {error.message}"
        raise FastrnnsError("torch fails", f"Run: {_python(setting)} -c 'import torch'", reason=reason) from None
    return replace(found, start_s=time.monotonic() - begin)


def _python(setting: Setting | None) -> str:
    """Returns the command that starts the interpreter with its variables."""
    if setting is None:
        return "python"
    variables = [f"{name}={shlex.quote(value)}" for name, value in setting.variables.items()]
    return " ".join([*variables, shlex.quote(setting.python or "python")])


def _pip(setting: Setting | None) -> str:
    return "pip" if setting is None or setting.python is None else f"{shlex.quote(setting.python)} -m pip"


def _check_package(folder: object) -> None:
    """Checks that a child process has imported this copy of the package.

    Another copy may time in another way. A script may have found this one through its own `sys.path`, and a program in
    the place of an interpreter may ignore `PYTHONPATH`.

    Args:
        folder: Folder of its package. None, as another version sends.

    Raises:
        FastrnnsError: If it is another folder.
    """
    try:
        is_ours = isinstance(folder, str) and Path(folder).samefile(PACKAGE)
    except (OSError, ValueError):
        is_ours = False
    if not is_ours:
        where = f"in {folder!r}" if isinstance(folder, str) else "of another version"
        hint = f"Put {str(PACKAGE.parent)!r} on PYTHONPATH, and use interpreters that do not ignore PYTHONPATH."
        raise FastrnnsError(f"a worker has another copy of fastrnns-rs, {where}", hint)


def _checked_facts(plain: object) -> Facts:
    """Returns the facts of a child process.

    Another interpreter, or what it loads when it starts, may answer in the place of our worker.

    Raises:
        UsageError: If no worker sends such facts.
    """
    unknown = {one.name: None for one in fields(Facts) if one.default is None}
    found = from_plain(Facts, {"gpus": [], **unknown, **plain} if isinstance(plain, dict) else plain)
    check_numbers(found)
    measured = {one.name: None for one in fields(Gpu) if one.default is None}
    for one in found.gpus:
        check_numbers(from_plain(Gpu, {**measured, **one}))
    if found.cuda_device_count > len(found.gpus):
        raise UsageError(f"cuda_device_count is {found.cuda_device_count}, and gpus has {len(found.gpus)}")
    cuda = {f"cuda:{index}" for index in range(len(found.gpus))}
    if found.device not in {None, "cpu", *(["cuda"] if cuda else []), *cuda}:
        raise UsageError(f"device is {shown(found.device)}, not a device of this machine")
    return found


def describe(
    facts: Facts,
    setting: Setting | None = None,
    *,
    looks_for_changes: bool = True,
    named: Mapping[str, str] | None = None,
) -> Environment:
    """Returns the environment of a run file, for workers that run in `setting`.

    Args:
        facts: Facts about torch.
        setting: Setting of the workers. None uses the setting of this process.
        looks_for_changes: True compares the files of the checkout with its commit, which takes long in a large one.
        named: Further variables to record, with the values that the other side has. Another value is not recorded: it
            may be a secret of the shell.
    """
    setting, named = setting or Setting(), named or {}
    variables = setting.environment()
    cpus = sorted(setting.affinity or os.sched_getaffinity(0))
    commit = checkout.head_commit()
    asks = looks_for_changes and commit is not None
    extra = _nvidia_smi()
    drivers = [one.pop("driver_version") for one in extra.values()]
    return Environment(
        **{name: getattr(facts, name) for name in _VERSIONS},
        driver_version=str(drivers[0]) if drivers else None,
        os=f"{platform.system()} {platform.release()}",
        cpu_model=cpu_model(),
        cpu_microcode=_read_cpu_value("microcode"),
        aslr=_aslr(),
        transparent_huge_pages=_chosen(_read(_HUGE_PAGES) or ""),
        cpu_count=os.cpu_count() or 1,
        cpu_affinity=cpus,
        cpu_governor=host.governors(cpus),
        num_threads=setting.threads or facts.num_threads,
        load_average_1m=os.getloadavg()[0],
        gpus=[Gpu(**one, **extra.get(str(one["uuid"]), {})) for one in facts.gpus],
        variables={
            name: value if is_recorded or value == named[name] else _ANOTHER
            for name, value in sorted(variables.items())
            for is_recorded in [name.startswith(_VARIABLES) and not name.startswith(_WITHOUT_EFFECT)]
            if is_recorded or name in named
        },
        git=Git(commit=commit, dirty=checkout.has_changes() if asks else None),
    )


def cpu_model() -> str | None:
    """Returns the name of the CPU; None if the system does not report it."""
    return _read_cpu_value("model name")


def _read_cpu_value(key: str) -> str | None:
    """Returns a value of the first CPU in /proc/cpuinfo."""
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def _aslr() -> int | None:
    """Returns the level of address space randomisation; 0 is off."""
    level = _read("/proc/sys/kernel/randomize_va_space") or ""
    return int(level) if level.isdecimal() else None


def _chosen(choices: str) -> str | None:
    """Returns the word in brackets of `always [madvise] never`."""
    return next((word[1:-1] for word in choices.split() if word.startswith("[")), None)


def _nvidia_smi() -> dict[str, dict[str, Any]]:
    """Returns the state of each GPU from `nvidia-smi`, by UUID.

    The result is empty if `nvidia-smi` is not installed.
    """
    try:
        rows = nvidia.ask("--query-gpu=uuid,driver_version,clocks.sm,power.limit,temperature.gpu", fields=5)
    except FastrnnsError:
        return {}
    return {
        uuid: {
            "driver_version": driver,
            "sm_clock_mhz": nvidia.number(clock),
            "power_limit_w": nvidia.number(power),
            "temperature_c": nvidia.number(temperature),
        }
        for uuid, driver, clock, power, temperature in rows
    }


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
