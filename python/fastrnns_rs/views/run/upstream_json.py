"""`--print-json` output of PyTorch's fastrnns, for scripts that compare text.

The spaces are those of `json.dumps`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from fastrnns_rs.documents.layout import flat
from fastrnns_rs.documents.replicates import counted
from fastrnns_rs.views.run.run_table import name

if TYPE_CHECKING:
    from fastrnns_rs.documents.run_file import Result, Run

_NS_PER_MS = 1e6


def _groups(run: Run) -> Iterator[tuple[str, str, list[Result]]]:
    """Yields the name, phase and measured rows of each family.

    Families are in the order of first appearance.
    """
    groups: dict[str, list[Result]] = {}
    for result in run.results:
        groups.setdefault(result.group, []).extend([result] if result.status == "ok" else [])
    for group, rows in groups.items():
        yield group, "forward", rows
        yield f"{group}-backward", "backward", rows


def oss(run: Run) -> str:
    """Formats `{group: {runner: mean}}` in ms; backward is under `group-backward`."""

    def means(rows: list[Result], phase: str) -> Iterator[tuple[str, str]]:
        for result in rows:
            if (found := getattr(result, phase)) is not None:
                yield name(result), repr(found.mean_ns / _NS_PER_MS)

    return _object((group, _object(means(rows, phase))) for group, phase, rows in _groups(run)) + "\n"


def _object(entries: Iterable[tuple[str, str]]) -> str:
    """Formats a JSON object, in which a name may occur twice."""
    return f"{{{', '.join(f'{flat(key)}: {value}' for key, value in entries)}}}"


def pep(run: Run) -> str:
    """Formats a line for each timed sample, in ms.

    The lines are for an observer that reads samples from a log.
    """
    return "".join(
        line for group, phase, rows in _groups(run) for result in rows for line in _samples(group, phase, result)
    )


def _samples(group: str, phase: str, result: Result) -> Iterator[str]:
    before = f'Caffe2Observer {{"type": "NET", "metric": {flat(f"{group}-{name(result)}")}, "unit": "ms", "value": "'
    for process in chain.from_iterable(counted(result.processes)):
        for sample in process.samples_ns(phase, timed=True):
            yield f'{before}{sample / _NS_PER_MS}"}}\n'
