"""Text of a noise floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastrnns_rs.documents.noise_floor import NoiseFloor


def detectable(floor: NoiseFloor) -> str:
    """Returns the minimum detectable effect in percent, with its process count."""
    side = floor.processes_per_side
    return f"{100 * floor.minimum_detectable_change:.2g} % by {side} + {side} processes"


def false_alarms(floor: NoiseFloor) -> str:
    """Returns the false alarm rate: the percentage of equal sides judged different."""
    shares = (floor.false_alarm_rate, floor.false_alarm_ci_low, floor.false_alarm_ci_high)
    rate, low, high = (100 * share for share in shares)
    return f"{rate:.1f} [{low:.1f}, {high:.1f}] % of {floor.comparisons:,} comparisons"


def sentence(floor: NoiseFloor) -> str:
    """Returns the complete noise floor in one line.

    The minimum detectable change is the change that 80 % of comparisons find.
    """
    side = floor.processes_per_side
    return (
        f"noise floor of {floor.device}: 80 % of comparisons with {side} + {side} processes find a change of "
        f"{100 * floor.minimum_detectable_change:.2g} %; false alarms: {false_alarms(floor)}; "
        f"from {floor.n_processes} processes of {floor.runner}/{floor.phase}"
    )
