"""Noise floor of a machine."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal

from fastrnns_rs.documents.codec import shown, since
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.noise_figures import minimum_detectable_change, wilson
from fastrnns_rs.documents.part import Part
from fastrnns_rs.documents.self_check import SIGNIFICANCE, CheckName, SelfCheck
from fastrnns_rs.documents.tolerances import COMPUTED
from fastrnns_rs.errors import UsageError

_MOST = 1e300
_MOST_COUNT = 1 << 63
#: Number of sessions from which the effect between sessions is known.
_LEAST_SESSIONS = 8
#: Standard errors of an effect that is detected with 80 % power: more if few processes show the standard error.
_LEAST_ERRORS = 2.8
#: Largest effect between sessions, in half-widths of the interval that earlier sessions predict, and what the margin
#: of `compare` adds. Without a finding this session is in its interval, and hardly adds to the variance.
_MOST_PREDICTED = 2.5
_MOST_MARGIN = 0.02
#: Largest logarithm of an effect that is checked.
_MOST_LOG = 9.0
#: Relative difference of the logarithms of two effects: builds searched in two ways, and one rounded to three digits.
_SEARCHED = 0.02
#: Smallest standard deviation that is checked: rounding errors of logarithms of times are below it.
_LEAST_SPREAD = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NoiseFloor(Part):
    """Noise floor: minimum detectable effects, and checks of equal sides.

    The rate of false alarms is that of random labels: it cannot show a bias. Figures without another remark belong to
    the phase that detects less within a session.

    Attributes:
        measured_utc: Time of the measurement, as ISO 8601.
        comparisons: Number of comparisons of pairs with random labels.
        false_alarm_rate: Share of these comparisons with the verdict faster or slower. Random labels make both sides
            equal, so that the share cannot show a bias of one side, a drift or a jump.
        false_alarm_ci_low: Lower end of its 95 % interval, over the draws, given the measured processes.
        false_alarm_ci_high: Upper end of the same interval.
        minimum_detectable_change: Minimum detectable effect of sides of one session at 80 % power, as a relative
            difference: 0.02 is 2 %.
        device: Device as in a problem: `cpu`, `cuda`, `cuda:1`.
        device_name: Name of the GPU, or model of the CPU; None where the machine does not report it.
        cpu_model: Model of the CPU that launched the GPU work.
        runner: Name of the runner that was measured.
        phase: Phase that the figures belong to.
        n_processes: Number of measured processes.
        processes_per_side: Number of processes on each side of a comparison, which are pairs.
        log_stddev: Standard deviation of the logarithms of the processes' medians: their relative variation.
        margin: Equivalence margin of the verdicts, as a share.
        seed: Random seed of the draws.
        torch_version: Version of torch that ran.
        pair_log_stddev: Standard deviation of the log ratios of pairs. None in floors of older builds, whose effect
            belongs to independent processes.
        between_sessions_change: Minimum detectable effect of two sides of one session each at 80 % power, in the phase
            that detects less; None with fewer than eight sessions.
        session_log_stddev: Standard deviation of the log levels of sessions, in the same phase; None with fewer than
            eight sessions.
        n_sessions: Number of sessions under the same conditions, with this one; None if unknown.
        checks: Checks of this measurement, each with sides that were fixed before it.
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
    pair_log_stddev: float | None = field(default=None, metadata=since("1.3"))
    between_sessions_change: float | None = field(default=None, metadata=since("1.3"))
    session_log_stddev: float | None = field(default=None, metadata=since("1.3"))
    n_sessions: int | None = field(default=None, metadata=since("1.3"))
    checks: list[SelfCheck] = field(default_factory=list, metadata=since("1.3"))

    def __post_init__(self) -> None:
        for name in ("false_alarm_rate", "false_alarm_ci_low", "false_alarm_ci_high", "margin"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is {shown(getattr(self, name))}, not a share from 0 to 1")
        optional = ("pair_log_stddev", "between_sessions_change", "session_log_stddev")
        for name in ("minimum_detectable_change", "log_stddev", *optional):
            if name in optional and getattr(self, name) is None:
                continue
            # Any program may have written the document: NaN and integers above the range of a float are outside too.
            if not 0 <= getattr(self, name) < _MOST:
                raise UsageError(f"{name} is {shown(getattr(self, name))}, not a relative difference")
        self._check_counts()
        self._check_alarms()
        self._check_effects()

    def _check_counts(self) -> None:
        for name in ("comparisons", "n_processes", "processes_per_side", "n_sessions"):
            value = getattr(self, name)
            if value is not None and not 1 <= value < _MOST_COUNT:
                raise UsageError(f"{name} is {shown(value)}, not a count")
        if 2 * self.processes_per_side > self.n_processes:
            raise UsageError(f"processes_per_side is {self.processes_per_side}, and n_processes is {self.n_processes}")
        names = [one.check for one in self.checks]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(f"duplicate check: {name}")
        session = self._find_check("session")
        if session is None:
            return
        expected = None if session.n_sessions is None else session.n_sessions + 1
        if self.n_sessions != expected:
            raise UsageError(f"n_sessions is {self.n_sessions}, and the check of the session gives {expected}")

    def _find_check(self, name: CheckName) -> SelfCheck | None:
        return next((one for one in self.checks if one.check == name), None)

    def _check_alarms(self) -> None:
        """Rejects a rate of no number of alarms, and another interval than its own."""
        alarms = round(self.false_alarm_rate * self.comparisons)
        if not math.isclose(self.false_alarm_rate, alarms / self.comparisons, rel_tol=COMPUTED):
            raise UsageError(f"false_alarm_rate is {self.false_alarm_rate}, not a share of {self.comparisons}")
        ends = wilson(alarms, self.comparisons)
        for name, end in zip(("false_alarm_ci_low", "false_alarm_ci_high"), ends, strict=True):
            # Earlier versions rounded the ends and the rate separately.
            if not math.isclose(getattr(self, name), end, rel_tol=COMPUTED, abs_tol=_LEAST_SPREAD):
                raise UsageError(f"{name} is {getattr(self, name):.9g}, and that of the rate is {end:.9g}")

    def _check_effects(self) -> None:
        """Rejects effects that do not follow from their standard deviations.

        Effects are used as margins. An effect between sessions has a part of the processes that is not stored, so that
        only its lower limit is known.
        """
        self._check_detectable()
        sessions = self.session_log_stddev
        if self.between_sessions_change is None:
            return
        if sessions is None or self.n_sessions is None or self.n_sessions < _LEAST_SESSIONS:
            known = f"session_log_stddev is {sessions} and n_sessions {self.n_sessions}"
            raise UsageError(f"between_sessions_change is {self.between_sessions_change:g}, and {known}")
        self._check_prediction(self.between_sessions_change)
        change = self.between_sessions_change
        # The spread is that of the difference of two sessions.
        least = math.expm1(min(_LEAST_ERRORS * sessions * 2**0.5, _MOST_LOG))
        if change < least:
            raise UsageError(
                f"between_sessions_change is {change:g}, and its standard deviation gives {least:g} or more"
            )

    def _check_prediction(self, change: float) -> None:
        """Rejects an effect between sessions far above what earlier sessions predict."""
        session = self._find_check("session")
        if session is None or session.finding != "none" or not session.ratio_ci_low or not session.ratio_ci_high:
            return
        half = math.log(session.ratio_ci_high / session.ratio_ci_low) / 2
        most = _MOST_PREDICTED * half + _MOST_MARGIN
        if most < _MOST_LOG and change > math.expm1(most):
            interval = f"the interval of session from {session.ratio_ci_low:.4g} to {session.ratio_ci_high:.4g}"
            limit = f"{math.expm1(most):.4g} or less"
            raise UsageError(f"between_sessions_change is {change:.4g}, and {interval} gives {limit}")

    def _check_detectable(self) -> None:
        """Checks the effect within a session, and the variation of its processes."""
        pairs = self.pair_log_stddev
        spread = self.log_stddev if pairs is None else pairs
        try:
            expected = minimum_detectable_change(
                spread, self.processes_per_side, margin=self.margin, paired=pairs is not None
            )
        except (ValueError, OverflowError) as error:
            raise UsageError(f"minimum_detectable_change cannot be computed: {error}") from error
        change = self.minimum_detectable_change
        if not math.isclose(math.log1p(change), math.log1p(expected), rel_tol=_SEARCHED):
            known = f"that of the standard deviation is {expected:.4g}"
            raise UsageError(f"minimum_detectable_change is {change:.4g}, and {known}")
        if pairs is None:
            if self.checks:
                raise UsageError("pair_log_stddev is null, and each build with checks writes it")
            return
        self._check_interval_of_pairs(pairs)
        # Half of the squared differences of pairs are part of the squared deviations of all processes.
        count = self.n_processes // 2
        least = pairs * math.sqrt((count - 1) / (4 * count - 2))
        if self.log_stddev < least * (1 - COMPUTED) - _LEAST_SPREAD:
            raise UsageError(f"log_stddev is {self.log_stddev:.9g}, and that of pairs gives {least:.9g} or more")

    def _check_interval_of_pairs(self, spread: float) -> None:
        """Checks that pairs that vary so much have the interval between the sides."""
        sides = self._find_check("sides")
        # Without a difference, the phase of the check is the one that varies most.
        if sides is None or not (sides.finding == "none" or sides.phase == self.phase):
            return
        if not sides.ratio_ci_low or not sides.ratio_ci_high:
            return
        # The interval has Student's t, which is larger, at a level of one phase or of two.
        half = math.log(sides.ratio_ci_high / sides.ratio_ci_low) / 2
        most = half * math.sqrt(self.n_processes // 2) / NormalDist().inv_cdf(1 - SIGNIFICANCE / 2)
        if spread > most * (1 + COMPUTED) + _LEAST_SPREAD:
            interval = f"the interval of sides from {sides.ratio_ci_low:.4g} to {sides.ratio_ci_high:.4g}"
            raise UsageError(f"pair_log_stddev is {spread:.4g}, and {interval} gives {most:.4g} or less")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NoiseFloorDocument(Document):
    """Noise floor of one kind of device."""

    schema: Literal["fastrnns-rs/noise-floor"] = "fastrnns-rs/noise-floor"
    noise_floor: NoiseFloor
