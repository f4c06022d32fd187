"""Verification: a class for each JSON object, an attribute for each key."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from fastrnns_rs.documents import soundness
from fastrnns_rs.documents.codec import RunWarning, shown
from fastrnns_rs.documents.container import Container
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.part import Part
from fastrnns_rs.documents.tolerances import COMPUTED, ROUNDING
from fastrnns_rs.errors import UsageError

FORMATS = ("table", "json")

Status = Literal["ok", "failed", "skipped", "interrupted"]


def is_ok(statuses: Collection[Status]) -> bool:
    """Returns True if runners with these statuses are correct as a whole."""
    return "ok" in statuses and not {"failed", "interrupted"}.intersection(statuses)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Check(Part):
    """Comparison of a tensor with its reference: the worst of the checked calls.

    Attributes:
        name: `output`, `state`, `gradient:NAME`; also `input` and `parameter:NAME`, which must have the values that the
            seed gives. Several tensors have an index: `state[0]`.
        ok: True if the tensor is as expected.
        max_absolute: Largest absolute error; None where no error is finite.
        max_relative: Largest relative error. It is relative to the expected element, or for a gradient to the largest
            expected element.
        tolerance_absolute: Absolute error that is allowed.
        tolerance_relative: Relative error that is allowed in addition.
        worst_index: Index of the element that exceeds the tolerance most; None where shapes differ.
        shape: Shape of the tensor; None where it is missing.
        expected_shape: Shape of the reference; None where no tensor is expected.
    """

    name: str
    ok: bool
    max_absolute: float | None = None
    max_relative: float | None = None
    tolerance_absolute: float
    tolerance_relative: float
    worst_index: list[int] | None = None
    shape: list[int] | None
    expected_shape: list[int] | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verified(Part):
    """Result of one runner. `reason` also lists checks that were skipped.

    A runner that is `ok` may have skipped checks. One that is `interrupted` was not checked.
    """

    runner: str
    reference: str | None
    dtype: str
    status: Status
    reason: str | None
    checks: list[Check] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification(Container[Verified], Document):
    """Result of `verify`.

    >>> import fastrnns_rs
    >>> verification = fastrnns_rs.load("verification.json")
    >>> verification.ok, verification["jit"].status
    (True, 'ok')
    """

    row_noun: ClassVar[str] = "runner"
    place: ClassVar[str] = "in this verification"
    rows_key: ClassVar[str] = "results"
    noun: ClassVar[str] = "verification"
    hint: ClassVar[str] = "Use a document of verify."
    schema: Literal["fastrnns-rs/verification"] = "fastrnns-rs/verification"
    warnings: list[RunWarning] = field(default_factory=list)
    ok: bool
    results: list[Verified]

    def check(self) -> None:
        """Checks numbers, as any document does, and the agreement of results.

        Raises:
            UsageError: If they do not; the message names the path.
        """
        soundness.check_numbers(self)
        for place, one in enumerate(self.results):
            check_result(f"results[{place}]", one)
        statuses = {one.status for one in self.results}
        if self.ok != is_ok(statuses):
            found = ", ".join(sorted(statuses)) or "none"
            raise UsageError(f"ok is {str(self.ok).lower()}, and the results are: {found}")

    def _names(self) -> list[tuple[str, ...]]:
        return [(one.runner,) for one in self.results]

    @checked_keywords(name="format")
    def render(
        self,
        format: str = "table",  # noqa: A002  # its name on the command line
        *,
        view: str = "overview",
        wide: bool = False,
        width: int | None = None,
        verbose: bool | None = None,
    ) -> str:
        """Returns the verification as text.

        Args:
            format: `table` or `json`.
            view: Table to show: `overview`, or `checks` with a line for every check.
            wide: Has no effect.
            width: Width of the table in characters; None for 80.
            verbose: Old name of `view="checks"`, for this version only.

        Raises:
            UsageError: If a format or a view is unknown, or an argument is invalid.
        """
        if verbose is not None:
            warnings.warn('render(verbose=True) is now render(view="checks")', DeprecationWarning, stacklevel=3)
            view = "checks" if verbose else view
        return Document.render(self, format, view=view, wide=wide, width=width)


def check_result(path: str, result: Verified) -> None:
    """Checks the agreement of a result with its checks.

    Inputs and parameters are given to a runner, so that their checks say nothing about its results, and allow no error.
    All other checks have one relative tolerance: `verify` increases only the absolute one of a tensor.

    Raises:
        UsageError: If they do not agree; the message names the path.
    """
    relative = [one.tolerance_relative for one in result.checks if not _is_given(one)]
    if result.status == "ok" and not relative:
        raise UsageError(f"{path} is ok, and no check is of its results")
    if result.status in {"skipped", "interrupted"} and result.checks:
        raise UsageError(f"{path} is {result.status}, and has checks")
    if result.status == "failed" and result.reason is None:
        raise UsageError(f"{path} is failed, and has no reason")
    for number, check in enumerate(result.checks):
        place = f"{path}.checks[{number}]"
        _check_errors(place, check)
        _check_index(place, check)
        is_given = _is_given(check)
        usual = 0.0 if is_given else next(filter(None, relative), 0.0)
        # Integers must be equal.
        is_exact = check.tolerance_relative == check.tolerance_absolute == 0
        if check.tolerance_relative != usual and not is_exact:
            raise UsageError(f"{place}.tolerance_relative is {check.tolerance_relative:g}, not {usual:g}")
        if is_given and check.tolerance_absolute:
            raise UsageError(f"{place}.tolerance_absolute is {check.tolerance_absolute:g}, not 0")
        if result.status == "ok" and not check.ok:
            raise UsageError(f"{path} is ok, and {place} is not")


def _is_given(check: Check) -> bool:
    """Returns True if a check is of what a runner is given."""
    return check.name.startswith(("input", "parameter:"))


def _check_errors(path: str, check: Check) -> None:
    """Rejects a check that is ok beside errors that are not.

    An error is allowed up to the sum of both tolerances. The two largest errors may be of different elements, so that
    each shows something only where the other tolerance is 0, except as `_check_both` finds.
    """
    for name in ("tolerance_absolute", "tolerance_relative"):
        if getattr(check, name) < 0:
            raise UsageError(f"{path}.{name} is {getattr(check, name):g}, below 0")
    if not check.ok:
        return
    if check.shape != check.expected_shape:
        raise UsageError(f"{path} is ok, and shape differs from expected_shape")
    if check.max_absolute is None and check.shape is not None and 0 not in check.shape:
        raise UsageError(f"{path} is ok, and max_absolute is null")
    for name, other in (("absolute", "relative"), ("relative", "absolute")):
        error, allowed = getattr(check, f"max_{name}"), getattr(check, f"tolerance_{name}")
        # The quotient of an error at the limit is rounded.
        if error is not None and error > allowed * (1 + ROUNDING) and not getattr(check, f"tolerance_{other}"):
            raise UsageError(f"{path} is ok, and max_{name} is {error:g}, above tolerance_{name}, {allowed:g}")
    if check.max_absolute is not None and check.max_absolute > check.tolerance_absolute:
        _check_both(path, check, check.max_absolute)


def _check_index(path: str, check: Check) -> None:
    """Rejects an index of an element that the tensor does not have."""
    worst, shape = check.worst_index, check.shape
    if worst is None:
        return
    # A tensor without elements has no worst one, nor have tensors of unlike shapes.
    if (
        shape is None
        or len(worst) != len(shape)
        or any(not 0 <= one < size for one, size in zip(worst, shape, strict=True))
    ):
        raise UsageError(f"{path}.worst_index is {shown(worst)}, and shape is {shown(shape)}")


def _check_both(path: str, check: Check, max_absolute: float) -> None:
    """Rejects a check that is ok and has errors that contradict each other.

    Where 0 is expected, this error is not ok. Any other element has a relative error of at least this one over the
    largest number. Relative errors of a gradient are relative to one element, so that both are of one element. A
    relative error of null says nothing of an output: an error of a tiny element gives it, too.
    """
    if check.max_relative is not None and check.max_relative < max_absolute / sys.float_info.max:
        errors = f"max_absolute is {max_absolute:g}, and max_relative {check.max_relative:g}"
        raise UsageError(f"{path} is ok, and {errors}")
    if check.name.startswith("gradient:"):
        # A gradient of zeros has no relative error.
        scale = max_absolute / check.max_relative if check.max_relative else 0.0
        allowed = check.tolerance_absolute + check.tolerance_relative * scale
        if max_absolute > allowed * (1 + COMPUTED) and check.max_relative != 0:
            raise UsageError(f"{path} is ok, and max_absolute is {max_absolute:g}, above {allowed:g}")
