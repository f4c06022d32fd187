"""Plan of a benchmark: tasks, loop of a process, number and order of processes."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.documents.sweep import SweepAxis, label
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.loop import Loop
from fastrnns_rs.processes.worker_setting import Setting
from fastrnns_rs.runners.plan import DEFAULT_COMPILE_TIMEOUT_S, Task, make_plan
from fastrnns_rs.verbs.bench.effort import Effort, StopRule, make_loop, seconds_within

if TYPE_CHECKING:
    from fastrnns_rs.machine.facts import Facts
    from fastrnns_rs.runners.plan import Options, Plan


#: Duration of a turn of a live process, in seconds: long beside the first iteration, which fills the caches again, and
#: short beside most changes of a machine.
TURN_S = 0.1
#: Minimum number of turns of a process.
LEAST_TURNS = 10
#: Time of a live process, in times of a process that runs alone: five pairs take about as long as ten.
_LIVE_TIMES = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTask(Task):
    """A task with its setting.

    Attributes:
        jit: TorchScript settings.
        setting: Environment of the workers.
        side: Side of an `ab`; None in other runs.
        on: Device of the task; None if the plan has a single device.
    """

    jit: JitSettings
    setting: Setting
    side: Literal["a", "b"] | None = None
    on: str | None = None

    @property
    def name(self) -> str:
        """Runner, point in the sweep, and device if the plan has several devices."""
        return label(self.runner.name, self.point, self.on)

    @property
    def label(self) -> str:
        """Name of the task in output, with its side."""
        return self.name if self.side is None else f"{self.name} ({self.side})"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPlan:
    """Plan of a benchmark.

    Attributes:
        preset: Name of the preset, and its description.
        tasks: Tasks, including the skipped ones.
        processes: Number of processes of each runner; the minimum if the stop rule is precision.
        loop: Loop of a process, with the rule that ends it.
        rule: Requested stop rule; None without one.
        order_seed: Seed of the order of processes.
        design: Order of processes: `rounds` runs each runner once per round in random order; `pairs` does so with the
            two sides of each runner next to each other. The tasks 2 k and 2 k + 1 are then sides of one pair.
        timeout: Time limit of a worker, in seconds.
        start_s: Time that a worker needs to import torch, in seconds.
        devices: Devices, if there are several; otherwise empty.
        side_by_side: True if the devices measure a runner at the same time, False if one after the other.
        compile_timeout: Time limit of compilation in a worker, in seconds.
        compile_cache: Compiler cache folder of all workers; None if each worker has its own.
        axes: Axes of the sweep.
        sessions: Number of sessions, which share the processes of each runner equally.
        every_s: Time from the start of one session to the start of the next, in seconds.
        turns: Largest number of turns of each process of a live pair; 0 for processes that run one after the other.
    """

    preset: tuple[str, str]
    tasks: list[BenchTask]
    processes: int
    loop: Loop
    rule: StopRule | None
    order_seed: int
    design: Literal["rounds", "pairs"]
    timeout: float
    start_s: float
    devices: tuple[str, ...] = ()
    side_by_side: bool = False
    compile_timeout: float = DEFAULT_COMPILE_TIMEOUT_S
    compile_cache: str | None = None
    axes: tuple[SweepAxis, ...] = ()
    sessions: int = 1
    every_s: float = 0.0
    turns: int = 0

    @property
    def measured(self) -> list[BenchTask]:
        """Tasks that are not skipped."""
        return [task for task in self.tasks if task.refusal is None]

    @property
    def compared(self) -> int:
        """Number of neighbouring tasks that are compared: 2 for `pairs`, else 1."""
        return 2 if self.design == "pairs" else 1


def plan_bench(
    options: Options,
    effort: Effort,
    facts: Facts,
    setting: Setting,
    further: Sequence[Facts] = (),
) -> BenchPlan:
    """Builds the plan of a benchmark before anything runs.

    Args:
        options: Runners and problem.
        effort: Amount of measurements.
        facts: Facts of torch and the device.
        setting: Environment of the workers.
        further: Facts of each device after the first, if a benchmark has several.

    Raises:
        MissingError: If the device does not exist.
        UsageError: If options contradict each other, or a runner named explicitly does not support an option.
    """
    rule = effort.rule()
    names = effort.devices or [options.device]
    wanted = [replace(options, device=name) for name in names]
    base, tasks = _on_devices(wanted, [facts, *further], setting)
    processes = effort.count_processes(base.preset.processes, quick=options.quick)
    start_s = facts.start_s or 0.0
    seconds = base.preset.seconds
    if not effort.rigorous and effort.processes is None:
        running = sum(one.refusal is None for one in tasks)
        seconds = seconds_within(seconds, processes * running, start_s)
    processes *= effort.sessions
    loop = make_loop(rule, warmup=options.warmup, nloops=options.nloops, processes=processes, seconds=seconds)
    loop = replace(loop, sync=options.sync)
    if rule is not None and rule.rule == "time" and 2 * loop.seconds >= options.timeout:
        # A process without a steady state measures for twice the time.
        message = f"timeout too short: {options.timeout:g} s, and a process measures for up to {2 * loop.seconds:g} s"
        raise UsageError(message, "Use more processes, less time or a longer `timeout`.", where="timeout")
    return BenchPlan(
        preset=("rigorous" if effort.rigorous else base.preset.name, base.preset.description),
        tasks=tasks,
        processes=processes,
        loop=loop,
        rule=rule,
        order_seed=int.from_bytes(os.urandom(4), "big") if effort.order_seed is None else effort.order_seed,
        design="rounds",
        timeout=options.timeout,
        start_s=start_s,
        devices=tuple(str(one.device) for one in (facts, *further)) if further else (),
        side_by_side=effort.side_by_side,
        compile_timeout=options.compile_timeout,
        compile_cache=None if options.compile_cache is None else _make_cache_folder(os.fspath(options.compile_cache)),
        axes=tuple(axis.record() for axis in options.axes),
        sessions=effort.sessions,
        every_s=effort.every_s() if effort.sessions > 1 else 0.0,
        turns=max(LEAST_TURNS, math.ceil(_LIVE_TIMES * loop.seconds / TURN_S)) if effort.live else 0,
    )


def _make_cache_folder(folder: str) -> str:
    """Creates the shared cache folder if necessary, and returns its full path.

    Raises:
        UsageError: If the folder cannot be created.
    """
    try:
        if not folder or "\0" in folder:
            raise UsageError(f"invalid folder: {folder!r}", "Use the path of a folder.", where="compile_cache")
        path = Path(folder).resolve()
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        message, hint = f"cannot create folder: {folder!r}", "Use a folder that is writable."
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise UsageError(message, hint, where="compile_cache", reason=reason, value=folder) from error
    return str(path)


def _on_devices(options: Sequence[Options], facts: Sequence[Facts], setting: Setting) -> tuple[Plan, list[BenchTask]]:
    """Returns the plan of the first device, and the tasks of all devices by runner."""
    if len(options) > 1 and any(one.key == "device" for one in options[0].filters):
        raise UsageError("`devices` and a filter by device exclude each other", "Leave out the filter.")
    plans = [make_plan(each, one) for each, one in zip(options, facts, strict=True)]
    first = plans[0]
    if any(one.preset != first.preset for one in plans):
        kinds = " and ".join(dict.fromkeys(one.preset.name for one in plans))
        message = f"devices with different presets: {', '.join(str(one.device) for one in facts)} ({kinds})"
        raise UsageError(message, "Use devices of one kind, or `quick`, which has one preset.", where="devices")
    tasks = [
        BenchTask(
            **{field.name: getattr(one, field.name) for field in fields(one)},
            jit=first.options.jit,
            setting=setting,
            on=one.problem.device if len(plans) > 1 else None,
        )
        for equal in zip(*(plan.tasks for plan in plans), strict=True)
        for one in equal
    ]
    return first, tasks


def group_tasks(plan: BenchPlan) -> list[list[int]]:
    """Groups the indices of tasks that are measured at the same time.

    A group is a single task, one runner on every device, or both sides of a live pair.
    """
    found: dict[object, list[int]] = {}
    for index, task in enumerate(plan.tasks):
        equal = (task.runner.name, task.side, replace(task.problem, device=""))
        key: object = equal if plan.side_by_side and task.refusal is None else index
        if plan.turns:
            key = "live", index // plan.compared
        found.setdefault(key, []).append(index)
    return list(found.values())


def rounds(tasks: int, seed: int, compared: int = 1) -> Iterator[tuple[list[int], int]]:
    """Yields the order of processes round by round, endlessly; equal for equal seeds.

    Each round has each task once, shuffled. Tasks that are compared remain neighbours, in random order, so that the
    differences of pairs are symmetric around the difference of the sides, however the speed of the machine changes.

    Args:
        tasks: Number of tasks.
        seed: Seed of the order.
        compared: Number of successive tasks that remain neighbours.

    Yields:
        The task indices of a round, and the number of processes that each task has had at its end.
    """
    number = 0
    while True:
        # A text gives the same seed in every process, whatever the hash seed is.
        chance = random.Random(f"{seed}:{number}")  # noqa: S311  # an order, not a secret
        number += 1
        starts = chance.sample(range(0, tasks, compared), tasks // compared)
        yield [turn for start in starts for turn in chance.sample(range(start, start + compared), compared)], number
