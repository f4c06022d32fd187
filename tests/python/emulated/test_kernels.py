"""Triton kernels on an emulated device: what is reported of their code is what the assembler made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated_cuda.machine import Machine

from emulated.bench import run_on

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")


@pytest.mark.long("emulated")
def test_registers_are_those_of_the_assembler_for_the_devices_architecture(tmp_path: Path) -> None:
    words = (
        "inductor",
        "--runner",
        "compile_cell",
        "--quick",
        "--device",
        "cuda",
        "-k",
        "--arch",
        *ARCHITECTURES,
        "--json",
    )
    # A virtual clock would stand still while kernels are compiled.
    cache = {"TORCHINDUCTOR_CACHE_DIR": tmp_path / "cache", "TRITON_CACHE_DIR": tmp_path / "cache" / "triton"}
    done = run_on(tmp_path / "machine", *words, machine=Machine(clock="real", settings=["capability 0 9.0"]), **cache)
    assert done.status == 0, done.stderr
    kernels = [one for module in done.json()["modules"] for one in module["kernels"]]
    assert kernels
    for kernel in kernels:
        assert [one["architecture"] for one in kernel["assembled"]] == [*ARCHITECTURES]
        assert [one["reason"] for one in kernel["assembled"]] == [None] * 3
        here = kernel["assembled"][1]
        assert (kernel["registers"], kernel["spills"]) == (here["registers"], here["stack_bytes"] // 4)
        assert kernel["registers"] > 0
