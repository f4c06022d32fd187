"""Categories of kernels, by name or by source.

The rules are data of the Rust core.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from fastrnns_rs import _core

UNKNOWN = "unknown"


def get_kernel_category_by_source_code(source: str) -> str:
    """Returns the category of a kernel of Inductor, by its heuristic.

    Returns:
        `pointwise`, `reduction`, `persistent_reduction`, `foreach`, `split_scan` or `template`; `unknown` where the
        source has none of these heuristics, or several.
    """
    return _core.kernel_category_by_source(source)


def get_kernel_category(kernel_module: ModuleType) -> str:
    """Returns the category of the kernel that a module defines.

    Upstream's function looks for the name of a heuristic in the module only. Today's modules import no heuristic by
    name, so that all are `unknown` to it. Here their source is read then.
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
        # The source is missing if Inductor's cache was emptied.
        return UNKNOWN
