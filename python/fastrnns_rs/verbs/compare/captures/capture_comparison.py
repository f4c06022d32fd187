"""Complete comparison of captures, and its exit code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastrnns_rs.documents.comparison import Compared, Comparison
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.captures import capture_warnings
from fastrnns_rs.verbs.compare.captures.capture_side import read_captures
from fastrnns_rs.verbs.compare.captures.capture_stats import Replicate, choose_basis, choose_replicate, normalise_times
from fastrnns_rs.verbs.compare.captures.idle_times import average_idle
from fastrnns_rs.verbs.compare.captures.kernel_rows import Judged, judge_rows
from fastrnns_rs.verbs.compare.environment_keys import differences, plain_values
from fastrnns_rs.verbs.compare.margins import NOISE_FLOOR, resolve_margin
from fastrnns_rs.verbs.compare.verdicts import check_causes, count_verdicts, describe_method, exit_code

if TYPE_CHECKING:
    import os

    from fastrnns_rs.verbs.compare.captures.capture_side import CaptureSide
    from fastrnns_rs.verbs.compare.captures.capture_stats import NormalisedSide

#: Method of the verdicts, by replicate.
_METHODS: dict[Replicate | None, str] = {
    "capture": "welch_log_captures",
    None: "totals",
}
#: Iterations of several runners are not replicates, and the sum of their times is the time of no runner.
_ONE_RUNNER = "Give the trace of one runner (torch), or capture each runner alone (`separate=True` of profile)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureComparison:
    """A comparison of captures, with the data behind each row.

    Attributes:
        comparison: Document of the comparison.
        judged: Rows with their statistics.
        replicate: Kind of the replicates; None without replicates.
    """

    comparison: Comparison
    judged: Judged
    replicate: Replicate | None


def compare_captures(
    baseline: Sequence[str | os.PathLike[str]],
    candidate: Sequence[str | os.PathLike[str]],
    *,
    margin: float | str | None,
    force: bool = False,
    fail_on: Collection[str] = (),
    iteration_range: str | None = None,
    nsys_path: str | None = None,
) -> CaptureComparison:
    """Compares captures.

    Args:
        baseline: Captures of the baseline: files, capture manifests or folders.
        candidate: Captures of the candidate.
        margin: Equivalence margin as a share: 0.01 is 1 %; None for the default.
        force: Compare captures of different devices, instead of raising an error.
        fail_on: `regression`, `inconclusive` or both: causes of an exit code other than 0.
        iteration_range: Name of the ranges that mark iterations; None for the default names.
        nsys_path: Path of the nsys that exports reports; None for the newest found.

    Raises:
        FastrnnsError: If a file is not a capture.
        MissingError: If a report of nsys is given without an installed nsys.
        UsageError: If the sides conflict, or have no GPU activities.
    """
    check_causes(fail_on)
    if margin == NOISE_FLOOR:
        message, reason = f"invalid margin: {margin!r}", "a noise floor applies to runners, not to captures"
        raise UsageError(message, "Use a number such as 1%.", where="margin", reason=reason, value=margin)
    share, margin_source, _ = resolve_margin(margin)
    sides = read_captures(baseline, candidate, iteration_range=iteration_range, nsys_path=nsys_path)
    for side in sides:
        if not any(one.operations for one in side.readings):
            name = " ".join(side.files)
            raise UsageError(f"no GPU activity in capture: {name!r}", "Capture the model on a GPU.", value=name)
    conflicts = _conflicts(*sides)
    if conflicts and not force:
        raise UsageError("; ".join(why for why, _ in conflicts), f"{conflicts[0][1]}, or add `force=True`.")
    basis = choose_basis(*sides)
    replicate = choose_replicate(*sides)
    first, second = (normalise_times(side, basis, replicate) for side in sides)
    judged = judge_rows(first, second, share)
    comparison = Comparison(
        kind="capture",
        warnings=capture_warnings.find_warnings(
            sides, judged, basis=basis, replicate=replicate, conflicts=[why for why, _ in conflicts]
        ),
        exit_code=exit_code([judged.device_time.row, *(one.row for one in judged.kernels)], share, fail_on),
        baseline=_compared(sides[0], first),
        candidate=_compared(sides[1], second),
        method=describe_method(_METHODS[replicate], share, margin_source, forced=bool(conflicts)),
        environment_differences=differences(sides[0].environment, sides[1].environment),
        kernels=[one.row for one in judged.kernels],
        counts=count_verdicts(one.row.verdict for one in judged.kernels),
        basis=basis,
        categories=[one.row for one in judged.categories],
        device_time=judged.device_time.row,
    )
    return CaptureComparison(comparison=comparison, judged=judged, replicate=replicate)


def _compared(side: CaptureSide, normalised: NormalisedSide) -> Compared:
    medians: dict[str, Any] = {key.replace("_ns", "_median_ns"): value for key, value in normalised.medians.items()}
    return Compared(
        label=side.label,
        files=side.files,
        captures=normalised.captures,
        iterations=normalised.iterations,
        devices=side.devices,
        environment=plain_values(side.environment),
        **medians,
        **average_idle([one.idle for one in side.readings]),
    )


def _conflicts(baseline: CaptureSide, candidate: CaptureSide) -> list[tuple[str, str]]:
    """Returns the reasons against comparing two sides, each with a hint.

    Data that a capture does not contain is no reason.
    """
    found = [
        (f"iterations of several runners: {', '.join(side.runners)} ({name})", _ONE_RUNNER)
        for name, side in (("baseline", baseline), ("candidate", candidate))
        if side.runners[1:]
    ]
    one, other = baseline.devices, candidate.devices
    if one and other and one != other:
        names = [
            " and ".join(name.removeprefix("NVIDIA ").removeprefix("Tesla ") for name in side) for side in (one, other)
        ]
        found.append((f"the GPUs differ: {names[0]} and {names[1]}", "Capture both sides on the same device"))
    first, second = baseline.problem, candidate.problem
    differing = [
        f"{name} {' | '.join(sorted(first[name]))} and {' | '.join(sorted(second[name]))}"
        for name in first
        if name in second and first[name] != second[name]
    ]
    if differing:
        found.append((f"different problems: {', '.join(differing)}", "Capture the same problem on both sides"))
    return found
