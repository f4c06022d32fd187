"""Two benchmarks of times and one of memory, for pyperf."""

from __future__ import annotations

import pyperf

NUMBERS = [(7 * one) % 1009 for one in range(1009)]


def allocated() -> None:
    _ = [*NUMBERS, *NUMBERS]


def forward_only(command: list[str], arguments: object) -> None:
    """Lets the workers know which benchmark was asked for."""
    if arguments.only:
        command.extend(["--only", arguments.only])


runner = pyperf.Runner(add_cmdline_args=forward_only)
runner.argparser.add_argument("--only")
only = runner.parse_args().only
# The name of the kernel's build says which machine this was, as the host name does.
runner.metadata["platform"] = "Linux-x86_64-with-glibc2.36"
if only in {None, "sorted"}:
    runner.bench_func("sorted", sorted, NUMBERS)
if only in {None, "sum"}:
    runner.bench_func("sum", sum, NUMBERS)
if only == "allocated":
    runner.bench_func("allocated", allocated)
