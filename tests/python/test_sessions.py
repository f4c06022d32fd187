"""Sessions of a run, and what each process records of the machine while it ran."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import TINY, run_cli
from run_files import process, result, run

import fastrnns_rs
from fastrnns_rs.documents.run_file import Run, Session
from fastrnns_rs.errors import UsageError
from fastrnns_rs.machine import environment, session
from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.runners.runner import Source
from fastrnns_rs.runners.source_hash import source_sha256
from fastrnns_rs.worker import load_meter
from fastrnns_rs.worker.load_meter import LoadMeter

STAT = """cpu  10 0 10 100 0 0 0 70 0 0
cpu0 5 0 5 50 0 0 0 30 0 0
cpu1 5 0 5 50 0 0 0 40 0 0
cpu10 5 0 5 50 0 0 0 9 0 0
intr 1
"""
CPUINFO = (
    "processor\t: 0\ncpu MHz\t\t: 2000.5\n\nprocessor\t: 1\ncpu MHz\t\t: 3000.5\n\nprocessor\t: 2\ncpu MHz\t\t: 9\n"
)


def sessions(*names: str) -> list[Session]:
    return [Session(session_id=one, started_utc="2026-11-24T00:00:00Z", machine_id=None, boot_id=None) for one in names]


def test_each_process_records_its_session_and_its_load(tmp_path: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    output = tmp_path / "run.json"
    words = [
        "--device",
        "cpu",
        "--group",
        "rnns",
        "--rnns",
        "cudnn",
        "--processes",
        "2",
        "--nloops",
        "20",
        "--warmup",
        "2",
        *TINY,
    ]
    assert run_cli("bench", *words, "--output", output).status == 0
    found = Run.load(output)
    [started] = found.sessions
    assert found.created_utc == started.started_utc
    assert started.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    [row] = found.results
    assert row.source_sha256 is not None
    for one in row.processes:
        assert one.session == started.session_id
        assert before <= datetime.fromisoformat(one.started_utc or "") <= datetime.now(UTC)
        load = one.load
        assert load is not None
        assert load.wall_ns >= one.timed_loop_ns > 0
        # More threads than CPUs cannot run.
        assert 0 < load.cpu_ns <= load.wall_ns * (os.cpu_count() or 1) * 1.1
        assert min(load.voluntary_switches, load.involuntary_switches) >= 0


def test_a_load_is_that_of_the_time_between() -> None:
    meter = LoadMeter()
    begin = time.process_time()
    while time.process_time() < begin + 0.1:
        pass
    time.sleep(0.05)
    found = meter.result()
    assert found["wall_ns"] >= 0.15e9
    assert 0.1e9 <= found["cpu_ns"] <= found["wall_ns"]
    assert found["voluntary_switches"] >= 1


def test_stolen_time_is_that_of_the_cpus_of_the_worker() -> None:
    tick = 10**9 // os.sysconf("SC_CLK_TCK")
    assert load_meter._stolen_ns(STAT, [0, 1]) == 70 * tick
    assert load_meter._stolen_ns(STAT, [1]) == 40 * tick
    assert load_meter._stolen_ns("cpu0 1 2 3\n", [0]) is None
    assert load_meter._stolen_ns("", [0]) is None


def test_a_frequency_is_the_mean_of_the_cpus_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {"/proc/cpuinfo": CPUINFO}
    monkeypatch.setattr(load_meter, "_text", lambda path: shown.get(str(path), ""))
    assert load_meter._mean_mhz([0, 1]) == 2500.5
    assert load_meter._mean_mhz([7]) is None
    shown["/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"] = "1800000\n"
    assert load_meter._mean_mhz([0]) == 1800


@pytest.mark.parametrize("text", ["Unknown", "", "nan", "1.2.3"])
def test_a_frequency_that_the_kernel_does_not_know_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {"/proc/cpuinfo": f"processor\t: 0\ncpu MHz\t\t: {text}\n\nprocessor\t: 1\ncpu MHz\t\t: 800.25\n"}
    monkeypatch.setattr(load_meter, "_text", lambda path: shown.get(str(path), ""))
    assert (load_meter._mean_mhz([0]), load_meter._mean_mhz([0, 1])) == (None, 800.25)


def test_equal_code_has_equal_hashes(tmp_path: Path) -> None:
    first, second = (Source(module="__main__", file=str(tmp_path / folder / "mine.py")) for folder in ("a", "b"))
    for one in (first, second):
        Path(one.file).parent.mkdir()
        Path(one.file).write_text("value = 1\n")
    assert source_sha256(first) == source_sha256(second)
    Path(second.file).write_text("value = 2\n")
    assert source_sha256(first) != source_sha256(second)
    assert source_sha256(replace(first, file=str(tmp_path / "none.py"))) is None
    # Names of files are bytes, and need not be valid text.
    odd = Path(second.file).rename(tmp_path / "b" / os.fsdecode(b"mine\xff.py"))
    assert source_sha256(replace(second, file=str(odd))) is not None
    models = Path(fastrnns_rs.__file__).parent / "models"
    ours = [Source(module=f"fastrnns_rs.models.{name}", file=str(models / f"{name}.py")) for name in ("lstm", "cnn")]
    assert source_sha256(ours[0]) == source_sha256(ours[1]) is not None


def test_the_machine_is_named_by_a_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    monkeypatch.setattr(session, "_MACHINE_ID", tmp_path / "machine-id")
    first, second = session.new_session(), session.new_session()
    assert first.session_id != second.session_id
    assert first.machine_id == second.machine_id
    assert "0123456789" not in (first.machine_id or "")
    monkeypatch.setattr(session, "_MACHINE_ID", tmp_path / "none")
    assert session.new_session().machine_id is None


def test_settings_of_the_system_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {
        "/proc/cpuinfo": "model name\t: a processor\nmicrocode\t: 0x2b\n",
        "/proc/sys/kernel/randomize_va_space": "2",
        "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    }
    monkeypatch.setattr(environment, "_read", shown.get)
    names = {
        "KMP_BLOCKTIME",
        "GOMP_SPINCOUNT",
        "ONEDNN_MAX_CPU_ISA",
        "MALLOC_ARENA_MAX",
        "PYTHONMALLOC",
        "PYTHONDEVMODE",
    }
    names |= {"CUBLAS_WORKSPACE_CONFIG", "GLIBC_TUNABLES", "NCCL_ALGO", "NVIDIA_TF32_OVERRIDE"}
    folders = {"CUDA_CACHE_PATH", "TORCH_EXTENSIONS_DIR", "TRITON_CACHE_DIR"}
    for name in names | folders:
        monkeypatch.setenv(name, "1")
    facts = Facts(python_version="3", torch_version="2", num_threads=1, device="cpu", cuda_device_count=0)
    found = environment.describe(facts)
    assert (found.cpu_microcode, found.aslr, found.transparent_huge_pages) == ("0x2b", 2, "madvise")
    assert names <= {*found.variables}
    assert not folders & {*found.variables}
    monkeypatch.setattr(environment, "_read", lambda _path: None)
    found = environment.describe(facts)
    assert (found.cpu_microcode, found.aslr, found.transparent_huge_pages) == (None, None, None)


@pytest.mark.parametrize(
    ("listed", "named", "message"),
    [
        (["one", "one"], "one", r"duplicate .*sessions\[1\]\.session_id"),
        (["one"], "other", r"results\[0\]\.processes\[0\]\.session is 'other', which is not in sessions"),
    ],
)
def test_a_process_is_of_a_session_of_its_run(listed: list[str], named: str, message: str) -> None:
    row = replace(result(processes=0), processes=[replace(process(0, [10, 10], None), session=named)])
    found = replace(run([row]), sessions=sessions(*listed))
    with pytest.raises(UsageError, match=message):
        found.check()
