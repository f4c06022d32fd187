"""Hosts, drivers and settings under which captures were made, and how comparisons show them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from conftest import run_cli
from kineto_traces import call, document, kernel, write
from nsys_exports import Export, changed, thread

import fastrnns_rs
from fastrnns_rs import compare

#: Members that torch 2.9 writes beside the events.
TORCH = {"cuda_driver_version": 12090, "cuda_runtime_version": 12040, "with_stack": 1, "record_shapes": 1}


def trace(path: Path, start: float = 0, **members: Any) -> Path:
    launch = {**call(start=start), "args": {"correlation": 1}}
    return write(path, document([launch, kernel("k", start + 10, correlation=1)], **members))


def environment(path: Path) -> dict[str, Any]:
    (capture,) = fastrnns_rs.read(path).captures
    return {key: value for key, value in asdict(capture.environment).items() if value is not None}


def test_a_trace_of_torch_names_host_versions_and_settings(tmp_path: Path) -> None:
    settings = {"profile_memory": False, "with_flops": False, "with_modules": False}
    assert environment(trace(tmp_path / "a.json", host_name="node7", **TORCH)) == {
        "host_name": "node7",
        "cuda_driver_version": "12.9",
        "cuda_runtime_version": "12.4",
        "with_stack": True,
        "record_shapes": True,
        **settings,
    }
    # An old torch recorded none of these, so the settings are unknown.
    assert environment(trace(tmp_path / "b.json")) == {}


@pytest.mark.parametrize("value", [None, 0, "", "7" * 129, "x", [], {"a": 1}, -1, True, 2**70])
def test_values_that_are_no_versions_are_left_out(value: object, tmp_path: Path) -> None:
    found = environment(trace(tmp_path / "a.json", cuda_driver_version=value, with_stack=True))
    assert found["with_stack"]
    assert found.get("cuda_driver_version") in {None, str(2**70), repr(float(2**70))}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [("Hostname", "node7"), ("NvDriverVersion", "560.35.03"), ("CudaDriverVersion", "12060")],
            {"host_name": "node7", "gpu_driver_version": "560.35.03", "cuda_driver_version": "12.6"},
        ),
        # Without a GPU, and with the rows of two machines.
        ([("Hostname", "a"), ("Hostname", "b"), ("NvDriverVersion", "0"), ("CudaDriverVersion", "0")], {}),
        ([("Hostname", "a"), ("Hostname", "a"), ("Hostname", "x" * 200)], {"host_name": "a"}),
    ],
)
def test_an_export_of_nsys_names_host_and_versions(
    rows: list[tuple[str, str]], expected: dict[str, str], tmp_path: Path
) -> None:
    export = Export(tmp_path / "plain.sqlite")
    export.call(0, 5, thread(7, 1), 1)
    export.kernel(10, 20, 7, 1)
    table = "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid, devStateName, name TEXT, nameEnum, value TEXT)"
    inserts = [
        f"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'Local', '{name}', 1, '{value}')" for name, value in rows
    ]
    path = changed(export.written(), tmp_path / "x.sqlite", [table, *inserts])
    assert environment(path) == expected


def test_a_comparison_names_other_drivers_and_settings(tmp_path: Path) -> None:
    before = trace(tmp_path / "a.json", host_name="one", **TORCH)
    after = trace(
        tmp_path / "b.json", 7, host_name="two", **{**TORCH, "cuda_driver_version": 13000, "with_stack": False}
    )
    found = {one.key: (one.baseline, one.candidate) for one in compare(before, after).environment_differences}
    assert found == {
        "host_name": ("one", "two"),
        "cuda_driver_version": ("12.9", "13.0"),
        "with_stack": ("True", "False"),
    }
    lines = run_cli("compare", before, after).stdout.splitlines()
    assert lines[2] == "differs    host_name: one → two, cuda_driver_version: 12.9 → 13.0, 1 more"
    # Nothing is known of the other side.
    old = trace(tmp_path / "c.json", 9)
    assert compare(before, old).environment_differences == []


def test_hosts_of_one_side_may_differ(tmp_path: Path) -> None:
    """Each container has a name of its own."""
    sides = [
        [trace(tmp_path / f"{side}{place}.json", 3 * place, host_name=f"{side}{place}", **TORCH) for place in range(3)]
        for side in "ab"
    ]
    found = compare(*sides)
    assert not [one for one in found.warnings if one.code == "pooled_files_differ"]
    assert [one.key for one in found.environment_differences] == ["host_name"]


@pytest.mark.parametrize(
    ("with_stack", "took", "expected"),
    [
        (True, 10.0, ["with_stack in 1 capture; 89 % of the span is idle time of the cause host"]),
        (False, 10.0, []),
        # The GPU did not wait for the host.
        (True, 100.0, []),
    ],
)
def test_recorded_stacks_are_a_cause_of_idle_time(
    with_stack: bool, took: float, expected: list[str], tmp_path: Path
) -> None:
    events = []
    for number in range(1, 11):
        launch = {**call(start=110 * number - 1, duration=1), "args": {"correlation": number}}
        events += [launch, kernel("k", 110 * number, took, correlation=number)]
    path = write(tmp_path / "a.json", document(events, **{**TORCH, "with_stack": with_stack}))
    assert [one.evidence for one in fastrnns_rs.read(path).warnings if one.code == "stacks_recorded"] == expected
