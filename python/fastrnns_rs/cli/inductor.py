"""`fastrnns-rs inductor`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastrnns_rs.cli import shared
from fastrnns_rs.cli.options import Verb
from fastrnns_rs.cli.running import COUNT
from fastrnns_rs.errors import ExitCode, printable
from fastrnns_rs.inductor.document import FORMATS
from fastrnns_rs.inductor.planning import DEFAULT_REPEAT, DEFAULT_TIMEOUT_S, DEFAULT_TIMES, InductorOptions

if TYPE_CHECKING:
    from fastrnns_rs.inductor.document import InductorReport
    from fastrnns_rs.inductor.finding import Generated

EPILOG = """\b
Examples:
  fastrnns-rs inductor --from-cache
  fastrnns-rs inductor module.py --profile
  TORCHINDUCTOR_BENCHMARK_KERNEL=1 python train.py
  fastrnns-rs inductor --from-cache --benchmark-all-configs --json"""


@click.command(name="inductor", cls=Verb, epilog=EPILOG)
@click.argument("modules", nargs=-1, type=click.Path(path_type=Path), metavar="[MODULE.py|FOLDER]...")
@click.option(
    "--from-cache", is_flag=True, help="The newest module in Inductor's cache, with its forward if it is a backward."
)
@click.option("--times", type=COUNT, default=DEFAULT_TIMES, show_default=True, help="Calls in each repeat.")
@click.option("--repeat", type=COUNT, default=DEFAULT_REPEAT, show_default=True, help="Repeats, each of them a sample.")
@click.option("-k", "--benchmark-kernels", "kernels", is_flag=True, help="Time every Triton kernel too.")
@click.option(
    "-c",
    "--benchmark-all-configs",
    "all_configs",
    is_flag=True,
    help="Time every configuration of every Triton kernel too.",
)
@click.option("-p", "--profile", is_flag=True, help="Run under torch.profiler too.")
@click.option(
    "--cuda-memory-snapshot", "memory_snapshot", is_flag=True, help="Write down what the CUDA allocator does."
)
@click.option("--ncu", is_flag=True, help="Run under Nsight Compute too.")
@click.option("--ncu-kernel-regex", metavar="REGEX", help="Kernels that ncu looks at. [default: all]")
@click.option("--ncu-metrics", metavar="NAMES", help="What ncu collects, comma-separated. [default: its set full]")
@click.option("--ncu-path", metavar="FILE", help="The ncu to run. [default: the one on the path]")
@click.option(
    "--output-dir", type=click.Path(path_type=Path), metavar="FOLDER", help="Where traces, snapshots and reports go."
)
@click.option("--threads", type=COUNT, help="Threads of torch on the CPU. [default: torch's own]")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    default=DEFAULT_TIMEOUT_S,
    show_default=True,
    help="How long each step of a module may take.",
)
@click.option(
    "--format",
    "format_name",
    envvar="FASTRNNS_INDUCTOR_FORMAT",
    type=click.Choice(FORMATS),
    help="What to write. [default: table]",
)
@click.option("--json", "as_json", envvar="FASTRNNS_INDUCTOR_JSON", is_flag=True, help="Short for --format json.")
@click.option("--output", type=click.Path(path_type=Path), help="Write to this file in place of stdout.")
def command(**given: Any) -> int:
    """Times modules that torch.compile's Inductor generated, and their kernels.

    A module's code is executed, in a process of its own: measure only what you trust.
    """
    from fastrnns_rs.cli.devices import refuse_ranks
    from fastrnns_rs.inductor import finding
    from fastrnns_rs.inductor.running import Interrupted, measure

    refuse_ranks("inductor")
    format_name = shared.format_of(given) or "table"
    output: Path | None = given["output"]
    asked = InductorOptions(
        **shared.take(given, "times", "repeat", "kernels", "all_configs", "profile", "memory_snapshot"),
        **shared.take(given, "ncu", "ncu_kernel_regex", "ncu_metrics", "ncu_path", "output_dir", "threads", "timeout"),
    )
    if not given["modules"] and not given["from_cache"]:
        raise click.UsageError("no module is named: give files or folders, --from-cache or --runner")
    modules = [*finding.find(given["modules"]), *(finding.newest() if given["from_cache"] else [])]
    if output is not None:
        from fastrnns_rs.documents import check_writable

        shared.check_not_read(output, [one.path for one in modules])
        check_writable(output)
    shared.interrupt_when_told_to_end()
    progress = _Progress()
    interrupted = False
    try:
        report = measure(modules, asked, progress.shows)
    except Interrupted as stopped:
        report, interrupted = stopped.report, True
    finally:
        progress.close()
    shared.deliver(report.render(format_name), output)
    shared.tell_warnings(report.warnings)
    shared.tell(_failures(report))
    if interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if report.ok else ExitCode.FAILED


def _failures(report: InductorReport) -> list[str]:
    return [
        f"error: {printable(one.path)}: {printable(one.reason or '')}"
        for one in report.modules
        if one.status in {"failed", "timed_out"}
    ]


class _Progress:
    """Which module is measured, and how far it is, in one line that goes away; on a terminal only."""

    def __init__(self) -> None:
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def shows(self, module: Generated, step: str, done: int, of: int) -> None:
        """Shows the step that begins."""
        if self._shown:
            click.echo(f"\r\x1b[K[{done + 1}/{of}] {printable(module.path.stem)[:20]}: {step}", err=True, nl=False)

    def close(self) -> None:
        """Takes the line away."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
