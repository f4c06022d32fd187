"""What `bootstrap_ci` refuses and how it says so, and what its results are."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fastrnns_rs import stats

GOOD = [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        ([], {}, "samples is empty; at least one value is needed"),
        ([], {"method": "hierarchical"}, "samples is empty; at least one value is needed"),
        ([1.0, np.inf], {"method": "exact", "statistic": "median"}, "samples[1] is inf; every value must be finite"),
        ([1.0, -np.inf], {"method": "block"}, "samples[1] is -inf; every value must be finite"),
        ([[1.0], [2.0, np.nan]], {"method": "hierarchical"}, "samples[1]: samples[1] is NaN"),
        ([[1.0], []], {"method": "hierarchical"}, "samples[1]: samples is empty"),
        ([[1.0, 2.0]], {"method": "hierarchical"}, "samples has 1 value; at least 2 are needed"),
        ([1e308, -1e308], {}, "the range of samples overflows"),
        ([1e308] * 9, {}, "the range of samples overflows"),
        ([[1e308] * 9, [1.0]], {"method": "hierarchical"}, "samples[0]: the range of samples overflows"),
        (GOOD, {"statistic": "mode"}, 'statistic is "mode"; it must be one of mean, median'),
        (GOOD, {"method": "basic"}, 'method is "basic"; it must be one of percentile, bca, exact, block, hierarchical'),
        (GOOD, {"method": "exact"}, 'statistic is "mean"; it must be one of median where the method is exact'),
        (GOOD, {"resamples": 0}, "resamples is 0; it must be from 1 to 100000000"),
        (GOOD, {"resamples": 10**8 + 1}, "resamples is 100000001; it must be from 1 to 100000000"),
        (GOOD, {"resamples": -1}, "resamples is -1; it must be a whole number from 0 to 2**64 - 1"),
        (GOOD, {"resamples": 0, "method": "hierarchical"}, "resamples is 0"),
        (GOOD, {"seed": -1}, "seed is -1; it must be a whole number from 0 to 2**64 - 1"),
        (GOOD, {"threads": 0}, "threads is 0; it must be from 1 to 256"),
        (GOOD, {"method": "hierarchical", "confidence_level": 0.0}, "confidence_level is 0"),
        (GOOD, {"method": "block", "block_length": 0}, "block_length is 0; it must be from 1 to the number of samples"),
        (GOOD, {"method": "block", "block_length": 4}, "block_length is 4; it must be from 1"),
        (GOOD, {"block_length": 2}, 'method is "percentile"; it must be one of block where a block_length is given'),
        (GOOD, {"method": "hierarchical", "block_length": 2}, 'method is "hierarchical"; it must be one of block'),
        (GOOD, {"method": "block", "indices": [[0, 1, 2]]}, 'method is "block"; it must be one of percentile, bca'),
        (GOOD, {"method": "hierarchical", "indices": [[0]]}, 'method is "hierarchical"; it must be one of percentile'),
        (GOOD, {"indices": []}, "indices is empty; at least one value is needed"),
        (GOOD, {"indices": np.zeros((0, 3), int)}, "indices is empty"),
        (GOOD, {"indices": [[0, 1, 2], [0, 1]]}, "indices[1]: resample has 2 values, samples has 3; the numbers must"),
        (GOOD, {"indices": [[0, 1, 2], [0, 3, 1]]}, "indices[1]: resample[1] is 3; it must be the position"),
        (GOOD, {"indices": [[0, 1, -1]]}, "indices[0]: resample[2] is -1; it must be the position of a sample"),
        (GOOD, {"indices": np.array([0, 1, 2])}, "indices has 1 dimensions; it must have two"),
        (GOOD, {"indices": np.array([[0, 1, 2**63]], np.uint64)}, "indices[0]: resample[2] is"),
    ],
)
def test_values_that_are_refused(samples, options, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        stats.bootstrap_ci(samples, **options)


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        ([[1.0], ["two"]], {"method": "hierarchical"}, "samples[1][0] is 'two'"),
        (GOOD, {"seed": 1.5}, "seed is 1.5; it must be a whole number"),
        (GOOD, {"resamples": "many"}, "resamples is 'many'; it must be a whole number"),
        (GOOD, {"indices": 3}, "indices must be an array of two dimensions, or a sequence of sequences"),
        (GOOD, {"indices": [0, 1, 2]}, "indices must be an array of two dimensions"),
        (GOOD, {"indices": [[0, 1, 1.5]]}, "indices[0][2] is 1.5; every value must be a whole number"),
        (GOOD, {"indices": np.zeros((1, 3))}, "indices is an array of float64; it must be an array of whole numbers"),
    ],
)
def test_types_that_are_refused(samples, options, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        stats.bootstrap_ci(samples, **options)


def test_the_first_bad_row_is_named() -> None:
    indices = np.zeros((5000, 3), np.int64)
    indices[4321, 2] = 3
    indices[4999, 0] = 5
    for threads in (1, 4):
        with pytest.raises(ValueError, match=re.escape("indices[4321]: resample[2] is 3")):
            stats.bootstrap_ci(GOOD, indices=indices, threads=threads)


def test_what_stands_for_infinitely_many_resamples_has_no_seed() -> None:
    found = stats.bootstrap_ci(GOOD, method="exact", statistic="median")
    assert (found.resamples, found.seed, found.count) == (None, None, 3)


def test_all_but_hierarchical_intervals_are_within_one_process() -> None:
    for method in ("percentile", "bca", "exact", "block"):
        assert stats.bootstrap_ci(GOOD, statistic="median", method=method, resamples=9).within_one_process
    assert not stats.bootstrap_ci(GOOD, method="hierarchical", resamples=9).within_one_process


def test_equal_samples_have_no_width() -> None:
    for method in ("percentile", "bca", "block"):
        for samples in ([0.1] * 3, [1e9 + 0.1] * 1000):
            found = stats.bootstrap_ci(samples, method=method, resamples=99)
            assert (found.ci_low, found.estimate, found.ci_high, found.standard_error) == (*samples[:1] * 3, 0)
    found = stats.bootstrap_ci([[0.1] * 7, [0.1] * 3], method="hierarchical", resamples=99)
    assert (found.ci_low, found.estimate, found.ci_high, found.standard_error) == (0.1, 0.1, 0.1, 0)
