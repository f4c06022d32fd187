"""Comparison document: a class for each JSON object, an attribute for each key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fastrnns_rs.documents import comparison_soundness, layout, soundness
from fastrnns_rs.documents.codec import RunWarning, since
from fastrnns_rs.documents.combined_ratio import GeometricMean
from fastrnns_rs.documents.comparison_rows import (
    Change,
    Decile,
    Figures,
    Kernel,
    KernelFigures,
    Row,
    RowBasis,
    Statistic,
    StatisticChange,
    Verdict,
    is_regression,
    is_withheld,
    name_rows,
)
from fastrnns_rs.documents.container import Container
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.part import Part, Tabular
from fastrnns_rs.errors import is_one_of, unknown

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "DONE",
    "FAILED",
    "INCONCLUSIVE",
    "REGRESSION",
    "Change",
    "Compared",
    "Comparison",
    "Counts",
    "Decile",
    "Difference",
    "Figures",
    "GeometricMean",
    "IdleTime",
    "Kernel",
    "KernelFigures",
    "MarginSource",
    "Method",
    "Row",
    "RowBasis",
    "Statistic",
    "StatisticChange",
    "Value",
    "Verdict",
    "is_regression",
    "is_withheld",
    "name_rows",
]

MarginSource = Literal["default", "option", "noise_floor"]
Value = str | int | float | bool | None
#: Values of `exit_code`: neither a failed runner nor a cause of `fail_on`, a failed runner, a regression, no verdict.
DONE, FAILED, REGRESSION, INCONCLUSIVE = 0, 1, 3, 4


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IdleTime(Part):
    """Idle time of the GPUs of one side with one cause, as a mean of its captures.

    Attributes:
        cause: Cause, as in a summary.
        total_ns: Idle time with this cause.
        span_fraction: Share of the span of the GPUs.
    """

    cause: str
    total_ns: int
    span_fraction: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Compared(Part):
    """Baseline or candidate.

    Keys with unknown values are null, as are keys that only the other kind of comparison has.

    Attributes:
        captures: Number of captures.
        iterations: Number of iterations of all captures.
        devices: Names of the GPUs.
        host_median_ns: Median over all iterations of this side, as are the other medians.
        created_utc: Start of the last run.
        sessions: Number of sessions of the runs.
        warnings: Warnings that the runs contain. Those of `Comparison.warnings` include them, with the side.
        span_ns: Time from the first to the last GPU activity, of all GPUs together, as a mean of the captures.
        idle_ns: Part of `span_ns` without GPU activity.
        idle_times: Parts of `idle_ns` by cause, the longest first; empty if captures contain only totals.
        environment: Machine, software and plan, as flat keys such as `cpu_model` and `plan.threads`; empty in older
            documents.
    """

    label: str
    files: list[str]
    captures: int | None = field(default=None, metadata=since("1.1"))
    iterations: int | None = field(default=None, metadata=since("1.1"))
    devices: list[str] | None = field(default=None, metadata=since("1.2"))
    host_median_ns: float | None = field(default=None, metadata=since("1.2"))
    gpu_median_ns: float | None = field(default=None, metadata=since("1.2"))
    gpu_busy_median_ns: float | None = field(default=None, metadata=since("1.2"))
    gpu_time_median_ns: float | None = field(default=None, metadata=since("1.2"))
    created_utc: str | None = field(default=None, metadata=since("1.3"))
    sessions: int | None = field(default=None, metadata=since("1.3"))
    warnings: list[RunWarning] = field(default_factory=list, metadata=since("1.3"))
    span_ns: int | None = field(default=None, metadata=since("1.3"))
    idle_ns: int | None = field(default=None, metadata=since("1.3"))
    idle_times: list[IdleTime] = field(default_factory=list, metadata=since("1.3"))
    environment: dict[str, Value] = field(default_factory=dict, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Method(Part):
    """Method of the verdicts. `forced`: compares rows that do not match.

    Attributes:
        statistic: Statistic of each process that is judged: the `median`, the `mean` or the 95th percentile (`p95`) of
            its timed samples.
    """

    name: str
    confidence_level: float
    margin: float
    margin_source: MarginSource
    false_discovery_rate: float
    forced: bool
    statistic: Statistic = field(default="median", metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Difference(Part):
    """Difference between the two environments."""

    key: str
    baseline: Value
    candidate: Value


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Counts(Part):
    """Number of rows with each verdict.

    `none` counts rows that have neither a verdict nor a conditional verdict.
    """

    faster: int = 0
    slower: int = 0
    equivalent: int = 0
    inconclusive: int = 0
    none: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Container[Row | Kernel], Tabular, Document):
    """Result of `compare`, for runs or for captures.

    A comparison of runs has `rows`. A comparison of captures has `kernels`, `categories` and `device_time`; `basis` is
    the unit of their times.

    >>> import fastrnns_rs
    >>> comparison = fastrnns_rs.compare("before.json", "after.json")
    >>> [row.runner for row in comparison if row.conditional_verdict == "slower"]
    ['jit']
    >>> comparison.columns()["ratio"].round(3)
    array([0.969, 0.999, 1.042, 1.008, 1.001, 0.974])

    Attributes:
        kind: `run` or `capture`: kind of the compared files.
        warnings: Warnings about the comparison and both sides.
        exit_code: Exit code of the command with the same `fail_on`.
        baseline: Files of the baseline, with their label and warnings.
        candidate: Files of the candidate, with their label and warnings.
        method: Method of the verdicts, with the margin.
        environment_differences: Settings, versions and variables that differ between the sides.
        rows: Rows of runs: one per runner, size and phase.
        kernels: Rows of captures: one per kernel.
        geometric_mean: Geometric mean of the ratios of all runners; None if no row has a p-value.
        counts: Number of rows with each verdict.
        basis: Unit of the times of captures: `per_iteration`, `per_capture`, or `total` for one capture per side. None
            for runs.
        categories: Rows of captures: one per category.
        device_time: GPU time of captures as a whole; None for runs.
        conditional_counts: Number of rows with each conditional verdict.
    """

    row_noun: ClassVar[str] = "row"
    place: ClassVar[str] = "in this comparison"
    rows_key: ClassVar[str] = "rows"
    columns_call: ClassVar[str] = "comparison.columns()"
    noun: ClassVar[str] = "comparison"
    hint: ClassVar[str] = "Use a document of compare or ab."
    schema: Literal["fastrnns-rs/comparison"] = "fastrnns-rs/comparison"
    kind: Literal["run", "capture"]
    warnings: list[RunWarning]
    exit_code: int
    baseline: Compared
    candidate: Compared
    method: Method
    environment_differences: list[Difference]
    rows: list[Row] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    geometric_mean: GeometricMean | None = None
    counts: Counts
    basis: Literal["total", "per_iteration", "per_capture"] | None = field(default=None, metadata=since("1.1"))
    categories: list[Change] = field(default_factory=list, metadata=since("1.1"))
    device_time: Change | None = field(default=None, metadata=since("1.1"))
    conditional_counts: Counts = field(default_factory=Counts, metadata=since("1.3"))

    def check(self) -> None:
        """Checks numbers, as any document does, and the consistency of the comparison.

        Ratios must be within their intervals, verdicts must match the intervals, and counts must match the rows.
        """
        soundness.check_numbers(self)
        comparison_soundness.check_comparison(self)

    def _rows(self) -> Sequence[Row | Kernel]:
        return self.rows if self.kind == "run" else self.kernels

    def _names(self) -> list[tuple[str, ...]]:
        """Returns the names of each row or kernel; the first name is unique among rows."""
        if self.kind == "run":
            return name_rows(self.rows)
        return [tuple(filter(None, (one.name, one.short_name))) for one in self.kernels]

    def columns(self, table: str = "rows") -> dict[str, np.ndarray[Any, Any]]:
        """Returns a list of the comparison as columns for a data frame.

        `pandas.DataFrame(comparison.columns())` and `polars.DataFrame(comparison.columns())` take the columns as they
        are. Parts of a row become columns of their own: `baseline_estimate_ns`, `problem_hidden_size`.

        Args:
            table: `rows` of runs, or `kernels` or `categories` of captures.

        Returns:
            Arrays of equal length. Integers are int64, or float64 where one is 2⁶³ or more; nullable numbers and flags
            are float64 (None is NaN); flags are booleans; a text that is None is empty.

        Raises:
            UsageError: If a comparison does not have such a list.
        """
        from fastrnns_rs.documents.columns import flat_columns

        if not is_one_of(table, _TABLES):
            raise unknown("unknown table", table, _TABLES, where="table")
        return flat_columns(getattr(self, table), _TABLES[table])

    @checked_keywords(name="format")
    def render(
        self,
        format: str = "table",  # noqa: A002  # its name on the command line
        *,
        view: str = "overview",
        wide: bool = False,
        width: int | None = None,
    ) -> str:
        """Returns the comparison as text.

        Args:
            format: `table`, `json`, `markdown`, `html` or `junit`.
            view: Table to show: `overview` or `warnings`.
            wide: True adds ratios, p-values, processes and memory to a table of runs, and lists each kernel of captures
                under its whole name.
            width: Width of the table in characters; None for 80.

        Raises:
            UsageError: If a format or a view is unknown, or an argument is invalid.
        """
        return Document.render(self, format, view=view, wide=wide, width=width)

    @checked_keywords(name="kind")
    def plot(
        self, kind: str | None = None, *, row: str | None = None, ax: Axes | None = None, dark: bool = False
    ) -> Figure:
        """Draws the comparison with matplotlib, of the extra `plots`.

        Args:
            kind: Of runs, `ratios` of all rows; or of one row, medians of `processes`, or the `shift` of each decile.
                Of captures, `waterfall` of kernels, `categories`, or `idle` time by cause. None for the first of these.
            row: Row of a kind that shows one row, as `cudnn/forward`; None for the first row.
            ax: Axes to draw on; None for a new figure.
            dark: True draws on a dark background.

        Returns:
            Figure of matplotlib, which a notebook shows.

        Raises:
            MissingError: If matplotlib is not installed.
            UsageError: If the kind or the row is unknown.
        """
        from fastrnns_rs.views.plots.figure import draw

        return draw(self, kind, row=row, ax=ax, dark=dark).figure

    def to_json(self) -> str:
        """Returns the text of the JSON document."""
        layout.check(self)
        return layout.text(self)


#: Lists of a comparison, each with the class of its rows.
_TABLES: dict[str, type] = {"rows": Row, "kernels": Kernel, "categories": Change}
