"""Consistency checks of results and processes in a run file."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

from fastrnns_rs._core import process_ci, summarize
from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.replicates import (
    common_class,
    counted,
    first_of_turns,
    host_median,
    level,
    median,
)
from fastrnns_rs.documents.run_results import LAUNCH_BOUND, RANGE_LEVEL
from fastrnns_rs.documents.sweep import label
from fastrnns_rs.documents.tolerances import ROUNDING, check_inside, check_number, is_between
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Figures
    from fastrnns_rs.documents.run_file import PhaseSummary, Process, Result

#: Statistics of all timed samples of a phase.
_DESCRIBED = ("mean", "stddev", "min", "max", "median", "q1", "q3", "p95", "p99", "mad")
#: Methods of intervals between processes, or between sessions.
_OF_PROCESSES, _OF_SESSIONS = "t_log_process_medians", "t_log_sessions"
#: Method of the interval of fewer than three processes: their medians.
_RANGE, _LEAST_FOR_INTERVAL = "range", 3
#: Statistics of samples, in the order of their values.
_ORDERED = ("min_ns", "q1_ns", "median_ns", "q3_ns", "p95_ns", "p99_ns", "max_ns")


def check_results(results: Sequence[Result]) -> None:
    """Rejects duplicate results, duplicate processes and inconsistent samples.

    A process that is counted twice makes a difference look more certain than it is.

    Raises:
        UsageError: If the results are inconsistent; the message names the path.
    """
    keys = ((one.runner, one.side, one.problem, *sorted(one.point.items())) for one in results)
    refuse_repeated("results", "", keys)
    for number, result in enumerate(results):
        check_result(f"results[{number}].", result)


def check_result(path: str, result: Result) -> None:
    """Rejects duplicate processes and inconsistent samples of one result.

    Args:
        path: Path before the key in the message.
        result: Result.

    Raises:
        UsageError: If the result is inconsistent; the message names the key.
    """
    if result.status == "ok" and not result.processes:
        raise UsageError(f"{path}processes is empty, and the status of the result is ok")
    refuse_repeated(f"{path}processes", ".order", (one.order for one in result.processes))
    refuse_repeated(f"{path}processes", ".index", ((one.index, one.rank) for one in result.processes))
    for place, process in enumerate(result.processes):
        check_samples(f"{path}processes[{place}].", process)
    _check_status(path, result)
    for phase in ("forward", "backward"):
        _check_summary(f"{path}{phase}", result, phase)
    _check_class(path, result)
    _check_peaks(path, result)
    _check_point(f"{path}point", result)
    _check_label(path, result)
    _check_mode(path, result)
    _check_phases(path, result)


def _check_phases(path: str, result: Result) -> None:
    """Rejects a runner whose processes have a backward in part.

    `bench` ends such a runner, since other processes would be compared than in the forward.
    """
    known = {one.backward_ns is None for one in result.processes if one.status == "ok"}
    if len(known) > 1:
        raise UsageError(f"{path}processes have backward_ns in part")


def _check_status(path: str, result: Result) -> None:
    """Rejects a status that is not that of the processes.

    Comparisons have no verdict on a result that is not ok.
    """
    status, known = result.status, {one.status for one in result.processes}
    if status == "skipped" and known:
        raise UsageError(f"{path}status is skipped, and the result has processes")
    if status in {"failed", "timed_out"} and known == {"ok"}:
        raise UsageError(f"{path}status is {status}, and every process is ok")
    # A runner with a failed process is not started again, and has failed.
    if status == "ok" and (failed := sorted(known & {"failed", "timed_out"})):
        raise UsageError(f"{path}status is ok, and a process is {failed[0]}")


def _check_class(path: str, result: Result) -> None:
    """Rejects a class of the warm-up that is not that of the processes."""
    expected = common_class(one for ranks in counted(result.processes) for one in ranks)
    # The first files have no class of a result.
    if result.warmup_class is not None and result.warmup_class != expected:
        found = f"{shown(result.warmup_class)}, and that of the processes is {shown(expected)}"
        raise UsageError(f"{path}warmup_class is {found}")


def _check_peaks(path: str, result: Result) -> None:
    names = ("peak_memory_bytes", "peak_reserved_bytes")
    processes = [one for ranks in counted(result.processes) for one in ranks]
    known = {name: {getattr(one, name) for one in processes} - {None} for name in names}
    for name in names if any(known.values()) else ():
        value, most = getattr(result, name), max(known[name], default=None)
        if value not in {None, most}:
            raise UsageError(f"{path}{name} is {value}, and the largest peak of the processes is {most}")


def _check_point(path: str, result: Result) -> None:
    """Rejects a point of a sweep whose sizes or words are not those of the problem."""
    problem = result.problem.by_name()
    for axis, value in result.point.items():
        known = problem.get(axis.replace("-", "_"))
        # Switches are on or off in a point, and a size that does not apply is missing in the problem.
        if known is not None and not isinstance(known, bool) and known != value:
            raise UsageError(f"{path}.{axis} is {shown(value)}, and that of the problem is {shown(known)}")


def _check_label(path: str, result: Result) -> None:
    """Rejects a label of another runner, point or device, which tables show."""
    # Only runs with several devices name them.
    names = [label(result.runner, result.point, device) for device in (None, result.problem.device)]
    if result.label is not None and result.label not in names:
        raise UsageError(f"{path}label is {shown(result.label)}, and the result is {shown(names[0])}")


def _check_mode(path: str, result: Result) -> None:
    """Rejects a mode of another problem, and backward times of inference."""
    # The problems of 1.0 have no mode, and train by default.
    if result.problem.mode == "inference" != result.mode:
        raise UsageError(f"{path}mode is {result.mode}, and that of the problem is inference")
    for place, process in enumerate(result.processes if result.mode == "inference" else ()):
        if process.backward_ns is not None:
            raise UsageError(f"{path}mode is inference, and processes[{place}] has a backward")


def _check_summary(path: str, result: Result, phase: str) -> None:
    """Rejects statistics that cannot be those of the samples.

    Tables show the statistics, and comparisons use the samples: they must not contradict each other.
    """
    summary: PhaseSummary | None = getattr(result, phase)
    complete = counted(result.processes)
    if summary is None:
        is_measured = phase == "forward" or all(one.backward_ns for ranks in complete for one in ranks)
        if result.status == "ok" and is_measured:
            raise UsageError(f"{path} is null, and the status of the result is ok")
        return
    if not complete:
        raise UsageError(f"{path} has an estimate, and no process is ok")
    if result.status != "ok":
        raise UsageError(f"{path} has an estimate, and the status of the result is {result.status}")
    timed = [[one.samples_ns(phase, timed=True) for one in ranks] for ranks in complete]
    if not all(all(ranks) for ranks in timed):
        raise UsageError(f"{path} has an estimate, and a process has no samples of it")
    check_statistics(path, summary, [[sample for one in ranks for sample in one] for ranks in timed])
    check_launches(path, summary, host_median([one for ranks in complete for one in ranks], phase))
    sessions = [ranks[0].session for ranks in complete]
    if any(one.timed_turns[1:] for ranks in complete for one in ranks):
        # Older builds stored figures of the medians of live processes, whatever their turns.
        with suppress(UsageError):
            check_between(path, summary, [[median(one) for one in ranks] for ranks in timed], sessions)
            return
    medians = [[one.median_ns(phase) or 0.0 for one in ranks] for ranks in complete]
    check_between(path, summary, medians, sessions)


def check_launches(path: str, summary: PhaseSummary, computed: float | None) -> None:
    """Rejects a time on the host that is not that of the samples.

    Rejects also a `launch_bound` that contradicts the time.

    Args:
        path: Path of the summary.
        summary: Summary of a phase.
        computed: Time on the host by the samples; None if it is unknown.

    Raises:
        UsageError: If the summary is inconsistent.
    """
    host_ns, limit = summary.host_ns, LAUNCH_BOUND * summary.median_ns
    if computed is not None:
        check_number(f"{path}.host_ns", host_ns, computed, "the samples")
    if summary.launch_bound is None and computed is None:
        return
    bound = None if host_ns is None else host_ns >= limit
    if bound != summary.launch_bound:
        found = "null" if summary.launch_bound is None else str(summary.launch_bound).lower()
        raise UsageError(
            f"{path}.launch_bound is {found}, and host_ns is {host_ns} and median_ns {summary.median_ns:.9g}"
        )


def check_statistics(path: str, summary: PhaseSummary, processes: Sequence[Sequence[int]]) -> None:
    """Rejects statistics that are not those of the samples of all processes.

    Args:
        path: Path of the statistics in the message.
        summary: Statistics.
        processes: Samples of each process, at least one each.

    Raises:
        UsageError: If there is such a statistic; the message names it.
    """
    samples = [one for process in processes for one in process]
    _check_ranges(path, summary, samples)
    check_estimate(path, summary)
    for name, count in (("n_processes", len(processes)), ("n_samples", len(samples))):
        if getattr(summary, name) != count:
            raise UsageError(f"{path}.{name} is {getattr(summary, name)}, and the result has {count}")
    # The autocorrelation time of a process is from 1 to its number of samples.
    if summary.n_effective is not None and not 1 <= summary.n_effective <= summary.n_samples:
        raise UsageError(f"{path}.n_effective is {summary.n_effective:.9g}, and n_samples is {summary.n_samples}")
    found = summarize(samples)
    _check_computed(path, summary, {f"{name}_ns": getattr(found, name) for name in _DESCRIBED})


def check_order(path: str, summary: PhaseSummary) -> None:
    """Rejects statistics that no samples have.

    Args:
        path: Path of the statistics in the message.
        summary: Statistics of samples that are not in the document.

    Raises:
        UsageError: If there is such a statistic; the message names it.
    """
    _check_ranges(path, summary, (summary.min_ns, summary.max_ns))
    check_estimate(path, summary)


def _check_ranges(path: str, summary: PhaseSummary, samples: Sequence[float]) -> None:
    ends = (min(samples), max(samples))
    for name in ("estimate_ns", "mean_ns", *_ORDERED):
        # A mean is rounded.
        _check_within(path, name, getattr(summary, name), ends, "samples")
    for one, other in pairwise(_ORDERED):
        if getattr(summary, one) > getattr(summary, other):
            raise UsageError(
                f"{path}.{one} is {getattr(summary, one):.9g}, above {other}, {getattr(summary, other):.9g}"
            )
    for name in ("stddev_ns", "mad_ns"):
        value, most = getattr(summary, name), summary.max_ns - summary.min_ns
        if value is not None and not 0 <= value <= most * (1 + ROUNDING):
            raise UsageError(f"{path}.{name} is {value:.9g}, and the range of the samples is {most:.9g}")


def _check_computed(path: str, summary: PhaseSummary, computed: dict[str, float | None]) -> None:
    for name, expected in computed.items():
        value = getattr(summary, name)
        if value is not None and expected is not None:
            check_number(f"{path}.{name}", value, expected, "the samples", unit=1)


def check_between(
    path: str, summary: PhaseSummary, medians: Sequence[Sequence[float]], sessions: Sequence[str | None]
) -> None:
    """Rejects an estimate and an interval that are not those of the process medians.

    Args:
        path: Path of the statistics in the message.
        summary: Statistics.
        medians: Median of each process of each replicate.
        sessions: Session of each replicate.

    Raises:
        UsageError: If there is such an estimate or interval; the message names it.
    """
    every = [one for ranks in medians for one in ranks]
    # If a process median is 0, the estimate is the median of all samples, which lies between the medians too.
    _check_within(path, "estimate_ns", summary.estimate_ns, every, "process medians")
    if len(every) == 1:
        for name in ("ci_low_ns", "ci_high_ns"):
            _check_within(path, name, getattr(summary, name), [summary.min_ns, summary.max_ns], "samples")
    if min(every) <= 0:
        return
    groups: dict[str | int | None, list[float]] = {}
    for place, (session, ranks) in enumerate(zip(sessions, medians, strict=True)):
        groups.setdefault(session if summary.ci_method == _OF_SESSIONS else place, []).append(level(ranks))
    levels = [level(each) for each in groups.values()]
    known = {
        *((_OF_PROCESSES, _OF_SESSIONS) if len(levels) > 1 else ()),
        *((_RANGE,) if len(levels) < _LEAST_FOR_INTERVAL else ()),
    }
    if len(every) > 1 and summary.ci_low_ns is not None and summary.ci_method not in known:
        raise UsageError(f"{path}.ci_method is {shown(summary.ci_method)}, not that of several processes")
    computed: dict[str, float | None] = {"estimate_ns": level(levels)}
    if summary.ci_method == _RANGE:
        computed |= {"ci_low_ns": min(levels), "ci_high_ns": max(levels), "confidence_level": RANGE_LEVEL}
    elif summary.ci_method in known:
        found = process_ci(levels)
        computed |= {"ci_low_ns": found.ci_low, "ci_high_ns": found.ci_high, "confidence_level": found.confidence_level}
    _check_computed(path, summary, computed)


def _check_within(path: str, name: str, value: float | None, known: Sequence[float], of: str) -> None:
    if value is not None and not is_between(value, min(known), max(known)):
        ends = f"{min(known):.9g} to {max(known):.9g}"
        raise UsageError(f"{path}.{name} is {value:.9g}, and {of} are from {ends}")


def check_estimate(path: str, found: PhaseSummary | Figures) -> None:
    """Rejects an estimate outside of its interval.

    Args:
        path: Path of the statistics in the message.
        found: Statistics of a phase, or of a side of a comparison.

    Raises:
        UsageError: If the estimate is outside.
    """
    check_inside(f"{path}.estimate_ns", found.ci_low_ns, found.estimate_ns, found.ci_high_ns)


def refuse_repeated(path: str, key: str, found: Iterable[Hashable]) -> None:
    """Rejects values that are there twice.

    Args:
        path: Path of the values in the message.
        key: Key after the number of the value in the message.
        found: Values.

    Raises:
        UsageError: If a value is repeated; the message names its path.
    """
    seen: set[Hashable] = set()
    for number, one in enumerate(found):
        if one in seen:
            raise UsageError(f"duplicate value: {path}[{number}]{key}")
        seen.add(one)


def check_turns(path: str, process: Process, most: int | None) -> None:
    """Rejects a process with more turns than the plan has, or that had none.

    Args:
        path: Path before the key in the message.
        process: Process.
        most: Largest number of turns; None for processes without turns.

    Raises:
        UsageError: If the process has more turns, or the time of a loop without them.
    """
    turns = len(process.slices or [])
    if turns > (most or 0):
        raise UsageError(f"{path}slices has {turns} turns, and plan.turns is {shown(most)}")
    # Between two turns, the time was that of the other side.
    if turns > 1 and process.timed_loop_ns is not None:
        raise UsageError(f"{path}timed_loop_ns is {process.timed_loop_ns}, and slices has {turns} turns")


def check_samples(path: str, process: Process) -> None:
    """Rejects inconsistent samples of a process.

    Args:
        path: Path before the key in the message.
        process: Process.

    Raises:
        UsageError: If the samples are inconsistent; the message names the key.
    """
    count, first = len(process.forward_ns), process.steady_from
    if process.backward_ns is not None and len(process.backward_ns) != count:
        raise UsageError(f"{path}backward_ns has {len(process.backward_ns)} samples, and forward_ns has {count}")
    for name in ("forward_host_ns", "backward_host_ns"):
        host = getattr(process, name)
        if host is not None and len(host) != count:
            raise UsageError(f"{path}{name} has {len(host)} samples, and forward_ns has {count}")
    slices = process.slices or []
    if slices != sorted({*slices}) or (slices and not 0 == slices[0] <= slices[-1] <= count):
        raise UsageError(f"{path}slices is {shown(slices)}, and forward_ns has {count} samples")
    for name in ("forward_change_points", "backward_change_points"):
        points = getattr(process, name) or []
        if points != sorted({*points}) or (points and not 0 < points[0] <= points[-1] < count):
            raise UsageError(f"{path}{name} is {shown(points)}, and forward_ns has {count} samples")
    # A process that was interrupted may have ended before its timed samples.
    sound = first is None or first >= 0 if process.status != "ok" else first is not None and 0 <= first < count
    if not sound:
        raise UsageError(f"{path}steady_from is {first}, and forward_ns has {count} samples")
    if process.timed_from is not None and not 0 <= process.timed_from < count:
        raise UsageError(f"{path}timed_from is {process.timed_from}, and forward_ns has {count} samples")
    start = first_of_turns(slices, count) if process.status == "ok" else None
    # Older builds let the user choose the warm-up of live processes: these have no `timed_from`.
    if None not in {start, process.timed_from} and start != process.timed_from:
        raise UsageError(f"{path}timed_from is {process.timed_from}, and the turns after the warm-up begin at {start}")
