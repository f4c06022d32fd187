"""Documents of verbs other than `bench` and `compare`, for their screens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from screen_data import candidate

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.diagnosis import Check as Health
from fastrnns_rs.documents.diagnosis import ConfigEntry, Diagnosis, ProfilerEntry
from fastrnns_rs.documents.history import History, KeptRun
from fastrnns_rs.documents.inductor_report import InductorReport, KernelTiming, ModuleRow, TopRow
from fastrnns_rs.documents.listing import Catalogue, GroupEntry, RunnerEntry
from fastrnns_rs.documents.summary import CategoryRow
from fastrnns_rs.documents.summary_inductor import InductorEntry
from fastrnns_rs.documents.verification import Check, Verification, Verified
from fastrnns_rs.verbs.bench.phase_summary import summary

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


def inductor_report(*, kernels: bool = False, profile: bool = False) -> InductorReport:
    """Modules of a runner, one of which failed; with kernels, or with a profile."""
    name = "c66rtojaegda7phjavdcq4hfyh7lfl7lr3sr5pvvvqgjjxlbzyyp"
    forward = module_row(name, [31_100, 31_900, 30_400, 31_000, 31_300], graph="forward", graph_id="0")
    backward = module_row("d" + name[1:], [45_000, 46_100, 44_000, 45_300, 45_100], graph="backward", graph_id="0")
    broken = replace(
        module_row("e" + name[1:], [], graph="inference", graph_id=None),
        status="failed",
        reason="RuntimeError: " + "a long reason " * 6,
    )
    if kernels:
        threads = "num_warps: 4, num_ctas: 1, num_stages: 1"
        timings = [
            kernel_timing("triton_poi_fused_add_0", f"XBLOCK: 128, {threads}"),
            kernel_timing("triton_poi_fused_add_0", f"XBLOCK: 512, {threads}", chosen=True),
            kernel_timing("triton_red_fused_native_layer_norm_backward_sum_1", None, reason="it has no benchmark"),
        ]
        forward = replace(forward, kernels=timings)
    if profile:
        view = InductorEntry(
            wall_time_ns=31_100.0,
            runs=6,
            busy_fraction=0.5,
            tabulate_line=f"Output for tabulate: {70 * 'x'}",
            categories=[],
        )
        top = [
            TopRow(name="aten::mm", input_shapes="[[2, 3], [3, 4]]", count=12, self_device_ns=0, self_cpu_ns=3_000_000),
            TopRow(name="aten::" + 30 * "long_", input_shapes="", count=6, self_device_ns=0, self_cpu_ns=60_000),
        ]
        category = CategoryRow(name="gemm", count=12, total_ns=15_000, kernel_time_fraction=0.25)
        trace = f"/data/captures/{name}_forward_20261122T091400Z.trace.json.gz"
        forward = replace(forward, profile=view, top=top, categories=[category], trace_path=trace)
    return InductorReport(warnings=[], environment=candidate().environment, modules=[forward, backward, broken])


def module_row(name: str, samples: list[int], *, graph: str, graph_id: str | None) -> ModuleRow:
    return ModuleRow(
        path=f"/tmp/{name}.py",
        graph=graph,  # type: ignore[arg-type]
        device="cpu",
        status="ok",
        reason=None,
        times=10,
        repeat=5,
        runner="compile_cell",
        graph_id=graph_id,
        first_call_ns=14_300_000 if samples else None,
        samples_ns=[samples] if samples else [],
        wall=summary([[samples]]) if samples else None,
        upstream_ms=0.0308 if samples else None,
        peak_memory_bytes=773_900_000 if samples else None,
    )


def kernel_timing(
    name: str, config: str | None, *, chosen: bool | None = None, reason: str | None = None
) -> KernelTiming:
    return KernelTiming(
        name=name,
        key="cabcdefghijklmnop",
        category="pointwise",
        timing_mode=None,
        time=None if reason else summary([[[2000, 2020, 2010, 1990]]]),
        num_gb=0.001,
        bandwidth_gb_per_s=500.0,
        bandwidth_fraction=0.5,
        registers=16,
        spills=0,
        shared_memory_bytes=1024,
        config=config,
        chosen=chosen,
        reason=reason,
    )
