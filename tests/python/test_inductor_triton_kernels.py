"""Which Triton kernels of a module can be called by themselves, and what is said where none can."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import torch

pytest.importorskip("triton", reason="modules of Triton kernels cannot be loaded without triton")

from torch._inductor import wrapper_benchmark
from torch._inductor.async_compile import AsyncCompile
from triton_modules import Compiler, compiler, load, source

from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.worker.inductor import kernel_times, triton_kernels

__all__ = ["compiler"]

NAME = "triton_poi_fused_add_0"


def measured(device: str = "cuda:0") -> list[dict[str, Any]]:
    return [*kernel_times.measure(torch.device(device), all_configs=False)]


def test_without_a_benchmark_in_them_it_says_what_to_set(compiler: Compiler) -> None:
    for number in range(3):
        load(source(f"triton_poi_fused_{number}", benchmark=""))
    with pytest.raises(FastrnnsError, match="none of its 3 Triton kernels has a benchmark in it") as raised:
        measured()
    assert "TORCHINDUCTOR_BENCHMARK_KERNEL=1" in raised.value.hint
    assert "torch._inductor.config.benchmark_kernel" in raised.value.hint


@pytest.mark.parametrize(("device", "told"), [("cpu", "on a CPU they are C\\+\\+"), ("cuda:0", "it has no Triton")])
def test_without_kernels_it_says_so(device: str, told: str, compiler: Compiler) -> None:
    # What else Inductor loads is no kernel.
    load("def get_args():\n    return ()\n")
    with pytest.raises(FastrnnsError, match=told) as raised:
        measured(device)
    assert "--profile" in raised.value.hint


def test_the_kernel_of_a_module_is_the_one_that_upstream_takes(compiler: Compiler) -> None:
    mod = load(source(NAME))
    # What a kernel is called with, or calls, has other names.
    mod.other = load(source("triton_poi_fused_mul_1")).triton_poi_fused_mul_1  # type: ignore[attr-defined]
    assert triton_kernels.get_triton_kernel(mod) is wrapper_benchmark.get_triton_kernel(mod)
    with pytest.raises(FastrnnsError, match="hostile defines 0 Triton kernels"):
        triton_kernels.get_triton_kernel(ModuleType("hostile"))


def test_kernels_are_compiled_where_they_are_looked_for() -> None:
    # Not monkeypatch: torch forgets settings that it puts back.
    with torch._inductor.config.patch(compile_threads=8):
        triton_kernels.compile_here()
        assert torch._inductor.config.compile_threads == 1
        assert not AsyncCompile.use_process_pool()
