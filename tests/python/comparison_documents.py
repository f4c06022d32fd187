"""Comparisons with known numbers, and comparisons that hardly fit a plot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import screen_data
from captured_sides import capture

import fastrnns_rs
from fastrnns_rs.documents.comparison import Comparison, Counts, Row

HOSTILE = ("<script>alert(1)</script>$x$", "a\u202eb\x1b[31m", "x" * 10_000)


def of_runs() -> Comparison:
    """A comparison of two sessions, whose verdicts are conditional."""
    return fastrnns_rs.compare(screen_data.baseline(), screen_data.candidate(), history=False)


def of_captures(folder: Path, count: int = 4, **candidate: Any) -> Comparison:
    """A comparison of captures."""
    sides = [
        [capture(folder / f"{name}{place}.json", seed=100 * side + place, **more) for place in range(count)]
        for side, (name, more) in enumerate((("before", {}), ("after", candidate)))
    ]
    return fastrnns_rs.compare(*sides)


def with_rows(rows: Sequence[Row], **changes: Any) -> Comparison:
    """The comparison of runs with other rows."""
    verdicts = Counter(one.verdict or "none" for one in rows if one.conditional_verdict is None)
    conditional = Counter(filter(None, (one.conditional_verdict for one in rows)))
    counts = {"counts": Counts(**verdicts), "conditional_counts": Counts(**conditional)}
    return replace(of_runs(), rows=[*rows], **counts, **changes)


def nasty_rows() -> list[Row]:
    """Rows with hostile names, a missing side, extreme ratios, and intervals without end."""
    row = of_runs().rows[0]
    unknown: dict[str, Any] = dict.fromkeys(("ratio_ci_low", "ratio_ci_high", "p_value", "verdict"))
    silent: dict[str, Any] = {**unknown, "conditional_verdict": None}
    return [
        replace(
            row, runner=HOSTILE[0], ratio=1000.0, ratio_ci_low=900.0, ratio_ci_high=1e12, conditional_verdict="slower"
        ),
        replace(row, runner=HOSTILE[1], **silent, ratio=1e-6),
        replace(
            row,
            runner=HOSTILE[2],
            verdict="inconclusive",
            conditional_verdict=None,
            ratio_ci_low=0.0,
            ratio_ci_high=1.7e308,
        ),
        replace(row, **silent, candidate=None, ratio=None, deciles=[], shift_ns=None, reason="failed: <b>memory</b>"),
    ]
