"""`inductor` on an emulated device: Triton compiles its kernels, and the device runs them for a known time."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from commands import finished
from emulated_cuda.machine import Machine

from emulated.bench import run_on

pytestmark = pytest.mark.long("emulated")

KERNEL_NS = 50_000
#: Longer than a launch takes on a busy machine: filling the cache keeps the device busy until the kernel is there.
FILL_NS = 1_000_000
_PROGRAM = """
import torch

compiled = torch.compile(lambda x, w: torch.softmax(torch.tanh(x * w), -1).sum(-1))
with torch.no_grad():
    compiled(torch.ones(16, 8, device="cuda"), torch.ones(8, device="cuda"))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("modules")
    machine = Machine(clock="real", durations_ns={"*": FILL_NS, "triton_*": KERNEL_NS})
    variables = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), "TORCHINDUCTOR_BENCHMARK_KERNEL": "1"}
    compiled = finished([sys.executable, "-c", _PROGRAM], **machine.environment(folder), **variables)
    assert compiled.status == 0, compiled.stderr
    [module] = [one for one in (folder / "cache").glob("*/*.py") if "AOT ID" in one.read_text()]
    words = ("inductor", module, "-k", "--profile", "--times", "4", "--repeat", "3", "--output-dir", folder / "out")
    done = run_on(folder, *words, "--json", machine=machine, **variables)
    assert done.status == 0, done.stderr
    document: dict[str, Any] = done.json()
    return document


def test_a_kernel_of_triton_takes_as_long_as_it_runs(report: dict[str, Any]) -> None:
    [module] = report["modules"]
    assert module["status"] == "ok"
    [kernel] = module["kernels"]
    assert kernel["time"]["median_ns"] == pytest.approx(KERNEL_NS, abs=100)
    assert kernel["registers"] > 0
    [category] = module["profile"]["categories"]
    [profiled] = category["kernels"]
    assert profiled["name"].startswith("triton_")
    assert profiled["count"] == 12
    assert profiled["total_ns"] == pytest.approx(12 * KERNEL_NS, rel=0.001)
    # A call cannot be quicker than its only kernel.
    assert module["wall"]["min_ns"] >= KERNEL_NS
    assert 0 < module["profile"]["busy_fraction"] <= 1
