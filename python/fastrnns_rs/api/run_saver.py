"""Runs of the Python API, saved in the history while they are measured."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from fastrnns_rs.documents.layout import Layout
from fastrnns_rs.documents.run_file import Process, Run
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.verbs.history.run_history import RunHistory


def make_saver(history: RunHistory | None) -> Callable[[Run], None]:
    """Returns a function that saves a run in the history after each process.

    It warns once about a history that cannot be written to.

    Args:
        history: History; None to save nothing.
    """
    if history is None:
        return lambda _run: None
    found = history
    layout = Layout(keep=Process)
    checked = False

    def keep(run: Run) -> None:
        nonlocal checked
        try:
            if not checked:
                found.check_no_more(run)
                checked = True
            found.keep(run, layout)
        except UsageError as error:
            warnings.warn(f"the run is not kept in the history: {error}", stacklevel=2)

    return keep
