"""How far from its reference a runner may be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.problem.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """An error is allowed up to `absolute`, and `relative` of what is expected on top.

    Of a gradient the relative part is of its largest element: its small elements are sums of large ones.
    """

    relative: float
    absolute: float


#: Some hundred roundings: what sums of a few thousand terms add up to over a hundred steps.
_BY_DTYPE = {
    "float64": Tolerance(relative=1e-9, absolute=1e-10),
    "float32": Tolerance(relative=1e-4, absolute=2e-5),
    "float16": Tolerance(relative=2e-2, absolute=1e-2),
    "bfloat16": Tolerance(relative=1e-1, absolute=5e-2),
}


def tolerance_of(problem: Problem, *, rtol: float | None = None, atol: float | None = None) -> Tolerance:
    """What a problem's arithmetic deserves, or what is given in its place.

    Args:
        problem: Its dtype counts; forward under autocast counts as bfloat16, TF32 has float16's digits.
        rtol: The relative part.
        atol: The absolute part.

    Raises:
        UsageError: A tolerance is negative or not finite.
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and 0 <= value < math.inf):
            raise UsageError(f"{name} is {value!r}", "give a number that is not negative")
    computed_in = "bfloat16" if problem.amp else "float16" if problem.allow_tf32 else problem.dtype
    usual = _BY_DTYPE[computed_in]
    return Tolerance(
        relative=usual.relative if rtol is None else float(rtol),
        absolute=usual.absolute if atol is None else float(atol),
    )
