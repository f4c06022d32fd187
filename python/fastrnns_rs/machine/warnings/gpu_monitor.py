"""Repeated readings of a GPU's state through NVML, from a thread.

No other thread depends on it, and it never raises.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from fastrnns_rs.machine.nvidia import is_idle, slowdowns

#: Errors of a GPU that stopped responding during the run. Older packages do not define all of them.
_GONE = ("GpuIsLost", "ResetRequired", "DriverNotLoaded", "LibRmVersionMismatch")
#: A reading takes a few milliseconds; a driver that hangs for longer is abandoned.
_PATIENCE_S = 1.0


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts and ranges of GPU readings.

    Attributes:
        working: Number of readings with the GPU at work.
        slowed: Number of these readings with a slowdown.
        reasons: Number of readings for each slowdown.
        sm_clock_mhz: Lowest and highest value at work; empty if unknown. The same holds for temperature and power.
        lost: Error of a GPU that stopped responding; None while it responds.
    """

    working: int = 0
    slowed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    sm_clock_mhz: tuple[float, ...] = ()
    temperature_c: tuple[float, ...] = ()
    power_w: tuple[float, ...] = ()
    lost: str | None = None


class Poller:
    """Thread that reads a GPU's state, inside a `with` statement.

    Args:
        uuid: UUID of the GPU, as in NVML and torch; None for no readings.
        interval_s: Time between readings, in seconds.
    """

    def __init__(self, uuid: str | None, interval_s: float) -> None:
        self._uuid = uuid
        self._interval_s = interval_s
        self._tally = Tally()
        self._lock = threading.Lock()
        self._over = threading.Event()
        # A driver may hang; a daemon thread does not block the interpreter's exit.
        self._thread = threading.Thread(target=self._run, name="gpu-watch", daemon=True)

    def start(self) -> None:
        """Starts the readings."""
        # The system may refuse another thread.
        with contextlib.suppress(RuntimeError):
            if self._uuid is not None:
                self._thread.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the readings, and waits briefly for the thread."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE_S)

    def tally(self) -> Tally:
        """Returns the counts and ranges so far."""
        with self._lock:
            return replace(self._tally, reasons=self._tally.reasons.copy())

    def _run(self) -> None:
        # A monitoring error must not fail the run, whatever the library or the driver does.
        with contextlib.suppress(Exception):
            nvml = importlib.import_module("pynvml")
            # NVML is initialised in the thread, because starting a driver can take seconds.
            nvml.nvmlInit()
            try:
                handle = _whole_gpu(nvml, nvml.nvmlDeviceGetHandleByUUID(self._uuid))
                self._look(nvml, handle)
                while not self._over.wait(self._interval_s):
                    self._look(nvml, handle)
            except _gone(nvml) as error:
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


def _gone(nvml: Any) -> tuple[type[Exception], ...]:
    """Returns the exception types of a GPU that stopped responding."""
    known = (getattr(nvml, f"NVMLError_{name}", None) for name in _GONE)
    return tuple(one for one in known if one is not None)


def _whole_gpu(nvml: Any, handle: Any) -> Any:
    """Returns the GPU of a MIG instance: clocks, heat and power are those of the GPU."""
    question = getattr(nvml, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", None)
    parent = None if question is None else _asked(nvml, question, handle)
    return handle if parent is None else parent


def _event_reasons(nvml: Any, handle: Any) -> int | None:
    """Returns the bits of the clocks event reasons.

    Drivers before 535 support only the old name of the query.
    """
    for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
        question = getattr(nvml, name, None)
        mask = None if question is None else _asked(nvml, question, handle)
        if mask is not None:
            return int(mask)
    return None


def _asked(nvml: Any, question: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the result of a query; None if the GPU or driver does not support it."""
    try:
        return question(*arguments)
    except _gone(nvml):
        raise
    except nvml.NVMLError:
        return None


def _widened(seen: tuple[float, ...], value: float | None) -> tuple[float, ...]:
    """Returns the lowest and highest value, including one more value."""
    values = (*seen, *([] if value is None else [value]))
    return (min(values), max(values)) if values else ()
