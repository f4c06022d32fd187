"""The sentence with which a report begins: where the time went."""

from __future__ import annotations

from typing import Any

import pytest
from corpus import capture
from summary_documents import summary_of

import fastrnns_rs
from fastrnns_rs.views.summary.answer import answer, context

#: Of captures from the field. Whoever changes a rule looks at each.
ANSWERS = {
    "kineto/hta_amd_mi250.json.gz": "GPU idle for 98.3 % of 8.912 ms; largest cause: launch, 75.7 %.",
    "kineto/hta_cpu_only.json.gz": "No GPU activity: 30 events of a CPU capture.",
    "kineto/hta_diff_control_a100.json.gz": "Communication took 35.2 % of 464.6 ms; 18.6 % exposed.",
    "kineto/hta_diff_test_v100.json.gz": "Communication took 33.7 % of 745.2 ms; 8.8 % exposed.",
    "kineto/hta_event_sync_a100.json.gz": (
        "GPU idle for 80.6 % of 263.0 µs; largest cause: host, 57.8 %. An iteration takes 3.154 ms on the host."
    ),
    "kineto/hta_ns_resolution_v100.json.gz": "Kernels of category convolution took 37.8 % of 480.0 ms.",
    "kineto/hta_triton_a100.json.gz": (
        "Kernels of category triton_pointwise took 100.0 % of 1.760 µs. An iteration takes 13.34 s on the host."
    ),
    "kineto/hta_v100_ddp.json.gz": "GPU idle for 42.3 % of 1.733 s; largest cause: host, 34.6 %.",
    "kineto/kineto_r50_2021.json.gz": "GPU idle for 81.3 % of 5.244 s; largest cause: launch, 32.0 %.",
    "kineto/kineto_r50_nw0.json.gz": "GPU idle for 39.4 % of 996.5 ms; largest cause: data loader, 28.5 %.",
    "kineto/tl_b200_vllm.json.gz": "GPU idle for 86.3 % of 84.49 ms; largest cause: host, 75.3 %.",
    "kineto/tl_h100_bert.json.gz": "GPU idle for 92.1 % of 3.908 ms; largest cause: host, 81.3 %.",
    "kineto/tl_h100_qwen.json.gz": "Kernels of category elementwise took 50.0 % of 49.65 ms.",
    "nsys/cpuonly_2023.4.sqlite": "No GPU activity: 50 events of a CPU capture.",
    "nsys/fuser_h200_2025.1.sqlite": "GPU idle for 99.0 % of 3.190 s; largest cause: host, 98.2 %.",
    "nsys/fuser_matmul_h200_2024.6_a.sqlite": "GPU idle for 99.9 % of 508.3 ms; largest cause: host, 90.2 %.",
    "nsys/h100_2gpu_2026.2.sqlite": "Copies took 97.0 % of 969.4 ms, kernels 2.3 %. HtoD: 27.7 GB/s per GPU.",
    "nsys/mfu_2gpu_before_2026.2.sqlite": "Kernels of category attention took 45.5 % of 299.3 ms.",
    "nsys/mordred_rtx6000_2021.2.sqlite": "GPU idle for 94.0 % of 6.514 s; largest cause: host, 93.3 %.",
    "nsys/rtx3080_2026.1.sqlite": "GPU idle for >99.9 % of 22.45 ms; largest cause: launch, 82.7 %.",
    "nsys/saxpy_mpi_a100_2022.2.sqlite": "GPU idle for 66.0 % of 1.097 s; largest cause: host, 65.6 %.",
    "nvprof/gputrace_radixsort_1080ti.csv": "Copies took 91.5 % of 2.382 s, kernels 2.9 %. HtoD: 0.389 GB/s.",
    "nvprof/gputrace_reduction_old.csv": (
        "Copies took 59.4 % of 341.6 ms, kernels 6.1 %; idle 34.5 %, cause unknown: no launches."
    ),
    "nvprof/metrics_s3d.csv": "No timeline: 6,102 metrics of kernels.",
    "nvprof/synthetic_v26.api_summary.csv": "No GPU activity: 578 CUDA calls took 161.4 ms.",
    "nvprof/synthetic_v26.gpu_summary.csv": "No timeline: 16 kernels took 27.85 ms, copies 3.637 ms.",
    "nvprof/synthetic_v26.gpu_trace.csv": "GPU idle for 21.3 % of 11.01 ms; cause unknown: no launches.",
    "nvprof/synthetic_v26.prof": "GPU idle for 21.3 % of 11.01 ms; largest cause: host, 19.1 %.",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_capture_has_its_answer(name: str) -> None:
    assert answer(fastrnns_rs.read(capture(name)).to_dict()) == ANSWERS[name]


def budget(kernels: dict[str, int], copies: int, idle: int) -> dict[str, Any]:
    """A summary of one device that was busy and idle for so many milliseconds."""

    def rows(times: dict[str, int]) -> list[dict[str, Any]]:
        return [{"name": name, "count": 1, "total_ns": time * 1_000_000} for name, time in times.items()]

    summary = summary_of("k")
    device = summary["devices"][0]
    device["span_ns"] = (sum(kernels.values()) + copies + idle) * 1_000_000
    device["exposed_communication_ns"] = min(kernels.get("communication", 0), 100) * 1_000_000
    device["budget"] = {
        "kernels": rows(kernels),
        "copies": rows({"memcpy HtoD": copies}),
        "counted_twice_ns": 0,
        "idle": rows({"host": idle}),
    }
    summary["memory_operations"][0] |= {"kind": "memcpy HtoD", "total_bytes": 1234, "total_ns": 100}
    return summary


@pytest.mark.parametrize(
    ("kernels", "copies", "idle", "sentence"),
    [
        ({"gemm": 10}, 11, 79, "GPU idle for 79.0 % of 100.0 ms; largest cause: host, 79.0 %."),
        ({"gemm": 10}, 65, 25, "Copies took 65.0 % of 100.0 ms, kernels 10.0 %; idle 25.0 %, largest cause: host."),
        ({"gemm": 10}, 71, 19, "Copies took 71.0 % of 100.0 ms, kernels 10.0 %. HtoD: 12.3 GB/s."),
        ({"gemm": 75}, 5, 20, "GPU idle for 20.0 % of 100.0 ms; largest cause: host, 20.0 %."),
        ({"gemm": 61, "communication": 20}, 0, 19, "Communication took 20.0 % of 100.0 ms; 20.0 % exposed."),
        ({"gemm": 62, "communication": 19}, 0, 19, "Kernels of category gemm took 62.0 % of 100.0 ms."),
    ],
)
def test_the_first_rule_that_holds_answers(kernels: dict[str, int], copies: int, idle: int, sentence: str) -> None:
    assert answer(budget(kernels, copies, idle)) == sentence


def test_hidden_communication_is_no_answer() -> None:
    """It costs no time of its own. Documents of earlier builds do not tell it from exposed communication."""
    summary = budget({"gemm": 61, "communication": 39}, 0, 0)
    device = summary["devices"][0]
    device["exposed_communication_ns"] = 19_000_000
    assert answer(summary) == "Kernels of category gemm took 61.0 % of 100.0 ms."
    device["exposed_communication_ns"] = None
    assert answer(summary) == "Communication took 39.0 % of 100.0 ms."
    summary = budget({"gemm": 39, "communication": 61}, 0, 0)
    summary["devices"][0]["exposed_communication_ns"] = 0
    assert answer(summary) == "Communication took 61.0 % of 100.0 ms; 0.0 % exposed."


@pytest.mark.parametrize(
    ("kernels", "copies", "sentence"),
    [
        (
            {"gemm": 10},
            150,
            "Copies on several streams add up to 150.0 % of 100.0 ms, kernels 10.0 %. HtoD: 12.3 GB/s.",
        ),
        (
            {"communication": 140, "gemm": 90},
            0,
            "Communication: 140.0 % of 100.0 ms, added up over several streams; 100.0 % exposed.",
        ),
        ({"gemm": 297}, 0, "Kernels of category gemm: 297.0 % of 100.0 ms, added up over several streams."),
    ],
)
def test_nothing_takes_more_than_all_time(kernels: dict[str, int], copies: int, sentence: str) -> None:
    summary = budget(kernels, copies, 0)
    summary["devices"][0]["span_ns"] = 100_000_000
    assert answer(summary) == sentence


def timed(phase: str, host: int, span: int, measure: str = "gpu_ns") -> dict[str, Any]:
    """Figures of the iterations of a phase, in milliseconds."""
    times = {"host_median_ns": host * 1_000_000, "gpu_median_ns": span * 1_000_000}
    return {"runner": "jit", "name": None, "phase": phase, "measure": measure, **times}


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ([timed("forward", 50, 10)], " An iteration takes 50.00 ms on the host."),
        ([timed("forward", 49, 10)], ""),
        (
            [timed("forward", 30, 2), timed("backward", 50, 10)],
            " An iteration (jit backward) takes 50.00 ms on the host.",
        ),
        (
            [timed("forward", 30, 2), timed("backward", 90, 80)],
            " An iteration (jit forward) takes 30.00 ms on the host.",
        ),
        ([timed("forward", 30, 29), timed("backward", 90, 80)], ""),
        ([timed("forward", 30, 0, "host_ns"), timed("backward", 90, 80)], ""),
    ],
)
def test_the_answer_names_the_longest_iteration_on_the_host(groups: list[dict[str, Any]], sentence: str) -> None:
    summary = budget({"gemm": 100}, 0, 0)
    summary["iteration_statistics"] = groups
    assert answer(summary) == f"Kernels of category gemm took 100.0 % of 100.0 ms.{sentence}"


def test_the_context_names_the_capture_and_its_devices() -> None:
    summary = summary_of("k")
    summary["captures"][0] |= {"path": "there/x.json", "format": "kineto", "events_read": 12345}
    summary["devices"] = [{**summary["devices"][0], "device_id": number, "name": None} for number in range(2)]
    assert context(summary) == ["x.json: torch.profiler trace", "12,345 events", "2 GPUs (model not recorded)"]
    summary["captures"] *= 1000
    assert context(summary) == ["1,000 captures, kineto, 4.0 kB"]
