"""What a generated module calls when it is run as a program: measured in this very process, as upstream does."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import torch

from fastrnns_rs.errors import ExitCode, FastrnnsError, printable
from fastrnns_rs.worker.inductor.standalone_measurement import measure
from fastrnns_rs.worker.inductor.standalone_options import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.inductor_report import InductorReport
    from fastrnns_rs.worker.inductor.standalone_measurement import Benchmark


# A module may come from a cache of compiled graphs, so that Dynamo would compile what is here.
@torch.compiler.disable  # type: ignore[untyped-decorator]
def compiled_module_main(
    benchmark_name: str, benchmark_compiled_module_fn: Benchmark, arguments: Sequence[str] | None = None
) -> None:
    """Stands in for the function of the same name in `torch._inductor.wrapper_benchmark`; with the same flags.

    Args:
        benchmark_name: What the module belongs to; shown above the table, unless it is torch's word for nothing,
            `None`.
        benchmark_compiled_module_fn: Takes `times` and `repeat`, and returns how many seconds a call of the module
            took. Its file is taken for the module's.
        arguments: The flags; None for those of this process.

    Raises:
        SystemExit: Something is wrong; it is told on stderr, and the status is a number of `ExitCode`.
    """
    try:
        asked, as_json = options(arguments)
        report = measure(benchmark_compiled_module_fn, asked)
    except FastrnnsError as error:
        _tell(f"error: {printable(error.message)}", *([f"hint: {printable(error.hint)}"] if error.hint else []))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    heading = f"{printable(benchmark_name)}\n" if benchmark_name not in {"", "None"} else ""
    _deliver(report.render("json") if as_json else heading + report.render())
    _end(report)


def _end(report: InductorReport) -> None:
    """Leaves, where not all was done."""
    (row,) = report.modules
    if row.status == "interrupted":
        sys.exit(ExitCode.INTERRUPTED)
    if row.status != "ok":
        _tell(f"error: {printable(row.path)}: {printable(row.reason or '')}")
        sys.exit(ExitCode.FAILED)


def _deliver(text: str) -> None:
    """Writes to stdout; whoever reads it may leave."""
    stream: Any = sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # Python would complain when it flushes at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _tell(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)  # noqa: T201  # this is what a program says
