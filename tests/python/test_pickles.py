"""Results go to other processes and come back as they were."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import run_files
from kineto_traces import annotation, call, kernel, write
from kineto_traces import copy as copied

import fastrnns_rs
from fastrnns_rs import _core, stats

GOOD = [1.0, 2.0, 4.0, 3.0, 5.0, 2.5]
SIDES = (GOOD, [2.0, 3.0, 5.0, 4.5])
TWO_KINDS = np.concatenate([np.random.default_rng(1).normal(place, 0.1, 200) for place in (1, 5)])
RESULTS = [
    stats.benjamini_hochberg([0.001, 0.5]),
    stats.bootstrap_ci(GOOD),
    stats.changepoints([1.0] * 20 + [9.0] * 20),
    stats.classify_warmup([GOOD, GOOD]),
    stats.compare_samples(*SIDES),
    stats.detection_power(0.01, 10),
    stats.effective_sample_size(GOOD),
    stats.geometric_mean_ratio([0.5, 2.0]),
    stats.growth([1, 2, 4], [1, 2, 5]),
    stats.hodges_lehmann(*SIDES),
    stats.mann_whitney(*SIDES),
    stats.mean_ci([1.0]),
    stats.median_ci(GOOD),
    stats.modality(TWO_KINDS),
    stats.moments([1.0]),
    stats.outliers([*GOOD, *GOOD, 1e6]),
    stats.permutation_test(*SIDES),
    stats.precision_reached(GOOD),
    stats.process_ci(GOOD),
    stats.required_processes(0.01),
    stats.steady_state(TWO_KINDS),
    stats.summarize(GOOD),
    stats.welch(*SIDES),
]


def name_of(result: object) -> str:
    """The name in the messages of the extension, which two classes do not share with Python."""
    return type(result).__name__.removeprefix("Sample")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    events = [
        call(start=0),
        kernel("ampere_sgemm_128x64_tn", 5, 3),
        copied(start=9, size=4096),
        annotation("cudnn/forward/0", 0, 20),
    ]
    return write(tmp_path_factory.mktemp("captures") / "trace.json", events)


def test_every_result_of_stats_is_here() -> None:
    made = {type(result).__name__ for result in RESULTS}
    parts = {"Mode", "Segment", "SteadyState"}
    assert made | parts >= {name for name in stats.__all__ if name[0].isupper()}


@pytest.mark.parametrize("result", RESULTS, ids=name_of)
def test_results_come_back_equal(result: Any) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(result, protocol)) == result
    for other in (copy.copy(result), copy.deepcopy([result])[0]):
        assert other == result
        assert other.to_dict() == result.to_dict()
        assert repr(other) == repr(result)


def test_results_come_back_from_another_process() -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.map(stats.summarize, [GOOD, SIDES[1]]) == [stats.summarize(GOOD), stats.summarize(SIDES[1])]
        assert pool.map(copy.copy, RESULTS) == RESULTS


@pytest.mark.parametrize("result", RESULTS, ids=name_of)
def test_forged_fields_are_refused(result: Any) -> None:
    fields = result.to_dict()
    make = type(result)._from_dict
    assert make(fields) == result
    first = next(iter(fields))
    with pytest.raises(ValueError, match=f"{name_of(result)} has no field 'forged'"):
        make({**fields, "forged": 1})
    with pytest.raises(ValueError, match=f"{name_of(result)} needs the field '{first}'"):
        make({name: value for name, value in fields.items() if name != first})
    for name in fields:
        with pytest.raises((TypeError, ValueError)):
            make({**fields, name: object()})
    for forged in (None, [], {1: 2}, "fields"):
        with pytest.raises((TypeError, ValueError)):
            make(forged)


def test_words_and_pairs_that_no_function_returns_are_refused() -> None:
    fields = stats.compare_samples(*SIDES).to_dict()
    with pytest.raises(ValueError, match='Verdict is "better"; it must be one of faster, slower'):
        stats.SampleComparison._from_dict({**fields, "verdict": "better"})
    fields = stats.outliers(GOOD).to_dict()
    with pytest.raises(ValueError, match="a pair has 3 values"):
        stats.Outliers._from_dict({**fields, "runs": [(1, 2, 3)]})
    with pytest.raises((OverflowError, ValueError)):
        stats.Outliers._from_dict({**fields, "inside": -1})
    assert math.isnan(stats.Outliers._from_dict({**fields, "low_outer_fence": math.nan}).low_outer_fence)


def test_a_summary_comes_back_with_the_same_document(trace: Path) -> None:
    summary = fastrnns_rs.read(trace, processes=[100])
    kept = summary.kernels[0]
    for other in (pickle.loads(pickle.dumps(summary)), copy.deepcopy(summary), copy.copy(summary)):
        assert other == summary
        assert other.to_json() == summary.to_json()
        assert other.kernels[0] == kept
        assert other.render() == summary.render()
    assert len(pickle.dumps(summary)) < 4096


def test_a_trace_comes_back_with_the_same_summary(trace: Path) -> None:
    events = _core.Trace([(str(trace), "one")])
    for other in (pickle.loads(pickle.dumps(events)), copy.deepcopy(events)):
        assert other.summarize().to_json() == events.summarize().to_json()


def test_damaged_summaries_are_refused(trace: Path) -> None:
    whole = _core.Trace([(str(trace), "one")]).summarize().to_bytes()
    assert _core.TraceSummary.from_bytes(whole).to_bytes() == whole
    for damaged in (b"", b"x" + whole, whole[:-1], whole + b"x", whole.replace(b"summary 0", b"summary 9")):
        with pytest.raises(ValueError, match="not a packed summary"):
            _core.TraceSummary.from_bytes(damaged)
    for place in range(len(whole)):
        forged = whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        try:
            _core.TraceSummary.from_bytes(forged).to_json()
        except ValueError:
            continue


def test_runs_pickled_by_earlier_versions_come_back() -> None:
    run = run_files.run([run_files.exactly([1000, 1002, 1004])])
    # Protocol 2 names modules in plain text. Results of a run were once in the module of the run.
    text = pickle.dumps(run, 2)
    earlier = text.replace(b"documents.run_results\n", b"documents.run_file\n")
    assert earlier != text
    assert pickle.loads(earlier) == pickle.loads(text) == run


def test_old_names_of_classes_still_load() -> None:
    """The package has other classes of these names."""
    for name, result in (("Summary", stats.summarize(GOOD)), ("Comparison", stats.compare_samples(*SIDES))):
        assert type(result).__name__ == f"Sample{name}"
        earlier = pickle.dumps(result, protocol=0).replace(f"Sample{name}".encode(), name.encode())
        with pytest.warns(DeprecationWarning, match=f"fastrnns_rs.stats.{name} is now fastrnns_rs.stats.Sample{name}"):
            assert pickle.loads(earlier) == result
        with pytest.warns(DeprecationWarning, match=name) as warned:
            assert getattr(stats, name) is type(result)
        assert warned[0].filename == __file__
        assert name not in stats.__all__
        assert getattr(fastrnns_rs, name) is not type(result)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = stats.nothing
