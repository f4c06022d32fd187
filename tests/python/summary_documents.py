"""Summaries made by hand, with a row in every list."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from noise_floors import alarming, detecting

from fastrnns_rs.documents.document import VERSION
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.inductor_upstream import tabulate_line
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.errors import UsageError


def example(kind: Any, text: Callable[[], str]) -> Any:
    """A value of a type of documents, as plain dictionaries and lists: nothing is null, and each text is the next."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        known = [field.name for field in fields(kind) if not field.name.startswith("_")]
        # An element of a tensor is in its shape.
        return {name: [0, 0, 0] if name == "worst_index" else example(hints[name], text) for name in known}
    if get_origin(kind) is list:
        return [example(get_args(kind)[0], text)] * (3 if get_args(kind)[0] is int else 1)
    if get_origin(kind) is dict:
        return {"key": example(get_args(kind)[1], text)}
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if kind is str:
        return text()
    return {int: 4, float: 0.5, bool: True}.get(kind) or example(get_args(kind)[0], text)


def summary_of(*names: str) -> dict[str, Any]:
    """A summary with one row in each list and a kernel for each name, in which every text is one of the names."""
    turn = -1

    def text() -> str:
        nonlocal turn
        turn += 1
        return names[turn % len(names)]

    found: dict[str, Any] = example(SummaryDocument, text)
    (kernel,) = found["kernels"]
    found["kernels"] = [
        {**kernel, "name": name, "short_name": name[:9], "mangled_name": f"_Z{name}", "total_ns": 100_000 * place}
        for place, name in enumerate(names, 1)
    ]
    found["idle_causes"] = [
        {"device_id": 0, "device": 0, "cause": cause, "count": 7, "total_ns": total, "in_stream_ns": None}
        for cause, total in (("host", 1_500_000), ("launch", 500_000))
    ]
    (iteration,) = found["iterations"]
    unlike = [{"category": name, "delta_ns": delta} for name, delta in ((names[0], 7_500_000), ("layout", -250_000))]
    of = {"runner": names[0], "phase": None}
    found["iterations"] = [
        {
            **iteration,
            **of,
            "index": index,
            "duration_ns": duration,
            "gpu_ns": duration,
            "outlier": bool(some),
            "differences": some,
        }
        for index, (duration, some) in enumerate([(1_000_000, []), (1_000_000, []), (9_000_000, unlike)])
    ]
    found["iteration_statistics"][0] |= {**of, "count": 3, "median_ns": 1e6, "outlier_count": 1}
    # Inductor has a few words for its categories.
    found["inductor"]["categories"][0]["name"] = "triton_pointwise"
    fit_view(found["inductor"])
    found["launches"] |= {"matched_count": 50, "unmatched_kernel_count": 2, "queue_median_ns": 0.0}
    for which in ("latency", "queue"):
        found["launches"][f"{which}_histogram"] |= {"bounds_ns": [1, 2, 3, 4]}
    for device in found["devices"]:
        device["kernel_total_ns"] = sum(kernel["total_ns"] for kernel in found["kernels"])
        found["categories"][0]["total_ns"] = device["kernel_total_ns"]
        device["span_ns"] = device["busy_ns"] + device["idle_ns"]
        device["activity"] |= {"bin_ns": 3, "busy_ns": [1, 1, device["busy_ns"] - 2]}
    found["nested_ranges"][0] |= {"parent": None}
    found["captures"][0]["world_size"] = 8
    return {**found, "schema_version": VERSION}


def sound_summary(*names: str) -> dict[str, Any]:
    """The same, with statistics, shares and counts that fit the others: readers refuse it otherwise."""
    found = summary_of(*names)
    [device], [category], [iteration] = found["devices"], found["categories"], found["iterations"][:1]
    fit_cudnn_rnn(found, iteration)
    lists = ("kernels", "memory_operations", "api_calls", "iteration_statistics", "cpu_operators")
    for row in (row for name in lists for row in found[name]):
        for unit in ("ns", "bytes"):
            if f"total_{unit}" in row:
                mean = row[f"total_{unit}"] / row["count"]
                every = {f"{key}_{unit}": mean for key in ("mean", "median", "p95")}
                every |= {f"min_{unit}": int(mean), f"max_{unit}": int(mean), f"stddev_{unit}": 0.0}
                row |= {key: value for key, value in every.items() if key in row}
    for copies in found["memory_operations"]:
        copies["bandwidth_gb_per_s"] = copies["total_bytes"] / copies["total_ns"]
    device |= {
        "start_ns": 0,
        "end_ns": device["span_ns"],
        "exposed_communication_ns": 0,
        "kernel_count": sum(one["count"] for one in found["kernels"]),
    }
    whole = device["kernel_total_ns"]
    category |= {"name": found["kernels"][0]["category"], "count": device["kernel_count"]}
    for copies in found["memory_operations"]:
        copies.update(device=0, device_id=device["device_id"])
    kinds = [{**copies, "name": copies["kind"]} for copies in found["memory_operations"]]
    for key, rows in (("kernels", [category]), ("copies", kinds)):
        device["budget"][key] = [{name: row[name] for name in ("name", "count", "total_ns")} for row in rows]
        device["activity"][key] = [{"name": row["name"], "bins_ns": [row["total_ns"], 0, 0]} for row in rows]
    work = whole + sum(row["total_ns"] for row in kinds)
    device["budget"]["counted_twice_ns"] = work - device["busy_ns"]
    found["streams"][0] |= {"device": 0, "total_ns": work, "kernel_count": device["kernel_count"]}
    for row in (*found["kernels"], category):
        row["kernel_time_fraction"] = row["total_ns"] / whole
    for row in found["kernels"]:
        row.update(device=0, span_fraction=row["total_ns"] / device["span_ns"])
    fit_inductor(found)
    idle = {"count": 7, "total_ns": device["idle_ns"]}
    found["idle_causes"] = [{**found["idle_causes"][0], **idle, "device_id": device["device_id"]}]
    device["budget"]["idle"] = [{"name": found["idle_causes"][0]["cause"], **idle}]
    found["launches"] |= {"matched_count": 2, "unmatched_kernel_count": device["kernel_count"] - 2}
    for which in ("latency", "queue"):
        found["launches"][f"{which}_histogram"] |= {"negative_count": 0, "counts": [1, 0, 1]}
        found["launches"] |= {f"{which}_median_ns": 2.5, f"{which}_p95_ns": 3.5}
    own = {key: found["ranges"][0][key] for key in ("name", "domain", "gpu_exclusive_ns")}
    found["nested_ranges"][0] |= {**own, "gpu_inclusive_ns": own["gpu_exclusive_ns"]}
    times = dict.fromkeys(("gpu_ns", "gpu_busy_ns", "gpu_time_ns"), device["busy_ns"])
    found["iterations"] = [{**iteration, **times, "host_ns": iteration["duration_ns"]}]
    [group] = found["iteration_statistics"]
    group |= {key: times["gpu_ns"] for key in group if key.endswith("_ns")}
    group |= {"count": 1, "outlier_count": 0, "stddev_ns": None, "host_median_ns": iteration["duration_ns"]}
    [rank] = found["ranks"]
    [capture] = found["captures"]
    device["path"] = capture["path"]
    device["activity"]["start_ns"] = 0
    rank |= {"busy_ratio": 1.0, "slowest": False, "path": capture["path"], "span_ns": device["span_ns"]} | {
        key: device[key] for key in ("kernel_count", "kernel_total_ns")
    }
    return found


def fit_cudnn_rnn(found: dict[str, Any], iteration: dict[str, Any]) -> None:
    """Makes all kernels those of a persistent path of cuDNN in an iteration."""
    for kernel in found["kernels"]:
        kernel["category"] = "cudnn_rnn_persistent"
    count = sum(kernel["count"] for kernel in found["kernels"])
    found["cudnn_rnn"][0] |= {
        **{key: iteration[key] for key in ("runner", "phase")},
        **dict.fromkeys(("kernel_count", "kernels_per_iteration", "kernels_per_step"), count),
        "iterations": 1,
        "sentence": f"{iteration['runner']}: cuDNN took the persistent path: {count} kernels for a sequence of 1 step",
    }


def fit_noise_floor(floor: dict[str, Any]) -> None:
    """Makes numbers of an example of a noise floor consistent."""
    floor |= {"n_processes": 40, "n_sessions": 8, "session_log_stddev": 0.01, **detecting(0.1), **alarming(2, 4)}
    floor["checks"][0] |= {"check": "time", "finding": "jump", "ratio_ci_high": 2.0, "n_sessions": None}


def fit_history(history: dict[str, Any]) -> None:
    """Makes numbers of an example of a history consistent."""
    [trend], [run] = history["trends"], history["runs"]
    names = ("1", "2")
    history |= {"runs": [run | {"run_id": one} for one in names], "n_trend_runs": 2}
    points = [trend["points"][0] | {"run_id": one, "n_processes": 4} for one in names]
    trend |= {"points": points, "n_sessions": 8, "name": f"{trend['runner']}/{trend['phase']}"}
    trend["segments"][0] |= {"begin": 0, "end": 2, "level_ns": trend["points"][0]["estimate_ns"]}


def fit_view(view: dict[str, Any]) -> None:
    """Makes the shares of an example of Inductor's view those of its categories."""
    times = {one["name"]: one["total_ns"] / 1e6 / view["runs"] for one in view["categories"]}
    wall_ms = view["wall_time_ns"] / 1e6
    line = tabulate_line(view["tabulate_line"], times, wall_ms)
    view |= {"busy_fraction": sum(times.values()) / wall_ms, "tabulate_line": line}


def fit_inductor(found: dict[str, Any]) -> None:
    """Gives Inductor's view the kernels and copies of the devices."""
    budgets = [device["budget"] for device in found["devices"]]
    work = [row for budget in budgets for key in ("kernels", "copies") for row in budget[key]]
    [category] = found["inductor"]["categories"]
    for row in (category, *category["kernels"]):
        row |= {key: sum(one[key] for one in work) for key in ("count", "total_ns")}
    fit_view(found["inductor"])


def inductor_of(text: Callable[[], str]) -> dict[str, Any]:
    """A report of Inductor with a row in every list, whose times are those of its samples."""
    found: dict[str, Any] = example(InductorReport, text) | {"schema_version": VERSION}
    [module] = found["modules"]
    [kernel] = module["kernels"]
    described = {
        **dict.fromkeys(module["wall"], 4.0),
        "confidence_level": 0.95,
        "ci_method": None,
        "launch_bound": None,
    }
    described |= {"n_processes": 1, "n_samples": 3, "n_effective": 3.0, "stddev_ns": 0.0, "mad_ns": 0.0}
    module["wall"] = described
    module["reason"] = None
    module["profile"] |= {"wall_time_ns": 4.0, "runs": module["times"] * module["repeat"]}
    fit_view(module["profile"])
    module["categories"][0]["kernel_time_fraction"] = 1.0
    kernel |= {"time": {**described}, "num_gb": 1e-9, "bandwidth_gb_per_s": 0.25}
    return found


def check_refusal(found: dict[str, Any], change: Callable[[Any], object], message: str) -> None:
    """Checks that a summary is read as it is, and refused with a short message once it is changed."""
    SummaryDocument.from_dict(deepcopy(found))
    change(found)
    with pytest.raises(UsageError) as raised:
        SummaryDocument.from_dict(found)
    assert raised.value.message.startswith(message)
    assert len(raised.value.message) < 1000


def empty() -> dict[str, Any]:
    """A summary without a row."""
    whole = summary_of("x")
    found = {key: [] if isinstance(value, list) else None for key, value in whole.items()}
    return {
        **found,
        **{key: whole[key] for key in ("schema", "schema_version")},
        "launches": {**dict.fromkeys(whole["launches"]), "matched_count": 0, "unmatched_kernel_count": 0},
    }
