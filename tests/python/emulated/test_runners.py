"""Every runner from end to end on an emulated device: `bench` by known times and by the log of calls, and `verify`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from emulated_cuda.machine import Machine
from models_under_test import OURS
from parts import few

from emulated.bench import Measured, bench, verified
from emulated.call_checks import check_measured
from fastrnns_rs.runners.registry import find

MS = 1_000_000
#: Kernels of cuDNN that take long, by a glob of their names.
DURATIONS_NS = {
    "cudnnRNNForward*": 3 * MS,
    "cudnnRNNBackwardData*": 4 * MS,
    "cudnnRNNBackwardWeights*": 1 * MS,
    "cudnnConvolutionForward": MS // 10,
    "cudnnConvolutionBackward*": MS // 10,
}
#: Times of one layer, and of the convolutions of a network, without the gradient of its images.
KNOWN_NS = {
    "rnn": (3 * MS, 5 * MS),
    "resnet18": (20 * MS // 10, 39 * MS // 10),
    "resnet50": (53 * MS // 10, 105 * MS // 10),
}
#: A part of the names of kernels that a runner launches.
KERNELS = {"cudnn": "cudnnRNN", "jit": "fused_", "py": "Gemm", "resnet": "cudnnConvolution"}

COMPILED = [name for name in OURS if find(name).compiles]
EAGER = [name for name in OURS if name not in COMPILED]
#: cuDNN's, one that TorchScript compiles, and a network of convolutions.
FEW = ["cudnn", "jit", "resnet18"]
OTHERS = [name for name in EAGER if name not in FEW]
#: Small images, for which networks launch the same kernels.
SMALL = ("--image-size", "33", "--mini-batch", "2")


@pytest.fixture(scope="module")
def few_measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return bench(tmp_path_factory.mktemp("few"), *FEW, *SMALL, machine=Machine(durations_ns=DURATIONS_NS))


@pytest.fixture(scope="module")
def others_measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return bench(tmp_path_factory.mktemp("others"), *OTHERS, *SMALL, machine=Machine(durations_ns=DURATIONS_NS))


def check_runner(found: Measured, name: str) -> None:
    row = found.result(name)
    check_measured(row)
    assert row["timing_mode"] == "cuda_events"
    assert row["peak_memory_bytes"] > 0
    kind = next(one for one in ("resnet", "jit", "cudnn", "py") if one in name or one == "py")
    if name in {"cudagraph", "cudnn"} or kind == "cudnn":
        check_known(row, KNOWN_NS["rnn"])
    elif kind == "resnet":
        check_known(row, KNOWN_NS[name.split("_", maxsplit=1)[0]])
    elif name != "aten":
        assert found.log_of(name).kernels(KERNELS[kind]), f"no kernel {KERNELS[kind]}"


def check_known(row: Mapping[str, Any], known: tuple[int, int]) -> None:
    """Phases take as long as the kernels of cuDNN, and some more for others."""
    for phase, time in zip(("forward", "backward"), known, strict=True):
        if row[phase] is not None:
            assert time < row[phase]["median_ns"] < 1.15 * time, (phase, row[phase]["median_ns"])


@pytest.mark.long("emulated")
@pytest.mark.parametrize("name", FEW)
def test_one_of_a_few_runners_is_measured(few_measured: Measured, name: str) -> None:
    check_runner(few_measured, name)


@pytest.mark.long("emulated")
@pytest.mark.parametrize("name", OTHERS)
def test_a_runner_is_measured(others_measured: Measured, name: str) -> None:
    check_runner(others_measured, name)


@pytest.mark.long("emulated")
@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_runner_is_measured(name: str, tmp_path: Path) -> None:
    # The kernels of ResNet-50 take five minutes to compile on two cores that have other work.
    limits = ("--compile-timeout", "1500", "--timeout", "1700")
    found = bench(tmp_path, name, *SMALL, *limits, timeout_s=1800)
    check_measured(found.result(name))
    assert found.result(name)["timing_mode"] == "cuda_events"
    assert found.log_of(name).kernels("triton"), "no kernel of Triton"


#: Options of `verify`, and runners that have them.
VARIANTS = {
    "float64": ("--dtype", "float64"),
    "float16": ("--dtype", "float16"),
    "bfloat16": ("--dtype", "bfloat16"),
    "amp": ("--amp",),
    "inference": ("--mode", "inference"),
    "deterministic": ("--deterministic",),
    "tf32": ("--allow-tf32",),
}


@pytest.mark.parametrize("names", few([FEW], [FEW, OTHERS], "emulated"), ids=["few", "others"])
def test_runners_compute_what_they_claim(names: list[str], tmp_path: Path) -> None:
    # Nothing computes what TorchScript fuses.
    rows = verified(tmp_path, *names, "--fuser", "none", *SMALL)
    assert {name: row["reason"] for name, row in rows.items() if row["status"] != "ok"} == {}
    assert rows.keys() == {*names}


@pytest.mark.long("emulated")
@pytest.mark.parametrize("variant", VARIANTS)
def test_modes_compute_what_they_claim(variant: str, tmp_path: Path) -> None:
    rows = verified(tmp_path, *FEW, *VARIANTS[variant], "--fuser", "none", *SMALL)
    assert {name: row["reason"] for name, row in rows.items() if row["status"] != "ok"} == {}


@pytest.mark.long("emulated")
@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (("--bidirectional",), ("cudnn", "cudagraph", "gru_cudnn", "vl_cudnn", "milstm_py")),
        (("--proj-size", "4"), ("cudnn", "cudagraph", "vl_cudnn", "py")),
        (("--num-layers", "2"), ("cudnn", "cudagraph", "gru_cudnn", "vl_cudnn", "cudnn_dropout")),
        (("--channels-last",), ("resnet18",)),
        (("--cudnn-benchmark",), ("resnet18",)),
    ],
    ids=lambda one: one[0].removeprefix("--") if one[0].startswith("--") else "",
)
def test_variants_compute_what_they_claim(flags: tuple[str, ...], names: tuple[str, ...], tmp_path: Path) -> None:
    rows = verified(tmp_path, *names, *flags, *SMALL)
    assert {name: row["reason"] for name, row in rows.items() if row["status"] != "ok"} == {}


@pytest.mark.long("emulated")
def test_a_device_that_computes_nothing_is_found(tmp_path: Path) -> None:
    rows = verified(tmp_path, "cudnn", *SMALL, machine=Machine(), status=1)
    assert "output" in rows["cudnn"]["reason"]
