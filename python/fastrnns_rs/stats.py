"""Statistics of samples, computed by the extension.

Importing this module does not load torch or numpy.

>>> from fastrnns_rs import stats
>>> stats.summarize([10, 12, 11]).median
11.0
>>> stats.compare_samples([10.0, 10.1, 9.9], [12.0, 12.1, 11.9]).verdict
'slower'
"""

from __future__ import annotations

from fastrnns_rs._core import (
    BenjaminiHochberg,
    BootstrapInterval,
    ChangePoints,
    DetectionPower,
    EffectiveSize,
    GeometricMean,
    Growth,
    HodgesLehmann,
    MannWhitney,
    MeanInterval,
    MedianInterval,
    Modality,
    Mode,
    Moments,
    Outliers,
    PermutationTest,
    Precision,
    ProcessInterval,
    RequiredProcesses,
    Segment,
    SteadyState,
    Warmup,
    Welch,
    autocorrelation,
    benjamini_hochberg,
    bootstrap_ci,
    changepoints,
    classify_warmup,
    cliffs_delta,
    compare_samples,
    detection_power,
    effective_sample_size,
    geometric_mean_ratio,
    growth,
    hodges_lehmann,
    mann_whitney,
    mean_ci,
    median_ci,
    modality,
    moments,
    outliers,
    permutation_test,
    precision_reached,
    process_ci,
    quantiles,
    required_processes,
    steady_state,
    summarize,
    welch,
)
from fastrnns_rs._core import Comparison as SampleComparison
from fastrnns_rs._core import Summary as SampleSummary

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "BenjaminiHochberg",
    "BootstrapInterval",
    "ChangePoints",
    "DetectionPower",
    "EffectiveSize",
    "GeometricMean",
    "Growth",
    "HodgesLehmann",
    "MannWhitney",
    "MeanInterval",
    "MedianInterval",
    "Modality",
    "Mode",
    "Moments",
    "Outliers",
    "PermutationTest",
    "Precision",
    "ProcessInterval",
    "RequiredProcesses",
    "SampleComparison",
    "SampleSummary",
    "Segment",
    "SteadyState",
    "Warmup",
    "Welch",
    "autocorrelation",
    "benjamini_hochberg",
    "bootstrap_ci",
    "changepoints",
    "classify_warmup",
    "cliffs_delta",
    "compare_samples",
    "detection_power",
    "effective_sample_size",
    "geometric_mean_ratio",
    "growth",
    "hodges_lehmann",
    "mann_whitney",
    "mean_ci",
    "median_ci",
    "modality",
    "moments",
    "outliers",
    "permutation_test",
    "precision_reached",
    "process_ci",
    "quantiles",
    "required_processes",
    "steady_state",
    "summarize",
    "welch",
]

#: Figures that are attributes of a result, and no functions.
_FIGURES = {"mean", "median", "stddev", "min", "max", "mad", "p95", "p99"}

#: Old names, each with its class. The package has other classes of these names.
_RENAMED = {"Comparison": SampleComparison, "Summary": SampleSummary}


def __getattr__(name: str) -> Any:
    kind = _RENAMED.get(name)
    if kind is None:
        hint = f"; use summarize(samples).{name}" if name in _FIGURES else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    import warnings

    message = f"fastrnns_rs.stats.{name} is now fastrnns_rs.stats.{kind.__name__}"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return kind
