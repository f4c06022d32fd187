"""What is known of a machine's noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastrnns_rs.documents.document import Document
from fastrnns_rs.errors import UsageError

_MOST = 1e300


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """What the machine calls a difference between two equal sides, in the phase in which it can show less.

    Attributes:
        measured_utc: When, as ISO 8601.
        comparisons: Comparisons of two sides without a difference.
        false_alarm_rate: The share of them that was called faster or slower.
        false_alarm_ci_low: Lower end of its 95 % interval, over the draws, given the processes that were measured.
        false_alarm_ci_high: Upper end of the same.
        minimum_detectable_change: The relative difference that is found with 80 % power: 0.02 is 2 %.
        device: As in a problem: `cpu`, `cuda`, `cuda:1`.
        device_name: The GPU's name, or the model of the CPU; None where the machine does not tell it.
        cpu_model: The model of the CPU that drove it.
        runner: Whose processes were measured.
        phase: The phase whose figures these are.
        n_processes: Processes that were measured.
        processes_per_side: Processes on each side of a comparison.
        log_stddev: Their relative spread: the standard deviation of the logarithms of their medians.
        margin: What the verdicts took for no difference that matters.
        seed: Of the draws.
        torch_version: Of the torch that ran.
    """

    measured_utc: str
    comparisons: int
    false_alarm_rate: float
    false_alarm_ci_low: float
    false_alarm_ci_high: float
    minimum_detectable_change: float
    device: str
    device_name: str | None
    cpu_model: str | None
    runner: str
    phase: Literal["forward", "backward"]
    n_processes: int
    processes_per_side: int
    log_stddev: float
    margin: float
    seed: int
    torch_version: str

    def __post_init__(self) -> None:
        for name in ("false_alarm_rate", "false_alarm_ci_low", "false_alarm_ci_high", "margin"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is {getattr(self, name)}, not a share from 0 to 1")
        for name in ("minimum_detectable_change", "log_stddev"):
            # Also of a document that anybody may have written: a NaN is not in the range, nor what no float holds.
            if not 0 <= getattr(self, name) < _MOST:
                raise UsageError(f"{name} is {getattr(self, name)}, not a relative difference")
        for name in ("comparisons", "n_processes", "processes_per_side"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, not a count")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloorDocument(Document):
    """The noise floor of one kind of device."""

    schema: Literal["fastrnns-rs/noise-floor"] = "fastrnns-rs/noise-floor"
    noise_floor: NoiseFloor
