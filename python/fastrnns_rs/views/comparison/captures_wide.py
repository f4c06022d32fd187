"""Whole comparison of captures: each kernel and category with all figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastrnns_rs.escaping import visible
from fastrnns_rs.views.comparison import captures_glance, columns, sides, words
from fastrnns_rs.views.comparison.packed_table import packed
from fastrnns_rs.views.screen import Line, joined, wrapped_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrnns_rs.documents.comparison import Change, Comparison


def lines(comparison: Comparison, limit: int) -> list[Line]:
    """Returns the sides and the whole change, then kernels and categories.

    Args:
        comparison: Comparison of captures.
        limit: Width of the terminal.
    """
    kernels, more = columns.kernels(comparison)
    whole = [] if comparison.device_time is None else [comparison.device_time]
    renamed = [(one.name, former) for one in kernels if (former := columns.former_name(one)) is not None]
    method = f"method: {visible(comparison.method.name)}, {words.method(comparison.method)}"
    notes = [*columns.iteration_medians(comparison), method]
    notes += [f"differs: {one}" for one in sides.all_differences(comparison)]
    return joined(
        [
            captures_glance.head(comparison, limit),
            captures_glance.answer(comparison, limit),
            [
                *_table(comparison, "kernel or copy", [*whole, *kernels], limit),
                *wrapped_lines([more] if more else [], limit),
            ],
            wrapped_lines(
                [f"{visible(name)} was {visible(former)}, of the same shape" for name, former in renamed], limit
            ),
            _table(comparison, "category", comparison.categories, limit),
            wrapped_lines([words.counts(comparison)], limit),
            wrapped_lines(notes, limit),
        ]
    )


def _table(comparison: Comparison, name: str, changes: Sequence[Change], limit: int) -> list[Line]:
    if not changes:
        return []
    # The name is the last column.
    shown = columns.make_change_columns(comparison, name, visible)[:-1]
    names = [(one.name, getattr(one, "short_name", None) or one.name) for one in changes]
    return packed(name, names, shown, changes, limit)
