"""Answer of a comparison of runs: one sentence on the rows that changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.views import kernel_names
from fastrnns_rs.views.comparison import words
from fastrnns_rs.views.figures import change_with_unit

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison, Row

#: Rows that the sentence names, and longest of their names.
_NAMED, _LONGEST = 3, 60


def answer(comparison: Comparison) -> str:
    """Returns the sentence: changed rows by the size of their change, and the level.

    An example is `jit/forward is slower: +4.2 [+3.1, +5.2] % (95 % interval; only if the sessions do not differ).`
    """
    named = words.named_rows(comparison)
    start = f"{words.FORCED}. " if comparison.method.forced else ""
    if not named:
        return f"{start}Nothing to compare."
    changed = [one for one in named if words.choose_verdict(one.row) in {"faster", "slower"}]
    if not changed:
        return f"{start}No row is faster or slower: {words.counts_with_margin(comparison, zeros=False)}."
    changed.sort(key=lambda one: -abs(math.log(one.row.ratio or 1.0)))
    names = kernel_names.shortened([(one.name, one.name) for one in changed[:_NAMED]], _LONGEST)
    parts = [_change(name, one.row) for name, one in zip(names, changed, strict=False)]
    if rest := len(changed) - _NAMED:
        parts += [f"{counted(rest, 'more row')} changed"] if rest > 0 else []
    level = f"{words.interval_heading(comparison.method)}{'s' if len(changed) > 1 else ''}"
    conditional = sum(one.row.verdict is None for one in changed)
    sure = ""
    if conditional:
        whose = "" if conditional == len(changed) else f"{conditional} of these "
        sure = f"; {whose}only if the sessions do not differ"
    return f"{start}{'; '.join(parts)} ({level}{sure})."


def _change(name: str, row: Row) -> str:
    change = "" if row.ratio is None else f": {change_with_unit(row.ratio, row.ratio_ci_low, row.ratio_ci_high)}"
    return f"{name} is {words.choose_verdict(row)}{change}"
