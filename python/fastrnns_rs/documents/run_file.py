"""Run file: a class for each JSON object, an attribute for each key.

Docstrings of the classes describe the keys. Durations are integers in nanoseconds, and their statistics may be
fractional. Unknown values are None.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fastrnns_rs.documents import plan_soundness, run_soundness, session_soundness, soundness, sweep_soundness
from fastrnns_rs.documents.codec import RunWarning, since
from fastrnns_rs.documents.container import Container
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.part import Part, Tabular
from fastrnns_rs.documents.run_plan import Jit, PlannedRunner, PlanRecord, Stop, Warmup
from fastrnns_rs.documents.run_results import (
    Compile,
    FirstCall,
    PhaseSummary,
    Process,
    ProcessLoad,
    Result,
    ResultStatus,
)
from fastrnns_rs.documents.sweep import Sweep
from fastrnns_rs.errors import UsageError, nearest
from fastrnns_rs.problem.problem import Problem

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Compile",
    "Environment",
    "FirstCall",
    "Git",
    "Gpu",
    "Jit",
    "PhaseSummary",
    "PlanRecord",
    "PlannedRunner",
    "Problem",
    "Process",
    "ProcessLoad",
    "Result",
    "ResultStatus",
    "Run",
    "RunRank",
    "RunSide",
    "RunStatus",
    "Session",
    "Stop",
    "Tool",
    "Warmup",
]

RunStatus = Literal["complete", "interrupted", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Tool(Part):
    """Build of fastrnns-rs that measured."""

    name: str
    version: str
    build_profile: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Gpu(Part):
    """CUDA device as it was before the run."""

    index: int
    name: str
    uuid: str | None
    compute_capability: str | None
    memory_total_bytes: int | None
    sm_clock_mhz: float | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Git(Part):
    """Checkout in the working directory.

    Attributes:
        commit: Commit that is checked out; None if it is unknown.
        dirty: True if files that git tracks differ from the commit; None if that is unknown.
    """

    commit: str | None
    dirty: bool | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Environment(Part):
    """Machine and software before the run."""

    python_version: str
    torch_version: str
    torchvision_version: str | None = None
    cuda_version: str | None = None
    cudnn_version: str | None = None
    driver_version: str | None = None
    os: str
    cpu_model: str | None = None
    cpu_count: int
    cpu_affinity: list[int]
    cpu_governor: str | None = None
    num_threads: int
    load_average_1m: float | None = None
    gpus: list[Gpu] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    git: Git
    cpu_microcode: str | None = field(default=None, metadata=since("1.3"))
    aslr: int | None = field(default=None, metadata=since("1.3"))
    transparent_huge_pages: str | None = field(default=None, metadata=since("1.3"))
    python_executable: str | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Session(Part):
    """Session: one start of a bench, with its machine and the boot of the machine.

    Attributes:
        session_id: Name of the session, which its processes refer to.
        started_utc: Start of the session.
        machine_id: Hash of the operating system's name for the machine; None where there is no name.
        boot_id: Random name of the current boot; None where the system has none.
    """

    session_id: str
    started_utc: str
    machine_id: str | None
    boot_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunRank(Part):
    """Rank that `torchrun` started, with the device of its workers.

    Attributes:
        rank: Number of the rank.
        local_rank: Number of the rank on its machine.
        node: Number of the machine.
        device: Device of the rank's workers.
    """

    rank: int
    local_rank: int
    node: int
    device: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunSide(Part):
    """Side of an `ab`: its (first) runner, options and environment.

    Attributes:
        name: Name of the side.
        label: Label of the side in output.
        runner: Its runner, or the first of several.
        python: Interpreter of its processes; None for that of the command.
        options: Options given for this side alone, as written.
        variables: Environment variables set for this side alone.
        environment: Machine and software before the run.
        threads: As in the plan, for this side.
        affinity: As in the plan, for this side.
        jit: As in the plan, for this side; None where an older build recorded these three of side `a` alone.
    """

    name: Literal["a", "b"]
    label: str
    runner: str
    python: str | None = None
    options: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    environment: Environment
    threads: int | None = field(default=None, metadata=since("1.3"))
    affinity: list[int] | None = field(default=None, metadata=since("1.3"))
    jit: Jit | None = field(default=None, metadata=since("1.3"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Run(Container[Result], Tabular, Document):
    """Benchmark results, as stored in a run file.

    >>> import fastrnns_rs
    >>> run = fastrnns_rs.load("after.json")
    >>> len(run), "jit" in run, [result.runner for result in run]
    (3, True, ['cudnn', 'jit', 'py'])
    >>> run["jit"].forward
    <PhaseSummary: 14.35 [14.23, 14.48] ms, 5 processes, 100 samples>
    >>> print(run.render("markdown").splitlines()[0])
    | runner | forward, ms (95 % interval) | backward, ms (95 % interval) | processes | samples | peak, MiB |

    Attributes:
        run_id: Random name of the run, which the history uses.
        created_utc: Start of the run.
        status: `complete`; `failed` if a runner failed; `interrupted` if processes are still to be run.
        command: Command line that started the run.
        warnings: Warnings about the whole run and its rows.
        tool: Build of fastrnns-rs that measured.
        environment: Machine and software before the run.
        plan: Options of the run, and the rule that ended it.
        results: One result per runner, size and side, with every sample.
        sides: Both sides of an `ab`; empty for `bench`.
        ranks: Ranks that `torchrun` started; empty without it.
        sweep: Findings about a run over several sizes; None for any other run.
        sessions: Sessions of the run, in the order in which they were measured.
    """

    row_noun: ClassVar[str] = "runner"
    place: ClassVar[str] = "in this run"
    rows_key: ClassVar[str] = "results"
    columns_call: ClassVar[str] = "run.samples()"
    noun: ClassVar[str] = "run file"
    hint: ClassVar[str] = "Use a run of bench or ab."

    schema: Literal["fastrnns-rs/run"] = "fastrnns-rs/run"
    run_id: str
    created_utc: str
    status: RunStatus
    command: list[str]
    warnings: list[RunWarning] = field(default_factory=list)
    tool: Tool
    environment: Environment
    plan: PlanRecord
    results: list[Result] = field(default_factory=list)
    sides: list[RunSide] = field(default_factory=list, metadata=since("1.1"))
    ranks: list[RunRank] = field(default_factory=list, metadata=since("1.1"))
    sweep: Sweep | None = field(default=None, metadata=since("1.1"))
    sessions: list[Session] = field(default_factory=list, metadata=since("1.3"))

    def check(self) -> None:
        """Checks numbers, as any document does, and the consistency of the results.

        Results, and processes of a result, must be unique, samples must be complete, and statistics must be of them.
        """
        soundness.check_numbers(self)
        run_soundness.check_results(self.results)
        sweep_soundness.check_sweep(self)
        plan_soundness.check_sessions(self)
        session_soundness.check_starts(self)
        plan_soundness.check_sides(self)
        plan_soundness.check_plan(self)
        plan_soundness.check_pairs(self)

    def _names(self) -> list[tuple[str, ...]]:
        return [one.names for one in self.results]

    def find_results(self, runner: str, **problem: object) -> list[Result]:
        """Returns every result of a runner: `run.find_results("cudnn", hidden_size=256)`.

        Args:
            runner: Name of the runner.
            problem: Required values of the problem's fields.

        Raises:
            UsageError: If a problem does not have such a field.
        """
        known = [one.name for one in fields(Problem)]
        for name in problem:
            if name not in known:
                raise UsageError(f"no problem has a {name}", nearest(name, known))
        return [
            one
            for one in self.results
            if one.runner == runner and all(getattr(one.problem, name) == value for name, value in problem.items())
        ]

    def samples(self) -> dict[str, np.ndarray[Any, Any]]:
        """Returns every sample of the run as columns for a data frame.

        >>> import fastrnns_rs
        >>> run = fastrnns_rs.load("after.json")
        >>> list(run.samples())
        ['runner', 'side', 'device', 'phase', 'process', 'rank', 'iteration', 'timed', 'time_ns']

        `pandas.DataFrame(run.samples())` and `polars.DataFrame(run.samples())` take the columns as they are.

        Returns:
            An array for each column, all of one length. `time_ns` is the time of the phase in nanoseconds. `timed` is
            False in the warm-up, and in processes that did not measure to their end. `process` is the number of the
            process, `side` is `a` or `b` in a run of `ab`. The axes of a sweep are columns too: `hidden_size`.
        """
        from fastrnns_rs.documents.columns import sample_columns

        return sample_columns(self)

    @checked_keywords(name="format")
    def render(
        self,
        format: str = "table",  # noqa: A002  # its name on the command line
        *,
        view: str = "overview",
        wide: bool = False,
        width: int | None = None,
    ) -> str:
        """Returns the run as text.

        Args:
            format: `table`, `json`, `csv`, `markdown`, `html`, `fastrnns`, `oss` or `pep`.
            view: Table to show: `overview`, `sweep` or `warnings`.
            wide: True adds standard deviations, samples, warm-up and interval bounds to the table.
            width: Width of the table in characters; None for 80.

        Raises:
            UsageError: If a format or a view is unknown, or an argument is invalid.
        """
        return Document.render(self, format, view=view, wide=wide, width=width)

    @checked_keywords(name="kind")
    def plot(
        self, kind: str | None = None, *, row: str | None = None, ax: Axes | None = None, dark: bool = False
    ) -> Figure:
        """Draws the run with matplotlib, of the extra `plots`.

        Args:
            kind: `times` of all runners, `start` for their first iteration and compilation, `memory` for their peak; or
                of one row, `samples` in order, or their `distribution`; or of a sweep, `sweep` for times along an axis,
                or `throughput`. None for the first of these that the run has data for.
            row: Row of a kind that shows one row, as `cudnn/forward`, or of a sweep as `hidden-size/forward`; None for
                the first row.
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
        """Returns the text of the run file."""
        from fastrnns_rs.documents import layout  # Slow to load, for the first screen of `bench`.

        layout.check(self)
        return layout.text(self)
