"""What a kernel moves, and what its device could."""

from __future__ import annotations

import importlib
import math
import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fastrnns_rs.worker.inductor import bandwidth

#: Of an H100: 2619 MHz and 5120 bits, of which NVIDIA's data sheet makes 3.35 TB/s.
H100_KHZ, H100_BITS, H100_GB_PER_S = 2_619_000, 5120, 3352.32


@pytest.fixture(scope="module")
def runtime_utils() -> Any:
    """Upstream's own functions. They take seconds to import."""
    return importlib.import_module("torch._inductor.runtime.runtime_utils")


def test_what_is_read_and_written_counts_twice_wherever_it_stands(runtime_utils: Any) -> None:
    four, eight = torch.zeros(1, dtype=torch.float32), torch.zeros(2, dtype=torch.float32)
    leading = (["in_out_ptr0", "in_ptr0", "xnumel", "XBLOCK"], (four, eight, 16))
    assert bandwidth.num_bytes(*leading) == 2 * 4 + 8
    assert bandwidth.num_bytes(*leading) == runtime_utils.get_num_bytes(*leading[1], num_in_out_args=1)
    behind = (["in_ptr0", "xnumel", "in_out_ptr0", "XBLOCK"], (four, 16, eight))
    assert bandwidth.num_bytes(*behind) == 4 + 2 * 8
    # Upstream takes the first argument for it.
    assert runtime_utils.get_num_bytes(*behind[1], num_in_out_args=1) == 2 * 4 + 8


@pytest.mark.parametrize(
    ("names", "arguments", "expected"),
    [
        ([], (), 0),
        (["xnumel"], (7,), 0),
        (["in_ptr0"], (torch.zeros(0, 5),), 0),
        (["in_ptr0"], (torch.zeros(3, dtype=torch.bfloat16),), 6),
        (["in_ptr0"], (torch.zeros(3, dtype=torch.bool),), 3),
        (["in_out_ptr0", "in_out_ptr1"], (torch.zeros(3), torch.zeros(1, dtype=torch.complex128)), 2 * (12 + 16)),
        # What is passed besides the parameters, such as a template's grid.
        (["in_ptr0"], (torch.zeros(1), 1, 1, None), 4),
    ],
)
def test_bytes_of_arguments(names: list[str], arguments: tuple[Any, ...], expected: int) -> None:
    assert bandwidth.num_bytes(names, arguments) == expected


def test_gigabytes_are_inductors_or_those_of_the_arguments() -> None:
    arguments = (torch.zeros(1000),)
    assert bandwidth.num_gb({"kernel_num_gb": 1.5}, ["in_ptr0"], arguments) == 1.5
    assert bandwidth.num_gb({"kernel_num_gb": 0}, ["in_ptr0"], arguments) == 0
    assert bandwidth.num_gb({"kernel_num_gb": None}, ["in_ptr0"], arguments) == 4e-6
    assert bandwidth.num_gb({}, ["in_out_ptr0"], arguments) == 8e-6


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@given(NUMBERS, NUMBERS, NUMBERS, st.text(), st.text())
def test_the_line_of_a_kernel_is_upstreams_without_colour(
    runtime_utils: Any, ms: float, num_gb: float, gb_per_s: float, prefix: str, suffix: str
) -> None:
    expected = runtime_utils.create_bandwidth_info_str(ms, num_gb, gb_per_s, prefix, suffix, color=False)
    for color in (False, True):
        ours = bandwidth.create_bandwidth_info_str(ms, num_gb, gb_per_s, prefix, suffix, color=color)
        assert ours == expected


class Driver(SimpleNamespace):
    """The part of pynvml that is asked."""

    NVML_CLOCK_MEM = 2

    class NVMLError(Exception):
        """As of pynvml."""

    def __init__(self, **planted: Any) -> None:
        super().__init__(megahertz=2619, bits=5120, started=0, stopped=0, refuses=(), **planted)

    def _asked(self, name: str) -> None:
        if name in self.refuses:
            raise self.NVMLError("Not Supported")

    def nvmlInit(self) -> None:  # noqa: N802
        self._asked("init")
        self.started += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.stopped += 1

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:  # noqa: N802
        assert uuid == "GPU-12-34"
        self._asked("handle")
        return uuid

    def nvmlDeviceGetMaxClockInfo(self, handle: str, clock: int) -> int:  # noqa: N802
        assert (handle, clock) == ("GPU-12-34", self.NVML_CLOCK_MEM)
        self._asked("clock")
        return int(self.megahertz)

    def nvmlDeviceGetMemoryBusWidth(self, handle: str) -> int:  # noqa: N802
        assert handle == "GPU-12-34"
        self._asked("width")
        return int(self.bits)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    pretended = Driver()
    monkeypatch.setitem(sys.modules, "pynvml", pretended)
    return pretended


def of_device(monkeypatch: pytest.MonkeyPatch, **properties: int) -> float | None:
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(uuid="12-34", **properties))
    found: float | None = bandwidth.device_gb_per_s.__wrapped__(torch.device("cuda:0"))
    return found


def test_the_memory_of_a_device_by_torch(monkeypatch: pytest.MonkeyPatch, driver: Driver) -> None:
    found = of_device(monkeypatch, memory_clock_rate=H100_KHZ, memory_bus_width=H100_BITS)
    assert found is not None
    assert math.isclose(found, H100_GB_PER_S)
    assert not driver.started


@pytest.mark.parametrize(
    "properties",
    [{}, {"memory_clock_rate": 0, "memory_bus_width": 5120}, {"memory_clock_rate": 2_619_000, "memory_bus_width": 0}],
)
def test_the_memory_of_a_device_by_its_driver(
    properties: dict[str, int], monkeypatch: pytest.MonkeyPatch, driver: Driver
) -> None:
    found = of_device(monkeypatch, **properties)
    assert found is not None
    assert math.isclose(found, H100_GB_PER_S)
    assert driver.started == driver.stopped == 1


@pytest.mark.parametrize("refuses", ["init", "handle", "clock", "width"])
def test_where_nobody_tells_it_is_unknown(refuses: str, monkeypatch: pytest.MonkeyPatch, driver: Driver) -> None:
    driver.refuses = (refuses,)
    assert of_device(monkeypatch) is None
    assert driver.started == driver.stopped


@pytest.mark.parametrize(("megahertz", "bits"), [(0, 5120), (2619, 0)])
def test_what_is_told_as_nothing_is_unknown(
    megahertz: int, bits: int, monkeypatch: pytest.MonkeyPatch, driver: Driver
) -> None:
    driver.megahertz, driver.bits = megahertz, bits
    assert of_device(monkeypatch) is None


def test_without_the_drivers_library_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert of_device(monkeypatch) is None
