"""`fastrnns-rs doctor`: the document, each check, and where an option's value comes from."""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from unittest.mock import Mock

import click
import jsonschema
import pytest
from conftest import ROOT, run_cli
from test_planning import CPU, GPU

from fastrnns_rs.cli import VERBS
from fastrnns_rs.documents.codec import from_plain, to_plain
from fastrnns_rs.documents.diagnosis import CheckId, Diagnosis
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.machine import environment, nvidia
from fastrnns_rs.machine.health import check_all, gpu
from fastrnns_rs.machine.health.software import torch_cuda
from fastrnns_rs.processes.listener import Answer

IDLE = "NVIDIA H200, 345, 1980, Enabled, 0x0000000000000001"


def validate(document: Any) -> None:
    schema = json.loads((ROOT / "docs" / "schemas" / "doctor.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert to_plain(from_plain(Diagnosis, document)) == document
    assert [check["id"] for check in document["checks"]] == list(get_args(CheckId))


def by_id(document: Any) -> dict[str, Any]:
    return {check["id"]: check for check in document["checks"]}


def by_key(document: Any) -> dict[str, tuple[Any, str]]:
    return {entry["key"]: (entry["value"], entry["source"]) for entry in document["config"]}


@pytest.fixture
def broken_torch(tmp_path: Path) -> dict[str, str]:
    """Variables with which torch cannot be imported, which also makes the command quick."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise ImportError('libtorch.so: \\x1b[31mno such file')\n")
    return {"PYTHONPATH": str(tmp_path)}


@pytest.fixture
def fake_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Puts an `nvidia-smi` first on PATH that answers each query with what a test says."""

    def put(gpus: str = IDLE, apps: str = "", *, old: bool = False) -> Path:
        (tmp_path / "gpus").write_text(gpus)
        (tmp_path / "apps").write_text(apps)
        reasons = "throttle" if old else "event"
        script = tmp_path / "nvidia-smi"
        script.write_text(f"""#!/bin/sh
[ "$2" = --format=csv,noheader,nounits ] || exit 64
case "$1" in
  --query-gpu=name,*clocks_{reasons}_reasons.active) cat '{tmp_path}/gpus' ;;
  --query-gpu=name,*) echo 'Field "clocks_event_reasons.active" is not a valid field to query.'; echo; exit 2 ;;
  --query-gpu=uuid,*) echo 'GPU-0, 570.10, 345, [N/A], 31' ;;
  --query-compute-apps=*) cat '{tmp_path}/apps' ;;
  *) exit 64 ;;
esac
""")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        return script

    return put


def test_the_document_is_what_its_schema_says(anywhere: Path) -> None:
    done = run_cli("doctor", "--json")
    assert done.status == 0, done.stderr
    assert done.stderr == "doctor: checking machine, profilers and configuration\n"
    document = done.json()
    validate(document)
    assert by_id(document)["torch.import"]["status"] == "ok"
    assert document["environment"]["torch_version"] == by_id(document)["torch.import"]["value"]
    assert document["noise_floor"] is None
    assert all(check["message"] for check in document["checks"])
    assert all(check["hint"] for check in document["checks"] if check["status"] in {"warn", "fail"})
    assert document["ok"] is all(check["status"] != "fail" for check in document["checks"])


def test_torch_that_cannot_be_imported_is_a_failed_check(anywhere: Path, broken_torch: dict[str, str]) -> None:
    done = run_cli("doctor", "--json", **broken_torch)
    assert done.status == 0, done.stderr
    document = done.json()
    validate(document)
    assert document["environment"] is None
    assert document["ok"] is False
    checks = by_id(document)
    assert checks["torch.import"]["status"] == "fail"
    assert "ImportError: libtorch.so" in checks["torch.import"]["message"]
    assert checks["torch.cuda"]["status"] == checks["cpu.threads"]["status"] == "skipped"
    for flags in ([], ["--json"], ["--format", "json"]):
        assert run_cli("doctor", "--strict", *flags, **broken_torch).status == 1


def test_a_torch_that_is_not_installed_is_a_failed_check() -> None:
    answer = Answer({"status": "failed"}, "answered", "ModuleNotFoundError: No module named 'torch'", "")
    with pytest.raises(FastrnnsError) as raised:
        environment.probe("auto", "float32", executor=lambda _starts: [answer])
    found = {check.id: check for check in check_all(raised.value, Path())}["torch.import"]
    hint = "pip install torch torchvision"
    assert (found.status, str(found.hint).endswith(hint)) == ("fail", True)
    assert "'torch'" in found.message


def test_the_table_has_a_line_a_check_and_what_is_set(
    anywhere: Path, broken_torch: dict[str, str], fake_smi: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_smi()
    monkeypatch.delenv("FASTRNNS_NO_HISTORY")
    # Odd bytes of a process, or of a variable, do not reach the terminal.
    (anywhere / "apps").write_bytes(b"77, \x1b[2Jname\xff\n")
    variables = {"FASTRNNS_BENCH_SEED": "7", "FASTRNNS_BENCH_SEP": "\x1b[31m\udcff\u202e|é"}
    done = run_cli("doctor", **variables, PYTHONIOENCODING="ascii", **broken_torch)
    assert done.status == 0, done.stderr
    checks, profilers, noise, config, counts = done.stdout.split("\n\n")
    assert noise == "noise floor: not measured"
    starts = [line.split()[0] for line in profilers.splitlines() if not line.startswith(" ")]
    assert starts == ["profiler", "nsys", "nvprof", "torch"]
    assert all(one in checks for one in get_args(CheckId))
    assert counts.endswith(" skipped\n")
    assert re.search("\n  hint: .*'import torch'\n", checks)
    assert [line.split() for line in config.splitlines()] == [
        ["option", "source", "value"],
        ["bench.seed", "environment", "7"],
        ["bench.sep", "environment", r"\x1b[31m\u{dcff}\u{202e}|é"],
    ]
    assert r"77 (\x1b[2Jname" in checks
    assert "\x1b" not in done.stdout
    done = run_cli("doctor", "--json", FASTRNNS_BENCH_SEP="\x1b\udcff", **broken_torch)
    assert "\x1b" not in done.stdout
    document = done.json()
    validate(document)
    assert by_key(document)["bench.sep"] == ("\x1b\\udcff", "environment")
    assert by_id(document)["gpu.other_processes"]["value"] == 1


def test_each_value_tells_its_source(anywhere: Path, broken_torch: dict[str, str]) -> None:
    (anywhere / "pyproject.toml").write_text("""
[tool.fastrnns-rs.bench]
rnns = ["cudnn", "py"]
hiddenSize = 5
seed = 1
quick = true
[tool.fastrnns-rs.doctor]
strict = false
""")
    variables = {"FASTRNNS_BENCH_SEED": "2", "FASTRNNS_BENCH_CNNS": "resnet18,resnet50", "FASTRNNS_BENCH_QUIET": "1"}
    done = run_cli("doctor", "--json", "--color", "never", FASTRNNS_SHOW_COLOR="always", **variables, **broken_torch)
    assert done.status == 0, done.stderr
    # It is not the variable of this command.
    assert done.stderr.startswith("doctor: checking machine, profilers and configuration\n")
    document = done.json()
    validate(document)
    config = by_key(document)
    expected = {
        "bench.rnns": ("cudnn py", "pyproject"),
        "bench.hidden-size": ("5", "pyproject"),
        "bench.quick": ("True", "pyproject"),
        "bench.seed": ("2", "environment"),
        "bench.cnns": ("resnet18 resnet50", "environment"),
        "bench.nloops": (None, "default"),
        "bench.device": ("auto", "default"),
        "doctor.strict": ("False", "pyproject"),
        "doctor.json": ("True", "flag"),
        "doctor.color": ("never", "flag"),
        "doctor.quiet": ("False", "default"),
        "bench.quiet": ("True", "environment"),
        "bench.no-progress": ("False", "default"),
        "show.color": ("always", "environment"),
        "list.json": ("False", "default"),
    }
    assert {key: config[key] for key in expected} == expected
    # Those of verbs that cannot do without an argument too.
    assert set(config) == {flag for verb in VERBS for flag in options_of(verb)}


def options_of(verb: str) -> list[str]:
    command = importlib.import_module(f"fastrnns_rs.cli.{verb}").command
    names = [param.opts[-1] for param in command.params if isinstance(param, click.Option) and not param.hidden]
    return [f"{verb}.{name.removeprefix('--')}" for name in names]


@pytest.mark.parametrize(
    ("parts", "present"),
    [
        ([], False),
        (["dev/nvidiactl", "dev/nvidia-uvm", "usr/lib/libcuda.so.1", "proc/driver/nvidia/version"], False),
        (["dev/nvidia0"], True),
        (["proc/driver/nvidia/gpus/0000:18:00.0"], True),
    ],
)
def test_a_library_is_no_device(parts: list[str], present: bool, tmp_path: Path) -> None:
    for part in parts:
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).touch()
    assert nvidia.has_device(tmp_path) is present
    assert nvidia.is_loaded(tmp_path) is ("proc/driver/nvidia/version" in parts)


OLD = "CUDA initialization: The NVIDIA driver on your system is too old (found version 12020). Please update"
NONE_FOUND = "Error 802: system not yet initialized\nand more"


@pytest.mark.parametrize(
    "case",
    [
        ("13.2", False, None, OLD, "no NVIDIA driver is loaded"),
        ("13.2", True, None, OLD, "the NVIDIA driver is too old for torch"),
        ("13.2", True, "", NONE_FOUND, "CUDA_VISIBLE_DEVICES= hides all GPUs"),
        ("13.2", True, "9", "No CUDA GPUs are available", "CUDA_VISIBLE_DEVICES=9 hides all GPUs"),
        ("13.2", True, None, NONE_FOUND, "torch cannot use the NVIDIA GPU: Error 802: system not yet"),
        (None, True, None, OLD, "is built without CUDA"),
    ],
)
@pytest.mark.parametrize("heard", [True, False])
def test_no_gpu_and_an_old_driver_are_told_apart(
    case: tuple[str | None, bool, str | None, str, str], heard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda, device, visible, said, reason = case
    probe = pytest.importorskip("fastrnns_rs.worker.jobs.probe")
    monkeypatch.setattr("torch.version.cuda", cuda)
    monkeypatch.setattr("torch.cuda.init", Mock(side_effect=None if heard else RuntimeError(said)))
    monkeypatch.setattr(nvidia, "has_device", lambda: device)
    monkeypatch.setattr(nvidia, "is_loaded", lambda: device)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    found = probe._no_cuda_reason([said] if heard else [])
    assert reason in found
    assert "\n" not in found


def test_torch_and_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "has_device", lambda: True)
    no_kernel = replace(GPU, dtype_problem="no kernel image")
    old = replace(CPU, no_cuda_reason="the NVIDIA driver is too old")
    not_built = replace(CPU, cuda_version=None, no_cuda_reason="torch is built without CUDA")
    for facts, hidden, status, message, hint in [
        (GPU, False, "ok", "torch finds 2 CUDA devices", "None"),
        (no_kernel, False, "fail", "cuda does not compute: no kernel image", "built for this GPU"),
        (replace(GPU, device_problem="busy"), False, "fail", "cuda does not compute: busy", "--device cpu"),
        (old, False, "fail", old.no_cuda_reason, "driver"),
        (not_built, False, "warn", not_built.no_cuda_reason, "built for CUDA"),
        (old, True, "warn", old.no_cuda_reason, "CUDA_VISIBLE_DEVICES"),
    ]:
        monkeypatch.setattr(nvidia, "is_hidden", lambda hidden=hidden: hidden)
        found = torch_cuda(facts)
        assert (found.status, found.value, found.message) == (status, facts.cuda_version, message)
        assert hint in str(found.hint)
    monkeypatch.setattr(nvidia, "has_device", lambda: False)
    found = torch_cuda(CPU)
    assert (found.status, found.message, found.hint) == ("skipped", CPU.no_cuda_reason, None)


def test_an_idle_gpu_is_fine(fake_smi: Callable[..., Path]) -> None:
    fake_smi()
    found = gpu.checks(None)
    assert [one.status for one in found] == ["ok"] * 4
    assert [one.value for one in found] == [1, 345, "none", 0]
    assert (found[0].message, found[1].unit) == ("NVIDIA H200", "MHz")
    assert found[1].message == "SM clock 345 of 1980 MHz, persistence mode on"


def test_two_gpus_of_an_old_driver_of_which_one_is_hot(fake_smi: Callable[..., Path]) -> None:
    hot = "Tesla V100, 900, 1530, Disabled, 0x0000000000000024"
    fake_smi(f"{IDLE}\n{hot}\n", "77, /opt/train, of, commas\n78, [Not Found]\n77, again\n", old=True)
    present, clocks, throttle, others = gpu.checks(None)
    assert (present.value, present.message) == (2, "NVIDIA H200, Tesla V100")
    assert (clocks.status, clocks.value) == ("warn", 345)
    assert "GPU 1: SM clock 900 of 1530 MHz, persistence mode off" in clocks.message
    assert (throttle.status, throttle.value) == ("warn", "sw_power_cap sw_thermal_slowdown")
    assert throttle.message == "GPU 0: no slowdown; GPU 1: sw_power_cap sw_thermal_slowdown"
    assert (others.status, others.value) == ("warn", 3)
    assert "77 (/opt/train, of, commas)" in others.message


@pytest.mark.parametrize("blank", ["[N/A]", "[Not Supported]", "[Unknown Error]", "N/A"])
def test_what_a_driver_does_not_tell_is_unknown(blank: str, fake_smi: Callable[..., Path]) -> None:
    fake_smi(f"GRID vGPU, {blank}, {blank}, {blank}, {blank}\n", f"{blank}\n{blank}, {blank}\n")
    present, clocks, throttle, others = gpu.checks(None)
    assert present.status == "ok"
    assert (clocks.status, clocks.value, clocks.unit) == ("skipped", None, None)
    assert clocks.message == "SM clock unknown, persistence mode unknown"
    assert throttle.status == "skipped"
    assert others.value == 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo 'NVIDIA-SMI has failed because'; exit 9", "failed with status 9: NVIDIA-SMI has"),
        ("exit 9", "failed with status 9: it says nothing"),
        ("echo 'No devices were found'", "lists no GPU"),
        ("sleep 3", "timed out: 0.3 s"),
    ],
)
def test_a_broken_nvidia_smi_is_told(
    body: str, message: str, fake_smi: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_smi().write_text(f"#!/bin/sh\n{body.replace('sleep', 'exec sleep')}\n")
    if "sleep" in body:
        # Only here: on a busy machine a shell takes as long to start.
        monkeypatch.setattr(nvidia, "_TIMEOUT_S", 0.3)
    monkeypatch.setattr(nvidia, "has_device", lambda: True)
    present, *rest = gpu.checks(None)
    assert present.status == "ok"
    assert all(check.status == "skipped" and message in check.message for check in rest)
    monkeypatch.setattr(nvidia, "has_device", lambda: False)
    assert {(check.status, check.message) for check in gpu.checks(None)} == {("skipped", "no GPU")}


def test_without_nvidia_smi_torch_names_the_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    present, *rest = gpu.checks(replace(GPU, gpus=[{"name": "NVIDIA A100"}]))
    assert (present.value, present.message) == (1, "NVIDIA A100")
    assert {check.message for check in rest} == {"cannot run nvidia-smi: No such file or directory"}
