"""`fastrnns-rs bench`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs._core import run_formats
from fastrnns_rs.cli import running, shared
from fastrnns_rs.cli.options import Count, ListOption, OptionalValueOption, Verb
from fastrnns_rs.errors import ExitCode, UsageError
from fastrnns_rs.planning import DEFAULT_GROUPS, DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from fastrnns_rs.results import Run

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
@running.runner_files
@running.sizes
@click.option("--quick", is_flag=True, help="Small sizes and few iterations, on any device.")
@click.option("--warmup", type=Count(min=0), help="Iterations before the timed ones.")
@click.option("--nloops", type=running.COUNT, help="Timed iterations.")
@running.machine
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    default=DEFAULT_TIMEOUT_S,
    show_default=True,
    help="How long a runner may take.",
)
@running.torchscript
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
    running.note_idle_flags(options.choice)
    shared.interrupt_when_told_to_end()
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
    from fastrnns_rs.planning import Choice, Options

    if given["group"] == ():
        raise click.UsageError("--group needs the name of at least one group")
    return Options(
        choice=Choice(groups=given["group"] or DEFAULT_GROUPS, **shared.take(given, "rnns", "cnns", "variable_lstms")),
        sizes=running.sizes_of(given),
        jit=running.jit_of(given),
        **shared.take(given, "quick", "warmup", "nloops", "timeout", *running.MACHINE),
    )
