"""Index rows of run files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fastrnns_rs._core import __version__
from fastrnns_rs.documents import reading
from fastrnns_rs.documents.codec import to_plain
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import FastrnnsError, UsageError
from fastrnns_rs.escaping import visible
from fastrnns_rs.verbs.compare.run_side import side_of_run
from fastrnns_rs.verbs.compare.session_spread import past_sessions
from fastrnns_rs.verbs.compare.side import LEVELS
from fastrnns_rs.verbs.history.run_index import SEPARATOR
from fastrnns_rs.verbs.history.utc_times import in_utc

_LONGEST_FAULT = 300
#: Longest text that the index stores, such as the names of all runners.
_LONGEST_TEXT = 1 << 20
#: Name, size, mtime and ctime of a file; the times are in nanoseconds.
Stamp = tuple[str, int, int, int]
#: Row of a file, and the rows of its sessions.
#: The row of a file ends with the version of the build that read it. It is empty if the file could not be read, which
#: may succeed next time.
Record = tuple[tuple[Any, ...], list[tuple[Any, ...]]]


def read_file(folder: Path, stamp: Stamp) -> Iterable[Record]:
    """Yields the row of a file and the rows of its sessions, unless the file is gone.

    Args:
        folder: Folder of the file.
        stamp: Name, size and times of the file.
    """
    path = folder / stamp[0]
    reader = ""
    try:
        text = reading.document_text(path, Run.noun)
        reader = __version__
        yield _read_rows(Run.from_text(text, path), stamp, path)
    except FastrnnsError as error:
        fault = error.message
    except Exception as error:  # noqa: BLE001 - one file must not cost the whole history
        fault = f"a fault of fastrnns-rs, {type(error).__name__}: {error}"
    else:
        return
    if not _is_gone(path):
        yield (*stamp, to_plain(fault[:_LONGEST_FAULT]), *[None] * 11, reader), []


def check(run: Run, path: Path) -> None:
    """Checks that the history can list a run.

    Raises:
        UsageError: If it cannot, such as for samples that are damaged.
    """
    _read_rows(run, (path.name, 0, 0, 0), path)


def _read_rows(run: Run, stamp: Stamp, path: Path) -> Record:
    columns, sessions = to_plain([_columns(run), [*_session_rows(run)]])
    if max(len(str(one)) for row in [columns, *sessions] for one in row) > _LONGEST_TEXT:
        raise UsageError(f"text of more than {_LONGEST_TEXT} characters: {str(path)!r}")
    return (*stamp, None, *columns, __version__), [(stamp[0], *row) for row in sessions]


def _is_gone(path: Path) -> bool:
    try:
        path.stat()
    except FileNotFoundError:
        return True
    except OSError:
        # A network file system may not answer for the file.
        return False
    return False


def _columns(run: Run) -> list[Any]:
    rows = run.results or run.plan.runners
    git = run.environment.git
    return [
        *(run.run_id, in_utc(run.created_utc)),
        *(in_utc(run.sessions[-1].started_utc if run.sessions else run.created_utc), run.status),
        *(git.commit, git.dirty, "ab" if run.sides else "bench"),
        _joined(one.runner for one in rows),
        _joined(one.problem.device for one in rows),
        *(run.environment.torch_version, run.sessions[-1].machine_id if run.sessions else None),
    ]


def _joined(names: Iterable[str]) -> str:
    return SEPARATOR.join(dict.fromkeys(visible(one) for one in names))


def _session_rows(run: Run) -> Iterable[tuple[Any, ...]]:
    sides: list[str | None] = [one.name for one in run.sides] or [None]
    for side in sides:
        for series in side_of_run(run, side=side, label="", file=run.run_id).series:
            for level in LEVELS:
                one = series.with_statistic(level)
                [kind], [family] = one.kinds, one.families
                for row in past_sessions(kind, one):
                    yield row.session, kind, family, row.n_processes, row.mean, row.variance
