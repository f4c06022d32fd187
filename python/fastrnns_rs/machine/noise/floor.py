"""Noise floor, from processes of one runner with random side labels.

It consists of the false alarm rate and the minimum detectable effect.
"""

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
from fastrnns_rs.machine.noise.storage import HINTS, device_name
from fastrnns_rs.replicates import median

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Environment, Run

#: With fewer processes, draws of 10 and 10 are nearly identical.
LEAST_PROCESSES = 40
#: Quantile of the normal distribution for a 95 % interval.
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
    """Returns the false alarm rate and the minimum detectable effect.

    Each draw relabels processes of one runner at random: `per_side` as the baseline, as many others as the candidate. A
    verdict of `compare_samples` that is faster or slower is a false alarm. The result describes the phase with the
    larger minimum detectable effect.

    The interval of the rate (Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*, 1927)
    covers the draws, given these processes. All draws share the processes. The interval therefore shows the deviation
    of another thousand draws, not of processes at another time. Random draws do not contain drift. They represent
    interleaved sides, as those of `ab`.

    The minimum detectable effect is computed by `detection_power` from the measured standard deviation. It is exact if
    the logarithms of medians are normally distributed.

    Args:
        forward_medians: Median of each process in ns, at least 40 medians.
        backward_medians: Same for the backward phase; None without a backward phase.
        device: Device, as in a problem: `cpu`, `cuda`, `cuda:1`.
        runner: Runner of the processes.
        environment: Environment of the processes' run.
        per_side: Processes on each side, at least 3. At least twice as many processes are required.
        draws: Number of comparisons.
        seed: Random seed of the draws.
        margin: Equivalence margin, as for `compare_samples`.

    Raises:
        UsageError: If there are too few processes or draws, a median is not a positive number, or the margin is
            invalid.
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
    """Yields two sides for each draw, without a process in common.

    The same seed draws the same processes.
    """
    generator = random.Random(seed)  # noqa: S311  # The draws need no cryptographic strength.
    for _ in range(draws):
        drawn = generator.sample(range(len(medians)), 2 * per_side)
        yield [medians[place] for place in drawn[:per_side]], [medians[place] for place in drawn[per_side:]]


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Returns Wilson's 95 % interval of a proportion."""
    share, width = hits / trials, _Z * _Z / trials
    middle = share + width / 2
    half = _Z * math.sqrt(share * (1 - share) / trials + width / (4 * trials))
    # Rounding must not move a limit outside [0, 1] or past the proportion.
    return max(0.0, min(share, (middle - half) / (1 + width))), min(1.0, max(share, (middle + half) / (1 + width)))


def _check(name: str, medians: Sequence[float], per_side: int, draws: int) -> None:
    if len(medians) < LEAST_PROCESSES:
        message = f"too few processes: {len(medians)} of {name}, and a noise floor needs {LEAST_PROCESSES}"
        raise UsageError(message, f"Use `processes={LEAST_PROCESSES}` or more.")
    least = 3
    if not least <= per_side <= len(medians) // 2:
        hint = f"Use an integer from {least} to {len(medians) // 2}."
        raise UsageError(f"out of range: {per_side}", hint, where="per_side", value=per_side)
    if draws < 1:
        raise UsageError(f"out of range: {draws}", "Use an integer of at least 1.", where="draws", value=draws)


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
        raise UsageError(f"cannot compute noise floor: {name}", reason=str(error)) from error
    return _Phase(name=name, n_processes=len(medians), alarms=alarms, log_stddev=spread, detectable=detectable)


#: Probability of detecting the minimum detectable effect.
POWER = 0.8
#: Lower limit of the standard deviations that `detection_power` accepts.
_LEAST_SPREAD = 1e-9


def minimum_detectable_change(spread: float, per_side: int, *, margin: float = 0.01) -> float:
    """Returns the smallest relative difference detected with 80 % power.

    A detected difference has the verdict faster or slower. If the processes hardly vary, the result is about the
    margin. Smaller differences are correctly equivalent.

    Args:
        spread: Standard deviation of the log medians of processes, at most 10.
        per_side: Processes on each side, at least 3.
        margin: Equivalence margin, as for `compare_samples`.

    Returns:
        Relative difference, to three digits: 0.02 for a candidate that takes 1.02 times as long, or 1 / 1.02.

    Raises:
        ValueError: If a number is out of range; the message names the number.
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


def compute_run_floor(run: Run) -> NoiseFloor:
    """Measures the noise floor from the processes of both sides of a run.

    Args:
        run: Run of `ab --same`. Failed and interrupted processes are ignored.

    Raises:
        UsageError: If the run does not have exactly one runner, or has fewer than 40 successful processes.
    """
    runners = {result.runner for result in run.results}
    if len(runners) != 1:
        names = ", ".join(sorted(runners)) or "none"
        message, (hint, command_hint) = f"a noise floor needs 1 runner, and the run has {names}", HINTS
        raise UsageError(message, hint, command_hint=command_hint)
    ended = [
        one for result in run.results for one in result.processes if one.status == "ok" and one.steady_from is not None
    ]
    backward = [median(one.backward_ns[one.steady_from :]) for one in ended if one.backward_ns is not None]
    return measure_floor(
        [median(one.forward_ns[one.steady_from :]) for one in ended],
        # No process of a model without a backward phase has backward times.
        backward or None,
        device=run.results[0].problem.device,
        runner=runners.pop(),
        environment=run.environment,
        seed=run.plan.order_seed or 0,
    )
