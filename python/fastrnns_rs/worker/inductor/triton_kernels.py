"""Triton kernels of loaded modules, with configurations of their autotuners."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch._inductor import config
from torch._inductor.codecache import PyCodeCache
from torch._inductor.runtime import triton_heuristics
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.runners.source_loader import load_source

if TYPE_CHECKING:
    from types import ModuleType

    import torch

_PREFIX = "triton_"
_WHAT_TO_SET = (
    "Compile the model again with TORCHINDUCTOR_BENCHMARK_KERNEL=1 or torch._inductor.config.benchmark_kernel = True."
)
#: Rows of a document contain this hint, so that it names no argument of Python.
_PROFILE = "Run: fastrnns-rs inductor --profile MODULE.py"
#: Reason for kernels that the model's author wrote.
NO_BENCHMARK = "Inductor benchmarks only kernels that it generated"


def compile_here() -> None:
    """Makes Inductor compile kernels in this process.

    A kernel that another process compiles leaves no Python module here.
    """
    config.compile_threads = 1


def benchmarkable(device: torch.device) -> list[ModuleType]:
    """Returns the modules of kernels that can be called by themselves.

    They are in the order in which they were loaded.

    Args:
        device: Device that the loading module was generated for.

    Raises:
        FastrnnsError: If there are none. The hint names the setting to change, if there is one.
    """
    # The module of a whole graph has both functions too, and one more that times it.
    found = [
        one
        for one in PyCodeCache.modules
        if hasattr(one, "get_args") and hasattr(one, "call") and not hasattr(one, "benchmark_compiled_module")
    ]
    if found:
        return found
    others = sum(any(not kernel.custom_kernel for kernel in _autotuners(one)) for one in PyCodeCache.modules)
    if others:
        raise FastrnnsError(f"no benchmark in Triton kernels of module: {others} without benchmark", _WHAT_TO_SET)
    if own := list_custom_kernels():
        message = f"no Triton kernels of Inductor in module: {len(own)} by the model's author"
        raise FastrnnsError(message, _PROFILE)
    if device.type == "cpu":
        raise FastrnnsError("no Triton kernels in module: kernels of the CPU are C++", _PROFILE)
    raise FastrnnsError("no Triton kernels in module: the module calls libraries", _PROFILE)


def list_custom_kernels() -> list[tuple[ModuleType, CachingAutotuner]]:
    """Returns the kernels that the model's author wrote, with their modules.

    They have no benchmark.
    """
    modules = [one for one in PyCodeCache.modules if not hasattr(one, "get_args")]
    return [(mod, one) for mod in modules for one in _autotuners(mod) if one.custom_kernel]


def get_triton_kernel(mod: ModuleType) -> CachingAutotuner:
    """Returns the kernel that a module defines.

    Raises:
        FastrnnsError: If the module defines none, or several.
    """
    found = [one for name, one in vars(mod).items() if name.startswith(_PREFIX) and isinstance(one, CachingAutotuner)]
    if len(found) != 1:
        raise FastrnnsError(
            f"{mod.__name__} defines {len(found)} Triton kernels, not one", "Use the module of one kernel."
        )
    return found[0]


def load_all_configs(mod: ModuleType) -> CachingAutotuner:
    """Loads a kernel again with every configuration; nothing is compiled yet.

    The kernel that has run keeps only the configuration that its autotuner, or an earlier process, chose.

    Args:
        mod: Module of the kernel.
    """
    path = Path(str(mod.__file__))
    name = f"fastrnns_rs_configurations_{path.stem}"
    with _no_earlier_choice():
        return get_triton_kernel(load_source(name, path))


def identity(config: Any) -> Hashable:
    """Returns the part of a configuration that Inductor compares."""
    return (*sorted(config.kwargs.items()), config.num_warps, config.num_stages)


def _autotuners(mod: ModuleType) -> list[CachingAutotuner]:
    return [one for one in vars(mod).values() if isinstance(one, CachingAutotuner)]


@contextmanager
def _no_earlier_choice() -> Iterator[None]:
    """Ignores the stored choices of autotuners inside the block.

    Kernels that are loaded inside neither read nor write them.
    """
    original = triton_heuristics.check_autotune_cache

    def keep_all_configs(configs: list[Any], *_others: Any, **_named: Any) -> tuple[list[Any], None, dict[str, Any]]:
        return configs, None, {}

    triton_heuristics.check_autotune_cache = keep_all_configs
    try:
        yield
    finally:
        triton_heuristics.check_autotune_cache = original
