"""The noise floor: verdicts on processes of one runner, labelled at random, and the minimum detectable change."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from fastrnns_rs import stats
from fastrnns_rs.documents.noise_floor import NoiseFloor
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine.noise.storage import device_name
from fastrnns_rs.replicates import median

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Environment, Run

#: With fewer, draws of ten and ten are nearly the same draw again and again.
LEAST_PROCESSES = 40
#: The quantile of the normal law for 95 %.
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phase:
    name: Literal["forward", "backward"]
    n_processes: int
    alarms: int
    log_stddev: float
    detectable: float


def measure_floor(
    forward_medians: Sequence[float],
    backward_medians: Sequence[float] | None,
    *,
    device: str,
    runner: str,
    environment: Environment,
    per_side: int = 10,
    draws: int = 1000,
    seed: int = 0,
    margin: float = 0.01,
) -> NoiseFloor:
    """Says how often equal sides are called different, and how small a difference can be found.

    Each draw labels processes of one runner anew: `per_side` at random as the baseline, as many others as the
    candidate, none on both sides. Whatever `compare_samples` then calls faster or slower is a false alarm. The phase
    that can show less is the one that is returned.

    The interval of the rate (Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*, 1927) is
    over the draws, given these processes: all draws share them, so that it says how far another thousand draws would
    be off, and not what processes of another hour would show. Nor do draws at random know of a drift: they stand for
    sides that took turns, as those of `ab` do.

    The minimum detectable change is that of `detection_power` at the spread that was measured, and exact where the
    logarithms of medians are normal.

    Args:
        forward_medians: The median of each process in nanoseconds, at least 40.
        backward_medians: The same of the backward phase; None where there is none.
        device: As in a problem: `cpu`, `cuda`, `cuda:1`.
        runner: Whose processes they are.
        environment: Of the run that they are from.
        per_side: Processes on each side, at least 3; twice as many must be there.
        draws: Comparisons.
        seed: Of the draws.
        margin: As for `compare_samples`.

    Raises:
        UsageError: Too few processes or draws, a median that is no positive number, or a margin that is none.
    """
    phases: list[tuple[Literal["forward", "backward"], Sequence[float]]] = [("forward", forward_medians)]
    if backward_medians is not None:
        phases.append(("backward", backward_medians))
    for name, medians in phases:
        _check(name, medians, per_side, draws)
    measured = [_phase(name, medians, per_side, draws, seed, margin) for name, medians in phases]
    worst = max(measured, key=lambda phase: phase.detectable)
    low, high = wilson(worst.alarms, draws)
    return NoiseFloor(
        measured_utc=datetime.now(UTC).isoformat(timespec="seconds"),
        comparisons=draws,
        false_alarm_rate=worst.alarms / draws,
        false_alarm_ci_low=low,
        false_alarm_ci_high=high,
        minimum_detectable_change=worst.detectable,
        device=device,
        device_name=device_name(device, environment),
        cpu_model=environment.cpu_model,
        runner=runner,
        phase=worst.name,
        n_processes=worst.n_processes,
        processes_per_side=per_side,
        log_stddev=worst.log_stddev,
        margin=margin,
        seed=seed,
        torch_version=environment.torch_version,
    )


def relabelled(
    medians: Sequence[float], per_side: int, draws: int, seed: int
) -> Iterator[tuple[list[float], list[float]]]:
    """Two sides a draw, of processes that are all different. The same seed draws the same processes."""
    generator = random.Random(seed)  # noqa: S311  # no secret
    for _ in range(draws):
        drawn = generator.sample(range(len(medians)), 2 * per_side)
        yield [medians[place] for place in drawn[:per_side]], [medians[place] for place in drawn[per_side:]]


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    share, width = hits / trials, _Z * _Z / trials
    middle = share + width / 2
    half = _Z * math.sqrt(share * (1 - share) / trials + width / (4 * trials))
    # Rounding must not lead out of the interval of shares, nor past the share itself.
    return max(0.0, min(share, (middle - half) / (1 + width))), min(1.0, max(share, (middle + half) / (1 + width)))


def _check(name: str, medians: Sequence[float], per_side: int, draws: int) -> None:
    if len(medians) < LEAST_PROCESSES:
        message = f"the noise floor of {name} has {len(medians)} processes; it takes {LEAST_PROCESSES}"
        raise UsageError(message, f"measure more: ab --same RUNNER --processes {LEAST_PROCESSES}")
    least = 3
    if not least <= per_side <= len(medians) // 2:
        message = f"{per_side} processes a side cannot be drawn from {len(medians)}"
        raise UsageError(message, f"give a whole number from {least} to {len(medians) // 2}")
    if draws < 1:
        raise UsageError(f"{draws} draws say nothing", "give a whole number of at least 1")


def _phase(
    name: Literal["forward", "backward"], medians: Sequence[float], per_side: int, draws: int, seed: int, margin: float
) -> _Phase:
    try:
        spread = stats.process_ci(medians).log_stddev or 0.0
        alarms = sum(
            stats.compare_samples(*sides, margin=margin).verdict in {"faster", "slower"}
            for sides in relabelled(medians, per_side, draws, seed)
        )
        detectable = minimum_detectable_change(spread, per_side, margin=margin)
    except ValueError as error:
        raise UsageError(f"the noise floor of {name} cannot be had: {error}") from error
    return _Phase(name=name, n_processes=len(medians), alarms=alarms, log_stddev=spread, detectable=detectable)


#: With which probability it is to be found.
POWER = 0.8
#: The range of spreads that `detection_power` takes.
_LEAST_SPREAD = 1e-9


def minimum_detectable_change(spread: float, per_side: int, *, margin: float = 0.01) -> float:
    """The smallest relative difference that is called by its name, faster or slower, with 80 % power.

    Where processes hardly spread it is about the margin: what is closer is called equivalent, and rightly.

    Args:
        spread: Between processes: the standard deviation of their log medians, up to 10.
        per_side: Processes on each side, at least 3.
        margin: As for `compare_samples`.

    Returns:
        A share, to three digits: 0.02 for a candidate that takes 1.02 times as long, or 1 / 1.02.

    Raises:
        ValueError: A number out of range, named.
    """
    spread = max(spread, _LEAST_SPREAD)

    def found(logarithm: float) -> bool:
        difference = math.expm1(logarithm)
        return stats.detection_power(spread, per_side, difference=difference, margin=margin).slower >= POWER

    low, high = 0.0, math.log1p(margin) + spread * math.sqrt(2 / per_side)
    while not found(high):
        low, high = high, 2 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return math.expm1(high)


def floor_of(run: Run) -> NoiseFloor:
    """Measures the noise floor from the processes of both sides, whichever side they were on.

    Args:
        run: Of `ab --same`. Its processes that failed or were interrupted do not count.

    Raises:
        UsageError: It has another number of runners than one, or fewer than 40 processes that ended well.
    """
    runners = {result.runner for result in run.results}
    if len(runners) != 1:
        names = ", ".join(sorted(runners)) or "none"
        raise UsageError(f"a noise floor is that of one runner, and the run has {names}", "give ab --same one runner")
    ended = [
        one for result in run.results for one in result.processes if one.status == "ok" and one.steady_from is not None
    ]
    backward = [median(one.backward_ns[one.steady_from :]) for one in ended if one.backward_ns is not None]
    return measure_floor(
        [median(one.forward_ns[one.steady_from :]) for one in ended],
        # Of a model that has no such phase there is none in any process.
        backward or None,
        device=run.results[0].problem.device,
        runner=runners.pop(),
        environment=run.environment,
        seed=run.plan.order_seed or 0,
    )
