"""Function `profile`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, Unpack, overload

from fastrnns_rs.api.arguments import make_choice, make_options, plain_arguments, refuse_in_worker, select_fields
from fastrnns_rs.api.progress import profile_terminal
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.problem.problem import check_count
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.runners.profile_request import ProfileRequest, choice
from fastrnns_rs.verbs.profile.tools import PROGRAMS

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.api.arguments import ProfileArguments, Runners
    from fastrnns_rs.api.progress import Progress
    from fastrnns_rs.documents.capture_manifest import Capture
    from fastrnns_rs.problem.modes import Mode
    from fastrnns_rs.verbs.profile.capture_plan import Prepared
    from fastrnns_rs.verbs.profile.capture_run import Place
    from fastrnns_rs.views.profile_terminal import ProfileTerminal


@overload
def profile(
    runners: Runners = None,
    *,
    separate: Literal[False] = False,
    processes: Literal[1] = 1,
    dry_run: Literal[False] = False,
    **arguments: Unpack[ProfileArguments],
) -> Capture: ...
@overload
def profile(
    runners: Runners = None,
    *,
    separate: Literal[True],
    processes: SupportsIndex = 1,
    dry_run: Literal[False] = False,
    **arguments: Unpack[ProfileArguments],
) -> list[Capture]: ...
@overload
def profile(
    runners: Runners = None,
    *,
    separate: bool = False,
    processes: SupportsIndex,
    dry_run: Literal[False] = False,
    **arguments: Unpack[ProfileArguments],
) -> Capture | list[Capture]: ...
@overload
def profile(
    runners: Runners = None,
    *,
    separate: bool = False,
    processes: SupportsIndex = 1,
    dry_run: Literal[True],
    **arguments: Unpack[ProfileArguments],
) -> list[list[str]]: ...
@checked_keywords(several="runners")
def profile(
    runners: Runners = None,
    *,
    separate: bool = False,
    processes: SupportsIndex = 1,
    dry_run: bool = False,
    groups: Sequence[str] | str | None = None,
    variable_lstms: bool = False,
    seq_length: SupportsIndex | None = None,
    num_layers: SupportsIndex | None = None,
    input_size: SupportsIndex | None = None,
    hidden_size: SupportsIndex | None = None,
    mini_batch: SupportsIndex | None = None,
    image_size: SupportsIndex | None = None,
    mode: Mode = "train",
    amp: bool = False,
    channels_last: bool = False,
    cudnn_benchmark: bool = False,
    deterministic: bool = False,
    bidirectional: bool = False,
    proj_size: SupportsIndex | None = None,
    device: str | torch.device = "auto",
    dtype: str | torch.dtype = "float32",
    seed: SupportsIndex = 0,
    allow_tf32: bool = False,
    threads: SupportsIndex | None = None,
    timeout: float = 900.0,
    fuser: str = "te",
    executor: str | None = None,
    cuda_pointwise_loop_level: SupportsIndex | None = None,
    cuda_pointwise_block_count: SupportsIndex | None = None,
    cuda_pointwise_block_size: SupportsIndex | None = None,
    quick: bool = False,
    warmup: SupportsIndex | None = None,
    nloops: SupportsIndex | None = 5,
    tool: str | None = None,
    tool_path: str | os.PathLike[str] | None = None,
    output_dir: str | os.PathLike[str] | None = None,
    sleep_between_seconds: float = 1.0,
    inference: bool = False,
    keep: bool = False,
    redact: bool = False,
    baseline: bool = True,
    activities: Sequence[str] | str | None = None,
    schedule: Schedule | str | None = None,
    on_trace_ready: str | None = None,
    record_shapes: bool = False,
    profile_memory: bool = False,
    with_stack: bool = False,
    with_flops: bool = False,
    with_modules: bool = False,
    group_by_input_shape: bool = False,
    group_by_stack: SupportsIndex = 0,
    sort_by: str | None = None,
    row_limit: SupportsIndex = 20,
    memory_timeline: bool = False,
    memory_snapshot: bool = False,
    progress: Progress = True,
) -> Capture | list[Capture] | list[list[str]]:
    """Captures runners with a profiler, as `fastrnns-rs profile` does.

    >>> import fastrnns_rs
    >>> capture = fastrnns_rs.profile("py", tool="torch", quick=True, device="cpu", baseline=False)
    >>> capture.ok
    True

    Args:
        runners: Names, or functions decorated with `runner`. None without groups captures `cudnn`, `aten` and `jit`.
        separate: True makes a capture of each runner, False one capture of all.
        processes: Number of captures of each, each of a fresh process. A verdict of `compare` needs three for each
            side.
        dry_run: True runs nothing, and returns the command lines that would run.
        groups: Groups of runners.
        variable_lstms: True captures the group `vl_rnns` too, or alone where no other runners are given.
        quick: True uses small sizes.
        seq_length: Number of time steps.
        num_layers: Number of stacked layers.
        input_size: Number of features of the input.
        hidden_size: Number of features of the hidden state.
        mini_batch: Number of sequences or images in a batch.
        image_size: Height and width of images, in pixels.
        mode: `train`, or `inference`: only forward, without gradients and in evaluation mode.
        amp: True runs forward under autocast to bfloat16.
        channels_last: True stores images with their channels innermost.
        cudnn_benchmark: True lets cuDNN try its algorithms for convolutions.
        deterministic: True uses only algorithms that repeat their results.
        bidirectional: True adds a second layer to each layer, which reads the sequence backwards.
        proj_size: Number of features that an LSTM's hidden state is projected to; None for no projection.
        warmup: Number of iterations before the capture begins.
        nloops: Number of captured iterations. With torch's profiler, `schedule` selects those to record.
        device: `auto`, `cpu`, `cuda` or `cuda:N`, or a `torch.device`.
        dtype: `float32`, `float64`, `float16` or `bfloat16`, or a `torch.dtype`.
        seed: Random seed for inputs and parameters.
        allow_tf32: True allows rounding float32 products to TF32.
        threads: Number of torch's threads on the CPU; None for torch's default.
        timeout: Time limit of a run, in seconds.
        fuser: TorchScript's fuser: `te`, `old`, `none` or `default`.
        executor: TorchScript's executor: `profiling`, `simple`, `legacy` or `default`.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels.
        cuda_pointwise_block_count: Number of blocks of these kernels.
        cuda_pointwise_block_size: Number of threads per block of these kernels.
        tool: `nsys`, `nvprof` or `torch`; None for the tool that reports most on this device.
        tool_path: Path of the profiler's program; None for the newest that is found.
        output_dir: Folder of the capture; None for a folder of the user's data.
        sleep_between_seconds: Pause between two runners, in seconds.
        inference: Short for the mode `inference`.
        keep: True keeps intermediate files.
        redact: True removes variables, output, and names of machine and user from the capture.
        baseline: True also runs without the profiler, to compare.
        activities: Activities to trace, as `["cpu", "cuda"]` or `"cpu,cuda"`. This argument and all that follow are for
            torch's profiler.
        schedule: Recorded iterations, at most 100,000: a `Schedule`, or a text as
            `"wait=1,warmup=1,active=3,repeat=1,skip-first=0"`.
        on_trace_ready: Destination of traces: `chrome:DIR`, `tensorboard:DIR` or `module:function`.
        record_shapes: True records shapes of inputs.
        profile_memory: True records allocations.
        with_stack: True records Python's calls.
        with_flops: True counts operations of matrix products and convolutions.
        with_modules: True records modules of TorchScript.
        group_by_input_shape: True gives the table a row for each shape of inputs.
        group_by_stack: Number of callers that separate rows of the table; 0 turns it off.
        sort_by: Sort key of the table; None for own time.
        row_limit: Number of rows of the table; -1 for all.
        memory_timeline: True writes sizes over time.
        memory_snapshot: True writes the history of CUDA's allocator.
        progress: True shows a bar on a terminal and in a notebook; False shows nothing. A function is called instead
            with the number of finished steps, the number of all or None, and the running step.

    Returns:
        The capture manifest, whose `artefacts` name the files; a list of manifests with `separate`, or with several
        `processes`. With `dry_run` a list of command lines, each a list of words.

    Raises:
        UsageError: If an argument is invalid, or a runner does not support it.
        MissingError: If the device or the profiler is missing.
        CaptureError: If a runner, the profiler or a check fails. Its `capture` is the manifest, its `log` the printed
            output. With `separate` it is the first failure, raised after all runners were captured.
        KeyboardInterrupt: If the user presses Ctrl-C. No process is left running, and files captured until then are
            kept.
    """
    given = plain_arguments(locals())
    from fastrnns_rs.documents import file_names
    from fastrnns_rs.verbs.profile import capture_plan, capture_run

    refuse_in_worker("profile")
    count: int = given["processes"]
    check_count("processes", count, least=1)
    request = _request(runners, given)
    programs = _programs(given["tool"], given["tool_path"])
    folder = file_names.default_folder() if given["output_dir"] is None else Path(given["output_dir"])
    place = capture_run.Place(folder=folder, keep=given["keep"], redact=given["redact"], baseline=given["baseline"])
    names = [runner.name for runner, _ in request.options.choice.runners()]
    expected = ([[name] for name in names] if separate else [names]) * count
    shown = progress if not dry_run else False
    with profile_terminal(shown, names, expected, baseline=place.baseline) as terminal:
        prepared = capture_plan.prepare(request, programs)
        each = capture_plan.plan_captures(prepared, separate=separate, processes=count)
        if dry_run:
            return [shlex.split(capture_run.dry_run(one, place)) for one in each]
        captures = _captures(each, place, terminal)
    return captures if separate or count > 1 else captures[0]


def _request(runners: object, given: dict[str, Any]) -> ProfileRequest:
    torch = {
        **select_fields(TorchOptions, given),
        "activities": _activities(given["activities"]),
        "schedule": _schedule(given["schedule"]),
    }
    chosen = make_choice(runners, given, choice(variable_lstms=given["variable_lstms"]))
    return ProfileRequest(
        options=make_options({**given, "mode": "inference"} if given["inference"] else given, chosen),
        torch=TorchOptions(**torch),
        **select_fields(ProfileRequest, given, without={"options", "torch"}),
    )


def _activities(given: object) -> tuple[str, ...] | None:
    """Returns the activities of torch's profiler, from a list or the flag's text."""
    if given is None:
        return None
    listed = given.replace(",", " ").split() if isinstance(given, str) else given
    found = tuple(listed) if isinstance(listed, Iterable) else (listed,)
    if not all(isinstance(one, str) for one in found):
        hint = 'Use names, such as ["cpu", "cuda"].'
        raise UsageError(f"invalid value: {given!r}", hint, where="activities", value=given)
    return found


def _schedule(given: object) -> Schedule:
    if given is None or isinstance(given, Schedule):
        return given or Schedule()
    if not isinstance(given, str):
        hint = "Use a fastrnns_rs.Schedule, or a text such as wait=1,active=3."
        raise UsageError(f"invalid value: {given!r}", hint, where="schedule", value=given)
    return Schedule.parse(given)


def _programs(tool: str | None, path: str | os.PathLike[str] | None) -> dict[str, str | None]:
    if path is None:
        return {}
    if tool not in PROGRAMS:
        message = f"`tool_path` needs a tool with a program, and `tool` is {tool!r}"
        raise UsageError(message, 'Use `tool="nsys"` or `tool="nvprof"`.')
    return {str(tool): os.fspath(path)}


def _captures(each: list[Prepared], place: Place, terminal: ProfileTerminal | None) -> list[Capture]:
    """Returns all captures, and raises the first failure after all were made."""
    from fastrnns_rs.verbs.profile import capture_run

    captures, errors = [], list[tuple[str, FastrnnsError]]()
    if terminal is not None:
        terminal.plans([[task.runner.name for task in one.plan.tasks] for one in each])
    for index, one in enumerate(each):
        if terminal is not None:
            terminal.capture_begins(index)
        try:
            captures.append(capture_run.capture(one, place, terminal)[0])
        except FastrnnsError as error:
            errors.append((" ".join(task.runner.name for task in one.plan.tasks), error))
            if not capture_run.concerns_one(error):
                break
    if errors:
        (_, first), *others = errors
        for names, other in others:
            first.add_note(f"as did {names}: {other}")
        raise first
    return captures
