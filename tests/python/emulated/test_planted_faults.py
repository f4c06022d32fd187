"""Faults that only a device shows are planted in the worker: each is caught by the check that the other tests use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from emulated_cuda.machine import Machine, logs

from emulated import planted_faults
from emulated.bench import Measured, bench
from emulated.call_checks import (
    SLEEPING_NS,
    check_devices,
    check_joined,
    check_marks,
    check_measured,
    check_reads,
    check_synchronisations,
    check_times,
    check_zeroed,
)

pytestmark = pytest.mark.long("emulated")

TESTS = Path(__file__).parents[2]
WRONG_DEVICE = Path(__file__).parent / "wrong_device"

#: Every check, of one runner.
CHECKS: dict[str, Callable[[Measured, str], None]] = {
    "measured": lambda found, name: check_measured(found.result(name)),
    "times": lambda found, name: check_times(found.process(name), SLEEPING_NS),
    "marks": lambda found, name: check_marks(found.log_of(name)),
    "synchronisations": lambda found, name: check_synchronisations(found.log_of(name)),
    "reads": lambda found, name: check_reads(found.log_of(name)),
    "zeroed": lambda found, name: check_zeroed(found.log_of(name)),
    "joined": lambda found, name: check_joined(found.process(name)),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """A runner without a fault, and one with each fault; only the one that reads too early is not measured."""
    folder = tmp_path_factory.mktemp("faults")
    path = os.pathsep.join([str(TESTS), str(TESTS / "python")])
    words = ("sleeping", *planted_faults.FAULTS, "--runner-file", planted_faults.__file__)
    return bench(folder, *words, status=1, PYTHONPATH=path)


def test_without_a_fault_every_check_passes(found: Measured) -> None:
    for check in CHECKS.values():
        check(found, "sleeping")


@pytest.mark.parametrize(
    ("fault", "check", "message"),
    [
        ("no_synchronisation", "synchronisations", "0 synchronisations in an iteration"),
        # Forward no longer begins on an idle device.
        ("no_synchronisation", "times", "forward_ns is 3"),
        ("early_reading", "measured", "not measured: RuntimeError: Both events must be completed"),
        ("wrong_stream", "times", "forward_ns is "),
        ("wrong_stream", "marks", "events on streams"),
        ("kept_gradients", "zeroed", "gradients are not set to zero in an iteration"),
        ("side_stream", "times", "forward_ns is "),
        ("side_stream", "marks", "events on streams"),
    ],
)
def test_a_fault_is_caught(fault: str, check: str, message: str, found: Measured) -> None:
    with pytest.raises(AssertionError, match=message):
        CHECKS[check](found, fault)


def test_a_probe_of_another_device_is_caught(tmp_path: Path) -> None:
    bench(tmp_path, "sleeping", "--device", "cuda:1", machine=Machine(devices=2), PYTHONPATH=WRONG_DEVICE)
    # The probe, then the worker.
    with pytest.raises(AssertionError, match="processes use the devices"):
        check_devices(logs(tmp_path), [[1], [1]])
