"""Options of the verbs that run runners."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli.configuration import Code
from fastrnns_rs.cli.options import Count, F, ListOption, RunnersOption, seconds, several, spelled
from fastrnns_rs.cli.shared import is_flag
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.jit_settings import EXECUTORS, FUSERS
from fastrnns_rs.problem.modes import MODES
from fastrnns_rs.problem.problem import DTYPES
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import DEFAULT_COMPILE_TIMEOUT_S

if TYPE_CHECKING:
    from fastrnns_rs.runners.plan import Choice

COUNT = Count(min=1)

runner_files: Callable[[F], F] = click.option(
    "--runner-file", cls=Code, type=click.Path(), multiple=True, help="A Python file that defines further runners."
)
sizes: Callable[[F], F] = several(
    click.option(*spelled("seq_length"), type=COUNT, help="Time steps."),
    click.option(*spelled("num_layers"), type=COUNT, help="Stacked layers."),
    click.option(*spelled("input_size"), type=COUNT, help="Features of the input."),
    click.option(*spelled("hidden_size"), type=COUNT, help="Features of the hidden state."),
    click.option(*spelled("mini_batch"), type=COUNT, help="Sequences or images in a batch."),
    click.option("--image-size", type=COUNT, help="Height and width of images, in pixels."),
)
machine: Callable[[F], F] = several(
    click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N."),
    click.option(
        "--dtype", type=click.Choice(DTYPES), default="float32", show_default=True, help="Of parameters and inputs."
    ),
    click.option("--allow-tf32/--no-allow-tf32", default=False, help="Whether float32 products may be TF32's."),
    click.option("--seed", type=Count(min=0), default=0, show_default=True, help="Of inputs and parameters."),
    click.option("--threads", type=COUNT, help="Threads of torch on the CPU. [default: torch's own]"),
)
modes: Callable[[F], F] = several(
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
torchscript: Callable[[F], F] = several(
    click.option("--fuser", type=click.Choice(FUSERS), default="te", show_default=True, help="TorchScript's fuser."),
    click.option("--executor", type=click.Choice(EXECUTORS), help="TorchScript's executor; wins over --fuser."),
    click.option("--cuda-pointwise-loop-level", type=COUNT, help="Loop levels of the fuser's CUDA kernels."),
    click.option("--cuda-pointwise-block-count", type=COUNT, help="Blocks of such a kernel."),
    click.option("--cuda-pointwise-block-size", type=COUNT, help="Threads of such a block."),
)


compiling: Callable[[F], F] = several(
    seconds("--compile-timeout", DEFAULT_COMPILE_TIMEOUT_S, "How long a process may compile, each time that it does."),
    click.option(
        "--compile-cache",
        cls=Code,
        type=click.Path(),
        metavar="FOLDER",
        help="Where all processes keep what they compile. [default: a new folder for each]",
    ),
)


def choosing(verb: str, default: str) -> Callable[[F], F]:
    """Returns the options that choose runners: by name, or by group with PyTorch fastrnns' flags.

    Args:
        verb: What the command does with runners, as "time".
        default: Groups or runners without any of these options.
    """
    return several(
        click.argument("runners", nargs=-1, metavar="[RUNNER]..."),
        click.option(
            "--group",
            cls=ListOption,
            metavar="NAME...",
            help=f"Groups to {verb}: rnns, cnns, vl_rnns, all. [default: {default}]",
        ),
        click.option("--rnns", cls=RunnersOption, metavar="NAME...", help="Runners in place of those of group rnns."),
        click.option("--cnns", cls=RunnersOption, metavar="NAME...", help="Runners in place of those of group cnns."),
        click.option("--variable-lstms", is_flag=True, help=f"Also {verb} the group vl_rnns."),
    )


def check_choice(given: dict[str, Any]) -> None:
    """Checks that runners are chosen in one way.

    Raises:
        UsageError: If runners are named and flags choose others, or `--group` names none.
    """
    if given["group"] == ():
        raise UsageError("missing value: --group", "Run: fastrnns-rs list")
    flags = [name for name in ("group", "rnns", "cnns", "variable_lstms") if is_flag(name)]
    if given["runners"] and flags:
        flag = f"--{flags[0].replace('_', '-')}"
        message = f"two choices of runners: {' '.join(given['runners'])} and {flag}"
        raise UsageError(message, f"Leave out {flag}: runners that are named run alone.")


def load_files(given: dict[str, Any]) -> None:
    """Registers the runners of the files that are given."""
    for path in given["runner_file"]:
        registry.load_file(path)


def note_idle_flags(choice: Choice) -> None:
    """Says which flags name runners in vain: they choose among the runners of a group, and the group does not run."""
    for group, named in (("rnns", choice.rnns), ("cnns", choice.cnns)):
        if named and is_flag(group) and not {group, registry.ALL}.intersection(choice.groups):
            click.echo(f"note: --{group} changes nothing: the group {group} does not run", err=True)
