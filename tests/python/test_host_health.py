"""Checks of the host: what its kernel, its memory and its disks report."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from test_planning import CPU

from fastrnns_rs.machine import environment, nvidia
from fastrnns_rs.machine.health import host
from fastrnns_rs.machine.health.software import build_profile
from fastrnns_rs.processes.worker_setting import Setting

CPUS = "sys/devices/system/cpu"
PARANOID = "proc/sys/kernel/perf_event_paranoid"


def governors(*names: str) -> dict[str, str]:
    return {f"{CPUS}/cpu{index}/cpufreq/scaling_governor": f"{name}\n" for index, name in enumerate(names)}


@pytest.mark.parametrize(
    ("check", "files", "status", "value"),
    [
        (partial(host.governor, [0, 1]), {}, "skipped", None),
        (partial(host.governor, [0, 1]), governors("performance", "performance"), "ok", "performance"),
        (partial(host.governor, [0, 1]), governors("performance", "schedutil"), "warn", "performance schedutil"),
        (partial(host.governor, [0]), governors("performance", "schedutil"), "ok", "performance"),
        (partial(host.governor, [1]), governors("performance", "schedutil"), "warn", "schedutil"),
        (host.turbo, {f"{CPUS}/intel_pstate/no_turbo": "0\n"}, "warn", "on"),
        (host.turbo, {f"{CPUS}/intel_pstate/no_turbo": "1\n"}, "ok", "off"),
        (host.turbo, {f"{CPUS}/cpufreq/boost": "1\n"}, "warn", "on"),
        (host.turbo, {f"{CPUS}/cpufreq/boost": "0\n"}, "ok", "off"),
        (host.turbo, {f"{CPUS}/cpufreq/boost": ""}, "skipped", None),
        (host.turbo, {}, "skipped", None),
        (host.perf_paranoid, {PARANOID: "-1\n"}, "ok", -1),
        (host.perf_paranoid, {PARANOID: "2\n"}, "ok", 2),
        (host.perf_paranoid, {PARANOID: "3\n"}, "warn", 3),
        (host.perf_paranoid, {PARANOID: "\xff"}, "skipped", None),
        (host.perf_paranoid, {}, "skipped", None),
    ],
)
def test_what_the_kernel_tells(
    check: Callable[[Path], Any], files: dict[str, str], status: str, value: Any, tmp_path: Path
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1"))
    found = check(tmp_path)
    assert (found.status, found.value) == (status, value)
    assert (found.hint is None) is (status != "warn")


def test_a_run_records_the_governors_of_its_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "governors", lambda cpus: f"of {cpus}")
    found = environment.describe(CPU, Setting(affinity=(5, 3)))
    assert (found.cpu_affinity, found.cpu_governor) == ([3, 5], "of [3, 5]")


def test_marks_of_our_processes_are_no_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mark of `run_command` differs in each command."""
    monkeypatch.setenv("FASTRNNS_COMMAND", "77-1")
    monkeypatch.setenv("FASTRNNS_HISTORY", "elsewhere")
    found = environment.describe(CPU).variables
    assert "FASTRNNS_HISTORY" in found
    assert found.keys().isdisjoint({"FASTRNNS_COMMAND", "FASTRNNS_WORKER"})


def test_a_number_of_a_gpu_is_finite() -> None:
    texts = ("1980", "35.5", "[N/A]", "", "nan", "inf", "-inf")
    assert [nvidia.number(text) for text in texts] == [1980, 35.5, None, None, None, None, None]


def test_a_file_of_the_kernel_need_not_be_text(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_bytes(b"model name\t: Caf\xe9\n")
    assert environment._read(str(path)) == "model name\t: Caf\ufffd"


def test_numbers_of_the_host() -> None:
    assert [build_profile(one).status for one in ("release", "debug")] == ["ok", "warn"]
    assert [host.clock_resolution(one).status for one in (1, 100, 101)] == ["ok", "ok", "warn"]
    assert [host.load(average, 4).status for average in (0.0, 2.0, 2.01)] == ["ok", "ok", "warn"]
    assert [host.threads(CPU, cpus).status for cpus in (1, 2, 3)] == ["warn", "ok", "ok"]
    assert "--threads 1" in host.threads(CPU, 1).hint


def test_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = host.disk(tmp_path / "a" / "b")
    assert found.status in {"ok", "warn"}
    assert found.value > 0
    assert not (tmp_path / "a").exists()
    monkeypatch.setattr(host, "_LEAST_FREE_BYTES", found.value * 2)
    assert host.disk(tmp_path).status == "warn"
    (tmp_path / "file").touch()
    assert host.disk(tmp_path / "file" / "captures").status == "fail"
    monkeypatch.setattr(os, "access", lambda _path, mode: mode == os.F_OK)
    found = host.disk(tmp_path)
    assert (found.status, found.value, str(tmp_path) in found.message) == ("fail", None, True)
