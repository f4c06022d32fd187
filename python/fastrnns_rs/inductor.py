"""The functions of `torch._inductor.wrapper_benchmark`, by the same names.

Each is loaded when it is first used: importing this module does not load torch. Calling the module times modules that
`torch.compile` generated, as the function `fastrnns_rs.inductor` does, which has the same name.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fastrnns_rs.api.modules import inductor as _inductor

if TYPE_CHECKING:
    from fastrnns_rs.api.wrapper_benchmark import benchmark_all_kernels, parse_profile_event_list
    from fastrnns_rs.worker.inductor.bandwidth import create_bandwidth_info_str
    from fastrnns_rs.worker.inductor.kernel_categories import get_kernel_category, get_kernel_category_by_source_code
    from fastrnns_rs.worker.inductor.standalone import compiled_module_main
    from fastrnns_rs.worker.inductor.triton_kernels import get_triton_kernel

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
    "benchmark_all_kernels": "api.wrapper_benchmark",
    "compiled_module_main": "worker.inductor.standalone",
    "create_bandwidth_info_str": "worker.inductor.bandwidth",
    "get_kernel_category": "worker.inductor.kernel_categories",
    "get_kernel_category_by_source_code": "worker.inductor.kernel_categories",
    "get_triton_kernel": "worker.inductor.triton_kernels",
    "parse_profile_event_list": "api.wrapper_benchmark",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"fastrnns_rs.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _CallableModule(ModuleType):
    """Module that is also the function of its name.

    Python sets `fastrnns_rs.inductor` to this module when it is imported, in place of the function.
    """

    __call__ = staticmethod(_inductor)


sys.modules[__name__].__class__ = _CallableModule
