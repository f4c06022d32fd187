"""Warnings before a run: the CPUs of a made-up machine, and a GPU of a made-up `nvidia-smi`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from warned_runs import environment, gpu

from fastrnns_rs.machine import nvidia
from fastrnns_rs.machine.warnings import check_machine

IDLE = "NVIDIA H200, 345, 1980, Enabled, 0x0000000000000001"


def codes(found: list[Any]) -> list[str]:
    return [one.code for one in found]


def test_a_quiet_machine_has_nothing_to_tell(tmp_path: Path) -> None:
    assert check_machine(environment(), device="cpu", root=tmp_path) == []
    assert check_machine(environment(load_average_1m=None), device="cpu", root=tmp_path) == []


@pytest.mark.parametrize(
    ("changes", "code", "evidence"),
    [
        ({"num_threads": 3}, "more_threads_than_cores", "3 threads on 2 CPUs"),
        ({"load_average_1m": 2.01}, "machine_busy", "load average 2.01 on 4 CPUs (limit 2)"),
    ],
)
def test_threads_and_load(changes: dict[str, Any], code: str, evidence: str, tmp_path: Path) -> None:
    (found,) = check_machine(environment(**changes), device="cpu", root=tmp_path)
    assert (found.code, found.evidence) == (code, evidence)
    assert found.message
    assert found.hint
    assert check_machine(environment(num_threads=2, load_average_1m=2.0), device="cpu", root=tmp_path) == []


#: Control groups of a process, their files, and the warning about two threads.
GROUPS = {
    "2": ("0::/", {"cpu.max": "150000 100000"}, "2 threads on 2 CPUs, with the time of 1.5 CPUs"),
    "2, of a group above": ("0::/a/b", {"a/cpu.max": "50000 100000", "a/b/cpu.max": "max 100000"}, "of 0.5 CPUs"),
    "2, beside version 1": ("0::/a", {"unified/a/cpu.max": "100000 100000"}, "of 1 CPUs"),
    "2, enough": ("0::/", {"cpu.max": "200000 100000"}, None),
    "2, no limit": ("0::/", {"cpu.max": "max 100000"}, None),
    "1": ("4:memory:/m\n3:cpuacct,cpu:/x", {"cpu/cpu.cfs_quota_us": "40000", "cpu/cpu.cfs_period_us": "100000"}, "0.4"),
    "2, any name": ("0::/ü\udcff\x85", {"ü\udcff\x85/cpu.max": "50000 100000"}, "of 0.5 CPUs"),
    "1, no limit": ("3:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
    "damaged": ("0::/..\n:\ncpu\n1:cpu", {"cpu.max": "1", "cpu/cpu.cfs_quota_us": "x"}, None),
    "no period": ("0::/", {"cpu.max": f"{10**30} 0"}, None),
}


@pytest.mark.parametrize("name", GROUPS)
def test_the_time_of_a_container(name: str, tmp_path: Path) -> None:
    groups, files, evidence = GROUPS[name]
    texts = {"proc/self/cgroup": groups, **{f"sys/fs/cgroup/{path}": text for path, text in files.items()}}
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(os.fsencode(f"{text}\n"))
    found = check_machine(environment(num_threads=2), device="cpu", root=tmp_path)
    assert codes(found) == ([] if evidence is None else ["more_threads_than_cores"])
    assert all(str(evidence) in one.evidence for one in found)
    assert all(re.search(r" --threads \d RUNNER$|^Raise the limit", str(one.hint)) for one in found)
    assert check_machine(environment(num_threads=2), device="cuda", root=tmp_path) == []


def test_threads_do_not_matter_on_a_gpu(tmp_path: Path) -> None:
    crowded = environment(num_threads=64, load_average_1m=9.0)
    assert codes(check_machine(crowded, device="cuda", root=tmp_path)) == ["machine_busy"]


@pytest.mark.parametrize(("governor", "turbo", "expected"), [("powersave", "0", 2), ("performance", "1", 0)])
def test_governor_and_turbo(governor: str, turbo: str, expected: int, tmp_path: Path) -> None:
    folder = tmp_path / "sys/devices/system/cpu"
    for path, text in ((folder / "cpu0/cpufreq/scaling_governor", governor), (folder / "intel_pstate/no_turbo", turbo)):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    found = check_machine(environment(), device="cpu", root=tmp_path)
    assert codes(found) == ["governor", "turbo"][:expected]
    assert [one.evidence.split()[-1] for one in found] == ["powersave", "on"][:expected]


def test_only_governors_of_usable_cpus_count(tmp_path: Path) -> None:
    for cpu, text in enumerate(("performance", "powersave")):
        path = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    assert check_machine(environment(num_threads=1, cpu_affinity=[0]), device="cpu", root=tmp_path) == []
    (found,) = check_machine(environment(num_threads=1, cpu_affinity=[1]), device="cpu", root=tmp_path)
    assert found.evidence == "governor powersave"


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts an `nvidia-smi` first on PATH that answers for GPU-1 only."""

    def put(state: str = IDLE, apps: str = "", load: str = "0") -> None:
        script = tmp_path / "nvidia-smi"
        script.write_text(f"""#!/bin/sh
[ "$3" = --id=GPU-1 ] || {{ echo 'No devices were found'; exit 6; }}
case "$1" in
  --query-gpu=utilization.gpu) echo '{load}' ;;
  --query-gpu=*) echo '{state}' ;;
  --query-compute-apps=*) echo '{apps}' ;;
esac
""")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return put


GPUS = environment(gpus=[gpu("GPU-0"), gpu("GPU-1", 1)])


def gpu_warnings(tmp_path: Path, device: str = "cuda:1") -> list[Any]:
    return check_machine(GPUS, device=device, root=tmp_path / "no")


def test_an_idle_gpu_has_nothing_to_tell(smi: Any, tmp_path: Path) -> None:
    smi()
    assert gpu_warnings(tmp_path) == []


@pytest.mark.parametrize(
    ("answers", "code", "evidence"),
    [
        ({"apps": "77, /opt/train"}, "gpu_busy", "77 (/opt/train)"),
        ({"load": "11"}, "gpu_busy", "11 %"),
        ({"state": IDLE.replace("Enabled", "Disabled")}, "gpu_persistence", "345 of 1980 MHz"),
        ({"state": IDLE.replace("0001", "0040")}, "gpu_throttled", "hw_thermal_slowdown"),
    ],
)
def test_a_gpu_that_is_not_ready(answers: dict[str, str], code: str, evidence: str, smi: Any, tmp_path: Path) -> None:
    smi(**answers)
    (found,) = gpu_warnings(tmp_path)
    assert found.code == code
    assert evidence in found.evidence
    assert found.hint


def test_listed_processes_and_their_load_are_one_warning(smi: Any, tmp_path: Path) -> None:
    smi(apps="77, /opt/train", load="100")
    assert codes(gpu_warnings(tmp_path)) == ["gpu_busy"]
    smi(load="10")
    assert gpu_warnings(tmp_path) == []
    smi(load="[N/A]", state="vGPU, [N/A], [N/A], [N/A], [N/A]")
    assert gpu_warnings(tmp_path) == []


@pytest.mark.parametrize("device", ["cpu", "cuda", "cuda:0", "cuda:2"])
def test_other_gpus_are_not_looked_at(device: str, smi: Any, tmp_path: Path) -> None:
    smi(apps="77, /opt/train")
    assert gpu_warnings(tmp_path, device) == []


def test_without_nvidia_smi_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert gpu_warnings(tmp_path) == []
    assert nvidia.utilization("GPU-1") is None
