"""The conclusion of a comparison, of runs or of captures: its verdicts counted, and the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from fastrnns_rs.documents.comparison import Counts, Method
from fastrnns_rs.errors import ExitCode, UsageError, nearest
from fastrnns_rs.verbs.compare.verdicts import CONFIDENCE_LEVEL, FALSE_DISCOVERY_RATE

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import MarginSource, Verdict

#: What `--fail-on` takes.
CAUSES = ("regression", "inconclusive")


def check_causes(fail_on: Collection[str]) -> None:
    """Refuses what is no cause to fail.

    Raises:
        UsageError: One is none of `CAUSES`.
    """
    for one in fail_on:
        if one not in CAUSES:
            raise UsageError(f"fail-on takes {' and '.join(CAUSES)}, not {one!r}", nearest(str(one), CAUSES))


def exit_code(verdicts: Collection[Verdict | None], fail_on: Collection[str]) -> int:
    """The exit code that verdicts stand for, where these causes are to fail."""
    if "regression" in fail_on and "slower" in verdicts:
        return ExitCode.REGRESSION
    if "inconclusive" in fail_on and {None, "inconclusive"}.intersection(verdicts):
        return ExitCode.INCONCLUSIVE
    return ExitCode.DONE


def counts_of(verdicts: Iterable[Verdict | None]) -> Counts:
    """Counts the rows of each verdict."""
    words = Counter(verdict or "none" for verdict in verdicts)
    return Counts(**{word: words[word] for word in ("faster", "slower", "equivalent", "inconclusive", "none")})


def method_of(name: str, margin: float, source: MarginSource, *, forced: bool) -> Method:
    """How the verdicts came about."""
    return Method(
        name=name,
        confidence_level=CONFIDENCE_LEVEL,
        margin=margin,
        margin_source=source,
        false_discovery_rate=FALSE_DISCOVERY_RATE,
        forced=forced,
    )
