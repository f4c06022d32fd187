"""Facts of GPUs by their drivers and by ROCm, and settings that only a GPU's times show."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fastrnns_rs.machine import nvidia
from fastrnns_rs.worker import compile_cost
from fastrnns_rs.worker.gpu_uuid import gpu_uuid
from fastrnns_rs.worker.inductor import bandwidth, triton_kernels
from fastrnns_rs.worker.jobs import probe
from fastrnns_rs.worker.torch_settings import deterministic


def test_memory_that_nothing_has_written_is_not_filled() -> None:
    fill = torch.utils.deterministic
    before = fill.fill_uninitialized_memory
    with deterministic(enabled=True):
        assert not fill.fill_uninitialized_memory
    assert fill.fill_uninitialized_memory is before


def test_newer_reasons_have_names() -> None:
    assert nvidia.slowdowns(0x200 | 0x400) == ["board_limit", "reliability"]


@pytest.mark.parametrize(("name", "prefix"), [("NVIDIA H200", "GPU"), ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "MIG")])
def test_an_instance_has_the_prefix_that_the_driver_has_for_it(name: str, prefix: str) -> None:
    assert gpu_uuid(SimpleNamespace(name=name, uuid="12-34")) == f"{prefix}-12-34"


def test_rocm_has_neither_tf32_nor_a_clock_of_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    mi300x: Any = SimpleNamespace(name="MI300X", uuid="0", memory_clock_rate=1_300_000, memory_bus_width=8192)
    monkeypatch.setattr(torch.version, "hip", "7.0")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: mi300x)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    assert "ROCm" in str(probe._tf32_problem("cuda"))
    assert bandwidth.device_gb_per_s.__wrapped__(torch.device("cuda")) is None


def test_a_variable_that_switches_tf32_off_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    for value, is_off in (("0", True), ("1", False)):
        monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", value)
        assert ("NVIDIA_TF32_OVERRIDE=0" in str(probe._tf32_problem("cuda"))) is is_off


def test_a_whole_graph_is_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = {"get_args": lambda: None, "call": lambda _: None}
    kernel, graph = SimpleNamespace(**functions), SimpleNamespace(**functions, benchmark_compiled_module=lambda: None)
    monkeypatch.setattr(triton_kernels.PyCodeCache, "modules", [graph, kernel])
    assert triton_kernels.benchmarkable(torch.device("cuda")) == [kernel]


@pytest.mark.parametrize(
    ("capability", "built", "covered"),
    [
        ((9, 0), ["sm_80", "sm_90"], True),
        ((8, 9), ["sm_80", "sm_86"], True),
        ((7, 0), ["sm_75", "sm_80"], False),
        ((12, 1), ["sm_90", "compute_90"], True),
        ((10, 0), ["sm_90a"], False),
        ((9, 0), ["sm_90a"], True),
        ((10, 3), ["sm_100f"], True),
        ((12, 0), ["sm_100f"], False),
        ((10, 0), ["compute_90a"], False),
        ((11, 0), ["compute_100f"], False),
        ((7, 0), [], True),
    ],
)
def test_torch_has_code_for_a_capability(capability: tuple[int, int], built: list[str], covered: bool) -> None:
    assert probe.is_covered(capability, built) is covered


def test_libraries_start_before_the_first_compilation_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    monkeypatch.setattr(compile_cost, "_start_libraries", lambda _: log.append("libraries"))
    monkeypatch.setattr(compile_cost.Compiling, "_first_call", lambda *_: log.append("call") or 1)
    compile_cost.Compiling("cuda", log.append, shared=False).compile_model(SimpleNamespace())  # type: ignore[arg-type]
    assert log == ["libraries", "compile", "call", "compile again", "call"]
