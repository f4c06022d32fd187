"""Times that `bench` measures on a device whose kernels take known times."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated_cuda.machine import Machine

from emulated.bench import Measured, bench
from emulated.call_checks import (
    SLEEPING_BY_PHASE_NS,
    SLEEPING_NS,
    check_joined,
    check_marks,
    check_reads,
    check_synchronisations,
    check_times,
    check_zeroed,
)
from emulated.device_runners import LARGE_BYTES


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Several runners on the virtual clock."""
    names = ("sleeping", "unjoined", "large", "precision_reader")
    # As with an H100: a device is asked in a fifth of that if it was asked just before.
    machine = Machine(settings=["first_asking_ns 80000"])
    return bench(tmp_path_factory.mktemp("exact"), *names, machine=machine)


@pytest.fixture(scope="module")
def by_phase(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return bench(tmp_path_factory.mktemp("by_phase"), "sleeping", "--sync", "phase", "--allow-tf32")


def test_phases_take_as_long_as_their_kernels(exact: Measured) -> None:
    check_times(exact.process("sleeping"), SLEEPING_NS)
    assert exact.result("sleeping")["timer_resolution_ns"] == 32


def test_with_a_synchronisation_after_each_phase_both_begin_on_an_idle_device(by_phase: Measured) -> None:
    check_times(by_phase.process("sleeping"), SLEEPING_BY_PHASE_NS)
    assert by_phase.run["plan"]["sync"] == "phase"
    assert by_phase.result("sleeping")["timing_mode"] == "cuda_events_by_phase"


@pytest.mark.parametrize(("name", "synchronisations"), [("exact", 1), ("by_phase", 2)])
def test_an_iteration_has_four_marks_on_the_stream_of_its_kernels(
    name: str, synchronisations: int, request: pytest.FixtureRequest
) -> None:
    found: Measured = request.getfixturevalue(name)
    log = found.log_of("sleeping")
    check_marks(log)
    check_synchronisations(log, synchronisations)
    check_reads(log)


def test_gradients_are_zeroed_in_every_iteration(exact: Measured) -> None:
    check_zeroed(exact.log_of("sleeping"))


def test_work_that_nothing_waits_for_is_told(exact: Measured) -> None:
    # It piles up: until it is measured, four iterations have nothing else to do.
    assert exact.process("unjoined")["unjoined_ns"] == pytest.approx(4 * 3e6, rel=0.01)
    [warning] = [one for one in exact.run["warnings"] if one["code"] == "unjoined_work"]
    assert warning["evidence"] == "unjoined: 12 ms after an iteration"


def test_what_asking_costs_is_no_unjoined_work(exact: Measured) -> None:
    check_joined(exact.process("sleeping"))


def test_what_is_looked_at_takes_no_memory_of_the_device(exact: Measured) -> None:
    assert LARGE_BYTES <= exact.result("large")["peak_memory_bytes"] < LARGE_BYTES + 4096


def test_a_model_may_look_at_the_settings_of_tf32(exact: Measured) -> None:
    assert exact.result("precision_reader")["status"] == "ok", exact.result("precision_reader")["reason"]


@pytest.mark.long("emulated")
def test_the_hosts_time_stands_beside_the_devices(tmp_path: Path) -> None:
    found = bench(tmp_path, "sleeping", "launching", machine=Machine(clock="real"))
    rows = {name: found.result(name) for name in ("sleeping", "launching")}
    for row in rows.values():
        assert len(row["processes"][0]["forward_host_ns"]) == len(row["processes"][0]["forward_ns"])
    assert [rows["launching"][phase]["launch_bound"] for phase in ("forward", "backward")] == [True, True]
    [warning] = [one for one in found.run["warnings"] if one["code"] == "launch_bound"]
    assert "launching/forward: " in warning["evidence"]
    # A busy machine makes times on the real clock longer, and never shorter. The virtual clock has the upper bounds.
    for phase, host_ns, device_ns in (("forward", 1e6, 3e6), ("backward", 1e6, 5e6)):
        row = rows["sleeping"][phase]
        assert row["host_ns"] >= host_ns
        assert row["median_ns"] >= 0.95 * device_ns
        assert row["launch_bound"] is (row["host_ns"] >= 0.9 * row["median_ns"])
