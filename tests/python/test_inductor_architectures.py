"""Triton kernels assembled for architectures that are not here, by Triton's own compiler and assembler."""

from __future__ import annotations

import inspect
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

pytest.importorskip("triton", reason="modules of Triton kernels cannot be loaded without triton")

from conftest import run_cli
from parts import few
from torch._inductor.runtime import triton_heuristics
from torch._inductor.runtime.triton_heuristics import CachingAutotuner
from triton.backends.nvidia import compiler as nvidia
from triton.backends.nvidia.compiler import CUDABackend, get_ptxas
from triton_modules import TRITON_COMPILES, Compiler, compiler, load, source

from fastrnns_rs.errors import UsageError
from fastrnns_rs.verbs.inductor import module_rows
from fastrnns_rs.verbs.inductor.request import InductorOptions
from fastrnns_rs.views.inductor_report import assembled_lines
from fastrnns_rs.worker.inductor import kernel_times, triton_kernels
from fastrnns_rs.worker.inductor.architectures import Assembler

__all__ = ["compiler"]

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
NAME = "triton_poi_fused_add_0"
#: Each thread keeps more values than it has registers, and threads exchange theirs through shared memory.
SPILLS = """
    rows = tl.arange(0, 64)[:, None]
    columns = tl.arange(0, 256)[None, :]
    values = tl.load(in_ptr0 + rows * 256 + columns)
    values = tl.exp(values - tl.max(values, 1)[:, None])
    tl.store(in_out_ptr0 + rows * 256 + columns, values / tl.sum(values, 1)[:, None])
"""
TARGET = re.compile(r"^\.target (\w+)", re.MULTILINE)
NUMBERS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
KEYS = ("stack_bytes", "spill_store_bytes", "spill_load_bytes")


def spilling() -> str:
    """The source of a kernel that spills."""
    text = source(NAME)
    begin, end = text.index("    xoffset ="), text.index("\ndef get_args")
    return text[:begin] + SPILLS.lstrip("\n") + text[end:]


def by_hand(ptx: str, options: Sequence[str], folder: Path) -> dict[str, int]:
    """Output of `ptxas -v` for a kernel that Triton compiled."""
    file = folder / "kernel.ptx"
    file.write_text(ptx)
    [target] = TARGET.findall(ptx)
    program = get_ptxas(int(re.sub(r"\D", "", target))).path
    command = [program, "-v", "-lineinfo", *options, f"--gpu-name={target}", file, "-o", folder / "kernel.o"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    [numbers], [registers] = NUMBERS.findall(printed), re.findall(r"Used (\d+) registers", printed)
    static = re.findall(r"(\d+) bytes smem", printed)
    spills = dict(zip(KEYS, map(int, numbers), strict=True))
    return {"registers": int(registers), **spills, "shared_memory_bytes": sum(map(int, static))}


@pytest.fixture
def assembled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The PTX of each kernel that Triton assembles, and the shared memory of its launches."""
    made: list[tuple[str, int]] = []
    make_cubin = CUDABackend.make_cubin

    def kept(self: CUDABackend, src: str, metadata: dict[str, Any], *options: Any) -> Any:
        made.append((src, metadata["shared"]))
        return make_cubin(self, src, metadata, *options)

    monkeypatch.setattr(CUDABackend, "make_cubin", kept)
    return made


# The first one takes longest: Triton is loaded.
@pytest.mark.parametrize("architecture", few(["sm_90"], ARCHITECTURES, "inductor"))
def test_figures_are_those_that_ptxas_prints(
    architecture: str,
    compiler: Compiler,
    assembled: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(CachingAutotuner, "_precompile_config", TRITON_COMPILES)
    mod = load(spilling())
    kernel = triton_kernels.get_triton_kernel(mod)
    few_threads = triton_heuristics.Config({"XBLOCK": 512}, num_warps=2, num_stages=1)
    [found] = Assembler(mod, [architecture]).figures(few_threads)
    [(ptx, shared)] = assembled
    # The versions of Triton give ptxas this option or not.
    options = ["--regAllocOptLevel=2"] if "regAllocOptLevel" in inspect.getsource(nvidia) else []
    expected = by_hand(ptx, options, tmp_path)
    expected["shared_memory_bytes"] += shared
    assert found == {"architecture": architecture, **expected, "reason": None}
    # PTX of this architecture, and a kernel of which no figure is zero.
    assert [re.sub(r"\D", "", one) for one in TARGET.findall(ptx)] == [architecture.removeprefix("sm_")]
    assert min(found[key] for key in ("shared_memory_bytes", *KEYS)) > 0
    # The kernel that is timed still has its own architecture.
    assert kernel.device_props.cc == 90


def test_rows_and_the_report_have_them(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    pretended = CachingAutotuner._precompile_config

    def compile_config(kernel: CachingAutotuner, config: Any) -> Any:
        is_copy = kernel.fn.fn.__module__.startswith("fastrnns_rs_configurations_")
        return (TRITON_COMPILES if is_copy else pretended)(kernel, config)

    monkeypatch.setattr(CachingAutotuner, "_precompile_config", compile_config)
    load(source(NAME))
    (row,) = kernel_times.measure(torch.device("cuda:0"), all_configs=False, architectures=("sm_80", "sm_1"))
    first, second = module_rows.kernel_timing(row).assembled
    assert (first.architecture, first.reason, first.spill_store_bytes) == ("sm_80", None, 0)
    # Of an add there are some, and no kernel has more than 255. The pretended launcher tells of 32.
    assert 8 < first.registers <= 255
    assert (second.registers, second.reason) == (None, "unknown architecture: 'sm_1' (architectures)")
    lines = assembled_lines([module_rows.kernel_timing(row)])
    _heads, known, unknown, reason = map(str.split, lines)
    assert known[:3] == [NAME, "sm_80", str(first.registers)]
    assert unknown[:3] == [NAME, "sm_1", "-"]
    assert "'sm_1'" in reason


def test_a_kernel_that_does_not_compile_has_the_reason(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CachingAutotuner, "_precompile_config", TRITON_COMPILES)
    mod = load(source(NAME))
    monkeypatch.setattr(CUDABackend, "make_cubin", Mock(side_effect=RuntimeError("ptxas failed\nand more")))
    [one] = Assembler(mod, ["sm_90"]).figures(triton_kernels.get_triton_kernel(mod).configs[0])
    assert one["reason"].endswith("ptxas failed")
    assert {one[key] for key in ("registers", "shared_memory_bytes", *KEYS)} == {None}


@pytest.mark.parametrize("name", ["sm80", "90", "sm_9x", "gfx90a", ""])
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"{name!r} (architectures)")):
        InductorOptions(kernels=True, architectures=(name,))


def test_architectures_need_kernels() -> None:
    done = run_cli("inductor", "--from-cache", "--arch", "sm_80", "sm_90")
    assert (done.status, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error == "error: --arch needs --benchmark-kernels"
    assert "--benchmark-kernels" in hint
