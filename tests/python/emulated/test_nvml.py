"""The watch of a GPU, `doctor` and `bench` with the real package of NVML, on GPUs of a stand-in of the driver."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import finished
from emulated_cuda import nvml
from emulated_cuda.machine import Machine

from emulated.bench import FEW, RUNNERS, run_on
from fastrnns_rs.machine import nvidia
from fastrnns_rs.machine.health import gpu

pytest.importorskip("pynvml")

IDLE, POWER_CAP, HW_THERMAL, BOARD_LIMIT, RELIABILITY = 0x01, 0x04, 0x40, 0x200, 0x400
NOT_SUPPORTED, NO_PERMISSION, NOT_LOADED, NOT_FOUND, LOST, RESET, MISMATCH = 3, 4, 9, 13, 15, 16, 18
DRIVER = "driver 595.71.05"

#: Watches GPUs, each until it is idle or lost, and prints what each is warned of.
WATCHES = """
import contextlib, json, sys, time
from types import SimpleNamespace
from fastrnns_rs.machine.warnings.gpu import Watch

names = json.loads(sys.argv[1])
environment = SimpleNamespace(gpus=[SimpleNamespace(uuid=one) for one in names])
with contextlib.ExitStack() as stack:
    watches = [stack.enter_context(Watch(environment, f"cuda:{at}", interval_s=0.001)) for at in range(len(names))]
    end = time.monotonic() + 1
    while time.monotonic() < end and any(one.tally().working < 100 and not one.tally().lost for one in watches):
        time.sleep(0.01)
tallies = [one.tally() for one in watches]
warnings = [[[one.code, one.evidence] for one in watch.warnings()] for watch in watches]
print(json.dumps({one: [found, tally.working] for one, found, tally in zip(names, warnings, tallies)}))
"""

#: Each has a hundred looks at work, if it is not lost before.
GPUS = {
    "GPU-cool": [],
    "GPU-hot": ["look 4", f"reasons {HW_THERMAL}", "clock 990", "temperature 91", "power 212000"],
    "GPU-capped": [f"reasons {POWER_CAP | BOARD_LIMIT}", "look 51", f"reasons {RELIABILITY}"],
    "GPU-cooling": [f"reasons {HW_THERMAL}", "after_ms 80", "reasons 0"],
    "GPU-silent": [f"reasons {HW_THERMAL}", f"fault nvmlDeviceGet[UTP]* {NO_PERMISSION}", "fault *ClockInfo 3"],
    "GPU-old": [f"reasons {POWER_CAP}", f"fault *EventReasons {NOT_FOUND}"],
    "GPU-forbidden": [f"fault *Reasons {NO_PERMISSION}"],
    "GPU-lost": [f"reasons {HW_THERMAL}", "look 21", f"fault nvmlDevice* {LOST}"],
    "GPU-reset": ["look 21", f"fault nvmlDevice* {RESET}"],
    "GPU-mismatch": ["look 21", f"fault nvmlDevice* {MISMATCH}"],
    "GPU-unloaded": ["look 21", f"fault nvmlDevice* {NOT_LOADED}"],
    "GPU-divided": [f"reasons {HW_THERMAL}", "mig MIG-first A100 MIG 1g.5gb", "mig MIG-second A100 MIG 1g.5gb"],
}


def watched(folder: Path, names: Sequence[str], lines: Sequence[str]) -> Any:
    command = [sys.executable, "-c", WATCHES, json.dumps(names)]
    done = finished(command, **nvml.environment(folder, lines))
    assert done.status == 0, done.stderr
    return done.json()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The warnings of each GPU, and the number of looks that found it at work."""
    lines = [
        line for name, about in GPUS.items() for line in (f"gpu {name} A100", *about, "look 101", f"reasons {IDLE}")
    ]
    names = [*GPUS, "MIG-second", "GPU-unknown"]
    return watched(tmp_path_factory.mktemp("watches"), names, [DRIVER, *lines])


def test_a_gpu_that_keeps_its_clock_has_no_warning(found: Any) -> None:
    assert found["GPU-cool"] == [[], 100]


def test_reasons_have_their_shares_and_ranges(found: Any) -> None:
    [[code, evidence]], working = found["GPU-hot"]
    assert (code, working) == ("gpu_throttled", 100)
    assert evidence == (
        "97 of 100 readings of the working GPU (hw_thermal_slowdown 97 %); "
        "SM clock 990 to 1980 MHz; temperature 45 to 91 °C; power 212 to 350 W"
    )
    [[_, evidence]], _ = found["GPU-capped"]
    assert "100 of 100 readings of the working GPU (sw_power_cap 50 %, board_limit 50 %, reliability 50 %)" in evidence


def test_reasons_change_with_time(found: Any) -> None:
    [[_, evidence]], _ = found["GPU-cooling"]
    # A hundred looks take longer than these milliseconds.
    assert 0 < int(evidence.split()[0]) < 100, evidence


def test_what_a_driver_does_not_tell_is_left_out(found: Any) -> None:
    assert found["GPU-silent"] == [
        [["gpu_throttled", "100 of 100 readings of the working GPU (hw_thermal_slowdown 100 %)"]],
        100,
    ]
    [[_, evidence]], _ = found["GPU-old"]
    assert evidence.startswith("100 of 100 readings of the working GPU (sw_power_cap 100 %)")
    assert found["GPU-forbidden"] == found["GPU-unknown"] == [[], 0]


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("lost", "GPU is lost"),
        ("reset", "GPU requires restart"),
        ("mismatch", "RM has detected an NVML/RM version mismatch."),
        ("unloaded", "Driver Not Loaded"),
    ],
)
def test_a_driver_that_goes_away_in_the_middle_is_told(name: str, evidence: str, found: Any) -> None:
    warnings, working = found[f"GPU-{name}"]
    assert warnings[-1] == ["gpu_lost", evidence]
    assert working == 20
    assert [one[0] for one in warnings[:-1]] == (["gpu_throttled"] if name == "lost" else [])


def test_an_instance_has_the_clocks_of_its_gpu(found: Any) -> None:
    [[code, evidence]], working = found["MIG-second"]
    assert code == "gpu_throttled"
    assert "(hw_thermal_slowdown 100 %); SM clock 1980 to 1980 MHz" in evidence
    # Both looks are at one GPU.
    assert 0 < working + found["GPU-divided"][1] <= 100


@pytest.mark.parametrize("code", [NOT_LOADED, MISMATCH])
def test_a_driver_that_does_not_start_is_no_warning(code: int, tmp_path: Path) -> None:
    assert watched(tmp_path, ["GPU-a"], [f"init {code}", "gpu GPU-a A100"]) == {"GPU-a": [[], 0]}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["init 18"], "nvidia-smi failed with status 18: Failed to initialize NVML: Driver/library version mismatch"),
        (["init 9"], "nvidia-smi failed with status 9: NVIDIA-SMI has failed because it couldn't communicate with"),
        ([f"fault nvmlDevice* {LOST}"], "nvidia-smi failed with status 15: Unable to determine the device handle"),
        ([f"fault *Reasons {NO_PERMISSION}"], "the driver does not report slowdowns"),
    ],
)
def test_doctor_says_why_it_skips_a_check(
    lines: Sequence[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvidia, "has_device", lambda: True)
    for name, value in nvml.environment(tmp_path, [DRIVER, "gpu GPU-a A100", *lines]).items():
        monkeypatch.setenv(name, value)
    checks = {one.id: one for one in gpu.checks(None)}
    assert checks["gpu.throttle"].status == "skipped"
    assert checks["gpu.throttle"].message.startswith(message)


#: Three GPUs: one gets lost, one is divided, and one is hot and does something else.
LINES = [
    DRIVER,
    *(f"gpu {nvml.uuid(0)} NVIDIA H200", "persistence 0", "look 4", f"fault nvmlDevice* {LOST}"),
    *("gpu GPU-divided NVIDIA H200", f"reasons {POWER_CAP}", f"mig {nvml.uuid(1, 'MIG')} NVIDIA H200 MIG 1g.18gb"),
    *(f"gpu {nvml.uuid(2)} NVIDIA H200", "clock 1200", "temperature 88", f"reasons {HW_THERMAL}"),
    "process 4711 /usr/bin/python3, training",
]
MACHINE = Machine(devices=3, clock="real", settings=["mig 1 1g.18gb"])


def test_doctor_looks_at_every_gpu(tmp_path: Path) -> None:
    done = run_on(tmp_path, "doctor", "--json", machine=MACHINE, **nvml.environment(tmp_path, LINES))
    checks = {one["id"]: one for one in done.json()["checks"]}
    assert checks["torch.import"]["status"] == "ok", checks["torch.import"]["message"]
    assert checks["torch.cuda"]["message"] == "torch finds 3 CUDA devices"
    assert (checks["gpu.present"]["value"], checks["gpu.present"]["message"]) == (3, ", ".join(["NVIDIA H200"] * 3))
    assert (checks["gpu.clocks"]["status"], checks["gpu.clocks"]["value"]) == ("warn", 1200)
    assert "GPU 0: SM clock 1980 of 1980 MHz, persistence mode off" in checks["gpu.clocks"]["message"]
    assert checks["gpu.throttle"]["status"] == "warn"
    assert checks["gpu.throttle"]["value"] == "hw_thermal_slowdown sw_power_cap"
    assert checks["gpu.other_processes"]["message"] == "4711 (/usr/bin/python3, training)"


def measured(folder: Path, devices: str, visible: str) -> Any:
    """The run file of a bench on devices of which CUDA sees these."""
    words = ("--runner-file", RUNNERS, "--group", "rnns", "--rnns", "sleeping", "--devices", devices, "--json")
    variables = {**nvml.environment(folder, LINES), "CUDA_VISIBLE_DEVICES": visible}
    done = run_on(folder, "bench", *FEW, *words, machine=MACHINE, **variables)
    assert done.status == 0, done.stderr
    return done.json()


def gpu_warnings(run: Any) -> list[tuple[str, str]]:
    return [(one["code"], one["evidence"]) for one in run["warnings"] if one["code"].startswith("gpu_")]


@pytest.mark.long("emulated")
def test_bench_watches_the_devices_that_are_visible(tmp_path: Path) -> None:
    run = measured(tmp_path, "cuda:0,cuda:1", f"{nvml.uuid(2)},{nvml.uuid(0)}")
    gpus = run["environment"]["gpus"]
    assert [one["uuid"] for one in gpus] == [nvml.uuid(2), nvml.uuid(0)]
    assert run["environment"]["driver_version"] == "595.71.05"
    assert (gpus[0]["temperature_c"], gpus[0]["power_limit_w"]) == (88, 700)
    found = gpu_warnings(run)
    # Before the run: of the first device what runs on it, and its heat; of the second that it sleeps.
    assert ("gpu_busy", "other processes: 4711 (/usr/bin/python3, training)") in found, found
    assert ("gpu_persistence", "SM clock 1980 of 1980 MHz, persistence mode off") in found
    before, during = (evidence for code, evidence in found if code == "gpu_throttled")
    assert before == "before the measurement: hw_thermal_slowdown"
    assert "(hw_thermal_slowdown 100 %); SM clock 1200 to 1200 MHz; temperature 88 to 88 °C" in during
    assert ("gpu_lost", "GPU is lost") in found


@pytest.mark.long("emulated")
def test_bench_watches_the_gpu_of_an_instance(tmp_path: Path) -> None:
    run = measured(tmp_path, "cuda:0", nvml.uuid(1, "MIG"))
    assert [(one["name"], one["uuid"]) for one in run["environment"]["gpus"]] == [
        ("Emulated GPU 1 MIG 1g.18gb", nvml.uuid(1, "MIG"))
    ]
    [(code, evidence)] = gpu_warnings(run)
    assert code == "gpu_throttled"
    assert "(sw_power_cap 100 %)" in evidence
