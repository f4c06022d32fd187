"""Options of the verbs that run runners, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fastrnns_rs.cli.options import Count, spelled
from fastrnns_rs.cli.shared import is_flag, take
from fastrnns_rs.problem.jit_settings import EXECUTORS, FUSERS, JitSettings
from fastrnns_rs.problem.modes import MODES, Modes
from fastrnns_rs.problem.problem import DTYPES, Sizes
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import DEFAULT_COMPILE_TIMEOUT_S

if TYPE_CHECKING:
    from fastrnns_rs.runners.plan import Choice

F = TypeVar("F", bound=Callable[..., Any])
COUNT = Count(min=1)

_SIZES = ("seq_length", "num_layers", "input_size", "hidden_size", "mini_batch", "image_size")
COMPILING = ("compile_timeout", "compile_cache")
MACHINE = ("device", "dtype", "allow_tf32", "seed", "threads")
_MODES = ("mode", "amp", "channels_last", "cudnn_benchmark", "deterministic", "bidirectional", "proj_size")
_TORCHSCRIPT = (
    "fuser",
    "executor",
    "cuda_pointwise_loop_level",
    "cuda_pointwise_block_count",
    "cuda_pointwise_block_size",
)


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator for several, which keeps their order in the help."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


runner_files: Callable[[F], F] = _all(
    click.option("--runner-file", type=click.Path(), multiple=True, help="A Python file that defines further runners."),
)
sizes: Callable[[F], F] = _all(
    click.option(*spelled("seq_length"), type=COUNT, help="Time steps."),
    click.option(*spelled("num_layers"), type=COUNT, help="Stacked layers."),
    click.option(*spelled("input_size"), type=COUNT, help="Features of the input."),
    click.option(*spelled("hidden_size"), type=COUNT, help="Features of the hidden state."),
    click.option(*spelled("mini_batch"), type=COUNT, help="Sequences or images in a batch."),
    click.option("--image-size", type=COUNT, help="Height and width of images, in pixels."),
)
machine: Callable[[F], F] = _all(
    click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N."),
    click.option(
        "--dtype", type=click.Choice(DTYPES), default="float32", show_default=True, help="Of parameters and inputs."
    ),
    click.option("--allow-tf32/--no-allow-tf32", default=False, help="Whether float32 products may be TF32's."),
    click.option("--seed", type=Count(min=0), default=0, show_default=True, help="Of inputs and parameters."),
    click.option("--threads", type=COUNT, help="Threads of torch on the CPU. [default: torch's own]"),
)
modes: Callable[[F], F] = _all(
    click.option(
        "--mode",
        type=click.Choice(MODES),
        default="train",
        show_default=True,
        help="inference: only forward, without gradients and in evaluation mode.",
    ),
    click.option("--amp/--no-amp", default=False, help="Forward under autocast to bfloat16."),
    click.option("--channels-last/--no-channels-last", default=False, help="Images with their channels innermost."),
    click.option(
        "--cudnn-benchmark/--no-cudnn-benchmark", default=False, help="cuDNN tries its algorithms for convolutions."
    ),
    click.option(
        "--deterministic/--no-deterministic", default=False, help="Only algorithms that repeat their results."
    ),
    click.option(
        "--bidirectional/--no-bidirectional", default=False, help="A second layer beside each reads backwards."
    ),
    click.option("--proj-size", type=COUNT, help="Features that an LSTM's hidden state is projected to."),
)
torchscript: Callable[[F], F] = _all(
    click.option("--fuser", type=click.Choice(FUSERS), default="te", show_default=True, help="TorchScript's fuser."),
    click.option("--executor", type=click.Choice(EXECUTORS), help="TorchScript's executor; wins over --fuser."),
    click.option("--cuda-pointwise-loop-level", type=COUNT, help="Loop levels of the fuser's CUDA kernels."),
    click.option("--cuda-pointwise-block-count", type=COUNT, help="Blocks of such a kernel."),
    click.option("--cuda-pointwise-block-size", type=COUNT, help="Threads of such a block."),
)


compiling: Callable[[F], F] = _all(
    click.option(
        "--compile-timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        default=DEFAULT_COMPILE_TIMEOUT_S,
        show_default=True,
        help="How long a process may compile, each time that it does.",
    ),
    click.option(
        "--compile-cache",
        type=click.Path(),
        metavar="FOLDER",
        help="Where all processes keep what they compile. [default: a new folder for each]",
    ),
)


def note_idle_flags(choice: Choice) -> None:
    """Says which flags name runners in vain: they choose among the runners of a group, and the group does not run."""
    for group, named in (("rnns", choice.rnns), ("cnns", choice.cnns)):
        if named and is_flag(group) and not {group, registry.ALL}.intersection(choice.groups):
            click.echo(f"note: --{group} changes nothing: the group {group} does not run", err=True)


def sizes_of(given: dict[str, Any]) -> Sizes:
    """The sizes that were given."""
    return Sizes(**take(given, *_SIZES))


def modes_of(given: dict[str, Any]) -> Modes:
    """How models are to be run."""
    return Modes(**take(given, *_MODES))


def jit_of(given: dict[str, Any]) -> JitSettings:
    """How TorchScript is to compile."""
    return JitSettings(**take(given, *_TORCHSCRIPT))
