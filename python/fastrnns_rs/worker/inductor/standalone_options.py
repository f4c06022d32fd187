"""The flags of a generated module that benchmarks itself: upstream's, with `--json` and `--output-dir` besides."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.inductor.request import DEFAULT_REPEAT, DEFAULT_TIMES, InductorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Parser(argparse.ArgumentParser):
    """Raises what it does not take, rather than print and leave."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"{self.prog} --help shows what it takes")


def options(arguments: Sequence[str] | None) -> tuple[InductorOptions, bool]:
    """What the flags ask for, and whether the result is to be JSON.

    Argparse, where all else here is Click: a prefix of a flag will do, as it does for upstream.

    Args:
        arguments: The flags; None for those of this process.

    Raises:
        UsageError: They make no sense.
        SystemExit: `--help` was shown.
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
