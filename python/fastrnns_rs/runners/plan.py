"""Plan of a run: runners in order, each with its problem or a reason to skip it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.sweep import Point
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.loop import Sync, check_sync
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import (
    PRESETS,
    Preset,
    Problem,
    Sizes,
    check_count,
    check_device,
    check_dtype,
    check_seconds,
    check_seed,
)
from fastrnns_rs.problem.sweep.axes import Axis, moved, points, recorded
from fastrnns_rs.problem.sweep.conditions import Condition, make_row
from fastrnns_rs.problem.sweep.names import flag
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.runner import GROUPS, Runner

if TYPE_CHECKING:
    from fastrnns_rs.machine.facts import Facts

DEFAULT_GROUPS = ("cnns", "rnns")
DEFAULT_TIMEOUT_S = 1800.0
DEFAULT_COMPILE_TIMEOUT_S = 300.0
#: OpenMP crashes with many more threads.
MOST_THREADS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Requested runners.

    Attributes:
        groups: Groups whose runners all run.
        rnns: Names of runners that replace those of the group `rnns`; None or empty for the group's own.
        cnns: The same for `cnns`.
        variable_lstms: True runs the group `vl_rnns` too.
        names: Names of runners to run in addition to any group.
    """

    groups: Sequence[str] = DEFAULT_GROUPS
    rnns: Sequence[str] | None = None
    cnns: Sequence[str] | None = None
    variable_lstms: bool = False
    names: Sequence[str] = ()

    def runners(self) -> list[tuple[Runner, bool]]:
        """Returns the runners in order, each with True if the user named it.

        The order is that in which they run.

        Raises:
            UsageError: If a runner or a group does not exist.
        """
        for group in self.groups:
            registry.members(group)
        by_hand = {"rnns": self.rnns, "cnns": self.cnns}
        chosen: dict[str, bool] = {}
        for group in GROUPS:
            if group in self.groups or registry.ALL in self.groups or (group == "vl_rnns" and self.variable_lstms):
                named = by_hand.get(group)
                chosen |= dict.fromkeys(named, True) if named else dict.fromkeys(registry.members(group), False)
        if registry.ALL in self.groups:
            chosen = dict.fromkeys(registry.members(registry.ALL), False) | chosen
        chosen |= dict.fromkeys(self.names, True)
        return [(registry.find(name), by_hand) for name, by_hand in chosen.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Requested options of a bench; None stands for the preset's or machine's value.

    `axes` are options with several values, and `filters` are conditions that a row must meet to run.
    """

    choice: Choice = field(default_factory=Choice)
    sizes: Sizes = field(default_factory=Sizes)
    modes: Modes = field(default_factory=Modes)
    quick: bool = False
    warmup: int | None = None
    nloops: int | None = None
    sync: Sync = "iteration"
    device: str = "auto"
    dtype: str = "float32"
    seed: int = 0
    allow_tf32: bool = False
    threads: int | None = None
    timeout: float = DEFAULT_TIMEOUT_S
    compile_timeout: float = DEFAULT_COMPILE_TIMEOUT_S
    compile_cache: str | os.PathLike[str] | None = None
    jit: JitSettings = field(default_factory=JitSettings)
    axes: tuple[Axis, ...] = ()
    filters: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        check_count("warmup", self.warmup, least=0)
        check_count("nloops", self.nloops, least=1)
        check_sync(self.sync)
        check_count("threads", self.threads, least=1, most=MOST_THREADS)
        check_seed(self.seed)
        check_device(self.device)
        check_dtype(self.dtype)
        if self.compile_cache is not None and not isinstance(self.compile_cache, str | os.PathLike):
            raise UsageError(
                f"invalid value: {self.compile_cache!r}", "Use the path of a folder.", where="compile_cache"
            )
        for name in ("timeout", "compile_timeout"):
            check_seconds(name, getattr(self, name))
        defaults = {one.name: one.default for kind in (Sizes, Modes, Options) for one in fields(kind)}
        for axis in self.axes:
            holder = next(one for one in (self.sizes, self.modes, self) if hasattr(one, axis.name))
            if defaults[axis.name] is not MISSING and getattr(holder, axis.name) != defaults[axis.name]:
                message = f"two values: `{axis.name}` is an axis and has a value too"
                raise UsageError(message, f"Leave out the axis or `{axis.name}`.")

    @property
    def computed_dtype(self) -> str:
        """Dtype that the device must support; for a sweep over dtypes, the first."""
        return self.computed_dtypes[0]

    @property
    def computed_dtypes(self) -> tuple[str, ...]:
        """Unique dtypes that the device must support.

        Under autocast the dtype differs from that of the parameters.
        """
        each = (one for _, one in self.each())
        return tuple(dict.fromkeys("bfloat16" if one.modes.amp else one.dtype for one in each))

    @property
    def sweeps_amp(self) -> bool:
        """True if mixed precision is requested at some point."""
        return any(one.modes.amp for _, one in self.each())

    def each(self) -> list[tuple[dict[str, Any], Options]]:
        """Returns every point of the axes, with the options at that point."""
        alone = replace(self, axes=())
        return [
            (point, replace(moved(alone, point), sizes=moved(self.sizes, point), modes=moved(self.modes, point)))
            for point in points(self.axes)
        ]


def make_options(
    given: Mapping[str, Any], choice: Choice, *, axes: tuple[Axis, ...] = (), filters: tuple[Condition, ...] = ()
) -> Options:
    """Returns the options of a run, from flags of a command or arguments of a call.

    Args:
        given: Values by name. Missing options have their defaults, and names that are not options are ignored.
        choice: Requested runners.
        axes: Axes of the sweep.
        filters: Conditions that a row must meet to run.

    Raises:
        UsageError: If options are invalid, or contradict each other.
    """
    made = {"choice": choice, "axes": axes, "filters": filters}
    made |= {name: kind(**_fields_in(given, kind)) for name, kind in _PARTS.items()}
    return Options(**{**_fields_in(given, Options), **made})


#: Options that are groups of options.
_PARTS: dict[str, type] = {"sizes": Sizes, "modes": Modes, "jit": JitSettings}


def _fields_in(given: Mapping[str, Any], kind: type) -> dict[str, Any]:
    return {one.name: given[one.name] for one in fields(kind) if one.name in given}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Runner on one problem.

    Attributes:
        runner: Runner.
        problem: Problem that it is built for.
        refusal: Reason why it is skipped; None where it is not skipped.
        by_hand: True if the user named it, False if a group selected it.
        point: Position in a sweep.
    """

    runner: Runner
    problem: Problem
    refusal: str | None
    by_hand: bool = False
    point: Point = field(default_factory=dict)

    def job(self) -> dict[str, Any]:
        """Returns the part of a worker's job that describes the model to build."""
        return {
            "runner": self.runner.name,
            "source": asdict(self.runner.source),
            "problem": asdict(self.problem),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Plan of a run.

    Attributes:
        options: Requested options.
        preset: Source of sizes and counts that were not given.
        warmup: Number of iterations of a profiled runner before the capture begins.
        nloops: Number of captured iterations.
        tasks: Runners in order, including skipped runners.
    """

    options: Options
    preset: Preset
    warmup: int
    nloops: int
    tasks: list[Task]


def make_plan(options: Options, facts: Facts) -> Plan:
    """Returns the plan of a run, before anything runs.

    Raises:
        MissingError: If the device is missing.
        UsageError: If the device does not support the dtype or TF32, or a runner named by hand does not support an
            option.
    """
    chosen = options.each()
    devices = [_device(one, facts, options.computed_dtype) for _, one in chosen]
    device = devices[0]
    preset = PRESETS["quick" if options.quick else "upstream" if device.startswith("cuda") else "cpu"]
    tasks = []
    for runner, by_hand in options.choice.runners():
        for task in _tasks(runner, chosen, preset, device, by_hand=by_hand):
            row = make_row(runner.name, runner.family, task.problem)
            if not all(one.holds(row) for one in options.filters):
                continue
            if task.refusal and by_hand:
                message = f"unsupported runner: {runner.name!r} {task.refusal}"
                needs_package = task.refusal.startswith("needs the package ")
                other = "Install the package" if needs_package else "Change the option that it does not support"
                raise UsageError(message, f"{other}, or leave out the runner.")
            tasks.append(task)
    if not tasks:
        if options.filters:
            asked = ", ".join(map(str, options.filters))
            raise UsageError(f"no rows match the filter: {asked!r}", "Use another condition.", where="filter")
        raise UsageError("no runners to measure", "Name a group or a runner.")
    return Plan(
        options=options,
        preset=preset,
        warmup=preset.warmup if options.warmup is None else options.warmup,
        nloops=options.nloops or preset.nloops,
        tasks=tasks,
    )


def _tasks(
    runner: Runner, chosen: Sequence[tuple[dict[str, Any], Options]], preset: Preset, device: str, *, by_hand: bool
) -> list[Task]:
    """Returns the tasks of a runner, one for each different problem.

    Points that differ only in axes that do not concern the runner share a task.

    Raises:
        UsageError: If the runner was named by hand, and no axis concerns it.
    """
    problems = [
        runner.problem(
            options.sizes,
            preset,
            options.modes,
            dtype=options.dtype,
            device=device,
            seed=options.seed,
            allow_tf32=options.allow_tf32,
        )
        for _, options in chosen
    ]
    axes = [name for name in chosen[0][0] if any(getattr(problem, name) is not None for problem in problems)]
    if by_hand and chosen[0][0] and not axes:
        names = " and ".join(flag(name) for name in chosen[0][0])
        message = f"unsupported axis: runner {runner.name!r} does not use {names}"
        raise UsageError(message, "Leave out the runner or the axis.", where="axes")
    found: dict[Problem, Task] = {}
    for (point, _), problem in zip(chosen, problems, strict=True):
        here = recorded({name: value for name, value in point.items() if name in axes})
        refusal = runner.refusal(problem)
        found.setdefault(problem, Task(runner=runner, problem=problem, refusal=refusal, by_hand=by_hand, point=here))
    return [*found.values()]


def check_works(dtype: str, facts: Facts, *, amp: bool) -> None:
    """Rejects a dtype that the device does not support.

    With `amp` the dtype is, or may be, that of autocast.

    Raises:
        UsageError: If the device does not support it.
    """
    if facts.dtype_problem is not None:
        reason = f"{facts.device}: {facts.dtype_problem}"
        hint = "Leave out `amp` or use another `device`." if amp else "Use another `dtype` or another `device`."
        raise UsageError(f"unsupported dtype: {dtype!r}", hint, where="amp" if amp else "dtype", reason=reason)


def _device(options: Options, facts: Facts, computed: str) -> str:
    """Returns the device, after checks that it exists and supports the options.

    The facts are for the dtype `computed`.
    """
    if facts.device is None:
        raise _unavailable(options.device, facts)
    if facts.device_problem is not None:
        reason = facts.device_problem
        raise UsageError(f"device fails: {facts.device!r}", "Use another `device`.", where="device", reason=reason)
    if options.modes.amp and options.dtype != "float32":
        message = f"`amp` needs float32, and `dtype` is {options.dtype}"
        raise UsageError(message, "Leave out `amp` or `dtype`.")
    if options.computed_dtype == computed:
        check_works(computed, facts, amp=options.modes.amp)
    if options.allow_tf32 and facts.tf32_problem is not None:
        message = f"`allow_tf32` does not work on {facts.device}: {facts.tf32_problem}"
        raise UsageError(message, "Leave out `allow_tf32`.")
    if options.allow_tf32 and options.dtype != "float32":
        message = f"`allow_tf32` needs float32, and `dtype` is {options.dtype}"
        raise UsageError(message, "Leave out `allow_tf32` or `dtype`.")
    if options.modes.cudnn_benchmark and not facts.device.startswith("cuda"):
        message = f"`cudnn_benchmark` needs a CUDA device, and the device is {facts.device}"
        raise UsageError(message, "Leave out `cudnn_benchmark`.")
    return facts.device


def _unavailable(device: str, facts: Facts) -> MissingError:
    """Makes the error for a device that the machine does not have."""
    count = facts.cuda_device_count
    reason = facts.no_cuda_reason or f"this machine has {counted(count, 'CUDA device')}"
    # Where CUDA works, the first of its devices is meant rather than the CPU.
    correction = "cuda:0" if count else "cpu"
    message = f"device not available: {device!r}"
    return MissingError(message, where="device", reason=reason, value=device, correction=correction)
