"""Reads captures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs._core import Trace
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.reporting.sources import opened
from fastrnns_rs.reporting.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Inductor:
    """What `torch._inductor.wrapper_benchmark` knows of a module and a capture does not.

    Args:
        wall_time_ms: How long one run took without a profiler.
        runs: How many runs the capture holds.
        name: What the line for tabulating calls the benchmark.
    """

    wall_time_ms: float
    runs: int = 1
    name: str = "unknown"

    def __post_init__(self) -> None:
        # From a nanosecond to thirty years: beyond that ratios are no numbers.
        if not 1e-6 <= self.wall_time_ms <= 1e12 or not 1 <= self.runs < 2**63:  # noqa: PLR2004
            raise UsageError(
                "Inductor's view needs a wall time above 0 (a nanosecond to 10^12 ms) and at least one run",
                "see --wall-time-ms and --runs",
            )


def read(
    *paths: str | Path,
    devices: Iterable[int] = (),
    streams: Iterable[int] = (),
    processes: Iterable[int] = (),
    pattern: str | None = None,
    since_ns: int | None = None,
    until_ns: int | None = None,
    by_shape: bool = False,
    categories: str | Path | None = None,
    inductor: Inductor | None = None,
    strict: bool = False,
    nsys_path: str | None = None,
) -> Summary:
    """Reads captures and says where their time went.

    What a file is, is told by its content: a trace of `torch.profiler` (compressed or not), an export of nsys to
    SQLite, a report of nsys (which the installed nsys exports), or a capture record of `profile`.

    Args:
        paths: One or more files, which are summarised together.
        devices: Numbers of the devices that count; all unless given, as with the next two.
        streams: Numbers of the streams that count.
        processes: Numbers of the processes that count.
        pattern: A regular expression that is found in the names of the kernels, memory operations and calls that count.
        since_ns: What starts earlier, in nanoseconds after the first device operation, does not count.
        until_ns: What starts then or later does not count.
        by_shape: A row of `kernels` for each name, grid and block over all devices, not for each name and device.
        categories: A file of rules that go before the built-in ones.
        inductor: What Inductor's benchmark of the same module measured, for its view of the capture.
        strict: Whether a damaged file is an error.
        nsys_path: The nsys that exports reports.

    Returns:
        The summary; what is wrong with the files stands in its `warnings`.

    Raises:
        FastrnnsError: A file is no capture, or is damaged and `strict` is set.
        UsageError: The pattern or the rules cannot be understood, or no path is given.
        MissingError: A report of nsys is given and there is no nsys.
    """
    if not paths:
        raise UsageError("no capture is given", "give the path of at least one")
    rules = None if categories is None else _rules(Path(categories))
    with opened(paths, nsys_path) as sources:
        try:
            trace = Trace([(source.path, source.given) for source in sources])
        except ValueError as error:
            message, hint = error.args if len(error.args) == 2 else (str(error), "")  # noqa: PLR2004
            raise FastrnnsError(message, hint) from None
    try:
        core = trace.summarize(
            devices=[*devices],
            streams=[*streams],
            processes=[*processes],
            pattern=pattern,
            since_ns=since_ns,
            until_ns=until_ns,
            by_shape=by_shape,
            categories=rules,
            inductor=None if inductor is None else (inductor.name, inductor.wall_time_ms * 1e6, inductor.runs),
        )
    except OverflowError:
        raise UsageError("a number has more than 64 bits", "give the numbers that the report shows") from None
    except ValueError as error:
        # Categories are told by the line, patterns by where they cannot be understood.
        raise UsageError(" ".join(str(error).split()), "see `fastrnns-rs report --help`") from None
    summary = Summary(core)
    if strict:
        _refuse_damage(summary)
    return summary


def _rules(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UsageError(f"the categories of {path} cannot be read: {error}", "give a text file") from None


def _refuse_damage(summary: Summary) -> None:
    damage = {"events_skipped", "capture_incomplete", "names_damaged"}
    for warning in summary.document.warnings:
        if warning.code in damage:
            raise FastrnnsError(f"{warning.message} ({warning.evidence})", "leave out --strict to see what there is")
