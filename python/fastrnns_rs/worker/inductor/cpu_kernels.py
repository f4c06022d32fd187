"""Names for Inductor's C++ kernels while a profiler runs, which sees nothing of them by itself."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

# Inductor marks its Triton kernels with it. torch's documented `record_function` costs some microseconds a call, which
# would count as the kernel's own time; this one costs a fraction of one.
from torch._C._profiler import _RecordFunctionFast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

#: As Inductor names them; with `torch._inductor.config.cpp.enable_kernel_profile` the graph stands before.
_CPP = re.compile(r"(?:graph_\d+_(?:\w+?_)?)?cpp_")
#: What kernels begin with that were generated with that switch: they tell the profiler themselves.
_TELLS_ITSELF = "RAIIAtenRecordFunctionHandle"


def is_cpp(name: str) -> bool:
    """Whether what the profiler saw under a name is a C++ kernel of Inductor."""
    return _CPP.match(name) is not None


@contextmanager
def named(module: ModuleType) -> Iterator[None]:
    """The profiler sees the C++ kernels of a generated module inside the block, under their names."""
    kernels = {} if _tell_themselves(module) else _kernels(module)
    for name, kernel in kernels.items():
        setattr(module, name, _told(name, kernel))
    try:
        yield
    finally:
        for name, kernel in kernels.items():
            setattr(module, name, kernel)


def _kernels(module: ModuleType) -> dict[str, Callable[..., Any]]:
    found = vars(module).items()
    return {name: one for name, one in found if name.startswith("cpp_") and callable(one)}


def _tell_themselves(module: ModuleType) -> bool:
    path = getattr(module, "__file__", None)
    return path is not None and _TELLS_ITSELF in Path(path).read_text(encoding="utf-8")


def _told(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        # Of numbers it takes those of 64 bits only, and shapes are all that is wanted.
        with _RecordFunctionFast(name, [one for one in arguments if isinstance(one, torch.Tensor)]):
            return kernel(*arguments)

    return run
