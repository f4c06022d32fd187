"""Comparison of a tensor with its reference.

Shape and dtype must be equal. NaN is wrong unless the reference has it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch

from fastrnns_rs.documents.verification import Check
from fastrnns_rs.problem.tolerance import Tolerance
from fastrnns_rs.worker.verification.tensors import MISSING, dense

#: Allowed error of a deep network: a multiple of the effect of rounding, at most a share of the largest element.
_TIMES, _MOST = 4.0, 0.9
#: Tolerance of numbers that are passed on, not computed.
EXACT = Tolerance(relative=0.0, absolute=0.0)


@dataclass(frozen=True, slots=True)
class Finding:
    """Check and a description of the fault; None if the tensor is correct."""

    check: Check
    wrong: str | None


def compare(
    name: str,
    found: Any,
    expected: Any,
    tolerance: Tolerance,
    *,
    dtypes: Collection[torch.dtype] | None = None,
    scaled: bool = False,
) -> Finding:
    """Compares a tensor with its reference.

    Args:
        name: Name of the check.
        found: Tensor; or `MISSING`, or any object that a runner returned in its place.
        expected: Reference; or `MISSING` where no tensor is expected.
        tolerance: Allowed error of floating-point and complex numbers. Integers must be equal.
        dtypes: Allowed dtypes of a floating-point tensor; None for any. Other tensors have the dtype of the reference.
        scaled: True makes the relative tolerance relative to the largest expected element, False to each element.

    Returns:
        The finding. NaN and infinities are wrong unless the reference has them in the same places, and a number in
        another place.
    """
    if isinstance(expected, torch.Tensor) and not (expected.is_floating_point() or expected.is_complex()):
        tolerance = EXACT
    wrong = _unlike(found, expected, dtypes)
    if wrong is not None:
        return Finding(_check(name, found, expected, tolerance, ok=False), wrong)
    one, other = _wide(found), _wide(expected)
    if not other.isfinite().any() and (other.numel() or name == "output"):
        # Equal by definition, but no evidence.
        why = "no element of the reference is finite" if other.numel() else "it has no elements"
        return Finding(_check(name, found, expected, tolerance, ok=False), why)
    if not other.numel() or torch.equal(one, other):
        # Most parameters are equal, and there are millions of them.
        nothing = 0.0 if other.numel() else None
        nowhere = [0] * other.dim() if other.numel() else None
        check = _check(name, found, expected, tolerance, ok=True)
        return Finding(replace(check, max_absolute=nothing, max_relative=nothing, worst_index=nowhere), None)
    size = other.abs()
    scale = torch.where(size.isfinite(), size, 0.0)
    if scaled:
        scale = scale.max()
    allowed = tolerance.absolute + tolerance.relative * scale
    same = (one == other) | (one.isnan() & other.isnan())
    error = torch.where(same, 0.0, (one - other).abs())
    comparable = error.isfinite() & other.isfinite()
    # An element that cannot be subtracted counts as the largest error.
    excess = torch.where(same, -allowed, torch.where(comparable, error - allowed, math.inf))
    worst = int(excess.argmax())
    index = [int(one) for one in torch.unravel_index(torch.tensor(worst), other.shape)]
    ok = float(excess.flatten()[worst]) <= 0
    scale = scale.expand_as(error)
    relative = error[comparable & (scale > 0)] / scale[comparable & (scale > 0)]
    check = _check(name, found, expected, tolerance, ok=ok)
    check = replace(check, max_absolute=_most(error[comparable]), max_relative=_most(relative), worst_index=index)
    if ok:
        return Finding(check, None)
    values = one.flatten()[worst].item(), other.flatten()[worst].item()
    count = int((excess > 0).sum())
    beyond = f"; {count} of {other.numel()} elements are wrong" if count > 1 else ""
    return Finding(check, f"{_shown(values[0])} at {index}, expected {_shown(values[1])}{beyond}")


def widened(tolerance: Tolerance, expected: torch.Tensor, share: float) -> Tolerance:
    """Returns a tolerance increased by a share of the largest expected element."""
    return replace(tolerance, absolute=tolerance.absolute + share * float(_wide(expected).abs().max()))


def sensitivity(pairs: Iterable[tuple[Any, Any]]) -> float:
    """Returns the effect of rounding, as a share of each tensor's largest element.

    The share is limited, so that zeros never pass.

    Args:
        pairs: Reference in the problem's own dtype, and the same reference in float64.
    """
    worst = 0.0
    for rounded, exact in pairs:
        if isinstance(rounded, torch.Tensor) and isinstance(exact, torch.Tensor):
            largest = float(_wide(exact).abs().max())
            error = float((_wide(rounded) - _wide(exact)).abs().max().nan_to_num(nan=0.0, posinf=0.0))
            worst = max(worst, error / largest if largest else 0.0)
    return min(_TIMES * worst, _MOST)


def worse(first: Finding, second: Finding) -> Finding:
    """Returns the finding to report out of two with the same name.

    It is the one with a fault, or else the one with the larger error.
    """
    if (first.wrong is None) != (second.wrong is None):
        return second if first.wrong is None else first
    return second if first.wrong is None and _error(second) > _error(first) else first


def _unlike(found: Any, expected: Any, dtypes: Collection[torch.dtype] | None) -> str | None:  # noqa: PLR0911
    """Returns the reason why two objects cannot be equal, without reading elements."""
    if expected is MISSING:
        return "nothing is expected here"
    if found is MISSING or found is None:
        return "it is missing"
    if not isinstance(found, torch.Tensor):
        return f"it is of type {type(found).__name__}, not a tensor"
    if not isinstance(expected, torch.Tensor):
        return "one tensor stands for several"
    if found.shape != expected.shape:
        return f"its shape is {list(found.shape)}, expected {list(expected.shape)}"
    if found.is_complex() and expected.is_complex():
        # The reference has a wider dtype.
        return None
    if dtypes is not None and not expected.is_floating_point():
        dtypes = {expected.dtype}
    if dtypes is not None and found.dtype not in dtypes:
        known = " or ".join(sorted(str(one).removeprefix("torch.") for one in dtypes))
        return f"its dtype is {str(found.dtype).removeprefix('torch.')}, expected {known}"
    return None


def _check(name: str, found: Any, expected: Any, tolerance: Tolerance, *, ok: bool) -> Check:
    """Returns a check without errors, which exist only for tensors of equal shape."""
    return Check(
        name=name,
        ok=ok,
        tolerance_absolute=tolerance.absolute,
        tolerance_relative=tolerance.relative,
        shape=list(found.shape) if isinstance(found, torch.Tensor) else None,
        expected_shape=list(expected.shape) if isinstance(expected, torch.Tensor) else None,
    )


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the same numbers in a dtype that is exact enough to compare them."""
    wide = torch.complex128 if tensor.is_complex() else torch.float64
    return dense(tensor.detach()).to("cpu", wide)


def _most(errors: torch.Tensor) -> float | None:
    largest = float(errors.max()) if errors.numel() else math.inf
    # The error of very large numbers may exceed the largest finite number.
    return largest if math.isfinite(largest) else None


def _error(one: Finding) -> float:
    return -1.0 if one.check.max_absolute is None else one.check.max_absolute


def _shown(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
