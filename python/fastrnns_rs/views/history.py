"""The history as a table."""

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


def table(history: History) -> str:
    """Writes a line for each run, the last one at the end."""
    if not history.runs:
        return f"no runs in {visible(history.folder)}\n"
    rows = [_cells(one) for one in history.runs]
    return "".join(f"{line}\n" for line in lines(_COLUMNS, rows))


def name_of(run: KeptRun) -> str:
    """`@` with the start of the run's id: a name that stays, as `@last` does not."""
    return visible(f"@{run.run_id[:_DIGITS]}")


def _cells(run: KeptRun) -> list[str]:
    started = run.last_started_utc.replace("T", " ").removesuffix("Z")
    # As git writes it.
    commit = "-" if run.commit is None else run.commit[:_DIGITS] + ("-dirty" if run.dirty else "")
    texts = [f"@{run.run_id[:_DIGITS]}", started, run.verb, run.status, commit, " ".join(run.devices)]
    texts += [run.torch_version, f"{run.size_bytes / _MIB:.1f}", " ".join(run.tags), " ".join(run.runners)]
    # Of thousands of runs most have nothing that acts on a terminal.
    whole = "".join(texts)
    return texts if whole.isascii() and whole.isprintable() else [visible(text) for text in texts]
