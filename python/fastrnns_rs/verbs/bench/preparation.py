"""Preparation of a plan and its run from the requested options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError, exclusive
from fastrnns_rs.machine import environment, warnings
from fastrnns_rs.problem.problem import resolve
from fastrnns_rs.processes.launcher import Executor, launch_together
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import check_works
from fastrnns_rs.verbs.bench.bench_plan import plan_bench
from fastrnns_rs.verbs.bench.effort import make_loop
from fastrnns_rs.verbs.bench.plan_sync import agreed
from fastrnns_rs.verbs.bench.resumption import resumed
from fastrnns_rs.verbs.bench.run_init import new_run

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.machine.facts import Facts
    from fastrnns_rs.runners.plan import Options
    from fastrnns_rs.verbs.bench.bench_plan import BenchPlan
    from fastrnns_rs.verbs.bench.effort import Effort
    from fastrnns_rs.verbs.bench.rank_group import RankGroup


def start(
    options: Options,
    effort: Effort,
    *,
    command: Sequence[str],
    resume: Run | None = None,
    rank_group: RankGroup | None = None,
    executor: Executor = launch_together,
) -> tuple[BenchPlan, Run]:
    """Probes torch in a child process, and builds the plan and its run.

    Args:
        options: Runners and problem.
        effort: Amount of measurements.
        command: Command that the run file records.
        resume: Interrupted run to continue; None for a new run.
        rank_group: Ranks that `torchrun` started, including this process; None without ranks.
        executor: Function that runs the child process.

    Raises:
        MissingError: If the device does not exist, or torch is not installed.
        UsageError: If an option is invalid, or the run cannot be resumed.
        FastrnnsError: If torch does not work.
        KeyboardInterrupt: If Ctrl-C was pressed.
    """
    # Invalid options are reported before torch is probed, which takes seconds.
    processes = effort.count_processes(1, quick=options.quick)
    make_loop(effort.rule(), warmup=options.warmup, nloops=options.nloops, processes=processes, seconds=1.0)
    setting = Setting(threads=options.threads, affinity=effort.cpus())
    local_rank = None if rank_group is None else rank_group.world.local_rank
    facts, *further = collect_facts(options, effort.devices, setting, local_rank=local_rank, executor=executor)
    for dtype in options.computed_dtypes[1:]:
        for device in [one.device or options.device for one in (facts, *further)]:
            found = environment.probe(device, dtype, setting, executor=executor)
            check_works(dtype, found, amp=options.sweeps_amp)
    if rank_group is not None:
        facts = rank_group.own_device(facts, options.device)
    plan = plan_bench(options, effort, facts, setting, further)
    run = new_run(plan, environment.describe(facts, setting), command)
    devices = plan.devices or [plan.tasks[0].problem.device]
    run = replace(run, warnings=[*run.warnings, *warnings.check_devices(run.environment, devices)])
    if rank_group is not None:
        if plan.sessions > 1:
            raise UsageError("`sessions` does not work under torchrun", "Start torchrun again for each session.")
        return agreed(rank_group, plan, run)
    return (plan, run) if resume is None else resumed(resume, plan, run, order_seed=effort.order_seed)


def collect_facts(
    options: Options,
    devices: Sequence[str] | None,
    setting: Setting,
    *,
    local_rank: int | None = None,
    executor: Executor = launch_together,
) -> list[Facts]:
    """Collects facts of torch and of each device.

    Args:
        options: Device, if there is only one, and dtype.
        devices: Devices, if there are several; otherwise None.
        setting: Environment of the child process.
        local_rank: Local rank of this process; None without ranks.
        executor: Function that runs the child process.

    Raises:
        UsageError: If one device and several devices are both requested.
        MissingError: If torch is not installed.
        FastrnnsError: If torch does not work.
        KeyboardInterrupt: If Ctrl-C was pressed.
    """
    if not devices:
        asked = options.device, options.computed_dtype, setting
        return [environment.probe(*asked, local_rank=local_rank, executor=executor)]
    if options.device != "auto":
        raise exclusive("device", "devices")
    first = environment.probe(devices[0], options.computed_dtype, setting, executor=executor)
    return [first, *(_another(first, one, options.computed_dtype, setting, executor) for one in devices[1:])]


def _another(known: Facts, device: str, dtype: str, setting: Setting, executor: Executor) -> Facts:
    """Returns the facts of a further device.

    A device of the same kind as the known device is not probed.
    """
    found = resolve(device, known.cuda_device_count)
    kinds = [None if one is None else _kind(known, one) for one in (known.device, found)]
    if kinds[0] == kinds[1] or found is None:
        return replace(known, device=found)
    return environment.probe(device, dtype, setting, executor=executor)


def _kind(facts: Facts, device: str) -> object:
    if not device.startswith("cuda"):
        return device
    gpu = facts.gpus[int(device.partition(":")[2] or 0)]
    return gpu["name"], gpu["compute_capability"]
