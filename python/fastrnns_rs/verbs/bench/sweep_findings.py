"""From the results of a sweep to what the run file says of it: times and rates, and how times grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.documents.sweep import Phase, Sweep, SweepAxis, SweepCell
from fastrnns_rs.verbs.bench.growth import growths, name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.run_file import Result

#: Runners whose sequences are shorter than seq_length, by chance: how many steps they have is not known.
_OF_UNKNOWN_LENGTH = "vl_lstm"
_NS = 1e9


def sweep_of(axes: Sequence[SweepAxis], results: Sequence[Result]) -> Sweep:
    """What a sweep found."""
    measured = [one for one in results if one.status == "ok" and one.point]
    numeric = [axis.name for axis in axes if all(isinstance(value, int) for value in axis.values)]
    return Sweep(
        axes=list(axes),
        cells=[cell for one in measured for cell in _cells(one)],
        growth=[one for axis in numeric for one in growths(axis, measured)],
    )


def _cells(result: Result) -> list[SweepCell]:
    forward = None if result.forward is None else result.forward.estimate_ns
    backward = None if result.backward is None else result.backward.estimate_ns
    if forward is None:
        return []
    cells = [_cell(result, "forward", forward)]
    if backward is not None:
        cells.append(_cell(result, "backward", backward))
    iteration = forward + (backward or 0.0)
    batch, length = result.problem.mini_batch, result.problem.seq_length
    samples = batch / iteration * _NS if iteration > 0 else None
    counted = samples is not None and length is not None and result.group != _OF_UNKNOWN_LENGTH
    steps = length * samples if counted and length is not None and samples is not None else None
    return [*cells, _cell(result, "iteration", iteration, steps, samples)]


def _cell(
    result: Result, phase: Phase, time_ns: float, steps: float | None = None, samples: float | None = None
) -> SweepCell:
    return SweepCell(
        runner=name_of(result),
        point=result.point,
        phase=phase,
        time_ns=time_ns,
        steps_per_second=steps,
        samples_per_second=samples,
    )
