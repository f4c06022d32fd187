"""Function `trainbench`, with the arguments and result of PyTorch's fastrnns."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from fastrnns_rs.api.arguments import plain_arguments
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.errors import MissingError, UsageError
from fastrnns_rs.problem.jit_settings import JitSettings
from fastrnns_rs.problem.problem import PRESETS, Problem, Sizes, check_count, check_device, check_seed, resolve
from fastrnns_rs.runners import registry
from fastrnns_rs.worker.torch_settings import cuda_device_count

if TYPE_CHECKING:
    import torch

    from fastrnns_rs.runners.runner import Creator


class BenchResult(NamedTuple):
    """Result of `trainbench`: the seven fields of PyTorch's fastrnns.

    Times are in milliseconds on every device.

    >>> import fastrnns_rs
    >>> fastrnns_rs.BenchResult._fields
    ('name', 'avg_fwd', 'std_fwd', 'info_fwd', 'avg_bwd', 'std_bwd', 'info_bwd')

    Attributes:
        name: Given name.
        avg_fwd: Mean of the timed forward phases, in milliseconds.
        std_fwd: Standard deviation of the forward phases (n - 1), in milliseconds; None for one loop.
        info_fwd: Timed samples in milliseconds, a tensor of float64.
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


@checked_keywords()
def trainbench(
    name: str,
    rnn_creator: Creator | None = None,
    nloops: SupportsIndex = 100,
    warmup: SupportsIndex = 10,
    seqLength: SupportsIndex = 100,  # noqa: N803
    numLayers: SupportsIndex = 1,  # noqa: N803
    inputSize: SupportsIndex = 512,  # noqa: N803
    hiddenSize: SupportsIndex = 512,  # noqa: N803
    miniBatch: SupportsIndex = 64,  # noqa: N803
    device: str | torch.device = "cuda",
    seed: SupportsIndex | None = None,
) -> BenchResult:
    """Times one model in this process, with the arguments of PyTorch's fastrnns.

    `bench` measures in a fresh process and keeps every sample. `trainbench` is for code that already has a creator.
    TorchScript compiles with the settings of the process; TF32 is off.

    >>> import fastrnns_rs
    >>> found = fastrnns_rs.trainbench("py", nloops=3, warmup=1, seqLength=4, hiddenSize=8, inputSize=8, device="cpu")
    >>> found.info_fwd.shape
    torch.Size([3])

    Args:
        name: Name of the result, and of the runner when no creator is given.
        rnn_creator: Function that takes a `Problem` and returns a `ModelDef`; None for the runner `name`. Pass a
            creator that was written for fastrnns as `lambda problem: creator(**problem.upstream_arguments())`.
        nloops: Number of timed iterations.
        warmup: Number of iterations before the timed iterations.
        seqLength: Number of time steps.
        numLayers: Number of stacked layers.
        inputSize: Number of features of the input.
        hiddenSize: Number of features of the hidden state.
        miniBatch: Number of sequences in a batch.
        device: `auto`, `cpu`, `cuda` or `cuda:N`, or a `torch.device`.
        seed: Random seed for inputs and parameters; None for 0.

    Returns:
        Means, standard deviations and samples.

    Raises:
        UsageError: If an argument is invalid, or there is no such runner.
        MissingError: If the device is missing.
        RunnerError: If the model breaks its contract.
    """
    given = plain_arguments(locals())
    import torch

    from fastrnns_rs.stats import summarize
    from fastrnns_rs.worker.timed_loop import Measurement, exactly, measure

    check_count("nloops", given["nloops"], least=1)
    check_count("warmup", given["warmup"], least=0)
    loops, before, random_seed = given["nloops"], given["warmup"], given["seed"] or 0
    check_device(given["device"])
    check_seed(random_seed)
    sizes = Sizes(
        seq_length=given["seqLength"],
        num_layers=given["numLayers"],
        input_size=given["inputSize"],
        hidden_size=given["hiddenSize"],
        mini_batch=given["miniBatch"],
    )
    where = resolve(given["device"], cuda_device_count())
    if where is None:
        message, value = f"device not available: {given['device']!r}", given["device"]
        raise MissingError(message, where="device", value=value, correction="cpu")
    settings: dict[str, Any] = {"dtype": "float32", "device": where, "seed": random_seed, "allow_tf32": False}
    if rnn_creator is None:
        known = registry.find(name)
        rnn_creator, problem = known.creator, known.problem(sizes, PRESETS["upstream"], **settings)
        refusal = known.refusal(problem)
        if refusal:
            raise UsageError(f"unsupported argument: runner {name!r} {refusal}", "Change the argument.")
    else:
        problem = Problem(**{field.name: getattr(sizes, field.name) for field in fields(sizes)}, **settings)
    measurement = Measurement(before + loops)
    # The random numbers of the caller are not those of the model, which seeds the generators of all devices.
    has_cuda = where != "cpu" or torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(range(torch.cuda.device_count()) if has_cuda else []):
        measure(rnn_creator, problem, JitSettings(fuser="default"), measurement, exactly(before + loops), sync="phase")
    found = measurement.samples()
    forward, backward = found["forward_ns"][before:], found["backward_ns"]

    def phase(samples: list[int]) -> tuple[float, float | None, torch.Tensor]:
        summary = summarize(samples)
        deviation = None if summary.stddev is None else summary.stddev / 1e6
        return summary.mean / 1e6, deviation, torch.tensor(samples, dtype=torch.float64) / 1e6

    return BenchResult(name, *phase(forward), *((None, None, None) if backward is None else phase(backward[before:])))
