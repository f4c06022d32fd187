"""Reads a GPU's state through NVML again and again, from a thread that nothing waits for and that raises nothing."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from fastrnns_rs.machine.nvidia import is_idle, slowdowns

#: A look takes a few milliseconds; a driver that hangs for longer is left to itself.
_PATIENCE_S = 1.0


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was seen of a GPU.

    Attributes:
        working: How often it was seen at work.
        slowed: How often something slowed it down at that.
        reasons: How often each slowdown was named.
        sm_clock_mhz: Lowest and highest at work; empty if unknown. The same for temperature and power.
        lost: Why the driver no longer knows the GPU, where it does not.
    """

    working: int = 0
    slowed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    sm_clock_mhz: tuple[float, ...] = ()
    temperature_c: tuple[float, ...] = ()
    power_w: tuple[float, ...] = ()
    lost: str | None = None


class Poller:
    """A thread that looks at a GPU, inside of `with`.

    Args:
        uuid: The GPU, as NVML and torch name it; None for none to look at.
        interval_s: From one look to the next, in seconds.
    """

    def __init__(self, uuid: str | None, interval_s: float) -> None:
        self._uuid = uuid
        self._interval_s = interval_s
        self._tally = Tally()
        self._lock = threading.Lock()
        self._over = threading.Event()
        # A driver may hang: the interpreter ends without it.
        self._thread = threading.Thread(target=self._run, name="gpu-watch", daemon=True)

    def start(self) -> None:
        """Begins to look."""
        # There may be no thread to be had.
        with contextlib.suppress(RuntimeError):
            if self._uuid is not None:
                self._thread.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends it, and waits a moment for the thread."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE_S)

    def tally(self) -> Tally:
        """What was seen until now."""
        with self._lock:
            return replace(self._tally, reasons=self._tally.reasons.copy())

    def _run(self) -> None:
        # A look at the GPU is worth no error of the run, whatever the library or the driver does.
        with contextlib.suppress(Exception):
            nvml = importlib.import_module("pynvml")
            # Here rather than before the run: a driver that has to start first takes seconds.
            nvml.nvmlInit()
            try:
                handle = nvml.nvmlDeviceGetHandleByUUID(self._uuid)
                self._look(nvml, handle)
                while not self._over.wait(self._interval_s):
                    self._look(nvml, handle)
            except nvml.NVMLError_GpuIsLost as error:
                with self._lock:
                    self._tally.lost = str(error)
            finally:
                nvml.nvmlShutdown()

    def _look(self, nvml: Any, handle: Any) -> None:
        mask = _event_reasons(nvml, handle)
        load = _asked(nvml, nvml.nvmlDeviceGetUtilizationRates, handle)
        if mask is None or is_idle(mask) or (load is not None and load.gpu == 0):
            return
        clock = _asked(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM)
        temperature = _asked(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU)
        milliwatts = _asked(nvml, nvml.nvmlDeviceGetPowerUsage, handle)
        named = slowdowns(mask)
        with self._lock:
            tally = self._tally
            tally.working += 1
            tally.slowed += bool(named)
            tally.reasons.update(named)
            tally.sm_clock_mhz = _widened(tally.sm_clock_mhz, clock)
            tally.temperature_c = _widened(tally.temperature_c, temperature)
            tally.power_w = _widened(tally.power_w, None if milliwatts is None else milliwatts / 1000)


def _event_reasons(nvml: Any, handle: Any) -> int | None:
    """The bits of what holds the clocks; a driver before 535 knows them by their old name only."""
    for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
        question = getattr(nvml, name, None)
        mask = None if question is None else _asked(nvml, question, handle)
        if mask is not None:
            return int(mask)
    return None


def _asked(nvml: Any, question: Callable[..., Any], *arguments: Any) -> Any:
    """An answer, or None for what this GPU or driver does not tell."""
    try:
        return question(*arguments)
    except nvml.NVMLError_GpuIsLost:
        raise
    except nvml.NVMLError:
        return None


def _widened(seen: tuple[float, ...], value: float | None) -> tuple[float, ...]:
    """Lowest and highest of what was seen, and one more."""
    values = (*seen, *([] if value is None else [value]))
    return (min(values), max(values)) if values else ()
