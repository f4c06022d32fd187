from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

from fastrnns_rs._core_stats.bootstrap import BootstrapInterval, bootstrap_ci
from fastrnns_rs._core_stats.decisions import (
    Comparison,
    DetectionPower,
    RequiredProcesses,
    compare_samples,
    detection_power,
    required_processes,
)
from fastrnns_rs._core_stats.dependence import EffectiveSize, autocorrelation, effective_sample_size
from fastrnns_rs._core_stats.description import (
    Modality,
    Mode,
    Outliers,
    Summary,
    modality,
    outliers,
    quantiles,
    summarize,
)
from fastrnns_rs._core_stats.growth import Growth, growth
from fastrnns_rs._core_stats.intervals import (
    MeanInterval,
    MedianInterval,
    ProcessInterval,
    mean_ci,
    median_ci,
    process_ci,
)
from fastrnns_rs._core_stats.means import Welch, welch
from fastrnns_rs._core_stats.moments import Moments, moments
from fastrnns_rs._core_stats.multiple import BenjaminiHochberg, GeometricMean, benjamini_hochberg, geometric_mean_ratio
from fastrnns_rs._core_stats.permutation import PermutationTest, permutation_test
from fastrnns_rs._core_stats.precision import Precision, precision_reached
from fastrnns_rs._core_stats.ranks import HodgesLehmann, MannWhitney, cliffs_delta, hodges_lehmann, mann_whitney
from fastrnns_rs._core_stats.series import (
    ChangePoints,
    Segment,
    SteadyState,
    Warmup,
    changepoints,
    classify_warmup,
    steady_state,
)

__all__ = [
    "BUILD_PROFILE",
    "BenjaminiHochberg",
    "BootstrapInterval",
    "ChangePoints",
    "Comparison",
    "Completed",
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
    "Process",
    "ProcessInterval",
    "Profiler",
    "Recorder",
    "RequiredProcesses",
    "Segment",
    "SteadyState",
    "Stop",
    "Summary",
    "Trace",
    "TraceSummary",
    "Warmup",
    "Welch",
    "__version__",
    "_panic",
    "autocorrelation",
    "benjamini_hochberg",
    "bootstrap_ci",
    "capture_formats",
    "changepoints",
    "classify_warmup",
    "cliffs_delta",
    "clock_resolution_ns",
    "compare_samples",
    "detection_power",
    "display_width",
    "effective_sample_size",
    "geometric_mean_ratio",
    "growth",
    "hash_folder",
    "hodges_lehmann",
    "keep",
    "kernel_category",
    "kernel_category_by_source",
    "mann_whitney",
    "mean_ci",
    "median_ci",
    "modality",
    "moments",
    "outliers",
    "permutation_test",
    "precision_reached",
    "process_ci",
    "profiler_names",
    "quantiles",
    "reports_loss",
    "required_processes",
    "return_freed_memory",
    "run_command",
    "steady_state",
    "summarize",
    "welch",
]

BUILD_PROFILE: Final[str]

__version__: Final[str]

@final
class Recorder:
    def __new__(cls, iterations: int, edges: int = 4) -> Recorder: ...
    def mark(self) -> None: ...
    @property
    def iterations(self) -> int: ...
    def durations_ns(self, from_edge: int = 0, to_edge: int = 1) -> list[int]: ...
    def elapsed_ns(self, first_iteration: int = 0) -> int: ...

def clock_resolution_ns() -> int: ...
def display_width(text: str) -> int: ...
def hash_folder(folder: str | PathLike[str]) -> int: ...

@final
class Completed:
    @property
    def exit_status(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def stdout_tail(self) -> str: ...
    @property
    def stderr_tail(self) -> str: ...
    @property
    def duration_ns(self) -> int: ...

def run_command(
    argv: Sequence[str],
    *,
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | PathLike[str] | None = None,
    grace: float = 1.0,
) -> Completed: ...

@final
class Process:
    def __new__(cls, argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> Process: ...
    def write(self, data: bytes) -> None: ...
    def read_lines(self, timeout: float) -> bytes: ...
    @property
    def ended(self) -> bool: ...
    def end(self, grace: float = 0.0) -> Completed: ...

def keep() -> None: ...

@final
class Stop:
    def __new__(cls) -> Stop: ...
    def watch(self) -> None: ...
    def request(self) -> None: ...

def profiler_names() -> list[str]: ...

@final
class Profiler:
    def __new__(cls, name: str, path: str | PathLike[str] | None = None) -> Profiler: ...
    @staticmethod
    def find(name: str, *, root: str | PathLike[str] | None = None) -> list[Path]: ...
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path | None: ...
    @property
    def version(self) -> str | None: ...
    @property
    def version_numbers(self) -> list[int]: ...
    @property
    def capabilities(self) -> list[str]: ...
    @property
    def importer_path(self) -> Path | None: ...
    def wrap(
        self, command: Sequence[str], stem: str | PathLike[str], *, cuda: bool, capture_range: bool
    ) -> list[str]: ...
    def artefacts(self, stem: str | PathLike[str]) -> list[tuple[Path, str, bool]]: ...
    def finish(self, stem: str | PathLike[str]) -> list[str] | None: ...

@final
class Trace:
    def __new__(
        cls,
        paths: Sequence[tuple[str | PathLike[str], str]],
        *,
        optional: Sequence[bool] = ...,
        runners: Sequence[str | None] = ...,
        first: int = 0,
        threads: int | None = None,
        extent: str = "whole",
    ) -> Trace: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Trace: ...
    @classmethod
    def joined(cls, parts: Iterable[bytes]) -> Trace: ...
    def to_bytes(self) -> bytes: ...
    @property
    def capture_count(self) -> int: ...
    @property
    def left_out(self) -> list[tuple[str, str]]: ...
    def summarize(
        self,
        *,
        devices: Sequence[int] = ...,
        streams: Sequence[int] = ...,
        processes: Sequence[int] = ...,
        pattern: str | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        kernels_by: str = "device",
        categories: str | None = None,
        iteration_range: str | None = None,
        data_loaders: Sequence[str] = ...,
        sequence_length: int | None = None,
        inductor: tuple[str, float, int] | None = None,
        plot_data: bool = False,
    ) -> TraceSummary: ...
    def repeats(self, *, iteration_range: str | None = None, categories: str | None = None) -> str: ...
    def draw(
        self,
        path: str | PathLike[str],
        *,
        compress: bool = True,
        devices: Sequence[int] = ...,
        streams: Sequence[int] = ...,
        processes: Sequence[int] = ...,
        pattern: str | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        data_loaders: Sequence[str] = ...,
    ) -> None: ...

@final
class TraceSummary:
    @classmethod
    def from_bytes(cls, data: bytes) -> TraceSummary: ...
    def to_bytes(self) -> bytes: ...
    def to_json(self) -> str: ...
    def write_json(self, write: Callable[[bytes], object]) -> None: ...
    def warnings(self) -> list[dict[str, Any]]: ...
    def to_dict(self) -> dict[str, Any]: ...

def kernel_category(name: str) -> str: ...
def kernel_category_by_source(source: str) -> str: ...
def reports_loss(message: str) -> bool: ...
def return_freed_memory() -> None: ...
def capture_formats() -> list[tuple[str, str]]: ...
def _panic(message: str, *, in_pool: bool = False) -> None: ...
