"""Modules of Triton kernels in the shape of Inductor's, loaded by Inductor's own classes; a pretended GPU runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from cold_devices import Clock, FakeDevice
from torch._inductor.codecache import PyCodeCache
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_compat import OutOfResources
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

from fastrnns_rs.worker.inductor import cold_cache, kernel_times

_IMPORTS = """
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties
triton_helpers.set_driver_to_gpu()

from torch._dynamo.testing import rand_strided
import torch
"""

_KERNEL = """
@triton_heuristics.pointwise(
    size_hints={{'x': 1048576}},
    filename=__file__,
    triton_meta={{'signature': {{'in_ptr0': '*fp32', 'in_out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}},
        'device': DeviceProperties(type={device!r}, index={index}, multi_processor_count=132, cc=90, major=9,
            regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, warp_size=32),
        'constants': {{}}, 'configs': [{{}}]}},
    inductor_meta={{'grid_type': 'Grid1D', 'kernel_name': {name!r}, 'mutated_arg_names': ['in_out_ptr0'],
        'max_autotune': True, 'autotune_local_cache': True{meta}}},
    min_elem_per_thread=0
)
@triton.jit
def {name}(in_ptr0, in_out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + (xindex), xmask)
    tmp1 = tl.load(in_out_ptr0 + (xindex), xmask)
    tl.store(in_out_ptr0 + (xindex), tmp0 + tmp1, xmask)
"""

_BENCHMARK = """
def get_args():
    arg_0 = rand_strided((4, 4), (4, 1), device='cpu', dtype=torch.float32)
    arg_1 = rand_strided((4, 4), (4, 1), device='cpu', dtype=torch.float32)
    return arg_0, arg_1, 16,


def call(args):
    {name}.run(*args, stream=0)
"""

#: What compiles a configuration with Triton, which takes no GPU.
TRITON_COMPILES = CachingAutotuner._precompile_config

#: The configurations of such a kernel, by their XBLOCK, as Inductor 2.11 to 2.15 makes them.
BLOCKS = (1024, 512)


def source(
    name: str, *, meta: str = "", device: str = "cuda", index: int | None = 0, benchmark: str = _BENCHMARK
) -> str:
    """A kernel's module.

    Args:
        name: The kernel.
        meta: More of what Inductor notes of it, each with a comma before it.
        device: What it is for.
        index: Which of these; None for any.
        benchmark: The functions by which it can be called; what is empty without `benchmark_kernel`.
    """
    return _IMPORTS + _KERNEL.format(name=name, meta=meta, device=device, index=index) + benchmark.format(name=name)


@dataclass
class Compiler:
    """What Triton and the driver would make of configurations, by their XBLOCK.

    Attributes:
        took_ns: How long a launch takes.
        spills: Registers that are spilled.
        too_large: What cannot be compiled.
        failing: What cannot be launched.
        on_launch: Called with the arguments of every launch.
        clock: Goes on by what is launched.
        launched: The kernel and the stream of each launch.
        devices: On which devices kernels were timed.
    """

    took_ns: dict[int, int] = field(default_factory=lambda: {1024: 20_000, 512: 10_000})
    spills: dict[int, int] = field(default_factory=dict)
    too_large: set[int] = field(default_factory=set)
    failing: set[int] = field(default_factory=set)
    on_launch: Callable[[tuple[Any, ...]], None] = lambda _arguments: None
    clock: Clock = field(default_factory=Clock)
    launched: list[tuple[str, int]] = field(default_factory=list)
    devices: list[torch.device] = field(default_factory=list)

    def compile(self, kernel: CachingAutotuner, config: Any) -> SimpleNamespace:
        block = config.kwargs["XBLOCK"]
        if block in self.too_large:
            raise OutOfResources(1000, 100, "shared memory")
        binary = SimpleNamespace(hash=f"{block:064x}")
        return SimpleNamespace(config=config, kernel=binary, make_launcher=lambda: self.launcher(kernel, config))

    def launcher(self, kernel: CachingAutotuner, config: Any) -> Callable[..., None]:
        block = config.kwargs["XBLOCK"]

        def launch(*arguments: Any, stream: int) -> None:
            if block in self.failing:
                raise RuntimeError("Triton Error [CUDA]: invalid argument\nand more")
            self.launched.append((kernel.fn.__name__, stream))
            self.on_launch(arguments)
            self.clock.log.append("call")
            self.clock.now_ns += self.took_ns[block]

        launch.config, launch.n_regs, launch.shared = config, 32, 128  # type: ignore[attr-defined]
        launch.n_spills = self.spills.get(block, 0)  # type: ignore[attr-defined]
        launch.cache_hash, launch.store_cubin = f"{block}", False  # type: ignore[attr-defined]
        return launch


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Compiler]:
    """Nothing is loaded yet, and what is loaded now runs on a pretended GPU, whose memory does 1000 GB/s."""
    planted = Compiler()
    interface = SimpleNamespace(exchange_device=lambda _: 0, maybe_exchange_device=lambda _: 0)

    def compile_config(kernel: CachingAutotuner, config: Any) -> SimpleNamespace:
        return planted.compile(kernel, config)

    def device(where: torch.device) -> FakeDevice:
        planted.devices.append(where)
        return FakeDevice(planted.clock)

    def bench(_kernel: CachingAutotuner, launcher: Any, *_arguments: Any, **_named: Any) -> float:
        return planted.took_ns[launcher.config.kwargs["XBLOCK"]] / 1e6

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    # Inductor's class sets it, for good.
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setattr(triton_helpers, "set_driver_to_gpu", lambda: None)
    monkeypatch.setattr(CachingAutotuner, "_precompile_config", compile_config)
    monkeypatch.setattr(CachingAutotuner, "get_device_interface", lambda _: interface)
    monkeypatch.setattr(CachingAutotuner, "bench", bench)
    monkeypatch.setattr(cold_cache, "CudaDevice", device)
    monkeypatch.setattr(kernel_times, "device_gb_per_s", lambda _: 1000.0)
    modules, by_path = [*PyCodeCache.modules], {**PyCodeCache.modules_no_attr}
    PyCodeCache.cache_clear()
    yield planted
    PyCodeCache.cache_clear()
    PyCodeCache.modules.extend(modules)
    PyCodeCache.modules_no_attr.update(by_path)


def load(text: str) -> ModuleType:
    """The module, as generated modules load it."""
    loaded: ModuleType = PyCodeCache.load(text)
    return loaded


def tensors(arguments: tuple[Any, ...]) -> list[torch.Tensor]:
    """Those among arguments."""
    return [one for one in arguments if isinstance(one, torch.Tensor)]
