"""What a kernel computes, by its name or by its source; the rules are data of the Rust core."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from fastrnns_rs import _core

UNKNOWN = "unknown"


def get_kernel_category_by_source_code(source: str) -> str:
    """The category of a kernel that Inductor wrote, by the heuristic that decorates it.

    Returns:
        `pointwise`, `reduction`, `persistent_reduction`, `foreach`, `split_scan` or `template`; `unknown` where the
        source names none of these heuristics, or several.
    """
    return _core.kernel_category_by_source(source)


def get_kernel_category(kernel_module: ModuleType) -> str:
    """The category of the kernel that a module defines.

    Upstream's looks for the name of a heuristic in the module alone. Modules of today import none by its name, and all
    are `unknown` to it; here their source is read then.
    """
    sources = {name: f"@triton_heuristics.{name}" for name in vars(kernel_module)}
    named = [name for name, source in sources.items() if get_kernel_category_by_source_code(source) == name]
    if len(named) == 1:
        return named[0]
    path = getattr(kernel_module, "__file__", None)
    if path is None:
        return UNKNOWN
    try:
        return get_kernel_category_by_source_code(Path(path).read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError):
        # Whoever empties Inductor's cache takes the sources away.
        return UNKNOWN
