"""Captures made on an emulated device: what the reader says of them is what the device did."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from commands import finished, run_cli
from emulated_cuda.machine import CallLog, Machine, logs
from iteration_reading import Iteration, steps

from emulated.bench import RUNNERS, run_on
from emulated.captures import RECORDED, Traced, profiled
from emulated.device_runners import BACKWARD_MS, FORWARD_MS, HOST_MS

MS = 1_000_000
#: Error of conversions between the clocks of the device and of the trace, in nanoseconds.
ROUNDING_NS = 100
#: Besides `_sleep`, an iteration of `sleeping` sets a gradient, adds it, and sets it to zero.
SMALL_NS = 10_000
CUDNN_NS = {"cudnnRNNForward": 3 * MS, "cudnnRNNBackwardData_v8": 4 * MS, "cudnnRNNBackwardWeights_v8": MS}


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Traced]:
    """One capture of several runners on a machine with two devices."""
    machine = Machine(clock="real", devices=2, durations_ns=CUDNN_NS)
    folder = tmp_path_factory.mktemp("captures")
    return profiled(folder, "sleeping", "cudnn", "both_devices", "--device", "cuda", machine=machine)


def near(expected_ns: float) -> Any:
    return pytest.approx(expected_ns, abs=ROUNDING_NS)


def test_kernels_have_the_names_streams_and_times_of_the_device(traced: dict[str, Traced]) -> None:
    summary = traced["cudnn"].summary()
    found = {one["name"]: one for one in summary["kernels"]}
    for name, duration in CUDNN_NS.items():
        assert found[name]["count"] == RECORDED
        assert found[name]["median_ns"] == near(duration)
    # CUPTI gives the default stream this number.
    assert [(one["device_id"], one["stream_id"]) for one in summary["streams"]] == [(0, 7)]
    assert [one["name"] for one in summary["devices"]] == ["Emulated GPU 0"]
    [spin] = [one for one in traced["sleeping"].summary()["kernels"] if "spin_kernel" in one["name"]]
    assert (spin["count"], spin["min_ns"], spin["max_ns"]) == (2 * RECORDED, near(3 * MS), near(5 * MS))


def test_every_activity_has_its_launch(traced: dict[str, Traced]) -> None:
    for one in traced.values():
        activities = one.events("kernel", "gpu_memcpy", "gpu_memset")
        launches = {call["args"]["correlation"]: call for call in one.events("cuda_runtime", "cuda_driver")}
        assert len(activities) >= 4 * RECORDED
        assert all(launches[event["args"]["correlation"]]["ts"] <= event["ts"] for event in activities)
        assert one.summary()["launches"]["unmatched_kernel_count"] == 0


def test_iterations_are_what_an_independent_reading_says(traced: dict[str, Traced]) -> None:
    for one in traced.values():
        rows = one.summary()["iterations"]
        keys = ("index", "host_ns", "gpu_ns", "gpu_busy_ns", "gpu_time_ns")
        assert [Iteration(*(row[key] for key in keys)) for row in rows] == steps(one.path)
        assert [row["index"] for row in rows] == [2, 3, 4]


def test_the_manifest_of_several_runners_is_all_traces_and_keeps_runners_apart(traced: dict[str, Traced]) -> None:
    [path] = {one for trace in traced.values() for one in trace.path.parent.glob("*.json")}
    whole, alone = Traced(path).summary(), {name: one.summary() for name, one in traced.items()}
    found = {row["runner"]: row for row in whole["iteration_statistics"]}
    assert found.keys() == alone.keys()
    for name, one in alone.items():
        [row] = one["iteration_statistics"]
        assert found[name] == {**row, "runner": name}
        assert row["count"] == RECORDED
    # No trace covers the device between two runners.
    for device in whole["devices"]:
        rows = [row for one in alone.values() for row in one["devices"] if row["device_id"] == device["device_id"]]
        for key in ("span_ns", "busy_ns", "idle_ns"):
            assert device[key] == sum(row[key] for row in rows)
    done = run_cli("compare", path, path)
    assert (done.status, done.stdout) == (2, "")
    assert "several runners: both_devices, cudnn, sleeping" in done.stderr


def test_an_iteration_takes_as_long_as_the_device_and_not_as_enqueueing(traced: dict[str, Traced]) -> None:
    summary = traced["sleeping"].summary()
    for row in summary["iterations"]:
        forward, backward = row["parts"]
        assert (forward["phase"], backward["phase"]) == ("forward", "backward")
        # The host goes on while the kernel runs.
        assert forward["host_ns"] >= HOST_MS * MS
        assert forward["gpu_ns"] == forward["gpu_busy_ns"] == forward["gpu_time_ns"] == near(FORWARD_MS * MS)
        # Its kernels are launched by a thread of autograd.
        assert backward["gpu_time_ns"] == pytest.approx(BACKWARD_MS * MS, abs=SMALL_NS)
        assert row["gpu_time_ns"] == pytest.approx((FORWARD_MS + BACKWARD_MS) * MS, abs=SMALL_NS)
        assert row["gpu_busy_ns"] == row["gpu_time_ns"] <= row["gpu_ns"]
    [figures] = summary["iteration_statistics"]
    assert figures["measure"] == "gpu_ns"
    assert figures["median_ns"] == median(row["gpu_ns"] for row in summary["iterations"])


def test_work_of_two_devices_overlaps_in_an_iteration(traced: dict[str, Traced]) -> None:
    summary = traced["both_devices"].summary()
    assert {one["device_id"] for one in summary["devices"]} == {0, 1}
    for row in summary["iterations"]:
        forward, _ = row["parts"]
        assert forward["gpu_time_ns"] == near(2 * FORWARD_MS * MS)
        assert FORWARD_MS * MS <= forward["gpu_busy_ns"] < 2 * FORWARD_MS * MS


@pytest.mark.parametrize(
    ("name", "expected_ms"),
    [("## forward ##", FORWARD_MS), ("## backward ##", BACKWARD_MS), ("ProfilerStep", FORWARD_MS + BACKWARD_MS)],
)
def test_ranges_of_a_name_own_what_autograd_launched(name: str, expected_ms: int, traced: dict[str, Traced]) -> None:
    one = traced["sleeping"]
    rows = one.summary("--iteration-range", name)["iterations"]
    assert [row["gpu_time_ns"] for row in rows] == [pytest.approx(expected_ms * MS, abs=SMALL_NS)] * RECORDED
    threads = Counter(call["tid"] for call in one.events("cuda_runtime") if "Launch" in call["name"])
    assert len(threads) == 2


_SCRIPT = """
import sys
import torch
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile, record_function

class Sleep(torch.autograd.Function):
    @staticmethod
    def forward(_context, weight):
        return weight * 2

    @staticmethod
    def backward(_context, gradient):
        torch.cuda._sleep(2_000_000)
        return gradient

weight = torch.ones(3, device="cuda", requires_grad=True)
other, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
Sleep.apply(weight).sum().backward()
with torch.cuda.graph(graph):
    (weight.detach() * 3).tanh()
kinds = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
with profile(activities=kinds, experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True)) as found:
    for _ in range(2):
        with record_function("mine"):
            Sleep.apply(weight).sum().backward()
            graph.replay()
        torch.cuda.synchronize()
    with torch.cuda.stream(other):
        torch.cuda._sleep(1000)
    other.synchronize()
found.export_chrome_trace(sys.argv[1])
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """A trace of a program that knows nothing of fastrnns-rs."""
    folder = tmp_path_factory.mktemp("own")
    path = folder / "trace.json.gz"
    done = finished([sys.executable, "-c", _SCRIPT, str(path)], **Machine(clock="real").environment(folder))
    assert done.status == 0, done.stderr
    return Traced(path)


def test_a_range_of_the_user_owns_backward_and_replays_of_graphs(own: Traced) -> None:
    summary = own.summary("--iteration-range", "mine")
    for row in summary["iterations"]:
        assert row["gpu_time_ns"] == pytest.approx(2 * MS, abs=5 * SMALL_NS)
    replays = [one for one in own.events("kernel") if one["args"]["graph id"]]
    assert [one["args"]["graph node id"] for one in replays] == [1, 2] * 2
    launches = [one["args"]["correlation"] for one in own.events("cuda_runtime") if one["name"] == "cudaGraphLaunch"]
    assert [one["args"]["correlation"] for one in replays] == [one for one in launches for _ in range(2)]
    assert summary["launches"]["unmatched_kernel_count"] == 0


def test_waiting_and_other_streams_are_in_the_trace(own: Traced) -> None:
    kinds = Counter(one["args"]["cuda_sync_kind"] for one in own.events("cuda_sync"))
    assert kinds["Context Sync"] >= 2
    assert kinds["Stream Sync"] == 1
    *_, last = (one for one in own.events("kernel") if "spin_kernel" in one["name"])
    assert last["args"]["stream"] != own.events("kernel")[0]["args"]["stream"]


def test_ranges_for_nsys_enclose_their_launches(tmp_path: Path) -> None:
    """The real nsys would read these ranges; here the log does."""
    words = ("profile", "--internal-run", "--nsys", "--runner-file", RUNNERS, "sleeping", "--device", "cuda")
    done = run_on(tmp_path, *words, "--nloops", "2", "--warmup", "1", "--seqLength", "3")
    assert done.status == 0, done.stderr
    [log] = [one for one in logs(tmp_path) if one.of("cudaProfilerStart")]
    [begin], [end] = log.of("cudaProfilerStart"), log.of("cudaProfilerStop")
    captured = CallLog(log.between(begin, end))
    ranges = [one.detail for one in captured.of("nvtxRangeStartA")]
    assert ranges == [f"sleeping/{phase}/{index}" for index in range(2) for phase in ("forward", "backward")]
    starts, ends = captured.of("nvtxRangeStartA"), captured.of("nvtxRangeEnd")
    assert not set(log.of("nvtxRangeStartA")) - set(starts)
    for start, stop in zip(starts, ends, strict=True):
        [spin] = [one for one in captured.between(start, stop) if "spin_kernel" in one.detail]
        assert (spin.thread == start.thread) is ("forward" in start.detail)
    # The device has nothing to do at either edge of the window.
    for edge in (begin, end):
        given = [one for one in log.calls if one.at_ns < edge.at_ns]
        assert [one for one in given if one.launches or one.function == "cudaDeviceSynchronize"][-1].stream == -1


@pytest.mark.long("emulated")
def test_a_capture_of_the_second_device_holds_no_other(tmp_path: Path) -> None:
    machine = Machine(clock="real", devices=2)
    summary = profiled(tmp_path, "cudnn", "--device", "cuda:1", machine=machine)["cudnn"].summary()
    assert {one["device_id"] for one in summary["devices"]} == {1}


@pytest.mark.long("emulated")
@pytest.mark.parametrize(("slower_ns", "verdict"), [(600_000, "slower"), (0, "equivalent")])
def test_captures_of_several_processes_have_a_verdict(slower_ns: int, verdict: str, tmp_path: Path) -> None:
    for side, duration in (("before", 3 * MS), ("after", 3 * MS + slower_ns)):
        machine = Machine(clock="real", durations_ns={"cudnnRNNForward": duration})
        profiled(tmp_path / side, "cudnn", "--device", "cuda", "--processes", "3", machine=machine)
    before, after = (sorted((tmp_path / side / "out").glob("*.json.gz")) for side in ("before", "after"))
    done = run_cli("compare", "--baseline", *before, "--candidate", *after, "--json")
    assert done.status == 0, done.stderr
    found = done.json()
    [forward] = [one for one in found["kernels"] if one["name"] == "cudnnRNNForward"]
    for row in (forward, found["device_time"]):
        assert row["verdict"] == verdict
        assert row["delta_ns"] == near(slower_ns)
