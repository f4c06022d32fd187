"""`bench` as a function."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Unpack

from fastrnns_rs.api.arguments import (
    RUN_DEFAULTS,
    BenchArguments,
    Keywords,
    choice_of,
    defaults_of,
    fields_of,
    options_of,
    refuse_in_worker,
)
from fastrnns_rs.documents.layout import Layout
from fastrnns_rs.documents.run_file import Process, Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.runners.plan import Choice
from fastrnns_rs.verbs.bench.effort import Effort
from fastrnns_rs.verbs.bench.execution import execute
from fastrnns_rs.verbs.bench.preparation import start
from fastrnns_rs.verbs.history.run_history import chosen_history
from fastrnns_rs.verbs.history.run_names import one_run

if TYPE_CHECKING:
    from fastrnns_rs.runners.runner import Creator
    from fastrnns_rs.verbs.history.run_history import RunHistory

_KEYWORDS = Keywords(
    BenchArguments,
    {**RUN_DEFAULTS, **defaults_of(Effort), "axes": None, "filter": None, "resume": None, "history": None},
)


@_KEYWORDS.shown
def bench(runners: Sequence[str | Creator] | str | Creator | None = None, **arguments: Unpack[BenchArguments]) -> Run:
    """Times runners, each in fresh processes, as `fastrnns-rs bench` does.

    Args:
        runners: Names, or functions decorated with `runner` at the top level of a module or script.
        arguments: By name:
        groups: Groups of runners: `rnns`, `cnns`, `vl_rnns`, `all`. With neither argument `cnns` and `rnns` run.
        variable_lstms: Whether the group `vl_rnns` runs too.
        quick: Small sizes, and one short process.
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
        processes: Fresh processes of each runner; None for what the preset says.
        rigorous: Twenty processes.
        stop: The rule that ends the run: `precision:1%`, `time:30s` or `count:100`.
        warmup: Iterations of a process that are kept, but not part of the estimate; None to detect them.
        nloops: Timed iterations of a process; None for as many as its time holds.
        sync: When to wait for a GPU: after each `iteration`, or after each `phase`, which then begins on an idle GPU.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        dtype: `float32`, `float64`, `float16` or `bfloat16`.
        seed: Seed of inputs and parameters; 0 is one like any other.
        allow_tf32: Whether float32 products may be rounded to TF32.
        threads: Threads of torch on the CPU; None for torch's default.
        affinity: The CPUs that processes may use, as `0,2-3`; None for those of this one.
        order_seed: Seed of the order of processes; None for a random one.
        devices: Devices that each runner runs on, as `["cuda:0", "cuda:1"]`, in place of `device`.
        side_by_side: Whether these measure a runner at the same time, rather than one after the other.
        sessions: Number of sessions, each with so many processes.
        every: Time from the start of one session to that of the next, as `20m`; None for ten minutes.
        axes: Options that take several values in turn, every combination of them: `{"hidden_size": [128, 256]}`, or
            texts as the command line takes them, `"hidden-size=pow2:6:10"`.
        filter: What a row must be to be measured, as `hidden-size>=256` or `runner~jit`; several must all hold.
        timeout: Seconds that a process may take.
        fuser: TorchScript's fuser: `te`, `old`, `none` or `default`.
        executor: TorchScript's executor: `profiling`, `simple`, `legacy` or `default`.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels.
        cuda_pointwise_block_count: Blocks of such a kernel.
        cuda_pointwise_block_size: Threads of such a block.
        compile_timeout: Seconds that a process may compile, each time that it does.
        compile_cache: The folder where all processes keep what they compile; None for a new one for each.
        resume: A run that was interrupted, or the path of its file, or its name in the history such as `@last`, to go
            on with; the arguments are to be the same.
        history: Folder that the run is kept in; None for the user's history, False to keep nothing.

    Returns:
        The run. A runner that failed is a result with `status` and `reason`; it raises nothing.

    Raises:
        UsageError: An argument makes no sense, or a runner cannot honour it.
        MissingError: The device is not there.
        KeyboardInterrupt: Ctrl-C; its attribute `run` holds what was measured.
    """
    refuse_in_worker("bench")
    given = _KEYWORDS.of_call("bench", arguments)
    options = options_of(given, choice_of(runners, given, Choice(variable_lstms=given["variable_lstms"])))
    options.choice.runners()
    history = chosen_history(given["history"])
    earlier = given["resume"]
    if earlier is not None and not isinstance(earlier, Run):
        earlier = Run.load(os.fspath(one_run(earlier, history)))
    plan, run = start(options, Effort(**fields_of(Effort, given)), command=sys.argv, resume=earlier)
    return execute(plan, run, save=_keeper(history) if history else lambda _run: None)


def _keeper(history: RunHistory) -> Callable[[Run], None]:
    """Returns a function that keeps a run after each process. A history that cannot be written to is warned of once."""
    layout = Layout(keep=Process)

    def keep(run: Run) -> None:
        try:
            history.keep(run, layout)
        except UsageError as error:
            warnings.warn(f"the run is not kept in the history: {error}", stacklevel=2)

    return keep
