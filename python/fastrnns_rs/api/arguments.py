"""Arguments of functions that run models, and their conversion to options."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypedDict

from fastrnns_rs.documents.argument_checks import SWITCH, check_size, check_value
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.sweep.axes import parse_axes
from fastrnns_rs.problem.sweep.conditions import parse_conditions
from fastrnns_rs.processes.worker_setting import MARK
from fastrnns_rs.runners import plan, registry
from fastrnns_rs.runners.plan import Choice, Options

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.api.progress import Progress
    from fastrnns_rs.problem.modes import Mode
    from fastrnns_rs.problem.profiler_schedule import Schedule
    from fastrnns_rs.runners.runner import Creator

    #: Runners as names, or as functions decorated with `runner`: one or several.
    Runners: TypeAlias = Sequence[str | Creator] | str | Creator | None
    #: Values of an axis: one, several, or a text such as `pow2:6:10`.
    AxisValues: TypeAlias = Sequence[SupportsIndex | str | torch.dtype] | SupportsIndex | str | torch.dtype


class ProblemArguments(TypedDict, total=False):
    """Arguments for runners, problem and settings of torch."""

    groups: Sequence[str] | str | None
    variable_lstms: bool
    seq_length: SupportsIndex | None
    num_layers: SupportsIndex | None
    input_size: SupportsIndex | None
    hidden_size: SupportsIndex | None
    mini_batch: SupportsIndex | None
    image_size: SupportsIndex | None
    mode: Mode
    amp: bool
    channels_last: bool
    cudnn_benchmark: bool
    deterministic: bool
    bidirectional: bool
    proj_size: SupportsIndex | None
    device: str | torch.device
    dtype: str | torch.dtype
    seed: SupportsIndex
    allow_tf32: bool
    threads: SupportsIndex | None
    timeout: float
    fuser: str
    executor: str | None
    cuda_pointwise_loop_level: SupportsIndex | None
    cuda_pointwise_block_count: SupportsIndex | None
    cuda_pointwise_block_size: SupportsIndex | None


class RunArguments(ProblemArguments, total=False):
    """`ProblemArguments`, and arguments for the number of iterations."""

    quick: bool
    warmup: SupportsIndex | None
    nloops: SupportsIndex | None


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
    group_by_stack: SupportsIndex
    sort_by: str | None
    row_limit: SupportsIndex
    memory_timeline: bool
    memory_snapshot: bool
    progress: Progress


#: Arguments that are True or False in every function.
_SWITCHES = {
    name for name, kind in RunArguments.__annotations__.items() if getattr(kind, "__forward_arg__", "") == "bool"
}


def plain_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a call with plain values.

    Devices and dtypes of torch become texts, and integers of other libraries become integers.

    Args:
        given: Arguments by name.

    Raises:
        UsageError: If a switch is neither True nor False.
    """
    several = {"axes", "devices"}
    plain = {name: _plain_items(name, one) if name in several else _plain(name, one) for name, one in given.items()}
    return plain | {name: check_value(SWITCH, name, given[name]) for name in _SWITCHES & given.keys()}


def _plain_items(name: str, value: Any) -> Any:
    """Returns a list, or lists by key, with plain values."""
    if isinstance(value, Mapping):
        return {key: _plain_items(name, one) for key, one in value.items()}
    return [_plain(name, one) for one in value] if isinstance(value, (list, tuple)) else _plain(name, value)


def _plain(name: str, value: Any) -> Any:
    check_size(name, value)
    kind = type(value)
    if kind.__module__ == "torch" and kind.__name__ in {"device", "dtype"}:
        return str(value).removeprefix("torch.")
    if not isinstance(value, (int, str)) and hasattr(kind, "__index__"):
        # An array of several numbers has no index.
        with suppress(TypeError):
            return operator.index(value)
    return value


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


def list_groups(groups: object) -> list[str]:
    """Returns the names of groups, given as one name or several.

    Raises:
        UsageError: If the value is neither a name nor several.
    """
    if isinstance(groups, str):
        return [groups]
    if groups is not None and not isinstance(groups, Iterable):
        raise UsageError(f"invalid value: {groups!r}", "Use names of groups.", where="groups", value=groups)
    return list(groups or ())


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
