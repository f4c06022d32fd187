"""Several devices, ranks, and devices that do not work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commands import finished
from emulated_cuda.machine import Machine, logs

from emulated.bench import FEW, bench, run_on
from emulated.call_checks import check_devices

BUSY = "CUDA-capable device(s) is/are busy or unavailable"
CUDNN = ("bench", *FEW, "--group", "rnns", "--rnns", "cudnn")


@pytest.mark.long("emulated")
def test_two_devices_measure_side_by_side(tmp_path: Path) -> None:
    words = (*CUDNN, "--devices", "cuda:0,cuda:1", "--side-by-side", "--json")
    done = run_on(tmp_path, *words, machine=Machine(devices=2))
    assert done.status == 0, done.stderr
    assert [one["problem"]["device"] for one in done.json()["results"]] == ["cuda:0", "cuda:1"]
    workers = [one for one in logs(tmp_path) if one.marks()]
    assert sorted([*{call.device for call in one.marks()}] for one in workers) == [[0], [1]]


@pytest.mark.long("emulated")
def test_each_rank_uses_its_own_device_and_no_other(tmp_path: Path) -> None:
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "fastrnns_rs")
    done = finished([*torchrun, *CUDNN], **Machine(devices=2).environment(tmp_path))
    assert done.status == 0, done.stderr
    # A probe and a worker of each.
    check_devices(logs(tmp_path), [[0], [0], [1], [1]])


@pytest.mark.long("emulated")
def test_only_the_device_that_is_requested_is_probed(tmp_path: Path) -> None:
    bench(tmp_path, "sleeping", "--device", "cuda:1", machine=Machine(devices=2))
    check_devices(logs(tmp_path), [[1], [1]])


@pytest.mark.parametrize(
    ("machine", "device", "message"),
    [
        (Machine(devices=2, faults=["cudaSetDevice 46 device 1"]), "cuda:1", f"CUDA error: {BUSY}"),
        pytest.param(
            Machine(devices=2, faults=["cudaLaunchKernel 209 device 1"]),
            *("cuda:1", "CUDA error: no kernel image is"),
            marks=pytest.mark.long("emulated"),
        ),
        (
            Machine(devices=2, faults=["cudaGetDeviceProperties 46 device 1"]),
            "cuda:0",
            f"torch refuses all GPUs because of one (cuda:1: {BUSY}); hide that with CUDA_VISIBLE_DEVICES=0",
        ),
        pytest.param(
            Machine(devices=2, settings=["capability 1 7.0"]),
            "cuda:0",
            "torch refuses all GPUs because of one (cuda:1: compute capability 7.0); hide that with",
            marks=pytest.mark.long("emulated"),
        ),
    ],
    ids=["busy", "no image", "silent", "old"],
)
def test_a_device_that_does_not_work_is_told(machine: Machine, device: str, message: str, tmp_path: Path) -> None:
    done = run_on(tmp_path, *CUDNN, "--device", device, machine=machine)
    assert done.status == 2, done.stderr
    assert f"error: device fails: '{device}' (--device): {message}" in done.stderr, done.stderr


@pytest.mark.long("emulated")
@pytest.mark.parametrize("fault", ["cudaSetDevice 46", "cudaMalloc 2"])
def test_one_that_does_not_work_leaves_the_others_alone(fault: str, tmp_path: Path) -> None:
    found = bench(tmp_path, "cudnn", machine=Machine(devices=2, faults=[f"{fault} device 1"]))
    assert found.result("cudnn")["problem"]["device"] == "cuda"
    assert [one["index"] for one in found.run["environment"]["gpus"]] == [0, 1]


def test_a_full_device_is_a_runner_that_failed(tmp_path: Path) -> None:
    found = bench(tmp_path, "cudnn", machine=Machine(faults=["cudaMalloc 2"]), status=1)
    assert found.result("cudnn")["reason"].startswith("out of memory")
