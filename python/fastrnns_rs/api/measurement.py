"""Function `bench`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, SupportsIndex

from fastrnns_rs.api.arguments import make_choice, make_options, plain_arguments, refuse_in_worker, select_fields
from fastrnns_rs.api.progress import bench_terminal
from fastrnns_rs.api.run_saver import RunSaver
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.runners.plan import Choice
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import execute
from fastrnns_rs.verbs.bench.expected_run import expected_run
from fastrnns_rs.verbs.bench.preparation import start
from fastrnns_rs.verbs.history.run_history import chosen_history

if TYPE_CHECKING:
    import os

    import torch

    from fastrnns_rs.api.arguments import AxisValues, Runners
    from fastrnns_rs.api.progress import Progress
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.problem.loop import Sync
    from fastrnns_rs.problem.modes import Mode


@checked_keywords(several="runners")
def bench(
    runners: Runners = None,
    *,
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
    timeout: float = 1800.0,
    fuser: str = "te",
    executor: str | None = None,
    cuda_pointwise_loop_level: SupportsIndex | None = None,
    cuda_pointwise_block_count: SupportsIndex | None = None,
    cuda_pointwise_block_size: SupportsIndex | None = None,
    quick: bool = False,
    warmup: SupportsIndex | None = None,
    nloops: SupportsIndex | None = None,
    processes: SupportsIndex | None = None,
    sync: Sync = "iteration",
    rigorous: bool = False,
    stop: str | None = None,
    affinity: str | None = None,
    order_seed: SupportsIndex | None = None,
    devices: Sequence[str | torch.device] | None = None,
    side_by_side: bool = False,
    sessions: SupportsIndex = 1,
    every: str | None = None,
    compile_timeout: float = 300.0,
    compile_cache: str | os.PathLike[str] | None = None,
    axes: Mapping[str, AxisValues] | Sequence[str] | str | None = None,
    filter: Sequence[str] | str | None = None,  # noqa: A002  # its name on the command line
    resume: Run | str | os.PathLike[str] | None = None,
    history: str | os.PathLike[str] | Literal[False] | None = None,
    progress: Progress = True,
) -> Run:
    """Times runners, each in fresh processes, as `fastrnns-rs bench` does.

    Sizes and counts take any integer, also of NumPy.

    >>> import fastrnns_rs
    >>> run = fastrnns_rs.bench(["cudnn", "py"], quick=True, device="cpu")
    >>> [result.runner for result in run]
    ['cudnn', 'py']

    Args:
        runners: Names, or functions decorated with `runner` at the top level of a module or script.
        groups: Groups of runners: `rnns`, `cnns`, `vl_rnns`, `all`. Without `runners` and `groups`, `cnns` and `rnns`
            run.
        variable_lstms: True runs the group `vl_rnns` too.
        quick: True uses small sizes, and one short process per runner.
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
        processes: Number of fresh processes of each runner; None for the preset's number.
        rigorous: True starts twenty processes per runner.
        stop: Rule that ends the run: `precision:1%`, `time:30s` or `count:100`.
        warmup: Iterations of a process that are kept, but not part of the point estimate; None to detect them.
        nloops: Number of timed iterations of a process; None for as many as fit in its time.
        sync: Time to wait for a GPU: after each `iteration`, or after each `phase`, which then begins on an idle GPU.
        device: `auto`, `cpu`, `cuda` or `cuda:N`, or a `torch.device`.
        dtype: `float32`, `float64`, `float16` or `bfloat16`, or a `torch.dtype`.
        seed: Random seed for inputs and parameters; 0 has no special meaning.
        allow_tf32: True allows rounding float32 products to TF32.
        threads: Number of torch's threads on the CPU; None for torch's default.
        affinity: CPUs that processes may use, as `0,2-3`; None for those of this process.
        order_seed: Random seed for the order of processes; None for a random seed.
        devices: Devices that each runner runs on, as `["cuda:0", "cuda:1"]`, instead of `device`.
        side_by_side: True measures a runner on these devices at the same time, False one after the other.
        sessions: Number of sessions, each with `processes` processes of each runner.
        every: Time from the start of one session to the start of the next, as `20m`; None for ten minutes.
        axes: Options with several values, of which every combination runs: `{"hidden_size": [128, 256]}`, or texts as
            on the command line, `"hidden-size=pow2:6:10"`.
        filter: Condition of the rows to measure, as `hidden-size>=256` or `runner~jit`; several must all be met.
        timeout: Time limit of a process, in seconds.
        fuser: TorchScript's fuser: `te`, `old`, `none` or `default`.
        executor: TorchScript's executor: `profiling`, `simple`, `legacy` or `default`.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels.
        cuda_pointwise_block_count: Number of blocks of these kernels.
        cuda_pointwise_block_size: Number of threads per block of these kernels.
        compile_timeout: Time limit of each compilation in a process, in seconds.
        compile_cache: Folder for the compiled code of all processes; None for a new folder for each.
        resume: Interrupted run to continue, or the path of its file, or its name in the history such as `@last`. All
            other arguments must be the same.
        history: Folder that the run is kept in; None for the user's history, False to keep nothing.
        progress: True shows the table and a bar on a terminal, and the bar in a notebook; False shows nothing. A
            function is called instead with the number of finished processes, the number of all or None, and the running
            step.

    Returns:
        The run. A runner that failed is a result with `status` and `reason`, and raises no error.

    Raises:
        UsageError: If an argument is invalid, or a runner does not support it.
        MissingError: If the device is missing.
        KeyboardInterrupt: If the user presses Ctrl-C; its attribute `run` has the results so far, or is None.
    """
    given = plain_arguments(locals())
    refuse_in_worker("bench")
    # Ctrl-C also comes while plug-ins are imported.
    with RunSaver(chosen_history(history)) as saver:
        options = make_options(given, make_choice(runners, given, Choice(variable_lstms=given["variable_lstms"])))
        options.choice.runners()
        effort = Effort(**select_fields(Effort, given, without=("until_decided", "live")))
        with bench_terminal(progress) as terminal:
            earlier = None if resume is None else saver.load(resume)
            if terminal is not None and earlier is None:
                # The probe of torch takes seconds. The real plan reports invalid arguments.
                with suppress(FastrnnsError):
                    terminal.expects(*expected_run(options, effort))
            plan, run = start(options, effort, command=sys.argv, resume=earlier)
            return execute(plan, run, observer=terminal, save=saver.save)
