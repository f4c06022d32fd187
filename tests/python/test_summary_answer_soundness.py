"""Answers of summaries: the budget of a device is that of its kernels, categories, copies, bins and idle causes."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from kineto_traces import call, copy, document, fill, kernel, operator, write
from summary_documents import check_refusal, fit_inductor, fit_view, sound_summary

from fastrnns_rs import load, read
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.errors import UsageError


def swap(rows: Any, key: str = "total_ns") -> None:
    """Exchanges a number of the first two rows."""
    rows[0][key], rows[1][key] = rows[1][key], rows[0][key]


def remove_devices(rows: Any, **changes: int) -> None:
    """Removes the device of each row, as of a GPU of several processes, and changes the first row."""
    for row in rows:
        row["device"] = None
    rows[0].update(changes)


def budget(found: Any) -> Any:
    return found["devices"][0]["budget"]


def activity(found: Any) -> Any:
    return found["devices"][0]["activity"]


def swap_categories(found: Any) -> None:
    swap(found["categories"])
    swap(found["categories"], "kernel_time_fraction")


#: Changes of a summary, and the messages.
CHANGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "kernels of a budget": (
        lambda found: swap(budget(found)["kernels"]),
        "total_ns of 'gemm' of kernels in the budget of devices[0] adds up to 5000, not 40000",
    ),
    "a count of a budget": (
        lambda found: budget(found)["kernels"][0].update(count=123456789),
        "count of 'gemm' of kernels in the budget of devices[0] adds up to 123456789, not 1",
    ),
    "categories": (swap_categories, "total_ns of 'gemm' of categories is 5000, and that of the budgets 40000"),
    "the category of a kernel": (
        lambda found: found["kernels"][0].update(category="communication"),
        "count of 'gemm' of kernels in the budget of devices[0] adds up to 1, not 0",
    ),
    "idle causes of a budget": (
        lambda found: swap(budget(found)["idle"]),
        "total_ns of 'host' of idle causes in the budget of devices[0] adds up to ",
    ),
    "an idle cause of another name": (
        lambda found: budget(found)["idle"][0].update(name="data_loader"),
        "count of 'data_loader' of idle causes in the budget of devices[0] adds up to 2, not 0",
    ),
    "an idle cause with a long name": (
        lambda found: budget(found)["idle"][0].update(name="x" * 5000),
        f"count of '{'x' * 30}",
    ),
    "copies of a budget": (
        lambda found: swap(budget(found)["copies"]),
        "total_ns of 'memcpy HtoD' of copies in the budget of devices[0] adds up to 1000, not 3000",
    ),
    "counts of copies": (
        lambda found: budget(found)["copies"][0].update(count=2),
        "count of 'memcpy HtoD' of copies in the budget of devices[0] adds up to 2, not 1",
    ),
    "bins of a category": (
        lambda found: swap(activity(found)["kernels"], "name"),
        "devices[0].activity.kernels has 40000 ns of 'elementwise', and the budget 5000 ns",
    ),
    "bins of copies": (
        lambda found: activity(found)["copies"][0]["bins_ns"].__setitem__(0, 1),
        "devices[0].activity.copies has 3001 ns of 'memcpy HtoD', and the budget 3000 ns",
    ),
    "bins of a category that the budget lacks": (
        lambda found: activity(found)["kernels"].append({**activity(found)["kernels"][0], "name": "layout"}),
        "devices[0].activity.kernels has 40000 ns of 'layout', and the budget 0 ns",
    ),
    "copies without a device": (
        lambda found: (remove_devices(found["streams"]), remove_devices(found["memory_operations"], total_ns=7000)),
        "total_ns of 'memcpy HtoD' of copies in the budgets of all devices adds up to 3000, not 7000",
    ),
    "streams without a device": (
        lambda found: remove_devices(found["streams"], total_ns=7000),
        "total_ns of streams of all devices adds up to 7000, not 49000",
    ),
    "kernels of streams without a device": (
        lambda found: remove_devices(found["streams"], kernel_count=7),
        "kernel_count of streams of all devices adds up to 7, not 2",
    ),
    "idle causes without a device": (
        lambda found: remove_devices(found["idle_causes"], count=7),
        "count of 'host' of idle causes in the budgets of all devices adds up to 2, not 7",
    ),
    "kernels without a device": (
        lambda found: (remove_devices(found["kernels"]), swap(found["kernels"])),
        "total_ns of 'gemm' of categories is 40000, and that of kernels 5000",
    ),
    "idle causes": (lambda found: swap(found["idle_causes"]), "total_ns of 'host' of idle causes in the budget "),
    "no idle causes": (
        lambda found: found["idle_causes"].clear(),
        "count of 'host' of idle causes in the budgets of all devices adds up to ",
    ),
    "time in a stream of another cause": (
        lambda found: found["idle_causes"][0].update(in_stream_ns=1),
        "idle_causes[0].in_stream_ns is 1, and the cause is host",
    ),
    "a stream of a device that is not there": (
        lambda found: found["streams"][0].update(device=7, device_id=5, busy_ns=1),
        "streams[0].device is 7, and there are 1 devices",
    ),
    "idle causes of a device that is not there": (
        lambda found: [row.update(device=1) for row in found["idle_causes"]],
        "idle_causes[0].device is 1, and there are 1 devices",
    ),
    "a stream without a device": (
        lambda found: remove_devices(found["streams"], busy_ns=1),
        "streams[0].device is null, and devices have its device_id 1 times",
    ),
    "a kernel without a device": (
        lambda found: remove_devices(found["kernels"]),
        "kernels[0].device is null, and devices have its device_id 1 times",
    ),
    "no budget": (
        lambda found: found["devices"][0].update(budget=None),
        "devices[0].budget is null, and each build with exposed_communication_ns writes it",
    ),
    "no launches": (
        lambda found: found.update(launches=None),
        "launches is null, and each build with exposed_communication_ns writes it",
    ),
    "no median of launches": (
        lambda found: found["launches"].update(queue_median_ns=None),
        "launches.queue_median_ns is null, and matched_count is 2",
    ),
    "bins twice": (
        lambda found: activity(found)["copies"].append(activity(found)["copies"][-1]),
        "devices[0].activity.copies has a name twice",
    ),
    "bins of another start": (
        lambda found: activity(found).update(start_ns=0),
        "devices[0].activity.start_ns is 0, and devices[0] starts elsewhere",
    ),
    "no utilization": (
        lambda found: found["devices"][0].update(utilization=None),
        "devices[0].utilization is null, not 49000 / ",
    ),
}


@pytest.fixture
def summary(tmp_path: Path) -> dict[str, Any]:
    """Two kernels and two copies, with time between them that the host and a wait take."""
    events = [
        call(start=1),
        kernel("ampere_sgemm_128x64_tn", 10, 40, correlation=1),
        call("cudaDeviceSynchronize", 55, 17),
        {**call(start=90), "args": {"correlation": 2}},
        kernel("relu_kernel", 95, 5, correlation=2),
        copy("HtoD", 100, 3),
        copy("DtoH", 103, 1),
    ]
    found: dict[str, Any] = load(write(tmp_path / "trace.json", events)).to_dict()
    assert (len(budget(found)["kernels"]), len(budget(found)["idle"])) == (2, 3)
    return found


@pytest.mark.parametrize("what", CHANGES)
def test_what_the_answer_is_made_from_is_exchanged(what: str, summary: dict[str, Any]) -> None:
    check_refusal(summary, *CHANGES[what])


def test_idle_time_of_a_stream_that_is_unknown_is_refused(tmp_path: Path) -> None:
    events = [{**call(start=start), "args": {"correlation": start}} for start in (1, 3)]
    events += [kernel(start=10 * start, correlation=start) for start in (1, 3)]
    plain = load(write(tmp_path / "trace.json", events)).to_dict()
    [idle] = plain["idle_causes"]
    assert (idle["cause"], idle["in_stream_ns"]) == ("dependency", 19_000)
    message = "idle_causes[0].in_stream_ns is null, and each build with exposed_communication_ns writes it"
    check_refusal(plain, lambda found: found["idle_causes"][0].update(in_stream_ns=None), message)


def test_rows_of_a_device_of_several_processes_are_those_of_all_devices(tmp_path: Path) -> None:
    """They have no device."""
    paths = []
    for process in (100, 101):
        events = [call(process=process), kernel(duration=5), kernel(start=40, duration=5), fill(80, 5)]
        made = document(events, host_name="node", baseTimeNanoseconds=10**18)
        paths.append(write(tmp_path / f"{process}.json", made))
    plain = read(*paths).to_dict()
    assert [row["device"] for row in plain["streams"]] == [None]
    SummaryDocument.from_dict(deepcopy(plain))
    for key in ("memory_operations", "streams", "idle_causes"):
        changed = deepcopy(plain)
        changed[key][0]["count" if key == "idle_causes" else "total_ns"] += 1
        with pytest.raises(UsageError, match="of all devices adds up to"):
            SummaryDocument.from_dict(changed)
    plain["streams"][0]["busy_ns"] = 1
    with pytest.raises(UsageError, match=r"busy_ns of streams adds up to 1, below that of devices, \d+"):
        SummaryDocument.from_dict(plain)


def test_a_summary_with_a_report_of_inductor_has_no_other_categories(summary: dict[str, Any]) -> None:
    """It was read whatever the kernels of its budget: stored documents made by hand had others."""
    summary["inductor"] = sound_summary("a kernel")["inductor"]
    fit_inductor(summary)
    SummaryDocument.from_dict(deepcopy(summary))
    swap(budget(summary)["kernels"])
    with pytest.raises(UsageError, match="'gemm' of kernels in the budget"):
        SummaryDocument.from_dict(summary)


@pytest.mark.parametrize("key", ["count", "total_ns"])
def test_a_view_of_inductor_with_other_kernels_is_refused(key: str, summary: dict[str, Any]) -> None:
    summary["inductor"] = sound_summary("a kernel")["inductor"]
    fit_inductor(summary)
    [category] = summary["inductor"]["categories"]
    expected = category[key]
    for row in (category, *category["kernels"]):
        row[key] = 5
    fit_view(summary["inductor"])
    with pytest.raises(UsageError, match=f"{key} of inductor of all devices adds up to 5, not {expected}"):
        SummaryDocument.from_dict(summary)


#: Changes of cuDNN's path through a recurrent network, and the messages.
CUDNN: dict[str, tuple[dict[str, Any], str]] = {
    "another path": (
        {"path": "stepwise"},
        "cudnn_rnn[0].path is stepwise, and its sentence 'a kernel: cuDNN took the persistent pa…",
    ),
    "another path in words, too": (
        {"path": "stepwise", "sentence": "a kernel: cuDNN took the stepwise path: 4 kernels"},
        "cudnn_rnn has 4 stepwise kernels, and cudnn_rnn_step of categories 0",
    ),
    "both paths": (
        {"path": "mixed", "sentence": "a kernel: cuDNN took both paths: 2 kernels"},
        "cudnn_rnn has 1 stepwise kernels, and cudnn_rnn_step of categories 0",
    ),
    "another runner in words": (
        {"sentence": "cuDNN took the persistent path: 4 kernels"},
        "cudnn_rnn[0].path is persistent, and its sentence 'cuDNN took the persistent path: 4 kern…",
    ),
    "more kernels in words": (
        {"sentence": "a kernel: cuDNN took the persistent path: 4.2 kernels"},
        "cudnn_rnn[0].sentence has 4.2 kernels, and the row 4",
    ),
    "more iterations": ({"iterations": 4}, "cudnn_rnn[0].iterations is 4, and iterations has 1 of them"),
    "more kernels by iteration": (
        {"kernels_per_iteration": 5.0},
        "cudnn_rnn[0].kernels_per_iteration is 5, and that of kernel_count is 4",
    ),
    "a part of a step": (
        {"kernels_per_step": 3.0},
        "cudnn_rnn[0].kernels_per_step is 3, not that of a number of steps",
    ),
    "fewer kernels": (
        {
            "kernel_count": 3,
            "kernels_per_iteration": 3.0,
            "kernels_per_step": None,
            "sentence": "a kernel: cuDNN took the persistent path: 3 kernels",
        },
        "kernel_count of cudnn_rnn adds up to 3, and categories have 4 such kernels",
    ),
}


@pytest.mark.parametrize("what", CUDNN)
def test_a_path_of_cudnn_that_its_kernels_did_not_take_is_refused(what: str) -> None:
    changes, message = CUDNN[what]
    check_refusal(sound_summary("a kernel"), lambda found: found["cudnn_rnn"][0].update(changes), message)


def test_earlier_words_for_the_path_of_cudnn_are_read(tmp_path: Path) -> None:
    plain = load(write(tmp_path / "trace.json", [kernel("elemWiseRNNcell")])).to_dict()
    [row] = SummaryDocument.from_dict(deepcopy(plain)).cudnn_rnn
    assert row.sentence.startswith("cuDNN took the stepwise path: 1 kernel outside iterations")
    plain["cudnn_rnn"][0]["sentence"] = "cuDNN went step by step: 1 kernel outside iterations"
    SummaryDocument.from_dict(plain)


def test_two_files_of_a_process_with_time_between_them_are_read(tmp_path: Path) -> None:
    """No file contains this time: bins cover it, and the span does not."""
    paths = [tmp_path / f"{number}.json" for number in range(2)]
    for number, path in enumerate(paths):
        events = [kernel(start=1000 * number + at, duration=10) for at in (5, 30)]
        write(path, document(events, host_name="node", baseTimeNanoseconds=10**18))
    plain = read(*paths).to_dict()
    [device] = SummaryDocument.from_dict(plain).devices
    assert (device.span_ns, device.end_ns - device.start_ns) == (70_000, 1_035_000)


def test_an_operator_with_more_time_of_its_own_than_in_all_is_refused(tmp_path: Path) -> None:
    events = [operator("aten::linear", 0, 50), operator("aten::addmm", 10, 20)]
    plain = read(write(tmp_path / "trace.json", events)).to_dict()
    SummaryDocument.from_dict(deepcopy(plain))
    plain["cpu_operators"][0]["self_ns"] = 50_001
    with pytest.raises(UsageError, match=r"cpu_operators\[0\].self_ns is 50001, above total_ns, 50000"):
        SummaryDocument.from_dict(plain)


#: Causes and captures that the launches and other keys exclude, and the messages.
CAUSES: dict[str, tuple[Callable[[Any], object], str]] = {
    "more unmatched than copies": (
        lambda found: [
            row.update({key: "unmatched"})
            for key, rows in (("cause", found["idle_causes"]), ("name", budget(found)["idle"]))
            for row in rows
            if row[key] == "host"
        ],
        "idle_causes have ",
    ),
}


@pytest.mark.parametrize("what", CAUSES)
def test_causes_that_the_launches_exclude_are_refused(what: str, summary: dict[str, Any]) -> None:
    for row in (*summary["idle_causes"], *budget(summary)["idle"]):
        row["count"] += 5 * ("host" in {row.get("cause"), row.get("name")})
    check_refusal(summary, *CAUSES[what])


def test_without_launches_no_idle_time_has_a_cause(tmp_path: Path) -> None:
    found = load(write(tmp_path / "trace.json", [kernel(start=0), kernel(start=900)])).to_dict()
    assert [row["cause"] for row in found["idle_causes"]] == ["unmatched"]

    def rename(plain: Any) -> None:
        plain["idle_causes"][0]["cause"] = budget(plain)["idle"][0]["name"] = "synchronization"

    check_refusal(found, rename, "idle_causes[0].cause is synchronization, and there are no launches")
