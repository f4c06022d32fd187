"""Document `fastrnns-rs/history`: runs that were kept."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fastrnns_rs.documents import history_soundness, soundness
from fastrnns_rs.documents.codec import RunWarning, since
from fastrnns_rs.documents.container import Container
from fastrnns_rs.documents.document import Document
from fastrnns_rs.documents.history_trends import Trend
from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.part import Part

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# The class is not frozen, since that would double the time to list thousands of runs.
@dataclass(slots=True, kw_only=True, repr=False)
class KeptRun(Part):
    """Run of the history.

    Attributes:
        run_id: Id of the run.
        created_utc: Start of the run.
        last_started_utc: Start of its last session; later than `created_utc` if the run was resumed.
        path: Path of the run file.
        size_bytes: Size of this file, in bytes.
        tags: Tags, in alphabetical order.
        commit: Commit of the working directory; None if it was not a checkout.
        dirty: True if files there differed from the commit; None if that is unknown.
        status: `complete`, `interrupted` or `failed`. A run that is still in progress is `interrupted`.
        verb: `bench` or `ab`.
        runners: Names of its runners.
        devices: Devices that the runners ran on.
        torch_version: Version of torch.
        machine_id: Hash of the machine's id; None if the machine has no id.
    """

    run_id: str
    created_utc: str
    last_started_utc: str
    path: str
    size_bytes: int
    tags: list[str]
    commit: str | None
    dirty: bool | None
    status: Literal["complete", "interrupted", "failed"]
    verb: Literal["bench", "ab"]
    runners: list[str]
    devices: list[str]
    torch_version: str
    machine_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class History(Container[KeptRun], Document):
    """Runs that were kept, the oldest first.

    Attributes:
        folder: Folder of the history.
        warnings: Warnings about files in the folder.
        runs: Runs, the oldest first.
        trends: Times of each row that at least two runs have; empty unless they are requested.
        n_trend_runs: Number of runs that `trends` was made from, the newest runs of `bench`; None if
            trends were not requested.
    """

    row_noun: ClassVar[str] = "run"
    place: ClassVar[str] = "in this history"
    rows_key: ClassVar[str] = "runs"
    noun: ClassVar[str] = "history"
    hint: ClassVar[str] = "Use a document of history."
    schema: Literal["fastrnns-rs/history"] = "fastrnns-rs/history"
    folder: str
    warnings: list[RunWarning] = field(default_factory=list)
    runs: list[KeptRun] = field(default_factory=list)
    trends: list[Trend] = field(default_factory=list, metadata=since("1.3"))
    n_trend_runs: int | None = field(default=None, metadata=since("1.3"))

    def check(self) -> None:
        """Checks numbers, as any document does, and the times over runs."""
        soundness.check_numbers(self)
        history_soundness.check_history(self)

    def _names(self) -> list[tuple[str, ...]]:
        return [(one.run_id, one.run_id[:12], *(f"@tag:{tag}" for tag in one.tags)) for one in self.runs]

    @checked_keywords(name="kind")
    def plot(
        self, kind: str = "trend", *, row: str | None = None, ax: Axes | None = None, dark: bool = False
    ) -> Figure:
        """Draws the times of a row over runs with matplotlib, of the extra `plots`.

        `fastrnns-rs history --trends --json` writes a history with these times.

        Args:
            kind: `trend`, the only kind.
            row: Name of one of `trends`, as `cudnn/forward`; None for the first.
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
        """Returns the text of the JSON document, with a line for each run."""
        import json

        if self.has_unknown_keys:
            # A line has the keys that this build knows.
            return Document.to_json(self)
        whole = json.dumps(replace(self, runs=[]).to_dict(), indent=2, allow_nan=False)
        lines = ",\n".join(map(_Texts().line, self.runs))
        return whole.replace('"runs": []', f'"runs": [\n{lines}\n  ]' if lines else '"runs": []') + "\n"

    def with_runs(self, runs: list[KeptRun]) -> History:
        """Returns the document with other runs, and without the times over runs."""
        return replace(self, runs=runs, trends=[], n_trend_runs=None)


class _Texts(dict[Any, str]):
    """Cache of the JSON of values that many runs share."""

    def __missing__(self, value: str | tuple[str, ...] | bool | None) -> str:
        if isinstance(value, tuple):
            text = f"[{', '.join([self[one] for one in value])}]"
        elif isinstance(value, str):
            text = _string(value)
        else:
            text = {None: "null", True: "true", False: "false"}[value]
        return self.setdefault(value, text)

    def line(self, one: KeptRun) -> str:
        """Returns a run as the codec and `json.dumps` write it."""
        # There may be thousands of runs, and writing them by hand takes a third of the time.
        return _LINE % (
            *(_string(one.run_id), _string(one.created_utc), _string(one.last_started_utc), _string(one.path)),
            *(one.size_bytes, self[tuple(one.tags)], self[one.commit], self[one.dirty], self[one.status]),
            *(self[one.verb], self[tuple(one.runners)], self[tuple(one.devices)], self[one.torch_version]),
            self[one.machine_id],
        )


def _string(text: str) -> str:
    # Python keeps undecodable bytes of names as lone surrogates, which are invalid in JSON.
    known = text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
    return encode_basestring_ascii(known)


_LINE = "    {" + ", ".join(f'"{one.name}": %s' for one in fields(KeptRun)) + "}"
