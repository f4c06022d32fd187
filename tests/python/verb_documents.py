"""Documents of verbs other than `bench` and `compare`, for their screens."""

from __future__ import annotations

import json
from pathlib import Path

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.diagnosis import Check as Health
from fastrnns_rs.documents.diagnosis import ConfigEntry, Diagnosis, ProfilerEntry
from fastrnns_rs.documents.history import History, KeptRun
from fastrnns_rs.documents.listing import Catalogue, GroupEntry, RunnerEntry
from fastrnns_rs.documents.verification import Check, Verification, Verified

_DOCUMENTS = Path(__file__).parents[1] / "data" / "documents"


def check(name: str, error: float = 5.7e-07, *, ok: bool = True) -> Check:
    return Check(
        name=name,
        ok=ok,
        max_absolute=error,
        max_relative=2 * error,
        tolerance_absolute=1e-05,
        tolerance_relative=1e-04,
        worst_index=[2, 1, 3],
        shape=[12, 3, 8],
        expected_shape=[12, 3, 8] if ok else [12, 3, 16],
    )


def verified(runner: str, status: str = "ok", reason: str | None = None, *, checks: int = 3) -> Verified:
    names = ("output", "state[0]", "gradient:weight_ih_l0")[:checks]
    found = [check(name, ok=status != "failed" or name != "output") for name in names]
    return Verified(
        runner=runner,
        reference="nn.LSTM" if checks else None,
        dtype="float32",
        status=status,  # type: ignore[arg-type]
        reason=reason,
        checks=found,
    )


def verification() -> Verification:
    """A runner of each status, two with the same remark."""
    wrong = "output: -4 at [2, 1, 3], expected 1; 5 of 6 elements are wrong (call 1); state[0]: it is missing (call 1)"
    no_gpu = "runner 'cudagraph' runs on cuda only"
    results = [
        verified("cudnn"),
        verified("jit_premul_bias"),
        verified("cudnn_layernorm", reason="no backward: outputs and states only", checks=2),
        verified("mine", "failed", wrong),
        verified("vl_py", reason="no backward: outputs and states only", checks=2),
        verified("cudagraph", "skipped", no_gpu, checks=0),
    ]
    return Verification(warnings=[], ok=False, results=results)


def diagnosis() -> Diagnosis:
    """A machine with a GPU, a problem of each kind, and configured options."""
    checks = [
        health("torch.import", "ok", "torch can be imported", "2.15.0+cu132"),
        health("torch.cuda", "fail", "the NVIDIA driver is too old for torch", hint="Update the driver."),
        health("clock.resolution", "ok", "resolution of the timer on a CPU", 10, "ns"),
        health("cpu.governor", "skipped", "the kernel reports no governor"),
        health(
            "cpu.load",
            "warn",
            "load average of the last minute; limit 1 on 2 CPUs",
            8.33,
            hint="Stop other programs, then check the load: fastrnns-rs doctor",
        ),
        health("gpu.present", "skipped", "no GPU"),
        health("gpu.clocks", "skipped", "no GPU"),
        health("disk.output", "ok", "free for captures: /home/someone/.local/share/captures", 77639364608, "bytes"),
    ]
    nsys = "/opt/nvidia/nsight-systems/2026.2.1/target-linux-x64/nsys"
    profilers = [
        ProfilerEntry(
            name="nsys", path=nsys, version="2026.2.1.210", status="usable", capabilities=["cuda", "nvtx"], reason=None
        ),
        ProfilerEntry(
            name="nvprof", status="missing", reason="Install a CUDA toolkit before 13, or use `nvprof_path`."
        ),
    ]
    config = [
        ConfigEntry(key="bench.rnns", value="cudnn py", source="pyproject"),
        ConfigEntry(key="profile.output-dir", value="/data/" + "captures/" * 9, source="environment"),
        ConfigEntry(key="bench.seed", value="0", source="default"),
    ]
    return Diagnosis(
        warnings=[], ok=False, environment=None, checks=checks, profilers=profilers, noise_floor=None, config=config
    )


def health(
    name: str,
    status: str,
    message: str,
    value: str | float | None = None,
    unit: str | None = None,
    hint: str | None = None,
) -> Health:
    return Health(id=name, status=status, value=value, unit=unit, message=message, hint=hint)  # type: ignore[arg-type]


def catalogue() -> Catalogue:
    """Runners with few and with many modes, with a package, and with a missing requirement."""
    runners = [
        runner("cudnn", "rnns", "lstm", "nn.LSTM as torch runs it, on cuDNN", honours=["bidirectional", "proj_size"]),
        runner("resnet18", "cnns", "resnet", "torchvision's resnet18", missing=["torchvision"]),
        runner("cudagraph", None, "lstm", "nn.LSTM replayed from CUDA graphs", lacks=["amp"], devices=["cuda"]),
        runner("a_runner_of_a_package", None, "custom", "a long sentence " * 6, package="fast-cells 1.2"),
    ]
    groups = [
        GroupEntry(name="rnns", runners=["cudnn"]),
        GroupEntry(name="all", runners=[f"runner_{number}" for number in range(20)]),
    ]
    return Catalogue(warnings=[], runners=runners, groups=groups)


def runner(
    name: str,
    group: str | None,
    family: str,
    description: str,
    *,
    devices: list[str] | None = None,
    honours: list[str] | None = None,
    lacks: list[str] | None = None,
    package: str | None = None,
    missing: list[str] | None = None,
) -> RunnerEntry:
    return RunnerEntry(
        name=name,
        group=group,
        family=family,
        devices=devices or ["cpu", "cuda"],
        description=description.strip(),
        source="",
        honours=honours or [],
        lacks=lacks or [],
        package=package,
        missing=missing or [],
    )


def history() -> History:
    """Runs with few and with many runners, one of them interrupted."""
    many = ["cudnn", "aten", "jit", "jit_premul", "jit_premul_bias", "jit_simple", "py"]
    runs = [
        kept_run(1, "bench", ["cudnn", "jit", "py"], tags=["baseline", "before-upgrade"]),
        kept_run(2, "ab", ["cudnn"], status="interrupted"),
        kept_run(3, "bench", many, devices=["cuda:0"], commit="4a57cebe61d0aa", dirty=True),
    ]
    return History(folder="/home/someone/runs", runs=runs)


def kept_run(
    number: int,
    verb: str,
    runners: list[str],
    *,
    status: str = "complete",
    tags: list[str] | None = None,
    devices: list[str] | None = None,
    commit: str | None = None,
    dirty: bool | None = None,
) -> KeptRun:
    return KeptRun(
        run_id=f"{number}f{number}a" * 8,
        created_utc=f"2026-11-2{number}T09:14:11Z",
        last_started_utc=f"2026-11-2{number}T09:14:11Z",
        path="",
        size_bytes=number * 300_000,
        tags=tags or [],
        commit=commit,
        dirty=dirty,
        status=status,  # type: ignore[arg-type]
        verb=verb,  # type: ignore[arg-type]
        runners=runners,
        devices=devices or ["cpu"],
        torch_version="2.15.0+cpu",
        machine_id=None,
    )


def capture() -> Capture:
    """A capture of two runners, slower than without the profiler."""
    plain = json.loads((_DOCUMENTS / "capture_4_2d2eee5.json").read_text())
    stem = "/data/captures/prof_cudnn-py_s64-l1-i256-h256-b16_20261122T091400Z"
    files = [(".nsys-rep", "nsys_rep", 7_340_032), (".sqlite", "nsys_sqlite", 1_468_006), (".log", "log", 2_100)]
    artefacts = [{"path": stem + suffix, "kind": kind, "size_bytes": size} for suffix, kind, size in files]
    plain["artefacts"] = [{**one, "sha256": ""} for one in artefacts]
    plain |= {"profiled_over_unprofiled": 1.15, "profiled_over_unprofiled_ci": [1.1, 1.2]}
    return Capture.from_dict(plain)
