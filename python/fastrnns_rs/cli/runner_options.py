"""Options of the verbs that run runners."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import output_checks
from fastrnns_rs.cli.configuration import Code
from fastrnns_rs.cli.options import Count, F, ListOption, RunnersOption, seconds, several, spelled
from fastrnns_rs.cli.shared import is_flag, take, tell
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.jit_settings import EXECUTORS, FUSERS
from fastrnns_rs.problem.modes import MODES
from fastrnns_rs.problem.problem import DTYPES
from fastrnns_rs.processes.process_state import process_restored
from fastrnns_rs.runners import registry
from fastrnns_rs.runners.plan import DEFAULT_COMPILE_TIMEOUT_S

if TYPE_CHECKING:
    from fastrnns_rs.runners.plan import Choice

COUNT = Count(min=1)

runner_files: Callable[[F], F] = click.option(
    "--runner-file", cls=Code, type=click.Path(), multiple=True, help="Python file that defines more runners."
)
sizes: Callable[[F], F] = several(
    click.option(*spelled("seq_length"), type=COUNT, help="Time steps."),
    click.option(*spelled("num_layers"), type=COUNT, help="Stacked layers."),
    click.option(*spelled("input_size"), type=COUNT, help="Features of the input."),
    click.option(*spelled("hidden_size"), type=COUNT, help="Features of the hidden state."),
    click.option(*spelled("mini_batch"), type=COUNT, help="Sequences or images per batch."),
    click.option("--image-size", type=COUNT, help="Height and width of images, in pixels."),
)
machine: Callable[[F], F] = several(
    click.option("--device", default="auto", show_default=True, help="Device: auto, cpu, cuda or cuda:N."),
    click.option(
        "--dtype",
        type=click.Choice(DTYPES),
        default="float32",
        show_default=True,
        help="Data type of parameters and inputs.",
    ),
    click.option(
        "--allow-tf32/--no-allow-tf32", default=False, help="Allow TF32 in float32 products and convolutions."
    ),
    click.option(
        "--seed", type=Count(min=0), default=0, show_default=True, help="Random seed for inputs and parameters."
    ),
    click.option("--threads", type=COUNT, help="CPU threads of torch. [default: torch's own]"),
)
modes: Callable[[F], F] = several(
    click.option(
        "--mode",
        type=click.Choice(MODES),
        default="train",
        show_default=True,
        help="train: forward and backward. inference: forward only, without gradients.",
    ),
    click.option("--amp/--no-amp", default=False, help="Run forward under autocast to bfloat16."),
    click.option("--channels-last/--no-channels-last", default=False, help="Store images with channels last."),
    click.option(
        "--cudnn-benchmark/--no-cudnn-benchmark",
        default=False,
        help="Let cuDNN time its convolution algorithms and use the fastest.",
    ),
    click.option("--deterministic/--no-deterministic", default=False, help="Use only deterministic algorithms."),
    click.option("--bidirectional/--no-bidirectional", default=False, help="Make recurrent layers bidirectional."),
    click.option("--proj-size", type=COUNT, help="Size of the projected hidden state of an LSTM."),
)
torchscript: Callable[[F], F] = several(
    click.option("--fuser", type=click.Choice(FUSERS), default="te", show_default=True, help="TorchScript's fuser."),
    click.option(
        "--executor", type=click.Choice(EXECUTORS), help="TorchScript's executor. Overrides the one of --fuser."
    ),
    click.option("--cuda-pointwise-loop-level", type=COUNT, help="Loop levels of CUDA kernels of the fuser."),
    click.option("--cuda-pointwise-block-count", type=COUNT, help="Blocks of CUDA kernels of the fuser."),
    click.option("--cuda-pointwise-block-size", type=COUNT, help="Threads per block of CUDA kernels of the fuser."),
)


compiling: Callable[[F], F] = several(
    seconds("--compile-timeout", DEFAULT_COMPILE_TIMEOUT_S, "Time limit for each compilation."),
    click.option(
        "--compile-cache",
        cls=Code,
        type=click.Path(),
        metavar="FOLDER",
        help="Compiler cache that all processes share. [default: a new folder for each process]",
    ),
)


def choosing(
    verb: str,
    default: str,
    *,
    rnns: str = "Runners to use instead of the members of group rnns.",
    cnns: str = "Runners to use instead of the members of group cnns.",
) -> Callable[[F], F]:
    """Returns the options that choose runners by name or by group.

    The flags for groups are PyTorch fastrnns' flags.

    Args:
        verb: Verb that the help applies to runners, such as "time".
        default: Groups or runners that run without any of these options.
        rnns: Help of `--rnns`.
        cnns: Help of `--cnns`.
    """
    return several(
        click.argument("runners", nargs=-1, metavar="[RUNNER]..."),
        click.option(
            "--group",
            cls=ListOption,
            metavar="NAME...",
            help=f"Groups to {verb}: rnns, cnns, vl_rnns, all. [default: {default}]",
        ),
        click.option("--rnns", cls=RunnersOption, metavar="NAME...", help=rnns),
        click.option("--cnns", cls=RunnersOption, metavar="NAME...", help=cnns),
        click.option("--variable-lstms", is_flag=True, help=f"Also {verb} the group vl_rnns."),
    )


def check_choice(given: dict[str, Any]) -> None:
    """Checks that runners are chosen in one way.

    Raises:
        UsageError: If runners are named and flags choose others, or `--group` has no value.
    """
    if given["group"] == ():
        raise UsageError("missing value: --group", "Run: fastrnns-rs list")
    flags = [name for name in ("group", "rnns", "cnns", "variable_lstms") if is_flag(name)]
    if given["runners"] and flags:
        flag = f"--{flags[0].replace('_', '-')}"
        message = f"two choices of runners: {' '.join(given['runners'])!r} and {flag}"
        raise UsageError(message, f"Leave out {flag}: named runners run alone.", where="RUNNER")


def make_choice(given: dict[str, Any], default: Sequence[str]) -> Choice:
    """Returns the chosen runners: the named runners, or the members of groups.

    Args:
        given: Values of the options.
        default: Groups without `--group`.

    Raises:
        UsageError: If runners are chosen in two ways, or `--group` has no value.
    """
    from fastrnns_rs.runners.plan import Choice

    check_choice(given)
    if given["runners"]:
        return Choice(groups=(), names=given["runners"])
    return Choice(groups=given["group"] or default, **take(given, "rnns", "cnns", "variable_lstms"))


def load_files(given: dict[str, Any]) -> None:
    """Registers the runners of the given files.

    Raises:
        UsageError: If a file cannot be loaded, or an output of the command is a module of a runner's code.
    """
    for path in given["runner_file"]:
        # Changes of plug-ins are not those of the file.
        registry.all_runners()
        # The process of `--internal-run` runs the runners, too.
        with contextlib.nullcontext() if given.get("internal_run") else process_restored(f"the file {path!r}"):
            registry.load_file(path)
    output_checks.check_not_code(given)


def note_idle_flags(choice: Choice) -> None:
    """Prints the flags without effect: the group of their runners does not run."""
    for group, named in (("rnns", choice.rnns), ("cnns", choice.cnns)):
        if named and is_flag(group) and not {group, registry.ALL}.intersection(choice.groups):
            tell([f"note: --{group} changes nothing: the group {group} does not run"])
