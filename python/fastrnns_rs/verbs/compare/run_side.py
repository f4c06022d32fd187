"""Conversion of a run file to one side of a comparison."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from fastrnns_rs import counting, stats
from fastrnns_rs.documents.replicates import counted, level, pair_results, process_time, ran_in_rounds
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.conditions import hash_conditions, hash_setting
from fastrnns_rs.verbs.compare.environment_keys import flatten
from fastrnns_rs.verbs.compare.side import Series, Side

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Process, Result, Run

    Phase = Literal["forward", "backward"]

#: Reason of a series with a time that its clock cannot resolve, such as that of an empty phase under CUDA events.
_NO_TIME = "a process has a median of 0 ns"


def side_of_run(run: Run, *, side: str | None = None, label: str, file: str, name: str | None = None) -> Side:
    """Converts a run to a side, with one number of each statistic for each process.

    It is the median, mean or 95th percentile of the timed samples of the process; for ranks, the geometric mean of
    theirs.

    Args:
        run: Run to convert.
        side: Side of a run of `ab`, `a` or `b`; None for all results.
        label: Label of the side.
        file: Path of the run, for messages.
        name: Path or name of the run for a command line; None if it has none.

    Raises:
        UsageError: If a process that ended well has no timed samples, or a median below 0 ns.
    """
    ended = sum(process.status == "ok" for result in run.results for process in result.processes)
    interrupted = make_warning(
        "run_interrupted",
        evidence=f"{name or file}, {counting.counted(ended, 'process', 'processes')}",
        # Ranks are not resumed.
        hint=None if run.ranks else "",
        FILE="FILE" if name is None else shlex.quote(name),
    )
    paired = _find_pairs(run)
    own = next((one for one in run.sides if one.name == side), None)
    setting = hash_setting(run, side)
    return Side(
        label=label,
        files=[file],
        series=[
            series
            for index, result in enumerate(run.results)
            if side is None or result.side == side
            for series in _series(result, run, setting, f"{file}: results[{index}]", paired=id(result) in paired)
        ],
        environment=flatten(run, own),
        warnings=[interrupted] if run.status == "interrupted" else [],
        runs=[run.run_id],
        stored=run.warnings,
        created_utc=run.created_utc,
        name=name,
        command=run.command,
        listed=run.sessions,
    )


def _series(result: Result, run: Run, setting: str, place: str, *, paired: bool) -> Iterator[Series]:
    phases: list[Phase] = ["forward"]
    places = {id(one): f"{place}.processes[{number}]" for number, one in enumerate(result.processes)}
    sound = counted(result.processes)
    reason = _reason(result, ended=bool(sound))
    # A runner without samples may or may not have a backward phase. The other side may have it.
    if result.mode == "train" and (reason or any(one.backward_ns is not None for ranks in sound for one in ranks)):
        phases.append("backward")
    for phase in phases:
        levels: list[list[float]] = []
        sessions, blocks, count = [], [], 0
        times: list[Sequence[float]] = []
        for ranks in [] if reason else sound:
            timed = [(one, _timed(one, phase, places[id(one)])) for one in ranks]
            known = [(one, samples) for one, samples in timed if samples is not None]
            if known:
                each = [
                    _statistics(samples, f"{places[id(one)]}.{phase}_ns", one.timed_turns) for one, samples in known
                ]
                levels.append([level(values) for values in zip(*each, strict=True)])
                # A file of an older build was one session, or does not record that it was resumed. Sessions that it
                # does not list may be made up.
                sessions.append((ranks[0].session if run.sessions else None) or run.run_id)
                blocks.append(ranks[0].index)
                count += sum(len(samples) for _, samples in known)
                times += [samples for _, samples in known]
        # A time of 0 has no logarithm. Without its process, the others are not a fair sample.
        is_timed = all(time > 0 for time, *_ in levels)
        if not is_timed:
            levels, sessions, blocks, times, count = [], [], [], [], 0
        medians, means, p95s = map(list, zip(*levels, strict=True)) if levels else ([], [], [])
        kind, family = hash_conditions(setting, result, phase)
        yield Series(
            runner=result.runner,
            group=result.group,
            phase=phase,
            problem=result.problem,
            timing_mode=result.timing_mode,
            medians_ns=medians,
            sessions=sessions,
            n_samples=count,
            reason=reason if is_timed else _NO_TIME,
            has_no_time=not is_timed,
            mode=result.mode,
            kinds=(kind,),
            families=(family,),
            source_sha256=result.source_sha256,
            peak_memory_bytes=result.peak_memory_bytes,
            samples_ns=times,
            blocks=blocks if paired else [],
            by_verdict=run.plan.stop.rule == "decided",
            means_ns=means,
            p95s_ns=p95s,
        )


def _find_pairs(run: Run) -> set[int]:
    """Returns the `id` of each result whose processes of one index were neighbours.

    These are one of each side. A difference between processes that are paired at will varies as little as one likes.
    """
    return {id(one) for pair in pair_results(run) if ran_in_rounds(pair) for one in pair}


def _reason(result: Result, *, ended: bool) -> str | None:
    """Returns the reason why a runner has no numbers; None if it has numbers."""
    if (result.status == "ok" and not ended) or (result.status == "failed" and _was_interrupted(result)):
        return "interrupted: no process came to its end"
    if result.status == "ok":
        return None
    return result.status.replace("_", " ") + (f": {result.reason}" if result.reason else "")


def _was_interrupted(result: Result) -> bool:
    """Returns True if samples are missing only because the run was interrupted."""
    if not result.processes:
        return result.reason == "interrupted"
    return all(process.status == "interrupted" for process in result.processes)


def _timed(process: Process, phase: Phase, place: str) -> list[int] | None:
    samples = process.forward_ns if phase == "forward" else process.backward_ns
    if samples is None:
        return None
    first = process.first_timed
    if first is None or not 0 <= first < len(samples):
        key = "steady_from" if process.timed_from is None else "timed_from"
        message = f"{place}.{key} is {first}, and {phase}_ns has {len(samples)} samples"
        raise UsageError(message, "Measure again.")
    return samples[first:]


def _statistics(samples: list[int], place: str, turns: Sequence[int] = ()) -> tuple[float, float, float]:
    """Returns the time, the mean and the 95th percentile of a process.

    Args:
        samples: Timed samples, in nanoseconds.
        place: Place of the samples, for messages.
        turns: First sample of each turn of a live process.
    """
    try:
        [p95] = stats.quantiles(samples, [0.95])
    except ValueError as error:
        raise UsageError(f"invalid samples: {place}", "Measure again.", reason=str(error)) from error
    median = process_time(samples, turns)
    if median < 0:
        raise UsageError(f"invalid samples: {place} has a median of {median:g} ns", "Measure again.")
    return median, sum(samples) / len(samples), p95
