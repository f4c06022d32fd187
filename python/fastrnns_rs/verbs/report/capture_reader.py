"""Reader of captures."""

from __future__ import annotations

import os

from fastrnns_rs._core import Trace
from fastrnns_rs.counting import counted
from fastrnns_rs.documents.argument_checks import check_texts
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.errors import FastrnnsError, UsageError, unknown
from fastrnns_rs.verbs.report import file_kinds, sources
from fastrnns_rs.verbs.report.capture_summary import Summary

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import Literal

    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.verbs.report.merged_trace import Counted

    Extent = Literal["whole", "devices", "kernels"]


class Inductor:
    """Measurements of `torch._inductor.wrapper_benchmark` outside the capture.

    >>> import fastrnns_rs
    >>> summary = fastrnns_rs.read("trace.json", inductor=fastrnns_rs.Inductor(wall_time_ms=0.004))
    >>> summary.inductor
    <InductorEntry: wall time 4.00 µs, 1 run, GPU busy 100.0 %>

    Args:
        wall_time_ms: Time of one run without a profiler, in milliseconds.
        runs: Number of runs in the capture.
        name: Name of the benchmark in the line for tabulation.
    """

    # A dataclass would load the module `dataclasses` in every reader.
    __slots__ = ("name", "runs", "wall_time_ms")

    def __init__(self, *, wall_time_ms: float, runs: int = 1, name: str = "unknown") -> None:
        for where, value in (("wall_time_ms", wall_time_ms), ("runs", runs)):
            if not isinstance(value, (int, float)):
                raise UsageError(f"invalid number: {value!r}", "Use a number above 0.", where=where, value=value)
        # The limits are a nanosecond and thirty years: outside of them, ratios are not finite.
        if not 1e-6 <= wall_time_ms <= 1e12 or not 1 <= runs < 2**63:  # noqa: PLR2004
            number, where = (wall_time_ms, "wall_time_ms") if 1 <= runs < 2**63 else (runs, "runs")
            raise UsageError(f"out of range: {number}", "Use a number above 0.", where=where, value=number)
        if not isinstance(name, str):
            raise UsageError(f"invalid value: {name!r}", "Use a text.", where="name", value=name)
        # The name may be that of a file, which need not be UTF-8.
        self.name = name.encode("utf-8", "backslashreplace").decode()
        self.wall_time_ms, self.runs = wall_time_ms, runs


@checked_keywords()
def read(
    *paths: str | Path,
    devices: Iterable[int] = (),
    streams: Iterable[int] = (),
    processes: Iterable[int] = (),
    pattern: str | None = None,
    since_ns: int | None = None,
    until_ns: int | None = None,
    kernels_by: Literal["device", "name", "shape"] = "device",
    iteration_range: str | None = None,
    data_loaders: Iterable[str] = (),
    categories: str | Path | None = None,
    inductor: Inductor | None = None,
    trace_output: str | Path | None = None,
    strict: bool = False,
    nsys_path: str | None = None,
    workers: int | Literal["ray"] | None = None,
    extent: Extent = "whole",
    plot_data: bool = True,
) -> Summary:
    """Reads captures and summarises their times.

    The format of a file is detected from its content: a trace of `torch.profiler` (compressed or not), an
    SQLite export of nsys, a report of nsys (exported by the installed nsys), and a capture manifest of `profile`.

    >>> import fastrnns_rs
    >>> summary = fastrnns_rs.read("trace.json", devices=[0])
    >>> summary.kernels[0]
    <KernelRow ampere_sgemm_128x64_tn: 3.00 µs, 1 launch, 60.0 % of span>

    Args:
        paths: One or more files, or folders of files, which are summarised together.
        devices: Device numbers to include; all by default, as for `streams` and `processes`.
        streams: Stream numbers to include.
        processes: Process numbers to include.
        pattern: Regular expression for the names of kernels, memory operations and calls to include.
        since_ns: Start of the included time, in nanoseconds after the first GPU activity.
        until_ns: End of the included time, exclusive; activities that start at it or later are excluded.
        kernels_by: Grouping of `kernels`: a row per name and device, per name over all devices, or per name, grid and
            block over all devices.
        iteration_range: Name of the ranges that mark iterations; the ranges of fastrnns-rs and `ProfilerStep#N` by
            default.
        data_loaders: Substrings of the names of ranges in which a thread waits for data, in addition to torch's names.
        categories: File of category rules that precede the built-in rules.
        inductor: Measurements of Inductor's benchmark of the same module, for the Inductor view of the whole capture.
            It excludes the arguments that include a part: `devices` to `until_ns`.
        trace_output: Path of a merged trace for Perfetto's viewer with the included events; compressed unless the name
            ends in `.json`.
        strict: Raise an error for a damaged file.
        nsys_path: Path of the nsys that exports reports.
        workers: Number of threads that read files; the number of cores by default. `"ray"` distributes the files over
            the running Ray cluster.
        extent: Tables to read, in formats whose tables can be skipped, such as exports of nsys. `"devices"` skips
            calls and ranges, so that idle time has no cause. `"kernels"` also skips copies and sets: spans, busy times
            and their shares are then of kernels alone, and a GPU that only copied is missing. Tables that other
            arguments need are read as well: ranges for `iteration_range`; copies and sets for `since_ns`, `until_ns`
            and `inductor`.
        plot_data: False leaves out the keys of the document that only plots need: `activity` of devices,
            `latency_histogram` and `queue_histogram` of launches, and `nested_ranges`.

    Returns:
        The summary. Its `warnings` report problems of the files.

    Raises:
        FastrnnsError: If a file is not a capture, or is damaged and `strict` is set.
        UsageError: If an argument, the pattern or the rules are invalid, no path is given, or the merged trace cannot
            be written.
        MissingError: If a report of nsys is given without an installed nsys, or Ray is requested and missing.
    """
    if not paths:
        raise UsageError("missing argument: `paths`", "Use the path of at least 1 capture.")
    if workers is not None and workers != "ray" and not 1 <= workers < 2**63:
        hint = "Use an integer of at least 1, or ray."
        raise UsageError(f"out of range: {workers}", hint, where="workers", value=workers)
    _check_choices(extent=extent, kernels_by=kernels_by)
    check_texts("pattern", pattern)
    check_texts("iteration_range", iteration_range)
    data_loaders = [*data_loaders]
    check_texts("data_loaders", *data_loaders)
    _check_window(since_ns, until_ns)
    counted: Counted = {
        "devices": [*devices],
        "streams": [*streams],
        "processes": [*processes],
        "pattern": pattern,
        "since_ns": since_ns,
        "until_ns": until_ns,
        "data_loaders": data_loaders,
    }
    selecting = _find_selecting(counted)
    if inductor is not None:
        _check_inductor(inductor, selecting)
    rules = None if categories is None else _rules(categories)
    if trace_output is not None:
        from fastrnns_rs.verbs.report import merged_trace

        merged_trace.check(trace_output, paths)
    needed = _widen(
        extent, iteration_range, copies=inductor is not None or since_ns is not None or until_ns is not None
    )
    trace = opened(*paths, nsys_path=nsys_path, workers=workers, extent=needed)
    try:
        core = trace.summarize(
            **counted,
            kernels_by=kernels_by,
            iteration_range=iteration_range,
            sequence_length=_sequence_length(paths),
            categories=rules,
            inductor=None if inductor is None else (inductor.name, inductor.wall_time_ms * 1e6, inductor.runs),
            plot_data=bool(plot_data),
        )
    except OverflowError:
        raise UsageError("number of more than 64 bits", "Use numbers of the report.") from None
    except ValueError as error:
        raise _rejected(str(error), pattern, categories) from None
    given = [os.fspath(one) for one in paths]
    warnings = file_warnings(paths, trace.capture_count)
    summary = Summary(core, selected=bool(selecting), paths=given, warnings=warnings)
    if strict:
        _refuse_damage(summary, paths)
        _refuse_damaged_files(trace, paths)
    if trace_output is not None:
        merged_trace.write(trace, trace_output, counted)
    return summary


_CHOICES = {"extent": ("whole", "devices", "kernels"), "kernels_by": ("device", "name", "shape")}


def _check_choices(**given: str) -> None:
    for name, value in given.items():
        if value not in _CHOICES[name]:
            raise unknown("invalid value", value, _CHOICES[name], where=name)


def _check_window(since_ns: int | None, until_ns: int | None) -> None:
    if since_ns is not None and until_ns is not None and since_ns > until_ns:
        hint = f"Use a time from {since_ns} ns on."
        raise UsageError(f"out of range: {until_ns} ns", hint, where="until_ns", value=until_ns)


def _widen(extent: Extent, iteration_range: str | None, *, copies: bool) -> Extent:
    """Returns an extent that has the tables of other arguments.

    A time window starts at the first GPU activity, which may be a copy. Inductor's view counts copies as kernels.
    """
    if iteration_range is not None:
        return "whole"
    return "devices" if copies and extent == "kernels" else extent


def _check_inductor(given: object, selecting: Sequence[str]) -> None:
    if not isinstance(given, Inductor):
        hint = "Use fastrnns_rs.Inductor(wall_time_ms=...)."
        raise UsageError(f"invalid value: {given!r}", hint, where="inductor", value=given)
    if selecting:
        # The time of a part would be divided by all runs.
        message = f"the view inductor needs whole captures: `{selecting[0]}` selects a part"
        raise UsageError(message, f"Leave out `{selecting[0]}`.")


def _find_selecting(counted: Counted) -> list[str]:
    """Returns the names of the filters that leave out GPU activities."""
    return [name for name, value in counted.items() if name != "data_loaders" and value not in (None, [])]


def opened(
    *paths: str | Path,
    nsys_path: str | None = None,
    workers: int | Literal["ray"] | None = None,
    extent: Extent = "whole",
) -> Trace:
    """Reads the events of captures into one trace.

    Reports of nsys are read through exports, since only nsys can read them.

    Raises:
        FastrnnsError: If a file is not a capture.
        MissingError: If a report of nsys is given without an installed nsys.
    """
    found = [one for path in paths for one in sources.behind(path)]
    files, optional = [file for file, _, _ in found], [optional for _, optional, _ in found]
    runners = [runner for _, _, runner in found]
    if not any(map(file_kinds.needs_nsys, files)):
        trace = _parsed(files, files, optional, runners, workers, extent)
    else:
        from fastrnns_rs.verbs.report.nsys_export import exported

        with exported(files, nsys_path, optional=optional) as readable:
            trace = _parsed(readable, files, optional, runners, workers, extent)
    if not trace.capture_count:
        file, reason = trace.left_out[0]
        shown = os.fspath(paths[0])
        left = len(files) - 1
        more = f" and {counted(left, 'more file')}" if left else ""
        message = f"no capture in folder: {shown!r} has {file!r}{more}"
        raise UsageError(message, _folder_hint(paths[0]), reason=reason, value=shown)
    return trace


def _folder_hint(folder: str | Path) -> str:
    """Returns the hint for a folder without a capture."""
    import shlex

    from fastrnns_rs.verbs.report.capture_folders import find_older_exports

    # Without nsys, the user can read an export that is older than its report.
    older = next(iter(find_older_exports(folder)), None)
    if older is None:
        return "Use a folder of captures."
    return f"Read the older export of the report: fastrnns-rs report {shlex.quote(str(older))}"


def _parsed(
    files: Sequence[str],
    given: Sequence[str],
    optional: Sequence[bool],
    runners: Sequence[str | None],
    workers: int | Literal["ray"] | None,
    extent: Extent,
) -> Trace:
    # File names are bytes, and need not be valid text.
    named = [(file, os.fsencode(name).decode(errors="replace")) for file, name in zip(files, given, strict=True)]
    if workers == "ray":
        from fastrnns_rs.verbs.report.ray_nodes import spread

        return spread(named, optional, extent, runners)
    try:
        return Trace(named, optional=optional, runners=runners, threads=workers, extent=extent)
    except ValueError as error:
        from fastrnns_rs.verbs.report.unreadable_capture import make_reading_error

        raise make_reading_error(error, given) from None


def file_warnings(paths: Sequence[str | Path], capture_count: int) -> list[dict[str, str | None]]:
    """Returns warnings about the files as such, as plain dictionaries.

    They are about folders, manifests, drawn traces and tables of nvprof, or in a manifest.

    Args:
        paths: Captures, manifests and folders, as given.
        capture_count: Number of captures in them that were read.
    """
    # Most files are not manifests, and a full check would import the modules that read them.
    named = [path for path in paths if file_kinds.may_be_manifest(path) or file_kinds.kind(path) == "folder"]
    # Beside other captures, a drawing may be one of them.
    drawn = [str(path) for path in paths if len(paths) > 1 and file_kinds.is_drawing(path)]
    found: list[RunWarning] = []
    if named:
        from fastrnns_rs.verbs.report.manifest_warnings import find_manifest_warnings

        found += find_manifest_warnings(named)
    if 0 < len(drawn) < len(paths):
        from fastrnns_rs.documents.warning import make_warning

        message = "activities count twice, if a trace that report drew is of another file"
        found.append(make_warning("same_capture_twice", message=message, evidence=", ".join(drawn)))
    if capture_count > 1:
        from fastrnns_rs.verbs.report.nvprof_tables import find_repeated_tables

        found += find_repeated_tables(paths)
    return [{key: getattr(one, key) for key in ("code", "message", "evidence", "hint")} for one in found]


def _sequence_length(paths: Sequence[str | Path]) -> int | None:
    """Returns the number of steps of a sequence, from the manifests of the captures."""
    # Few files are manifests, and a full check would import the modules that read them.
    if not all(file_kinds.may_be_manifest(path) or file_kinds.kind(path) == "folder" for path in paths):
        return None
    from fastrnns_rs.verbs.report.manifests import find_sequence_length

    return find_sequence_length(paths)


def _rules(path: str | Path) -> str:
    from fastrnns_rs.documents import reading

    try:
        return reading.text(path)
    except FileNotFoundError as error:
        from fastrnns_rs.documents.missing_file import file_not_found

        raise file_not_found(path, "Use a file of category rules.", where="categories") from error
    except (OSError, UnicodeError) as error:
        shown, hint = os.fspath(path), "Use a text file with a category and a regular expression per line."
        reason = "the file is not UTF-8 text" if isinstance(error, UnicodeError) else error.strerror or str(error)
        message = f"cannot read file: {shown!r}"
        raise UsageError(message, hint, where="categories", reason=reason, value=shown) from None


def _rejected(said: str, pattern: str | None, categories: str | Path | None) -> UsageError:
    """Makes the error for a pattern or for category rules that the extension rejects."""
    reason = " ".join(said.split())
    line = reason.partition(":")[0]
    if categories is not None and line.startswith("line "):
        shown, hint = os.fspath(categories), "Write a category and a regular expression: gemm ^my_kernel"
        reason = reason.removeprefix(f"{line}: ")
        message = f"invalid category rule: {shown!r}, {line}"
        return UsageError(message, hint, where="categories", reason=reason, value=shown)
    # The first part of the message repeats the pattern.
    reason = reason.rpartition("error: ")[2]
    hint = r"Put a backslash before each special character that stands for itself: \( \[ \*"
    return UsageError(f"invalid regular expression: {pattern!r}", hint, where="pattern", reason=reason, value=pattern)


def _refuse_damage(summary: Summary, given: Iterable[str | Path]) -> None:
    damage = {"events_skipped", "capture_incomplete", "file_cut_short", "names_damaged"}
    # Events may be missing: a file that is still written is as incomplete as one that is cut.
    damage |= {"recording_incomplete", "unfinished_write"}
    for warning in summary.warning_rows():
        if warning["code"] in damage:
            from fastrnns_rs.verbs.report.manifests import manifests_at

            # The evidence begins with the path of the capture, or with that of the manifest that has the warning.
            evidence = f"{warning['evidence']}: "
            paths = [one["path"] for one in summary.to_dict()["captures"]]
            paths += [os.fspath(file) for one in given for file in manifests_at(one)]
            path = next((one for one in paths if evidence.startswith(f"{one}: ")), "")
            reason = f"{warning['message']}: {evidence.removeprefix(f'{path}: ')}".removesuffix(": ")
            raise FastrnnsError(f"damaged capture: {path!r}", "Leave out `strict` to read the rest.", reason=reason)


def _refuse_damaged_files(trace: Trace, paths: Sequence[str | Path]) -> None:
    """Refuses captures of a folder that are too damaged to be read at all."""
    if trace.left_out:
        from fastrnns_rs.verbs.report.unreadable_capture import find_damaged

        error = find_damaged(trace.left_out, [file for path in paths for file, _, _ in sources.behind(path)])
        if error is not None:
            raise error
