"""Statistics of samples, computed by the extension. Importing this loads neither torch nor numpy."""

# ruff: noqa: PLC0414  # by an alias of the same name a type checker knows that it may be imported from here

from fastrnns_rs._core import BenjaminiHochberg as BenjaminiHochberg
from fastrnns_rs._core import BootstrapInterval as BootstrapInterval
from fastrnns_rs._core import ChangePoints as ChangePoints
from fastrnns_rs._core import Comparison as Comparison
from fastrnns_rs._core import DetectionPower as DetectionPower
from fastrnns_rs._core import EffectiveSize as EffectiveSize
from fastrnns_rs._core import GeometricMean as GeometricMean
from fastrnns_rs._core import Growth as Growth
from fastrnns_rs._core import HodgesLehmann as HodgesLehmann
from fastrnns_rs._core import MannWhitney as MannWhitney
from fastrnns_rs._core import MeanInterval as MeanInterval
from fastrnns_rs._core import MedianInterval as MedianInterval
from fastrnns_rs._core import Modality as Modality
from fastrnns_rs._core import Mode as Mode
from fastrnns_rs._core import Moments as Moments
from fastrnns_rs._core import Outliers as Outliers
from fastrnns_rs._core import PermutationTest as PermutationTest
from fastrnns_rs._core import Precision as Precision
from fastrnns_rs._core import ProcessInterval as ProcessInterval
from fastrnns_rs._core import RequiredProcesses as RequiredProcesses
from fastrnns_rs._core import Segment as Segment
from fastrnns_rs._core import SteadyState as SteadyState
from fastrnns_rs._core import Summary as Summary
from fastrnns_rs._core import Warmup as Warmup
from fastrnns_rs._core import Welch as Welch
from fastrnns_rs._core import autocorrelation as autocorrelation
from fastrnns_rs._core import benjamini_hochberg as benjamini_hochberg
from fastrnns_rs._core import bootstrap_ci as bootstrap_ci
from fastrnns_rs._core import changepoints as changepoints
from fastrnns_rs._core import classify_warmup as classify_warmup
from fastrnns_rs._core import cliffs_delta as cliffs_delta
from fastrnns_rs._core import compare_samples as compare_samples
from fastrnns_rs._core import detection_power as detection_power
from fastrnns_rs._core import effective_sample_size as effective_sample_size
from fastrnns_rs._core import geometric_mean_ratio as geometric_mean_ratio
from fastrnns_rs._core import growth as growth
from fastrnns_rs._core import hodges_lehmann as hodges_lehmann
from fastrnns_rs._core import mann_whitney as mann_whitney
from fastrnns_rs._core import mean_ci as mean_ci
from fastrnns_rs._core import median_ci as median_ci
from fastrnns_rs._core import modality as modality
from fastrnns_rs._core import moments as moments
from fastrnns_rs._core import outliers as outliers
from fastrnns_rs._core import permutation_test as permutation_test
from fastrnns_rs._core import precision_reached as precision_reached
from fastrnns_rs._core import process_ci as process_ci
from fastrnns_rs._core import quantiles as quantiles
from fastrnns_rs._core import required_processes as required_processes
from fastrnns_rs._core import steady_state as steady_state
from fastrnns_rs._core import summarize as summarize
from fastrnns_rs._core import welch as welch

__all__ = [name for name in globals() if not name.startswith("_")]
