"""Expected run and plan, for the screen before torch is imported."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.documents.run_file import Environment, Git, Run
from fastrnns_rs.errors import MissingError
from fastrnns_rs.machine import nvidia
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.problem.problem import resolve
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.verbs.bench.bench_plan import plan_bench
from fastrnns_rs.verbs.bench.plan_record import CURRENT_TOOL, record_plan

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import RunSide
    from fastrnns_rs.runners.plan import Options
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan
    from fastrnns_rs.verbs.bench.effort import Effort


def expected_run(options: Options, effort: Effort) -> tuple[Run, BenchPlan, str | None]:
    """Returns the probable run and plan, without importing torch.

    Args:
        options: Runners and problem.
        effort: Amount of measurements.

    Returns:
        Run, plan, and a text in place of the device if only torch can find it.

    Raises:
        UsageError: If an option is invalid.
        MissingError: If torch is not installed.
    """
    setting = Setting(threads=options.threads, affinity=effort.cpus())
    names = effort.devices or [options.device]
    found = [expected_facts(one, setting) for one in names]
    plan = plan_bench(options, effort, found[0], setting, found[1:])
    unknown = "resolving device" if options.device == "auto" and not effort.devices and nvidia.has_device() else None
    return run_without_results(plan, expected_environment(found[0], setting)), plan, unknown


def run_without_results(plan: BenchPlan, environment: Environment, sides: Sequence[RunSide] = ()) -> Run:
    """Returns a run for a screen, without session and warnings."""
    return Run(
        run_id="",
        created_utc="",
        status="interrupted",
        command=[],
        tool=CURRENT_TOOL,
        environment=environment,
        sides=[*sides],
        plan=record_plan(plan),
    )


#: More GPUs than a machine has. A larger number of a device would fill the memory with entries of GPUs.
_MOST_GPUS = 1024


def expected_facts(device: str, setting: Setting) -> Facts:
    """Returns the probable facts, from the metadata of torch's package.

    Args:
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        setting: Setting of the workers.

    Raises:
        MissingError: If torch is not installed.
    """
    torch_version = installed_torch()
    if torch_version is None:
        raise MissingError("torch is not installed", "pip install torch torchvision")
    gpu = {"name": "", "uuid": None, "compute_capability": None, "memory_total_bytes": None}
    has_gpu = device.startswith("cuda") or (device == "auto" and nvidia.has_device() and not nvidia.is_hidden())
    count = min(int(device.partition(":")[2] or 0) + 1, _MOST_GPUS) if has_gpu else 0
    variables = {**os.environ, **setting.variables}
    threads = variables.get("OMP_NUM_THREADS", "")
    cpus = len(setting.affinity or os.sched_getaffinity(0))
    return Facts(
        python_version=platform.python_version(),
        torch_version=torch_version,
        num_threads=setting.threads or (int(threads[:9]) if threads.isdecimal() and int(threads[:9]) else cpus),
        device=resolve(device, count),
        cuda_device_count=count,
        gpus=[{"index": index, **gpu} for index in range(count)],
    )


def installed_torch() -> str | None:
    """Returns the version of the installed torch; None without torch.

    The file that torch reads its own version from is read here. `importlib.metadata` takes ten times as long.
    """
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        # A finder may refuse a module, and a module that was made by hand has no spec.
        return None
    for folder in (spec and spec.submodule_search_locations) or ():
        with contextlib.suppress(OSError):
            for line in Path(folder, "version.py").read_text(encoding="utf-8").splitlines():
                name, _, value = line.partition("=")
                if name.partition(":")[0].strip() == "__version__":
                    return value.strip(" '\"")
    return None


def expected_environment(facts: Facts, setting: Setting) -> Environment:
    """Returns the environment of an expected run, as far as known without torch."""
    return Environment(
        python_version=facts.python_version,
        torch_version=facts.torch_version,
        os=f"{platform.system()} {platform.release()}",
        cpu_count=os.cpu_count() or 1,
        cpu_affinity=sorted(setting.affinity or os.sched_getaffinity(0)),
        num_threads=facts.num_threads,
        git=Git(commit=None, dirty=None),
    )
