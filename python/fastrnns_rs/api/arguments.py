"""Keyword arguments of `bench` and `profile`, and their conversion to options."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.modes import Mode, Modes
from fastrnns_rs.problem.problem import Sizes
from fastrnns_rs.problem.sweep.axes import parse_axes
from fastrnns_rs.problem.sweep.conditions import parse_conditions
from fastrnns_rs.processes.worker_setting import MARK
from fastrnns_rs.runners import plan, registry
from fastrnns_rs.runners.plan import Choice, Options

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.problem.loop import Sync
    from fastrnns_rs.problem.profiler_schedule import Schedule

F = TypeVar("F", bound=Callable[..., Any])


class Keywords:
    """Keyword arguments of a function that takes them by `Unpack` of a `TypedDict`.

    Type checkers and editors resolve the `TypedDict`; `help` and this package do not.

    Args:
        described: Types of the arguments.
        defaults: Defaults of the arguments.
    """

    def __init__(self, described: type, defaults: Mapping[str, Any]) -> None:
        self.defaults = {name: defaults[name] for name in described.__annotations__}
        self._described = described

    def shown(self, function: F) -> F:
        """Adds the arguments to the function's signature, so that `help` shows them."""
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=self.defaults[name],
                annotation=getattr(kind, "__forward_arg__", kind),
            )
            for name, kind in self._described.__annotations__.items()
        ]
        vars(function)["__signature__"] = signature.replace(parameters=[*own, *added])
        return function

    def bind_call(self, function: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns all arguments of a call, given or default.

        Raises:
            TypeError: If the call has an unknown argument.
        """
        unknown = given.keys() - self.defaults.keys()
        if unknown:
            raise TypeError(f"{function}() got an unexpected keyword argument {min(unknown)!r}")
        return {**self.defaults, **given}


class ProblemArguments(TypedDict, total=False):
    """Arguments for runners, problem and settings of torch."""

    groups: Sequence[str] | str | None
    variable_lstms: bool
    seq_length: int | None
    num_layers: int | None
    input_size: int | None
    hidden_size: int | None
    mini_batch: int | None
    image_size: int | None
    mode: Mode
    amp: bool
    channels_last: bool
    cudnn_benchmark: bool
    deterministic: bool
    bidirectional: bool
    proj_size: int | None
    device: str
    dtype: str
    seed: int
    allow_tf32: bool
    threads: int | None
    timeout: float
    fuser: str
    executor: str | None
    cuda_pointwise_loop_level: int | None
    cuda_pointwise_block_count: int | None
    cuda_pointwise_block_size: int | None


class RunArguments(ProblemArguments, total=False):
    """`ProblemArguments`, and arguments for the number of iterations."""

    quick: bool
    warmup: int | None
    nloops: int | None


class BenchArguments(RunArguments, total=False):
    """`RunArguments`, and arguments for the extent of the measurement."""

    processes: int | None
    sync: Sync
    rigorous: bool
    stop: str | None
    affinity: str | None
    order_seed: int | None
    devices: Sequence[str] | None
    side_by_side: bool
    sessions: int
    every: str | None
    compile_timeout: float
    compile_cache: str | os.PathLike[str] | None
    axes: Mapping[str, Sequence[int | str | bool] | int | str | bool] | Sequence[str] | str | None
    filter: Sequence[str] | str | None
    resume: Run | str | os.PathLike[str] | None
    history: str | os.PathLike[str] | Literal[False] | None
    progress: bool


class ProfileArguments(RunArguments, total=False):
    """`RunArguments`, and arguments for the capture."""

    tool: str | None
    tool_path: str | os.PathLike[str] | None
    output_dir: str | os.PathLike[str] | None
    sleep_between_seconds: float
    inference: bool
    keep: bool
    redact: bool
    baseline: bool
    activities: Sequence[str] | str | None
    schedule: Schedule | str | None
    on_trace_ready: str | None
    record_shapes: bool
    profile_memory: bool
    with_stack: bool
    with_flops: bool
    with_modules: bool
    group_by_input_shape: bool
    group_by_stack: int
    sort_by: str | None
    row_limit: int
    memory_timeline: bool
    memory_snapshot: bool
    progress: bool


def collect_defaults(*kinds: type) -> dict[str, Any]:
    """Returns the defaults of the fields of dataclasses, by name."""
    return {one.name: one.default for kind in kinds for one in fields(kind) if one.default is not MISSING}


#: Defaults of `bench` and `profile`.
RUN_DEFAULTS = {"groups": None, "variable_lstms": False, **collect_defaults(Options, Sizes, Modes, JitSettings)}


def select_fields(kind: type, given: Mapping[str, Any], *, without: Iterable[str] = ()) -> dict[str, Any]:
    """Returns the arguments that are fields of a dataclass."""
    return {one.name: given[one.name] for one in fields(kind) if one.name not in {*without}}


def make_options(given: Mapping[str, Any], choice: Choice) -> Options:
    """Returns the options of a run, from all arguments of a call."""
    axes, filters = parse_axes(given.get("axes")), parse_conditions(given.get("filter"))
    return plan.make_options(given, choice, axes=axes, filters=filters)


def make_choice(runners: object, given: Mapping[str, Any], otherwise: Choice) -> Choice:
    """Returns the choice of a call's runners and groups; `otherwise` without either."""
    if runners is None and given["groups"] is None:
        return otherwise
    return Choice(
        groups=list_groups(given["groups"]), names=list_names(runners), variable_lstms=given["variable_lstms"]
    )


def list_names(runners: object) -> list[str]:
    """Returns the names of runners, given by name or as functions, one or several.

    Raises:
        UsageError: If a value is neither a name nor a function.
    """
    if runners is None:
        return []
    if isinstance(runners, str) or callable(runners):
        return list_names([runners])
    if not isinstance(runners, Iterable):
        hint = "Use names, or functions decorated with @fastrnns_rs.runner(name)."
        raise UsageError(f"invalid value: {runners!r}", hint, where="runners", value=runners)
    return [one if isinstance(one, str) else registry.find_name(one) for one in runners]


def list_groups(groups: Sequence[str] | str | None) -> list[str]:
    """Returns the names of groups, given as one name or several."""
    return [groups] if isinstance(groups, str) else list(groups or ())


def refuse_in_worker(function: str) -> None:
    """Rejects a call from a file of runners that a worker imports.

    Workers would otherwise start workers without end.

    Raises:
        UsageError: If this is a worker process.
    """
    if MARK in os.environ:
        message = f"call inside a worker process: {function}"
        reason = "a worker process imports the file of the runner"
        raise UsageError(message, 'Put the call under: if __name__ == "__main__":', reason=reason)
