"""Measures the modules that `torch.compile`'s Inductor generates: whole, kernel by kernel, and under a profiler.

The functions that upstream has in `torch._inductor.wrapper_benchmark` are here by the same names. They are loaded when
they are first used: importing this package does not load torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastrnns_rs.inductor.categories import get_kernel_category, get_kernel_category_by_source_code
    from fastrnns_rs.inductor.child.bandwidth import create_bandwidth_info_str
    from fastrnns_rs.inductor.child.kernels import benchmark_all_kernels
    from fastrnns_rs.inductor.child.profiling import parse_profile_event_list
    from fastrnns_rs.inductor.child.standalone import compiled_module_main
    from fastrnns_rs.inductor.child.triton_kernels import get_triton_kernel

__all__ = [
    "benchmark_all_kernels",
    "compiled_module_main",
    "create_bandwidth_info_str",
    "get_kernel_category",
    "get_kernel_category_by_source_code",
    "get_triton_kernel",
    "parse_profile_event_list",
]

_HOME = {
    "benchmark_all_kernels": "child.kernels",
    "compiled_module_main": "child.standalone",
    "create_bandwidth_info_str": "child.bandwidth",
    "get_kernel_category": "categories",
    "get_kernel_category_by_source_code": "categories",
    "get_triton_kernel": "child.triton_kernels",
    "parse_profile_event_list": "child.profiling",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
