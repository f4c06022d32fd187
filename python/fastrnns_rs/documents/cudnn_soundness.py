"""Consistency checks of cuDNN's path through recurrent networks in a summary."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from fastrnns_rs.documents.codec import shown
from fastrnns_rs.documents.tolerances import check_number, is_near
from fastrnns_rs.errors import UsageError

if TYPE_CHECKING:
    from fastrnns_rs.documents.summary import CudnnRnnRow, SummaryDocument

#: How sentences of each path go on, with a number of kernels. Earlier versions had other words for the stepwise path.
_PATHS = {
    path: re.compile(rf"(?:{words}): ([0-9]+(?:\.[0-9]+)?) kernels?\b")
    for path, words in (
        ("persistent", "took the persistent path"),
        ("stepwise", "took the stepwise path|went step by step"),
        ("mixed", "took both paths"),
    )
}
#: Rounding error of that number.
_TENTH = 0.051


def check_cudnn_rnn(found: SummaryDocument, *, has_totals: bool) -> None:
    """Rejects paths, counts and sentences that are not those of the kernels.

    Args:
        found: Summary.
        has_totals: True if its kernels may have totals of nvprof, which are in no row.

    Raises:
        UsageError: If there is such a row; the message names its path.
    """
    sizes = Counter((one.runner, one.phase) for one in found.iterations)
    by_path: Counter[str] = Counter()
    for place, row in enumerate(found.cudnn_rnn):
        _check_row(f"cudnn_rnn[{place}]", row, sizes[row.runner, row.phase])
        # A mixed row has at least one kernel of each path.
        for path in ("persistent", "stepwise") if row.path == "mixed" else (row.path,):
            by_path[path] += 1 if row.path == "mixed" else row.kernel_count
    # Version 1.0 has no rows.
    if not found.cudnn_rnn:
        return
    known: Counter[str] = Counter()
    for category in found.categories:
        known[category.name] += category.count
    for path, name in (("persistent", "cudnn_rnn_persistent"), ("stepwise", "cudnn_rnn_step")):
        if by_path[path] > known[name]:
            raise UsageError(f"cudnn_rnn has {by_path[path]} {path} kernels, and {name} of categories {known[name]}")
    total = sum(row.kernel_count for row in found.cudnn_rnn)
    expected = known["cudnn_rnn_persistent"] + known["cudnn_rnn_step"]
    if total > expected or (total < expected and not has_totals):
        raise UsageError(f"kernel_count of cudnn_rnn adds up to {total}, and categories have {expected} such kernels")


def _check_row(path: str, row: CudnnRnnRow, size: int) -> None:
    count: float = row.kernel_count
    if row.iterations is not None:
        if row.iterations != size or not size:
            raise UsageError(f"{path}.iterations is {row.iterations}, and iterations has {size} of them")
        count /= row.iterations
    per_iteration = None if row.iterations is None else count
    check_number(f"{path}.kernels_per_iteration", row.kernels_per_iteration, per_iteration, "kernel_count")
    if row.kernels_per_step is not None:
        steps = count / row.kernels_per_step if row.iterations is not None and row.kernels_per_step > 0 else 0.0
        # The length of the sequence is not in the document.
        if steps < 1 / 2 or not is_near(steps, round(steps)):
            raise UsageError(f"{path}.kernels_per_step is {row.kernels_per_step:.9g}, not that of a number of steps")
    whose = "/".join(one for one in (row.runner, row.phase) if one is not None)
    start = f"{whose}: cuDNN " if whose else "cuDNN "
    taken = _PATHS[row.path].match(row.sentence, len(start)) if row.sentence.startswith(start) else None
    if taken is None:
        raise UsageError(f"{path}.path is {row.path}, and its sentence {shown(row.sentence)}")
    value = float(taken[1])
    # The sentence of a mixed row has the kernels of each path.
    if row.path != "mixed" and not (is_near(value, count) or abs(value - count) <= _TENTH):
        raise UsageError(f"{path}.sentence has {value:.9g} kernels, and the row {count:.9g}")
