"""Checks of a runner against itself, in a noise floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.part import Part
from fastrnns_rs.documents.tolerances import ROUNDING, check_inside
from fastrnns_rs.errors import UsageError

CheckName = Literal["sides", "launch_order", "session", "time"]
Finding = Literal["none", "difference", "drift", "jump", "unknown"]

#: Significance level of each check of fixed groups, for all its phases.
SIGNIFICANCE = 0.025
_MOST = 1e300


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SelfCheck(Part):
    """Check whether equal processes differ, by groups fixed beforehand.

    Attributes:
        check: `sides` compares candidate and baseline, `launch_order` the second process of each pair and the first,
            `session` this session and earlier ones, and `time` processes over the run.
        finding: `none`, `difference`, `drift` or `jump` (only of `time`), or `unknown` without enough sessions.
        phase: Phase with the finding, or with the wider interval; None for the sum of both phases.
        ratio: Candidate / baseline, second / first, this session / earlier sessions, end / begin of a drift, or after /
            before the largest jump; None without a figure.
        ratio_ci_low: Lower end of the ratio's interval at 97.5 %, for all phases together; None without an interval.
        ratio_ci_high: Upper end of the same interval.
        p_value: Two-sided p-value, corrected for the number of phases; None without a test.
        after_process: Number of processes before the largest jump; None without a jump.
        n_jumps: Number of jumps.
        n_sessions: Number of earlier sessions under the same conditions; None for other checks, and without history.
    """

    check: CheckName
    finding: Finding
    phase: Literal["forward", "backward"] | None = None
    ratio: float | None = None
    ratio_ci_low: float | None = None
    ratio_ci_high: float | None = None
    p_value: float | None = None
    after_process: int | None = None
    n_jumps: int = 0
    n_sessions: int | None = None

    def __post_init__(self) -> None:
        for name in ("ratio", "ratio_ci_low", "ratio_ci_high"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < _MOST:
                raise UsageError(f"{name} is {value}, not a ratio")
        if self.p_value is not None and not 0 <= self.p_value <= 1:
            raise UsageError(f"p_value is {self.p_value}, not a share from 0 to 1")
        for name in ("after_process", "n_jumps", "n_sessions"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise UsageError(f"{name} is {value}, not a count")
        is_found = self.finding in {"difference", "drift", "jump"}
        if is_found and (self.ratio is None or (self.finding == "jump" and self.after_process is None)):
            raise UsageError(f"{self.check} has a {self.finding} without its size or place")
        if is_found and (self.check == "time") == (self.finding == "difference"):
            raise UsageError(f"{self.check} has a {self.finding}, which it cannot have")
        if self.check != "session" and self.n_sessions is not None:
            raise UsageError(f"n_sessions is {self.n_sessions}, and the check is {self.check}, not session")
        self._check_absence()
        self._check_interval()

    def _check_absence(self) -> None:
        """Rejects figures of a finding in a check that has another finding, or none."""
        if (self.n_jumps > 0) != (self.finding == "jump"):
            raise UsageError(f"{self.check} has the finding {self.finding}, and n_jumps is {shown(self.n_jumps)}")
        figures = ["after_process"] if self.finding != "jump" else []
        if self.finding == "unknown" or (self.check == "time" and self.finding == "none"):
            figures += ["ratio", "ratio_ci_low", "ratio_ci_high"]
        figures += ["p_value"] if self.finding == "unknown" else []
        for name in figures:
            if (value := getattr(self, name)) is not None:
                raise UsageError(f"{self.check} has the finding {self.finding}, and {name} is {shown(value)}")
        if self.check == "time" or self.finding != "none" or self.p_value is None or self.p_value > SIGNIFICANCE:
            return
        # Equal times may have a p-value of 0. Their ratio is 1, or differs by a rounding error.
        if self.ratio is None or abs(self.ratio - 1) > ROUNDING:
            raise UsageError(f"{self.check} has the finding none, and p_value is {self.p_value:g}")

    def _check_interval(self) -> None:
        """Rejects an interval that contradicts the ratio or the finding."""
        low, high = self.ratio_ci_low, self.ratio_ci_high
        if low is not None and high is not None and low > high:
            raise UsageError(f"ratio_ci_low is {low:g}, above ratio_ci_high, {high:g}")
        check_inside("ratio", low, self.ratio, high)
        if low is None or self.ratio is None or high is None:
            return
        includes = low * (1 + ROUNDING) < 1 < high * (1 - ROUNDING)
        excludes = low > 1 + ROUNDING or high < 1 - ROUNDING
        if (self.finding == "difference" and includes) or (self.finding == "none" and excludes):
            found = f"{self.check} has the finding {self.finding}"
            raise UsageError(f"{found}, and its interval is from {low:g} to {high:g}")
