"""Summary of captures as rows, numpy columns or text."""

from __future__ import annotations

from fastrnns_rs.documents.keywords import checked_keywords

TYPE_CHECKING = False  # see the package
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import Any

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastrnns_rs._core import TraceSummary
    from fastrnns_rs.documents.summary import KernelRow, SummaryDocument


class Summary:
    """Summary of captures.

    Its parts are lists of dataclasses, named as in the JSON document: `summary.kernels[0].total_ns`,
    `summary.idle_causes`, `summary.ranges`; `summary.launches` is one dataclass. Times are in nanoseconds.
    The classes are loaded at the first access, since a table or the JSON document does not need them.

    >>> import fastrnns_rs
    >>> summary = fastrnns_rs.load("trace.json")
    >>> len(summary), summary["ampere_sgemm_128x64_tn"].total_ns
    (2, 3000)
    >>> summary.columns()["total_ns"]
    array([3000, 1000])
    """

    def __init__(
        self,
        core: TraceSummary,
        *,
        selected: bool = False,
        paths: Sequence[str] = (),
        warnings: Sequence[dict[str, Any]] = (),
    ) -> None:
        self._core = core
        # Warnings of manifests, which the core does not know.
        self._warnings = (*warnings,)
        self._selected = selected
        self._paths = (*paths,)
        #: Command of the report, which the next command of `render` begins with; empty for one that names `paths`.
        self.command = ""
        self._document: SummaryDocument | None = None

    def __getstate__(self) -> tuple[Any, ...]:
        """Returns the state without the dataclasses, which are created again on access."""
        return self._core, self._selected, self._paths, self._warnings

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Restores a pickled summary.

        Earlier versions pickled no paths and no warnings of manifests.
        """
        self._core, self._selected, self._paths, self._warnings = (*state, (), ())[:4]
        self.command = ""
        self._document = None

    def __eq__(self, other: object) -> bool:
        """Returns True for a summary with the same JSON document."""
        return self.to_dict() == other.to_dict() if isinstance(other, Summary) else NotImplemented

    # As other documents, which contain lists.
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        from fastrnns_rs.documents.summary import SummaryDocument

        if name.startswith("_") or name not in SummaryDocument.__dataclass_fields__:
            from fastrnns_rs.errors import missing_attribute_hint

            hint = missing_attribute_hint(name, "summary.columns()")
            message = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
            raise AttributeError(message, name=name, obj=self)
        return getattr(self.document, name)

    def __repr__(self) -> str:
        """Returns a line about the captures, then the first table of the report."""
        from fastrnns_rs.views.prompt.object_text import text
        from fastrnns_rs.views.prompt.summary import summary_text

        return text(self, lambda summary: summary_text("Summary", summary.to_dict()))

    def __getitem__(self, name: str) -> KernelRow:
        """Returns the kernel with this name, in full or without namespaces and arguments.

        Raises:
            KeyError: If no kernel, or more than one kernel, has the name.
        """
        return self.document[name]

    def __len__(self) -> int:
        """Returns the number of rows of `kernels`."""
        return len(self.document.kernels)

    def __iter__(self) -> Iterator[KernelRow]:
        """Returns an iterator over `kernels`."""
        return iter(self.document.kernels)

    def __contains__(self, name: object) -> bool:
        """Returns True if at least one kernel has this name, or is this object."""
        if isinstance(name, str):
            return any(name in {one.name, one.short_name} for one in self.document.kernels)
        return name in self.document.kernels

    def __bool__(self) -> bool:
        """Returns True: a summary without kernels is a summary."""
        return True

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths that were given to `read`, or those of the captures if unknown."""
        return self._paths or tuple(one["path"] for one in self.to_dict()["captures"])

    @property
    def selected(self) -> bool:
        """True if the summary is of a part of the captures."""
        return self._selected

    @property
    def document(self) -> SummaryDocument:
        """Document as dataclasses."""
        if self._document is None:
            from fastrnns_rs.documents.codec import from_plain
            from fastrnns_rs.documents.summary import SummaryDocument

            self._document = from_plain(SummaryDocument, self.to_dict())
        return self._document

    def columns(self, table: str = "kernels") -> dict[str, np.ndarray[Any, Any]]:
        """Returns a list of the document as columns for a data frame.

        `pandas.DataFrame(summary.columns())` and `polars.DataFrame(summary.columns())` take the columns as they are.

        Args:
            table: Key of a list of the document: `kernels`, `devices`, `ranges`, `idle_causes` and so on.

        Returns:
            Arrays of equal length. Integers are int64; other numbers, nullable numbers and integers of which one is
            2⁶³ or more are float64 (None is NaN); flags are booleans; other values are objects.

        Raises:
            UsageError: If the document has no such list.
        """
        return self.document.columns(table)

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document as plain dictionaries and lists."""
        document = self._core.to_dict()
        document["warnings"] = [*self._warnings, *document["warnings"]]
        return document

    def warning_rows(self) -> list[dict[str, Any]]:
        """Returns the warnings as plain dictionaries, without the rest of the document."""
        return [*self._warnings, *self._core.warnings()]

    def to_json(self) -> str:
        """Returns the JSON document as text, with control characters escaped."""
        if not self._warnings:
            return self._core.to_json()
        pieces: list[bytes] = []
        self.write_json(pieces.append)
        return b"".join(pieces).decode()

    def save(self, path: str | Path) -> None:
        """Writes the JSON document atomically.

        It waits for a process that writes the file, but not for a whole run.

        Raises:
            UsageError: If the path cannot be written to, or another process keeps it locked.
        """
        from pathlib import Path

        from fastrnns_rs.documents.writer_lock import locked
        from fastrnns_rs.documents.writing import replacing

        with locked(Path(path), waits=True) as place, replacing(Path(path), place) as file:
            self.write_json(file.write)

    def write_json(self, write: Callable[[bytes], object]) -> None:
        """Passes the JSON document to a function in pieces: it may be larger than memory.

        Args:
            write: Function that takes UTF-8, such as the `write` of a binary file.
        """
        if self._warnings:
            from fastrnns_rs.verbs.report.summary_json import insert_warnings

            write = insert_warnings(write, self._warnings)
        self._core.write_json(write)

    @checked_keywords(name="kind")
    def plot(
        self, kind: str | None = None, *, row: str | None = None, ax: Axes | None = None, dark: bool = False
    ) -> Figure:
        """Draws the summary with matplotlib, of the extra `plots`.

        Args:
            kind: `budget` of each GPU, its `utilization` over time, `ranges` as an icicle, `kernels` or CPU `operators`
                by time, `launches` for their latencies, or `ranks`; or of one row, the `timeline` of a GPU or
                `iterations` in order. None for the first kind with data.
            row: Row of a kind that shows one row, as `GPU 0` or `cudnn/forward`; None for the first row.
            ax: Axes to draw on; None for a new figure.
            dark: True draws on a dark background.

        Returns:
            Figure of matplotlib, which a notebook shows.

        Raises:
            MissingError: If matplotlib is not installed.
            UsageError: If the summary has no data for the kind, or the kind or the row is unknown.
        """
        from fastrnns_rs.views.plots.figure import draw
        from fastrnns_rs.views.summary.plain import PlainSummary

        return draw(PlainSummary(self.to_dict()), kind, row=row, ax=ax, dark=dark).figure

    @checked_keywords(name="format", by="view")
    def render(
        self,
        format: str = "table",  # noqa: A002  # its name on the command line
        *,
        view: str = "overview",
        wide: bool = False,
        width: int | None = None,
        top: int | None = None,
        names: str = "full",
    ) -> str:
        """Returns the report of the captures as text.

        Args:
            format: `table`, `json`, `csv`, `markdown` or `html`, a page with plots.
            view: Table to show: `overview`, `kernel`, `category`, `device`, `stream`, `api`, `operator`, `memory`,
                `range`, `iteration`, `launch`, `idle`, `cudnn-rnn`, `rank`, `metric`, `inductor`, or `launch-shape` for
                a summary that was read by shape.
            wide: True shows every list of the overview, instead of the tables that fit a screen.
            width: Width of the terminal in characters, to which names are cut; None cuts no names.
            top: Maximum number of rows of a list; None for the default of the view.
            names: Names of kernels: `full`, `short` or `mangled`.

        Raises:
            UsageError: If a value is not supported, or a number is out of range.
        """
        if format == "json":
            return self.to_json()
        from fastrnns_rs.views.summary.glance import report_command
        from fastrnns_rs.views.summary.rendering import rendered

        # A selection by `read` is no command: its arguments are unknown here.
        command = self.command or (report_command(self._paths) if self._paths and not self._selected else "")
        return rendered(
            self.to_dict(),
            format,
            view,
            top=top,
            names=names,
            width=width,
            wide=wide,
            selected=self._selected,
            command=command,
        )

    def _repr_html_(self) -> str | None:
        """Returns the first table of the report as HTML, or None if that fails."""
        try:
            from fastrnns_rs.views.html_table import paragraph
            from fastrnns_rs.views.prompt.html import summary

            return paragraph(repr(self).partition("\n")[0]) + "".join(summary(self.to_dict()))
        except Exception:  # noqa: BLE001  # a prompt must show any object
            return None
