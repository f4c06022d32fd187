"""Arguments, errors and results of every function of `fastrnns_rs.stats`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fastrnns_rs import stats

GOOD = [1.0, 2.0, 4.0, 3.0, 5.0, 2.5]
SIDES = (GOOD, [2.0, 3.0, 5.0, 4.5])
#: Positional arguments, a source that the documentation names, and how the result begins where it is an object.
CALLS: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "autocorrelation": ((GOOD,), "lag", ""),
    "benjamini_hochberg": (
        ([0.001, 0.5],),
        "Benjamini and",
        "BenjaminiHochberg(adjusted=[0.002000, 0.5000], ",
    ),
    "bootstrap_ci": ((GOOD,), "Efron", "BootstrapInterval(estimate="),
    "changepoints": ((GOOD,), "Killick", "ChangePoints(count=6, positions=[], segments=[(0, 6)]"),
    "classify_warmup": (([GOOD, GOOD],), "Barrett", "Warmup(classification='too_few', classifications=['too_few', "),
    "cliffs_delta": (SIDES, "Cliff", ""),
    "compare_samples": (SIDES, "Kalibera and Jones", "Comparison(verdict='inconclusive', reason='the 95 % interval"),
    "detection_power": ((0.01, 10), "noncentral t", "DetectionPower(faster="),
    "effective_sample_size": ((GOOD,), "Geyer", "EffectiveSize("),
    "geometric_mean_ratio": (([0.5, 2.0],), "Fleming and Wallace", "GeometricMean(ratio=1.000"),
    "growth": (([1, 2, 4], [1, 2, 5]), "", "Growth("),
    "hodges_lehmann": (SIDES, "Hollander and Wolfe", "HodgesLehmann(shift="),
    "mann_whitney": (SIDES, "Mann and Whitney", "MannWhitney(u_baseline="),
    "mean_ci": ((GOOD,), "Student", "MeanInterval(estimate="),
    "median_ci": ((GOOD,), "Hettmansperger", "MedianInterval(estimate="),
    "modality": ((GOOD,), "Davies and Kovac", "Modality(count=6, dip="),
    "moments": ((GOOD,), "Chan, Golub and LeVeque", "Moments(count=6, mean=2.917, variance="),
    "outliers": ((GOOD,), "Tukey", "Outliers(count=6, low_severe=0, low_mild=0, inside=6, high_mild=0, "),
    "permutation_test": (SIDES, "Phipson and Smyth", "PermutationTest(difference="),
    "precision_reached": ((GOOD,), "", "Precision(half_width=0.8163, target=0.01000, reached=False, "),
    "process_ci": ((GOOD,), "", "ProcessInterval(estimate="),
    "quantiles": ((GOOD, [0.5]), "Hyndman", ""),
    "required_processes": ((0.01,), "", "RequiredProcesses(processes=7, verdict='slower', power=0.9190)"),
    "steady_state": ((GOOD,), "", "SteadyState(count=6, classification='too_few', steady_from=None, "),
    "summarize": ((GOOD,), "David and Nagaraja", "Summary(count=6, mean=2.917, stddev="),
    "welch": (SIDES, "Biometrika", "Welch(difference="),
}
OF_SAMPLES = [name for name, (arguments, *_) in CALLS.items() if arguments[0] is GOOD and len(arguments) == 1]
OF_SIDES = [name for name, (arguments, *_) in CALLS.items() if arguments is SIDES]
LEVELLED = [name for name in CALLS if "confidence_level=" in (getattr(stats, name).__text_signature__ or "")]


def plain(value: Any) -> Any:
    """A result as its `to_dict` has it."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def test_every_function_is_called_here() -> None:
    assert {name for name in stats.__all__ if name[0].islower()} == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_is_documented_and_its_result_is_frozen_equal_and_shows_itself(name: str) -> None:
    arguments, source, shown = CALLS[name]
    function = getattr(stats, name)
    for part in ("Args:", "Returns:", "Raises:", source):
        assert part in (function.__doc__ or "")
    found = function(*arguments)
    assert found == function(*arguments)
    if not shown:
        return
    assert repr(found).startswith(shown)
    fields = [field for field in dir(found) if not field.startswith("_") and field != "to_dict"]
    assert found.to_dict() == {field: plain(getattr(found, field)) for field in fields}
    assert type(found).__name__ in stats.__all__
    assert type(found).__doc__
    for field in fields:
        assert getattr(type(found), field).__doc__, field
        with pytest.raises(AttributeError):
            setattr(found, field, None)


@pytest.mark.parametrize("name", [*OF_SAMPLES, *OF_SIDES])
@pytest.mark.parametrize(
    ("samples", "kind", "message"),
    [
        ([], ValueError, " is empty"),
        ([1.0, math.nan, 2.0], ValueError, r"\[1\] is NaN; every value must be finite"),
        (np.array([*[1.0] * 5000, -math.inf]), ValueError, r"\[5000\] is -inf; every value must be finite"),
        (["a", "b"], TypeError, r"\[0\] is 'a'; every value must be a number"),
        (3.0, TypeError, " is of type float; it must be a sequence of numbers"),
    ],
)
def test_bad_samples_are_named(name: str, samples: object, kind: type[Exception], message: str) -> None:
    function = getattr(stats, name)
    if name in OF_SIDES:
        with pytest.raises(kind, match=f"baseline{message}"):
            function(samples, GOOD)
        with pytest.raises(kind, match=f"candidate{message}"):
            function(GOOD, samples)
        return
    argument = "processes" if name in {"precision_reached", "process_ci"} else "samples"
    with pytest.raises(kind, match=f"{argument}{message}"):
        function(samples)


@pytest.mark.parametrize("name", [*OF_SAMPLES, *OF_SIDES])
def test_two_dimensions_are_refused_where_no_processes_are_taken(name: str) -> None:
    if name in {"compare_samples", "precision_reached", "process_ci"}:
        return
    with pytest.raises(ValueError, match="has 2 dimensions; it must have one"):
        getattr(stats, name)(np.ones((2, 2)), *[GOOD] * (name in OF_SIDES))


@pytest.mark.parametrize("name", LEVELLED)
def test_a_level_must_be_a_probability(name: str) -> None:
    for level in (0, 1, -1, 1.5, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"confidence_level is .*; it must be between 0\S* and 1"):
            getattr(stats, name)(*CALLS[name][0], confidence_level=level)
