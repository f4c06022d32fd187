"""`bench` as a function."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from fastrnns_rs import benchmarking, environment
from fastrnns_rs.api.arguments import (
    BENCH_DEFAULTS,
    BenchArguments,
    groups_of,
    names_of,
    options_of,
    refuse_in_worker,
)
from fastrnns_rs.api.keywords import Keywords
from fastrnns_rs.planning import Choice, make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from fastrnns_rs.results import Run
    from fastrnns_rs.runners import Creator

_KEYWORDS = Keywords(BenchArguments, BENCH_DEFAULTS)


@_KEYWORDS.shown
def bench(runners: Sequence[str | Creator] | str | Creator | None = None, **arguments: Unpack[BenchArguments]) -> Run:
    """Times runners, each in a fresh process, as `fastrnns-rs bench` does.

    Args:
        runners: Names, or functions decorated with `runner` at the top level of a module or script.
        arguments: By name:
        groups: Groups of runners: `rnns`, `cnns`, `vl_rnns`, `all`. With neither argument `cnns` and `rnns` run.
        variable_lstms: Whether the group `vl_rnns` runs too.
        quick: Small sizes and few iterations.
        seq_length: Time steps.
        num_layers: Stacked layers.
        input_size: Features of the input.
        hidden_size: Features of the hidden state.
        mini_batch: Sequences or images in a batch.
        image_size: Height and width of images, in pixels.
        warmup: Iterations that are run and kept, but not part of the estimate.
        nloops: Timed iterations.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        dtype: `float32`, `float64`, `float16` or `bfloat16`.
        seed: Seed of inputs and parameters; 0 is one like any other.
        allow_tf32: Whether float32 products may be rounded to TF32.
        threads: Threads of torch on the CPU; None for torch's default.
        timeout: Seconds that a runner may take.
        fuser: TorchScript's fuser: `te`, `old`, `none` or `default`.
        executor: TorchScript's executor: `profiling`, `simple`, `legacy` or `default`.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels.
        cuda_pointwise_block_count: Blocks of such a kernel.
        cuda_pointwise_block_size: Threads of such a block.

    Returns:
        The run. A runner that failed is a result with `status` and `reason`; it raises nothing.

    Raises:
        UsageError: An argument makes no sense, or a runner cannot honour it.
        MissingError: The device is not there.
        KeyboardInterrupt: Ctrl-C; its attribute `run` holds what was measured.
    """
    refuse_in_worker("bench")
    given = _KEYWORDS.of_call("bench", arguments)
    options = options_of(given, _choice(runners, given["groups"], variable_lstms=given["variable_lstms"]))
    options.choice.runners()
    facts = environment.probe(options.device, options.dtype)
    plan = make_plan(options, facts)
    return benchmarking.execute(plan, facts, command=sys.argv)


def _choice(runners: object, groups: Sequence[str] | str | None, *, variable_lstms: bool) -> Choice:
    if runners is None and groups is None:
        return Choice(variable_lstms=variable_lstms)
    return Choice(groups=groups_of(groups), names=names_of(runners), variable_lstms=variable_lstms)
