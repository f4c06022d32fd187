"""What `import fastrnns_rs` offers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from fastrnns_rs import benchmarking, environment, registry
from fastrnns_rs.context import JitSettings
from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError
from fastrnns_rs.launching import MARK
from fastrnns_rs.planning import DEFAULT_TIMEOUT_S, Choice, Options, make_plan
from fastrnns_rs.problem import PRESETS, Problem, Sizes, check_count, check_device, check_seed, resolve
from fastrnns_rs.registry import runner
from fastrnns_rs.results import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from fastrnns_rs.runners import Creator

__all__ = [
    "BenchResult",
    "FastrnnsError",
    "MissingError",
    "Problem",
    "Run",
    "UsageError",
    "bench",
    "runner",
    "trainbench",
]


def bench(
    runners: Sequence[str | Creator] | str | Creator | None = None,
    *,
    groups: Sequence[str] | str | None = None,
    quick: bool = False,
    seq_length: int | None = None,
    num_layers: int | None = None,
    input_size: int | None = None,
    hidden_size: int | None = None,
    mini_batch: int | None = None,
    image_size: int | None = None,
    warmup: int | None = None,
    nloops: int | None = None,
    device: str = "auto",
    dtype: str = "float32",
    seed: int = 0,
    allow_tf32: bool = False,
    threads: int | None = None,
    timeout: float = DEFAULT_TIMEOUT_S,
    fuser: str = "te",
    executor: str | None = None,
    cuda_pointwise_loop_level: int | None = None,
    cuda_pointwise_block_count: int | None = None,
    cuda_pointwise_block_size: int | None = None,
) -> Run:
    """Times runners, each in a fresh process, as `fastrnns-rs bench` does.

    Args:
        runners: Names, or functions decorated with `runner` at the top level of a module or script.
        groups: Groups of runners: `rnns`, `cnns`, `vl_rnns`, `all`. With neither argument `cnns` and `rnns` run.
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
    if MARK in os.environ:
        message = "bench was called while a worker process imported the runner's file"
        raise UsageError(message, 'put the call under: if __name__ == "__main__":')
    options = Options(
        choice=_choice(runners, groups),
        sizes=Sizes(
            seq_length=seq_length,
            num_layers=num_layers,
            input_size=input_size,
            hidden_size=hidden_size,
            mini_batch=mini_batch,
            image_size=image_size,
        ),
        quick=quick,
        warmup=warmup,
        nloops=nloops,
        device=device,
        dtype=dtype,
        seed=seed,
        allow_tf32=allow_tf32,
        threads=threads,
        timeout=timeout,
        jit=JitSettings(
            fuser=fuser,
            executor=executor,
            cuda_pointwise_loop_level=cuda_pointwise_loop_level,
            cuda_pointwise_block_count=cuda_pointwise_block_count,
            cuda_pointwise_block_size=cuda_pointwise_block_size,
        ),
    )
    options.choice.runners()
    facts = environment.probe(device, dtype)
    plan = make_plan(options, facts)
    return benchmarking.execute(plan, facts, command=sys.argv)


class BenchResult(NamedTuple):
    """What `trainbench` returns: the seven fields of PyTorch's fastrnns, in milliseconds on every device.

    Attributes:
        name: The name that was given.
        avg_fwd: Mean of the timed forward phases.
        std_fwd: Their standard deviation (n - 1); None for one loop.
        info_fwd: The timed samples, a tensor of float64.
        avg_bwd: As for forward; None where the model has no backward.
        std_bwd: As for forward.
        info_bwd: As for forward.
    """

    name: str
    avg_fwd: float
    std_fwd: float | None
    info_fwd: torch.Tensor
    avg_bwd: float | None
    std_bwd: float | None
    info_bwd: torch.Tensor | None


def trainbench(
    name: str,
    rnn_creator: Creator | None = None,
    nloops: int = 100,
    warmup: int = 10,
    seqLength: int = 100,  # noqa: N803
    numLayers: int = 1,  # noqa: N803
    inputSize: int = 512,  # noqa: N803
    hiddenSize: int = 512,  # noqa: N803
    miniBatch: int = 64,  # noqa: N803
    device: str = "cuda",
    seed: int | None = None,
) -> BenchResult:
    """Times one model in this process, with the arguments of PyTorch's fastrnns.

    `bench` measures in a fresh process and keeps every sample; this is for code that has a creator at hand. TorchScript
    compiles as the process is set to; TF32 is off.

    Args:
        name: Name of the result, and of the runner when no creator is given.
        rnn_creator: Takes a `Problem`, returns a `ModelDef`. A creator that was written for fastrnns is called by
            `lambda problem: creator(**problem.upstream_arguments())`.
        nloops: Timed iterations.
        warmup: Iterations before them.
        seqLength: Time steps.
        numLayers: Stacked layers.
        inputSize: Features of the input.
        hiddenSize: Features of the hidden state.
        miniBatch: Sequences in a batch.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        seed: Seed of inputs and parameters; None for 0.

    Returns:
        Means, deviations and samples.

    Raises:
        UsageError: An argument makes no sense, or there is no such runner.
        MissingError: The device is not there.
        RunnerError: The model broke its contract.
    """
    import torch

    from fastrnns_rs.measuring import Measurement, measure
    from fastrnns_rs.stats import summarize

    check_count("nloops", nloops, least=1)
    check_count("warmup", warmup, least=0)
    check_device(device)
    check_seed(seed or 0)
    sizes = Sizes(
        seq_length=seqLength, num_layers=numLayers, input_size=inputSize, hidden_size=hiddenSize, mini_batch=miniBatch
    )
    where = resolve(device, torch.cuda.device_count() if torch.cuda.is_available() else 0)
    if where is None:
        raise MissingError(f"there is no device {device}", "use the device cpu")
    settings: dict[str, Any] = {"dtype": "float32", "device": where, "seed": seed or 0, "allow_tf32": False}
    if rnn_creator is None:
        known = registry.find(name)
        rnn_creator, problem = known.creator, known.problem(sizes, PRESETS["upstream"], **settings)
        refusal = known.refusal(problem)
        if refusal:
            raise UsageError(f"{name} cannot do this: {refusal}", "change the argument")
    else:
        problem = Problem(**{field.name: getattr(sizes, field.name) for field in fields(sizes)}, **settings)
    measurement = Measurement(warmup, nloops)
    measure(rnn_creator, problem, JitSettings(fuser="default"), measurement)
    found = measurement.samples()
    forward, backward = found["forward_ns"][warmup:], found["backward_ns"]

    def phase(samples: list[int]) -> tuple[float, float | None, torch.Tensor]:
        summary = summarize(samples)
        deviation = None if summary.stddev is None else summary.stddev / 1e6
        return summary.mean / 1e6, deviation, torch.tensor(samples, dtype=torch.float64) / 1e6

    return BenchResult(name, *phase(forward), *((None, None, None) if backward is None else phase(backward[warmup:])))


def _choice(runners: Sequence[str | Creator] | str | Creator | None, groups: Sequence[str] | str | None) -> Choice:
    if runners is None and groups is None:
        return Choice()
    if runners is not None and not isinstance(runners, str | Iterable) and not callable(runners):
        raise UsageError(f"runners is {runners!r}", "give names, or functions decorated with @fastrnns_rs.runner(name)")
    listed = [] if runners is None else [runners] if isinstance(runners, str) or callable(runners) else list(runners)
    groups = [groups] if isinstance(groups, str) else list(groups or ())
    return Choice(groups=groups, names=[one if isinstance(one, str) else registry.name_of(one) for one in listed])
