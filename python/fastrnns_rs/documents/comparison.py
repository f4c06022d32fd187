"""The comparison as objects. Each class is one object of the JSON document, each attribute one of its keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from fastrnns_rs.documents import comparison_soundness, row_names, soundness
from fastrnns_rs.documents.codec import Notice, since
from fastrnns_rs.documents.document import Document
from fastrnns_rs.problem.problem import Problem

Verdict = Literal["faster", "slower", "equivalent", "inconclusive"]
RowBasis = Literal["sessions", "history", "two_sessions", "interleaved"]
MarginSource = Literal["default", "option", "noise_floor"]
Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One of the two sides. All but label and files are null for runs.

    `iterations` is null where they are not known. Medians are of all iterations of the side, `devices` are GPU names.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How verdicts were come to. `forced`: rows that do not belong together were compared all the same."""

    name: str
    confidence_level: float
    margin: float
    margin_source: MarginSource
    false_discovery_rate: float
    forced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that the two environments do not share."""

    key: str
    baseline: Value
    candidate: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One side of a row. Without a process level `n_processes` is 0, and the estimate the median of all samples."""

    n_processes: int
    n_samples: int
    estimate_ns: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One runner and phase. Ratios are candidate / baseline: above 1 is slower.

    Attributes:
        basis: What the interval comprises. `sessions`: these are the replicates. `history`: how much earlier sessions
            differ. `interleaved`: the spread of processes of one session. `two_sessions`: the spread of processes of
            sessions that differ by an unknown amount. None for foreign files.
        conditional_verdict: What would be the verdict if sessions did not differ, where `basis` is `two_sessions`;
            `verdict` is None then.
        required_processes: Processes per side of a new comparison that would settle the row; None where it is settled,
            or where processes do not help.
        session_stddev: Standard deviation between sessions, of logarithms of times, where `basis` is `history`.
        history_sessions: Number of earlier sessions that it comes from.
        history_pooled: True if some of these are sessions of other runners or problems.
    """

    runner: str
    group: str | None
    phase: Literal["forward", "backward"] | None
    problem: Problem | None
    baseline: Figures | None
    candidate: Figures | None
    ratio: float | None
    ratio_ci_low: float | None
    ratio_ci_high: float | None
    shift_ns: float | None
    cliffs_delta: float | None
    p_value: float | None
    p_value_adjusted: float | None = None
    verdict: Verdict | None
    reason: str
    label: str | None
    additional_processes: int | None
    basis: RowBasis | None = field(default=None, metadata=since("1.3"))
    conditional_verdict: Verdict | None = field(default=None, metadata=since("1.3"))
    required_processes: int | None = field(default=None, metadata=since("1.3"))
    session_stddev: float | None = field(default=None, metadata=since("1.3"))
    history_sessions: int | None = field(default=None, metadata=since("1.3"))
    history_pooled: bool = field(default=False, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFigures:
    """One side of a kernel. `total_ns` and `launches` are by the comparison's `basis`, `count` is of all captures.

    `n_repeats` is how many captures an interval comes from; 0 without one.
    """

    count: int
    total_ns: int
    launches: float
    n_repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What the two sides of a category took, or of everything. Ratios are candidate / baseline: above 1 is slower.

    `delta_ns` of all kernels add up to that of everything, as do those of all categories; `contribution` is the share.
    """

    name: str
    presence: Literal["both", "appeared", "vanished"]
    baseline: KernelFigures | None
    candidate: KernelFigures | None
    delta_ns: int
    contribution: float | None
    ratio: float | None
    ratio_ci_low: float | None
    ratio_ci_high: float | None
    p_value: float | None
    p_value_adjusted: float | None
    verdict: Verdict | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel(Change):
    """A kernel, or a kind of copy or set, of two sides. `matched_by` is `shape` where it was renamed.

    `short_name` is the name of its function, without namespaces and arguments.
    """

    category: str
    matched_by: Literal["name", "shape"] | None
    baseline_name: str | None
    candidate_name: str | None
    short_name: str | None = field(default=None, metadata=since("1.2"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricMean:
    """Of the ratios of `n` runners, both phases of each together. The interval tells how sure the mean of these is."""

    ratio: float
    ratio_ci_low: float | None
    ratio_ci_high: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Number of rows with each verdict. `none` counts those that have neither a verdict nor a conditional one."""

    faster: int = 0
    slower: int = 0
    equivalent: int = 0
    inconclusive: int = 0
    none: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Document):
    """What `compare` found: `rows` of runs; `kernels`, `categories` and `device_time` of captures, by `basis`."""

    noun: ClassVar[str] = "comparison"
    hint: ClassVar[str] = "compare --json writes one"
    schema: Literal["fastrnns-rs/comparison"] = "fastrnns-rs/comparison"
    kind: Literal["run", "capture"]
    warnings: list[Notice]
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
        """As of any document. Ratios are in their intervals, verdicts go with these, and counts are of the rows."""
        soundness.check_numbers(self)
        comparison_soundness.check_comparison(self)

    def __getitem__(self, name: str) -> Row:
        """The row called `name`, which is `runner/phase`, or `runner` where that has one row only.

        Rows of one runner on several problems have these in their names: `runner/phase (hidden_size 64)`.

        Raises:
            KeyError: There is none, or more than one.
        """
        found = row_names.places_of(name, names_of(self.rows))
        if len(found) != 1:
            raise KeyError(name)
        return self.rows[found[0]]

    def render(self, name: str, *, wide: bool = False, width: int | None = None) -> str:
        """The comparison in an output format: `table`, `json`, `markdown` or `junit`.

        Args:
            name: Output format.
            wide: True lists each kernel of captures under its whole name, in a table.
            width: Width of the terminal. None is 80 for captures at a glance, and any width for all else.
        """
        from fastrnns_rs.views.formats import comparison_text

        return comparison_text(self, name, wide=wide, width=width)

    def to_json(self) -> str:
        """The text of the JSON document."""
        return self.render("json")


def is_regression(row: Row | Change, margin: float) -> bool:
    """Returns True if the whole interval of a slower row lies beyond the margin.

    A row can be slower and inside the margin: sure, and too small to fail for.

    Args:
        row: A row, kernel or category of a comparison.
        margin: Equivalence margin as a share: 0.01 is 1 %.
    """
    return row.verdict == "slower" and _is_beyond(row, margin)


def is_withheld(row: Row | Change, margin: float) -> bool:
    """Returns True if a row would be a regression, if sessions did not differ.

    Args:
        row: A row, kernel or category of a comparison.
        margin: Equivalence margin as a share.
    """
    return getattr(row, "conditional_verdict", None) == "slower" and _is_beyond(row, margin)


def _is_beyond(row: Row | Change, margin: float) -> bool:
    return row.ratio_ci_low is not None and row.ratio_ci_low > 1 + margin


def names_of(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """What each of the rows of a comparison may be called; the first of its names is its own."""
    return row_names.names([(row.runner, row.phase, row.problem.by_name() if row.problem else None) for row in rows])
