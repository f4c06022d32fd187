"""`fastrnns-rs bench`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs._core import run_formats
from fastrnns_rs.cli.options import Count, ListOption, OptionalValueOption, Verb, spelled
from fastrnns_rs.context import EXECUTORS, FUSERS
from fastrnns_rs.errors import ExitCode, UsageError
from fastrnns_rs.planning import DEFAULT_GROUPS, DEFAULT_TIMEOUT_S
from fastrnns_rs.problem import DTYPES

if TYPE_CHECKING:
    from types import FrameType

    from fastrnns_rs.results import Run

COUNT = Count(min=1)

EPILOG = """\b
Examples:
  fastrnns-rs bench --group rnns cnns
  fastrnns-rs bench --group rnns --rnns cudnn jit --hiddenSize 1024 --json
  fastrnns-rs bench --quick --output run.json

Flags may also be spelled with underscores. Defaults may stand in [tool.fastrnns-rs.bench] of pyproject.toml and in
variables such as FASTRNNS_BENCH_NLOOPS."""


@click.command(name="bench", cls=Verb, epilog=EPILOG)
@click.option(
    "--group", cls=ListOption, metavar="NAME...", help="Groups to run: rnns, cnns, vl_rnns, all. [default: cnns rnns]"
)
@click.option("--rnns", cls=ListOption, metavar="NAME...", help="Runners in place of those of the group rnns.")
@click.option("--cnns", cls=ListOption, metavar="NAME...", help="Runners in place of those of the group cnns.")
@click.option(
    "--variable-lstms",
    is_flag=True,
    help="Also run the group vl_rnns. Its slow runners take long, and seqLength only bounds the lengths.",
)
@click.option("--runner-file", type=click.Path(), multiple=True, help="A Python file that defines further runners.")
@click.option(*spelled("seq_length"), type=COUNT, help="Time steps.")
@click.option(*spelled("num_layers"), type=COUNT, help="Stacked layers.")
@click.option(*spelled("input_size"), type=COUNT, help="Features of the input.")
@click.option(*spelled("hidden_size"), type=COUNT, help="Features of the hidden state.")
@click.option(*spelled("mini_batch"), type=COUNT, help="Sequences or images in a batch.")
@click.option("--image-size", type=COUNT, help="Height and width of images, in pixels.")
@click.option("--quick", is_flag=True, help="Small sizes and few iterations, on any device.")
@click.option("--warmup", type=Count(min=0), help="Iterations before the timed ones.")
@click.option("--nloops", type=COUNT, help="Timed iterations.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
@click.option(
    "--dtype", type=click.Choice(DTYPES), default="float32", show_default=True, help="Of parameters and inputs."
)
@click.option("--allow-tf32/--no-allow-tf32", default=False, help="Whether float32 products may be rounded to TF32.")
@click.option("--seed", type=Count(min=0), default=0, show_default=True, help="Of inputs and parameters.")
@click.option("--threads", type=COUNT, help="Threads of torch on the CPU. [default: torch's own]")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    default=DEFAULT_TIMEOUT_S,
    show_default=True,
    help="How long a runner may take.",
)
@click.option("--fuser", type=click.Choice(FUSERS), default="te", show_default=True, help="TorchScript's fuser.")
@click.option("--executor", type=click.Choice(EXECUTORS), help="TorchScript's executor; wins over --fuser.")
@click.option("--cuda-pointwise-loop-level", type=COUNT, help="Loop levels of the fuser's CUDA kernels.")
@click.option("--cuda-pointwise-block-count", type=COUNT, help="Blocks of such a kernel.")
@click.option("--cuda-pointwise-block-size", type=COUNT, help="Threads of such a block.")
@click.option("--sep", default=" ", help="What stands between the columns of the live table.")
@click.option(
    "--print-json",
    cls=OptionalValueOption,
    type=click.Choice(["oss", "pep"]),
    is_flag=False,
    flag_value="oss",
    help="Write fastrnns' JSON to stdout: oss (the default) or pep.",
)
@click.option(
    "--format",
    "format_name",
    envvar="FASTRNNS_BENCH_FORMAT",
    type=click.Choice([name for name, _ in run_formats()]),
    help="What to write to stdout.",
)
@click.option(
    "--json", "as_json", envvar="FASTRNNS_BENCH_JSON", is_flag=True, help="Short for --format json: the run file."
)
@click.option("--output", type=click.Path(path_type=Path), help="Write the run file here, after each runner.")
def command(**given: Any) -> int:
    """Times runners forward and backward, each in a fresh process.

    The live table goes to stderr, a row as each runner ends. Sizes that are not given come from a preset: those of
    PyTorch's fastrnns on CUDA, smaller ones on a CPU.
    """
    from fastrnns_rs import benchmarking, environment, registry
    from fastrnns_rs.documents import check_writable
    from fastrnns_rs.planning import make_plan
    from fastrnns_rs.render.terminal import Terminal

    for path in given["runner_file"]:
        registry.load_file(path)
    format_name = _format(given)
    output: Path | None = given["output"]
    if output is not None:
        check_writable(output)
    options = _options(given)
    # Looked at before torch is asked anything, which takes seconds.
    options.choice.runners()
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Under nohup a hang-up is to be ignored, and stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    facts = environment.probe(options.device, options.dtype)
    plan = make_plan(options, facts)
    terminal = Terminal(given["sep"])
    saver = Saver(output)
    interrupted = False
    try:
        run = benchmarking.execute(
            plan,
            facts,
            command=["fastrnns-rs", *sys.argv[1:]],
            observer=terminal,
            save=saver,
        )
    except benchmarking.Interrupted as stopped:
        run, interrupted = stopped.run, True
    finally:
        terminal.close()
    if format_name is not None:
        # As bytes: a document is UTF-8 whatever the terminal is.
        click.echo(run.render(format_name).encode(), nl=False)
    if interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if run.status == "complete" and not saver.failed else ExitCode.FAILED


class Saver:
    """Writes the run file after each runner. A disk that fills up during a run must not end the run.

    Args:
        path: Where the file goes; None for no file.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.failed = False

    def __call__(self, run: Run) -> None:
        """Writes the run so far, or says why that failed."""
        if self._path is None:
            return
        try:
            run.save(self._path)
        except UsageError as error:
            self.failed = True
            click.echo(f"error: {error.message}\nhint: {error.hint}", err=True)
        else:
            self.failed = False


def _format(given: dict[str, Any]) -> str | None:
    """The one format that stdout is to carry, if any."""
    asked = {
        "--format": given["format_name"],
        "--json": "json" if given["as_json"] else None,
        "--print-json": given["print_json"],
    }
    chosen = {flag: name for flag, name in asked.items() if name is not None}
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} both say what stdout is to carry; give one of them")
    return next(iter(chosen.values()), None)


def _options(given: dict[str, Any]) -> Any:
    from fastrnns_rs.context import JitSettings
    from fastrnns_rs.planning import Choice, Options
    from fastrnns_rs.problem import Sizes

    def take(*names: str) -> dict[str, Any]:
        return {name: given[name] for name in names}

    if given["group"] == ():
        raise click.UsageError("--group needs the name of at least one group")
    return Options(
        choice=Choice(groups=given["group"] or DEFAULT_GROUPS, **take("rnns", "cnns", "variable_lstms")),
        sizes=Sizes(**take("seq_length", "num_layers", "input_size", "hidden_size", "mini_batch", "image_size")),
        jit=JitSettings(
            **take(
                "fuser",
                "executor",
                "cuda_pointwise_loop_level",
                "cuda_pointwise_block_count",
                "cuda_pointwise_block_size",
            )
        ),
        **take("quick", "warmup", "nloops", "device", "dtype", "allow_tf32", "seed", "threads", "timeout"),
    )


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """A request to end is a Ctrl-C: what was measured is kept, and no process stays behind."""
    raise KeyboardInterrupt
