"""Entry point of a generated module that runs as a program.

It is measured in its own process, as upstream does.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from fastrnns_rs.errors import ExitCode, FastrnnsError, UsageError, line
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.inductor.request import DEFAULT_REPEAT, DEFAULT_TIMES, InductorOptions
from fastrnns_rs.worker.inductor.standalone_measurement import measure

#: Argument of Python in an error: `ncu` or `ncu=True`.
_ARGUMENT = re.compile(r"`(\w+)(?:=True)?`")

if TYPE_CHECKING:
    from fastrnns_rs.documents.inductor_report import InductorReport
    from fastrnns_rs.worker.inductor.standalone_measurement import Benchmark


# A module may come from a cache of compiled graphs, so that Dynamo would compile what is here.
@torch.compiler.disable  # type: ignore[untyped-decorator]
def compiled_module_main(
    benchmark_name: str, benchmark_compiled_module_fn: Benchmark, arguments: Sequence[str] | None = None
) -> None:
    """Replaces the function of this name in `torch._inductor.wrapper_benchmark`.

    It has the same flags.

    Args:
        benchmark_name: Name above the table, unless it is torch's placeholder `None`.
        benchmark_compiled_module_fn: Function of `times` and `repeat` that returns the seconds of a call of the module.
            Its file is taken for the module's.
        arguments: Flags; None for those of this process.

    Raises:
        SystemExit: If the measurement failed. The error is on stderr, and the status is a number of `ExitCode`.
    """
    try:
        asked, as_json = options(arguments)
        report = measure(benchmark_compiled_module_fn, asked)
    except FastrnnsError as error:
        _tell(*(visible(one) for one in _error_lines(error)))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    heading = f"{visible(benchmark_name)}\n" if benchmark_name not in {"", "None"} else ""
    _deliver(report.render("json") if as_json else heading + report.render())
    _end(report)


def _end(report: InductorReport) -> None:
    """Exits if some measurement was not done."""
    (row,) = report.modules
    if row.status == "interrupted":
        sys.exit(ExitCode.INTERRUPTED)
    if row.status != "ok":
        _tell(f"error: {visible(row.path)}: {visible(row.reason or '')}")
        sys.exit(ExitCode.FAILED)


def _error_lines(error: FastrnnsError) -> list[str]:
    """Returns the error and its hint, with flags in place of arguments."""
    flags = {one.dest: max(one.option_strings, key=len) for one in _parser()._actions}  # noqa: SLF001  # no public list

    def with_flags(text: str) -> str:
        return _ARGUMENT.sub(lambda found: flags.get(found[1], found[0]), text)

    # A value may have backquotes of its own.
    what = error.what if error.value is not None else with_flags(error.what)
    hint = [f"hint: {with_flags(error.hint)}"] if error.hint else []
    return [f"error: {line(what, flags.get(error.where, error.where), error.reason)}", *hint]


def _deliver(text: str) -> None:
    """Writes to stdout. The reader may close it."""
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
    for one in lines:
        print(one, file=sys.stderr)  # noqa: T201  # this is what a program says


class _Parser(argparse.ArgumentParser):
    """Parser that raises errors instead of printing them and exiting."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"Run: {shlex.join(['python', sys.argv[0], '--help'])}")


def options(arguments: Sequence[str] | None) -> tuple[InductorOptions, bool]:
    """Parses the flags into options, and into True if JSON is requested.

    The parser is argparse instead of Click, because upstream accepts prefixes of flags.

    Args:
        arguments: Flags; None for those of this process.

    Raises:
        UsageError: If the flags are invalid.
        SystemExit: If `--help` was shown.
    """
    given = vars(_parser().parse_args(arguments))
    as_json: bool = given.pop("as_json")
    return InductorOptions(**given), as_json


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(description="Times this module, which torch.compile's Inductor generated.")
    flag = parser.add_argument
    flag("-k", "--benchmark-kernels", dest="kernels", action="store_true", help="time every Triton kernel too")
    flag("-c", "--benchmark-all-configs", dest="all_configs", action="store_true", help="in every configuration too")
    flag("-p", "--profile", action="store_true", help="run under torch.profiler too")
    flag(
        "--cuda-memory-snapshot",
        dest="memory_snapshot",
        action="store_true",
        help="write down what the CUDA allocator does",
    )
    flag("--ncu", action="store_true", help="run under Nsight Compute too")
    flag("--ncu-kernel-regex", metavar="REGEX", help="kernels that ncu looks at (default: all)")
    flag("--ncu-metrics", metavar="NAMES", help="what ncu collects, comma-separated (default: its set full)")
    flag("--times", type=int, metavar="N", default=DEFAULT_TIMES, help="calls in each repeat (default: %(default)s)")
    flag(
        "--repeat", type=int, metavar="N", default=DEFAULT_REPEAT, help="repeats, each a sample (default: %(default)s)"
    )
    flag("--json", dest="as_json", action="store_true", help="write the JSON document")
    flag("--output-dir", type=Path, metavar="FOLDER", help="where traces, snapshots and reports go")
    return parser
