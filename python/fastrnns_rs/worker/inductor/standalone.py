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

from fastrnns_rs.errors import FastrnnsError, MissingError, UsageError, closest, line
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.inductor.request import DEFAULT_REPEAT, DEFAULT_TIMES, InductorOptions
from fastrnns_rs.worker.inductor.standalone_measurement import measure

#: Exit codes of a module that runs as a program, which are those of `fastrnns-rs`.
_FAILED, _INTERRUPTED = 1, 130
_STATUSES: tuple[tuple[type[FastrnnsError], int], ...] = ((UsageError, 2), (MissingError, 5))
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
        SystemExit: If the measurement failed. The error is on stderr, and the status is an exit code of `fastrnns-rs`.
    """
    try:
        asked, as_json = options(arguments)
        report = measure(benchmark_compiled_module_fn, asked)
    except FastrnnsError as error:
        _tell(*(visible(one) for one in _error_lines(error)))
        sys.exit(next((status for kind, status in _STATUSES if isinstance(error, kind)), _FAILED))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    heading = f"{visible(benchmark_name)}\n" if benchmark_name not in {"", "None"} else ""
    _deliver(report.render("json") if as_json else heading + report.render())
    _end(report)


def _end(report: InductorReport) -> None:
    """Exits if some measurement was not done."""
    (row,) = report.modules
    if row.status == "interrupted":
        sys.exit(_INTERRUPTED)
    if row.status != "ok":
        _tell(f"error: {visible(row.path)}: {visible(row.reason or '')}")
        sys.exit(_FAILED)


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


#: Errors of argparse as errors of this package: a pattern, what failed, and the hint.
_ERRORS = (
    (r"argument (?P<flag>\S+): invalid int value: '(?P<value>.*)'", "invalid integer: {value!r}", "Use an integer."),
    (r"argument (?P<flag>\S+): expected one argument", "missing value: {flag}", ""),
    (r"argument (?P<flag>\S+): ignored explicit argument '(?P<value>.*)'", "unexpected value: {value!r}", ""),
    (r"ambiguous option: (?P<flag>\S+) could match (?P<value>.*)", "ambiguous option: {flag}", "Use one of {value}."),
)


class _Parser(argparse.ArgumentParser):
    """Parser that raises errors of this package."""

    def error(self, message: str) -> NoReturn:
        for pattern, what, hint in _ERRORS:
            if found := re.fullmatch(pattern, message, re.DOTALL):
                flag, value = found["flag"].rpartition("/")[2], found.groupdict().get("value")
                where = "" if "{flag}" in what else flag
                message = what.format(flag=flag, value=value)
                raise UsageError(message, hint.format(value=value) or self._help(), where=where)
        raise UsageError(message, self._help())

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """Raises the error for words that the parser does not know."""
        word = words[0]
        if not word.startswith("-"):
            raise UsageError(f"unexpected argument: {word!r}", self._help())
        flags = [one.removeprefix("--") for action in self._actions for one in action.option_strings]
        meant = closest(word.partition("=")[0].lstrip("-"), flags)
        raise UsageError(f"unknown option: {word}", self._help() if meant is None else f"Use --{meant}.")

    def _help(self) -> str:
        return f"Run: {shlex.join(['python', sys.argv[0], '--help'])}"


def options(arguments: Sequence[str] | None) -> tuple[InductorOptions, bool]:
    """Parses the flags into options, and into True if JSON is requested.

    The parser is argparse instead of Click, because upstream accepts prefixes of flags.

    Args:
        arguments: Flags; None for those of this process.

    Raises:
        UsageError: If the flags are invalid.
        SystemExit: If `--help` was shown.
    """
    parser = _parser()
    found, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.refuse(unknown)
    given = vars(found)
    as_json: bool = given.pop("as_json")
    return InductorOptions(**given), as_json


def _parser() -> _Parser:
    parser = _Parser(description="Times this module, which torch.compile's Inductor generated.")
    flag = parser.add_argument
    flag("-k", "--benchmark-kernels", dest="kernels", action="store_true", help="time each Triton kernel too")
    flag(
        "-c",
        "--benchmark-all-configs",
        dest="all_configs",
        action="store_true",
        help="time each configuration of each Triton kernel",
    )
    flag("-p", "--profile", action="store_true", help="run under torch.profiler too")
    flag(
        "--cuda-memory-snapshot",
        dest="memory_snapshot",
        action="store_true",
        help="write a snapshot of the CUDA allocator",
    )
    flag("--ncu", action="store_true", help="run under Nsight Compute too")
    flag("--ncu-kernel-regex", metavar="REGEX", help="kernels that ncu profiles (default: all)")
    flag(
        "--ncu-metrics", metavar="NAMES", help="metrics that ncu collects, separated by commas (default: the set full)"
    )
    flag("--times", type=int, metavar="N", default=DEFAULT_TIMES, help="calls per repeat (default: %(default)s)")
    flag(
        "--repeat",
        type=int,
        metavar="N",
        default=DEFAULT_REPEAT,
        help="repeats; each repeat is one sample (default: %(default)s)",
    )
    flag("--json", dest="as_json", action="store_true", help="write the JSON document")
    flag("--output-dir", type=Path, metavar="FOLDER", help="folder for traces, snapshots and reports")
    return parser
