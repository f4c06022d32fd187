"""Reads captures."""

from __future__ import annotations

from fastrnns_rs._core import Trace
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.reporting import sources
from fastrnns_rs.reporting.summary import Summary

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


class Inductor:
    """What `torch._inductor.wrapper_benchmark` knows of a module and a capture does not.

    Args:
        wall_time_ms: How long one run took without a profiler.
        runs: How many runs the capture holds.
        name: What the line for tabulating calls the benchmark.
    """

    # No dataclass, which would have every reader load `dataclasses`.
    __slots__ = ("name", "runs", "wall_time_ms")

    def __init__(self, *, wall_time_ms: float, runs: int = 1, name: str = "unknown") -> None:
        # From a nanosecond to thirty years: beyond that ratios are no numbers.
        if not 1e-6 <= wall_time_ms <= 1e12 or not 1 <= runs < 2**63:  # noqa: PLR2004
            raise UsageError(
                "Inductor's view needs a wall time above 0 (a nanosecond to 10^12 ms) and at least one run",
                "see --wall-time-ms and --runs",
            )
        self.wall_time_ms, self.runs, self.name = wall_time_ms, runs, name


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
    rules = None if categories is None else _rules(categories)
    trace = _trace(paths, nsys_path)
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


def _trace(paths: Sequence[str | Path], nsys: str | None) -> Trace:
    """What the files behind the paths hold, those that only nsys can read by way of their exports."""
    files = [file for path in paths for file in sources.behind(path)]
    if not any(map(sources.needs_nsys, files)):
        return _parsed(files, files)
    from fastrnns_rs.reporting.exporting import exported

    with exported(files, nsys) as readable:
        return _parsed(readable, files)


def _parsed(files: Sequence[str], given: Sequence[str]) -> Trace:
    try:
        return Trace([(file, sources.shown(name)) for file, name in zip(files, given, strict=True)])
    except ValueError as error:
        message, hint = error.args if len(error.args) == 2 else (str(error), "")  # noqa: PLR2004
        raise FastrnnsError(message, hint) from None


def _rules(path: str | Path) -> str:
    from pathlib import Path

    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UsageError(f"the categories of {path} cannot be read: {error}", "give a text file") from None


def _refuse_damage(summary: Summary) -> None:
    damage = {"events_skipped", "capture_incomplete", "names_damaged"}
    for warning in summary.to_dict()["warnings"]:
        if warning["code"] in damage:
            message = f"{warning['message']} ({warning['evidence']})"
            raise FastrnnsError(message, "leave out --strict to see what there is")
