"""Processor time and interruptions of a worker.

They are read before the model is built and after the loop, never inside.
"""

from __future__ import annotations

import os
import re
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: Column of stolen time in a CPU's line of /proc/stat, after its name.
_STEAL = 7
_PROCESSORS = Path("/sys/devices/system/cpu")
_MHZ = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class _Reading:
    """Counters at one moment."""

    wall_ns: int
    cpu_ns: int
    steal_ns: int | None
    voluntary: int
    involuntary: int
    mhz: float | None


class LoadMeter:
    """Measures the load of this process from now on."""

    def __init__(self) -> None:
        self._cpus = sorted(os.sched_getaffinity(0))
        self._first = self._read()

    def result(self) -> dict[str, int | float | None]:
        """Returns the load since the start, as the keys of `ProcessLoad`."""
        first, last = self._first, self._read()
        known = [one for one in (first.mhz, last.mhz) if one is not None]
        stolen = None if first.steal_ns is None or last.steal_ns is None else max(0, last.steal_ns - first.steal_ns)
        return {
            "wall_ns": last.wall_ns - first.wall_ns,
            "cpu_ns": last.cpu_ns - first.cpu_ns,
            "steal_ns": stolen,
            "voluntary_switches": last.voluntary - first.voluntary,
            "involuntary_switches": last.involuntary - first.involuntary,
            "cpu_mhz": sum(known) / len(known) if known else None,
        }

    def _read(self) -> _Reading:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return _Reading(
            wall_ns=time.monotonic_ns(),
            cpu_ns=time.process_time_ns(),
            steal_ns=_stolen_ns(_text("/proc/stat"), self._cpus),
            voluntary=used.ru_nvcsw,
            involuntary=used.ru_nivcsw,
            mhz=_mean_mhz(self._cpus),
        )


def _stolen_ns(stat: str, cpus: Sequence[int]) -> int | None:
    """Returns the time that the hypervisor took from these CPUs, in nanoseconds.

    None where the kernel does not count it.
    """
    names = {f"cpu{number}" for number in cpus}
    ticks = [
        int(words[1 + _STEAL])
        for line in stat.splitlines()
        if (words := line.split()) and words[0] in names and len(words) > 1 + _STEAL
    ]
    return sum(ticks) * 10**9 // os.sysconf("SC_CLK_TCK") if ticks else None


def _mean_mhz(cpus: Sequence[int]) -> float | None:
    """Returns the mean frequency of these CPUs in MHz.

    None where the system does not report it.
    """
    kilohertz = [_text(_PROCESSORS / f"cpu{number}" / "cpufreq" / "scaling_cur_freq").strip() for number in cpus]
    shown = [int(one) / 1e3 for one in kilohertz if one.isdecimal()]
    if not shown:
        wanted = {*map(str, cpus)}
        for block in _text("/proc/cpuinfo").split("\n\n"):
            pairs = (line.partition(":") for line in block.splitlines())
            about = {key.strip(): value.strip() for key, _, value in pairs}
            # A kernel that does not know the frequency writes `Unknown`.
            if about.get("processor") in wanted and _MHZ.fullmatch(about.get("cpu MHz", "")):
                shown.append(float(about["cpu MHz"]))
    return sum(shown) / len(shown) if shown else None


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
