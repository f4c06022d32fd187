"""Options of `bench` on an emulated device, sweeps, and `ab`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from emulated_cuda.machine import Machine

from emulated.bench import FEW, bench, run_on
from emulated.call_checks import check_measured

SMALL = ("--image-size", "33", "--mini-batch", "2")
MS = 1_000_000
TIMED = 5


@pytest.mark.long("emulated")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_every_dtype_is_measured(dtype: str, tmp_path: Path) -> None:
    names = ("cudnn", "jit", "py", "gru_cudnn", "vl_cudnn", "resnet18", "cudagraph")
    found = bench(tmp_path, *names, "--dtype", dtype, *SMALL)
    for name in names:
        check_measured(found.result(name))
        assert found.result(name)["problem"]["dtype"] == dtype
    # Names of kernels of elementwise operators have their dtype.
    part = {"float16": "Half", "bfloat16": "BFloat16", "float64": "double"}[dtype]
    assert found.log_of("py").kernels(part), f"no kernel of {part}"


@pytest.mark.long("emulated")
def test_autocast_is_measured(tmp_path: Path) -> None:
    names = ("cudnn", "jit", "py", "resnet18")
    found = bench(tmp_path, *names, "--amp", *SMALL)
    for name in names:
        check_measured(found.result(name))
    assert "float16" in found.result("cudnn")["note"]
    assert found.log_of("py").kernels("BFloat16")
    # Torch's autocast gives cuDNN's networks another dtype.
    assert found.log_of("cudnn").kernels("Half")


@pytest.mark.long("emulated")
@pytest.mark.parametrize(("flags", "math", "rnn_math"), [((), {"0"}, {"3"}), (("--allow-tf32",), {"0", "3"}, {"1"})])
def test_tf32_reaches_both_libraries(
    flags: tuple[str, ...], math: set[str], rnn_math: set[str], tmp_path: Path
) -> None:
    found = bench(tmp_path, "cudnn", "py", *flags, *SMALL)
    modes = {one.detail for one in found.log_of("py").of("cublasSetMathMode")}
    assert modes <= math | {"16"}
    assert ("3" in modes) is bool(flags)
    # CUDNN_FMA_MATH is 3, CUDNN_DEFAULT_MATH 0, CUDNN_TENSOR_OP_MATH 1.
    described = {one.detail for one in found.log_of("cudnn").of("cudnnSetRNNDescriptor")}
    assert ("3" in described) is not bool(flags), described


@pytest.mark.long("emulated")
def test_deterministic_algorithms_are_measured(tmp_path: Path) -> None:
    names = ("cudnn", "py", "resnet18")
    found = bench(tmp_path, *names, "--deterministic", *SMALL)
    for name in names:
        check_measured(found.result(name))
        assert found.result(name)["problem"]["deterministic"] is True


@pytest.mark.long("emulated")
@pytest.mark.parametrize("flags", [(), ("--cudnn-benchmark",)], ids=["chosen", "tried"])
def test_cudnn_tries_its_algorithms_if_it_is_told_to(flags: tuple[str, ...], tmp_path: Path) -> None:
    found = bench(tmp_path, "resnet18", *flags, *SMALL)
    check_measured(found.result("resnet18"))
    tried = found.log_of("resnet18").kernels("cudnnFind")
    assert bool(tried) is bool(flags)
    marks = found.log_of("resnet18").marks()
    # Before the iterations that are timed: those after the warm-up.
    assert not [one for one in tried if one.at_ns > marks[-TIMED * 4].at_ns]


@pytest.mark.long("emulated")
def test_channels_last_changes_the_layout_once(tmp_path: Path) -> None:
    found = bench(tmp_path, "resnet18", "--channels-last", *SMALL)
    check_measured(found.result("resnet18"))
    assert found.result("resnet18")["problem"]["channels_last"] is True


@pytest.mark.long("emulated")
def test_a_sweep_measures_each_value(tmp_path: Path) -> None:
    done = run_on(tmp_path, "bench", "cudnn", "py", *FEW, "--axis", "hidden-size=8,16,32", "--device", "cuda", "--json")
    assert done.status == 0, done.stderr
    rows = done.json()["results"]
    assert {(one["runner"], one["problem"]["hidden_size"]) for one in rows} == {
        (name, size) for name in ("cudnn", "py") for size in (8, 16, 32)
    }
    for row in rows:
        check_measured(row)


def compared(
    folder: Path, clock: Literal["virtual", "real"], processes: int, forward_ms: int, backward_ms: int
) -> list[dict[str, Any]]:
    """Returns the rows of `ab` on a device where cuDNN's kernels take so long."""
    durations = {"cudnnRNNForward*": forward_ms * MS, "cudnnRNNBackwardData*": backward_ms * MS}
    machine = Machine(clock=clock, durations_ns=durations)
    words = ("--warmup", "2", "--nloops", TIMED, "--device", "cuda", "--seq-length", "3", "--json")
    done = run_on(folder, "ab", "cudnn", "aten", "--processes", processes, *words, machine=machine)
    assert done.status == 0, done.stderr
    rows: list[dict[str, Any]] = done.json()["rows"]
    return rows


@pytest.mark.long("emulated")
def test_ab_measures_two_runners(tmp_path: Path) -> None:
    rows = compared(tmp_path, "virtual", 2, 3, 5)
    assert [one["phase"] for one in rows] == ["forward", "backward"]
    for row, time in zip(rows, (3 * MS, 5 * MS), strict=True):
        assert row["baseline"]["estimate_ns"] == pytest.approx(time, rel=0.01)
        assert row["candidate"]["estimate_ns"] < MS // 10


@pytest.mark.long("emulated")
def test_ab_finds_the_faster_runner(tmp_path: Path) -> None:
    # On the virtual clock times do not vary, and where nothing varies there is no verdict.
    rows = compared(tmp_path, "real", 4, 100, 100)
    assert [(one["phase"], one["verdict"]) for one in rows] == [("forward", "faster"), ("backward", "faster")]
