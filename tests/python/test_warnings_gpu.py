"""The watch of a GPU during a run, with an NVML that reads from a script."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from processes import AT_ONCE_S
from warned_runs import environment, gpu

from fastrnns_rs.machine.warnings.gpu import Watch
from fastrnns_rs.machine.warnings.gpu_monitor import Poller

IDLE, POWER_CAP, HW_SLOWDOWN, HW_THERMAL, SET_CLOCKS = 0x01, 0x04, 0x08, 0x40, 0x02
GPUS = environment(gpus=[gpu("GPU-0"), gpu("GPU-1", 1), gpu(None, 2)])


class NVMLError(Exception):
    """As of pynvml."""


class NotSupportedError(NVMLError): ...


class FunctionNotFoundError(NVMLError): ...


class GpuIsLostError(NVMLError): ...


class FakeNvml:
    """The part of pynvml that the watch asks; each look takes the next reading, then the last one again.

    Args:
        readings: What each look sees: bits, or bits with a clock in MHz, or an error.
    """

    NVMLError = NVMLError
    NVMLError_GpuIsLost = GpuIsLostError
    NVML_CLOCK_SM, NVML_TEMPERATURE_GPU = 1, 0

    def __init__(self, *readings: Any) -> None:
        self.readings = list(readings)
        self.looks = 0
        self.open = 0
        self.uuids: list[str] = []
        self.threads: set[str] = set()
        self.done = threading.Event()

    def nvmlInit(self) -> None:  # noqa: N802
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:  # noqa: N802
        self.uuids.append(uuid)
        return uuid

    def nvmlDeviceGetCurrentClocksEventReasons(self, _handle: str) -> int:  # noqa: N802
        self.threads.add(threading.current_thread().name)
        reading = self.readings[min(self.looks, len(self.readings) - 1)]
        self.looks += 1
        if self.looks > len(self.readings):
            self.done.set()
            return IDLE
        if isinstance(reading, Exception):
            self.done.set()
            raise reading
        bits, self.clock = reading if isinstance(reading, tuple) else (reading, 1980)
        return bits

    def nvmlDeviceGetUtilizationRates(self, _handle: str) -> Any:  # noqa: N802
        return SimpleNamespace(gpu=90)

    def nvmlDeviceGetClockInfo(self, _handle: str, kind: int) -> int:  # noqa: N802
        assert kind == self.NVML_CLOCK_SM
        return self.clock

    def nvmlDeviceGetTemperature(self, _handle: str, _sensor: int) -> int:  # noqa: N802
        return 40 + self.looks

    def nvmlDeviceGetPowerUsage(self, _handle: str) -> int:  # noqa: N802
        return 650_500


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    return lambda nvml: monkeypatch.setitem(sys.modules, "pynvml", nvml)


def watched(nvml: FakeNvml, device: str = "cuda:1") -> Watch:
    """The watch after a run that lasts until the script is read."""
    with Watch(GPUS, device, interval_s=0.001) as watch:
        assert nvml.done.wait(5)
    assert not running()
    assert nvml.open == 0
    return watch


def running() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "gpu-watch"]


def test_a_gpu_that_keeps_its_clock_has_nothing_to_tell(use: Any) -> None:
    nvml = FakeNvml(IDLE, 0, SET_CLOCKS, *[0] * 20)
    use(nvml)
    assert watched(nvml).warnings() == []
    assert nvml.looks >= 23
    assert nvml.uuids == ["GPU-1"]
    assert nvml.threads == {"gpu-watch"}


def test_what_slowed_it_down_is_told_with_its_share_and_the_clock(use: Any) -> None:
    nvml = FakeNvml(IDLE, (0, 1980), (POWER_CAP, 1500), (HW_SLOWDOWN | HW_THERMAL, 990), (POWER_CAP, 1700), IDLE | 4)
    use(nvml)
    (found,) = watched(nvml).warnings()
    assert found.code == "gpu_throttled"
    assert found.evidence == (
        "3 of 4 readings of the working GPU (sw_power_cap 50 %, hw_slowdown 25 %, hw_thermal_slowdown 25 %); "
        "SM clock 990 to 1980 MHz; temperature 42 to 45 °C; power 650.5 to 650.5 W"
    )
    assert "nvidia-smi -q -d PERFORMANCE" in str(found.hint)


@pytest.mark.parametrize(("working", "told"), [(100, True), (101, False)])
def test_one_look_in_a_hundred_is_enough(working: int, told: bool, use: Any) -> None:
    nvml = FakeNvml(POWER_CAP, *[0] * (working - 1))
    use(nvml)
    assert bool(watched(nvml).warnings()) is told


def test_the_older_name_of_the_question(use: Any) -> None:
    def unknown(handle: str) -> int:
        raise FunctionNotFoundError

    for newer in (unknown, None):
        nvml = FakeNvml(POWER_CAP)
        nvml.nvmlDeviceGetCurrentClocksThrottleReasons = nvml.nvmlDeviceGetCurrentClocksEventReasons
        nvml.nvmlDeviceGetCurrentClocksEventReasons = newer
        use(nvml)
        assert [one.code for one in watched(nvml).warnings()] == ["gpu_throttled"]


def test_what_the_gpu_does_not_tell_is_left_out(use: Any) -> None:
    nvml = FakeNvml(POWER_CAP, POWER_CAP)

    def refuse(*_: Any) -> int:
        raise NotSupportedError

    nvml.nvmlDeviceGetUtilizationRates = nvml.nvmlDeviceGetClockInfo = refuse
    nvml.nvmlDeviceGetTemperature = nvml.nvmlDeviceGetPowerUsage = refuse
    use(nvml)
    (found,) = watched(nvml).warnings()
    assert found.evidence == "2 of 2 readings of the working GPU (sw_power_cap 100 %)"


def test_an_idle_gpu_is_not_counted_where_the_driver_has_no_bit_for_it(use: Any) -> None:
    nvml = FakeNvml(POWER_CAP, POWER_CAP)
    nvml.nvmlDeviceGetUtilizationRates = lambda _: SimpleNamespace(gpu=0)
    use(nvml)
    assert watched(nvml).warnings() == []


def test_one_look_that_fails_ends_nothing(use: Any) -> None:
    nvml = FakeNvml(NotSupportedError(), POWER_CAP, 0)
    use(nvml)
    with Watch(GPUS, "cuda:1", interval_s=0.001) as watch:
        wait_for(lambda: nvml.looks > 3)
    (found,) = watch.warnings()
    assert found.evidence.startswith("1 of 2 readings")


def test_a_lost_gpu_is_told_and_ends_the_watch(use: Any) -> None:
    nvml = FakeNvml(0, POWER_CAP, GpuIsLostError("GPU is lost"), 0)
    use(nvml)
    watch = watched(nvml)
    assert [(one.code, one.evidence) for one in watch.warnings()][1:] == [("gpu_lost", "GPU is lost")]
    assert nvml.looks == 3


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + AT_ONCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def broken(where: str, error: BaseException) -> FakeNvml:
    nvml = FakeNvml(0)

    def fail(*_: Any) -> Any:
        nvml.done.set()
        raise error

    setattr(nvml, where, fail)
    return nvml


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [NotSupportedError(), OSError(), TypeError("odd")])
@pytest.mark.parametrize(
    "where",
    ["nvmlInit", "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetClockInfo"],
)
def test_an_nvml_that_fails_disturbs_nothing(where: str, error: Exception, use: Any) -> None:
    use(nvml := broken(where, error))
    with Watch(GPUS, "cuda:1", interval_s=0.001) as watch:
        assert nvml.done.wait(5)
    assert watch.warnings() == []
    assert not running()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_no_library_no_watch(use: Any) -> None:
    for module in (None, SimpleNamespace()):
        use(module)
        with Watch(GPUS, "cuda:1", interval_s=0.001) as watch:
            pass
        assert watch.warnings() == []
        assert not running()


@pytest.mark.parametrize("device", ["cpu", "cuda:2", "cuda:3"])
def test_there_is_nothing_to_watch_without_a_gpu_that_has_a_name(device: str, use: Any) -> None:
    use(nvml := FakeNvml(POWER_CAP))
    with Watch(GPUS, device) as watch:
        assert not running()
    assert watch.warnings() == []
    assert nvml.looks == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_the_thread_ends_with_the_run_however_that_ends(error: type[BaseException], use: Any) -> None:
    use(nvml := FakeNvml(POWER_CAP))
    with pytest.raises(error), Watch(GPUS, "cuda", interval_s=60) as watch:
        wait_for(lambda: nvml.looks > 0)
        raise error
    assert not running()
    assert nvml.open == 0
    assert [one.code for one in watch.warnings()] == ["gpu_throttled"]


def test_a_driver_that_hangs_is_left_to_itself(use: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from fastrnns_rs.machine.warnings import gpu_monitor

    monkeypatch.setattr(gpu_monitor, "_PATIENCE_S", 0.05)
    nvml, release = FakeNvml(0), threading.Event()
    nvml.nvmlInit = lambda: release.wait(60)
    use(nvml)
    begin = time.monotonic()
    with Watch(GPUS, "cuda") as watch:
        pass
    assert time.monotonic() - begin < AT_ONCE_S
    assert watch.warnings() == []
    (left,) = running()
    assert left.daemon
    release.set()
    left.join(5)


def test_a_machine_without_threads_disturbs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Watch(GPUS, "cuda") as watch:
        pass
    assert watch.warnings() == []


def test_names_are_those_of_todays_nvml() -> None:
    nvml = pytest.importorskip("pynvml")
    for name in [one for one in dir(FakeNvml) if one.startswith(("nvml", "NVML"))]:
        assert hasattr(nvml, name), name
    assert issubclass(nvml.NVMLError_GpuIsLost, nvml.NVMLError)
    assert nvml.nvmlClocksEventReasonGpuIdle == IDLE
    assert nvml.nvmlClocksEventReasonSwPowerCap == POWER_CAP
    assert nvml.nvmlClocksEventReasonHwSlowdown == HW_SLOWDOWN
    assert nvml.nvmlClocksEventReasonHwThermalSlowdown == HW_THERMAL


def test_the_real_library_without_a_driver_sees_nothing() -> None:
    pytest.importorskip("pynvml")
    poller = Poller("GPU-of-nobody", 0.001)
    poller.start()
    poller.stop()
    assert poller.tally().working == 0
