"""Arguments, errors and results of every function of `fastrnns_rs.stats`."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from interrupting import interrupt
from parts import few

from fastrnns_rs import stats

GOOD = [1.0, 2.0, 4.0, 3.0, 5.0, 2.5]
SIDES = (GOOD, [2.0, 3.0, 5.0, 4.5])
EVEN = np.arange(4000.0)
#: Positional arguments, a source that the documentation names, and how the result begins where it is an object.
CALLS: dict[str, tuple[tuple[Any, ...], str, str]] = {
    "autocorrelation": ((GOOD,), "lag", ""),
    "benjamini_hochberg": (([0.001, 0.5],), "Benjamini and", "BenjaminiHochberg(adjusted=[0.002000, 0.5000], "),
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


@pytest.mark.parametrize(
    ("name", "arguments", "options", "message"),
    [
        ("autocorrelation", ([1, 2, 3],), {"max_lag": 3}, "max_lag is 3; it must be below the number of samples"),
        ("autocorrelation", ([1, 2, 3],), {"max_lag": -1}, "max_lag is -1; it must be a whole number"),
        ("benjamini_hochberg", ([0.0, 1.5],), {}, r"p_values\[1\] is 1.5; it must be from 0 to 1"),
        ("benjamini_hochberg", ([0.5],), {"rate": math.nan}, "rate is NaN; it must be between 0 and 1, both excluded"),
        ("changepoints", ([1.0],), {}, "samples has 1 value; at least 2 are needed"),
        ("changepoints", (GOOD,), {"cost": "rbf"}, 'cost is "rbf"; it must be one of mean, mean_variance'),
        ("changepoints", (GOOD,), {"penalty": math.nan}, "penalty is NaN"),
        ("changepoints", (GOOD,), {"jump": 0}, "jump is 0; it must be 1 or more"),
        ("changepoints", ([1e308, -1e308, 0.0],), {}, "the range of samples overflows"),
        ("changepoints", ([-6e153, 6e153] * 2,), {"cost": "mean"}, "the range of samples overflows"),
        ("changepoints", (GOOD,), {"min_size": 0}, "min_size is 0"),
        ("changepoints", (GOOD,), {"added_variance": -1e-9}, "added_variance is -"),
        ("classify_warmup", ([],), {}, "is empty"),
        ("classify_warmup", ([[]],), {}, r"processes\[0\]: samples is empty"),
        ("classify_warmup", ([[1.0], [1.0, 0.0]],), {}, r"processes\[1\]: samples\[1\] is 0; .* must be above 0"),
        ("compare_samples", ([[1.0], []], GOOD), {}, r"baseline\[1\]: samples is empty"),
        ("compare_samples", (GOOD, [[1.0], [2.0, math.inf]]), {}, r"candidate\[1\]: samples\[1\] is inf"),
        ("compare_samples", (GOOD, [[1.0], [-2.0]]), {}, r"candidate\[1\] is -2; every value must be above 0"),
        ("compare_samples", (GOOD, [1.0, 0.0]), {}, r"candidate\[1\] is 0; every value must be above 0"),
        ("compare_samples", (GOOD, GOOD), {"confidence_level": 0.5}, "confidence_level is 0.5; .* between 0.5 and 1"),
        ("compare_samples", (GOOD, GOOD), {"margin": math.nan}, "margin is NaN; it must be from 0 to 1"),
        ("compare_samples", ([1e-300, 1.0, 1e300], GOOD), {}, "the range of candidate / baseline overflows"),
        ("detection_power", (0.01, 2), {}, "processes is 2; it must be from 3 to 1000000"),
        ("detection_power", (0.01, -5), {}, "processes is -5; it must be a whole number"),
        ("detection_power", (0.01, 10), {"candidate_spread": -1.0}, "candidate_spread is -1; it must be from 1e-9 to"),
        ("detection_power", (0.01, 10), {"candidate_processes": 1}, "candidate_processes is 1; it must be from 3"),
        ("detection_power", (0.01, 10), {"margin": 2.0}, "margin is 2; it must be from 0 to 1"),
        ("effective_sample_size", (GOOD,), {"of": "mode"}, 'of is "mode"; it must be one of mean, median'),
        ("geometric_mean_ratio", ([],), {}, "ratios is empty"),
        ("geometric_mean_ratio", ([-1.0, 1.0],), {}, r"ratios\[0\] is -1; every value must be above 0"),
        ("geometric_mean_ratio", ([5e-324, 1e308],), {}, "the range of ratios overflows"),
        ("growth", ([2, 2, 2], [1, 2, 3]), {}, r"sizes\[1\] is 2; it must be different from every other"),
        (
            "growth",
            ([2e15, 1e15, 1e15 + 0.125], [1, 2, 3]),
            {},
            r"sizes\[2\] is .*; it must be different from every other",
        ),
        ("growth", ([2, 3], [1, 2]), {}, "sizes has 2 values; at least 3 are needed"),
        ("growth", ([1, 0, 2], [1, 2, 3]), {}, r"sizes\[1\] is 0; every value must be above 0"),
        ("growth", ([1, 2, 3], [1, 2]), {}, "times has 2 values, sizes has 3; the numbers must be equal"),
        ("growth", ([1, 2, 3], [[1], [], [3]]), {}, r"times\[1\]: .*empty"),
        ("growth", ([1, 2, 3], [[1], [0.0], [3]]), {}, r"times\[1\]: .* is 0; every value must be above 0"),
        ("mann_whitney", ([1.0], [1.0]), {"method": "best"}, 'method is "best"; it must be one of auto, exact'),
        ("mann_whitney", ([1.0, 2.0], [1.0]), {"method": "exact"}, "one of auto, asymptotic where values are equal"),
        ("mann_whitney", (EVEN, EVEN + 0.5), {"method": "exact"}, "auto, asymptotic where there are as many values"),
        ("mean_ci", ([1e308, -1e308],), {}, "the range of samples overflows"),
        ("modality", ([1.0],), {"tick": -1.0}, "tick is -1; it must be finite and not below 0"),
        ("modality", ([1.0],), {"tick": math.inf}, "tick is inf; it must be finite"),
        ("moments", ([1e308, -1e308],), {}, "the range of samples overflows a 64-bit float"),
        ("permutation_test", SIDES, {"statistic": "mode"}, 'statistic is "mode"; it must be one of mean, median'),
        ("permutation_test", SIDES, {"resamples": 0}, "resamples is 0; it must be from 1 to 100000000"),
        ("permutation_test", SIDES, {"threads": 0}, "threads is 0; it must be from 1 to 256"),
        ("permutation_test", SIDES, {"seed": -1}, "seed is -1; it must be a whole number"),
        ("precision_reached", ([1, 2, 3],), {"target": 0}, "target is 0; .*above 0 and finite"),
        ("precision_reached", ([1, 2, 3],), {"target": math.inf}, "target is inf; .*above 0 and finite"),
        ("precision_reached", ([1, 2, 3],), {"minimum": 2}, "minimum is 2; it must be"),
        ("process_ci", ([1, 2, -2.5],), {}, r"processes\[2\] is -2.5; every value must be above 0"),
        ("process_ci", ([[1, 2], [0, 0, 1]],), {}, r"processes\[1\] is 0; every value must be above 0"),
        ("process_ci", ([[1, 2], [3, math.nan]],), {}, r"processes\[1\]: samples\[1\] is NaN"),
        ("process_ci", ([5e-324, 1e308, 1],), {}, "the range of processes overflows"),
        ("quantiles", (GOOD, [0.5, 1.5]), {}, r"probabilities\[1\] is 1\.5; it must be from 0 to 1"),
        ("quantiles", (GOOD, [math.nan]), {}, r"probabilities\[0\] is NaN; it must be from 0 to 1"),
        ("quantiles", (GOOD, [0.5]), {"method": "nearest"}, 'method is "nearest"; it must be one of inverted_cdf'),
        ("quantiles", ([1.0, math.nan], [0.5]), {}, r"samples\[1\] is NaN; every value must be finite"),
        ("required_processes", (0.01,), {"power": 1.0}, "power is 1; it must be between 0 and 1, both excluded"),
        ("required_processes", (0.01,), {"difference": -1.0}, "difference is -1; it must be finite and above -1"),
        ("required_processes", (math.nan,), {}, "spread is NaN; it must be from 1e-9 to 10"),
        ("steady_state", ([1.0, -2.0],), {}, r"samples\[1\] is -2"),
        ("steady_state", ([1.0],), {"tolerance": 0.0}, "tolerance is 0"),
        ("steady_state", ([1.0],), {"least_share": 1.5}, "least_share is 1.5"),
        ("steady_state", ([1.0],), {"penalty": math.inf}, "penalty is inf"),
        ("welch", ([1.0, 2.0], [1.0]), {}, "candidate has 1 value; at least 2 are needed"),
        ("welch", ([1.7e308, -1.7e308], [0.0, 1.0]), {}, "the range of baseline and candidate overflows"),
    ],
)
def test_bad_arguments_are_named(name: str, arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(stats, name)(*arguments, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, np.uint64, np.uint32, np.int16])
def test_numbers_of_every_width_are_read(dtype: type) -> None:
    values = np.array([1, 2, 3, 4, 5, 6, 7, 100], dtype=dtype)
    for name in OF_SAMPLES:
        if name != "bootstrap_ci":
            assert getattr(stats, name)(values) == getattr(stats, name)(values.astype(float)), name
    assert stats.quantiles(values, [0.5, 0.0]) == [4.5, 1.0]


#: Calls that take minutes.
LONG_CALLS = [
    "autocorrelation(many, max_lag=len(many) - 1)",
    "benjamini_hochberg(many / (1 + many))",
    "bootstrap_ci(few, resamples=10**8, threads=2)",
    "bootstrap_ci(many, statistic='median', resamples=10**8, threads=2)",
    "bootstrap_ci(few, method='bca', statistic='median', resamples=10**8)",
    "bootstrap_ci(few, method='block', statistic='median', resamples=10**8)",
    "bootstrap_ci(few.reshape(10, 100), method='hierarchical', resamples=10**8)",
    "changepoints(np.random.default_rng(0).normal(size=1_000_000))",
    "classify_warmup([np.ones(1_000_000)] * 10_000)",
    "effective_sample_size(np.arange(10_000_000.0))",
    "hodges_lehmann(many, many)",
    "mann_whitney(many, many)",
    "median_ci(np.arange(10_000_000.0))",
    "modality(many)",
    "permutation_test(many[:300_000], many[:300_000], resamples=10**9)",
    "permutation_test(few[:17], few[:17], resamples=10**10)",
]


@pytest.mark.parametrize(
    "call",
    few(
        [one for one in LONG_CALLS if one.startswith(("bootstrap_ci(few, r", "hodges", "modality"))],
        LONG_CALLS,
        "kills",
    ),
)
def test_ctrl_c_ends_a_long_call(call: str) -> None:
    setup = """
import numpy as np
from fastrnns_rs import stats
few, many = (np.random.default_rng(0).lognormal(size=n) for n in (1000, 10_000_000))
"""
    interrupt(setup, f"stats.{call}")


def test_ctrl_c_while_numpy_is_looked_up_is_no_panic() -> None:
    """The numpy crate looks numpy up at the first array, which runs Python code of numpy's."""
    code = """
import signal
import numpy as np
from fastrnns_rs import stats

class Interrupted(np.lib.NumpyVersion):
    def __init__(self, version):
        signal.raise_signal(signal.SIGINT)
        super().__init__(version)

np.lib.NumpyVersion = Interrupted
try:
    stats.summarize(np.ones(3))
except KeyboardInterrupt:
    print("interrupted")
print(stats.summarize(np.arange(3.0)).median)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("interrupted\n1.0\n", "")


@pytest.mark.parametrize(
    ("samples", "call", "most"),
    [
        (8_000_000, "summarize(samples)", 16_000_000),
        (1000, "bootstrap_ci(samples, method='bca', resamples=100_000, threads=2)", 20_000_000),
        (1000, "bootstrap_ci(samples, statistic='median', method='bca', resamples=100_000, threads=2)", 20_000_000),
        (200, "permutation_test(samples[:100], samples[100:], resamples=1_000_000)", 4_000_000),
    ],
)
def test_takes_little_memory(samples: int, call: str, most: int) -> None:
    """Neither the samples nor what is drawn from them is copied: the peak grows by at most so many bytes."""
    code = f"""
import numpy as np, sys
from fastrnns_rs import stats
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024
whole = np.random.default_rng(0).random({samples})
samples = whole[:2000]
stats.{call.replace("000_000", "000").replace("100_000", "100")}
samples, before = whole, peak()
stats.{call}
sys.exit(f"{{peak() - before}} bytes" if peak() - before > {most} else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
