"""Noise floor of pairs of processes of one runner.

It consists of the minimum detectable effect, and of the false alarm rate of random labels.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from fastrnns_rs import stats
from fastrnns_rs.documents.noise_figures import minimum_detectable_change, wilson
from fastrnns_rs.documents.noise_floor import NoiseFloor
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine.noise.process_pairs import ProcessPair, find_pairs
from fastrnns_rs.machine.noise.run_checks import check_run
from fastrnns_rs.machine.noise.storage import device_name

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Environment, Run

#: With fewer processes, draws of 10 pairs are nearly identical.
LEAST_PROCESSES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phase:
    name: Literal["forward", "backward"]
    n_processes: int
    alarms: int
    log_stddev: float
    pair_log_stddev: float
    detectable: float


def measure_floor(
    forward: Sequence[ProcessPair],
    backward: Sequence[ProcessPair] | None,
    *,
    device: str,
    runner: str,
    environment: Environment,
    per_side: int = 10,
    draws: int = 1000,
    seed: int = 0,
    margin: float = 0.01,
) -> NoiseFloor:
    """Returns the noise floor of pairs of processes.

    Each draw takes `per_side` pairs and labels the processes of each pair at random. A verdict of `compare_samples` for
    pairs that is faster or slower is a false alarm. Random labels make both sides equal: the rate shows whether the
    test keeps its level on these times, and cannot show a bias, a drift or a jump. `check_run` searches for these. The
    result describes the phase with the larger minimum detectable effect.

    The interval of the rate (Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*, 1927)
    covers the draws, given these processes. All draws share the processes. The interval therefore shows the deviation
    of another thousand draws, not of processes at another time.

    The minimum detectable effect is computed by `detection_power` from the standard deviation of the log ratios of
    pairs. It is exact if these are normally distributed.

    Args:
        forward: Pairs of processes, at least 20.
        backward: Same for the backward phase; None without a backward phase.
        device: Device, as in a problem: `cpu`, `cuda`, `cuda:1`.
        runner: Runner of the processes.
        environment: Environment of the processes' run.
        per_side: Pairs in each comparison, at least 3.
        draws: Number of comparisons.
        seed: Random seed of the draws.
        margin: Equivalence margin, as for `compare_samples`.

    Raises:
        UsageError: If there are too few processes or draws, a median is not a positive number, or the margin is
            invalid.
    """
    phases: list[tuple[Literal["forward", "backward"], Sequence[ProcessPair]]] = [("forward", forward)]
    if backward is not None:
        phases.append(("backward", backward))
    for name, pairs in phases:
        _check(name, pairs, per_side, draws)
    measured = [_phase(name, pairs, per_side, draws, seed, margin) for name, pairs in phases]
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
        pair_log_stddev=worst.pair_log_stddev,
        checks=check_run(dict(phases)),
    )


def relabelled(
    pairs: Sequence[ProcessPair], per_side: int, draws: int, seed: int
) -> Iterator[tuple[list[float], list[float]]]:
    """Yields two sides for each draw: different pairs, each with random labels.

    The same seed draws the same pairs and labels.
    """
    generator = random.Random(seed)  # noqa: S311  # The draws need no cryptographic strength.
    for _ in range(draws):
        drawn = generator.sample(pairs, per_side)
        labelled = [generator.sample((one.baseline_ns, one.candidate_ns), 2) for one in drawn]
        yield [first for first, _ in labelled], [second for _, second in labelled]


def _check(name: str, pairs: Sequence[ProcessPair], per_side: int, draws: int) -> None:
    if 2 * len(pairs) < LEAST_PROCESSES:
        message = f"too few processes: {2 * len(pairs)} of {name}, and a noise floor needs {LEAST_PROCESSES}"
        raise UsageError(message, f"Use `processes={LEAST_PROCESSES}` or more.")
    least = 3
    if not least <= per_side <= len(pairs):
        hint = f"Use an integer from {least} to {len(pairs)}."
        raise UsageError(f"out of range: {per_side}", hint, where="per_side", value=per_side)
    if draws < 1:
        raise UsageError(f"out of range: {draws}", "Use an integer of at least 1.", where="draws", value=draws)


def _phase(
    name: Literal["forward", "backward"],
    pairs: Sequence[ProcessPair],
    per_side: int,
    draws: int,
    seed: int,
    margin: float,
) -> _Phase:
    try:
        spread = stats.process_ci([time for one in pairs for time in (one.baseline_ns, one.candidate_ns)]).log_stddev
        ratios = [math.log(one.candidate_ns) - math.log(one.baseline_ns) for one in pairs]
        pair_spread = stats.moments(ratios).stddev or 0.0
        alarms = sum(
            stats.compare_samples(*sides, margin=margin, paired=True).verdict in {"faster", "slower"}
            for sides in relabelled(pairs, per_side, draws, seed)
        )
        detectable = minimum_detectable_change(pair_spread, per_side, margin=margin, paired=True)
    except ValueError as error:
        raise UsageError(f"cannot compute noise floor: {name}", reason=str(error)) from error
    return _Phase(
        name=name,
        n_processes=2 * len(pairs),
        alarms=alarms,
        log_stddev=spread or 0.0,
        pair_log_stddev=pair_spread,
        detectable=detectable,
    )


def compute_run_floor(run: Run) -> NoiseFloor:
    """Measures the noise floor from the pairs of a run.

    Args:
        run: Run of `ab --same`. Pairs with a failed or interrupted process are ignored.

    Raises:
        UsageError: If the run does not have two sides of one runner, or has fewer than 40 successful processes.
    """
    pairs = find_pairs(run)
    backward = pairs.get("backward", [])
    # The clock may not resolve a phase: then it has no floor.
    has_times = all(min(one.baseline_ns, one.candidate_ns) > 0 for one in backward)
    return measure_floor(
        pairs["forward"],
        (backward or None) if has_times else None,
        device=run.results[0].problem.device,
        runner=run.results[0].runner,
        environment=run.environment,
        seed=run.plan.order_seed or 0,
    )
