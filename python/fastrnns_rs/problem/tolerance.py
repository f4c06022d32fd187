"""Tolerances of a runner's results against its reference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.problem.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """Allowed error: `absolute`, plus `relative` times the expected value.

    For a gradient, the relative part refers to its largest element, since its small elements are sums of large ones.
    """

    relative: float
    absolute: float


#: About a hundred roundings, the error of sums of a few thousand terms over a hundred steps.
_BY_DTYPE = {
    "float64": Tolerance(relative=1e-9, absolute=1e-10),
    "float32": Tolerance(relative=1e-4, absolute=2e-5),
    "float16": Tolerance(relative=2e-2, absolute=1e-2),
    "bfloat16": Tolerance(relative=1e-1, absolute=5e-2),
}


def choose_tolerance(problem: Problem, *, rtol: float | None = None, atol: float | None = None) -> Tolerance:
    """Returns the tolerance for a problem's arithmetic, or the given tolerance.

    Args:
        problem: Problem; its dtype decides. Forward under autocast counts as bfloat16, TF32 has float16's digits.
        rtol: Relative part; None for that of the dtype.
        atol: Absolute part; None for that of the dtype.

    Raises:
        UsageError: If a tolerance is negative or not finite.
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and 0 <= value < math.inf):
            raise UsageError(f"invalid number: {value!r}", "Use a number of at least 0.", where=name, value=value)
    computed_in = "bfloat16" if problem.amp else "float16" if problem.allow_tf32 else problem.dtype
    usual = _BY_DTYPE[computed_in]
    return Tolerance(
        relative=usual.relative if rtol is None else float(rtol),
        absolute=usual.absolute if atol is None else float(atol),
    )
