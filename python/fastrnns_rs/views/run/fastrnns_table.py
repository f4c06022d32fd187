"""Table of PyTorch's fastrnns: its seven columns, with times in ms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.run.run_table import name, outcome
from fastrnns_rs.views.text import pad
from fastrnns_rs.views.units import milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrnns_rs.documents.run_file import PhaseSummary, Run

_HEADINGS = ("name", "avg_fwd", "std_fwd", "info_fwd", "avg_bwd", "std_bwd", "info_bwd")
#: Widths of the columns of PyTorch's fastrnns.
_NAME, _NUMBER = 16, 9
_NONE = "-"


def fastrnns_table(run: Run, separator: str = " ") -> str:
    """Formats mean, standard deviation and number of samples of both phases.

    Args:
        run: Run.
        separator: Text between two fields.
    """
    return "".join(f"{separator.join(cells).rstrip()}\n" for cells in _rows(run))


def _rows(run: Run) -> Iterator[Sequence[str]]:
    names = [visible(name(one)) for one in run.results]
    widest = max((_NAME, *map(len, names)))
    widths = (widest, *[_NUMBER] * (len(_HEADINGS) - 1))
    yield [pad(heading, width, right=True) for heading, width in zip(_HEADINGS, widths, strict=True)]
    for text, one in zip(names, run.results, strict=True):
        cells = [text, *_phase(one.forward), *_phase(one.backward)]
        if one.status != "ok":
            cells = [text, visible(outcome(one))]
        yield [pad(cell, width, right=True) for cell, width in zip(cells, widths, strict=False)]


def _phase(found: PhaseSummary | None) -> Sequence[str]:
    if found is None:
        return [_NONE] * 3
    deviation = _NONE if found.stddev_ns is None else milliseconds(found.stddev_ns)
    return [milliseconds(found.mean_ns), deviation, f"n={found.n_samples}"]
