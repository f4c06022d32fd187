"""Configured values that give way to the command line.

A value of a variable or of `pyproject.toml` holds for every run of a command. It must not stop a run whose command line
says something else, or lacks the option that the value refines: no flag could remove the value.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

from fastrnns_rs.cli.shared import is_flag

_FORMATS = ("format_name", "as_json", "print_json", "open_page")
_ACTIONS = ("tag", "untag", "export", "import", "prune")
#: Options that exclude each other. A flag for one of them removes the other, if that is configured.
_OPPOSITES = (
    ("nloops", "stop"),
    ("sessions", "stop"),
    ("quick", "rigorous"),
    ("processes", "rigorous"),
    ("until", "same"),
    *product(["live"], ("same", "nloops", "warmup")),
    *combinations(_FORMATS, 2),
    *product(["sep"], _FORMATS),
    *product(("explain", "warnings"), _FORMATS),
    *product(_ACTIONS, (*_FORMATS, "plot", "plot_kind", "plot_row", "output")),
)
#: Formats with which two of these options agree.
_AGREEING = {("format_name", "open_page"): "html", ("sep", "format_name"): "fastrnns"}
#: Options that refine others. A configured one is removed if none of the others is given.
_REFINED = {
    "every": ("sessions",),
    "side_by_side": ("devices",),
    "architectures": ("kernels", "all_configs"),
    **dict.fromkeys(("ncu_kernel_regex", "ncu_metrics", "ncu_path"), ("ncu",)),
    **dict.fromkeys(("plot_kind", "plot_row"), ("plot",)),
}


def give_way(given: dict[str, Any]) -> dict[str, Any]:
    """Removes configured values that the command line contradicts or does not use.

    Args:
        given: Options of the command.

    Returns:
        The options, with the other values unchanged.
    """
    kept = dict(given)
    for pair in _OPPOSITES:
        if given.keys() >= {*pair} and _exclude_each_other(pair, given):
            for typed, other in (pair, pair[::-1]):
                if is_flag(typed) and not is_flag(other):
                    kept[other] = _unset(kept, other)
    for name, refined in _REFINED.items():
        if name in kept and not is_flag(name) and all(kept[one] == _unset(kept, one) for one in refined):
            kept[name] = _unset(kept, name)
    return kept


def _exclude_each_other(pair: tuple[str, str], given: dict[str, Any]) -> bool:
    """Returns True if the values of a pair of options exclude each other."""
    if "stop" in pair:
        # This rule has processes of any number of iterations, and decides how many there are.
        is_precision = (given["stop"] or "").strip().startswith("precision")
        return is_precision and given["sessions"] > 1 if "sessions" in pair else not is_precision
    return pair not in _AGREEING or given["format_name"] != _AGREEING[pair]


def _unset(given: dict[str, Any], name: str) -> Any:
    """Returns the value of an option that is not given."""
    return 1 if name == "sessions" else False if isinstance(given[name], bool) else None
