"""Table of the run history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.table import Column, lines

if TYPE_CHECKING:
    from fastrnns_rs.documents.history import History, KeptRun

_DIGITS = 12
_MIB = 1 << 20
_NUMBERS = {"MiB"}
_HEADINGS = ("run", "started, UTC", "verb", "status", "commit", "device", "torch", "MiB", "tags", "runners")
_COLUMNS = [Column(heading, right=heading in _NUMBERS) for heading in _HEADINGS]


def table(history: History, earlier: int = 0) -> str:
    """Formats the history, one line for each run, the most recent run last.

    Args:
        history: Document with the runs to show.
        earlier: Number of earlier runs, which are not shown.
    """
    if not history.runs:
        return f"no runs in {visible(history.folder)}\n"
    rows = [_cells(one) for one in history.runs]
    more = (
        [f"{earlier:,} earlier {'run' if earlier == 1 else 'runs'}: fastrnns-rs history --all"] if earlier > 0 else []
    )
    return "".join(f"{line}\n" for line in [*lines(_COLUMNS, rows), *more])


def name_of(run: KeptRun) -> str:
    """Returns `@` and the start of the run ID, which is stable, unlike `@last`."""
    return visible(f"@{run.run_id[:_DIGITS]}")


def _cells(run: KeptRun) -> list[str]:
    started = run.last_started_utc.replace("T", " ").removesuffix("Z")
    # Git marks a modified working tree in the same way.
    commit = "-" if run.commit is None else run.commit[:_DIGITS] + ("-dirty" if run.dirty else "")
    texts = [f"@{run.run_id[:_DIGITS]}", started, run.verb, run.status, commit, " ".join(run.devices)]
    texts += [run.torch_version, f"{run.size_bytes / _MIB:.1f}", " ".join(run.tags), " ".join(run.runners)]
    # Most of thousands of runs contain no control characters.
    whole = "".join(texts)
    return texts if whole.isascii() and whole.isprintable() else [visible(text) for text in texts]
