"""`profile` as a function."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, overload

from fastrnns_rs.api.arguments import (
    RUN_DEFAULTS,
    Keywords,
    ProfileArguments,
    choice_of,
    defaults_of,
    fields_of,
    options_of,
    refuse_in_worker,
)
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.profiler_schedule import Schedule
from fastrnns_rs.problem.torch_profiler import TorchOptions
from fastrnns_rs.runners.profile_request import DEFAULT_NLOOPS, DEFAULT_TIMEOUT_S, ProfileRequest, choice
from fastrnns_rs.verbs.profile.tools import PROGRAMS

if TYPE_CHECKING:
    from fastrnns_rs.documents.capture_manifest import Capture
    from fastrnns_rs.runners.runner import Creator
    from fastrnns_rs.verbs.profile.capture_plan import Prepared
    from fastrnns_rs.verbs.profile.capture_run import Place

    Runners: TypeAlias = Sequence[str | Creator] | str | Creator | None

_KEYWORDS = Keywords(
    ProfileArguments,
    {
        **RUN_DEFAULTS,
        "inference": False,
        **defaults_of(ProfileRequest, TorchOptions),
        "nloops": DEFAULT_NLOOPS,
        "timeout": DEFAULT_TIMEOUT_S,
        "schedule": None,
        "tool_path": None,
        "output_dir": None,
        "keep": False,
        "redact": False,
        "baseline": True,
    },
)


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
    processes: int = 1,
    dry_run: Literal[False] = False,
    **arguments: Unpack[ProfileArguments],
) -> list[Capture]: ...
@overload
def profile(
    runners: Runners = None,
    *,
    separate: bool = False,
    processes: int,
    dry_run: Literal[False] = False,
    **arguments: Unpack[ProfileArguments],
) -> Capture | list[Capture]: ...
@overload
def profile(
    runners: Runners = None,
    *,
    separate: bool = False,
    processes: int = 1,
    dry_run: Literal[True],
    **arguments: Unpack[ProfileArguments],
) -> list[list[str]]: ...
@_KEYWORDS.shown
def profile(
    runners: Sequence[str | Creator] | str | Creator | None = None,
    *,
    separate: bool = False,
    processes: int = 1,
    dry_run: bool = False,
    **arguments: Unpack[ProfileArguments],
) -> Capture | list[Capture] | list[list[str]]:
    """Captures runners with a profiler, as `fastrnns-rs profile` does.

    Args:
        runners: Names, or functions decorated with `runner`; with neither groups `cudnn`, `aten` and `jit`.
        separate: A capture of each runner, not one of all.
        processes: Number of captures of each, each of a fresh process; a verdict of `compare` needs three of each side.
        dry_run: Nothing is run, and the command lines are returned that would be.
        arguments: By name:
        groups: Groups of runners.
        variable_lstms: Whether the group `vl_rnns` is captured too, or alone where no other runners are given.
        quick: Small sizes.
        seq_length: Time steps.
        num_layers: Stacked layers.
        input_size: Features of the input.
        hidden_size: Features of the hidden state.
        mini_batch: Sequences or images in a batch.
        image_size: Height and width of images, in pixels.
        mode: `train`, or `inference`: only forward, without gradients and in evaluation mode.
        amp: Forward under autocast to bfloat16.
        channels_last: Images with their channels innermost.
        cudnn_benchmark: Whether cuDNN tries its algorithms for convolutions.
        deterministic: Only algorithms that repeat their results.
        bidirectional: A second layer beside each reads the sequence backwards.
        proj_size: Features that an LSTM's hidden state is projected to; None for no projection.
        warmup: Iterations before the capture begins.
        nloops: Captured iterations.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        dtype: `float32`, `float64`, `float16` or `bfloat16`.
        seed: Seed of inputs and parameters.
        allow_tf32: Whether float32 products may be rounded to TF32.
        threads: Threads of torch on the CPU; None for torch's default.
        timeout: Seconds that a run may take.
        fuser: TorchScript's fuser: `te`, `old`, `none` or `default`.
        executor: TorchScript's executor: `profiling`, `simple`, `legacy` or `default`.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels.
        cuda_pointwise_block_count: Blocks of such a kernel.
        cuda_pointwise_block_size: Threads of such a block.
        tool: `nsys`, `nvprof` or `torch`; None for the one that tells most on this device.
        tool_path: The program of the profiler; None for the newest that is found.
        output_dir: Where the capture goes; None for a folder of the user's data.
        sleep_between_seconds: Pause between two runners.
        inference: Short for the mode `inference`.
        keep: Files that were only a step on the way to others stay.
        redact: Variables, output, and names of machine and user are taken out of the capture.
        baseline: Whether to run without the profiler too, to compare.
        activities: For torch's profiler, as all that follows: what is traced, as `["cpu", "cuda"]` or `"cpu,cuda"`.
        schedule: Which iterations: a `Schedule`, or a text as `"wait=1,warmup=1,active=3,repeat=1,skip-first=0"`.
        on_trace_ready: Where traces go: `chrome:DIR`, `tensorboard:DIR` or `module:function`.
        record_shapes: Shapes of inputs are recorded.
        profile_memory: Allocations are recorded.
        with_stack: Python's calls are recorded.
        with_flops: Operations of matrix products and convolutions are counted.
        with_modules: Modules of TorchScript are recorded.
        group_by_input_shape: The table has a row for each shape of inputs.
        group_by_stack: The table has a row for each of this many calls; 0 is off.
        sort_by: What the table is sorted by; None for own time.
        row_limit: The table's rows; -1 for all.
        memory_timeline: Sizes over time are written.
        memory_snapshot: The history of CUDA's allocator is written.

    Returns:
        The record of the capture, whose `artefacts` name the files; a list of them with `separate`, or with several
        `processes`. With `dry_run` a list of command lines, each a list of words.

    Raises:
        UsageError: An argument makes no sense, or a runner cannot honour it.
        MissingError: The device or the profiler is not there.
        CaptureError: A runner, the profiler or a check failed; its `capture` is the record, its `log` what was printed.
            With `separate` it is the first of them, raised when every runner had its turn.
        KeyboardInterrupt: Ctrl-C; no process is left, and what was captured until then stays.
    """
    from fastrnns_rs.documents import file_names
    from fastrnns_rs.verbs.profile import capture_plan, capture_run

    refuse_in_worker("profile")
    given = _KEYWORDS.of_call("profile", arguments)
    request = _request(runners, given)
    prepared = capture_plan.prepare(request, _programs(given["tool"], given["tool_path"]))
    each = capture_plan.captures_of(prepared, separate=separate, processes=processes)
    folder = file_names.default_folder() if given["output_dir"] is None else Path(given["output_dir"])
    place = capture_run.Place(folder=folder, keep=given["keep"], redact=given["redact"], baseline=given["baseline"])
    if dry_run:
        return [shlex.split(capture_run.dry_run(one, place)) for one in each]
    captures = _captures(each, place)
    return captures if separate or processes > 1 else captures[0]


def _request(runners: object, given: dict[str, Any]) -> ProfileRequest:
    torch = {
        **fields_of(TorchOptions, given),
        "activities": _activities(given["activities"]),
        "schedule": _schedule(given["schedule"]),
    }
    chosen = choice_of(runners, given, choice(variable_lstms=given["variable_lstms"]))
    return ProfileRequest(
        options=options_of({**given, "mode": "inference"} if given["inference"] else given, chosen),
        torch=TorchOptions(**torch),
        **fields_of(ProfileRequest, given, without={"options", "torch"}),
    )


def _activities(given: object) -> tuple[str, ...] | None:
    """What torch's profiler traces, given one by one or as the flag takes it."""
    if given is None:
        return None
    listed = given.replace(",", " ").split() if isinstance(given, str) else given
    found = tuple(listed) if isinstance(listed, Iterable) else (listed,)
    if not all(isinstance(one, str) for one in found):
        raise UsageError(f"activities is {given!r}", 'give names, as ["cpu", "cuda"]')
    return found


def _schedule(given: object) -> Schedule:
    if given is None or isinstance(given, Schedule):
        return given or Schedule()
    if not isinstance(given, str):
        raise UsageError(f"schedule is {given!r}", "give a fastrnns_rs.Schedule, or a text such as wait=1,active=3")
    return Schedule.parse(given)


def _programs(tool: str | None, path: str | os.PathLike[str] | None) -> dict[str, str | None]:
    if path is None:
        return {}
    if tool not in PROGRAMS:
        raise UsageError(f"tool_path is given, and tool is {tool!r}", "say which program it is: nsys or nvprof")
    return {str(tool): os.fspath(path)}


def _captures(each: list[Prepared], place: Place) -> list[Capture]:
    """A capture of each, before the first that failed is told of."""
    from fastrnns_rs.verbs.profile import capture_run

    captures, errors = [], []
    for one in each:
        try:
            captures.append(capture_run.capture(one, place)[0])
        except capture_run.CaptureError as error:
            errors.append(error)
    if errors:
        first, *others = errors
        for other in others:
            first.add_note(f"as did {' '.join(other.capture.runners)}: {other}")
        raise first
    return captures
