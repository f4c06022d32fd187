"""The verifier verified: what it says of numbers, NaN, infinities, shapes, counts and dtypes."""

from __future__ import annotations

import math
import re

import pytest
import torch

from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.problem import Problem
from fastrnns_rs.problem.tolerance import Tolerance, choose_tolerance
from fastrnns_rs.worker.verification.checks import EXACT, Finding, compare, worse
from fastrnns_rs.worker.verification.tensors import MISSING, pairs, results, tensors

NEAR = Tolerance(relative=1e-2, absolute=1e-3)
NAN, INF = math.nan, math.inf


def found(values: list[float], expected: list[float], tolerance: Tolerance = NEAR, *, scaled: bool = False) -> Finding:
    return compare("x", torch.tensor(values), torch.tensor(expected), tolerance, scaled=scaled)


@pytest.mark.parametrize(
    ("values", "expected", "ok"),
    [
        ([1.0, 2.0], [1.0, 2.0], True),
        ([1.0105, 2.0], [1.0, 2.0], True),
        ([1.0115, 2.0], [1.0, 2.0], False),
        ([0.0009], [0.0], True),
        ([0.0011], [0.0], False),
        ([NAN, 2.0], [1.0, 2.0], False),
        ([NAN, 2.0], [NAN, 2.0], True),
        ([1.0, 2.0], [NAN, 2.0], False),
        ([INF, 2.0], [INF, 2.0], True),
        ([-INF, 2.0], [INF, 2.0], False),
        ([1.0, 2.0], [INF, 2.0], False),
        ([INF, 2.0], [1.0, 2.0], False),
        ([NAN], [INF], False),
    ],
)
def test_elements_are_held_against_both_tolerances(values: list[float], expected: list[float], ok: bool) -> None:
    for scaled in (False, True):
        if not scaled or expected[-1] != 2.0:
            assert found(values, expected, scaled=scaled).check.ok is ok
    finding = found(values, expected)
    assert (finding.wrong is None) is ok
    for number in (finding.check.max_absolute, finding.check.max_relative):
        assert number is None or math.isfinite(number), "JSON has no such number"


def test_the_worst_element_is_told_with_what_was_found_and_expected() -> None:
    one, other = torch.zeros(2, 3, dtype=torch.float64), torch.ones(2, 3, dtype=torch.float64)
    one[1, 2], one[0, 0] = -4.0, 1.0
    finding = compare("x", one, other, NEAR)
    assert finding.check.worst_index == [1, 2]
    assert finding.check.max_absolute == 5.0
    assert finding.check.max_relative == 5.0
    assert finding.wrong == "-4 at [1, 2], expected 1; 5 of 6 elements are wrong"


def test_nan_is_worse_than_any_number() -> None:
    assert found([9.0, NAN], [1.0, 1.0]).check.worst_index == [1]


def test_a_gradient_is_measured_by_its_largest_element() -> None:
    """7e-4 on a gradient of 1296 is a rounding, on one of 0.001 a fault."""
    float32 = choose_tolerance(Problem(mini_batch=1))
    assert found([1296.0, 1e-3 + 7e-4], [1296.0, 1e-3], float32, scaled=True).check.ok
    assert not found([1296.0, 1e-3 + 7e-4], [1296.0, 1e-3], float32).check.ok
    assert not found([1e-3 + 7e-4], [1e-3], float32, scaled=True).check.ok


@pytest.mark.parametrize("shape", [(1, 3), (3,), (4, 3, 1), (3, 4), (0,), ()])
def test_a_shape_that_broadcasts_is_another_shape(shape: tuple[int, ...]) -> None:
    finding = compare("x", torch.zeros(shape), torch.zeros(4, 3), NEAR)
    assert not finding.check.ok
    assert finding.wrong == f"its shape is {list(shape)}, expected [4, 3]"
    assert (finding.check.shape, finding.check.expected_shape) == (list(shape), [4, 3])


def test_an_empty_tensor_and_a_scalar_are_compared() -> None:
    assert compare("x", torch.zeros(0, 3), torch.zeros(0, 3), NEAR).check.ok
    assert compare("x", torch.tensor(1.0), torch.tensor(1.0), EXACT).check.worst_index == []


@pytest.mark.parametrize("value", [NAN, INF])
def test_what_has_no_number_in_common_is_no_evidence(value: float) -> None:
    finding = found([value, value], [value, value])
    assert (finding.check.ok, finding.wrong) == (False, "no element of the reference is finite")
    assert found([value, 1.0], [value, 1.0]).check.ok
    empty = compare("output", torch.zeros(0, 3), torch.zeros(0, 3), NEAR)
    assert (empty.check.ok, empty.wrong) == (False, "it has no elements")


def test_the_dtype_must_be_one_of_those_asked_for() -> None:
    two = {torch.float32, torch.bfloat16}
    assert compare("x", torch.zeros(1), torch.zeros(1).double(), NEAR, dtypes={torch.float32}).check.ok
    finding = compare("x", torch.zeros(1).double(), torch.zeros(1), NEAR, dtypes=two)
    assert finding.wrong == "its dtype is float64, expected bfloat16 or float32"


@pytest.mark.parametrize(
    ("value", "expected", "words"),
    [
        (None, torch.zeros(1), "it is missing"),
        (MISSING, torch.zeros(1), "it is missing"),
        (torch.zeros(1), MISSING, "nothing is expected here"),
        ("text", torch.zeros(1), "it is of type str, not a tensor"),
        (torch.zeros(1), [torch.zeros(1)], "one tensor stands for several"),
    ],
)
def test_what_is_no_tensor_is_wrong(value: object, expected: object, words: str) -> None:
    finding = compare("x", value, expected, NEAR)
    assert (finding.check.ok, finding.wrong) == (False, words)


def test_nothing_is_left_out_on_either_side() -> None:
    one, two, three = torch.ones(1), torch.ones(2), torch.ones(3)
    assert [*results(one, one)] == [("output", one, one)]
    assert [*results((one, (two, three)), (one, (two, three)))] == [
        ("output", one, one),
        ("state[0]", two, two),
        ("state[1]", three, three),
    ]
    assert [*results((one, two), (one, two))] == [("output", one, one), ("state", two, two)]
    assert [*results(one, (one, (two, three)))][1:] == [("state[0]", MISSING, two), ("state[1]", MISSING, three)]
    assert [*results((one, (two,), three), (one, (two,)))][2] == ("result[2]", three, MISSING)
    assert [*results((one, (two, three)), (one, (two,)))][2] == ("state[1]", three, MISSING)
    assert [*pairs("y", [one], [one, two])] == [("y[0]", one, one), ("y[1]", MISSING, two)]
    assert [*pairs("y", {"a": [one]}, [[one]])] == [("y[0][0]", one, one)]
    assert [*results((one, one), one)] == [("output", [one, one], one)]
    assert [*tensors([one, {"a": (two, 3)}])] == [one, two]


def test_of_several_calls_the_wrong_one_is_told() -> None:
    right, off, wrong = (found([value], [1.0]) for value in (1.0, 1.005, 2.0))
    assert worse(right, wrong) is wrong
    assert worse(wrong, right) is wrong
    assert worse(right, off) is off
    assert worse(off, right) is off


def test_tolerances_follow_the_arithmetic() -> None:
    float32 = Problem(mini_batch=1)
    known = [Problem(mini_batch=1, dtype=dtype) for dtype in ("float64", "float32", "float16", "bfloat16")]
    relative = [choose_tolerance(one).relative for one in known]
    assert relative == sorted(relative)
    assert choose_tolerance(Problem(mini_batch=1, amp=True)) == choose_tolerance(known[3])
    assert choose_tolerance(Problem(mini_batch=1, allow_tf32=True)) == choose_tolerance(known[2])
    assert choose_tolerance(float32, rtol=0.5) == Tolerance(relative=0.5, absolute=choose_tolerance(float32).absolute)
    assert choose_tolerance(float32, rtol=0, atol=0) == EXACT
    for wrong in (-1.0, NAN, INF, "much", True):
        with pytest.raises(UsageError, match=re.escape(f"{wrong!r} (rtol)")):
            choose_tolerance(float32, rtol=wrong)  # type: ignore[arg-type]
