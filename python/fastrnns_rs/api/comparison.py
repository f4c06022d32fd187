"""Function `compare`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.compare.compared_sources import compare_sources
from fastrnns_rs.verbs.compare.verdicts import check_causes, check_statistic
from fastrnns_rs.verbs.history.run_history import chosen_history, open_past
from fastrnns_rs.verbs.history.run_names import resolved
from fastrnns_rs.verbs.report.capture_summary import Summary

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison, Statistic
    from fastrnns_rs.verbs.compare.compared_sources import AnySource


@checked_keywords()
def compare(
    baseline: str | os.PathLike[str] | Run | Summary | Sequence[str | os.PathLike[str] | Run | Summary],
    candidate: str | os.PathLike[str] | Run | Summary | Sequence[str | os.PathLike[str] | Run | Summary] | None = None,
    *,
    margin: float | str | None = None,
    force: bool = False,
    fail_on: Collection[str] = (),
    iteration_range: str | None = None,
    nsys_path: str | None = None,
    history: str | os.PathLike[str] | Literal[False] | None = None,
    statistic: Statistic = "median",
) -> Comparison:
    """Compares a candidate with a baseline, for each runner and phase, or kernel.

    Equivalent to `fastrnns-rs compare`. A comparison of runs has `rows`; a comparison of captures has `kernels`,
    `categories` and `device_time`.

    >>> import fastrnns_rs
    >>> comparison = fastrnns_rs.compare("before.json", "after.json")
    >>> comparison["jit/forward"]
    <Row jit/forward: 13.78 → 14.35 ms, +4.2 [+3.1, +5.2] %, slower (conditional)>

    Args:
        baseline: Baseline: the path of a file, a run, the name of a run in the history such as `@last`, or several of
            them. A file may be a run file, or JSON of pyperf, pytest-benchmark, hyperfine or google-benchmark. Or
            captures: everything that `read` accepts, or a summary of `read`, whose files are read again.
        candidate: Candidate, as `baseline`; None where the baseline is a run of `ab`, which has both sides.
        margin: Equivalence margin: a share, as 0.01 for 1 %, or `"noise-floor"` for the noise floor that
            `ab(same=True)` measured on this machine; None for 1 %.
        force: True also compares different timing modes, devices and problems, and labels these rows.
        fail_on: `regression`, `inconclusive` or both, for `exit_code` of the document.
        iteration_range: For captures: name of the ranges that mark iterations; None for those of this package and
            `ProfilerStep#N`.
        nsys_path: For captures: path of the nsys that exports reports; None to search for it.
        history: For runs: folder with earlier runs, which show the differences between sessions; None for the user's
            history, False for no history.
        statistic: For runs: statistic of each process that is judged: `median`, `mean` or `p95`, the 95th percentile.
            The mean includes rare slow iterations, which the median ignores.

    Returns:
        The comparison. A runner that failed, or that is missing on one side, is a row without a verdict.

    Raises:
        UsageError: If a file is missing, a file or an argument is invalid, baseline and candidate do not match, no run
            has a given name, or the history cannot be read.
        FastrnnsError: If a file that looks like a capture is not a capture.
        MissingError: If the noise floor is not known, or no nsys is found to export a report.
    """
    causes = check_causes(fail_on)
    check_statistic(statistic)
    kept = chosen_history(history)
    sides = (_sources("baseline", baseline), [] if candidate is None else _sources("candidate", candidate))
    first, second = (resolved(side, kept) for side in sides)
    with open_past(kept) as past:
        return compare_sources(
            first,
            second,
            margin=margin,
            force=force,
            fail_on=causes,
            iteration_range=iteration_range,
            nsys_path=nsys_path,
            past=past,
            statistic=statistic,
        ).comparison


def _sources(name: str, given: AnySource | Sequence[AnySource]) -> list[AnySource]:
    kinds = (str, os.PathLike, Run, Summary)
    found = [given] if isinstance(given, kinds) else [*given] if isinstance(given, Iterable) else []
    if not found or not all(isinstance(one, kinds) for one in found):
        hint = "Use the path of a file, a run, a summary, or a list of these."
        # The text of a document has a table below its first line.
        shown = repr(given).partition("\n")[0]
        raise UsageError(f"invalid value: {shown}", hint, where=name, value=given)
    return found
