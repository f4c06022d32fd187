"""Triton kernels one by one, in Inductor's own classes, and what is said where none can; the GPU is pretended."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import pytest
import torch

pytest.importorskip("triton", reason="modules of Triton kernels cannot be loaded without triton")

from torch._inductor import wrapper_benchmark
from torch._inductor.codecache import PyCodeCache
from torch._inductor.runtime import triton_heuristics
from torch._inductor.runtime.triton_heuristics import CachingAutotuner
from triton_modules import BLOCKS, TRITON_COMPILES, Compiler, compiler, load, source, tensors

from fastrnns_rs.api.wrapper_benchmark import benchmark_all_kernels
from fastrnns_rs.documents.inductor_report import KernelTiming
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.verbs.inductor import module_rows
from fastrnns_rs.worker.inductor import kernel_times, triton_kernels
from fastrnns_rs.worker.inductor.kernel_times import Arguments

__all__ = ["compiler"]

CUDA = torch.device("cuda:0")
NAME = "triton_poi_fused_add_0"


def measured(*, all_configs: bool = False, device: torch.device = CUDA) -> list[dict[str, Any]]:
    return [*kernel_times.measure(device, all_configs=all_configs)]


def blocks(found: list[dict[str, Any]]) -> list[tuple[int, bool]]:
    """XBLOCK of each row, and whether it was chosen."""
    return [(int(row["config"].split(",")[0].removeprefix("XBLOCK: ")), row["chosen"]) for row in found]


def test_a_kernel_is_timed_in_the_configuration_that_the_autotuner_chooses(compiler: Compiler) -> None:
    mod = load(source(NAME))
    (row,) = measured()
    assert json.loads(json.dumps(row)) == row
    described = {field.name for field in dataclasses.fields(KernelTiming)}
    told = {"samples_ns", "device_gb_per_s"}
    assert row.keys() == described - {"time", "bandwidth_gb_per_s", "bandwidth_fraction"} | told
    assert (row["name"], row["key"], row["category"]) == (NAME, mod.key, "pointwise")
    assert (row["timing_mode"], row["samples_ns"]) == ("cuda_events_cold_l2", [10_000] * 1000)
    # 16 numbers of four bytes that are read, 16 that are read and written.
    assert math.isclose(row["num_gb"], (64 + 2 * 64) / 1e9)
    assert (row["registers"], row["spills"], row["shared_memory_bytes"]) == (32, 0, 128)
    assert (blocks([row]), row["reason"]) == ([(512, True)], None)
    timing = module_rows.kernel_timing(row)
    assert math.isclose(timing.bandwidth_gb_per_s, 192 / 10_000)
    assert math.isclose(timing.bandwidth_fraction, 192 / 10_000 / 1000)
    # It is queued on the stream of what times it; the first launch is the module's own call.
    assert {stream for _, stream in compiler.launched[1:]} == {7}


def test_gigabytes_that_inductor_counted_are_taken(compiler: Compiler) -> None:
    load(source(NAME, meta=", 'kernel_num_gb': 0.25"))
    assert measured()[0]["num_gb"] == 0.25


def test_every_configuration_is_timed_and_the_chosen_one_marked(compiler: Compiler) -> None:
    mod = load(source(NAME))
    mod.call(mod.get_args())
    # The autotuner has kept one: this is what upstream's -c could tell of after the module has run.
    assert len(triton_kernels.get_triton_kernel(mod).launchers) == 1
    found = measured(all_configs=True)
    assert blocks(found) == [(1024, False), (512, True)]
    assert [row["samples_ns"][0] for row in found] == [20_000, 10_000]
    assert {row["key"] for row in found} == {mod.key}


def test_a_choice_of_an_earlier_process_is_the_chosen_one(compiler: Compiler) -> None:
    first = load(source(NAME))
    first.call(first.get_args())
    PyCodeCache.cache_clear()
    # Now the other one is faster; what was found out before stands in Inductor's cache.
    compiler.took_ns = {1024: 5_000, 512: 10_000}
    mod = load(source(NAME))
    assert len(triton_kernels.get_triton_kernel(mod).configs) == 1
    found = measured(all_configs=True)
    assert blocks(found) == [(1024, False), (512, True)]
    assert found[0]["samples_ns"][0] == 5_000


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
def test_to_load_a_kernel_anew_changes_no_choice(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    mod = load(source(NAME))
    asked = triton_heuristics.check_autotune_cache
    copy = triton_kernels.load_all_configs(mod)
    assert [config.kwargs["XBLOCK"] for config in copy.configs] == [*BLOCKS]
    assert copy.save_cache_hook is None
    monkeypatch.setattr(CachingAutotuner, "_precompile_config", TRITON_COMPILES)
    # The part of `precompile` that needs no driver.
    copy.precompile(warm_cache_only=True)
    assert [one.config.kwargs["XBLOCK"] for one in copy.compile_results] == [*BLOCKS]
    assert triton_heuristics.check_autotune_cache is asked
    Path(mod.__file__).write_text("raise ValueError('half a file')")
    with pytest.raises(ValueError, match="half a file"):
        triton_kernels.load_all_configs(mod)
    assert triton_heuristics.check_autotune_cache is asked


def test_a_configuration_that_a_search_found_has_a_row_too(compiler: Compiler) -> None:
    compiler.took_ns[64] = 1_000
    mod = load(source(NAME))
    mod.call(mod.get_args())
    kernel = triton_kernels.get_triton_kernel(mod)
    config = triton_heuristics.Config({"XBLOCK": 64}, num_warps=1, num_stages=1)
    kernel.launchers = [compiler.launcher(kernel, config)]
    assert blocks(measured(all_configs=True)) == [(64, True), (1024, False), (512, False)]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        # The only one that could be chosen is timed whatever it spills.
        ({"spills": {1024: 17, 512: 400}}, "17 spilled registers"),
        ({"failing": {1024}}, "RuntimeError: Triton Error [CUDA]: invalid argument"),
        ({"too_large": {1024}}, "needs more than the device has"),
    ],
)
def test_a_configuration_that_is_not_timed_has_a_row(fault: dict[str, Any], reason: str, compiler: Compiler) -> None:
    for name, value in fault.items():
        setattr(compiler, name, value)
    load(source(NAME))
    without, timed = sorted(measured(all_configs=True), key=lambda row: len(row["samples_ns"]))
    assert blocks([without, timed]) == [(1024, False), (512, True)]
    assert (without["samples_ns"], without["timing_mode"]) == ([], None)
    assert reason in without["reason"]
    assert (len(timed["samples_ns"]), timed["spills"]) == (1000, compiler.spills.get(512, 0))
    assert fault.get("spills") is None or without["spills"] == 17


def test_kernels_that_a_person_wrote_are_told_to_have_no_benchmark(compiler: Compiler) -> None:
    mod = load(source("add_kernel", benchmark=""))
    next(one for one in vars(mod).values() if isinstance(one, CachingAutotuner)).custom_kernel = True
    with pytest.raises(FastrnnsError, match="1 by the model's author") as raised:
        measured(all_configs=False)
    assert "fastrnns-rs inductor --profile" in raised.value.hint
    load(source(NAME))
    ours, theirs = measured(all_configs=False)
    assert (ours["name"], ours["reason"]) == (NAME, None)
    assert (theirs["name"], theirs["samples_ns"]) == ("add_kernel", [])
    assert theirs["reason"] == triton_kernels.NO_BENCHMARK


@pytest.mark.parametrize(
    ("spills", "meta", "custom"), [(16, "", False), (17, ", 'spill_threshold': 17", False), (400, "", True)]
)
def test_what_the_autotuner_would_try_is_timed(spills: int, meta: str, custom: bool, compiler: Compiler) -> None:
    """All of a kernel that a person wrote, whatever it spills."""
    compiler.spills = {1024: spills}
    triton_kernels.get_triton_kernel(load(source(NAME, meta=meta))).custom_kernel = custom
    assert [len(row["samples_ns"]) for row in measured(all_configs=True)] == [1000, 1000]


def test_the_chosen_configuration_has_one_row_if_it_does_not_compile_again(compiler: Compiler) -> None:
    mod = load(source(NAME))
    mod.call(mod.get_args())
    compiler.too_large = {512}
    found = measured(all_configs=True)
    assert blocks(found) == [(512, True), (1024, False)]
    assert [len(row["samples_ns"]) for row in found] == [1000, 1000]


def test_configurations_are_the_same_by_all_that_inductor_compares() -> None:
    def config(warps: int = 4, stages: int = 1, **blocks: int) -> Any:
        return triton_kernels.identity(triton_heuristics.Config(blocks, num_warps=warps, num_stages=stages))

    one = {"XBLOCK": 8, "YBLOCK": 4}
    assert config(YBLOCK=4, XBLOCK=8) == config(**one)
    others = [config(XBLOCK=4, YBLOCK=8), config(XBLOCK=8), config(8, **one), config(4, 2, **one)]
    assert len({config(**one), *others}) == 5


@pytest.mark.parametrize(("index", "expected"), [(None, "cuda:3"), (0, "cuda:0"), (1, "cuda:1")])
def test_a_kernel_is_timed_on_its_own_device(index: int | None, expected: str, compiler: Compiler) -> None:
    load(source(NAME, index=index))
    measured(device=torch.device("cuda:3"))
    assert compiler.devices == [torch.device(expected)]


def test_a_kernel_that_fails_does_not_stop_the_others(compiler: Compiler) -> None:
    broken = load(source("triton_poi_fused_1"))
    broken.get_args = lambda: 1 / 0  # type: ignore[attr-defined]
    two = load(source("triton_poi_fused_2"))
    two.triton_poi_again = two.triton_poi_fused_2  # type: ignore[attr-defined]
    compiler.failing = {512}
    load(source("triton_poi_fused_3"))
    silent = load(source("triton_poi_fused_4"))
    silent.call = lambda _: None  # type: ignore[attr-defined]
    load(source("triton_poi_fused_5", device="cpu"))
    found = measured()
    assert [row["reason"] for row in found] == [
        "ZeroDivisionError: division by zero",
        f"{two.__name__} defines 2 Triton kernels, not one",
        "RuntimeError: Triton Error [CUDA]: invalid argument",
        "autotuner did not choose one configuration: 0 are left",
        "kernel not on CUDA: 'cpu'",
    ]
    assert all(module_rows.kernel_timing(row).time is None for row in found)
    compiler.failing = set()
    assert [len(row["samples_ns"]) for row in measured()] == [0, 0, 1000, 0, 0]


def test_ctrl_c_is_no_failure_of_a_kernel(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load(source(NAME)), "get_args", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        measured()


def test_a_source_that_is_gone_leaves_the_chosen_configuration(compiler: Compiler) -> None:
    mod = load(source(NAME))
    mod.call(mod.get_args())
    Path(mod.__file__).unlink()
    timed, others = measured(all_configs=True)
    assert (timed["chosen"], len(timed["samples_ns"]), timed["category"]) == (True, 1000, "unknown")
    assert others["reason"].startswith("cannot compile the other configurations: FileNotFoundError")
    assert others["samples_ns"] == []


def test_what_the_compiler_does_not_tell_is_null(compiler: Compiler) -> None:
    mod = load(source(NAME))
    mod.call(mod.get_args())
    launcher = triton_kernels.get_triton_kernel(mod).launchers[0]
    launcher.n_regs = launcher.n_spills = None
    del launcher.shared
    (row,) = measured()
    assert (row["registers"], row["spills"], row["shared_memory_bytes"]) == (None, None, None)
    assert len(row["samples_ns"]) == 1000


@pytest.mark.parametrize("all_configs", [False, True])
def test_every_call_finds_the_same_arguments(all_configs: bool, compiler: Compiler) -> None:
    seen = []

    def writes(arguments: tuple[Any, ...]) -> None:
        read, both = tensors(arguments)
        seen.append((read.sum().item(), both.sum().item()))
        both += 1

    compiler.on_launch = writes
    compiler.took_ns = {1024: 50_000_000, 512: 50_000_000}
    mod = load(source(NAME))
    given = mod.get_args()
    before = [one.clone() for one in tensors(given)]
    mod.get_args = lambda: given  # type: ignore[attr-defined]
    measured(all_configs=all_configs)
    assert len(seen) > 15
    assert len(set(seen)) == 1
    assert all(torch.equal(one, was) for one, was in zip(tensors(given), before, strict=True))


@pytest.mark.parametrize(
    "changed",
    [
        torch.arange(3.0).expand(4, 3),
        torch.arange(24.0)[5:17].view(3, 4).t(),
        torch.arange(24.0)[::3],
        torch.zeros(4, 0),
        torch.tensor(2.5),
    ],
    ids=["shared elements", "transposed part", "strided", "empty", "scalar"],
)
def test_arguments_of_any_layout_are_restored(changed: torch.Tensor, compiler: Compiler) -> None:
    kernel = triton_kernels.get_triton_kernel(load(source(NAME)))
    read, was = torch.ones(2), changed.clone()
    arguments = Arguments(kernel, (read, changed, 16))
    assert arguments.values[0] is read
    copy = arguments.values[1]
    assert copy.stride() == changed.stride()
    copy.untyped_storage().fill_(7)
    arguments.restore()
    assert torch.equal(copy, was)
    assert torch.equal(changed, was)
    # Those that begin at zero are zeroed again.
    kernel.reset_to_zero_arg_names = ["in_out_ptr0"]
    arguments = Arguments(kernel, (read, changed, 16))
    arguments.restore()
    assert not arguments.values[1].any()


def test_upstreams_function_prints_and_returns(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    mod = load(source(NAME))
    found = benchmark_all_kernels("my benchmark", benchmark_all_configs=True)
    assert [one.chosen for one in found] == [False, True]
    name, heads, *lines = capsys.readouterr().out.splitlines()
    assert name == "my benchmark"
    assert "GB/s" in heads
    assert len(lines) == 2
    assert all(NAME in line and mod.key[:10] in line and "pointwise" in line for line in lines)
    assert "µs" in heads
    assert "* XBLOCK: 512" in lines[1]
    PyCodeCache.cache_clear()
    with pytest.raises(FastrnnsError, match="no Triton kernels"):
        benchmark_all_kernels("my benchmark", benchmark_all_configs=False)


def test_without_a_benchmark_in_them_it_says_what_to_set(compiler: Compiler) -> None:
    for number in range(3):
        load(source(f"triton_poi_fused_{number}", benchmark=""))
    with pytest.raises(FastrnnsError, match="no benchmark in .*: 3 ") as raised:
        measured()
    assert "TORCHINDUCTOR_BENCHMARK_KERNEL=1" in raised.value.hint
    assert "torch._inductor.config.benchmark_kernel" in raised.value.hint


@pytest.mark.parametrize(("device", "told"), [("cpu", "C\\+\\+"), ("cuda:0", "calls libraries")])
def test_without_kernels_it_says_so(device: str, told: str, compiler: Compiler) -> None:
    # What else Inductor loads is no kernel.
    load("def get_args():\n    return ()\n")
    with pytest.raises(FastrnnsError, match=told) as raised:
        measured(device=torch.device(device))
    assert "fastrnns-rs inductor --profile" in raised.value.hint


def test_the_kernel_of_a_module_is_the_one_that_upstream_takes(compiler: Compiler) -> None:
    mod = load(source(NAME))
    # What a kernel is called with, or calls, has other names.
    mod.other = load(source("triton_poi_fused_mul_1")).triton_poi_fused_mul_1  # type: ignore[attr-defined]
    assert triton_kernels.get_triton_kernel(mod) is wrapper_benchmark.get_triton_kernel(mod)
    with pytest.raises(FastrnnsError, match="hostile defines 0 Triton kernels"):
        triton_kernels.get_triton_kernel(ModuleType("hostile"))


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.gpu(emulated="long")
def test_kernels_of_a_compiled_model_are_timed_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    PyCodeCache.cache_clear()
    # An empty cache; with `force_disable_caches` torch would remove the modules when they are compiled.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    with torch._inductor.config.patch(
        benchmark_kernel=True, compile_threads=1, max_autotune=True, fx_graph_cache=False
    ):
        size = 1 << 20
        torch.compile(lambda x: (x * 2 + 1).relu())(torch.ones(size, device="cuda"))
        (one,) = kernel_times.measure(CUDA, all_configs=False)
        every = [*kernel_times.measure(CUDA, all_configs=True)]
    timing = module_rows.kernel_timing(one)
    assert math.isclose(timing.num_gb, 2 * 4 * size / 1e9)
    assert 0 < timing.bandwidth_fraction < 1
    assert sum(bool(row["chosen"]) for row in every) == 1
    assert all(row["samples_ns"] or row["reason"] for row in every)
