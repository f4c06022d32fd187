"""Warnings of a comparison of captures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.replicates import LEAST_REPEATS
from fastrnns_rs.documents.side_warnings import distinct_warnings
from fastrnns_rs.documents.warning import make_warning
from fastrnns_rs.verbs.compare.captures.capture_replicates import find_replicates

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.verbs.compare.captures.capture_side import CaptureSide
    from fastrnns_rs.verbs.compare.captures.capture_stats import Basis, Replicate
    from fastrnns_rs.verbs.compare.captures.kernel_matching import KernelPair
    from fastrnns_rs.verbs.compare.captures.kernel_rows import Judged

#: A smaller share of time outside iterations gives no warning.
_LEAST_SHARE = 0.01
#: A smaller difference of the overlap, or between mean and median, gives no warning.
_LEAST_DIFFERENCE = 0.05
_SHOWN = 4
_NAME_FILES = "Name the files of each folder: fastrnns-rs compare --baseline DIR/*.json --candidate DIR/*.json"


def find_warnings(
    sides: Sequence[CaptureSide],
    judged: Judged,
    *,
    basis: Basis,
    replicate: Replicate | None,
    conflicts: Sequence[str],
) -> list[RunWarning]:
    """Returns the warnings of a comparison, including the warnings of its captures."""
    return [
        *_check_captures(sides),
        *_check_work(sides, judged, basis),
        *_check_iterations(sides, basis),
        *(_check_median(sides, judged) if basis == "per_iteration" else ()),
        *_check_means(judged),
        *_check_overlap(sides),
        *([make_warning("forced", message="; ".join(conflicts), hint=None)] if conflicts else []),
        *_check_repeats(sides, replicate),
        *_check_sameness(sides, judged),
        *_check_names(judged),
    ]


def _check_captures(sides: Sequence[CaptureSide]) -> Iterator[RunWarning]:
    yield from distinct_warnings(warning for side in sides for one in side.readings for warning in one.warnings)
    for name, side in zip(("baseline", "candidate"), sides, strict=True):
        differing = [*side.differing, *(key for key, values in side.problem.items() if len(values) > 1)]
        if differing:
            evidence = f"{' '.join(side.files)}: {', '.join(differing)}"
            yield make_warning("pooled_files_differ", message=f"the {name} mixes different captures", evidence=evidence)
    levels = [{one.environment["graph_level"] for one in side.readings} for side in sides]
    if levels[0] != levels[1]:
        evidence = f"graph_level: {_join_levels(levels[0])} and {_join_levels(levels[1])}"
        yield make_warning("graph_levels_differ", evidence=evidence)


def _join_levels(levels: set[bool]) -> str:
    return _join(str(one).lower() for one in sorted(levels))


def _join(values: Iterable[str]) -> str:
    return " | ".join(values)


def _check_repeats(sides: Sequence[CaptureSide], replicate: Replicate | None) -> Iterator[RunWarning]:
    found = [len(find_replicates(side)) for side in sides]
    joined = [
        f"{len(side.readings)} captures of the {name} count as {count}"
        for name, side, count in zip(("baseline", "candidate"), sides, found, strict=True)
        if count < len(side.readings)
    ]
    if joined:
        yield make_warning("dependent_captures", evidence="; ".join(joined))
    # The ranks of a job are one run, also in a folder.
    folders = [
        f"{one.path}: {len(one.processes)} processes"
        for side in sides
        for one in side.readings
        if len(one.processes) > 1 and not one.ranks and Path(one.path).is_dir()
    ]
    if folders and replicate is None:
        yield make_warning("dependent_captures", evidence="; ".join(folders), hint=_NAME_FILES)
    if replicate and found[0] != found[1] and min(found) >= LEAST_REPEATS:
        yield make_warning("unequal_captures", evidence=f"{found[0]} and {found[1]} captures")


def _check_work(sides: Sequence[CaptureSide], judged: Judged, basis: Basis) -> Iterator[RunWarning]:
    """Yields warnings for different work, and for empty iterations."""
    (baseline, candidate), found = sides, []
    if baseline.phases and candidate.phases and baseline.phases != candidate.phases:
        found.append(f"phases {_join(baseline.phases)} and {_join(candidate.phases)}")
    for name, numbers in (
        ("GPUs", [{one.device_count for one in side.readings} for side in sides]),
        ("ranks", [{size for one in side.readings for size in one.world_sizes} for side in sides]),
    ):
        if all(numbers) and numbers[0] != numbers[1]:
            found.append(f"{name}: {' and '.join(_join(map(str, sorted(one))) for one in numbers)}")
    found += _different_ranks(sides)
    known = [bool(one.iterations) for side in sides for one in side.readings]
    if any(known) and not all(known):
        found.append(f"iterations in {sum(known)} of {len(known)} captures")
    # Times per iteration do not depend on the number of iterations.
    elif basis != "per_iteration":
        found += _different_amounts(sides, judged)
    shapes = [_grids(one.pair) for one in judged.kernels]
    changed = [before != after for before, after in filter(None, shapes)]
    # The grid of one kernel may be the change that is compared.
    if len(changed) > 1 and all(changed):
        found.append(f"grids of all {len(changed)} kernels")
    if found:
        yield make_warning("different_work", evidence="; ".join(found))
    for name, side in (("baseline", baseline), ("candidate", candidate)):
        empty = sum(not one["gpu_time_ns"] for reading in side.readings for one in reading.iterations)
        if 0 < empty < side.iterations:
            evidence = f"{empty:,} of {side.iterations:,} iterations of the {name}"
            yield make_warning("empty_iterations", evidence=evidence)


def _different_ranks(sides: Sequence[CaptureSide]) -> Iterator[str]:
    """Yields where captures of ranks are missing: on a side, or in a run."""
    runs = [[_ranks(side, places) for places in find_replicates(side)] for side in sides]
    captured = [set[int]().union(*each) for each in runs]
    if captured[0] != captured[1] and all(captured):
        yield f"numbers of the captured ranks: {' and '.join(_join(map(str, sorted(one))) for one in captured)}"
    for name, each, ranks in zip(("baseline", "candidate"), runs, captured, strict=True):
        incomplete = sum(one != ranks for one in each)
        if incomplete:
            yield f"{incomplete} of {len(each)} runs of the {name} without all ranks"


def _ranks(side: CaptureSide, places: Iterable[int]) -> set[int]:
    return {rank for place in places for rank in side.readings[place].ranks}


def _different_amounts(sides: Sequence[CaptureSide], judged: Judged) -> Iterator[str]:
    """Yields where a capture of one side has more iterations or launches."""
    means = [side.iterations / len(side.readings) for side in sides]
    if max(means) > min(means) * (1 + _LEAST_SHARE):
        yield f"iterations per capture: {means[0]:.4g} and {means[1]:.4g}"
    if (factor := _find_factor(judged)) is not None:
        yield f"launches of every kernel: {factor:.3g} times as many"


def _find_factor(judged: Judged) -> float | None:
    """Returns the ratio of launches if it is the same for all kernels, and not 1."""
    rows = [one.row for one in judged.kernels]
    factors = [one.candidate.launches / one.baseline.launches for one in rows if one.baseline and one.candidate]
    if not factors or max(factors) > min(factors) * (1 + _LEAST_SHARE) or abs(factors[0] - 1) <= _LEAST_SHARE:
        return None
    return factors[0]


def _grids(pair: KernelPair) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Returns the grids of a kernel on both sides, if both are known."""
    shapes = [None if one is None else one.shape for one in (pair.baseline, pair.candidate)]
    return None if shapes[0] is None or shapes[1] is None else (shapes[0][0], shapes[1][0])


def _check_median(sides: Sequence[CaptureSide], judged: Judged) -> Iterator[RunWarning]:
    """Yields a warning if the median iteration changed by another amount."""
    row = judged.device_time.row
    medians = [median(times["gpu_time_ns"] for one in side.readings for times in one.iterations) for side in sides]
    if row.ratio is None or not all(medians):
        return
    ratio = medians[1] / medians[0]
    if max(ratio, row.ratio) > min(ratio, row.ratio) * (1 + _LEAST_DIFFERENCE):
        yield make_warning("median_differs", evidence=f"mean × {row.ratio:.3g}, median × {ratio:.3g}")


def _check_means(judged: Judged) -> Iterator[RunWarning]:
    """Yields a warning if a mean time lies outside the interval of its captures."""
    rows = [("device time", judged.device_time.finding)]
    rows += [(one.row.short_name or one.row.name, one.finding) for one in judged.kernels]
    outside = [
        f"{name}: × {one.ratio:.3g}, interval {one.found.ratio_ci_low:.3g} to {one.found.ratio_ci_high:.3g}"
        for name, one in rows
        if one.is_outside and one.found
    ]
    if outside:
        more = f"; and {counted(len(outside) - 1, 'more row')}" if outside[1:] else ""
        yield make_warning("mean_outside_interval", evidence=outside[0] + more)


def _check_overlap(sides: Sequence[CaptureSide]) -> Iterator[RunWarning]:
    """Yields a warning if more activities run at once on one side."""
    busy = [sum(one.busy_ns for one in side.readings) for side in sides]
    if not all(busy):
        return
    before, after = (sum(one.total_ns for one in side.readings) / span for side, span in zip(sides, busy, strict=True))
    if max(before, after) > min(before, after) * (1 + _LEAST_DIFFERENCE):
        yield make_warning("overlap_differs", evidence=f"sum of durations / busy time: {before:.2f} and {after:.2f}")


def _check_iterations(sides: Sequence[CaptureSide], basis: Basis) -> Iterator[RunWarning]:
    for name, side in zip(("baseline", "candidate"), sides, strict=True):
        whole = sum(one.total_ns for one in side.readings)
        outside = whole - sum(one.inside_ns for one in side.readings)
        if basis == "per_iteration" and outside > _LEAST_SHARE * whole:
            share = f"{100 * outside / whole:.1f} % of the {name}'s GPU time"
            message = f"{share} was launched outside iterations and is not counted"
            yield make_warning("outside_iterations", message=message, hint=None)


def _check_sameness(sides: Sequence[CaptureSide], judged: Judged) -> Iterator[RunWarning]:
    first, second = ({identity for one in side.readings for identity in one.identities} for side in sides)
    if first & second:
        yield make_warning("same_capture", evidence=" and ".join(side.label for side in sides))
    elif judged.kernels and all(one.row.delta_ns == 0 and one.pair.matched_by for one in judged.kernels):
        yield make_warning("same_times", evidence=f"{len(judged.kernels):,} equal kernels")


def _check_names(judged: Judged) -> Iterator[RunWarning]:
    renamed = [one.row for one in judged.kernels if one.pair.matched_by == "shape"]
    if renamed:
        named = "; ".join(f"{one.baseline_name} → {one.candidate_name}" for one in renamed[:_SHOWN])
        more = f"; and {len(renamed) - _SHOWN} more" if len(renamed) > _SHOWN else ""
        yield make_warning("matched_by_shape", evidence=f"{named}{more}")
