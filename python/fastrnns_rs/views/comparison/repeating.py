"""Command that repeats a comparison, and its options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fastrnns_rs.views.text import shell_word

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Compared, Comparison, Method

#: Several files that were given as one summary have no name.
_SEVERAL = re.compile(r".* and \d+ more", re.DOTALL)


def repeat_words(comparison: Comparison) -> str | None:
    """Returns the command line that repeats a comparison.

    Returns None if no command line can name a side, such as a run that is not in a file.
    """
    first, second = _names(comparison.baseline), _names(comparison.candidate)
    if not first or not second:
        return None
    if first == second and len(first) == 1 and _is_of_ab(comparison):
        words = first
    elif len(first) == len(second) == 1:
        words = [*first, *second]
    else:
        words = ["--baseline", *first, "--candidate", *second]
    return " ".join(["fastrnns-rs", "compare", *words, *list_options(comparison.method)])


def _is_of_ab(comparison: Comparison) -> bool:
    """Returns True if both sides are those of a run of `ab`.

    Their labels are the runners, also where both are equal. Other sides have the label of their file.
    """
    side = comparison.baseline
    return comparison.kind == "run" and side.label not in side.files and not side.label.startswith("@")


def _names(side: Compared) -> list[str]:
    # Names of the history start with @, and the label of a run that is no file starts with `run`.
    named = [side.label] if side.label.startswith("@") and len(side.files) == 1 else side.files
    if any(not one or one.startswith("run ") or _SEVERAL.fullmatch(one) for one in named):
        return []
    return [shell_word(one) for one in named]


def list_options(method: Method) -> list[str]:
    """Returns the options of `compare` that give a method."""
    # A noise floor is that of medians, so `compare` refuses its name with another statistic.
    floor = method.margin_source == "noise_floor" and method.statistic == "median"
    margin = "noise-floor" if floor else f"{method.margin:g}"
    return [
        *([] if method.margin_source == "default" else ["--margin", margin]),
        *([] if method.statistic == "median" else ["--statistic", method.statistic]),
        *(["--force"] if method.forced else []),
    ]
